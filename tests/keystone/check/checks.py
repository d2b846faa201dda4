"""What is checked: who may do what, by the token that is shown."""
import http.client
import os
import subprocess
import sys
import time
from pathlib import Path

from harness.server import HOST

from .identity import PASSWORD

PLACEMENT = {"openstack-api-version": "placement latest"}


class Checks:
    """Counts what holds and says what does not."""

    def __init__(self, port):
        self._port = port
        self.passed = self.failed = 0

    def ask(self, path, token, method="GET", **headers):
        """Status and headers of an answer."""
        connection = http.client.HTTPConnection(HOST, self._port, timeout=60)
        shown = {} if token is None else {"x-auth-token": token}
        shown.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection.request(method, path, headers={**PLACEMENT, **shown})
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status, response.headers

    def expect(self, what, found, wanted):
        """One check."""
        if found == wanted:
            self.passed += 1
        else:
            self.failed += 1
            print(f"  {what}: {found!r}, expected {wanted!r}", flush=True)


def rights(checks, keystone, people):
    """Rights by role and by what a token is good for."""
    tokens = {
        "admin": keystone.token("admin", project="admin")[0],
        "nova": keystone.token("nova", project="service")[0],
        "alice": keystone.token("alice", project="demo")[0],
        "system": keystone.token("admin", system=True)[0],
        "unscoped": keystone.token("alice")[0],
        "garbage": "gAAAAABnothing",
        "nobody": None,
    }
    demo, other = people.projects["demo"], people.projects["other"]
    table = [
        ("/", {"nobody": 200, "garbage": 200}),
        ("/resource_providers", {"admin": 200, "nova": 200, "alice": 403, "system": 403,
                                 "unscoped": 403, "garbage": 401, "nobody": 401}),
        (f"/usages?project_id={demo}", {"admin": 200, "alice": 200, "unscoped": 403}),
        (f"/usages?project_id={other}", {"admin": 200, "alice": 403}),
        ("/v1/hosts", {"admin": 200, "alice": 403, "nobody": 401}),
        ("/v2.1/os-aggregates", {"admin": 200, "alice": 403, "garbage": 401}),
        ("/healthz", {"nobody": 200}),
    ]
    for path, wanted in table:
        for who, status in wanted.items():
            checks.expect(f"{who} GET {path}", checks.ask(path, tokens[who])[0], status)
    # What callers say of themselves counts for nothing.
    status, _ = checks.ask("/resource_providers", tokens["alice"], x_roles="admin",
                           x_project_id=other, openstack_system_scope="all")
    checks.expect("alice, who says she is admin", status, 403)
    _, headers = checks.ask("/resource_providers", None)
    checks.expect("where to get a token", headers["www-authenticate"],
                  f'Keystone uri="{keystone.url}"')


def ends(checks, keystone, cache_seconds):
    """Tokens that end before and at their time."""
    token, _ = keystone.token("admin", project="admin")
    checks.expect("a token", checks.ask("/resource_providers", token)[0], 200)
    keystone.revoke(token)
    checks.expect("revoked, remembered", checks.ask("/resource_providers", token)[0], 200)
    time.sleep(cache_seconds + 1)
    checks.expect("revoked", checks.ask("/resource_providers", token)[0], 401)


def late(checks, keystone, token, lifetime):
    """A token whose time is over, alone and with a service behind it."""
    checks.expect("in time", checks.ask("/resource_providers", token)[0], 200)
    time.sleep(lifetime + 1)
    service, _ = keystone.token("nova", project="service")
    alice, _ = keystone.token("alice", project="demo")
    ask = checks.ask
    checks.expect("late", ask("/resource_providers", token)[0], 401)
    checks.expect("late, a service", ask("/resource_providers", token, x_service_token=service)[0],
                  200)
    checks.expect("late, no service", ask("/resource_providers", token, x_service_token=alice)[0],
                  401)


def command(checks, keystone):
    """The openstack command logs in and finds us in the catalogue."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("OS_") and not name.lower().endswith("_proxy")}
    environment.update({
        "OS_AUTH_URL": keystone.url, "OS_USERNAME": "admin", "OS_PASSWORD": PASSWORD,
        "OS_PROJECT_NAME": "admin", "OS_USER_DOMAIN_NAME": "Default",
        "OS_PROJECT_DOMAIN_NAME": "Default", "OS_IDENTITY_API_VERSION": "3",
        "OS_REGION_NAME": "one",
    })
    openstack = Path(sys.prefix) / "bin" / "openstack"
    for words, said in (
        (["resource", "provider", "create", "node-1", "-f", "value", "-c", "name"], "node-1"),
        (["resource", "provider", "list", "-f", "value", "-c", "name"], "node-1"),
        (["aggregate", "create", "--zone", "az1", "fast", "-f", "value", "-c", "name"], "fast"),
        (["aggregate", "list", "-f", "value", "-c", "Name"], "fast"),
    ):
        done = subprocess.run([openstack, *words], env=environment, capture_output=True,
                              text=True, check=False)
        found = done.stdout.strip() if done.returncode == 0 else done.stderr.strip()
        checks.expect("openstack " + " ".join(words[:3]), found, said)
