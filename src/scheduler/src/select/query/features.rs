//! Features that a flavor or image asks for and that hosts show as traits or
//! resources.

use super::groups::Groups;
use super::wishes::Wishes;
use crate::error::SchedulerError;

/// Extra specs that stand for a trait: key, value, trait.
const SPEC_TRAITS: [(&str, &str, &str); 3] = [
    ("hw:pci_numa_affinity_policy", "socket", "COMPUTE_SOCKET_PCI_NUMA_AFFINITY"),
    ("hw:maxphysaddr_mode", "passthrough", "COMPUTE_ADDRESS_SPACE_PASSTHROUGH"),
    ("hw:maxphysaddr_mode", "emulate", "COMPUTE_ADDRESS_SPACE_EMULATED"),
];

/// Adds what the features of a flavor and an image need.
///
/// # Errors
/// A feature that the flavor and the image do not agree on, or that goes
/// without what it needs.
pub(super) fn read(wishes: Wishes<'_>, groups: &mut Groups) -> Result<(), SchedulerError> {
    for (key, value, name) in SPEC_TRAITS {
        if wishes.spec(key) == Some(value) {
            groups.require("", name);
        }
    }
    if wishes.text("os:secure_boot", "os_secure_boot")? == Some("required") {
        groups.require("", "COMPUTE_SECURITY_UEFI_SECURE_BOOT");
    }
    memory_encryption(wishes, groups)?;
    for label in wishes.spec("hw:pmem").into_iter().flat_map(|list| list.split(',')) {
        let label = label.trim();
        if !label.is_empty() {
            groups.add("", &format!("CUSTOM_PMEM_NAMESPACE_{}", normalised(label)), 1);
        }
    }
    tpm(wishes, groups)?;
    if has_uefi(wishes) && wishes.flag("", "hw_firmware_stateless")? {
        groups.require("", "COMPUTE_SECURITY_STATELESS_FIRMWARE");
    }
    Ok(())
}

fn has_uefi(wishes: Wishes<'_>) -> bool {
    wishes.prop("hw_firmware_type") == Some("uefi")
}

/// An encryption context, which takes an image that boots by UEFI on a machine
/// of type q35.
fn memory_encryption(wishes: Wishes<'_>, groups: &mut Groups) -> Result<(), SchedulerError> {
    if !wishes.flag("hw:mem_encryption", "hw_mem_encryption")? {
        return Ok(());
    }
    if !has_uefi(wishes) {
        let firmware = wishes.prop("hw_firmware_type").unwrap_or_default();
        return Err(SchedulerError::Request(format!(
            "image property hw_firmware_type is \"{firmware}\": expected uefi with encrypted memory"
        )));
    }
    if let Some(machine) = wishes.prop("hw_machine_type").filter(|it| !it.contains("q35")) {
        return Err(SchedulerError::Request(format!(
            "image property hw_machine_type is \"{machine}\": expected q35 with encrypted memory"
        )));
    }
    let model = wishes.text("hw:mem_encryption_model", "hw_mem_encryption_model")?;
    groups.add("", "MEM_ENCRYPTION_CONTEXT", 1);
    groups.require(
        "",
        match model {
            Some("amd-sev-es") => "HW_CPU_X86_AMD_SEV_ES",
            Some("amd-sev-snp") => "HW_CPU_X86_AMD_SEV_SNP",
            _ => "HW_CPU_X86_AMD_SEV",
        },
    );
    Ok(())
}

/// A TPM of some version and model.
fn tpm(wishes: Wishes<'_>, groups: &mut Groups) -> Result<(), SchedulerError> {
    let Some(version) = wishes.text("hw:tpm_version", "hw_tpm_version")? else { return Ok(()) };
    let model = wishes.text("hw:tpm_model", "hw_tpm_model")?.unwrap_or("tpm-tis");
    let (of_version, of_model) = match (version, model) {
        ("1.2", "tpm-tis") => ("COMPUTE_SECURITY_TPM_1_2", "COMPUTE_SECURITY_TPM_TIS"),
        ("2.0", "tpm-tis") => ("COMPUTE_SECURITY_TPM_2_0", "COMPUTE_SECURITY_TPM_TIS"),
        ("2.0", "tpm-crb") => ("COMPUTE_SECURITY_TPM_2_0", "COMPUTE_SECURITY_TPM_CRB"),
        _ => {
            return Err(SchedulerError::Request(format!(
                "TPM version \"{version}\" and model \"{model}\": expected 1.2 with tpm-tis, or 2.0 \
                 with tpm-tis or tpm-crb"
            )));
        }
    };
    groups.require("", of_version);
    groups.require("", of_model);
    Ok(())
}

/// A text as part of a custom name.
fn normalised(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect()
}
