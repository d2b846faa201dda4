//! `stowplan queue`: the queues of a running server.

use super::{
    fields::{list, resources, text, texts},
    server::{Asked, part},
};
use crate::{
    exit::{Fault, Outcome},
    out::{Format, outln},
    table,
};
use clap::{Args, Subcommand};
use comfy_table::CellAlignment;
use serde_json::{Map, Value, json};

const HELP: &str = "\
Examples:
  stowplan queue list
  stowplan queue create gold --capability cpu=40 --deserved cpu=20,memory=64Gi
  stowplan queue set gold --priority 10 --guarantee cpu=8
  stowplan queue close gold
  stowplan queue explain gold";

/// Look at queues of batch jobs, and change them.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Queue {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all queues.
    List(#[command(flatten)] Asked),
    /// Show a queue.
    Show(Named),
    /// Make a queue.
    Create(Written),
    /// Change what is named of a queue.
    Set(Written),
    /// Open a queue: it takes jobs, and their tasks are placed.
    Open(Named),
    /// Close a queue with all below it; what runs may end.
    Close(Named),
    /// Close a queue and have its tasks leave their hosts.
    Drain(Named),
    /// Delete a queue that has neither queues nor jobs.
    Delete(Named),
    /// Say what the limits of a queue leave, and why its jobs wait.
    Explain(Named),
}

#[derive(Debug, Args)]
struct Named {
    /// Its name.
    queue: String,
    #[command(flatten)]
    asked: Asked,
}

#[derive(Debug, Args)]
struct Written {
    /// Its name.
    queue: String,
    /// The queue above it.
    #[arg(long)]
    parent: Option<String>,
    /// Its share among queues (plugin proportion).
    #[arg(long)]
    weight: Option<i64>,
    /// Higher is served first.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i64>,
    /// Whether others may take back what it holds above its share.
    #[arg(long)]
    reclaimable: Option<bool>,
    /// What it may hold at most, such as cpu=40; an empty one takes limits off.
    #[arg(long, value_parser = resources)]
    capability: Option<Map<String, Value>>,
    /// Its share (plugin capacity).
    #[arg(long, value_parser = resources)]
    deserved: Option<Map<String, Value>>,
    /// What is left to it whatever the others do.
    #[arg(long, value_parser = resources)]
    guarantee: Option<Map<String, Value>>,
    /// A project that may submit jobs; may be given more than once.
    #[arg(long)]
    may_submit: Vec<String>,
    #[command(flatten)]
    asked: Asked,
}

impl Written {
    /// The body that says so.
    fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        let fields = [
            ("parent", json!(self.parent)),
            ("weight", json!(self.weight)),
            ("priority", json!(self.priority)),
            ("reclaimable", json!(self.reclaimable)),
            ("capability", json!(self.capability)),
            ("deserved", json!(self.deserved)),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.is_null());
        body.extend(given.map(|(field, value)| (field.to_owned(), value)));
        if let Some(guarantee) = &self.guarantee {
            body.insert("guarantee".to_owned(), json!({"resource": guarantee}));
        }
        if !self.may_submit.is_empty() {
            body.insert("may_submit".to_owned(), json!(self.may_submit));
        }
        body
    }
}

impl Queue {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        match self.command {
            Command::List(asked) => {
                let answer = asked.get("/v1/queues")?;
                print(&answer, asked.format, |answer| show_list(list(answer, "queues")));
            }
            Command::Show(it) => {
                let answer = it.asked.get(&path(&it.queue))?;
                print(&answer, it.asked.format, show);
            }
            Command::Create(it) => {
                let mut body = it.body();
                body.insert("name".to_owned(), json!(it.queue));
                let answer = it.asked.send("POST", "/v1/queues", &Value::Object(body))?;
                print(&answer, it.asked.format, show);
            }
            Command::Set(it) => {
                let body = Value::Object(it.body());
                let answer = it.asked.send("PATCH", &path(&it.queue), &body)?;
                print(&answer, it.asked.format, show);
            }
            Command::Open(it) => verb(&it, "open")?,
            Command::Close(it) => verb(&it, "close")?,
            Command::Drain(it) => verb(&it, "drain")?,
            Command::Delete(it) => {
                it.asked.send("DELETE", &path(&it.queue), &Value::Null)?;
                print(&json!({"name": it.queue}), it.asked.format, |_| {
                    outln!("queue {} is gone", it.queue);
                });
            }
            Command::Explain(it) => {
                let answer = it.asked.get(&format!("{}/explain", path(&it.queue)))?;
                print(&answer, it.asked.format, explain);
            }
        }
        Ok(Outcome::Fine)
    }
}

fn path(queue: &str) -> String {
    format!("/v1/queues/{}", part(queue))
}

fn verb(it: &Named, verb: &str) -> Result<(), Fault> {
    let answer = it.asked.send("POST", &format!("{}:{verb}", path(&it.queue)), &Value::Null)?;
    print(&answer, it.asked.format, show);
    Ok(())
}

/// Prints an answer for people or for programs.
pub fn print(answer: &Value, format: Format, show: impl Fn(&Value)) {
    match format {
        Format::Json => outln!("{answer:#}"),
        Format::Table => show(answer),
    }
}

fn show_list(queues: &[Value]) {
    let header = ["queue", "parent", "state", "priority", "share", "holds", "may hold", "jobs"];
    let mut rows = table::with_header(header);
    table::align(&mut rows, 3..=4, CellAlignment::Right);
    for queue in queues {
        let share = queue.pointer("/status/share").and_then(Value::as_f64).unwrap_or(0.0);
        let [name, parent, state, priority, holds, most, jobs] = texts(
            queue,
            [
                "/name",
                "/parent",
                "/status/state",
                "/priority",
                "/status/allocated",
                "/status/real_capability",
                "/status/counts",
            ],
        );
        rows.add_row([name, parent, state, priority, format!("{share:.3}"), holds, most, jobs]);
    }
    outln!("{rows}");
}

fn show(queue: &Value) {
    let mut rows = table::with_header(["field", "value"]);
    for field in [
        "name",
        "parent",
        "weight",
        "priority",
        "reclaimable",
        "capability",
        "deserved",
        "guarantee",
        "may_submit",
        "generation",
    ] {
        rows.add_row([field.to_owned(), queue.get(field).map(text).unwrap_or_default()]);
    }
    for field in [
        "state",
        "allocated",
        "inqueue",
        "deserved",
        "real_capability",
        "borrowed",
        "share",
        "counts",
    ] {
        let value = queue.pointer(&format!("/status/{field}")).map(text).unwrap_or_default();
        rows.add_row([format!("status.{field}"), value]);
    }
    outln!("{rows}");
}

fn explain(answer: &Value) {
    let [queue, state] = texts(answer, ["/queue", "/state"]);
    outln!("queue {queue}: {state}");
    let mut rows =
        table::with_header(["of", "resource", "holds", "admitted", "deserves", "may hold"]);
    table::align(&mut rows, 2..=5, CellAlignment::Right);
    for limit in list(answer, "limits") {
        let fields =
            ["/queue", "/class", "/allocated", "/inqueue", "/deserved", "/real_capability"];
        rows.add_row(texts(limit, fields));
    }
    outln!("{rows}");
    let mut rows = table::with_header(["position", "job", "phase", "why it waits"]);
    table::align(&mut rows, [0], CellAlignment::Right);
    for job in list(answer, "waiting") {
        let why: Vec<String> = list(job, "reasons").iter().map(|r| text(&r["text"])).collect();
        let [position, name, phase] = texts(job, ["/position", "/name", "/phase"]);
        rows.add_row([position, name, phase, why.join("\n")]);
    }
    outln!("{rows}");
}
