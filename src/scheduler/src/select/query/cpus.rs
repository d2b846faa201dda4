//! Dedicated CPUs: how many of a server's CPUs are PCPU, how many VCPU.

use stowplan_model::flavor::Flavor;
use stowplan_model::image_props::ImageProps;

use super::groups::Groups;
use crate::error::SchedulerError;

/// The trait of hosts with several threads per core.
const THREADS: &str = "HW_CPU_HYPERTHREADING";

/// Adds the CPUs that a CPU policy asks for, and what its thread policy asks
/// of the host. The flavor wins over the image. Gives whether all CPUs are
/// dedicated: then hosts that offer theirs as shared ones may do.
///
/// # Errors
/// A policy of the image that the flavor's does not allow, or a mask that
/// cannot be read.
pub(super) fn read(
    flavor: &Flavor,
    image: Option<&ImageProps>,
    groups: &mut Groups,
) -> Result<bool, SchedulerError> {
    let spec = |key| flavor.extra_specs.get(key);
    let prop = |name| image.and_then(|image| image.text(name));
    let wanted = (spec("hw:cpu_policy"), prop("hw_cpu_policy"));
    if let (Some(of_flavor @ ("shared" | "mixed")), Some("dedicated")) = wanted {
        return Err(SchedulerError::Request(format!(
            "image property hw_cpu_policy is \"dedicated\": expected what goes with the flavor's \
             hw:cpu_policy \"{of_flavor}\""
        )));
    }
    let pinned = match wanted.0.or(wanted.1) {
        Some("dedicated") => flavor.vcpus,
        Some("mixed") => dedicated(flavor)?,
        _ => return Ok(false),
    };
    let emulator = i64::from(spec("hw:emulator_threads_policy") == Some("isolate"));
    groups.set("", "PCPU", pinned.saturating_add(emulator));
    if pinned < flavor.vcpus {
        groups.set("", "VCPU", flavor.vcpus - pinned);
    }
    match spec("hw:cpu_thread_policy").or(prop("hw_cpu_thread_policy")) {
        Some("isolate") => groups.forbid("", THREADS),
        Some("require") => groups.require("", THREADS),
        _ => {}
    }
    Ok(pinned == flavor.vcpus)
}

/// The dedicated CPUs of a mixed server: those of its mask, or the realtime
/// ones.
fn dedicated(flavor: &Flavor) -> Result<i64, SchedulerError> {
    for key in ["hw:cpu_dedicated_mask", "hw:cpu_realtime_mask"] {
        if let Some(mask) = flavor.extra_specs.get(key) {
            let count = masked(mask, flavor.vcpus);
            return count.filter(|count| (1..flavor.vcpus).contains(count)).ok_or_else(|| {
                SchedulerError::Request(format!(
                    "extra spec {key} is \"{mask}\": expected some, not all, of the CPUs 0 to {}, \
                     such as 0-1,3 or ^0",
                    flavor.vcpus - 1
                ))
            });
        }
    }
    Err(SchedulerError::Request(
        "extra spec hw:cpu_policy is \"mixed\": expected hw:cpu_dedicated_mask or \
         hw:cpu_realtime_mask beside it"
            .to_owned(),
    ))
}

/// How many of `cpus` CPUs a mask names: ranges and numbers, those after `^`
/// taken out; one that begins with `^` starts from all. Ranges are counted, not
/// their CPUs: there may be two thousand million.
fn masked(mask: &str, cpus: i64) -> Option<i64> {
    let (mut named, mut excluded) = (Vec::new(), Vec::new());
    for part in mask.split(',').map(str::trim) {
        let (part, ranges) = match part.strip_prefix('^') {
            Some(part) => (part, &mut excluded),
            None => (part, &mut named),
        };
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (i64, i64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || first < 0 || last >= cpus {
            return None;
        }
        ranges.push((first, last));
    }
    if mask.trim().starts_with('^') {
        named = vec![(0, cpus - 1)];
    }
    // What is named and not excluded is all that either has, less the excluded.
    named.extend(&excluded);
    Some(covered(named) - covered(excluded))
}

/// How many numbers lie in any of the ranges, ends included.
fn covered(mut ranges: Vec<(i64, i64)>) -> i64 {
    ranges.sort_unstable();
    let (mut count, mut free) = (0, i64::MIN);
    for (first, last) in ranges {
        if last >= free {
            count += last - first.max(free) + 1;
            free = last + 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for (mask, count) in [
            ("0-1", Some(2)),
            ("0,3", Some(2)),
            ("^0", Some(3)),
            ("0,0-2,1-2", Some(3)),
            ("^0,^0-1", Some(2)),
            ("0-1,^1-3", Some(1)),
            ("^1-2,3", Some(2)),
            ("0-3,^2", Some(3)),
            ("4", None),
            ("2-1", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(masked(mask, 4), count, "{mask}");
        }
        let most = i64::from(i32::MAX);
        assert_eq!(masked("^0,^2147483646,5-2147483640", most), Some(most - 2));
    }
}
