//! `stowplan explain candidates`: what each requirement of a query leaves.

use super::Asked;
use crate::{
    exit::{Fault, Outcome},
    out::{Format, outln},
    table,
};
use anyhow::anyhow;
use clap::Args;
use comfy_table::CellAlignment;
use serde::Deserialize;
use serde_json::Value;

const HELP: &str = "\
Example:
  stowplan explain candidates \\
      'resources=VCPU:8,MEMORY_MB:4096&required=HW_CPU_X86_AVX2&member_of=!in:...'";

/// A query, and where it is put.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Candidates {
    /// What follows `/allocation_candidates?`, in the newest microversion.
    query: String,
    #[command(flatten)]
    asked: Asked,
}

#[derive(Debug, Deserialize)]
struct Explained {
    candidates: Count,
    requirements: Vec<Step>,
    unlocks: Vec<Named>,
}

#[derive(Debug, Deserialize)]
struct Count {
    count: usize,
    more: bool,
}

#[derive(Debug, Deserialize)]
struct Step {
    text: String,
    before: usize,
    after: usize,
    nearest: Option<Nearest>,
}

#[derive(Debug, Deserialize)]
struct Nearest {
    largest_free: i64,
    provider_name: String,
}

#[derive(Debug, Deserialize)]
struct Named {
    text: String,
}

impl Candidates {
    /// Asks and shows.
    pub fn run(self) -> Result<Outcome, Fault> {
        let query = self.query.rsplit_once('?').map_or(self.query.as_str(), |(_, query)| query);
        let answer = self.asked.server.client()?.get(&format!("/v1/explain/candidates?{query}"))?;
        if (400..500).contains(&answer.status) {
            return Err(Fault::Usage(anyhow!("{}", answer.complaint())));
        }
        let answer = answer.demand()?;
        match self.asked.format {
            Format::Json => outln!("{}", serde_json::to_string_pretty(&answer.json::<Value>()?)?),
            Format::Table => show(&answer.json()?),
        }
        Ok(Outcome::Fine)
    }
}

fn show(explained: &Explained) {
    let mut steps = table::with_header(["requirement", "before", "after", "most free"]);
    table::align(&mut steps, 1..=2, CellAlignment::Right);
    for step in &explained.requirements {
        let nearest = step.nearest.as_ref();
        let nearest = nearest.map(|it| format!("{} at {}", it.largest_free, it.provider_name));
        steps.add_row([
            step.text.clone(),
            step.before.to_string(),
            step.after.to_string(),
            nearest.unwrap_or_default(),
        ]);
    }
    outln!("{steps}");
    match &explained.candidates {
        Count { count: 0, .. } => {
            outln!("no candidate");
            for one in &explained.unlocks {
                outln!("there would be one without: {}", one.text);
            }
            if explained.unlocks.is_empty() {
                outln!("no single requirement stands in the way");
            }
        }
        Count { count, more: true } => outln!("more than {count} candidates"),
        Count { count, more: false } => outln!("{count} candidates"),
    }
}
