//! What came of an import, told to people and to programs.

use super::findings::Fault;
use crate::{out::outln, table};
use comfy_table::CellAlignment;
use serde::Serialize;

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it was read from, without password.
    pub from: String,
    /// Where it was written to, without password.
    pub to: String,
    /// Whether it was only read and checked.
    pub dry_run: bool,
    /// Whether it is in the ledger now.
    pub imported: bool,
    /// Why not, in a sentence, unless rows are at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Rows that are there, by what they are.
    pub rows: Vec<Count>,
    /// What is otherwise than with the peer, and no answer depends on.
    pub notes: Vec<Count>,
    /// Rows that cannot be imported as they are.
    pub faults: Vec<Fault>,
    /// How long it took.
    pub seconds: f64,
}

/// How much there is of something.
#[derive(Clone, Debug, Serialize)]
pub struct Count {
    pub what: &'static str,
    pub rows: u64,
}

impl Report {
    /// Prints it for people.
    pub fn print_table(&self) {
        outln!("from  {}", self.from);
        outln!("to    {}", self.to);
        if !self.rows.is_empty() {
            let mut rows = table::with_header(["what", "rows"]);
            table::align(&mut rows, [1], CellAlignment::Right);
            for Count { what, rows: count } in &self.rows {
                rows.add_row([(*what).to_owned(), count.to_string()]);
            }
            outln!("{rows}");
        }
        for Count { what, rows } in &self.notes {
            outln!("note: {rows} {what}");
        }
        self.print_faults();
        outln!("{}", self.conclusion());
    }

    fn print_faults(&self) {
        if self.faults.is_empty() {
            return;
        }
        let mut faults = table::with_header(["table", "rows", "problem", "such as"]);
        table::align(&mut faults, [1], CellAlignment::Right);
        for fault in &self.faults {
            let problem = match fault.hint {
                Some(hint) => format!("{}\n({hint})", fault.problem),
                None => fault.problem.to_owned(),
            };
            let examples = fault.examples.join("\n");
            faults.add_row([fault.table.to_owned(), fault.rows.to_string(), problem, examples]);
        }
        outln!("{faults}");
    }

    fn conclusion(&self) -> String {
        let seconds = self.seconds;
        match (&self.refused, self.faults.is_empty()) {
            (Some(why), _) => format!("refused, and nothing was imported: {why}"),
            (None, false) => {
                "refused, and nothing was imported: rows cannot be taken over as they are"
                    .to_owned()
            }
            _ if self.imported => {
                format!("imported and compared with the original in {seconds:.1} s")
            }
            _ => format!("nothing stands in the way of an import ({seconds:.1} s)"),
        }
    }

    /// Prints it as one JSON object.
    pub fn print_json(&self) -> anyhow::Result<()> {
        outln!("{}", serde_json::to_string_pretty(self)?);
        Ok(())
    }
}
