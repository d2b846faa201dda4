-- As much of Nova's API database as is read: a cell, an aggregate, a server group.

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
CREATE TABLE cell_mappings (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36) NOT NULL, name VARCHAR(255), transport_url TEXT, database_connection TEXT, disabled BOOLEAN);
CREATE TABLE aggregates (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, uuid VARCHAR(36), name VARCHAR(255));
CREATE TABLE aggregate_hosts (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, host VARCHAR(255), aggregate_id INTEGER NOT NULL);
CREATE TABLE aggregate_metadata (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, aggregate_id INTEGER NOT NULL, "key" VARCHAR(255) NOT NULL, value VARCHAR(255) NOT NULL);
CREATE TABLE instance_groups (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, user_id VARCHAR(255), project_id VARCHAR(255), uuid VARCHAR(36) NOT NULL, name VARCHAR(255));
CREATE TABLE instance_group_member (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, instance_uuid VARCHAR(255), group_id INTEGER NOT NULL);
CREATE TABLE instance_group_policy (created_at DATETIME, updated_at DATETIME, id INTEGER PRIMARY KEY, policy VARCHAR(255), group_id INTEGER NOT NULL, rules TEXT);

INSERT INTO alembic_version VALUES ('cdeec0c85668');
INSERT INTO cell_mappings VALUES
    ('2026-01-01 00:00:00', NULL, 1, '00000000-0000-0000-0000-000000000000', 'cell0', 'none:///', 'mysql://nobody/nothing', 0),
    ('2026-01-01 00:00:00', NULL, 2, 'cccccccc-0000-4000-8000-000000000001', 'c1', 'rabbit://h', '{scheme}:///cell.db', 0);
INSERT INTO aggregates VALUES ('2026-01-01 00:00:00', NULL, 7, 'aaaaaaaa-0000-4000-8000-000000000007', 'ssd');
INSERT INTO aggregate_hosts VALUES ('2026-01-01 00:00:00', NULL, 1, 'cmp-1', 7);
INSERT INTO aggregate_metadata VALUES ('2026-01-01 00:00:00', NULL, 1, 7, 'availability_zone', 'z1');
INSERT INTO instance_groups VALUES ('2026-01-01 00:00:00', NULL, 3, 'u', 'p', '99999999-0000-4000-8000-000000000003', 'apart');
INSERT INTO instance_group_policy VALUES ('2026-01-01 00:00:00', NULL, 1, 'anti-affinity', 3, '{"max_server_per_host": 2}');
