//! The tasks of batch jobs.

use sea_orm::entity::prelude::*;

/// A row of `tasks`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "tasks")]
pub struct Model {
    /// The id, given by the writer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The uuid, 36 characters, unique; its consumer's too.
    pub uuid: String,
    /// The job's id.
    pub job_id: i64,
    /// The name of the task's role in the job.
    pub role: String,
    /// Its number among the tasks of the role, from 0.
    pub task_index: i64,
    /// The state's name.
    pub state: String,
    /// How many times it has been started.
    pub attempt: i64,
    /// The host it is bound to; none while it waits.
    pub host_uuid: Option<String>,
    /// Why it is in this state; none when there is nothing to say.
    #[sea_orm(column_type = "Text", nullable)]
    pub reason: Option<String>,
    /// When it was made, microseconds since the epoch.
    pub created_us: i64,
    /// When it was last changed, microseconds since the epoch.
    pub updated_us: i64,
    /// What else there is to it, JSON; none for nothing.
    #[sea_orm(column_type = "Text", nullable)]
    pub detail: Option<String>,
}

/// Tables are joined by ids alone: the database knows no foreign keys.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
