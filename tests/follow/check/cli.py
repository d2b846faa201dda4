"""The command line: databases, a server that follows them, and what came of it."""
import argparse
import tempfile
from pathlib import Path

from harness.server import HOST, Server

from . import cloud, databases, scale, steps, world

SOON = 15  # seconds until a change must show on a busy machine; readings are 1 s apart


def main():
    """Checks all kinds; gives the exit status."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--server", metavar="COMMAND", required=True,
                        help="starts the server; {config} stands for its INI file")
    parser.add_argument("--scale", type=int, metavar="NODES",
                        help="measure with so many nodes in each of two cells instead")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all steps")
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"of {', '.join(databases.KINDS)}")
    options = parser.parse_args()
    tally = Tally(options.verbose)
    for kind in options.kinds or databases.available():
        with tempfile.TemporaryDirectory(prefix="follow-") as name:
            folder = Path(name)
            with databases.fresh(kind, folder) as addresses:
                if options.scale:
                    scale.measure(options.server, folder, addresses, options.scale, kind)
                else:
                    _check(options.server, folder, addresses, tally.of(kind))
    if options.scale:
        return 0
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


def sections(addresses, **options):
    """Of the server's configuration."""
    return {"nova": {"api_database": addresses["api"], **options},
            "DEFAULT": {"service_down_time": 600}}


def _check(command, folder, addresses, tally):
    stage = world.World(addresses)
    stage.fill()
    config = sections(addresses, poll_interval="1s")
    with Server(command, folder, config, 60) as server:
        seen = cloud.Cloud(HOST, server.port)
        tally.note("everything is read", cloud.wait(
            lambda: seen.nova()["state"] == "following" and seen.host("cmp-3"), SOON))
        for title, is_so in steps.first(stage, seen):
            tally.note(title, is_so)
        for title, change, is_so in steps.changes(stage, seen):
            change()
            tally.note(title, cloud.wait(is_so, SOON) is not None)
        for title, change, is_so in steps.outages(stage, seen):
            change()
            tally.note(title, cloud.wait(is_so, SOON) is not None)
    # What happens while nobody looks.
    stage.cell1.update("compute_nodes", {"host": "cmp-1"}, deleted=1)
    stage.cell1.update("compute_nodes", {"host": "cmp-2", "deleted": 0}, vcpus_used=55)
    with Server(command, folder, config, 60) as server:
        seen = cloud.Cloud(HOST, server.port)
        tally.note("a node that went before the start", cloud.wait(
            lambda: seen.host("cmp-1") is None, SOON) is not None)
        tally.note("one that changed before it", cloud.wait(
            lambda: seen.host("cmp-2")["figures"]["vcpus_used"] == 55, SOON) is not None)


class Tally:
    """How many steps came out."""

    def __init__(self, verbose):
        self.passed, self.failed, self._verbose, self._kind = 0, 0, verbose, ""

    def of(self, kind):
        """The same for one kind of database."""
        self._kind = kind
        return self

    def note(self, title, came_out):
        """Counts a step, and shows it if it failed."""
        self.passed += bool(came_out)
        self.failed += not came_out
        if not came_out or self._verbose:
            print("ok" if came_out else "FAIL", f"{self._kind}: {title}", flush=True)
