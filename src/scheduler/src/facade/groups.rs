//! Server groups.

use stowplan_ledger::Image;
use stowplan_ledger::rows::ServerGroupRow;
use stowplan_model::Uuid;

use super::{Call, Scheduler, Written};
use crate::groups::{self, NewGroup};

impl Scheduler {
    /// Makes a server group.
    ///
    /// # Errors
    /// As [`groups::create_group`], or a ledger that cannot write.
    pub async fn create_group(&self, call: Call<'_>, new: NewGroup) -> Written<ServerGroupRow> {
        let (uuid, now) = (Uuid::new_v4(), call.now);
        self.write(call, move |image| groups::create_group(image, uuid, &new, now)).await
    }

    /// Makes a server group if its project may have another one (`[quota]
    /// server_groups`).
    ///
    /// # Errors
    /// As [`groups::create_group_within`], or a ledger that cannot write.
    pub async fn create_group_within(
        &self,
        call: Call<'_>,
        new: NewGroup,
    ) -> Written<ServerGroupRow> {
        let (uuid, now) = (Uuid::new_v4(), call.now);
        let limit = self.settings.load().quota.server_groups;
        let propose =
            move |image: &Image| groups::create_group_within(image, uuid, &new, limit, now);
        self.write(call, propose).await
    }

    /// Deletes a server group.
    ///
    /// # Errors
    /// As [`groups::delete_group`], or a ledger that cannot write.
    pub async fn delete_group(&self, call: Call<'_>, key: &str) -> Written<()> {
        let key = key.to_owned();
        self.write(call, move |image| groups::delete_group(image, &key)).await
    }

    /// Takes a server out of a group.
    ///
    /// # Errors
    /// As [`groups::leave`], or a ledger that cannot write.
    pub async fn leave_group(
        &self,
        call: Call<'_>,
        key: &str,
        server: Uuid,
    ) -> Written<ServerGroupRow> {
        let (key, now) = (key.to_owned(), call.now);
        self.write(call, move |image| groups::leave(image, &key, server, now)).await
    }
}
