//! Whether a job can be as it is stated; what is not stated gets its default.

use super::{JobRequest, JobSpec, RoleRequest, RoleSpec};
use crate::amounts::Dims;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_scheduler::fields::{FieldErrors, MAX_TEXT};

/// The longest name of a job, namespace or role.
const MAX_NAME: usize = 200;
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
            let spec = check_role(&mut errors, &format!("tasks[{place}]"), role, dims);
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
    let min = u32::try_from(min_available).ok().filter(|min| u64::from(*min) <= count);
    errors.require(
        min.is_some(),
        "min_available",
        &min_available,
        format!("0 to {count}, the number of tasks"),
    );
    errors.into_result(JobSpec {
        user: user.to_owned(),
        priority: request.priority.unwrap_or(0),
        min_available: min.unwrap_or_default(),
        min_task_member,
        annotations: request.annotations.clone(),
        tasks,
    })
}

fn check_name(errors: &mut FieldErrors, field: &str, name: &str) {
    let fits = (1..=MAX_NAME).contains(&name.chars().count());
    let plain = name.trim() == name && !name.chars().any(|c| c.is_control() || c == '/');
    errors.require(
        fits && plain,
        field,
        name,
        format!("1 to {MAX_NAME} characters without /, control characters or blanks at the ends"),
    );
}

fn check_role(
    errors: &mut FieldErrors,
    place: &str,
    request: &RoleRequest,
    dims: &Dims,
) -> RoleSpec {
    let role = request.role.clone().unwrap_or_else(|| "task".to_owned());
    check_name(errors, &format!("{place}.role"), &role);
    let count = request.count.unwrap_or(1);
    let whole = u32::try_from(count).ok().filter(|count| *count >= 1);
    errors.require(whole.is_some(), format!("{place}.count"), &count, "1 or more");
    let mut charged = BTreeMap::new();
    for (name, quantity) in &request.requests {
        let alone = BTreeMap::from([(name.clone(), *quantity)]);
        match dims.charge(&alone) {
            Ok(amounts) => charged.extend(dims.by_class(&amounts)),
            Err(fault) => {
                errors.add(format!("{place}.requests.{name}"), quantity, fault.to_string());
            }
        }
    }
    charged.insert(crate::amounts::TASK_CLASS.to_owned(), 1);
    RoleSpec {
        role,
        count: whole.unwrap_or(1),
        requests: request.requests.clone(),
        charged,
        priority: request.priority.unwrap_or(1),
        labels: request.labels.clone(),
        node_selector: request.node_selector.clone(),
        tolerations: request.tolerations.clone(),
    }
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
        check(&request, "me", &dims, LIMITS).map_err(|errors| errors.to_string())
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
            (r#"{"tasks": [{"hint": {}}], "suspend": true}"#, "tasks[0].hint is {}"),
            (r#"{"tasks": [{}], "suspend": true}"#, "suspend is true"),
            (r#"{"tasks": [{}], "quue": "a"}"#, "is queue meant?"),
            (r#"{"tasks": [{"cuont": 1}]}"#, "cuont"),
        ] {
            let error = checked(body).unwrap_err();
            assert!(error.contains(part), "{body}: {error}");
        }
    }
}
