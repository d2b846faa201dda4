//! What came of a cycle of batch scheduling.

use crate::out::outln;
use crate::table;
use stowplan_batch::scenario::Outcome;

/// Who was placed, promised room or evicted, and where jobs stand.
pub fn show_cycle(cycle: &Outcome) {
    let mut tasks = table::with_header(["task", "", "node"]);
    for (task, node) in &cycle.binds {
        tasks.add_row([task, "is bound to", node]);
    }
    for (task, node) in &cycle.pipelined {
        tasks.add_row([task, "waits for room on", node]);
    }
    for task in &cycle.evicts {
        tasks.add_row([task, "is evicted", ""]);
    }
    outln!("{tasks}");
    let mut jobs = table::with_header(["job", "phase"]);
    for (job, phase) in &cycle.phases {
        jobs.add_row([job, phase.as_str()]);
    }
    outln!("{jobs}");
}
