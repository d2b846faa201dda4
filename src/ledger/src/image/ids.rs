//! Integer ids: each kind of thing counts its own, and none is given twice.
//!
//! The rows tell the last id that was given, as long as its bearer is there.
//! When that one goes, its number is kept in a table of counters
//! (`store/sheets.rs`), so that a restart does not bring it again.

use super::Image;

macro_rules! kinds {
    ($($kind:ident $number:literal $name:literal: $($field:ident).+;)*) => {
        /// A kind of thing that has integer ids.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $kind = $number,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name: that of its table.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        impl Image {
            /// The last id that was given to a thing of this kind.
            #[must_use]
            pub fn last_id(&self, kind: Kind) -> i64 {
                match kind {
                    $(Kind::$kind => self.$($field).+.last_id(),)*
                }
            }

            /// Ids up to this one were given.
            pub(crate) fn raise_id(&mut self, kind: Kind, last: i64) {
                match kind {
                    $(Kind::$kind => self.$($field).+.raise_id(last),)*
                }
            }
        }
    };
}

kinds! {
    Class 1 "resource_classes": classes;
    Trait 2 "traits": traits;
    Provider 3 "resource_providers": providers;
    Consumer 4 "consumers": consumers;
    Cell 5 "cells": cells;
    Host 6 "hosts": hosts;
    Service 7 "services": services;
    HostAggregate 8 "host_aggregates": host_aggregates;
    ServerGroup 9 "server_groups": server_groups;
    Queue 10 "queues": batch;
    Job 11 "jobs": batch.jobs;
    Task 12 "tasks": batch.tasks;
    Call 13 "calls": calls;
    Stamp 14 "stamps": stamps;
    RequestKey 15 "request_keys": request_keys;
    BatchObject 16 "batch_objects": batch.objects;
}

impl Kind {
    /// The number under which its counter is kept.
    #[must_use]
    pub fn number(self) -> i64 {
        self as i64
    }

    /// The kind with this number.
    #[must_use]
    pub fn of(number: i64) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.number() == number)
    }
}
