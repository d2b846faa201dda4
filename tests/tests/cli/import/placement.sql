-- A small database of openstack-placement: a host with a child, a pool of disks,
-- two consumers.

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
CREATE TABLE resource_classes (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL);
CREATE TABLE traits (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL);
CREATE TABLE projects (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, external_id VARCHAR(255) NOT NULL);
CREATE TABLE users (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, external_id VARCHAR(255) NOT NULL);
CREATE TABLE consumer_types (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL);
CREATE TABLE resource_providers (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36) NOT NULL, name VARCHAR(200), generation INTEGER, root_provider_id INTEGER, parent_provider_id INTEGER);
CREATE TABLE inventories (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, resource_provider_id INTEGER NOT NULL, resource_class_id INTEGER NOT NULL, total INTEGER NOT NULL, reserved INTEGER NOT NULL, min_unit INTEGER NOT NULL, max_unit INTEGER NOT NULL, step_size INTEGER NOT NULL, allocation_ratio FLOAT NOT NULL);
CREATE TABLE resource_provider_traits (created_at DATETIME, updated_at DATETIME, trait_id INTEGER NOT NULL, resource_provider_id INTEGER NOT NULL);
CREATE TABLE placement_aggregates (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36));
CREATE TABLE resource_provider_aggregates (created_at DATETIME, updated_at DATETIME, resource_provider_id INTEGER NOT NULL, aggregate_id INTEGER NOT NULL);
CREATE TABLE consumers (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36) NOT NULL, project_id INTEGER NOT NULL, user_id INTEGER NOT NULL, generation INTEGER DEFAULT 0 NOT NULL, consumer_type_id INTEGER);
CREATE TABLE allocations (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, resource_provider_id INTEGER NOT NULL, consumer_id VARCHAR(36) NOT NULL, resource_class_id INTEGER NOT NULL, used INTEGER NOT NULL);

INSERT INTO alembic_version VALUES ('a082b8bb98d0');
INSERT INTO resource_classes VALUES
    ('2020-01-01 00:00:00.000000', NULL, 0, 'VCPU'),
    ('2020-01-01 00:00:00.000000', NULL, 2, 'DISK_GB'),
    ('2020-02-02 00:00:00.000000', NULL, 10000, 'CUSTOM_FPGA');
INSERT INTO traits VALUES
    ('2020-01-01 00:00:00.000000', NULL, 1, 'MISC_SHARES_VIA_AGGREGATE'),
    ('2020-02-02 00:00:00.000000', NULL, 2, 'CUSTOM_GOLD');
INSERT INTO projects VALUES (NULL, NULL, 1, 'p1'), (NULL, NULL, 2, 'p2');
INSERT INTO users VALUES (NULL, NULL, 1, 'u1');
INSERT INTO consumer_types VALUES (NULL, NULL, 1, 'INSTANCE');
INSERT INTO resource_providers VALUES
    ('2021-01-01 00:00:00.000000', '2021-03-03 12:34:56.789000', 1, '11111111-1111-4111-8111-111111111111', 'host', 7, 1, NULL),
    ('2021-01-01 00:00:00.000000', NULL, 2, '22222222-2222-4222-8222-222222222222', 'device', 3, 1, 1),
    ('2021-01-01 00:00:00.000000', NULL, 3, '33333333-3333-4333-8333-333333333333', 'pool', 1, 3, NULL);
INSERT INTO inventories VALUES
    ('2021-01-02 00:00:00.000000', NULL, 1, 1, 0, 8, 0, 1, 8, 1, 16.0),
    ('2021-01-02 00:00:00.000000', NULL, 2, 2, 10000, 1, 0, 1, 1, 1, 1.0),
    ('2021-01-02 00:00:00.000000', NULL, 3, 3, 2, 1000, 10, 2, 1000, 2, 1.5);
INSERT INTO resource_provider_traits VALUES (NULL, NULL, 1, 3), (NULL, NULL, 2, 1);
INSERT INTO placement_aggregates VALUES (NULL, NULL, 1, '44444444-4444-4444-8444-444444444444');
INSERT INTO resource_provider_aggregates VALUES (NULL, NULL, 1, 1), (NULL, NULL, 3, 1);
INSERT INTO consumers VALUES
    ('2022-01-01 00:00:00.000000', NULL, 1, '55555555-5555-4555-8555-555555555555', 1, 1, 4, 1),
    ('2022-01-01 00:00:00.000000', NULL, 2, '66666666-6666-4666-8666-666666666666', 2, 1, 1, NULL);
INSERT INTO allocations VALUES
    ('2022-02-02 02:02:02.000000', NULL, 1, 1, '55555555-5555-4555-8555-555555555555', 0, 4),
    ('2022-02-02 02:02:02.000000', NULL, 2, 3, '55555555-5555-4555-8555-555555555555', 2, 20),
    -- More than there is, as after an inventory has shrunk.
    ('2022-03-03 03:03:03.000000', NULL, 3, 2, '66666666-6666-4666-8666-666666666666', 10000, 5);
