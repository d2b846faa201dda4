-- As much of the database of one of Nova's cells as is read: a host with a server.

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
CREATE TABLE services (created_at DATETIME, updated_at DATETIME, deleted_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36), host VARCHAR(255), binary VARCHAR(255), disabled BOOLEAN, disabled_reason VARCHAR(255), last_seen_up DATETIME, forced_down BOOLEAN, version INTEGER, deleted INTEGER);
CREATE TABLE compute_nodes (created_at DATETIME, updated_at DATETIME, deleted_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36), service_id INTEGER, host VARCHAR(255), hypervisor_hostname VARCHAR(255), vcpus INTEGER NOT NULL, memory_mb INTEGER NOT NULL, local_gb INTEGER NOT NULL, vcpus_used INTEGER NOT NULL, memory_mb_used INTEGER NOT NULL, local_gb_used INTEGER NOT NULL, hypervisor_type TEXT NOT NULL, hypervisor_version INTEGER NOT NULL, cpu_info TEXT NOT NULL, disk_available_least INTEGER, free_ram_mb INTEGER, free_disk_gb INTEGER, running_vms INTEGER, host_ip VARCHAR(39), supported_instances TEXT, pci_stats TEXT, metrics TEXT, stats TEXT, numa_topology TEXT, ram_allocation_ratio FLOAT, cpu_allocation_ratio FLOAT, disk_allocation_ratio FLOAT, deleted INTEGER);
CREATE TABLE instances (created_at DATETIME, updated_at DATETIME, deleted_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36) NOT NULL, host VARCHAR(255), node VARCHAR(255), display_name VARCHAR(255), deleted INTEGER);
CREATE TABLE instance_system_metadata (created_at DATETIME, updated_at DATETIME, deleted_at DATETIME, id INTEGER PRIMARY KEY, instance_uuid VARCHAR(36) NOT NULL, "key" VARCHAR(255) NOT NULL, value VARCHAR(255), deleted INTEGER);

INSERT INTO alembic_version VALUES ('ab450ba04102');
INSERT INTO services VALUES ('2026-01-01 00:00:00', NULL, NULL, 1, '55555555-0000-4000-8000-000000000001', 'cmp-1', 'nova-compute', 0, NULL, '2026-01-02 00:00:00', 0, 70, 0);
INSERT INTO services VALUES ('2026-01-01 00:00:00', NULL, NULL, 2, '55555555-0000-4000-8000-000000000002', 'ctl-1', 'nova-conductor', 0, NULL, '2026-01-02 00:00:00', 0, 70, 0);
INSERT INTO compute_nodes VALUES ('2026-01-01 00:00:00', '2026-01-02 00:00:00', NULL, 1, '11111111-0000-4000-8000-000000000001', NULL, 'cmp-1', 'cmp-1.example', 16, 65536, 1000, 2, 4096, 20, 'QEMU', 8002002, '{"arch": "x86_64"}', NULL, 61440, 980, 1, '192.0.2.1', '[["x86_64", "kvm", "hvm"]]', NULL, NULL, '{"num_instances": 1, "io_workload": 0}', NULL, 1.5, NULL, 0.0, 0);
INSERT INTO compute_nodes VALUES ('2026-01-01 00:00:00', NULL, NULL, 2, '11111111-0000-4000-8000-000000000002', NULL, 'cmp-2', 'cmp-2', 1, 1, 1, 0, 0, 0, '', 0, '', NULL, 1, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO instances VALUES ('2026-01-01 00:00:00', NULL, NULL, 1, '66666666-0000-4000-8000-000000000001', 'cmp-1', 'cmp-1.example', 'vm-1', 0);
INSERT INTO instances VALUES ('2026-01-01 00:00:00', NULL, '2026-01-02 00:00:00', 2, '66666666-0000-4000-8000-000000000002', 'cmp-1', 'cmp-1.example', 'vm-2', 2);
INSERT INTO instance_system_metadata VALUES ('2026-01-01 00:00:00', NULL, NULL, 1, '66666666-0000-4000-8000-000000000001', 'image_os_distro', 'linux', 0);
INSERT INTO instance_system_metadata VALUES ('2026-01-01 00:00:00', NULL, NULL, 2, '66666666-0000-4000-8000-000000000001', 'image_os_type', 'linux', 2);
INSERT INTO instance_system_metadata VALUES ('2026-01-01 00:00:00', NULL, NULL, 3, '66666666-0000-4000-8000-000000000001', 'image_base_image_ref', 'x', 0);
