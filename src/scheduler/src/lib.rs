//! Hosts, host aggregates, server groups and select_destinations.
