//! Decisions: their headers commit with the claim; their bodies are written
//! afterwards, outside journal and head, and both are read from the database.

use crate::{Ledger, error::Unavailable, rows::DecisionRow};
use serde_json::Value;
use stowplan_db::{
    DbErr,
    entity::decision::{Column, Entity, Model},
    sea_orm::{
        ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect,
        sea_query::{CaseStatement, Expr, Func},
    },
};
use stowplan_model::{Micros, Uuid};

/// A decision as the database keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDecision {
    /// What committed with the claim.
    pub header: DecisionRow,
    /// The whole explanation as its writer compressed it; none until it is
    /// written, or when it was not kept.
    pub body: Option<Vec<u8>>,
}

impl Ledger {
    /// Writes the bodies of decisions whose headers are committed, in one
    /// statement. A decision that is gone by now keeps none.
    ///
    /// # Errors
    /// When the database does not take them; then none is written.
    pub async fn store_decision_bodies(
        &self,
        bodies: Vec<(Uuid, Vec<u8>)>,
    ) -> Result<(), Unavailable> {
        if bodies.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = bodies.iter().map(|(id, _)| id.to_string()).collect();
        let mut case = CaseStatement::new();
        for (id, (_, body)) in ids.iter().zip(bodies) {
            case = case.case(Expr::col(Column::Id).eq(id.as_str()), body);
        }
        Entity::update_many()
            .col_expr(Column::Body, case.into())
            .filter(Column::Id.is_in(ids))
            .exec(self.shared.connection.writer())
            .await
            .map(|_| ())
            .map_err(unavailable)
    }

    /// Writes the body of a decision whose header is committed.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn store_decision_body(&self, id: Uuid, body: Vec<u8>) -> Result<(), Unavailable> {
        Entity::update_many()
            .col_expr(Column::Body, Expr::value(body))
            .filter(Column::Id.eq(id.to_string()))
            .exec(self.shared.connection.writer())
            .await
            .map(|_| ())
            .map_err(unavailable)
    }

    /// A decision with its body.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decision(&self, id: Uuid) -> Result<Option<StoredDecision>, Unavailable> {
        let row = Entity::find_by_id(id.to_string()).one(self.shared.connection.reader()).await;
        row.map_err(unavailable)?.map(stored).transpose()
    }

    /// The decisions made for a request, newest first, at most `limit`; of all
    /// requests if none is named. Bodies are included.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decisions(
        &self,
        request_id: Option<&str>,
        limit: u64,
    ) -> Result<Vec<StoredDecision>, Unavailable> {
        let mut find = Entity::find().order_by_desc(Column::CreatedUs).order_by_desc(Column::Id);
        if let Some(request_id) = request_id {
            find = find.filter(Column::RequestId.eq(request_id));
        }
        let rows = find.limit(limit).all(self.shared.connection.reader()).await;
        rows.map_err(unavailable)?.into_iter().map(stored).collect()
    }

    /// Forgets all decisions but the newest `max_rows` that were made after
    /// `oldest` (`[decisions] max_rows`, `max_age`). Returns how many went.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn trim_decisions(&self, max_rows: u64, oldest: Micros) -> Result<u64, Unavailable> {
        let edge: Option<i64> = Entity::find()
            .select_only()
            .column(Column::CreatedUs)
            .order_by_desc(Column::CreatedUs)
            .offset(max_rows)
            .limit(1)
            .into_tuple()
            .one(self.shared.connection.reader())
            .await
            .map_err(unavailable)?;
        // The row at the edge is the first too many.
        let keep_after = edge.map_or(oldest.0, |edge| Ord::max(edge.saturating_add(1), oldest.0));
        let gone = Entity::delete_many().filter(Column::CreatedUs.lt(keep_after));
        let gone = gone.exec(self.shared.connection.writer()).await.map_err(unavailable)?;
        Ok(gone.rows_affected)
    }

    /// Forgets the oldest decisions until the bodies of the others take at
    /// most `max_bytes` (`[decisions] max_bytes`). Returns how many went.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn trim_decision_bytes(&self, max_bytes: u64) -> Result<u64, Unavailable> {
        let sizes: Vec<(i64, Option<i32>)> = Entity::find()
            .select_only()
            .column(Column::CreatedUs)
            .expr(Func::cust("LENGTH").arg(Expr::col(Column::Body)))
            .order_by_desc(Column::CreatedUs)
            .order_by_desc(Column::Id)
            .into_tuple()
            .all(self.shared.connection.reader())
            .await
            .map_err(unavailable)?;
        let mut total: u64 = 0;
        let edge = sizes.into_iter().find(|(_, size)| {
            total = total.saturating_add(size.and_then(|size| size.try_into().ok()).unwrap_or(0));
            total > max_bytes
        });
        let Some((edge, _)) = edge else { return Ok(0) };
        let gone = Entity::delete_many().filter(Column::CreatedUs.lte(edge));
        let gone = gone.exec(self.shared.connection.writer()).await.map_err(unavailable)?;
        Ok(gone.rows_affected)
    }
}

fn stored(row: Model) -> Result<StoredDecision, Unavailable> {
    let id = Uuid::parse_str(&row.id).map_err(|error| Unavailable::fault(&error))?;
    let header: Value = serde_json::from_str(&row.header).map_err(Unavailable::encoding)?;
    let header = DecisionRow {
        id,
        request_id: row.request_id,
        seq: row.seq,
        seed: row.seed.cast_unsigned(),
        kind: row.kind,
        outcome: row.outcome,
        header,
        created: Micros(row.created_us),
    };
    Ok(StoredDecision { header, body: row.body })
}

fn unavailable(error: DbErr) -> Unavailable {
    Unavailable::Database { reason: error.to_string() }
}
