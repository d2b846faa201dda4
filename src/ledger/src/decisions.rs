//! Decisions: their headers commit with the claim; their bodies are written
//! afterwards, outside journal and head, and both are read from the database.

use crate::{Ledger, error::Unavailable, rows::DecisionRow};
use stowplan_db::{
    Connection, DbErr,
    entity::decision::{Column, Entity, Model},
    sea_orm::{
        ColumnTrait, Condition, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect,
        Select,
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
        let update =
            Entity::update_many().col_expr(Column::Body, case.into()).filter(Column::Id.is_in(ids));
        self.shared
            .beside(|connection| async move { update.exec(&*connection.writer().await).await })
            .await
            .map(|_| ())
    }

    /// A decision with its body.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decision(&self, id: Uuid) -> Result<Option<StoredDecision>, Unavailable> {
        let find = Entity::find_by_id(id.to_string());
        let row =
            self.shared.beside(|connection| async move { find.one(connection.reader()).await });
        let Some(row) = row.await? else { return Ok(None) };
        let Model { id, request_id, seq, seed, kind, outcome, header: said, body, created_us } =
            row;
        let header = header((created_us, id, request_id, seq, seed, kind, outcome, said))?;
        Ok(Some(StoredDecision { header, body }))
    }

    /// The decisions made for a request, newest first, at most `limit`; of all
    /// requests if none is named. Bodies are not read.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decisions(
        &self,
        request_id: Option<&str>,
        limit: u64,
    ) -> Result<Vec<DecisionRow>, Unavailable> {
        let mut find = newest_first().columns(HEADER);
        if let Some(request_id) = request_id {
            find = find.filter(Column::RequestId.eq(request_id));
        }
        let find = find.limit(limit).into_tuple::<Header>();
        let rows =
            self.shared.beside(|connection| async move { find.all(connection.reader()).await });
        rows.await?.into_iter().map(header).collect()
    }

    /// Forgets all decisions but the newest `max_rows` that were made at
    /// `oldest` or later (`[decisions] max_rows`, `max_age`). Returns how many
    /// went.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn trim_decisions(&self, max_rows: u64, oldest: Micros) -> Result<u64, Unavailable> {
        // The databases count rows in 63 bits.
        let max_rows = Ord::min(max_rows, i64::MAX.unsigned_abs());
        self.shared
            .beside(move |connection| async move {
                let first_too_many = newest_first().offset(max_rows).limit(1);
                let edge: Option<Edge> =
                    first_too_many.into_tuple().one(connection.reader()).await?;
                let mut gone = Condition::any().add(Column::CreatedUs.lt(oldest.0));
                if let Some(edge) = edge {
                    gone = gone.add(not_newer(edge));
                }
                forget(&connection, gone).await
            })
            .await
    }

    /// Forgets the oldest decisions until the bodies of the others take at
    /// most `max_bytes` (`[decisions] max_bytes`). Returns how many went.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn trim_decision_bytes(&self, max_bytes: u64) -> Result<u64, Unavailable> {
        self.shared
            .beside(move |connection| async move {
                let sizes = newest_first().expr(Func::cust("LENGTH").arg(Expr::col(Column::Body)));
                let sizes: Vec<(i64, String, Option<i32>)> =
                    sizes.into_tuple().all(connection.reader()).await?;
                let mut total: u64 = 0;
                let edge = sizes.into_iter().find(|(.., size)| {
                    let size = size.and_then(|size| size.try_into().ok()).unwrap_or(0);
                    total = total.saturating_add(size);
                    total > max_bytes
                });
                match edge {
                    Some((created, id, _)) => forget(&connection, not_newer((created, id))).await,
                    None => Ok(0),
                }
            })
            .await
    }
}

/// When a decision was made, and its id: the order in which they go.
type Edge = (i64, String);

fn newest_first() -> Select<Entity> {
    Entity::find()
        .select_only()
        .column(Column::CreatedUs)
        .column(Column::Id)
        .order_by_desc(Column::CreatedUs)
        .order_by_desc(Column::Id)
}

/// The decision at the edge and all that are older.
fn not_newer((created, id): Edge) -> Condition {
    let of_that_time = Column::CreatedUs.eq(created).and(Column::Id.lte(id));
    Condition::any().add(Column::CreatedUs.lt(created)).add(of_that_time)
}

async fn forget(connection: &Connection, which: Condition) -> Result<u64, DbErr> {
    let gone = Entity::delete_many().filter(which).exec(&*connection.writer().await).await?;
    Ok(gone.rows_affected)
}

/// The columns of a header beside those of an [`Edge`], which come first.
const HEADER: [Column; 6] =
    [Column::RequestId, Column::Seq, Column::Seed, Column::Kind, Column::Outcome, Column::Header];

/// A header as it is read.
type Header = (i64, String, String, i64, i64, String, String, String);

fn header(row: Header) -> Result<DecisionRow, Unavailable> {
    let (created, id, request_id, seq, seed, kind, outcome, said) = row;
    Ok(DecisionRow {
        id: Uuid::parse_str(&id).map_err(|error| Unavailable::fault(&error))?,
        request_id,
        seq,
        seed: seed.cast_unsigned(),
        kind,
        outcome,
        header: serde_json::from_str(&said).map_err(Unavailable::encoding)?,
        created: Micros(created),
    })
}
