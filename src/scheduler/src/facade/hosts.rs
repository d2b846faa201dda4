//! Hosts and their services.

use futures_util::future::join_all;
use stowplan_ledger::rows::{HostSource, ServiceRow};
use stowplan_ledger::{Image, Unavailable};
use stowplan_model::host::HostReport;
use stowplan_model::{Micros, Uuid};

use super::{Call, Scheduler, Written};
use crate::error::SchedulerError;
use crate::hosts::{
    self, Deleted, HostFilter, HostPage, ReportHost, Reported, ServiceKey, ServiceUpdate,
};

impl Scheduler {
    /// Takes in what a host reports of itself over REST. It counts as a sign
    /// of life, also when it says nothing new.
    ///
    /// # Errors
    /// As [`hosts::report_host`], or a ledger that cannot write.
    pub async fn report_host(
        &self,
        call: Call<'_>,
        host: &str,
        node: Option<&str>,
        report: HostReport,
        take_over: bool,
    ) -> Written<Reported> {
        self.report_host_from(HostSource::Rest, call, host, node, report, take_over).await
    }

    /// The same, whatever brings the report.
    ///
    /// # Errors
    /// As [`Scheduler::report_host`].
    pub async fn report_host_from(
        &self,
        source: HostSource,
        call: Call<'_>,
        host: &str,
        node: Option<&str>,
        report: HostReport,
        take_over: bool,
    ) -> Written<Reported> {
        let default_max_tasks = i64::from(self.settings.load().batch.default_max_tasks);
        let seen = report.service.last_seen_up.unwrap_or(call.now);
        let report = ReportHost {
            host: host.to_owned(),
            node: node.map(str::to_owned),
            source,
            report,
            take_over,
            as_of: None,
            default_max_tasks,
        };
        let now = call.now;
        let propose = move |image: &Image| hosts::report_host(image, &report, now);
        let reported = self.ledger.write(call.request_id, propose).await?;
        self.ledger.heard(vec![host.to_owned()], seen)?;
        Ok(reported)
    }

    /// Takes reports in that say something new; what is not new is not written, and
    /// none is a sign of life. Gives what became of each, in their order.
    pub async fn report_hosts(
        &self,
        call: Call<'_>,
        reports: Vec<ReportHost>,
    ) -> Vec<Written<bool>> {
        let (image, now) = (self.ledger.image(), call.now);
        let writes = reports.into_iter().map(|report| {
            let is_news = hosts::report_host(&image, &report, now).map_or(true, |it| it.1.changed);
            let propose = move |image: &Image| hosts::report_host(image, &report, now);
            async move {
                match is_news {
                    true => self.ledger.write(call.request_id, propose).await.map(|it| it.changed),
                    false => Ok(false),
                }
            }
        });
        join_all(writes).await
    }

    /// Takes a node out that its source has no more. Gives whether it was known.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn forget_host(&self, call: Call<'_>, uuid: Uuid) -> Written<bool> {
        let now = call.now;
        self.write(call, move |image| hosts::forget_host(image, uuid, now)).await
    }

    /// Notes when each of these hosts was last heard.
    ///
    /// # Errors
    /// A ledger that is closing, or in which too much waits.
    pub fn heard(&self, hosts: Vec<(String, Micros)>) -> Result<(), Unavailable> {
        if hosts.is_empty() { Ok(()) } else { self.ledger.heard_each(hosts) }
    }

    /// Takes a host out.
    ///
    /// # Errors
    /// As [`hosts::delete_host`], or a ledger that cannot write.
    pub async fn delete_host(
        &self,
        call: Call<'_>,
        host: &str,
        node: Option<&str>,
    ) -> Written<Deleted> {
        let (host, node) = (host.to_owned(), node.map(str::to_owned));
        let now = call.now;
        self.write(call, move |image| hosts::delete_host(image, &host, node.as_deref(), now)).await
    }

    /// Changes a service as an operator says.
    ///
    /// # Errors
    /// As [`hosts::update_service`], or a ledger that cannot write.
    pub async fn update_service(
        &self,
        call: Call<'_>,
        key: ServiceKey,
        update: ServiceUpdate,
    ) -> Written<ServiceRow> {
        let now = call.now;
        self.write(call, move |image| hosts::update_service(image, &key, &update, now)).await
    }

    /// Takes a service out, and with a nova-compute its host.
    ///
    /// # Errors
    /// As [`hosts::delete_service`], or a ledger that cannot write.
    pub async fn delete_service(&self, call: Call<'_>, key: ServiceKey) -> Written<ServiceRow> {
        let now = call.now;
        self.write(call, move |image| hosts::delete_service(image, &key, now)).await
    }

    /// A page of hosts.
    ///
    /// # Errors
    /// As [`hosts::list`].
    pub fn list_hosts(
        &self,
        image: &Image,
        filter: &HostFilter,
        marker: Option<Uuid>,
        limit: usize,
        now: Micros,
    ) -> Result<HostPage, SchedulerError> {
        let prepared = self.prepared();
        let zone = &prepared.settings.default.default_availability_zone;
        hosts::list(image, filter, marker, limit, prepared.engine.config(), zone, now)
    }

    /// Notes signs of life of many hosts. Gives the names that no host bears.
    ///
    /// # Errors
    /// A ledger that is closing, or in which too much waits.
    pub fn heartbeat(&self, hosts: Vec<String>, now: Micros) -> Result<Vec<String>, Unavailable> {
        let unknown = hosts::unknown(&self.ledger.image(), &hosts);
        self.ledger.heard(hosts, now)?;
        Ok(unknown)
    }
}
