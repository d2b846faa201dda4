"""openstacksdk's placement proxy against one server, as admin."""
import types

import openstack
from openstack import resource


class Sdk:
    """Calls of `connection.placement`, by name."""

    def __init__(self, url):
        connection = openstack.connect(
            load_yaml_config=False, load_envvars=False, auth_type="admin_token",
            auth={"endpoint": url, "token": "admin"}, placement_endpoint_override=url)
        self._placement = connection.placement
        self.ran = set()

    def call(self, name, args, options):
        """What a call gives, as plain values."""
        self.ran.add(name)
        method = getattr(self._placement, name)
        return _plain(method(*[self._argument(arg) for arg in args], **options))

    def _argument(self, value):
        """`{provider: UUID}` is that provider as it is now, `{traits: UUID}`
        are its traits: calls take the generation from there."""
        match value:
            case {"provider": uuid}:
                return self._placement.get_resource_provider(uuid)
            case {"traits": uuid}:
                return self._placement.get_resource_provider_trait(uuid)
        return value


def calls():
    """Every call of the proxy that speaks to the service."""
    from openstack.placement.v1._proxy import Proxy
    waits = {"wait_for_status", "wait_for_delete"}
    own = {name for name, value in vars(Proxy).items()
           if isinstance(value, types.FunctionType) and not name.startswith("_")}
    deprecated = {"get_resource_provider_aggregates"}
    return own - waits - deprecated


def _plain(value):
    if isinstance(value, resource.Resource):
        return value.to_dict(computed=False)
    if isinstance(value, types.GeneratorType):
        return [_plain(item) for item in value]
    return value
