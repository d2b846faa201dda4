"""Files of steps: reading them, and comparing what came with what must come."""
import dataclasses
import re
import uuid
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent.parent / "cases"
ANYTHING = "*"
_NAMED = re.compile(r"@([A-Za-z0-9]+)")


@dataclasses.dataclass
class Step:
    """One command or call, and what must come of it."""

    title: str
    openstack: str | None = None
    sdk: str | None = None
    args: list = dataclasses.field(default_factory=list)
    options: dict = dataclasses.field(default_factory=dict)
    send: str | None = None
    body: object = None
    api: str | None = None
    gives: object = ANYTHING
    fails: str | None = None


def files():
    """The files, in order."""
    return sorted(FOLDER.glob("*.yaml"))


def read(path):
    """The steps of a file, with every `@name` turned into its uuid."""
    return [Step(**_named(step)) for step in yaml.safe_load(path.read_text())]


def _named(value):
    if isinstance(value, str):
        return _NAMED.sub(lambda match: named(match[1]), value)
    if isinstance(value, list):
        return [_named(item) for item in value]
    if isinstance(value, dict):
        return {_named(key): _named(item) for key, item in value.items()}
    return value


def named(name):
    """The uuid that a name stands for."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def is_match(wanted, found):
    """Whether a value is the one wanted: `*` is anything, objects may have
    further members, and the order in lists does not matter."""
    if wanted == ANYTHING:
        return True
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and is_match(value, found[key]) for key, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(wanted) != len(found):
            return False
        return _is_list_match(wanted, found)
    return wanted == found and isinstance(wanted, bool) == isinstance(found, bool)


def _is_list_match(wanted, found):
    if not wanted:
        return True
    for place, item in enumerate(found):
        if is_match(wanted[0], item):
            others = found[:place] + found[place + 1:]
            if _is_list_match(wanted[1:], others):
                return True
    return False
