//! `[DEFAULT]`: what belongs to no part alone.

use std::path::PathBuf;

use crate::macros::section;
use crate::value::TransportUrl;

section! {
    /// What belongs to no part alone.
    default: DefaultSection = "DEFAULT" {
        /// Log at debug level.
        debug: bool = false, mutable;
        /// File that the log is appended to; unset: standard error.
        log_file: Option<PathBuf> = None, older(&[("DEFAULT", "logfile")]);
        /// Write each line of the log as one JSON object.
        use_json: bool = false;
        /// Name of this service on the message bus and among the processes that
        /// share a database; unset: the host name of the machine.
        host: Option<String> = None, sample("<host name>");
        /// Folder of what the service keeps on disk; a relative one starts at the
        /// working directory.
        state_path: PathBuf = PathBuf::from(".");
        /// Seconds without a sign of life after which a host counts as down.
        /// If it is not above report_interval, 2.5 times that is taken.
        service_down_time: i64 = 60, min(0.0), mutable;
        /// Seconds between two signs of life of a host.
        report_interval: i64 = 10, min(0.0), mutable;
        /// Seconds between two full lists of instances that a host sends; a host
        /// that is known from the message bus alone counts as up for 2.5 times that.
        scheduler_instance_sync_interval: i64 = 120, min(0.0), mutable;
        /// Availability zone of hosts that are in no other one.
        default_availability_zone: String = "nova".to_owned(), mutable;
        /// Availability zone shown for services that are not compute hosts.
        internal_service_availability_zone: String = "internal".to_owned(), mutable;
        /// Address of the message bus, such as rabbit://user:password@host:5672/, with
        /// several hosts between commas; unset: no bus. Options of
        /// [oslo_messaging_rabbit] may follow a question mark.
        transport_url: Option<TransportUrl> = None, secret;
        /// Exchange of calls and notifications.
        control_exchange: String = "nova".to_owned();
        /// Seconds that a short call over the message bus may take. Callers say in
        /// each call how long they wait, and that is kept to; the option is accepted
        /// and changes nothing.
        rpc_response_timeout: i64 = 60, min(1.0);
        /// Seconds that a long call over the message bus may take in all.
        long_rpc_timeout: i64 = 1800, min(1.0);
    }
}
