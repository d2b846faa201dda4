//! What is sent to the writer: proposals, with the place for their answers.

use crate::{
    change::Change,
    error::{Unavailable, WriteError},
    image::Image,
};
use tokio::sync::oneshot;

/// A proposal that waits for the writer.
pub(crate) trait Pending: Send {
    /// Checks the proposal against an image. A change is to be committed;
    /// none means that it was refused or has nothing to write. May be asked
    /// again on a newer image: the last answer counts.
    fn check(&mut self, image: &Image) -> Option<Change>;
    /// Answers whoever proposed, after the commit or for want of one.
    fn answer(self: Box<Self>, outcome: Result<(), Unavailable>);
    /// The request that it belongs to.
    fn request_id(&self) -> &str;
}

/// Changes what only an image holds: the published one, and any that is being
/// made ready on it.
pub(crate) type Touch = dyn Fn(&mut Image) + Send;

/// What is sent to the writer.
pub(crate) enum Message {
    /// A mutation.
    Propose(Box<dyn Pending>),
    /// Changes what only the image holds: nothing is written for it.
    Touch(Box<Touch>),
    /// Has the writer look whether there is trouble.
    Wake,
    /// Ends the writer once all before it is done.
    Close(oneshot::Sender<()>),
}

/// A closure that proposes, with the place for its answer.
pub(crate) struct Proposal<F, T, E> {
    pub request_id: String,
    pub check: F,
    pub result: Option<Result<T, E>>,
    pub reply: oneshot::Sender<Result<T, WriteError<E>>>,
}

impl<F, T, E> Pending for Proposal<F, T, E>
where
    F: FnMut(&Image) -> Result<(Change, T), E> + Send,
    T: Send,
    E: Send,
{
    fn check(&mut self, image: &Image) -> Option<Change> {
        match (self.check)(image) {
            Ok((change, output)) => {
                self.result = Some(Ok(output));
                (!change.records.is_empty()).then_some(change)
            }
            Err(refusal) => {
                self.result = Some(Err(refusal));
                None
            }
        }
    }

    fn answer(self: Box<Self>, outcome: Result<(), Unavailable>) {
        let answer = match (outcome, self.result) {
            (Ok(()), Some(Ok(output))) => Ok(output),
            (Ok(()), Some(Err(refusal))) => Err(WriteError::Refused(refusal)),
            (Ok(()), None) => Err(Unavailable::Closing.into()),
            (Err(trouble), _) => Err(trouble.into()),
        };
        // Whoever asked may have gone; the commit stands all the same.
        let _ = self.reply.send(answer);
    }

    fn request_id(&self) -> &str {
        &self.request_id
    }
}
