//! Filters, weighers, selection and explanation: pure functions over host columns.
