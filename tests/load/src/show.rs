//! Rows for people, or for programs.

use crate::load::Figures;
use serde_json::json;
use std::time::Duration;

/// Prints rows as they come.
#[derive(Debug)]
pub struct Show {
    json: bool,
}

impl Show {
    pub fn new(json: bool, targets: usize) -> Self {
        if !json {
            print!("{:58}{COLUMNS}", "");
            if targets > 1 {
                print!(" | the other: {COLUMNS} | p50, rate, CPU: times better");
            }
            println!();
        }
        Self { json }
    }

    pub fn row(&mut self, name: &str, figures: &[Figures]) {
        if self.json {
            let figures: Vec<_> = figures.iter().map(object).collect();
            println!("{}", json!({"row": name, "servers": figures}));
            return;
        }
        print!("{name:58}");
        for (number, of) in figures.iter().enumerate() {
            print!("{}{}", if number > 0 { " |            " } else { "" }, columns(of));
        }
        if let [own, other] = figures {
            let ratio = |own: Duration, other: Duration| other.as_secs_f64() / own.as_secs_f64();
            let p50 = ratio(own.percentile(50), other.percentile(50));
            let rate = own.rate() / other.rate();
            print!(" | {p50:.1}, {rate:.1}");
            if let Some((own, other)) = own.cpu_each().zip(other.cpu_each()) {
                print!(", {:.1}", ratio(own, other));
            }
        }
        for refused in figures.iter().filter(|of| !of.refused.is_empty()) {
            print!("  refused: {:?}", refused.refused);
        }
        println!();
    }

    pub fn end(&self, faults: &[String]) {
        for fault in faults {
            eprintln!("WRONG: {fault}");
        }
        if !self.json {
            let verdict = if faults.is_empty() { "equal" } else { "DIFFER FROM" };
            println!("what is in use and the claims that were accepted: {verdict}");
        }
    }
}

const COLUMNS: &str = "    per second    p50 ms    p99 ms  CPU ms";

fn columns(of: &Figures) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let cpu = of.cpu_each().map_or("-".to_owned(), |cpu| format!("{:.3}", ms(cpu)));
    let (p50, p99) = (ms(of.percentile(50)), ms(of.percentile(99)));
    format!("{:14.1}{p50:10.3}{p99:10.3}{cpu:>8}", of.rate())
}

fn object(of: &Figures) -> serde_json::Value {
    let micros = |time: Duration| time.as_micros() as u64;
    json!({
        "count": of.times.len(), "per_second": of.rate(),
        "p50_us": micros(of.percentile(50)), "p99_us": micros(of.percentile(99)),
        "max_us": micros(of.percentile(100)), "cpu_us_each": of.cpu_each().map(micros),
        "refused": of.refused,
    })
}
