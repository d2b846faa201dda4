"""The `openstack` command, each time in a copy of this process: what takes long
in a start, loading the client, is done once, and no command finds what another
has left in memory."""
import contextlib
import functools
import io
import json
import multiprocessing
import shlex
from importlib import metadata

from openstackclient import shell
from osc_placement import plugin  # noqa: F401  (loaded once, before the copies)

_GROUP = "openstack.placement.v1"
_COPIES = multiprocessing.get_context("fork")


class CommandLine:
    """`openstack` against one server, as admin."""

    def __init__(self, url):
        _warm_up()
        self._start = ["--os-auth-type", "admin_token", "--os-endpoint", url,
                       "--os-token", "admin"]
        self.ran = set()

    def run(self, text, api):
        """Runs a command; gives its exit status, what it printed (as JSON where
        it is some) and what it complained of."""
        words = shlex.split(text)
        self.ran |= {name for name in commands() if words[:len(name)] == list(name)}
        arguments = [*self._start, "--os-placement-api-version", api, *words]
        if _prints(words):
            arguments += ["-f", "json"]
        receiving, sending = _COPIES.Pipe(duplex=False)
        copy = _COPIES.Process(target=_inside, args=(arguments, sending))
        copy.start()
        sending.close()
        status, printed, complaint = receiving.recv()
        copy.join()
        return status, _parsed(printed), complaint


def commands():
    """Every command of the placement plugin, as tuples of words."""
    points = metadata.entry_points(group=_GROUP)
    return {tuple(point.name.split("_")) for point in points}


@functools.cache
def _warm_up():
    """Loads all that any command loads, in this process."""
    status, _, complaint = _captured(["command", "list"])
    if status:
        raise RuntimeError(complaint)


def _inside(arguments, sending):
    sending.send(_captured(arguments))


def _captured(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = shell.main(arguments)
        except SystemExit as stop:  # how the parser of arguments refuses
            status = stop.code
    return status or 0, out.getvalue(), err.getvalue()


def _prints(words):
    """Whether the command prints a table: all but these do."""
    silent = (["trait", "create"], ["resource", "class", "create"], ["resource", "class", "set"])
    return "delete" not in words and not any(words[:len(start)] == start for start in silent)


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text
