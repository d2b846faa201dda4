//! Which image properties there are, of what kind, and their older names.

/// How the text of an image property is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropKind {
    /// As it is.
    Text,
    /// As a boolean.
    Flag,
    /// As a whole number.
    Int,
    /// A processor architecture, in its canonical form.
    Architecture,
    /// A hypervisor type, in its canonical form.
    HypervisorType,
    /// A virtual machine mode, in its canonical form.
    VmMode,
    /// Conditions on the hypervisor's version.
    Versions,
}

/// Every property that is not plain text, by name.
const KINDS: &[(PropKind, &[&str])] = &[
    (PropKind::Architecture, &["hw_architecture", "hw_emulation_architecture"]),
    (PropKind::HypervisorType, &["img_hv_type"]),
    (PropKind::VmMode, &["hw_vm_mode"]),
    (PropKind::Versions, &["img_hv_requested_version"]),
    (
        PropKind::Flag,
        &[
            "hw_boot_menu",
            "hw_ephemeral_encryption",
            "hw_firmware_stateless",
            "hw_ipxe_boot",
            "hw_locked_memory",
            "hw_mem_encryption",
            "hw_pmu",
            "hw_qemu_guest_agent",
            "hw_time_hpet",
            "hw_vif_multiqueue_enabled",
            "hw_virtio_packed_ring",
            "img_bdm_v2",
            "img_bittorrent",
            "img_cache_in_nova",
            "img_hide_hypervisor_id",
            "img_linked_clone",
            "img_use_agent",
            "os_require_quiesce",
            "os_skip_agent_inject_files_at_boot",
            "os_skip_agent_inject_ssh",
        ],
    ),
    (
        PropKind::Int,
        &[
            "hw_cpu_cores",
            "hw_cpu_max_cores",
            "hw_cpu_max_sockets",
            "hw_cpu_max_threads",
            "hw_cpu_sockets",
            "hw_cpu_threads",
            "hw_device_id",
            "hw_maxphysaddr_bits",
            "hw_numa_nodes",
            "hw_redirected_usb_ports",
            "hw_serial_port_count",
            "hw_video_ram",
            "img_compression_level",
            "img_version",
        ],
    ),
    (
        PropKind::Text,
        &[
            "hw_auto_disk_config",
            "hw_cdrom_bus",
            "hw_cpu_policy",
            "hw_cpu_realtime_mask",
            "hw_cpu_thread_policy",
            "hw_disk_bus",
            "hw_disk_type",
            "hw_emulator_threads_policy",
            "hw_ephemeral_encryption_format",
            "hw_ephemeral_encryption_secret_uuid",
            "hw_firmware_type",
            "hw_floppy_bus",
            "hw_input_bus",
            "hw_machine_type",
            "hw_maxphysaddr_mode",
            "hw_mem_encryption_model",
            "hw_mem_page_size",
            "hw_pci_numa_affinity_policy",
            "hw_pointer_model",
            "hw_rescue_bus",
            "hw_rescue_device",
            "hw_rng_model",
            "hw_scsi_model",
            "hw_sound_model",
            "hw_tpm_model",
            "hw_tpm_version",
            "hw_usb_model",
            "hw_vif_model",
            "hw_video_model",
            "hw_viommu_model",
            "hw_watchdog_action",
            "img_block_device_mapping",
            "img_config_drive",
            "img_mappings",
            "img_owner_id",
            "img_root_device_name",
            "img_signature",
            "img_signature_certificate_uuid",
            "img_signature_hash_method",
            "img_signature_key_type",
            "os_admin_user",
            "os_command_line",
            "os_distro",
            "os_secure_boot",
            "os_type",
        ],
    ),
];

/// Older names and what they are called now.
pub(crate) const RENAMED: &[(&str, &str)] = &[
    ("architecture", "hw_architecture"),
    ("auto_disk_config", "hw_auto_disk_config"),
    ("bdm_v2", "img_bdm_v2"),
    ("bittorrent", "img_bittorrent"),
    ("block_device_mapping", "img_block_device_mapping"),
    ("cache_in_nova", "img_cache_in_nova"),
    ("hypervisor_type", "img_hv_type"),
    ("hypervisor_version_requires", "img_hv_requested_version"),
    ("ipxe_boot", "hw_ipxe_boot"),
    ("mappings", "img_mappings"),
    ("owner_id", "img_owner_id"),
    ("root_device_name", "img_root_device_name"),
    ("vm_mode", "hw_vm_mode"),
    ("vmware_disktype", "hw_disk_type"),
    ("vmware_image_version", "img_version"),
    ("vmware_linked_clone", "img_linked_clone"),
    ("vmware_ostype", "os_distro"),
    ("xenapi_device_id", "hw_device_id"),
    ("xenapi_image_compression_level", "img_compression_level"),
    ("xenapi_skip_agent_inject_files_at_boot", "os_skip_agent_inject_files_at_boot"),
    ("xenapi_skip_agent_inject_ssh", "os_skip_agent_inject_ssh"),
    ("xenapi_use_agent", "img_use_agent"),
];

/// The property of that name, as its own static name with its kind.
pub(crate) fn property(name: &str) -> Option<(&'static str, PropKind)> {
    KINDS.iter().find_map(|(kind, names)| {
        names.iter().find(|known| **known == name).map(|known| (*known, *kind))
    })
}

/// Canonical words of an enumerated kind: the words accepted as they are, and
/// other spellings of some.
pub(crate) struct Words {
    pub(crate) known: &'static [&'static str],
    pub(crate) aliases: &'static [(&'static str, &'static str)],
}

impl Words {
    /// The canonical form of `text` in any letter case.
    pub(crate) fn canonical(&self, text: &str) -> Option<&'static str> {
        let lower = text.to_ascii_lowercase();
        let name = self
            .aliases
            .iter()
            .find(|(alias, _)| *alias == lower)
            .map_or(lower.as_str(), |(_, name)| name);
        self.known.iter().find(|known| **known == name).copied()
    }
}

/// Processor architectures.
pub(crate) const ARCHITECTURES: Words = Words {
    known: &[
        "aarch64",
        "alpha",
        "armv6",
        "armv7b",
        "armv7l",
        "cris",
        "i686",
        "ia64",
        "lm32",
        "m68k",
        "microblaze",
        "microblazeel",
        "mips",
        "mips64",
        "mips64el",
        "mipsel",
        "openrisc",
        "parisc",
        "parisc64",
        "ppc",
        "ppc64",
        "ppc64le",
        "ppcemb",
        "ppcle",
        "s390",
        "s390x",
        "sh4",
        "sh4eb",
        "sparc",
        "sparc64",
        "unicore32",
        "x86_64",
        "xtensa",
        "xtensaeb",
    ],
    aliases: &[
        ("i386", "i686"),
        ("i486", "i686"),
        ("i586", "i686"),
        ("x86_32", "i686"),
        ("x86_32p", "i686"),
        ("amd64", "x86_64"),
    ],
};

/// Hypervisor types.
pub(crate) const HYPERVISOR_TYPES: Words = Words {
    known: &[
        "baremetal",
        "bhyve",
        "docker",
        "fake",
        "hyperv",
        "ironic",
        "kqemu",
        "kvm",
        "lxc",
        "lxd",
        "openvz",
        "parallels",
        "phyp",
        "prsm",
        "qemu",
        "test",
        "uml",
        "vbox",
        "vmware",
        "vz",
        "xen",
        "zvm",
    ],
    aliases: &[("xapi", "xen")],
};

/// Virtual machine modes.
pub(crate) const VM_MODES: Words = Words {
    known: &["exe", "hvm", "uml", "xen"],
    aliases: &[("pv", "xen"), ("hv", "hvm"), ("baremetal", "hvm")],
};
