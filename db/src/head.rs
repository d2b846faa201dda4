//! Reading the head and the journal.

use crate::connect::Connection;
use crate::entity::{head, journal};
use crate::migration::KNOWN_EPOCH;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};

/// The head's only row.
pub(crate) const HEAD_ID: i32 = 1;

/// The head as it is committed now, or as this transaction has left it.
///
/// # Errors
/// When the database does not answer, or its schema is not the one this binary
/// knows: not migrated yet, or migrated by a newer one meanwhile.
pub async fn read_head<C: ConnectionTrait>(db: &C) -> Result<head::Model, DbErr> {
    let head = head::Entity::find_by_id(HEAD_ID).one(db).await?;
    let head =
        head.ok_or_else(|| DbErr::RecordNotFound("the ledger has no head row".to_owned()))?;
    if head.schema_epoch == KNOWN_EPOCH {
        Ok(head)
    } else {
        Err(DbErr::Migration(format!(
            "the database's schema is number {}, this program knows number {KNOWN_EPOCH}",
            head.schema_epoch
        )))
    }
}

/// The last sequence that the batch wrote; none when it wrote nothing after
/// `known`, where the head stood when it was made. Take the head's lock first
/// when a commit's outcome is in doubt ([`crate::Batch::lock_head`]).
///
/// # Errors
/// When the database does not answer.
pub async fn journal_batch<C: ConnectionTrait>(
    db: &C,
    known: i64,
    batch: &str,
) -> Result<Option<i64>, DbErr> {
    let row: Option<Option<i64>> = journal::Entity::find()
        .select_only()
        .expr(Expr::col(journal::Column::Seq).max())
        .filter(journal::Column::Seq.gt(known))
        .filter(journal::Column::Batch.eq(batch))
        .into_tuple()
        .one(db)
        .await?;
    Ok(row.flatten())
}

/// The journal's rows after `seq`, in order, at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn journal_since<C: ConnectionTrait>(
    db: &C,
    seq: i64,
    limit: u64,
) -> Result<Vec<journal::Model>, DbErr> {
    journal::Entity::find()
        .filter(journal::Column::Seq.gt(seq))
        .order_by_asc(journal::Column::Seq)
        .limit(limit)
        .all(db)
        .await
}

/// Deletes the journal's oldest rows: those written before `oldest_us`
/// (microseconds since the epoch), at most `most` of them, none after `upto` if
/// one is named, and never the last one. Returns how many went.
///
/// # Errors
/// When the database does not answer.
pub async fn trim_journal(
    connection: &Connection,
    oldest_us: i64,
    most: u32,
    upto: Option<i64>,
) -> Result<u64, DbErr> {
    let db = connection.reader();
    let seqs = || journal::Entity::find().select_only().column(journal::Column::Seq);
    let first: Option<i64> =
        seqs().order_by_asc(journal::Column::Seq).limit(1).into_tuple().one(db).await?;
    let last: Option<i64> =
        seqs().order_by_desc(journal::Column::Seq).limit(1).into_tuple().one(db).await?;
    let (Some(first), Some(last)) = (first, last) else { return Ok(0) };
    let last = upto.map_or(last, |upto| Ord::min(last, upto.saturating_add(1)));
    let piece = Ord::min(first.saturating_add(i64::from(most)), last);
    // Times rise with the sequence, but for steps of the writers' clocks: what
    // stands before the first young row is old.
    let young: Option<i64> = seqs()
        .filter(journal::Column::Seq.lt(piece))
        .filter(journal::Column::TimeUs.gte(oldest_us))
        .order_by_asc(journal::Column::Seq)
        .limit(1)
        .into_tuple()
        .one(db)
        .await?;
    let end = young.unwrap_or(piece);
    if end <= first {
        return Ok(0);
    }
    let gone = journal::Entity::delete_many()
        .filter(journal::Column::Seq.lt(end))
        .exec(&*connection.writer().await)
        .await?;
    Ok(gone.rows_affected)
}
