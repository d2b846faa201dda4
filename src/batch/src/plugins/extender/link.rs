//! Whoever an extender is reached by: sessions know no HTTP.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One question to an extender.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtenderCall {
    /// Where it is posted to.
    pub url: String,
    /// How long an answer is waited for.
    pub timeout: Duration,
    /// The JSON body.
    pub body: Value,
}

/// Takes questions to extenders and brings their answers.
pub trait ExtenderLink: Send + Sync {
    /// The JSON body of the answer.
    ///
    /// # Errors
    /// No answer in time, none of status 200, or one that is no JSON: why, in
    /// words.
    fn ask(&self, call: &ExtenderCall) -> Result<Value, String>;
}

/// What sessions reach outside of themselves, as the process gives it to them.
#[derive(Clone, Default)]
pub struct Outside {
    /// The way to extenders; none: nobody is asked.
    pub extender: Option<Arc<dyn ExtenderLink>>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("extender", &self.extender.is_some()).finish()
    }
}
