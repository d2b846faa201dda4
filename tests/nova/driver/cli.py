"""The command line: a server, Nova's clients, and how each step came out."""
import argparse
import tempfile
import time
from pathlib import Path

from harness.rest import Connection
from harness.server import HOST, Server

from . import broker, cloud, nova, steps

SETTLE_SECONDS = 15  # how long a word may take to show


def main():
    """Runs all steps; gives the exit status."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--server", metavar="COMMAND", required=True,
                        help="starts the server; {config} stands for its INI file")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all steps")
    options = parser.parse_args()
    tally = Tally(options.verbose)
    with tempfile.TemporaryDirectory(prefix="nova-") as folder, broker.Vhost() as vhost:
        sections = {"DEFAULT": {"transport_url": vhost.url, "service_down_time": 86400}}
        with Server(options.server, Path(folder), sections, 30) as server:
            seen = cloud.Cloud(Connection(HOST, server.port))
            seen.make(steps.HOSTS)
            nova.start(vhost.url)
            for title, came_out in steps.calls(seen):
                tally.note(title, came_out)
            seen.make([steps.SPARE])
            for title, send, place, expected in steps.facts():
                for again in ("", " again"):
                    send()
                    tally.note(f"{title}{again}: {place}", *shows(seen, place, expected))
            nova.rpc.cleanup()
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


def shows(seen, place, expected):
    """Whether a field gets a value, and what it has otherwise."""
    until = time.monotonic() + SETTLE_SECONDS
    while (found := seen.look(place)) != expected and time.monotonic() < until:
        time.sleep(0.05)
    return found == expected, f"wanted {expected!r}, got {found!r}"


class Tally:
    """How many steps came out."""

    def __init__(self, verbose):
        self.passed, self.failed, self._verbose = 0, 0, verbose

    def note(self, title, came_out, fault=""):
        """Counts a step, and shows it if it failed."""
        self.passed += bool(came_out)
        self.failed += not came_out
        if not came_out:
            print("FAIL", title, fault)
        elif self._verbose:
            print("ok", title)
