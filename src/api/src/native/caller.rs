//! What handlers of `/v1` take: who calls.

use crate::{
    auth::Token,
    failure::{Code, Failure},
    gate::{Admitted, admitted},
    policy::Target,
    state::{ApiState, Shared},
};
use actix_web::{FromRequest, HttpRequest, dev::Payload, web::Data};
use std::{
    future::{Ready, ready},
    sync::Arc,
};
use stowplan_model::Micros;

/// Who calls, and what the call works with.
#[derive(Clone)]
pub struct Caller {
    /// Who calls.
    pub token: Token,
    /// The request's id, under which the journal and decisions know the call.
    pub request_id: Arc<str>,
    shared: Data<Shared>,
}

impl Caller {
    /// Checks that the caller may do what a rule of the policy guards.
    ///
    /// # Errors
    /// 403 when not.
    pub fn may(&self, rule: &str) -> Result<(), Failure> {
        let own = self.token.own();
        self.shared.policy().enforce(rule, &self.token, Target(&own)).map_err(|_| {
            Failure::new(Code::Forbidden, format!("Policy does not allow {rule} to be performed."))
        })
    }

    /// What the surfaces stand on.
    #[must_use]
    pub fn api(&self) -> &ApiState {
        &self.shared.api
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Micros {
        self.shared.now()
    }

    /// The call as the scheduler knows it.
    #[must_use]
    pub fn call(&self) -> stowplan_scheduler::Call<'_> {
        stowplan_scheduler::Call { request_id: &self.request_id, now: self.now() }
    }

    /// Runs a computation of more than a fraction of a millisecond beside the
    /// workers.
    ///
    /// # Errors
    /// 500 when it broke off, 503 when the service is stopping.
    pub async fn beside<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Ok(self.shared.api.scheduler.beside(work).await?)
    }
}

impl FromRequest for Caller {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let open = |(Admitted { token, request_id, .. }, shared)| {
            let token = token.ok_or_else(|| Failure::new(Code::Unauthorized, ""))?;
            Ok(Self { token, request_id, shared })
        };
        ready(admitted(request).and_then(open))
    }
}
