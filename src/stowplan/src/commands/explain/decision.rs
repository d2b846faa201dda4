//! A decision for people: how many hosts each step left, who fell where and
//! why, and what made the chosen one the best.

use super::Asked;
use crate::{
    exit::{Fault, Outcome},
    http::Client,
    out::{Format, outln},
    table,
};
use anyhow::anyhow;
use comfy_table::CellAlignment;
use serde::Deserialize;
use serde_json::Value;

/// Hosts that are shown of those that fell, and of those that were weighed.
const SHOWN: usize = 20;

#[derive(Debug, Deserialize)]
struct Page {
    decisions: Vec<Header>,
}

#[derive(Debug, Deserialize)]
struct Header {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Decision {
    id: String,
    request_id: String,
    seq: i64,
    seed: u64,
    outcome: String,
    body: Option<Body>,
}

#[derive(Debug, Deserialize)]
struct Body {
    candidates: usize,
    attempts: u32,
    conflicts: Vec<String>,
    reasons: Vec<String>,
    #[serde(default)]
    unlocks: Vec<Unlock>,
    losses: Vec<Loss>,
    warnings: Vec<String>,
    servers: Vec<Placed>,
    more_servers: usize,
}

#[derive(Debug, Deserialize)]
struct Unlock {
    text: String,
    host: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Loss {
    requirement: String,
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
struct Placed {
    instance_uuid: String,
    host: Option<String>,
    node: Option<String>,
    explanation: Explanation,
}

#[derive(Debug, Deserialize)]
struct Explanation {
    preselection: Option<Step>,
    hint: Option<Text>,
    filters: Vec<Step>,
    weights: Weights,
    #[serde(default)]
    findings: Vec<Text>,
}

#[derive(Debug, Deserialize)]
struct Text {
    text: String,
}

#[derive(Debug, Deserialize)]
struct Step {
    filter: String,
    outcome: String,
    before: usize,
    after: usize,
    losers: Vec<Loser>,
    more_losers: usize,
}

#[derive(Debug, Deserialize)]
struct Loser {
    host: String,
    node: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Weights {
    hosts: Vec<Weighed>,
    more_hosts: usize,
}

#[derive(Debug, Deserialize)]
struct Weighed {
    host: String,
    node: String,
    weight: Value,
    parts: Vec<Part>,
}

#[derive(Debug, Deserialize)]
struct Part {
    weigher: String,
    product: Value,
}

/// Explains the decision of an id, or the last one of a request's id.
pub(super) fn explain(id: &str, asked: &Asked) -> Result<Outcome, Fault> {
    let client = asked.server.client()?;
    let id = if id.starts_with("req-") { last_of(id, &client)? } else { id.to_owned() };
    let answer = client.get(&format!("/v1/decisions/{id}"))?;
    if (400..500).contains(&answer.status) {
        return Err(Fault::Usage(anyhow!("{}", answer.complaint())));
    }
    let answer = answer.demand()?;
    match asked.format {
        Format::Json => outln!("{}", serde_json::to_string_pretty(&answer.json::<Value>()?)?),
        Format::Table => show(&answer.json()?),
    }
    Ok(Outcome::Fine)
}

fn last_of(request: &str, client: &Client) -> Result<String, Fault> {
    let page = client.get(&format!("/v1/decisions?request_id={request}&limit=1"))?;
    if (400..500).contains(&page.status) {
        return Err(Fault::Usage(anyhow!("{}", page.complaint())));
    }
    let page: Page = page.demand()?.json()?;
    let found = page.decisions.into_iter().next().map(|header| header.id);
    found.ok_or_else(|| {
        Fault::Usage(anyhow!("request {request} has no decision, or it is no longer kept"))
    })
}

fn show(decision: &Decision) {
    let Decision { id, request_id, seq, seed, outcome, .. } = decision;
    outln!("decision {id} of request {request_id}: {}", outcome.replace('_', " "));
    outln!("ledger sequence {seq}, seed {seed}");
    let Some(body) = &decision.body else {
        outln!("its explanation is not written yet, or no longer kept");
        return;
    };
    outln!("{} hosts had a candidate", body.candidates);
    if body.attempts > 1 {
        outln!("decided {} times: {}", body.attempts, body.conflicts.join("; "));
    }
    body.reasons.iter().for_each(|reason| outln!("reason: {reason}"));
    body.warnings.iter().for_each(|warning| outln!("warning: {warning}"));
    for unlock in &body.unlocks {
        match &unlock.host {
            Some(host) => outln!("one change would be enough: {} ({host})", unlock.text),
            None => outln!("one change would be enough: {}", unlock.text),
        }
    }
    if !body.losses.is_empty() {
        outln!("{}", losses(&body.losses));
    }
    for server in &body.servers {
        outln!();
        show_server(server);
    }
    if body.more_servers > 0 {
        outln!("and {} servers more", body.more_servers);
    }
}

fn losses(losses: &[Loss]) -> comfy_table::Table {
    let mut rows = table::with_header(["requirement", "before", "after", "most free"]);
    table::align(&mut rows, 1..=2, CellAlignment::Right);
    for loss in losses {
        let nearest =
            loss.nearest.as_ref().map(|it| format!("{} at {}", it.largest_free, it.provider_name));
        rows.add_row([
            loss.requirement.clone(),
            loss.before.to_string(),
            loss.after.to_string(),
            nearest.unwrap_or_default(),
        ]);
    }
    rows
}

fn show_server(server: &Placed) {
    let place = match (&server.host, &server.node) {
        (Some(host), Some(node)) => format!("{host}/{node}"),
        _ => "no host".to_owned(),
    };
    outln!("server {}: {place}", server.instance_uuid);
    let explanation = &server.explanation;
    explanation.hint.iter().for_each(|hint| outln!("hint: {}", hint.text));
    explanation.findings.iter().for_each(|finding| outln!("warning: {}", finding.text));
    let steps: Vec<&Step> = explanation.preselection.iter().chain(&explanation.filters).collect();
    let mut funnel = table::with_header(["filter", "hosts", "left", ""]);
    table::align(&mut funnel, 1..=2, CellAlignment::Right);
    for step in &steps {
        let remark = if step.outcome == "judged" { "" } else { &step.outcome };
        funnel.add_row([
            step.filter.clone(),
            step.before.to_string(),
            step.after.to_string(),
            remark.replace('_', " "),
        ]);
    }
    outln!("{funnel}");
    show_losers(&steps);
    show_weights(&explanation.weights);
}

fn show_losers(steps: &[&Step]) {
    let all = steps.iter().flat_map(|step| step.losers.iter().map(move |it| (&step.filter, it)));
    let mut rows = table::with_header(["eliminated", "by", "why"]);
    for (filter, loser) in all.clone().take(SHOWN) {
        let name = format!("{}/{}", loser.host, loser.node);
        rows.add_row([name.as_str(), filter.as_str(), loser.text.as_str()]);
    }
    if rows.row_count() == 0 {
        return;
    }
    outln!("{rows}");
    let more: usize = steps.iter().map(|step| step.more_losers).sum();
    let more = more + all.count().saturating_sub(SHOWN);
    if more > 0 {
        outln!("and {more} hosts more");
    }
}

fn show_weights(weights: &Weights) {
    if weights.hosts.is_empty() {
        return;
    }
    let mut rows = table::with_header(["host", "weight", "made of"]);
    table::align(&mut rows, [1], CellAlignment::Right);
    for host in weights.hosts.iter().take(SHOWN) {
        let parts: Vec<String> = host
            .parts
            .iter()
            .filter(|part| part.product.as_f64() != Some(0.0))
            .map(|part| format!("{} {}", part.weigher, number(&part.product)))
            .collect();
        rows.add_row([
            format!("{}/{}", host.host, host.node),
            number(&host.weight),
            parts.join(", "),
        ]);
    }
    outln!("{rows}");
    let more = weights.more_hosts + weights.hosts.len().saturating_sub(SHOWN);
    if more > 0 {
        outln!("and {more} hosts more");
    }
}

/// A weight; infinite ones are texts.
fn number(value: &Value) -> String {
    match (value.as_f64(), value.as_str()) {
        (Some(number), _) => format!("{number:.4}"),
        (None, Some(text)) => text.to_owned(),
        _ => value.to_string(),
    }
}
