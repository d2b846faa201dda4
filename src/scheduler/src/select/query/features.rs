//! Features that a flavor or image asks for and that hosts show as traits or
//! resources.

use stowplan_model::flavor::Flavor;
use stowplan_model::image_props::{ImageProps, PropValue};
use stowplan_model::pytext;

use super::groups::Groups;

/// Extra specs that stand for a trait: key, value, trait.
const SPEC_TRAITS: [(&str, &str, &str); 4] = [
    ("hw:pci_numa_affinity_policy", "socket", "COMPUTE_SOCKET_PCI_NUMA_AFFINITY"),
    ("os:secure_boot", "required", "COMPUTE_SECURITY_UEFI_SECURE_BOOT"),
    ("hw:maxphysaddr_mode", "passthrough", "COMPUTE_ADDRESS_SPACE_PASSTHROUGH"),
    ("hw:maxphysaddr_mode", "emulate", "COMPUTE_ADDRESS_SPACE_EMULATED"),
];

/// Adds what the features of a flavor and an image need.
pub(super) fn read(flavor: &Flavor, image: Option<&ImageProps>, groups: &mut Groups) {
    let spec = |key| flavor.extra_specs.get(key);
    let flag = |name| matches!(image.and_then(|i| i.get(name)), Some(PropValue::Flag(true)));
    for (key, value, name) in SPEC_TRAITS {
        if spec(key) == Some(value) {
            groups.require("", name);
        }
    }
    if spec("hw:mem_encryption").is_some_and(pytext::flag) || flag("hw_mem_encryption") {
        groups.add("", "MEM_ENCRYPTION_CONTEXT", 1);
        groups.require(
            "",
            match spec("hw:mem_encryption_model") {
                Some("amd-sev-es") => "HW_CPU_X86_AMD_SEV_ES",
                Some("amd-sev-snp") => "HW_CPU_X86_AMD_SEV_SNP",
                _ => "HW_CPU_X86_AMD_SEV",
            },
        );
    }
    for label in spec("hw:pmem").into_iter().flat_map(|list| list.split(',')) {
        let label = label.trim();
        if !label.is_empty() {
            groups.add("", &format!("CUSTOM_PMEM_NAMESPACE_{}", normalised(label)), 1);
        }
    }
    if let Some(version @ ("1.2" | "2.0")) = spec("hw:tpm_version") {
        groups.require(
            "",
            match version {
                "1.2" => "COMPUTE_SECURITY_TPM_1_2",
                _ => "COMPUTE_SECURITY_TPM_2_0",
            },
        );
        groups.require(
            "",
            match spec("hw:tpm_model") {
                Some("tpm-crb") => "COMPUTE_SECURITY_TPM_CRB",
                _ => "COMPUTE_SECURITY_TPM_TIS",
            },
        );
    }
    let uefi = image.and_then(|image| image.text("hw_firmware_type")) == Some("uefi");
    if uefi && flag("hw_firmware_stateless") {
        groups.require("", "COMPUTE_SECURITY_STATELESS_FIRMWARE");
    }
}

/// A text as part of a custom name.
fn normalised(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect()
}
