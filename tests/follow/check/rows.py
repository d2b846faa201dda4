"""Rows of Nova's tables, with the texts that Nova's own objects make."""
import datetime
import json
import os
import uuid

os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")
from nova import monkey_patch  # noqa: E402  (needs the variable)

monkey_patch.patch(backend="threading")

import sqlalchemy  # noqa: E402  (needs the patch)
from nova import objects  # noqa: E402

objects.register_all()


def now():
    """The present, as Nova's services write it."""
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


class Database:
    """One of Nova's databases, written by SQL."""

    def __init__(self, address):
        self.engine = sqlalchemy.create_engine(address)
        self._tables = sqlalchemy.MetaData()
        self._tables.reflect(self.engine, only=self._is_wanted)

    @staticmethod
    def _is_wanted(name, _):
        return not name.startswith("shadow_")

    def table(self, name):
        """A table."""
        return self._tables.tables[name]

    def insert(self, name, *rows):
        """Inserts rows, each with the columns of the first; gives the last id."""
        with self.engine.begin() as connection:
            if len(rows) > 1:
                connection.execute(self.table(name).insert(), list(rows))
                return None
            return connection.execute(self.table(name).insert(), rows[0]).lastrowid

    def update(self, name, where, **values):
        """Changes rows."""
        with self.engine.begin() as connection:
            connection.execute(self._filtered(self.table(name).update(), name, where), values)

    def delete(self, name, /, **where):
        """Deletes rows."""
        with self.engine.begin() as connection:
            connection.execute(self._filtered(self.table(name).delete(), name, where))

    def _filtered(self, statement, name, where):
        columns = self.table(name).columns
        return statement.where(*(columns[column] == value for column, value in where.items()))

    def run(self, statement):
        """Runs any statement."""
        with self.engine.begin() as connection:
            connection.execute(sqlalchemy.text(statement))


def service(host, **more):
    """A nova-compute that lives."""
    return {"created_at": now(), "updated_at": now(), "deleted": 0, "uuid": str(uuid.uuid4()),
            "host": host, "binary": "nova-compute", "topic": "compute", "report_count": 1,
            "disabled": False, "disabled_reason": None, "last_seen_up": now(),
            "forced_down": False, "version": 70, **more}


def compute_node(host, **more):
    """A compute node with two NUMA cells, a PCI pool and a metric."""
    return {"created_at": now(), "updated_at": now(), "deleted": 0, "uuid": str(uuid.uuid4()),
            "host": host, "hypervisor_hostname": host, "vcpus": 64, "vcpus_used": 3,
            "memory_mb": 262144, "memory_mb_used": 4096, "free_ram_mb": 258048,
            "local_gb": 2000, "local_gb_used": 20, "free_disk_gb": 1980,
            "disk_available_least": 1900, "running_vms": 1, "current_workload": 0,
            "hypervisor_type": "QEMU", "hypervisor_version": 8002002, "host_ip": "192.0.2.7",
            "cpu_info": json.dumps({"arch": "x86_64", "model": "EPYC", "features": ["aes"]}),
            "supported_instances": json.dumps([["x86_64", "kvm", "hvm"]]),
            "metrics": json.dumps(metrics()), "pci_stats": json.dumps(pci_pools()),
            "stats": json.dumps({"num_instances": "1", "io_workload": "2", "failed_builds": 0}),
            "numa_topology": numa_topology(), "cpu_allocation_ratio": 16.0,
            "ram_allocation_ratio": 1.5, "disk_allocation_ratio": 1.0, "mapped": 1, **more}


def numa_topology(usage=0):
    """Two cells of 32 CPUs."""
    pages = objects.NUMAPagesTopology(size_kb=4, total=33554432, used=0, reserved=0)
    return objects.NUMATopology(cells=[
        objects.NUMACell(
            id=number, cpuset={32 * number + cpu for cpu in range(24)},
            pcpuset={32 * number + cpu for cpu in range(24, 32)}, memory=131072,
            cpu_usage=usage, memory_usage=0, pinned_cpus={32 * number + 31},
            siblings=[{32 * number + cpu, 32 * number + cpu + 1} for cpu in range(0, 32, 2)],
            mempages=[pages], socket=number,
            network_metadata=objects.NetworkMetadata(physnets={"physnet0"}, tunneled=False))
        for number in range(2)])._to_json()


def pci_pools(count=4):
    """One pool, as the column holds it."""
    return objects.PciDevicePoolList(objects=[objects.PciDevicePool(
        vendor_id="15b3", product_id="1018", numa_node=0, count=count,
        tags={"dev_type": "type-VF", "physical_network": "physnet0"})]).obj_to_primitive()


def metrics():
    """A percentage and a number, as the column holds them."""
    made = [objects.MonitorMetric(name=name, value=value, timestamp=now(), source="test")
            for name, value in (("cpu.percent", 25), ("cpu.frequency", 2400))]
    return objects.MonitorMetricList(objects=made).to_list()


def server(host, **more):
    """An instance on a host, that was made there."""
    return {"created_at": now(), "updated_at": None, "deleted": 0, "uuid": str(uuid.uuid4()),
            "host": host, "node": host, "display_name": "vm", "vm_state": "active",
            "project_id": "p", "user_id": "u", "cleaned": 0, "hidden": False, **more}


def image_property(identity, name, value):
    """A property of an instance's image."""
    return {"created_at": now(), "deleted": 0, "instance_uuid": identity,
            "key": f"image_{name}", "value": value}
