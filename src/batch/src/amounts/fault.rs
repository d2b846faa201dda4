//! What is wrong with requests or with the map of dimensions.

/// What is wrong with requests or with the map of dimensions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DimsFault {
    /// A quantum that cannot be read, or is nothing.
    #[error("[batch] resource_map: quantum {quantum:?} of {dimension}: {fault}")]
    Quantum {
        /// The dimension.
        dimension: String,
        /// Its quantum as written.
        quantum: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The dimension that every task has by itself.
    #[error("[batch] resource_map: pods is held as CUSTOM_BATCH_TASK and cannot be mapped")]
    Pods,
    /// One class holds two dimensions, so its units would mean two things.
    #[error("[batch] resource_map: {first} and {second} are both held as {class}")]
    ClassTwice {
        /// The class.
        class: String,
        /// A dimension.
        first: String,
        /// Another.
        second: String,
    },
    /// More than can be counted.
    #[error("[batch] resource_map: {0} dimensions, expected at most 61")]
    TooMany(usize),
    /// A class that held a dimension when a job was admitted.
    #[error("no dimension of [batch] resource_map is held as {class} any more")]
    Unmapped {
        /// The class.
        class: String,
    },
    /// A request for something that the ledger does not hold.
    #[error("{name:?} is not a dimension of [batch] resource_map: expected one of {known}")]
    Unknown {
        /// The name in the request.
        name: String,
        /// The names there are.
        known: String,
    },
}
