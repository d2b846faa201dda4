//! `stowplan job`: the batch jobs of a running server.

mod show;
mod submit;

use super::{
    queue::print,
    server::{Asked, part},
};
use crate::{
    exit::{Fault, Outcome},
    out::outln,
};
use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use stowplan_model::Uuid;
use submit::Submit;

const HELP: &str = "\
Examples:
  stowplan job submit --name train --count 4 --request cpu=8,memory=32Gi --queue gold
  stowplan job submit job.json
  stowplan job list --queue gold --phase Pending
  stowplan job explain train
  stowplan job hold train
  stowplan job cancel train";

/// Submit batch jobs, look at them, and steer them.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Job {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Submit a job.
    Submit(Box<Submit>),
    /// List jobs, in order of submission.
    List(List),
    /// Show a job with its tasks.
    Show(Named),
    /// Say why a job waits, and for whom.
    Explain(Named),
    /// Cancel a job.
    Cancel(Cancelled),
    /// Hold a job back: what runs has to leave.
    Hold(Named),
    /// Let a job that is held back wait for its places again.
    Release(Named),
    /// Put a job back into its queue: all its tasks start anew.
    Requeue(Named),
}

#[derive(Debug, Args)]
struct Named {
    /// Its id, or its name if no other job has it.
    job: String,
    #[command(flatten)]
    asked: Asked,
}

#[derive(Debug, Args)]
struct Cancelled {
    #[command(flatten)]
    named: Named,
    /// Nothing of it runs any more: free its room at once.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct List {
    /// Those of one queue.
    #[arg(long)]
    queue: Option<String>,
    /// Those of one namespace.
    #[arg(long)]
    namespace: Option<String>,
    /// Those of one name.
    #[arg(long)]
    name: Option<String>,
    /// Those in one phase.
    #[arg(long)]
    phase: Option<String>,
    /// Those with a task on one host.
    #[arg(long)]
    host: Option<String>,
    /// Those with tasks of a label: key, or key=value.
    #[arg(long)]
    label: Option<String>,
    /// No more than so many.
    #[arg(long, default_value_t = 1000)]
    limit: usize,
    #[command(flatten)]
    asked: Asked,
}

impl Job {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        match self.command {
            Command::Submit(it) => it.run()?,
            Command::List(it) => it.run()?,
            Command::Show(it) => {
                let mut job = it.asked.get(&it.path()?)?;
                let tasks = it.asked.get(&format!("{}/tasks", it.path()?))?;
                job["tasks"] = tasks["tasks"].clone();
                print(&job, it.asked.format, show::job);
            }
            Command::Explain(it) => {
                let answer = it.asked.get(&format!("{}/explain", it.path()?))?;
                print(&answer, it.asked.format, show::explanation);
            }
            Command::Cancel(it) => {
                let verb = if it.force { "cancel?force=true" } else { "cancel" };
                it.named.verb(verb)?;
            }
            Command::Hold(it) => it.verb("suspend")?,
            Command::Release(it) => it.verb("resume")?,
            Command::Requeue(it) => it.verb("requeue")?,
        }
        Ok(Outcome::Fine)
    }
}

impl Named {
    /// The address of the job.
    fn path(&self) -> Result<String, Fault> {
        if Uuid::parse_str(&self.job).is_ok() {
            return Ok(format!("/v1/jobs/{}", self.job));
        }
        let page = self.asked.get(&format!("/v1/jobs?limit=2&name={}", part(&self.job)))?;
        match page["jobs"].as_array().map_or(&[][..], Vec::as_slice) {
            [] => Err(Fault::Usage(anyhow!("there is no job {:?}", self.job))),
            [job] => Ok(format!("/v1/jobs/{}", job["id"].as_str().unwrap_or_default())),
            _ => Err(Fault::Usage(anyhow!(
                "several namespaces have a job {:?}: name it by its id (stowplan job list)",
                self.job
            ))),
        }
    }

    fn verb(&self, verb: &str) -> Result<(), Fault> {
        let path = format!("{}:{verb}", self.path()?);
        let answer = self.asked.send("POST", &path, &Value::Null)?;
        print(&answer, self.asked.format, |job| {
            outln!("job {} is {}", show::name(job), show::state(job));
        });
        Ok(())
    }
}

impl List {
    fn run(&self) -> Result<(), Fault> {
        let mut query = String::new();
        for (key, value) in [
            ("queue", &self.queue),
            ("namespace", &self.namespace),
            ("name", &self.name),
            ("phase", &self.phase),
            ("host", &self.host),
            ("label", &self.label),
        ] {
            if let Some(value) = value {
                query.push_str(&format!("&{key}={}", part(value)));
            }
        }
        let mut jobs = Vec::new();
        let mut marker = String::new();
        while jobs.len() < self.limit {
            let left = self.limit - jobs.len();
            let page = self.asked.get(&format!("/v1/jobs?limit={left}{query}{marker}"))?;
            jobs.extend(page["jobs"].as_array().into_iter().flatten().cloned());
            match page["next"].as_str() {
                Some(next) => marker = format!("&marker={next}"),
                None => break,
            }
        }
        print(&json!({"jobs": jobs}), self.asked.format, show::jobs);
        Ok(())
    }
}
