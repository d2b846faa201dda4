"""What is changed in Nova's databases, and what must be so soon after."""
import datetime
import json
import threading
import time
import uuid

from . import rows
from .world import CELLS

HOUR = datetime.timedelta(hours=1)
PAST = datetime.datetime(2026, 1, 2, 3, 4, 5)
GROUP = {"uuid": str(uuid.uuid4()), "name": "apart", "user_id": "u", "project_id": "p"}


def first(world, cloud):
    """Pairs of a title and whether it is so, once everything was read."""
    host = cloud.host("cmp-1")
    report = host["report"]
    yield "source", host["source"] == "nova_db"
    yield "cell", host["cell_uuid"] == CELLS["cell1"]
    yield "zone of the aggregate", host["availability_zone"] == "z1"
    figures = {"vcpus_total": 64, "vcpus_used": 3, "memory_mb": 262144, "free_ram_mb": 258048,
               "local_gb": 2000, "free_disk_mb": 1900 * 1024, "num_instances": 1,
               "num_io_ops": 2, "failed_builds": 0}
    for name, value in figures.items():
        yield f"figure {name}", host["figures"][name] == value
    fields = {"hypervisor_type": "QEMU", "hypervisor_version": 8002002, "host_ip": "192.0.2.7",
              "supported_instances": [["x86_64", "kvm", "hvm"]], "cpu_allocation_ratio": 16.0,
              "ram_allocation_ratio": 1.5, "hypervisor_hostname": "cmp-1", "running_vms": 1,
              "metrics": [{"name": "cpu.percent", "value": 0.25},
                          {"name": "cpu.frequency", "value": 2400.0}],
              "pci_pools": [{"vendor_id": "15b3", "product_id": "1018", "numa_node": 0,
                             "count": 4, "dev_type": "type-VF",
                             "physical_network": "physnet0"}]}
    for name, value in fields.items():
        yield f"field {name}", report[name] == value
    yield "statistics are texts", report["stats"]["failed_builds"] == "0"
    cell = report["numa_cells"][1]
    numa = {"id": 1, "cpuset": list(range(32, 56)), "pcpuset": list(range(56, 64)),
            "pinned_cpus": [63], "memory": 131072, "socket": 1,
            "network_metadata": {"physnets": ["physnet0"], "tunneled": False},
            "mempages": [{"size_kb": 4, "total": 33554432, "used": 0, "reserved": 0}]}
    for name, value in numa.items():
        yield f"NUMA {name}", cell[name] == value
    yield "siblings", cell["siblings"][0] == [32, 33] and len(cell["siblings"]) == 16
    yield "servers", report["instances"] == {world.server["uuid"]: {
        "name": "first", "image_properties": {"os_distro": "linux", "hw_machine_type": "q35"}}}
    service = host["service"]
    yield "service", (service["version"], service["disabled"]) == (70, False)
    yield "alive", (host["state"], host["status"]) == ("up", "enabled")
    yield "host aggregate", cloud.aggregates() == {
        "ssd": (["cmp-1", "cmp-9"], {"availability_zone": "z1"})}
    yield "no inventory of its own", host["inventory_owner"] == "report" and not cloud.get(
        f"/resource_providers/{host['uuid']}/inventories")["inventories"]
    yield "cells", cloud.cells() == {"cell1": False, "cell2": False}


def changes(world, cloud):
    """Triples of a title, what is done, and what must be so soon after."""
    cell, api = world.cell1, world.api

    def service(**values):
        return lambda: cell.update("services", {"host": "cmp-1"}, updated_at=rows.now(), **values)

    def node(stamp=None, host="cmp-1", **values):
        stamp = stamp or rows.now
        return lambda: cell.update("compute_nodes", {"host": host}, updated_at=stamp(), **values)

    def status():
        found = cloud.host("cmp-1")
        return found["status"], found["service"]["disabled_reason"]

    def used():
        return cloud.host("cmp-1")["figures"]["vcpus_used"]

    def servers(host):
        return set(cloud.host(host)["report"]["instances"])

    def named():
        return cloud.host("cmp-1")["report"]["instances"][world.server["uuid"]]

    yield "a service is disabled", service(disabled=True, disabled_reason="test"), (
        lambda: status() == ("disabled", "test"))
    yield "and enabled", service(disabled=False, disabled_reason=None), (
        lambda: status() == ("enabled", None))
    yield "it is declared down", service(forced_down=True), (
        lambda: cloud.host("cmp-1")["state"] == "down")
    yield "and not", service(forced_down=False), lambda: cloud.host("cmp-1")["state"] == "up"
    yield "its version", service(version=71), (
        lambda: cloud.host("cmp-1")["service"]["version"] == 71)
    yield "it falls silent", service(last_seen_up=rows.now() - HOUR), (
        lambda: cloud.host("cmp-1")["state"] == "down")
    yield "and speaks", lambda: service(last_seen_up=rows.now())(), (
        lambda: cloud.host("cmp-1")["state"] == "up")

    yield "a node changes", node(vcpus_used=4), lambda: used() == 4
    yield "again at another time", node(lambda: PAST, vcpus_used=5), lambda: used() == 5
    yield "again at the same time", node(lambda: PAST, vcpus_used=6), lambda: used() == 6
    yield "by a clock that is behind", node(lambda: PAST - HOUR, vcpus_used=7), (
        lambda: used() == 7)
    yield "by one that is ahead", node(lambda: rows.now() + HOUR, vcpus_used=8), (
        lambda: used() == 8)
    yield "without a time", node(lambda: None, vcpus_used=9), lambda: used() == 9
    yield "PCI pools", node(pci_stats=json.dumps(rows.pci_pools(3))), (
        lambda: cloud.host("cmp-1")["report"]["pci_pools"][0]["count"] == 3)
    yield "NUMA usage", node(numa_topology=rows.numa_topology(5)), (
        lambda: cloud.host("cmp-1")["report"]["numa_cells"][0]["cpu_usage"] == 5)
    yield "what cannot be read is told", node(numa_topology="{nonsense"), (
        lambda: "numa_topology" in cloud.nova()["databases"]["cell1"].get("reason", ""))
    yield "until it can", node(numa_topology=None), (
        lambda: "reason" not in cloud.nova()["databases"]["cell1"]
        and cloud.host("cmp-1")["report"]["numa_cells"] is None)

    second = rows.server("cmp-1")
    both = {world.server["uuid"], second["uuid"]}
    yield "a server comes", lambda: cell.insert("instances", second), (
        lambda: servers("cmp-1") == both)
    yield "it moves", lambda: cell.update(
        "instances", {"uuid": second["uuid"]}, host="cmp-2", node="cmp-2"), (
        lambda: servers("cmp-1") == both - servers("cmp-2") and servers("cmp-2") == {second["uuid"]})
    yield "it is deleted", lambda: cell.update(
        "instances", {"uuid": second["uuid"]}, deleted=99, deleted_at=PAST), (
        lambda: servers("cmp-2") == set())
    yield "one is renamed", lambda: cell.update(
        "instances", {"uuid": world.server["uuid"]}, display_name="new", updated_at=rows.now()), (
        lambda: named()["name"] == "new")

    def rebuild():
        cell.update("instance_system_metadata", {"key": "image_os_distro"}, value="debian")
        cell.update("instances", {"uuid": world.server["uuid"]}, updated_at=rows.now())

    yield "one is rebuilt", rebuild, (
        lambda: named()["image_properties"]["os_distro"] == "debian")
    if cell.engine.dialect.name != "sqlite":
        late = rows.server("cmp-2")
        yield "one is committed late", lambda: _late(cell, late), (
            lambda: servers("cmp-2") == {late["uuid"]})

    def metadata(**values):
        return lambda: api.update("aggregate_metadata", {"aggregate_id": 7}, **values)

    def ssd():
        return cloud.aggregates().get("ssd")

    yield "a zone is renamed", metadata(value="z2", updated_at=rows.now()), (
        lambda: ssd()[1] == {"availability_zone": "z2"})
    yield "and again, at no time", metadata(value="z3"), (
        lambda: cloud.host("cmp-1")["availability_zone"] == "z3")
    yield "a host joins", lambda: world.join("cmp-2"), (
        lambda: ssd()[0] == ["cmp-1", "cmp-2", "cmp-9"])
    yield "one leaves", lambda: api.delete("aggregate_hosts", host="cmp-1"), (
        lambda: ssd()[0] == ["cmp-2", "cmp-9"])

    def dissolve():
        for table in ("aggregate_hosts", "aggregate_metadata"):
            api.delete(table, aggregate_id=7)
        api.delete("aggregates", id=7)

    yield "an aggregate goes", dissolve, lambda: cloud.aggregates() == {}

    def member(server):
        return lambda: api.insert("instance_group_member", {
            "instance_uuid": server, "group_id": 5, "created_at": rows.now()})

    def found():
        api.insert("instance_groups", {"id": 5, "created_at": rows.now(), **GROUP})
        api.insert("instance_group_policy", {
            "policy": "anti-affinity", "group_id": 5, "rules": '{"max_server_per_host": 2}'})

    yield "a server group", found, lambda: cloud.groups() == {"apart": ("anti-affinity", [])}
    yield "its member", member(world.server["uuid"]), (
        lambda: cloud.groups()["apart"][1] == [world.server["uuid"]])
    def dissolve_group():
        for table in ("instance_group_member", "instance_group_policy"):
            api.delete(table, group_id=5)
        api.delete("instance_groups", id=5)

    yield "the group goes", dissolve_group, lambda: cloud.groups() == {}

    yield "a cell is disabled", lambda: api.update(
        "cell_mappings", {"name": "cell2"}, disabled=True), (
        lambda: cloud.cells()["cell2"] is True)
    yield "and enabled", lambda: api.update(
        "cell_mappings", {"name": "cell2"}, disabled=False), (
        lambda: cloud.cells()["cell2"] is False)
    yield "a cell is not mapped any more", lambda: api.delete("cell_mappings", name="cell2"), (
        lambda: cloud.host("cmp-3") is None and "cell2" not in cloud.nova()["databases"])
    yield "and again", lambda: world.map("cell2", CELLS["cell2"]), (
        lambda: (cloud.host("cmp-3") or {}).get("state") == "up")

    yield "a node goes", lambda: cell.update(
        "compute_nodes", {"host": "cmp-2"}, deleted=2, deleted_at=PAST), (
        lambda: cloud.host("cmp-2") is None)
    again = rows.compute_node("cmp-2")
    yield "it comes back as another one", lambda: cell.insert("compute_nodes", again), (
        lambda: (cloud.host("cmp-2") or {}).get("uuid") == again["uuid"])
    yield "its service goes", lambda: cell.update("services", {"host": "cmp-2"}, deleted=2), (
        lambda: cloud.host("cmp-2") is None)
    yield "and comes", lambda: cell.insert("services", rows.service("cmp-2")), (
        lambda: cloud.host("cmp-2") is not None)


def outages(world, cloud):
    """The same of a database that does not answer."""
    cell = world.cell1

    def told(name):
        return cloud.nova()["databases"][name]

    yield "a table is missing", lambda: cell.run(
        "ALTER TABLE compute_nodes RENAME TO compute_nodes_away"), (
        lambda: cloud.nova()["state"] == told("cell1")["state"] == "away")
    yield "the other cell is read", lambda: world.cell2.update(
        "compute_nodes", {"host": "cmp-3"}, vcpus_used=33, updated_at=rows.now()), (
        lambda: cloud.host("cmp-3")["figures"]["vcpus_used"] == 33)

    def newer():
        cell.run("UPDATE alembic_version SET version_num = 'ffffffffffff'")
        cell.run("ALTER TABLE compute_nodes_away RENAME TO compute_nodes")

    yield "its schema is newer", newer, (
        lambda: "its schema is at version ffffffffffff" in told("cell1")["reason"])
    cell.update("compute_nodes", {"host": "cmp-1"}, vcpus_used=44)
    yield "it is understood", lambda: cell.run(
        "UPDATE alembic_version SET version_num = 'ab450ba04102'"), (
        lambda: cloud.host("cmp-1")["figures"]["vcpus_used"] == 44
        and cloud.nova()["state"] == "following")


def _late(database, row):
    """Inserts a row that is committed only after some readings."""
    connection = database.engine.connect()
    connection.execute(database.table("instances").insert(), row)
    waiting = threading.Event()

    def commit():
        time.sleep(3)
        connection.commit()
        connection.close()
        waiting.set()

    threading.Thread(target=commit).start()
    waiting.wait()
