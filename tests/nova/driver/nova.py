"""Nova's services as far as the scheduler meets them, without a database."""
import datetime
import os
import tempfile
import uuid

os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")
from nova import monkey_patch  # noqa: E402  (needs the variable)

monkey_patch.patch(backend="threading")

import nova.conf  # noqa: E402  (needs the patch)
from nova import config, context, exception, objects, rpc  # noqa: E402
from nova.compute import utils  # noqa: E402
from nova.network import model  # noqa: E402
from nova.objects.service import SERVICE_VERSION  # noqa: E402,F401
from nova.scheduler import rpcapi  # noqa: E402

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
ROW = {"created_at": NOW, "updated_at": None, "deleted_at": None, "deleted": False}


def start(transport_url):
    """Configures Nova as a service of its own is."""
    config.set_lib_defaults()
    rpc.set_defaults(control_exchange="nova")
    lines = ["[DEFAULT]", f"transport_url = {transport_url}", "host = api-1",
             "[notifications]", "notification_format = versioned",
             "[oslo_messaging_notifications]", "driver = messagingv2"]
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("\n".join(lines))
        file.flush()
        nova.conf.CONF([], project="nova", default_config_files=[file.name],
                       default_config_dirs=[])
    objects.register_all()
    rpc.init(nova.conf.CONF)


def admin():
    """The context of a service, new at each call."""
    return context.RequestContext(user_id="u", project_id="p", is_admin=True, overwrite=False)


def flavor(**amounts):
    """A small flavor."""
    base = {"id": 1, "flavorid": "1", "name": "m1", "memory_mb": 64, "vcpus": 1, "root_gb": 1,
            "ephemeral_gb": 0, "swap": 0, "rxtx_factor": 1.0, "vcpu_weight": 0,
            "disabled": False, "is_public": True, "description": None, "extra_specs": {}}
    return objects.Flavor(**{**base, **amounts, **ROW})


def request_spec(servers, **properties):
    """A request for so many servers: the specification and their uuids."""
    uuids = [str(uuid.uuid4()) for _ in range(servers)]
    image = objects.ImageMeta.from_dict({"id": str(uuid.uuid4()), "properties": {}})
    known = {"limits": {}, "retry": {}, "scheduler_hints": {}, **properties}
    spec = objects.RequestSpec.from_components(
        admin(), uuids[0], image, flavor(), None, None, known, None, None)
    spec.num_instances = servers
    spec.is_bfv = False
    return spec, uuids


def select(servers=1, objects_wanted=True, alternates=False, **properties):
    """Calls select_destinations, as a conductor does."""
    spec, uuids = request_spec(servers, **properties)
    found = rpcapi.SchedulerAPI().select_destinations(
        admin(), spec, uuids, return_objects=objects_wanted, return_alternates=alternates)
    return uuids, found


def aggregate(hosts, **metadata):
    """A host aggregate, always the same one."""
    return objects.Aggregate(id=7, uuid="0000000f-0000-4000-8000-00000000000f", name="ssd",
                             hosts=hosts, metadata=metadata, **ROW)


def instance(identity, host, vm_state="active", task_state=None):
    """An instance with what a compute service has loaded of it."""
    small = flavor()
    return objects.Instance(
        admin(), id=9, uuid=identity, user_id="u", project_id="p", reservation_id="r-1",
        display_name="vm", hostname="vm", display_description=None, host=host, node=host,
        launched_on=host, os_type=None, architecture=None, availability_zone="nova",
        image_ref="", kernel_id="", ramdisk_id="", key_name=None, launched_at=NOW,
        terminated_at=None, vm_state=vm_state, power_state=1, task_state=task_state, progress=0,
        locked=False, locked_by=None, auto_disk_config=False, hidden=False, memory_mb=64, vcpus=1,
        root_gb=1, ephemeral_gb=0, instance_type_id=1, metadata={}, system_metadata={},
        flavor=small, old_flavor=None, new_flavor=None, numa_topology=None, pci_requests=None,
        pci_devices=None, trusted_certs=None, keypairs=objects.KeyPairList(objects=[]),
        tags=objects.TagList(objects=[]),
        info_cache=objects.InstanceInfoCache(
            instance_uuid=identity, network_info=model.NetworkInfo.hydrate([])), **ROW)


def cast(method, *arguments):
    """Casts to all schedulers."""
    getattr(rpcapi.SchedulerAPI(), method)(admin(), *arguments)


def tell_metrics(host, **values):
    """metrics.update."""
    metrics = [objects.MonitorMetric(name=name.replace("_", "."), value=value, timestamp=NOW,
                                     source="test") for name, value in values.items()]
    utils.notify_about_metrics_update(
        admin(), host, "192.0.2.10", host, objects.MonitorMetricList(objects=metrics))


def tell_service(action, host, disabled=False, reason=None):
    """service.create, service.update or service.delete."""
    objects.Service(
        admin(), id=5, uuid=str(uuid.uuid4()), host=host, binary="nova-compute", topic="compute",
        report_count=1, disabled=disabled, disabled_reason=reason, availability_zone=None,
        last_seen_up=NOW, forced_down=False, **ROW)._send_notification(action)


def tell_aggregate(action, it):
    """aggregate.*.end."""
    utils.notify_about_aggregate_action(
        context=admin(), aggregate=it, action=action, phase="end")


def raised(error):
    """An exception that was on its way."""
    try:
        raise error
    except type(error) as caught:
        return caught


def tell_build(it, host, failed=False):
    """instance.create.end or instance.create.error."""
    fault = raised(exception.FlavorDiskTooSmall()) if failed else None
    utils.notify_about_instance_create(
        admin(), it, host, phase="error" if failed else "end", exception=fault,
        bdms=objects.BlockDeviceMappingList(objects=[]))


def tell_instance(action, phase, it, host):
    """instance.<action>.<phase>."""
    utils.notify_about_instance_action(
        admin(), it, host, action=action, phase=phase,
        bdms=objects.BlockDeviceMappingList(objects=[]))
