//! Requests with a key of their sender's: answered once, however often they are
//! sent.
//!
//! The key, what the request comes to and the answer are committed with what the
//! request claims. Whoever sends the same again gets the same answer, after a
//! restart and beside the first one, too; another request under the same key is
//! refused.

use stowplan_ledger::rows::{RequestAnswerRow, RequestKeyRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

use super::repeat::{Repeat, Told};
use super::request::SelectRequest;
use crate::error::SchedulerError;
use crate::fields::FieldErrors;

/// The name space of keys and fingerprints.
const NAMESPACE: Uuid = Uuid::from_u128(0x5f0c_9b5e_23d1_4e0b_8f6a_7c1d_9e24_6b90);
/// The longest key.
const MAX_KEY: usize = 255;

/// The status of an answer with destinations, and of one without.
const PLACED: u16 = 200;
pub(crate) const REFUSED: u16 = 409;

/// A key, with the request that it is used for.
#[derive(Clone, Debug)]
pub(crate) struct RequestKey {
    key: String,
    uuid: Uuid,
    fingerprint: Uuid,
    /// Keys used before this are forgotten.
    oldest: Micros,
}

impl RequestKey {
    /// A key of an owner, for a request. Two owners may use the same key.
    ///
    /// # Errors
    /// A key that is empty or too long.
    pub fn new(
        key: &str,
        owner: (&str, &str),
        asked: &SelectRequest,
        oldest: Micros,
    ) -> Result<Self, SchedulerError> {
        let mut errors = FieldErrors::default();
        errors.require(
            (1..=MAX_KEY).contains(&key.len()),
            "Idempotency-Key",
            key,
            format!("1 to {MAX_KEY} characters"),
        );
        errors.into_result(())?;
        let of = |parts: [&[u8]; 3]| Uuid::new_v5(&NAMESPACE, &parts.join(&0));
        let asked = serde_json::to_vec(asked).unwrap_or_default();
        Ok(Self {
            uuid: of([owner.0.as_bytes(), owner.1.as_bytes(), key.as_bytes()]),
            fingerprint: of([&asked, b"", b""]),
            key: key.to_owned(),
            oldest,
        })
    }

    fn row<'i>(&self, image: &'i Image) -> Option<&'i RequestKeyRow> {
        image.request_keys.get(self.uuid).map(AsRef::as_ref)
    }
}

/// An answer as it is kept.
#[derive(Clone, Debug)]
pub(crate) struct KeptAnswer {
    status: u16,
    body: String,
}

impl Repeat for RequestKey {
    /// The id of the key's row, under which the database has the answer.
    type Before = i64;
    type Written = KeptAnswer;

    fn before(&self, image: &Image) -> Result<Option<i64>, SchedulerError> {
        match self.row(image) {
            Some(row) if row.created < self.oldest => Ok(None),
            Some(row) if row.fingerprint == self.fingerprint => Ok(Some(row.id)),
            Some(_) => Err(SchedulerError::KeyReused(self.key.clone())),
            None => Ok(None),
        }
    }

    fn write(&self, told: Told<'_>) -> KeptAnswer {
        let (status, body) = match told {
            Told::Placed(destinations) => (PLACED, serde_json::to_string(destinations)),
            Told::Refused(refusal) => (REFUSED, serde_json::to_string(refusal)),
        };
        KeptAnswer { status, body: body.unwrap_or_default() }
    }

    fn keep(
        &self,
        image: &Image,
        written: &KeptAnswer,
        _: Option<&[Record]>,
        now: Micros,
    ) -> Vec<Record> {
        let id = image.request_keys.next_id();
        let forgotten = self.row(image).map(|row| Record::RequestKeyGone(row.uuid));
        let (uuid, fingerprint) = (self.uuid, self.fingerprint);
        let row = RequestKeyRow { id, uuid, fingerprint, created: now };
        let KeptAnswer { status, body } = written.clone();
        let answer = RequestAnswerRow { key: id, status, body };
        let records = [Record::RequestKey(row), Record::RequestAnswer(Box::new(answer))];
        forgotten.into_iter().chain(records).collect()
    }
}

/// Forgets the keys that were used before `oldest`, a piece at a time; gives how
/// many.
pub(crate) fn forget_keys(image: &Image, oldest: Micros) -> (Change, usize) {
    const PIECE: usize = 1000;
    let old = image.request_keys.iter().take_while(|row| row.created < oldest).take(PIECE);
    let records: Vec<Record> = old.map(|row| Record::RequestKeyGone(row.uuid)).collect();
    let count = records.len();
    (Change { kind: "request_keys.forget".to_owned(), records }, count)
}
