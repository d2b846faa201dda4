//! Jobs with a topology or sub-groups: placed domain by domain, sub-group by
//! sub-group.
//!
//! Domains are tried as dry runs, narrow ones first. Of one tier the job goes
//! where its sub-groups score best. What a domain scores for a sub-group does
//! not depend on the outcome of the dry run, so domains are tried in the order
//! of their scores and the first in which the sub-group finds room is the best.

use super::allocate::{Part, place_tasks};
use super::sheet::Sheet;
use crate::session::{
    DomainIx, DomainScore, GroupIx, JobIx, Purpose, Replay, Session, Statement, TaskIx,
};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// A job's place in a domain.
struct Solution {
    domain: DomainIx,
    score: f64,
    /// What is left to be placed.
    sheet: Sheet,
    /// Where sub-groups have their place with it.
    places: Vec<(GroupIx, DomainIx)>,
}

/// Places what can be placed of a job in the best domain; none when there is
/// none. The steps hold; what is left is on the sheet.
pub(super) fn place_groups(
    session: &mut Session<'_>,
    job: JobIx,
    sheet: &mut Sheet,
) -> Option<Statement> {
    let lists = session.domains_for_job(job, Purpose::Allocate);
    for domains in &lists {
        if let Some((solution, statement)) = best_of(session, job, sheet, domains) {
            if session.is_ready(job) {
                session.state.settle_in(job, solution.domain, &solution.places);
            }
            *sheet = solution.sheet;
            return Some(statement);
        }
    }
    session.note_domains(job, &lists);
    None
}

/// The solution that scores best among domains of one tier, its steps done; the
/// first by name of equals.
fn best_of(
    session: &mut Session<'_>,
    job: JobIx,
    sheet: &Sheet,
    domains: &[DomainIx],
) -> Option<(Solution, Statement)> {
    let mut open: Vec<(f64, DomainIx)> =
        domains.iter().map(|domain| (bound(session, job, sheet, *domain), *domain)).collect();
    open.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut best: Option<(Solution, Replay)> = None;
    for (at, (_, domain)) in open.iter().enumerate() {
        let Some((solution, statement)) = attempt(session, job, sheet, *domain) else { continue };
        let is_best = best.as_ref().is_none_or(|(best, _)| outdoes(&solution, best));
        // Whoever comes later has no higher bound than the next one.
        let beaten = |score: f64| open.get(at + 1).is_none_or(|next| next.0 < score);
        if is_best && beaten(solution.score) {
            return Some((solution, statement));
        }
        let replay = session.recorded(&statement);
        session.discard(statement);
        if is_best {
            best = Some((solution, replay));
        }
        if best.as_ref().is_some_and(|(best, _)| beaten(best.score)) {
            break;
        }
    }
    let (solution, replay) = best?;
    let statement = session.replayed(job, &replay)?;
    Some((solution, statement))
}

fn outdoes(solution: &Solution, best: &Solution) -> bool {
    match solution.score.total_cmp(&best.score) {
        Ordering::Greater => true,
        Ordering::Equal => solution.domain < best.domain,
        Ordering::Less => false,
    }
}

/// What a job scores at most in a domain. With several sub-groups that is only
/// known once they are placed, as each changes what the next one scores.
fn bound(session: &Session<'_>, job: JobIx, sheet: &Sheet, domain: DomainIx) -> f64 {
    let [group] = session.state[job].groups.as_slice() else { return f64::INFINITY };
    debug_assert!(group.policy.is_none() && !sheet.is_empty());
    let lists = session.domains_for_group(job, GroupIx(0), domain, Purpose::Allocate);
    let inner: Vec<DomainIx> = lists.into_iter().flatten().collect();
    let scores = session.tiers.domain_scores(&session.state, job, GroupIx(0), &inner);
    let highest = |at: &DomainScore| at.score + at.among_equals.max(0.0);
    scores.iter().map(highest).fold(f64::NEG_INFINITY, f64::max)
}

/// Places a job in a domain, sub-group after sub-group until it has its
/// minimum; none when it does not get there.
fn attempt(
    session: &mut Session<'_>,
    job: JobIx,
    sheet: &Sheet,
    domain: DomainIx,
) -> Option<(Solution, Statement)> {
    let mut sheet = sheet.clone();
    let before = session.state.placed_groups(job);
    let mut statement = Statement::new(job);
    let (mut score, mut places) = (0.0, Vec::new());
    while let Some(group) = sheet.pop(session) {
        let Some((chosen, steps)) = place_group(session, job, &mut sheet, group, domain) else {
            continue;
        };
        score += chosen.score;
        statement.merge(steps);
        let placed = session.state.extend_group(job, group, chosen.domain);
        places.push((group, placed));
        if !sheet.tasks(group).is_empty() {
            sheet.push(session, group);
        }
        if session.is_ready(job) {
            break;
        }
    }
    session.state.restore_groups(job, &before);
    let done = session.is_ready(job) || session.is_pipelined(job);
    if statement.is_empty() || !done {
        session.discard(statement);
        return None;
    }
    Some((Solution { domain, score, sheet, places }, statement))
}

/// A sub-group's place.
struct Chosen {
    domain: DomainIx,
    score: f64,
}

/// Places a sub-group in the best domain inside that of its job.
fn place_group(
    session: &mut Session<'_>,
    job: JobIx,
    sheet: &mut Sheet,
    group: GroupIx,
    within: DomainIx,
) -> Option<(Chosen, Statement)> {
    for domains in session.domains_for_group(job, group, within, Purpose::Allocate) {
        let scores = session.tiers.domain_scores(&session.state, job, group, &domains);
        let mut open: Vec<(DomainIx, DomainScore)> = domains.into_iter().zip(scores).collect();
        open.sort_by(|(a, left), (b, right)| {
            let by_score = right.score.total_cmp(&left.score);
            by_score.then(right.among_equals.total_cmp(&left.among_equals)).then(a.cmp(b))
        });
        for (at, (domain, score)) in open.iter().enumerate() {
            let mut tasks = sheet.tasks(group).clone();
            let Some(steps) = try_group(session, job, group, *domain, &mut tasks) else { continue };
            let rivals = &open[at + 1..];
            let mut rivals = rivals.iter().filter(|(_, other)| other.score == score.score);
            let mut chosen = Chosen { domain: *domain, score: score.score };
            if score.among_equals == 0.0 || rivals.clone().next().is_none() {
                sheet.put(group, tasks);
                return Some((chosen, steps));
            }
            // More is added only if another of the same score would do as well.
            let replay = session.recorded(&steps);
            session.discard(steps);
            let shared = rivals.any(|(rival, _)| {
                let mut tasks = sheet.tasks(group).clone();
                let steps = try_group(session, job, group, *rival, &mut tasks);
                steps.map(|steps| session.discard(steps)).is_some()
            });
            if shared {
                chosen.score += score.among_equals;
            }
            let steps = session.replayed(job, &replay)?;
            sheet.put(group, tasks);
            return Some((chosen, steps));
        }
    }
    None
}

/// Places tasks of a sub-group in a domain; none when it does not get its
/// minimum there.
fn try_group(
    session: &mut Session<'_>,
    job: JobIx,
    group: GroupIx,
    domain: DomainIx,
    tasks: &mut VecDeque<TaskIx>,
) -> Option<Statement> {
    session.state.job_mut(job).failed_roles.clear();
    session.state.start_near(job, group);
    let mut steps = Statement::new(job);
    let part = Part { job, within: Some((group, domain)) };
    place_tasks(session, &mut steps, part, tasks);
    session.state.end_near(job, group);
    let (state, tiers) = (&session.state, &session.tiers);
    let done = tiers.group_ready(state, job, group) || tiers.group_pipelined(state, job, group);
    if !done || steps.is_empty() {
        session.discard(steps);
        return None;
    }
    Some(steps)
}
