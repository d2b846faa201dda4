//! Plugin extender: what it is asked, and what becomes of its answers.

use crate::bench::{Accept, add_job, cpu, cycle_with, placed, state, tasks};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use stowplan_batch::plugins::{ExtenderCall, ExtenderLink, Outside, tiers};
use stowplan_batch::session::{State, Tiers};
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;

type Answer = fn(&str, &Value) -> Result<Value, String>;

/// An extender in this process, which keeps what it was asked.
struct Told {
    answer: Answer,
    asked: Mutex<Vec<String>>,
}

impl ExtenderLink for Told {
    fn ask(&self, call: &ExtenderCall) -> Result<Value, String> {
        let verb = call.url.strip_prefix("http://x/y/").unwrap();
        self.asked.lock().unwrap().push(verb.to_owned());
        (self.answer)(verb, &call.body)
    }
}

fn extended(answer: Answer, arguments: &[(&str, &str)]) -> (Tiers, Arc<Told>) {
    let mut settings = Settings::default();
    let names = ["gang", "predicates", "extender"].map(str::to_owned);
    settings.batch.tiers = vec![names.into()];
    let url = [("extender.urlPrefix", "http://x/y/")];
    let given = url.iter().chain(arguments).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    settings.batch_plugins.insert("extender".to_owned(), given.collect());
    let told = Arc::new(Told { answer, asked: Mutex::default() });
    let outside = Outside { extender: Some(told.clone()) };
    (tiers(&settings, &EngineConfig::from(&settings), &outside).unwrap(), told)
}

fn three() -> State {
    state(&[cpu(4), cpu(4), cpu(4)])
}

const BOTH: [(&str, &str); 2] =
    [("extender.predicateVerb", "predicate"), ("extender.prioritizeVerb", "prioritize")];

#[test]
fn it_refuses_hosts_and_scores_the_others() {
    let answer: Answer = |verb, body| {
        assert_eq!(body["task"]["Resreq"]["MilliCPU"], 1000.0);
        Ok(match verb {
            "predicate" if body["node"]["Name"] == "h02" => json!({"status": "full", "code": 3}),
            "predicate" => json!({"status": "", "code": 0}),
            _ => {
                assert_eq!(body["nodes"].as_array().unwrap().len(), 2);
                json!({"nodeScore": {"h00": 1, "h01": 2.5}, "errorMessage": ""})
            }
        })
    };
    let (tiers, _) = extended(answer, &BOTH);
    let mut state = three();
    let job = add_job(&mut state, "p/job", 1, &[tasks("worker", 2, 1)]);
    let closed = cycle_with(tiers, state, &mut Accept::default());
    assert_eq!(placed(&closed.state, job), [Some("h01".to_owned()), Some("h01".to_owned())]);
}

#[test]
fn without_an_answer_it_says_no_and_is_not_asked_again() {
    let (tiers, told) = extended(|_, _| Err("timeout".to_owned()), &BOTH);
    let mut state = three();
    let job = add_job(&mut state, "p/job", 1, &[tasks("worker", 2, 1)]);
    let closed = cycle_with(tiers, state, &mut Accept::default());
    assert_eq!(placed(&closed.state, job), [None, None]);
    assert_eq!(told.asked.lock().unwrap().len(), 1);
    let message = &closed.verdicts[0].condition.as_ref().unwrap().message;
    assert!(message.contains("3 cannot be judged: the extender does not answer"), "{message}");
}

#[test]
fn one_that_is_ignorable_is_left_out() {
    let ignorable = [BOTH[0], ("extender.ignorable", "true")];
    let (tiers, told) = extended(|_, _| Err("timeout".to_owned()), &ignorable);
    let mut state = three();
    let job = add_job(&mut state, "p/job", 1, &[tasks("worker", 2, 1)]);
    let closed = cycle_with(tiers, state, &mut Accept::default());
    assert!(placed(&closed.state, job).iter().all(Option::is_some));
    assert_eq!(told.asked.lock().unwrap().len(), 1);
}

#[test]
fn what_is_none_of_its_business_it_is_not_asked() {
    let gpus = [BOTH[0], BOTH[1], ("extender.managedResources", "nvidia.com/gpu")];
    let (tiers, told) = extended(|_, _| unreachable!(), &gpus);
    let mut state = three();
    let job = add_job(&mut state, "p/job", 1, &[tasks("worker", 2, 1)]);
    let closed = cycle_with(tiers, state, &mut Accept::default());
    assert!(placed(&closed.state, job).iter().all(Option::is_some));
    assert!(told.asked.lock().unwrap().is_empty());
}

#[test]
fn it_is_told_what_happens() {
    let verbs = [
        ("extender.onSessionOpenVerb", "open"),
        ("extender.onSessionCloseVerb", "close"),
        ("extender.allocateFuncVerb", "allocate"),
    ];
    let answer: Answer = |verb, body| {
        if verb == "open" {
            assert_eq!(body["Nodes"]["h00"]["Idle"]["MilliCPU"], 4000.0);
            assert_eq!(body["Queues"]["default"]["Name"], "default");
        }
        Ok(Value::Null)
    };
    let (tiers, told) = extended(answer, &verbs);
    let mut state = three();
    add_job(&mut state, "p/job", 1, &[tasks("worker", 1, 1)]);
    cycle_with(tiers, state, &mut Accept::default());
    assert_eq!(*told.asked.lock().unwrap(), ["open", "allocate", "close"]);
}

#[test]
fn an_address_is_needed() {
    for (name, value) in [("extender.urlPrefix", "https://x"), ("extender.httpTimeout", "soon")] {
        let mut settings = Settings::default();
        settings.batch.tiers = vec![vec!["extender".to_owned()]];
        let given = [("extender.urlPrefix", "http://x"), (name, value)];
        let given = given.map(|(k, v)| (k.to_owned(), v.to_owned()));
        settings.batch_plugins.insert("extender".to_owned(), given.into());
        let made = tiers(&settings, &EngineConfig::from(&settings), &Outside::default());
        let fault = made.err().unwrap().to_string();
        assert!(fault.contains(name) && fault.contains(value), "{fault}");
    }
}
