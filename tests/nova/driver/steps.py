"""What is sent, and what must be so afterwards."""
import json
import uuid

from nova import exception

from . import nova

VM, OTHER = str(uuid.uuid4()), str(uuid.uuid4())
HOSTS = ["cmp-1", "cmp-2"]
SPARE = "cmp-3"  # a host without servers, which may go


def calls(cloud):
    """Calls: pairs of a title and whether it came out."""
    uuids, rows = nova.select(servers=2)
    yield "one row for each server", [len(row) for row in rows] == [1, 1]
    chosen = [row[0] for row in rows]
    yield "known hosts", all(selection.service_host in HOSTS for selection in chosen)
    for server, selection in zip(uuids, chosen):
        request = json.loads(selection.allocation_request)
        yield "what is claimed is what the answer says", (
            request["allocations"].keys() == cloud.held(server).keys())
        yield "its version", selection.allocation_request_version == "1.36"
    _, rows = nova.select(alternates=True)
    yield "an alternate on another host", len({s.service_host for s in rows[0]}) == 2
    _, rows = nova.select(objects_wanted=False)
    yield "the older form", sorted(rows[0]) == ["host", "limits", "nodename"]
    _, rows = nova.select(force_hosts=["cmp-2"])
    yield "a host that is forced", rows[0][0].service_host == "cmp-2"
    try:
        nova.select(ignore_hosts=HOSTS)
        yield "NoValidHost is raised", False
    except exception.NoValidHost as error:
        yield "NoValidHost is rebuilt with its code", error.code == 500
        yield "Nova's words", str(error).startswith(
            "No valid host was found. There are not enough hosts available.")


def facts():
    """Words: a title, what is sent, where it must show, and what."""
    one, two = "cmp-1", "cmp-2"
    return [
        ("metrics.update", lambda: nova.tell_metrics(one, cpu_percent=31),
         "cmp-1.metrics", [{"name": "cpu.percent", "value": 0.31}]),
        ("service.update", lambda: nova.tell_service("update", one, True, "broken"),
         "cmp-1.reason", "broken"),
        ("service.update", lambda: nova.tell_service("update", one), "cmp-1.status", "enabled"),
        ("service.create", lambda: nova.tell_service("create", two), "cmp-2.version", nova.SERVICE_VERSION),
        ("update_instance_info", lambda: nova.cast(
            "update_instance_info", one, nova.objects.InstanceList(
                objects=[nova.instance(VM, one)])), "cmp-1.instances", [VM]),
        ("delete_instance_info", lambda: nova.cast("delete_instance_info", one, VM),
         "cmp-1.instances", []),
        ("sync_instance_info", lambda: nova.cast("sync_instance_info", one, [VM]),
         "cmp-1.instances", [VM]),
        ("instance.resize.start", lambda: nova.tell_instance(
            "resize", "start", nova.instance(VM, one, task_state="resize_migrating"), one),
         "cmp-1.io", 1),
        ("instance.resize.end", lambda: nova.tell_instance(
            "resize", "end", nova.instance(VM, one), one), "cmp-1.io", 0),
        ("instance.delete.end", lambda: nova.tell_instance(
            "delete", "end", nova.instance(VM, one, vm_state="deleted"), one),
         "cmp-1.instances", []),
        ("instance.create.error", lambda: nova.tell_build(
            nova.instance(OTHER, two, vm_state="building"), two, failed=True), "cmp-2.failed", 1),
        ("instance.create.end", lambda: nova.tell_build(nova.instance(OTHER, two), two),
         "cmp-2.failed", 0),
        ("aggregate.create.end", lambda: nova.tell_aggregate("create", nova.aggregate([])),
         "aggregates", [["ssd", [], {}]]),
        ("aggregate.add_host.end", lambda: nova.tell_aggregate(
            "add_host", nova.aggregate([one])), "aggregates", [["ssd", [one], {}]]),
        ("aggregate.update_metadata.end", lambda: nova.tell_aggregate(
            "update_metadata", nova.aggregate([one], ssd="true")),
         "aggregates", [["ssd", [one], {"ssd": "true"}]]),
        ("update_aggregates", lambda: nova.cast(
            "update_aggregates", [nova.aggregate([one, two], ssd="no")]),
         "aggregates", [["ssd", [one, two], {"ssd": "no"}]]),
        ("aggregate.remove_host.end", lambda: nova.tell_aggregate(
            "remove_host", nova.aggregate([two], ssd="no")),
         "aggregates", [["ssd", [two], {"ssd": "no"}]]),
        ("delete_aggregate", lambda: nova.cast("delete_aggregate", nova.aggregate([])),
         "aggregates", []),
        ("service.delete", lambda: nova.tell_service("delete", SPARE), f"{SPARE}.status", None),
    ]
