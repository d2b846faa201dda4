//! What goes wrong with other services.

/// Why another service gave no answer that can be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CloudError {
    /// It did not answer, or not in time.
    #[error("{service} at {url} does not answer: {problem}")]
    Away {
        /// Who was asked.
        service: &'static str,
        /// Where.
        url: String,
        /// What happened, as far as the last try.
        problem: String,
    },
    /// It did not let us in.
    #[error("{service} at {url} refuses the account of [{section}]: {status}")]
    NotLetIn {
        /// Who was asked.
        service: &'static str,
        /// Where.
        url: String,
        /// The section of the account.
        section: &'static str,
        /// The status of the answer.
        status: u16,
    },
    /// It refused the call.
    #[error("{service} at {url} answers {status}: {detail}")]
    Refused {
        /// Who was asked.
        service: &'static str,
        /// Where.
        url: String,
        /// The status of the answer.
        status: u16,
        /// What it said, cut short.
        detail: String,
    },
    /// Its answer is not of the form that its API has.
    #[error("{service} at {url} gives an answer that cannot be read: {problem}")]
    Garbled {
        /// Who was asked.
        service: &'static str,
        /// Where.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The catalogue of the service's token does not list it.
    #[error(
        "Keystone's catalogue has no endpoint of type {kind} (interfaces {interfaces}, region {region})"
    )]
    Unlisted {
        /// The type of the service.
        kind: String,
        /// The interfaces that were looked for.
        interfaces: String,
        /// The region that was looked for.
        region: String,
    },
}

impl CloudError {
    /// Whether the thing that was asked for does not exist there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}
