"""The APIs that are driven: where each is, and which commands and calls are its
own."""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Surface:
    """An API as its clients see it."""

    name: str
    path: str  # what stands behind the server's address
    api: str | None  # the microversion of commands that name none
    groups: tuple  # entry points with its commands
    commands: str = ".*"  # which commands of the groups are its own
    calls: str = ".*"  # which calls of the proxy are its own
    not_calls: frozenset = frozenset()

    def has_command(self, words):
        """Whether a command, as a tuple of words, is its own."""
        return re.fullmatch(self.commands, " ".join(words)) is not None

    def has_call(self, name):
        """Whether a call of its proxy is its own."""
        return name not in self.not_calls and re.fullmatch(self.calls, name) is not None


PLACEMENT = Surface(
    name="placement", path="", api="1.39", groups=("openstack.placement.v1",),
    not_calls=frozenset({
        "wait_for_status", "wait_for_delete",
        "get_resource_provider_aggregates",  # another name for another call
    }))

COMPUTE = Surface(
    name="compute", path="/v2.1", api=None,
    groups=("openstack.compute.v2", "openstack.common"),
    commands="(aggregate|server group|availability zone|hypervisor|compute service) .*",
    calls=".*(aggregate|server_group|availability_zones|hypervisor).*|"
          "(find_|update_|delete_|enable_|disable_)?services?|update_service_forced_down",
    not_calls=frozenset({"add_server_to_aggregate"}))


def of(path):
    """The API that a file of steps is about, by its name."""
    return COMPUTE if path.stem.startswith("compute") else PLACEMENT
