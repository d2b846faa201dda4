//! What ends a whole request rather than one host's chances.

use serde::Serialize;

/// Why a filter or weigher cannot judge a request at all.
///
/// The peer raises an exception in these cases, and then no host is chosen; we
/// do the same, and say where and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind of trouble it is.
    pub kind: FaultKind,
    /// What is wrong, with the offending value.
    pub message: String,
}

impl Fault {
    /// A value that cannot be read as what it must be.
    #[must_use]
    pub fn value(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Value, message)
    }

    /// A fault of any kind.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The kind of a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A value that cannot be read as what it must be.
    Value,
    /// An operator without its operand.
    Operand,
    /// A property that hosts do not carry in a form that can be compared.
    Unsupported,
    /// Values that cannot be compared with each other.
    Type,
    /// An operator that does not exist.
    UnknownOperator,
    /// A metric that a host must have and has not.
    MissingMetric,
    /// A text that is no address or network.
    Address,
    /// A text that is not JSON.
    Syntax,
}

impl FaultKind {
    /// The exception that the peer raises in this case.
    #[must_use]
    pub const fn peer_exception(self) -> &'static str {
        match self {
            Self::Value => "ValueError",
            Self::Operand => "IndexError",
            Self::Unsupported => "AttributeError",
            Self::Type => "TypeError",
            Self::UnknownOperator => "KeyError",
            Self::MissingMetric => "ComputeHostMetricNotFound",
            Self::Address => "AddrFormatError",
            Self::Syntax => "JSONDecodeError",
        }
    }
}

/// A [`Fault`] with the place where it came up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{stage}: {fault}")]
pub struct StageFault {
    /// Name of the filter or weigher, or `request`.
    pub stage: String,
    /// What is wrong.
    pub fault: Fault,
}

impl StageFault {
    /// A fault of the request itself, before any filter.
    #[must_use]
    pub fn request(fault: Fault) -> Self {
        Self { stage: "request".to_owned(), fault }
    }

    /// Adds the place to a fault.
    pub(crate) fn at(stage: &'static str) -> impl Fn(Fault) -> Self {
        move |fault| Self { stage: stage.to_owned(), fault }
    }
}
