//! A batch in the making.

use crate::{
    change::Entry, clock, error::Unavailable, image::Image, proposal::Pending, shared::Limits,
    store::touched::Touched,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use stowplan_model::Micros;

/// Proposals on their way.
pub(super) type Proposals = Vec<Box<dyn Pending>>;

/// Proposals checked one after the other, each on the image that those before
/// it have left.
pub(super) struct Draft {
    pub before: Arc<Image>,
    pub after: Image,
    pub touched: Touched,
    pub entries: Vec<Entry>,
    pub proposals: Proposals,
    time: Micros,
    /// How long the checks have taken.
    spent: Duration,
}

impl Draft {
    /// Nothing yet, on an image.
    pub fn on(before: Arc<Image>) -> Self {
        Self {
            after: Image::clone(&before),
            before,
            touched: Touched::default(),
            entries: Vec::new(),
            proposals: Vec::new(),
            time: clock::now(),
            spent: Duration::ZERO,
        }
    }

    /// These, on an image, however long it takes.
    pub fn of(before: Arc<Image>, proposals: Proposals) -> Self {
        let mut draft = Self::on(before);
        proposals.into_iter().for_each(|pending| draft.add(pending));
        draft
    }

    /// Whether no proposal is in it.
    pub fn is_empty(&self) -> bool {
        self.proposals.is_empty()
    }

    /// Whether it takes no more. However long a single one takes, it goes.
    pub fn is_full(&self, limits: &Limits) -> bool {
        self.proposals.len() >= limits.batch_size
            || (!self.is_empty() && self.spent >= limits.batch_time)
    }

    /// Checks a proposal and adds it. A proposal is code of another crate:
    /// should it or the applying of its change break off, it fails alone and
    /// the writer lives.
    pub fn add(&mut self, mut pending: Box<dyn Pending>) {
        let start = Instant::now();
        let checked = catch_unwind(AssertUnwindSafe(|| {
            let change = pending.check(&self.after)?;
            self.touched.note(&change);
            self.after.apply(&change);
            Some(change)
        }));
        match checked {
            Ok(change) => {
                if let Some(change) = change {
                    let request_id = pending.request_id().to_owned();
                    let seq = self.after.seq();
                    self.entries.push(Entry { seq, request_id, time: self.time, change });
                }
                self.proposals.push(pending);
            }
            Err(_) => {
                pending.answer(Err(Unavailable::fault(&"a proposal broke off")));
                // It may have left half of its change.
                *self = Self::of(self.before.clone(), std::mem::take(&mut self.proposals));
            }
        }
        self.spent += start.elapsed();
    }
}
