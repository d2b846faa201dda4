"""Every GET that can be asked about a world."""
import urllib.parse

from .world import PROJECTS, TYPES, USERS

VERSIONS = ["1.0", "1.12", "1.20", "1.28", "1.38", "1.39"]
TYPED = ["1.38", "1.39"]  # that know consumer types
PARTS = ["", "/inventories", "/aggregates", "/traits", "/usages", "/allocations"]
CANDIDATES = [
    "resources=VCPU:1",
    "resources=VCPU:1,MEMORY_MB:64,DISK_GB:10",
    "resources=DISK_GB:1000",
    "resources=MEMORY_MB:128&required=HW_CPU_X86_AVX2",
    "resources=MEMORY_MB:128&required=!CUSTOM_GOLD",
    "resources=VCPU:1&resources_NET=SRIOV_NET_VF:1&resources_FPGA=CUSTOM_FPGA:1&group_policy=none",
    "resources=VCPU:1&resources1=SRIOV_NET_VF:2&resources2=SRIOV_NET_VF:2&group_policy=isolate",
    "resources=CUSTOM_MAGIC:1",
    "resources=VCPU:63",
]
LISTS = [
    "/", "/resource_providers", "/resource_classes", "/traits", "/traits?associated=true",
    "/traits?associated=false", "/traits?name=startswith:CUSTOM_",
    "/traits?name=in:CUSTOM_GOLD,CUSTOM_GONE,HW_NUMA_ROOT",
    "/resource_providers?resources=VCPU:1", "/resource_providers?required=CUSTOM_GOLD",
    "/resource_classes/CUSTOM_OLD", "/traits/CUSTOM_GONE",
    "/resource_providers/00000000-0000-4000-8000-000000000000",
    "/allocations/00000000-0000-4000-8000-000000000000",
]


def questions(world, seen):
    """All questions, as pairs of version and target; `seen` is what the
    reference says there is: {"names", "classes", "traits", "aggregates"}."""
    asked = list(_targets(world, seen))
    for version in VERSIONS:
        yield from ((version, target) for target in asked)
    for version in TYPED:
        yield from ((version, target) for target in _usages(TYPES[1:] + ["all", "unknown"]))


def _targets(world, seen):
    yield from LISTS
    for name in seen["classes"]:
        yield f"/resource_classes/{name}"
    for name in seen["traits"]:
        yield f"/traits/{name}"
    for ident, inventories in world.providers.items():
        for part in PARTS:
            yield f"/resource_providers/{ident}{part}"
        for name in [*inventories, "IPV4_ADDRESS"]:
            yield f"/resource_providers/{ident}/inventories/{name}"
        yield f"/resource_providers?in_tree={ident}"
        yield f"/resource_providers?uuid={ident}"
        yield f"/allocation_candidates?resources=VCPU:1&in_tree={ident}"
    for aggregate in seen["aggregates"]:
        yield f"/resource_providers?member_of={aggregate}"
        yield f"/allocation_candidates?resources=VCPU:1&member_of={aggregate}"
    for name in seen["names"]:
        yield f"/resource_providers?{urllib.parse.urlencode({'name': name})}"
    for ident in world.consumers:
        yield f"/allocations/{ident}"
    for query in CANDIDATES:
        yield f"/allocation_candidates?{query}"
    yield from _usages([None])


def _usages(kinds):
    for project in [*PROJECTS, "nobody"]:
        for user in [None, *USERS]:
            for kind in kinds:
                query = {"project_id": project, "user_id": user, "consumer_type": kind}
                query = {name: value for name, value in query.items() if value}
                yield f"/usages?{urllib.parse.urlencode(query)}"
