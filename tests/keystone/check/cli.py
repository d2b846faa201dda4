"""The command line, and the order of things."""
import argparse
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.server import HOST, Server

from . import checks, identity

START_SECONDS = 60
CACHE_SECONDS = 2
LIFETIME = 6  # of tokens, where their end is checked


class Served:
    """A Keystone that runs."""

    def __init__(self, folder, port):
        self._command = [sys.executable, identity.__file__, folder, f"{port}"]
        self._folder, self._port = folder, port
        self._process = None

    def start(self):
        """Serves, from now on."""
        with open(self._folder / "keystone.log", "ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                socket.create_connection((HOST, self._port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit(f"Keystone does not answer; see {self._folder}/keystone.log")

    def stop(self):
        """Ends it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()


def main():
    """Checks everything; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="run", description="Puts a real Keystone before the door of stowplan.")
    parser.add_argument("--server", metavar="COMMAND", required=True,
                        help="starts stowplan with the file {config}")
    parser.add_argument("--keep", metavar="FOLDER", type=Path,
                        help="leave configurations, files and logs here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keystone-") as scratch:
        home = (options.keep or Path(scratch)).resolve()
        theirs, ours = home / "keystone", home / "stowplan"
        for folder in (theirs, ours):
            folder.mkdir(parents=True)
        with socket.socket() as door:
            door.bind((HOST, 0))
            port = door.getsockname()[1]
        url = f"http://{HOST}:{port}/v3"
        identity.make(theirs, url)
        served = Served(theirs, port)
        served.start()
        try:
            return _check(options.server, served, identity.Keystone(url), theirs, ours)
        finally:
            served.stop()


def _check(command, served, keystone, theirs, ours):
    people = identity.People(keystone)
    sections = {
        "api": {"auth_strategy": "keystone"},
        "oslo_policy": {"enforce_new_defaults": "true", "enforce_scope": "true"},
        "keystone_authtoken": {
            "www_authenticate_uri": keystone.url,
            "auth_url": keystone.url,
            "memcached_servers": "controller:11211",
            "auth_type": "password",
            "project_domain_name": "Default",
            "user_domain_name": "Default",
            "project_name": "service",
            "username": "placement",
            "password": identity.PASSWORD,
            "token_cache_time": CACHE_SECONDS,
            "http_request_max_retries": 0,
        },
    }
    with Server(command, ours, sections, START_SECONDS) as server:
        for kind, path in (("placement", ""), ("compute", "/v2.1")):
            service = keystone.make("service", {"type": kind, "name": kind})
            for interface in ("public", "internal"):
                keystone.make("endpoint", {
                    "service_id": service, "interface": interface, "region_id": "one",
                    "url": f"http://{HOST}:{server.port}{path}"})
        told = checks.Checks(server.port)
        checks.rights(told, keystone, people)
        checks.ends(told, keystone, CACHE_SECONDS)
        checks.command(told, keystone)
        token, _ = keystone.token("admin", project="admin")
        told.expect("a token", told.ask("/resource_providers", token)[0], 200)
        served.stop()
        status, _ = told.ask("/resource_providers", "gAAAAABunknown")
        told.expect("Keystone is away", status, 503)
        identity.write_options(theirs, LIFETIME)
        served.start()
        short, _ = keystone.token("admin", project="admin")
        checks.late(told, keystone, short, LIFETIME)
    print(f"{told.passed} passed, {told.failed} failed")
    return 1 if told.failed else 0
