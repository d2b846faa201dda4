//! Names in the files of services that stowplan takes the place of or works
//! beside. They are accepted, so that such a file works as it is, and change
//! nothing here.

/// Sections of which nothing is read.
const SECTIONS: &str = "
    api_database barbican barbican_service_user cache cinder conductor console consoleauth
    crypto cyborg database devices ephemeral_storage_encryption glance guestfs healthcheck
    hyperv image_cache ironic ironic_inspector key_manager keystone libvirt
    manila mks nova_sys_admin oslo_concurrency oslo_limit
    oslo_messaging_amqp oslo_messaging_kafka oslo_messaging_metrics oslo_middleware_tracing oslo_reports
    oslo_versionedobjects pci privsep profiler rdp remote_debug serial_console
    service_user spice vault vmware vnc wsgi xenserver zvm
";

/// Options, by section, of sections of which other options are read.
const OPTIONS: &[(&str, &str)] = &[
    (
        "DEFAULT",
        "
            allow_resize_to_same_host arq_binding_timeout bindir block_device_allocate_retries
            block_device_allocate_retries_interval cell_worker_thread_pool_size cert
            compute_driver compute_monitors concurrency_backend config_dir config_drive_format
            config_file console_host cpu_allocation_ratio daemon
            default_access_ip_network_name default_ephemeral_format default_green_pool_size
            default_log_levels default_schedule_zone default_thread_pool_size dhcp_domain
            disk_allocation_ratio enable_new_services enabled_apis executor_thread_pool_size
            fatal_deprecations firewall_driver flat_injected force_config_drive force_raw_images
            heal_instance_info_cache_interval initial_cpu_allocation_ratio
            initial_disk_allocation_ratio initial_ram_allocation_ratio injected_network_template
            instance_build_timeout instance_delete_interval instance_format
            instance_name_template instance_usage_audit instance_usage_audit_period
            instance_uuid_format instances_path key live_migration_retry_count log_color
            log_config_append log_date_format log_dir log_rotate_interval
            log_rotate_interval_type log_rotation_type logging_context_format_string
            logging_debug_format_suffix logging_default_format_string logging_exception_prefix
            logging_user_identity_format manager_shutdown_timeout max_concurrent_builds
            max_concurrent_live_migrations max_concurrent_snapshots max_local_block_devices
            max_logfile_count max_logfile_size_mb maximum_instance_delete_attempts
            metadata_listen metadata_listen_port metadata_workers migrate_max_retries
            mkisofs_cmd my_block_storage_ip my_ip my_shared_fs_storage_ip
            network_allocate_retries non_inheritable_image_properties
            osapi_compute_listen osapi_compute_listen_port
            osapi_compute_unique_server_name_scope osapi_compute_workers password_length
            periodic_enable periodic_fuzzy_delay pointer_model preallocate_images publish_errors
            pybasedir ram_allocation_ratio rate_limit_burst rate_limit_except_level
            rate_limit_interval reboot_timeout reclaim_instance_interval record
            reimage_timeout_per_gb rescue_timeout reserved_host_cpus reserved_host_disk_mb
            reserved_host_memory_mb reserved_huge_pages resize_confirm_window
            resize_fs_using_block_device resume_guests_state_on_host_boot rootwrap_config
            rpc_conn_pool_size rpc_ping_enabled rpc_thread_pool_size
            running_deleted_instance_action running_deleted_instance_poll_interval
            running_deleted_instance_timeout servicegroup_driver shelved_offload_time
            shelved_poll_interval shutdown_timeout source_is_ipv6 ssl_only
            stale_share_access_reconcile_interval sync_power_state_interval
            sync_power_state_pool_size syslog_log_facility tempdir thread_pool_statistic_period
            timeout_nbd update_resources_interval use_cow_images use_journal use_neutron
            use_rootwrap_daemon use_stderr use_syslog vcpu_pin_set verbose vif_plugging_is_fatal
            vif_plugging_timeout virt_mkfs volume_usage_poll_interval web
        ",
    ),
    (
        "api",
        "
            compute_link_prefix config_drive_skip_versions dhcp_domain enable_instance_password
            glance_link_prefix instance_list_cells_batch_fixed_size
            instance_list_cells_batch_strategy instance_list_per_project_cells
            list_records_by_skipping_down_cells local_metadata_per_cell
            metadata_cache_expiration neutron_default_project_id response_validation
            use_neutron_default_nets vendordata_dynamic_connect_timeout
            vendordata_dynamic_failure_fatal vendordata_dynamic_read_timeout
            vendordata_dynamic_ssl_certfile vendordata_dynamic_targets vendordata_jsonfile_path
            vendordata_providers
        ",
    ),
    (
        "compute",
        "
            cpu_dedicated_set cpu_shared_set image_type_exclude_list
            live_migration_wait_for_vif_plug max_concurrent_disk_ops max_disk_devices_to_attach
            provider_config_location resource_provider_association_refresh
            sharing_providers_max_uuids_per_request shutdown_retry_interval
            update_resources_max_workers vmdk_allowed_types
        ",
    ),
    (
        "keystone_authtoken",
        "
            auth_section auth_version cache collect_timing default_domain delay_auth_decision domain_id domain_name
            enforce_token_bind http_connect_timeout_retries include_service_catalog interface
            memcache_password memcache_pool_conn_get_timeout memcache_pool_dead_retry
            memcache_pool_maxsize memcache_pool_socket_timeout memcache_pool_unused_timeout
            memcache_sasl_enabled memcache_secret_key memcache_security_strategy
            memcache_tls_allowed_ciphers memcache_tls_cafile memcache_tls_certfile
            memcache_tls_enabled memcache_tls_keyfile memcache_use_advanced_pool memcache_username
            memcached_servers region_name service_type split_loggers trust_id
        ",
    ),
    (
        "neutron",
        "
            collect_timing connect_retry_delay default_floating_pool domain_id domain_name
            extension_sync_interval max_version metadata_proxy_shared_secret min_version
            ovs_bridge physnets service_metadata_proxy service_name split_loggers
            status_code_retries status_code_retry_delay trust_id url
        ",
    ),
    (
        "notifications",
        "
            bdms_in_notifications default_level include_share_mapping notify_on_state_change
        ",
    ),
    (
        "oslo_messaging_rabbit",
        "
            conn_pool_min_size conn_pool_ttl direct_mandatory_flag fake_rabbit kombu_compression
            rabbit_max_retries rpc_conn_pool_size ssl_enforce_fips_mode
        ",
    ),
    (
        "oslo_middleware",
        "backends detailed disable_by_file_path disable_by_file_paths
         ignore_path max_request_body_size path",
    ),
    (
        "oslo_policy",
        "
            remote_content_type remote_ssl_ca_crt_file
            remote_ssl_client_crt_file remote_ssl_client_key_file remote_ssl_verify_server_crt
            remote_timeout
        ",
    ),
    (
        "placement",
        "
            auth_section auth_type auth_url cafile certfile collect_timing connect_retries
            connect_retry_delay default_domain_id default_domain_name domain_id domain_name
            endpoint_override insecure keyfile password project_domain_id project_domain_name
            project_id project_name region_name retriable_status_codes service_name service_type
            split_loggers status_code_retries status_code_retry_delay system_scope tenant_id
            tenant_name timeout tls_ciphers tls_min_version trust_id user_domain_id
            user_domain_name user_id username valid_interfaces
        ",
    ),
    (
        "placement_database",
        "
            backend connection_debug connection_trace
            db_inc_retry_interval db_max_retries db_max_retry_interval db_retry_interval
            max_overflow mysql_enable_ndb mysql_sql_mode mysql_wsrep_sync_wait slave_connection
            use_db_reconnect
        ",
    ),
    (
        "quota",
        "
            cores count_usage_from_placement driver injected_file_content_bytes
            injected_file_path_length injected_files instances key_pairs metadata_items ram
            recheck_quota server_group_members unified_limits_resource_list
            unified_limits_resource_strategy
        ",
    ),
    (
        "upgrade_levels",
        "
            baseapi compute conductor
        ",
    ),
    (
        "workarounds",
        "
            disable_compute_service_check_for_ffu disable_deep_image_inspection
            disable_libvirt_livesnapshot disable_rootwrap enable_numa_live_migration
            enable_qemu_monitor_announce_self ensure_libvirt_rbd_instance_dir_cleanup
            handle_virt_lifecycle_events libvirt_disable_apic never_download_image_if_on_rbd
            qemu_monitor_announce_self_count qemu_monitor_announce_self_interval
            reserve_disk_resource_for_image_cache skip_cpu_compare_at_startup
            skip_cpu_compare_on_dest skip_hypervisor_version_check_on_lm
            skip_reserve_in_use_ironic_nodes unified_limits_count_pcpu_as_vcpu
            wait_for_vif_plugged_event_during_hard_reboot
        ",
    ),
];

/// Beginnings of sections whose names a site makes up.
const PREFIXES: &[&str] = &["mdev_", "os_vif_", "vif_plug_", "vendordata_dynamic"];

/// Is this a section of which nothing is read?
pub(crate) fn is_section(name: &str) -> bool {
    SECTIONS.split_whitespace().any(|known| known == name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Names of sections of which nothing is read.
pub(crate) fn sections() -> impl Iterator<Item = &'static str> {
    SECTIONS.split_whitespace()
}

/// Names that are accepted in this section and change nothing.
pub(crate) fn options(section: &str) -> impl Iterator<Item = &'static str> {
    OPTIONS
        .iter()
        .filter(move |(name, _)| *name == section)
        .flat_map(|(_, names)| names.split_whitespace())
}
