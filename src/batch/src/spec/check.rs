//! Whether a job can be as it is stated; what is not stated gets its default.

use super::names::check_name;
use super::topology;
use super::{
    JobRequest, JobSpec, OnTaskFailure, PreemptionPolicy, Resources, RoleRequest, RoleSpec, least,
    notes,
};
use crate::amounts::{Dims, TASK_CLASS};
use crate::store::PriorityClass;
use crate::world::TraitRule;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::names::{is_custom, standard_traits};
use stowplan_scheduler::fields::{FieldErrors, MAX_TEXT};
use stowplan_scheduler::select::{Hinted, SchedulingHint};

/// The most roles of a job.
const MAX_ROLES: usize = 1000;

/// Bounds of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its tasks at most (`[batch] max_tasks_per_job`).
    pub tasks: u64,
}

/// Checks a job and puts defaults in.
///
/// # Errors
/// Every field that cannot be.
pub fn check(
    request: &JobRequest,
    user: &str,
    class: Option<&PriorityClass>,
    dims: &Dims,
    limits: Limits,
) -> Result<JobSpec, FieldErrors> {
    let mut errors = FieldErrors::default();
    for (field, name) in
        [("name", &request.name), ("namespace", &request.namespace), ("queue", &request.queue)]
    {
        if let Some(name) = name {
            check_name(&mut errors, field, name);
        }
    }
    errors.require_text("user", user, MAX_TEXT);
    let defaults = JobDefaults {
        preemptable: request.preemptable.unwrap_or(true),
        preemption_policy: class.map(|class| class.preemption_policy).unwrap_or_default(),
    };
    let amount = request.tasks.len();
    errors.require(
        (1..=MAX_ROLES).contains(&amount),
        "tasks",
        &amount,
        format!("1 to {MAX_ROLES} roles"),
    );
    let mut seen = BTreeSet::new();
    let tasks: Vec<RoleSpec> = request
        .tasks
        .iter()
        .enumerate()
        .map(|(place, role)| {
            let spec = check_role(&mut errors, &format!("tasks[{place}]"), role, dims, &defaults);
            let is_new = seen.insert(spec.role.clone());
            let field = format!("tasks[{place}].role");
            errors.require(is_new, field, &spec.role, "a name that no other role has");
            spec
        })
        .collect();
    let count: u64 = tasks.iter().map(|role| u64::from(role.count)).sum();
    errors.require(
        count <= limits.tasks,
        "tasks",
        &count,
        format!("at most {} tasks ([batch] max_tasks_per_job)", limits.tasks),
    );
    let min_task_member = check_minima(&mut errors, &request.min_task_member, &tasks);
    let min_available = request.min_available.unwrap_or_else(|| i64::try_from(count).unwrap_or(0));
    let near = request.network_topology.as_ref();
    topology::check(&mut errors, near, &request.sub_groups, &tasks);
    let min = u32::try_from(min_available).ok().filter(|min| u64::from(*min) <= count);
    errors.require(
        min.is_some(),
        "min_available",
        &min_available,
        format!("0 to {count}, the number of tasks"),
    );
    let min = min.unwrap_or_default();
    let min_resources = match &request.min_resources {
        None => Some(least::of(&tasks, min, &min_task_member)),
        Some(None) => None,
        Some(Some(given)) => Some(charged(&mut errors, "min_resources", given, dims)),
    };
    let number = |errors: &mut FieldErrors, field: &str, given: Option<i64>, least: u32| {
        let number = given.map(u32::try_from)?;
        let fits = number.is_ok_and(|number| number >= least);
        errors.require(fits, field, &given, format!("{least} to {}", u32::MAX));
        number.ok()
    };
    let max_retries = number(&mut errors, "max_retries", request.max_retries, 0).unwrap_or(0);
    let on_task_failure = request.on_task_failure.unwrap_or_default();
    errors.require(
        on_task_failure != OnTaskFailure::RestartJob || max_retries > 0,
        "max_retries",
        &request.max_retries,
        "1 or more, as on_task_failure is restart_job",
    );
    if let Some(budget) = request.disruption_budget {
        budget.check(&mut errors);
    }
    let roles: Vec<&str> = tasks.iter().map(|role| role.role.as_str()).collect();
    notes::check_job(&mut errors, &request.annotations, &roles);
    let run_limit_s = number(&mut errors, "run_limit_s", request.run_limit_s, 1);
    let ttl = number(&mut errors, "ttl_after_finished_s", request.ttl_after_finished_s, 0);
    let hint = Hinted::check(&mut errors, "", request.hint.as_ref(), &request.annotations).hint;
    errors.into_result(JobSpec {
        user: user.to_owned(),
        priority: request.priority.or(class.map(|class| class.value)).unwrap_or(0),
        priority_class: class.map(|class| class.name.clone()),
        min_available: min,
        min_task_member,
        min_resources,
        network_topology: request.network_topology.clone(),
        sub_groups: request.sub_groups.clone(),
        preemptable: request.preemptable.unwrap_or(true),
        run_limit_s,
        max_retries,
        on_task_failure,
        ttl_after_finished_s: ttl,
        submitted: None,
        hint: hint.map(SchedulingHint::from),
        disruption_budget: request.disruption_budget,
        annotations: request.annotations.clone(),
        tasks,
    })
}

/// What roles have unless they say otherwise.
struct JobDefaults {
    preemptable: bool,
    preemption_policy: PreemptionPolicy,
}

/// Requests in units by resource class, rounded up once; no place for a task.
fn charged(
    errors: &mut FieldErrors,
    place: &str,
    requests: &Resources,
    dims: &Dims,
) -> BTreeMap<String, i64> {
    let mut charged = BTreeMap::new();
    for (name, quantity) in requests {
        let alone = BTreeMap::from([(name.clone(), *quantity)]);
        match dims.charge(&alone) {
            Ok(amounts) => charged.extend(dims.by_class(&amounts)),
            Err(fault) => errors.add(format!("{place}.{name}"), quantity, fault.to_string()),
        }
    }
    charged.remove(TASK_CLASS);
    charged
}

fn check_role(
    errors: &mut FieldErrors,
    place: &str,
    request: &RoleRequest,
    dims: &Dims,
    job: &JobDefaults,
) -> RoleSpec {
    let role = request.role.clone().unwrap_or_else(|| "task".to_owned());
    check_name(errors, &format!("{place}.role"), &role);
    let count = request.count.unwrap_or(1);
    let whole = u32::try_from(count).ok().filter(|count| *count >= 1);
    errors.require(whole.is_some(), format!("{place}.count"), &count, "1 or more");
    let inside = format!("{place}.");
    let hint = Hinted::check(errors, &inside, request.hint.as_ref(), &request.annotations).hint;
    let mut charged = charged(errors, &format!("{place}.requests"), &request.requests, dims);
    charged.insert(TASK_CLASS.to_owned(), 1);
    notes::check_role(errors, place, &request.annotations, &request.labels);
    let required_traits =
        required_traits(errors, &format!("{place}.required_traits"), request, dims);
    RoleSpec {
        role,
        count: whole.unwrap_or(1),
        requests: request.requests.clone(),
        charged,
        priority: request.priority.unwrap_or(1),
        preemptable: request.preemptable.unwrap_or(job.preemptable),
        preemption_policy: request.preemption_policy.unwrap_or(job.preemption_policy),
        labels: request.labels.clone(),
        annotations: request.annotations.clone(),
        required_traits,
        node_selector: request.node_selector.clone(),
        tolerations: request.tolerations.clone(),
        hint: hint.map(SchedulingHint::from),
    }
}

/// Traits by resource class: they are asked of what the role requests, and by
/// names that traits have.
fn required_traits(
    errors: &mut FieldErrors,
    place: &str,
    request: &RoleRequest,
    dims: &Dims,
) -> BTreeMap<String, Vec<String>> {
    let mut by_class = BTreeMap::new();
    for (dimension, rules) in &request.required_traits {
        let field = format!("{place}.{dimension}");
        let known = request.requests.contains_key(dimension);
        errors.require(known, field.clone(), rules, "for a dimension of the role's requests");
        for (at, text) in rules.iter().enumerate() {
            let named = TraitRule::read(text).names().all(is_trait);
            let expected = "a trait, !TRAIT, or in:TRAIT,TRAIT with names of standard traits or \
                            CUSTOM_ and A to Z, 0 to 9, _";
            errors.require(named, format!("{field}[{at}]"), text, expected);
        }
        if let Some(class) = dims.ix(dimension).and_then(|dim| dims.class(dim)) {
            by_class.insert(class.to_owned(), rules.clone());
        }
    }
    by_class
}

fn is_trait(name: &str) -> bool {
    is_custom(name) || standard_traits().any(|known| known == name)
}

fn check_minima(
    errors: &mut FieldErrors,
    minima: &BTreeMap<String, i64>,
    tasks: &[RoleSpec],
) -> BTreeMap<String, u32> {
    let mut checked = BTreeMap::new();
    for (role, min) in minima {
        let field = format!("min_task_member.{role}");
        let Some(spec) = tasks.iter().find(|spec| spec.role == *role) else {
            errors.add(field, min, "a role of the job");
            continue;
        };
        match u32::try_from(*min).ok().filter(|min| *min <= spec.count) {
            Some(min) => {
                checked.insert(role.clone(), min);
            }
            None => errors.add(field, min, format!("0 to {}, its number of tasks", spec.count)),
        }
    }
    checked
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::spec::read_job;
    use stowplan_config::Settings;

    const LIMITS: Limits = Limits { tasks: 100 };

    fn checked(body: &str) -> Result<JobSpec, String> {
        let dims = Dims::from_settings(&Settings::default()).unwrap();
        let request = read_job(body.as_bytes()).map_err(|error| error.to_string())?;
        check(&request, "me", None, &dims, LIMITS).map_err(|errors| errors.to_string())
    }

    #[test]
    fn defaults_are_put_in() {
        let spec = checked(
            r#"{"tasks": [{"count": 3, "requests": {"cpu": "500m", "memory": "1Gi"}}, {"role": "b"}]}"#,
        )
        .unwrap();
        assert_eq!((spec.min_available, spec.count(), spec.priority), (4, 4, 0));
        assert_eq!(spec.tasks[0].role, "task");
        let charged = [("CUSTOM_BATCH_TASK", 1), ("MEMORY_MB", 1024), ("VCPU", 1)];
        assert_eq!(spec.tasks[0].charged, charged.map(|(c, n)| (c.to_owned(), n)).into());
        assert!(spec.tasks[1].is_best_effort() && !spec.tasks[0].is_best_effort());
        let stored = serde_json::to_value(&spec).unwrap();
        assert_eq!(JobSpec::read(&stored).unwrap(), spec);
    }

    #[test]
    fn what_must_be_left_follows_from_the_first_tasks() {
        let spec = |body: &str| checked(body).unwrap().min_resources;
        let tasks = r#""tasks": [
            {"role": "a", "count": 2, "requests": {"cpu": 1}},
            {"role": "b", "count": 2, "priority": 5, "requests": {"cpu": 3}}]"#;
        let cpus = |cpus: i64| Some(BTreeMap::from([("VCPU".to_owned(), cpus)]));
        assert_eq!(spec(&format!("{{{tasks}}}")), cpus(8));
        assert_eq!(spec(&format!("{{\"min_available\": 3, {tasks}}}")), cpus(7));
        let minima = r#""min_available": 2, "min_task_member": {"a": 2}"#;
        assert_eq!(spec(&format!("{{{minima}, {tasks}}}")), cpus(2));
        let minima = r#""min_available": 1, "min_task_member": {"a": 2}"#;
        assert_eq!(spec(&format!("{{{minima}, {tasks}}}")), cpus(3));
        assert_eq!(spec(&format!("{{\"min_resources\": null, {tasks}}}")), None);
        let given = r#""min_resources": {"cpu": "1500m"}"#;
        assert_eq!(spec(&format!("{{{given}, {tasks}}}")), cpus(2));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_value() {
        for (body, part) in [
            ("{}", "tasks is 0: expected 1 to 1000 roles"),
            (r#"{"tasks": [{}], "min_available": 2}"#, "min_available is 2: expected 0 to 1"),
            (r#"{"tasks": [{"count": 0}]}"#, "tasks[0].count is 0: expected 1 or more"),
            (r#"{"tasks": [{"count": 101}]}"#, "max_tasks_per_job"),
            (r#"{"tasks": [{"requests": {"fpga": 1}}]}"#, "tasks[0].requests.fpga is \"1\""),
            (
                r#"{"tasks": [{"requests": {"cpu": "1 core"}}]}"#,
                "tasks[0].requests.cpu is \"1 core\": expected a number",
            ),
            (r#"{"tasks": [{}, {}]}"#, "tasks[1].role is \"task\""),
            (r#"{"tasks": [{}], "min_task_member": {"b": 1}}"#, "min_task_member.b is 1"),
            (r#"{"tasks": [{}], "name": "a/b"}"#, "name is \"a/b\""),
            (r#"{"tasks": [{"affinity": {}}]}"#, "tasks[0].affinity is {}"),
            (r#"{"tasks": [{}], "network_topology": {"mode": "near"}}"#, "mode is \"near\""),
            (
                r#"{"tasks": [{}], "network_topology": {"mode": "soft", "highest_tier": 2}}"#,
                "network_topology.highest_tier is 2: expected nothing",
            ),
            (
                r#"{"tasks": [{}], "network_topology": {"highest_tier": -1}}"#,
                "network_topology.highest_tier is -1: expected 0 to 1000",
            ),
            (
                r#"{"tasks": [{"count": 5}], "sub_groups": [{"name": "part", "size": 2}]}"#,
                "sub_groups[0].size is 2: expected a size that all sub-groups have; \
                 part-task-2 has 1",
            ),
            (
                r#"{"tasks": [{"count": 4}], "sub_groups": [{"name": "a", "size": 2,
                    "min_groups": 3}]}"#,
                "sub_groups[0].min_groups is 3: expected 0 to 2",
            ),
            (
                r#"{"tasks": [{}], "sub_groups": [{"name": "a", "roles": ["b"]}]}"#,
                "sub_groups[0].roles[0] is \"b\": expected a role of the job",
            ),
            (r#"{"tasks": [{}], "sub_groups": [{"size": 1}]}"#, "sub_groups[0].name is \"\""),
            (r#"{"tasks": [{}], "suspend": 1}"#, "suspend is 1: expected true or false"),
            (r#"{"tasks": [{}], "run_limit_s": 0}"#, "run_limit_s is 0: expected 1 to"),
            (
                r#"{"tasks": [{}], "on_task_failure": "restart_job"}"#,
                "max_retries is null: expected 1 or more",
            ),
            (r#"{"tasks": [{}], "min_resources": {"fpga": 1}}"#, "min_resources.fpga is \"1\""),
            (
                r#"{"tasks": [{}], "disruption_budget": {}}"#,
                "disruption_budget is {}: expected one of max_unavailable and min_available",
            ),
            (
                r#"{"tasks": [{}], "disruption_budget": {"max_unavailable": "few"}}"#,
                "disruption_budget.max_unavailable is \"few\": expected a number of tasks",
            ),
            (
                r#"{"tasks": [{}], "annotations": {"volcano.sh/jdb-min-available": "x"}}"#,
                "annotations.volcano.sh/jdb-min-available is \"x\": expected a number of tasks",
            ),
            (
                r#"{"tasks": [{}], "annotations": {"volcano.sh/task-topology-affinity": "a"}}"#,
                "annotations.volcano.sh/task-topology-affinity is \"a\": expected roles of the job",
            ),
            (
                r#"{"tasks": [{"annotations": {"volcano.sh/revocable-zone": "rz1"}}]}"#,
                "tasks[0].annotations.volcano.sh/revocable-zone is \"rz1\": expected *",
            ),
            (
                r#"{"tasks": [{"labels": {"volcano.sh/cooldown-time": "10"}}]}"#,
                "tasks[0].labels.volcano.sh/cooldown-time is \"10\": expected a duration",
            ),
            (r#"{"tasks": [{}], "quue": "a"}"#, "is queue meant?"),
            (r#"{"tasks": [{"cuont": 1}]}"#, "cuont"),
        ] {
            let error = checked(body).unwrap_err();
            assert!(error.contains(part), "{body}: {error}");
        }
    }
}
