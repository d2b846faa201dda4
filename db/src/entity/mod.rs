//! One file per table. Every id is given by the writer; times are microseconds
//! since the epoch; uuids are 36-character text; JSON is text.

pub mod allocation;
pub mod batch_object;
pub mod call;
pub mod cell;
pub mod consumer;
pub mod counter;
pub mod decision;
pub mod head;
pub mod host;
pub mod host_aggregate;
pub mod host_aggregate_host;
pub mod host_aggregate_metadata;
pub mod inventory;
pub mod job;
pub mod journal;
pub mod member;
pub mod outbox;
pub mod provider_aggregate;
pub mod provider_trait;
pub mod queue;
pub mod request_answer;
pub mod request_key;
pub mod resource_class;
pub mod resource_provider;
pub mod server_group;
pub mod server_group_member;
pub mod service;
pub mod stamp;
pub mod task;
pub mod trait_name;
