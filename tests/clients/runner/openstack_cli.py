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

from cliff import display
from openstackclient import shell
from osc_placement import plugin  # noqa: F401  (loaded once, before the copies)

_COPIES = multiprocessing.get_context("fork")


class CommandLine:
    """`openstack` against one API of one server, as admin."""

    def __init__(self, url, surface):
        _warm_up()
        self._surface = surface
        self._start = ["--os-auth-type", "admin_token", "--os-endpoint", url + surface.path,
                       "--os-token", "admin"]
        self.ran = set()

    def run(self, text, api):
        """Runs a command; gives its exit status, what it printed (as JSON where
        it is some) and what it complained of."""
        words = shlex.split(text)
        name = _name(words, self._surface)
        self.ran |= {name} - {None}
        arguments = list(self._start)
        if version := api or self._surface.api:
            arguments += [f"--os-{self._surface.name}-api-version", version]
        arguments += words
        if name and _prints(self._surface, name):
            arguments += ["-f", "json"]
        receiving, sending = _COPIES.Pipe(duplex=False)
        copy = _COPIES.Process(target=_inside, args=(arguments, sending))
        copy.start()
        sending.close()
        status, printed, complaint = receiving.recv()
        copy.join()
        return status, _parsed(printed), complaint


@functools.cache
def commands(surface):
    """Every command of an API: tuples of words, with the entry points."""
    points = [point for group in surface.groups for point in metadata.entry_points(group=group)]
    named = {tuple(point.name.split("_")): point for point in points}
    return {words: point for words, point in named.items() if surface.has_command(words)}


def _name(words, surface):
    """The command that words begin with; the longest of several."""
    fitting = [name for name in commands(surface) if words[:len(name)] == list(name)]
    return max(fitting, key=len, default=None)


def _prints(surface, name):
    """Whether a command prints a table."""
    return issubclass(commands(surface)[name].load(), display.DisplayCommandBase)


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


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text
