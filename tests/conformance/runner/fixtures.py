"""What the suite's files expect to find, built through the API.

fixtures.yaml holds it as data; here it is turned into requests. Where the
peer's fixtures leave a provider's generation alone or count it up, so do the
requests: aggregates are set at 1.18, and inventories one by one.
"""
import uuid
from pathlib import Path

import yaml

TABLE = yaml.safe_load(Path(__file__).with_name("fixtures.yaml").read_text())


def sections(fixture, folder):
    """The configuration that a fixture wants, by section and option."""
    wanted = dict(TABLE["fixtures"][fixture].get("config", {}))
    if TABLE["fixtures"][fixture].get("open_policy"):
        policy = folder / "policy.yaml"
        policy.write_text(yaml.safe_dump({rule: "@" for rule in TABLE["rules"]}))
        wanted["oslo_policy"] = {"policy_file": str(policy)}
    return wanted


def build(fixture, admin):
    """Builds a fixture; gives the variables that its files use."""
    variables = {name: _new_uuid() for name in TABLE["variables"]}
    variables.update(TABLE["constants"])
    _World(admin, variables).build(TABLE["fixtures"][fixture])
    return variables


def _new_uuid():
    return str(uuid.uuid4())


class _World:
    def __init__(self, admin, variables):
        self._admin = admin
        self._variables = variables
        self._uuids = {}
        self._known_names = set()

    def build(self, fixture, parents=None):
        for name in fixture.get("variables", []):
            self._variables[name] = _new_uuid()
        for provider in fixture.get("providers", []):
            parent = (parents or {}).get(provider["name"])
            self._provider({"parent": parent, **provider})
        for allocation in fixture.get("allocations", []):
            self._allocation(allocation)
        if "on_top" in fixture:
            self.build(TABLE["fixtures"][fixture["on_top"]], fixture["parents"])
        pattern = fixture.get("export")
        for name, ident in self._uuids.items() if pattern else ():
            self._variables[pattern.format(name.upper())] = ident

    def _value(self, text):
        """A value that may stand in a variable: $NAME."""
        return self._variables[text[1:]] if text.startswith("$") else text

    def _provider(self, row):
        name = self._value(row["name"])
        ident = self._value(row["uuid"]) if "uuid" in row else _new_uuid()
        body = {"name": name, "uuid": ident}
        if row["parent"]:
            body["parent_provider_uuid"] = self._uuids[row["parent"]]
        self._admin.call("POST", "/resource_providers", body)
        self._uuids[row["name"]] = ident
        if "variable" in row:
            self._variables[row["variable"]] = ident
        path = f"/resource_providers/{ident}"
        if "aggregates" in row:
            aggregates = [self._variables[name] for name in row["aggregates"]]
            self._admin.call("PUT", f"{path}/aggregates", aggregates, version="1.18")
        generation = 0
        for resource_class, inventory in row.get("inventories", {}).items():
            self._know("/resource_classes", resource_class)
            if isinstance(inventory, int):
                inventory = {"total": inventory}
            body = {
                "resource_class": resource_class,
                "resource_provider_generation": generation,
                "max_unit": inventory["total"],
                **inventory,
            }
            self._admin.call("POST", f"{path}/inventories", body)
            generation += 1
        if "traits" in row:
            for trait in row["traits"]:
                self._know("/traits", trait)
            body = {"traits": row["traits"], "resource_provider_generation": generation}
            self._admin.call("PUT", f"{path}/traits", body)

    def _know(self, path, name):
        """Makes a name that is not a standard one."""
        if name.startswith("CUSTOM_") and name not in self._known_names:
            self._admin.call("PUT", f"{path}/{name}")
            self._known_names.add(name)

    def _allocation(self, row):
        consumer = _new_uuid()
        if "consumer" in row:
            self._variables[row["consumer"]] = consumer
        provider = self._uuids[row["provider"]]
        # Before 1.38, so that the type of the consumer stays unknown.
        self._admin.call("PUT", f"/allocations/{consumer}", {
            "allocations": {provider: {"resources": row["resources"]}},
            "project_id": self._value(row["project"]),
            "user_id": self._value(row["user"]),
            "consumer_generation": None,
        })
