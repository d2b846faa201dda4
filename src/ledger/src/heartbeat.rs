//! When services were last heard: moved in memory, written in bulk.
//!
//! A heartbeat is no mutation: it takes no sequence number and no journal row.
//! What a crash loses of it, the next heartbeat brings back.

use crate::{Ledger, error::Unavailable};
use std::{collections::BTreeMap, sync::Arc};
use stowplan_db::{
    entity::service::{Column, Entity},
    sea_orm::{
        ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
        sea_query::{CaseStatement, Expr},
    },
};
use stowplan_model::Micros;

/// Services in one statement.
const CHUNK: usize = 400;

/// When each service was last heard as of the last flush, by its id.
pub type Flushed = BTreeMap<i64, Micros>;

impl Ledger {
    /// Notes that the services of these hosts were heard. Names that no host
    /// bears are left out; the caller has told of them.
    ///
    /// # Errors
    /// When the ledger is closing or too much waits.
    pub fn heard(&self, hosts: Vec<String>, when: Micros) -> Result<(), Unavailable> {
        self.touch(move |image| hosts.iter().for_each(|host| image.heard(host, when)))
    }

    /// The same, each at a time of its own.
    ///
    /// # Errors
    /// As [`Ledger::heard`].
    pub fn heard_each(&self, hosts: Vec<(String, Micros)>) -> Result<(), Unavailable> {
        self.touch(move |image| hosts.iter().for_each(|(host, when)| image.heard(host, *when)))
    }

    /// Writes what has moved since `flushed` to the database, and notes it
    /// there.
    ///
    /// # Errors
    /// When the database does not take it; the next flush tries again.
    pub async fn flush_heard(&self, flushed: &mut Flushed) -> Result<(), Unavailable> {
        let image: Arc<_> = self.image();
        let moved: Vec<(i64, Micros)> = image
            .services
            .iter()
            .filter_map(|service| Some((service.id, service.last_seen?)))
            .filter(|(id, when)| flushed.get(id) != Some(when))
            .collect();
        for chunk in moved.chunks(CHUNK) {
            let mut case = CaseStatement::new();
            for (id, when) in chunk {
                case = case.case(Expr::col(Column::Id).eq(*id), when.0);
            }
            let case = case.finally(Expr::col(Column::LastSeenUs));
            let update = Entity::update_many()
                .col_expr(Column::LastSeenUs, case.into())
                .filter(Column::Id.is_in(chunk.iter().map(|(id, _)| *id)));
            self.shared
                .beside(|connection| async move { update.exec(&*connection.writer().await).await })
                .await?;
            flushed.extend(chunk.iter().copied());
        }
        flushed.retain(|id, _| image.services.by_id(*id).is_some());
        Ok(())
    }
}
