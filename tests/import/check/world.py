"""A cloud in the reference, made through its API, with what years leave behind.

Everything is drawn from one seed: trees and shared pools, odd ratios, names in
several alphabets, renamed and deleted things, consumers of every age of the
API, and providers that hold more than they have.
"""
import datetime
import random
import uuid

import sqlalchemy

HOSTS = 8
CONSUMERS = 40
PROJECTS = ["3f1c2b7d5e9a4c60b1d2e3f405162738", "a project", "проект", "p'); --"]
USERS = ["9d8c7b6a5f4e4d3cb2a190817263544f", "user/1", "ユーザー"]
TYPES = [None, "INSTANCE", "MIGRATION", "VOLUME_1"]
TIMED = {
    "resource_classes": "id", "traits": "id", "resource_providers": "id", "inventories": "id",
    "consumers": "id",
}


class World:
    """What was made, for questions to be asked about it."""

    def __init__(self, admin, seed):
        self._admin = admin
        self._draw = random.Random(seed)
        self.providers = {}
        self.consumers = []

    def build(self):
        """Makes everything."""
        self._names()
        aggregates = [self._uuid() for _ in range(3)]
        self._pool(aggregates[0])
        hosts = [self._host(number, aggregates) for number in range(HOSTS)]
        self._moved(hosts)
        self._gone()
        for number in range(CONSUMERS):
            self._consumer(number, hosts)
        self._shrink(hosts[0])

    def _call(self, method, path, body=None, version="1.39"):
        return self._admin.call(method, path, body, version)

    def _uuid(self):
        return str(uuid.UUID(int=self._draw.getrandbits(128), version=4))

    def _names(self):
        for name in ("CUSTOM_FPGA", "CUSTOM_GONE", "CUSTOM_2"):
            self._call("PUT", f"/resource_classes/{name}")
        self._call("POST", "/resource_classes", {"name": "CUSTOM_OLD"}, "1.2")
        self._call("PUT", "/resource_classes/CUSTOM_OLD", {"name": "CUSTOM_MAGIC"}, "1.2")
        self._call("DELETE", "/resource_classes/CUSTOM_GONE")
        for name in ("CUSTOM_GOLD", "CUSTOM_GONE", "CUSTOM_RACK_1"):
            self._call("PUT", f"/traits/{name}")
        self._call("DELETE", "/traits/CUSTOM_GONE")

    def _provider(self, name, inventories, parent=None, traits=(), aggregates=()):
        ident = self._uuid()
        body = {"uuid": ident, "name": name}
        if parent:
            body["parent_provider_uuid"] = parent
        self._call("POST", "/resource_providers", body)
        path = f"/resource_providers/{ident}"
        self._put_inventories(ident, inventories)
        if traits:
            self._call("PUT", f"{path}/traits", {
                "traits": list(traits), "resource_provider_generation": self._generation(ident)})
        if aggregates:
            self._call("PUT", f"{path}/aggregates", {
                "aggregates": list(aggregates),
                "resource_provider_generation": self._generation(ident)})
        self.providers[ident] = inventories
        return ident

    def _generation(self, ident):
        return self._call("GET", f"/resource_providers/{ident}")["generation"]

    def _put_inventories(self, ident, inventories):
        self._call("PUT", f"/resource_providers/{ident}/inventories", {
            "inventories": inventories, "resource_provider_generation": self._generation(ident)})

    def _pool(self, aggregate):
        self._provider("pool of disks", {"DISK_GB": {"total": 100000, "allocation_ratio": 1.05}},
                       traits=["MISC_SHARES_VIA_AGGREGATE"], aggregates=[aggregate])

    def _host(self, number, aggregates):
        draw = self._draw
        names = ["cmp-{}.example.org", "узел {}", "host 'quoted' \"{}\" \\ %41", "計算{}"]
        ratio = draw.choice([16.0, 16.1, 0.123456789, 1, 1e-5 + 4])
        inventories = {
            "VCPU": {"total": 640, "allocation_ratio": ratio, "max_unit": 64},
            "MEMORY_MB": {"total": 262144, "reserved": 512, "allocation_ratio": 1.5,
                          "step_size": draw.choice([1, 64])},
        }
        joined = draw.sample(aggregates, draw.randint(0, 2))
        if number % 2:
            inventories["DISK_GB"] = {"total": 2000, "min_unit": 2}
        root = self._provider(names[number % len(names)].format(number), inventories,
                              traits=["HW_CPU_X86_AVX2", "CUSTOM_GOLD"][:number % 3],
                              aggregates=joined)
        devices = []
        for node in range(number % 3):
            numa = self._provider(f"numa {number}.{node}", {"PCPU": {"total": 16}}, root,
                                  ["HW_NUMA_ROOT"])
            devices.append(self._provider(
                f"pf {number}.{node}",
                {"SRIOV_NET_VF": {"total": 8}, "CUSTOM_FPGA": {"total": 2}}, numa,
                ["CUSTOM_RACK_1"]))
        return root, devices

    def _moved(self, hosts):
        """A provider below one that was made after it."""
        early = self._provider("moved", {"CUSTOM_MAGIC": {"total": 5}})
        late = self._provider("late", {}, hosts[2][0])
        self._call("PUT", f"/resource_providers/{early}",
                   {"name": "moved and renamed", "parent_provider_uuid": late})

    def _gone(self):
        """Leaves a gap among the ids, and an aggregate without a provider."""
        gone = self._provider("gone", {"VCPU": {"total": 1}}, aggregates=[self._uuid()])
        self._call("DELETE", f"/resource_providers/{gone}")
        del self.providers[gone]

    def _consumer(self, number, hosts):
        draw = self._draw
        root, devices = draw.choice(hosts[:-1])
        resources = {root: {"VCPU": draw.randint(1, 4), "MEMORY_MB": 64 * draw.randint(1, 8)}}
        if "DISK_GB" in self.providers[root]:
            resources[root]["DISK_GB"] = draw.randint(2, 9)
        if devices and number % 4 == 0:
            resources[devices[0]] = {"SRIOV_NET_VF": 1}
        body = {
            "allocations": {ident: {"resources": held} for ident, held in resources.items()},
            "project_id": draw.choice(PROJECTS), "user_id": draw.choice(USERS),
            "consumer_generation": None, "consumer_type": draw.choice(TYPES),
        }
        version = "1.39"
        if body["consumer_type"] is None:
            del body["consumer_type"]
            version = "1.28"
        ident = self._uuid()
        for generation in (None, *range(1, 1 + number % 3)):
            body["consumer_generation"] = generation
            self._call("PUT", f"/allocations/{ident}", body, version)
        if number % 10 == 9:
            self._call("DELETE", f"/allocations/{ident}")
        else:
            self.consumers.append(ident)

    def _shrink(self, host):
        """A provider that holds more than it has."""
        inventories = dict(self.providers[host[0]], VCPU={"total": 1, "max_unit": 1})
        self._put_inventories(host[0], inventories)


def age(url, seed):
    """Moves all rows into the past, to times that tell them from one another:
    what the reference answers with the present stands out then."""
    draw = random.Random(seed)
    start = datetime.datetime(2019, 5, 1)

    def moment():
        seconds = draw.randrange(5 * 365 * 86400)
        return start + datetime.timedelta(seconds=seconds, microseconds=draw.randrange(10 ** 6))

    engine = sqlalchemy.create_engine(url)
    meta = sqlalchemy.MetaData()
    meta.reflect(engine)
    with engine.begin() as connection:
        for name, key in TIMED.items():
            table = meta.tables[name]
            for row in connection.execute(sqlalchemy.select(table)).mappings().all():
                times = {"created_at": moment()}
                if row["updated_at"]:
                    times["updated_at"] = times["created_at"] + datetime.timedelta(days=draw.random())
                connection.execute(table.update().where(table.c[key] == row[key]).values(times))
        # Those of one consumer are always written together.
        table = meta.tables["allocations"]
        for (consumer,) in connection.execute(
                sqlalchemy.select(table.c.consumer_id).distinct()).all():
            connection.execute(table.update().where(table.c.consumer_id == consumer)
                               .values(created_at=moment(), updated_at=None))
    engine.dispose()
