"""openstacksdk's proxy of an API against one server, as admin."""
import types

import openstack
from openstack import resource
from openstack.compute.v2 import _proxy as compute
from openstack.placement.v1 import _proxy as placement

_FOUND = {"aggregate", "server_group", "hypervisor", "service"}
_PROXIES = {"compute": compute.Proxy, "placement": placement.Proxy}


class Sdk:
    """Calls of the connection's proxy, by name."""

    def __init__(self, url, surface):
        endpoint = url + surface.path
        connection = openstack.connect(
            load_yaml_config=False, load_envvars=False, auth_type="admin_token",
            auth={"endpoint": endpoint, "token": "admin"},
            **{f"{surface.name}_endpoint_override": endpoint})
        self._proxy = getattr(connection, surface.name)
        self._surface = surface
        self.ran = set()

    def call(self, name, args, options):
        """What a call gives, as plain values."""
        self.ran.add(name)
        method = getattr(self._proxy, name)
        return _plain(method(*[self._argument(arg) for arg in args], **options))

    def _argument(self, value):
        """`{provider: UUID}` is that provider as it is now, `{traits: UUID}`
        are its traits: calls take the generation from there. `{aggregate: NAME}`
        and the like are the thing of that name."""
        match value:
            case {"provider": uuid}:
                return self._proxy.get_resource_provider(uuid)
            case {"traits": uuid}:
                return self._proxy.get_resource_provider_trait(uuid)
            case dict() if value.keys() <= _FOUND:
                [(kind, name)] = value.items()
                return getattr(self._proxy, f"find_{kind}")(name, ignore_missing=False)
        return value


def calls(surface):
    """Every call of the proxy that speaks to the API."""
    proxy = _PROXIES[surface.name]
    own = {name for name, value in vars(proxy).items()
           if isinstance(value, types.FunctionType) and not name.startswith("_")}
    return {name for name in own if surface.has_call(name)}


def _plain(value):
    if isinstance(value, resource.Resource):
        return value.to_dict(computed=False)
    if isinstance(value, types.GeneratorType):
        return [_plain(item) for item in value]
    return value
