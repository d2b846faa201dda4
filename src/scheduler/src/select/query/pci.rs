//! Request groups of PCI devices, where Placement tracks them.

use serde_json::Value;
use stowplan_model::request_devices::PciRequest;

use super::groups::Groups;

/// Adds one group for each device, suffix `<request id>-<number>`: one unit of
/// its resource class, with the traits of its alias (`[filter_scheduler]
/// pci_in_placement`). Gives the suffixes.
///
/// Of several alternatives the first counts, as at the peer: a candidate cannot
/// ask for one thing or another.
pub(super) fn read(requests: &[PciRequest], groups: &mut Groups) -> Vec<String> {
    let mut suffixes = Vec::new();
    for request in requests {
        let (Some(id), Some(spec)) = (&request.request_id, request.spec.first()) else { continue };
        let text = |key: &str| spec.get(key).and_then(Value::as_str);
        let class = match text("resource_class") {
            Some(class) => resource_class(class),
            None => {
                let part = |key| text(key).unwrap_or_default().to_uppercase();
                format!("CUSTOM_PCI_{}_{}", part("vendor_id"), part("product_id"))
            }
        };
        let traits = text("traits").unwrap_or_default();
        let traits: Vec<String> =
            traits.split(',').filter(|name| !name.is_empty()).map(trait_name).collect();
        for number in 0..request.count {
            let suffix = format!("{id}-{number}");
            groups.set(&suffix, &class, 1);
            traits.iter().for_each(|name| groups.require(&suffix, name));
            suffixes.push(suffix);
        }
    }
    suffixes
}

/// A class as an alias names it: a standard one, or what comes of it as a custom
/// one.
fn resource_class(text: &str) -> String {
    let upper = text.to_uppercase();
    if stowplan_model::names::standard_classes().any(|name| name == upper) {
        return upper;
    }
    custom(&upper)
}

fn trait_name(text: &str) -> String {
    let upper = text.to_uppercase();
    if stowplan_model::names::standard_traits().any(|name| name == upper) {
        return upper;
    }
    custom(&upper)
}

fn custom(upper: &str) -> String {
    let plain = upper
        .strip_prefix("CUSTOM_")
        .unwrap_or(upper)
        .chars()
        .map(|c| if c.is_ascii_uppercase() || c.is_ascii_digit() { c } else { '_' });
    format!("CUSTOM_{}", plain.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_aliases() {
        for (text, class) in [
            ("gpu", "CUSTOM_GPU"),
            ("CUSTOM_GPU", "CUSTOM_GPU"),
            ("vgpu", "VGPU"),
            ("a-b.c", "CUSTOM_A_B_C"),
        ] {
            assert_eq!(resource_class(text), class, "{text}");
        }
        for (text, name) in
            [("hw_gpu_api_vulkan", "HW_GPU_API_VULKAN"), (" b", "CUSTOM__B"), ("b", "CUSTOM_B")]
        {
            assert_eq!(trait_name(text), name, "{text}");
        }
    }
}
