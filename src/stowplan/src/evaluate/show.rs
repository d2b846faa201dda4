//! What came of scenarios: the hosts that passed, who eliminated whom and why,
//! and the table of weights.

use super::batch::show_cycle;
use super::{Case, Form};
use crate::out::{Format, outln};
use crate::table;
use comfy_table::{CellAlignment, Table};
use serde_json::{Value, json};
use stowplan_engine::{
    explain::{Explanation, FilterTrace, TraceOutcome, WeightRow},
    overrides::Source,
    scenario::{self, Destination, Destinations},
};
use stowplan_scheduler::{select::Destination as SelectedHost, snapshot::Replayed};

/// Prints all cases.
pub fn run(cases: &[Case], format: Format) -> serde_json::Result<()> {
    match format {
        Format::Table => cases.iter().for_each(show),
        Format::Json => {
            let all: Vec<Value> = cases.iter().map(as_json).collect();
            outln!("{}", serde_json::to_string_pretty(&all)?);
        }
    }
    Ok(())
}

fn as_json(case: &Case) -> Value {
    let (file, id) = (&case.file, case.id());
    match &case.form {
        Form::Engine(_, Ok(outcome)) => json!({"file": file, "id": id, "outcome": outcome}),
        Form::Select(_, Ok(found)) => json!({"file": file, "id": id, "outcome": found}),
        Form::Query(_, Ok(texts)) => json!({"file": file, "id": id, "outcome": texts}),
        Form::Hint(_, Ok(came)) => json!({"file": file, "id": id, "outcome": came}),
        Form::Batch(_, Ok(came)) => json!({"file": file, "id": id, "outcome": came}),
        Form::Unit(_, Ok(came)) => json!({"file": file, "id": id, "outcome": came}),
        Form::Wire(_, Ok(wire)) => json!({"file": file, "id": id, "outcome": wire}),
        Form::Replay(_, result) if result.is_ok() => {
            json!({"file": file, "id": id, "outcome": result.as_ref().as_ref().ok()})
        }
        _ => json!({"file": file, "id": id, "error": case.failure()}),
    }
}

fn show(case: &Case) {
    outln!("{}: {}", case.file.display(), case.id());
    if let Some(note) = case.note() {
        outln!("{note}");
    }
    match &case.form {
        Form::Engine(_, Ok(scenario::Outcome::Selection(selection))) => show_selection(selection),
        Form::Engine(_, Ok(scenario::Outcome::HostState(state))) => outln!("{}", states(state)),
        Form::Engine(_, Err(failure)) => outln!("no host is chosen: {failure}"),
        Form::Select(_, Ok(found)) => show_destinations(found),
        Form::Select(_, Err(failure)) => outln!("no host is chosen: {failure}"),
        Form::Query(_, Ok(texts)) => {
            outln!("{}", texts.query);
            texts.fallback_query.iter().for_each(|query| outln!("or else {query}"));
        }
        Form::Query(_, Err(failure)) => outln!("nothing is asked for: {failure}"),
        Form::Hint(_, Ok(came)) => came.iter().for_each(|(what, value)| outln!("{what}: {value}")),
        Form::Hint(_, Err(failure)) => outln!("the cycle ends: {failure}"),
        Form::Batch(_, Ok(came)) => came.each().for_each(show_cycle),
        Form::Batch(_, Err(failure)) => outln!("no cycle runs: {failure}"),
        Form::Unit(_, Ok(came)) => came.iter().for_each(|(what, value)| outln!("{what}: {value}")),
        Form::Unit(_, Err(failure)) => outln!("nothing is computed: {failure}"),
        Form::Wire(_, Ok(wire)) => outln!("{:#}", json!(wire)),
        Form::Wire(_, Err(failure)) => outln!("no reply: {failure}"),
        Form::Replay(_, result) => match result.as_ref() {
            Ok(replayed) => show_replay(replayed),
            Err(failure) => outln!("no host is chosen: {failure}"),
        },
    }
    outln!();
}

fn show_selection(outcome: &scenario::Selection) {
    show_explanation(&outcome.explanation);
    if outcome.explanation.weights.hosts.is_empty() {
        match outcome.filtered.as_slice() {
            [] => outln!("no host passed"),
            passed => outln!("passed: {}", passed.join(", ")),
        }
    }
}

/// What filters and weighers said.
fn show_explanation(explanation: &Explanation) {
    outln!("{}", funnel(explanation));
    let losers = losers(explanation);
    if losers.row_count() > 0 {
        outln!("{losers}");
    }
    if !explanation.weights.hosts.is_empty() {
        outln!("{}", weights(&explanation.weights.hosts));
    }
    for warning in &explanation.weights.warnings {
        outln!("warning: {warning}");
    }
    if let Some(hint) = &explanation.hint {
        outln!("hint: {}", hint.text);
        hint.tried.iter().for_each(|it| outln!("  {}: {}", it.loser.host, it.loser.text));
        hint.dropped.iter().for_each(|dropped| outln!("  {dropped}"));
    }
    for noted in &explanation.findings {
        outln!("warning: {}", noted.text);
    }
    if explanation.more_findings > 0 {
        outln!("{} further warnings of this kind", explanation.more_findings);
    }
}

/// Each server's destination, then what filters and weighers said of the last.
fn show_destinations(found: &Destinations) {
    let mut rows = table::with_header(["server", "goes to", "in zone", "or to"]);
    for (number, selection) in found.selections.iter().enumerate() {
        let name = |it: &Destination| format!("{}/{}", it.host, it.node);
        let [first, others @ ..] = selection.as_slice() else { continue };
        let others: Vec<String> = others.iter().map(name).collect();
        rows.add_row([
            (number + 1).to_string(),
            name(first),
            first.availability_zone.clone(),
            others.join(", "),
        ]);
    }
    match &found.error {
        Some(error) => {
            outln!("{error}");
            found.explanations.last().iter().for_each(|last| outln!("{}", funnel(last)));
        }
        None => outln!("{rows}"),
    }
}

/// Where each server goes, then what filters and weighers said of the last.
fn show_replay(replayed: &Replayed) {
    replayed.reasons.iter().for_each(|reason| outln!("reason: {reason}"));
    let mut rows = table::with_header(["server", "goes to", "in zone", "or to"]);
    for selection in &replayed.selections {
        let name = |it: &SelectedHost| format!("{}/{}", it.host, it.node);
        let others: Vec<String> = selection.alternates.iter().map(name).collect();
        rows.add_row([
            selection.instance_uuid.to_string(),
            name(&selection.destination),
            selection.destination.availability_zone.clone(),
            others.join(", "),
        ]);
    }
    if rows.row_count() > 0 {
        outln!("{rows}");
    }
    if let Some(last) = replayed.servers.last() {
        show_explanation(&last.explanation);
    }
}

/// A host's attributes, as reported and with the server placed there.
fn states(state: &scenario::HostState) -> Table {
    let mut table = table::with_header(["attribute", "reported", "with the server"]);
    for (name, value) in &state.state {
        let after = state.after_consume.get(name).unwrap_or(value);
        table.add_row([name.as_str(), &value.to_string(), &after.to_string()]);
    }
    table
}

/// The preselection, if it took anything out, and every filter.
fn traces(explanation: &Explanation) -> impl Iterator<Item = &FilterTrace> {
    explanation.preselection.iter().chain(&explanation.filters)
}

/// How many hosts each filter left.
fn funnel(explanation: &Explanation) -> Table {
    let mut table = table::with_header(["filter", "hosts", "left", ""]);
    table::align(&mut table, 1..=2, CellAlignment::Right);
    for trace in traces(explanation) {
        let remark = match trace.outcome {
            TraceOutcome::Judged => "",
            TraceOutcome::NothingToSay => "has nothing to say of this request",
            TraceOutcome::JudgedBefore => "judged the first server of this request",
            TraceOutcome::Rebuild => "is skipped by a rebuild",
            TraceOutcome::Forced => "is skipped by forced hosts",
            TraceOutcome::NobodyLeft => "had nobody left to judge",
        };
        table.add_row([trace.filter, &trace.before.to_string(), &trace.after.to_string(), remark]);
    }
    table
}

/// Who was eliminated by whom, and why.
fn losers(explanation: &Explanation) -> Table {
    let mut table = table::with_header(["eliminated", "by", "why"]);
    for trace in traces(explanation) {
        for loser in &trace.losers {
            let host = format!("{}/{}", loser.host, loser.node);
            table.add_row([host.as_str(), trace.filter, &loser.text]);
        }
    }
    table
}

/// The hosts that passed, the best first, with every weigher's part.
fn weights(hosts: &[WeightRow]) -> Table {
    let mut table = table::with_header([
        "host",
        "weight",
        "weigher",
        "raw",
        "normalised",
        "multiplier",
        "from",
        "product",
    ]);
    table::align(&mut table, [1, 3, 4, 5, 7], CellAlignment::Right);
    for host in hosts {
        let name = format!("{}/{}", host.host, host.node);
        let mut head = [name, number(host.weight.0)];
        if host.parts.is_empty() {
            table.add_row(head.iter());
        }
        for part in &host.parts {
            let [name, weight] = std::mem::take(&mut head);
            table.add_row([
                name,
                weight,
                part.weigher.to_owned(),
                number(part.raw.0),
                number(part.normalized.0),
                number(part.multiplier.0),
                source(&part.source),
                number(part.product.0),
            ]);
        }
    }
    table
}

/// A number without digits that say nothing.
fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    format!("{value:.6}")
}

/// Where a multiplier came from.
fn source(source: &Source) -> String {
    match source {
        Source::Option { option } => (*option).to_owned(),
        Source::Aggregate { id, name, key } => {
            format!("{key} of host aggregate {name} ({id})")
        }
        Source::Cancelled { option, id, name, key, value } => {
            format!("{option}, as {key} = {value:?} of host aggregate {name} ({id}) is no number")
        }
    }
}
