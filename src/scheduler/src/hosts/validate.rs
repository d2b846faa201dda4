//! Whether a report can be what a host says: every field that cannot is named.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use stowplan_model::Inventory;
use stowplan_model::host::{HostReport, ServiceReport};
use stowplan_model::host_devices::NumaCell;
use stowplan_model::names::{MAX_PROVIDER_NAME, is_custom, standard_classes, standard_traits};

use crate::fields::{FieldErrors, MAX_TEXT};

/// The largest amount of an inventory, and so of what a host has.
const MAX_AMOUNT: i64 = 2_147_483_647;
/// The largest ratio of an inventory (Placement's bound), and so of what a host
/// reports; a metric is not beyond it either way.
const MAX_REAL: f64 = 3.402_823_466_385_288_6e38;
/// The longest name of a host or node: its provider's children are named after
/// it, `<node>_batch` among them.
pub(crate) const MAX_NAME: usize = MAX_PROVIDER_NAME - "_batch".len();
/// The longest name of a device, which is part of a provider's.
const MAX_DEVICE_NAME: usize = 100;

static CLASSES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| standard_classes().collect());
static TRAITS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| standard_traits().collect());

/// Checks a report and the names that it is addressed by.
pub(super) fn check(host: &str, node: &str, report: &HostReport) -> FieldErrors {
    let mut errors = FieldErrors::default();
    name(&mut errors, "host", host);
    name(&mut errors, "node", node);
    if let Some(hypervisor) = &report.hypervisor_hostname {
        errors.require(
            hypervisor == node,
            "hypervisor_hostname",
            hypervisor,
            format!("the name of the node ({node}), or nothing"),
        );
    }
    service(&mut errors, &report.service);
    figures(&mut errors, report);
    lists(&mut errors, report);
    devices(&mut errors, node, report);
    if let Some(inventory) = &report.inventory {
        inventories(&mut errors, inventory);
    }
    errors
}

/// Checks the name of a host or node.
pub(crate) fn name(errors: &mut FieldErrors, field: &str, name: &str) {
    errors.require_name(field, name, MAX_NAME);
}

/// The texts of a service.
fn service(errors: &mut FieldErrors, report: &ServiceReport) {
    if let Some(binary) = &report.binary {
        errors.require_name("service.binary", binary, MAX_TEXT);
    }
    let texts =
        [("service.disabled_reason", &report.disabled_reason), ("service.zone", &report.zone)];
    for (field, text) in texts {
        errors.require_text(field, text.as_deref().unwrap_or_default(), MAX_TEXT);
    }
}

/// Amounts and ratios.
fn figures(errors: &mut FieldErrors, report: &HostReport) {
    let at_least_0 = [
        ("vcpus", report.vcpus),
        ("vcpus_used", report.vcpus_used),
        ("memory_mb", report.memory_mb),
        ("memory_mb_used", report.memory_mb_used),
        ("local_gb", report.local_gb),
        ("local_gb_used", report.local_gb_used),
        ("num_instances", report.num_instances),
        ("io_workload", report.io_workload),
        ("failed_builds", report.failed_builds),
        ("running_vms", report.running_vms),
        ("max_tasks", report.max_tasks),
        ("hypervisor_version", report.hypervisor_version),
        ("service.version", Some(report.service.version)),
    ];
    for (field, value) in at_least_0 {
        errors.require(
            value.is_none_or(|value| (0..=MAX_AMOUNT).contains(&value)),
            field,
            &value,
            format!("a whole number from 0 to {MAX_AMOUNT}"),
        );
    }
    let signed = [
        ("free_ram_mb", report.free_ram_mb),
        ("free_disk_gb", report.free_disk_gb),
        ("disk_available_least", report.disk_available_least),
    ];
    for (field, value) in signed {
        errors.require(
            value.is_none_or(|value| (-MAX_AMOUNT..=MAX_AMOUNT).contains(&value)),
            field,
            &value,
            format!("a whole number from -{MAX_AMOUNT} to {MAX_AMOUNT}"),
        );
    }
    let ratios = [
        ("cpu_allocation_ratio", report.cpu_allocation_ratio),
        ("ram_allocation_ratio", report.ram_allocation_ratio),
        ("disk_allocation_ratio", report.disk_allocation_ratio),
    ];
    for (field, value) in ratios {
        errors.require(
            value.is_none_or(|value| (0.0..=MAX_REAL).contains(&value)),
            field,
            &value,
            format!("a number from 0 to {MAX_REAL:e}"),
        );
    }
}

/// Traits, supported instances and PCI pools.
fn lists(errors: &mut FieldErrors, report: &HostReport) {
    traits(errors, "traits", &report.traits);
    for (place, triple) in report.supported_instances.iter().flatten().enumerate() {
        errors.require(
            triple.len() == 3,
            format!("supported_instances[{place}]"),
            triple,
            "three texts: architecture, hypervisor type, VM mode",
        );
    }
    for (place, pool) in report.pci_pools.iter().flatten().enumerate() {
        amount(errors, || format!("pci_pools[{place}].count"), pool.count);
        numa_node(errors, || format!("pci_pools[{place}].numa_node"), pool.numa_node);
    }
    for (place, metric) in report.metrics.iter().flatten().enumerate() {
        errors.require(
            (-MAX_REAL..=MAX_REAL).contains(&metric.value),
            format!("metrics[{place}].value"),
            &metric.value,
            format!("a number from -{MAX_REAL:e} to {MAX_REAL:e}"),
        );
    }
    for (place, image) in report.images.iter().enumerate() {
        errors.require(
            image.size_bytes.is_none_or(|bytes| bytes >= 0),
            format!("images[{place}].size_bytes"),
            &image.size_bytes,
            "a whole number of at least 0",
        );
    }
    for (place, cell) in report.numa_cells.iter().flatten().enumerate() {
        numa_cell(errors, place, cell);
    }
}

/// The numbers of a NUMA cell.
fn numa_cell(errors: &mut FieldErrors, place: usize, cell: &NumaCell) {
    let field = |name: &str| format!("numa_cells[{place}].{name}");
    let amounts = [
        ("id", cell.id),
        ("memory", cell.memory),
        ("memory_usage", cell.memory_usage),
        ("cpu_usage", cell.cpu_usage),
        ("socket", cell.socket.unwrap_or_default()),
    ];
    for (name, value) in amounts {
        amount(errors, || field(name), value);
    }
    let sets =
        [("cpuset", &cell.cpuset), ("pcpuset", &cell.pcpuset), ("pinned_cpus", &cell.pinned_cpus)];
    for (name, set) in sets {
        for (at, cpu) in set.iter().enumerate() {
            amount(errors, || field(&format!("{name}[{at}]")), *cpu);
        }
    }
    for (core, threads) in cell.siblings.iter().enumerate() {
        for (at, cpu) in threads.iter().enumerate() {
            amount(errors, || field(&format!("siblings[{core}][{at}]")), *cpu);
        }
    }
    for (at, pages) in cell.mempages.iter().enumerate() {
        let amounts = [
            ("size_kb", pages.size_kb),
            ("total", pages.total),
            ("used", pages.used),
            ("reserved", pages.reserved),
        ];
        for (name, value) in amounts {
            amount(errors, || field(&format!("mempages[{at}].{name}")), value);
        }
    }
}

/// A host knows its NUMA nodes by their numbers, or as Linux says it, -1.
fn numa_node(errors: &mut FieldErrors, field: impl Fn() -> String, node: Option<i64>) {
    if node != Some(-1) {
        amount(errors, field, node.unwrap_or_default());
    }
}

fn amount(errors: &mut FieldErrors, field: impl Fn() -> String, value: i64) {
    if !(0..=MAX_AMOUNT).contains(&value) {
        errors.add(field(), &value, format!("a whole number from 0 to {MAX_AMOUNT}"));
    }
}

/// Devices: each has a name of its own, a class that exists and an amount.
fn devices(errors: &mut FieldErrors, node: &str, report: &HostReport) {
    let node = node.chars().count() + "_".len();
    let longest = MAX_DEVICE_NAME.min(MAX_PROVIDER_NAME.saturating_sub(node));
    let mut names = BTreeSet::new();
    for (place, device) in report.devices.iter().enumerate() {
        let field = |name: &str| format!("devices[{place}].{name}");
        let fits = (1..=longest).contains(&device.name.chars().count())
            && !device.name.chars().any(char::is_control);
        errors.require(
            fits && names.insert(device.name.as_str()) && device.name != "batch",
            field("name"),
            &device.name,
            format!("1 to {longest} characters, unlike the host's other devices and \"batch\""),
        );
        class(errors, field("resource_class"), &device.resource_class);
        errors.require(
            (1..=MAX_AMOUNT).contains(&device.total),
            field("total"),
            &device.total,
            format!("a whole number from 1 to {MAX_AMOUNT}"),
        );
        numa_node(errors, || field("numa_node"), device.numa_node);
        traits(errors, &field("traits"), &device.traits);
    }
}

fn traits(errors: &mut FieldErrors, field: &str, names: &[String]) {
    for (place, name) in names.iter().enumerate() {
        errors.require(
            TRAITS.contains(name.as_str()) || is_custom(name),
            format!("{field}[{place}]"),
            name,
            "a standard trait, or CUSTOM_ and capital letters, digits and underscores",
        );
    }
}

/// Checks the name of a resource class.
pub(crate) fn class(errors: &mut FieldErrors, field: String, name: &str) {
    errors.require(
        CLASSES.contains(name) || is_custom(name),
        field,
        name,
        "a standard resource class, or CUSTOM_ and capital letters, digits and underscores",
    );
}

fn inventories(errors: &mut FieldErrors, inventories: &BTreeMap<String, Inventory>) {
    for (name, inventory) in inventories {
        class(errors, format!("inventory.{name}"), name);
        let field = |part: &str| format!("inventory.{name}.{part}");
        let units = [
            ("total", inventory.total),
            ("min_unit", inventory.min_unit),
            ("max_unit", inventory.max_unit),
            ("step_size", inventory.step_size),
        ];
        for (part, value) in units {
            errors.require(
                (1..=MAX_AMOUNT).contains(&value),
                field(part),
                &value,
                format!("a whole number from 1 to {MAX_AMOUNT}"),
            );
        }
        errors.require(
            (0..=inventory.total).contains(&inventory.reserved),
            field("reserved"),
            &inventory.reserved,
            format!("a whole number from 0 to the total ({})", inventory.total),
        );
        let ratio = inventory.allocation_ratio;
        errors.require(
            ratio > 0.0 && ratio <= MAX_REAL,
            field("allocation_ratio"),
            &ratio,
            format!("a number above 0 and up to {MAX_REAL:e}"),
        );
    }
}
