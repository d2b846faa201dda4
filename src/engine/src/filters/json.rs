//! `JsonFilter`: the host meets a query that the request brings along.

use crate::fault::{Fault, FaultKind};
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

use super::json_query::Query;

/// The hint with the query.
const HINT: &str = "query";

/// Fails hosts of which the query in hint `query` does not hold, such as
/// `[">=", "$free_ram_mb", 1024]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonFilter;

impl Filter for JsonFilter {
    fn name(&self) -> &'static str {
        "JsonFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: false, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let text = match cx.request.request().hint(HINT) {
            [] => return Ok(None),
            [text] if text.is_empty() => return Ok(None),
            [text] => text,
            texts => {
                return Err(Fault::new(
                    FaultKind::Type,
                    format!("hint {HINT} has {} values: expected one", texts.len()),
                ));
            }
        };
        let query = Query::read(text)?;
        Ok(Some(Box::new(Asked { text: text.clone(), query })))
    }
}

struct Asked {
    text: String,
    query: Query,
}

impl Predicate for Asked {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        Ok(if self.query.holds(view, host)? {
            Verdict::Pass
        } else {
            Verdict::Fail(Reason::QueryFails {
                query: self.text.clone(),
                has: self.query.seen(view, host),
            })
        })
    }
}
