//! `stowplan job submit`.

use super::{
    super::{
        fields::{list, resources, text},
        queue::print,
        server::Asked,
    },
    show,
};
use crate::{exit::Fault, out::outln};
use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::{Map, Value, json};
use std::{fs, io::Read as _, path::PathBuf};

/// A job, from a file or from options.
#[derive(Debug, Args)]
pub struct Submit {
    /// File with the job as JSON, as POST /v1/jobs takes it; - reads it from
    /// the input. Options go over what it says.
    file: Option<PathBuf>,
    /// Its name.
    #[arg(long)]
    name: Option<String>,
    /// Its queue.
    #[arg(long)]
    queue: Option<String>,
    /// Its namespace.
    #[arg(long)]
    namespace: Option<String>,
    /// Its priority class.
    #[arg(long)]
    priority_class: Option<String>,
    /// Its priority.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i64>,
    /// How many tasks must have a place for any to be placed.
    #[arg(long)]
    min_available: Option<i64>,
    /// How many tasks; with --request instead of a file.
    #[arg(long)]
    count: Option<i64>,
    /// What each task asks for, such as cpu=1,memory=2Gi.
    #[arg(long, value_parser = resources)]
    request: Option<Map<String, Value>>,
    /// Hold it back until it is released.
    #[arg(long)]
    hold: bool,
    /// Only check it.
    #[arg(long)]
    dry_run: bool,
    /// The same job with the same key is made once.
    #[arg(long)]
    key: Option<String>,
    #[command(flatten)]
    asked: Asked,
}

impl Submit {
    /// Does it.
    pub fn run(&self) -> Result<(), Fault> {
        let body = Value::Object(self.body().map_err(Fault::Usage)?);
        let path = if self.dry_run { "/v1/jobs?dry_run=true" } else { "/v1/jobs" };
        let key = self.key.as_deref().map(|key| ("idempotency-key", key));
        let headers: Vec<(&str, &str)> = key.into_iter().collect();
        let answer = self.asked.send_with("POST", path, &headers, &body)?;
        print(&answer, self.asked.format, |job| {
            let made = if self.dry_run { "would be" } else { "is" };
            outln!("job {} {made} {}: {}", show::name(job), job["id"], show::state(job));
            for warning in list(job, "warnings") {
                outln!("warning: {}", text(warning));
            }
        });
        Ok(())
    }

    fn body(&self) -> anyhow::Result<Map<String, Value>> {
        let mut body = match &self.file {
            Some(file) => read(file)?,
            None => Map::new(),
        };
        for (field, value) in [
            ("name", json!(self.name)),
            ("queue", json!(self.queue)),
            ("namespace", json!(self.namespace)),
            ("priority_class", json!(self.priority_class)),
            ("priority", json!(self.priority)),
            ("min_available", json!(self.min_available)),
            ("suspend", if self.hold { json!(true) } else { Value::Null }),
        ] {
            if !value.is_null() {
                body.insert(field.to_owned(), value);
            }
        }
        if self.count.is_some() || self.request.is_some() {
            if self.file.is_some() {
                return Err(anyhow!("--count and --request: expected without a file"));
            }
            let requests = self.request.clone().unwrap_or_default();
            let task = json!({"count": self.count.unwrap_or(1), "requests": requests});
            body.insert("tasks".to_owned(), json!([task]));
        }
        Ok(body)
    }
}

fn read(file: &PathBuf) -> anyhow::Result<Map<String, Value>> {
    let text = if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("the input")?;
        text
    } else {
        fs::read_to_string(file).with_context(|| file.display().to_string())?
    };
    serde_json::from_str(&text).with_context(|| format!("{}: no job", file.display()))
}
