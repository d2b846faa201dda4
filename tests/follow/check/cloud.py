"""The cloud as the server's REST API shows it."""
import json
import time

from harness.rest import Connection

HEADERS = {"x-auth-token": "admin", "content-type": "application/json"}


class Cloud:
    """Looks at hosts, aggregates, groups and cells."""

    def __init__(self, host, port):
        self._connection = Connection(host, port)

    def get(self, path):
        """An answer, or nothing where nothing is found."""
        response, content = self._connection.send("GET", path, HEADERS)
        return json.loads(content) if response.status == 200 else None

    def host(self, name):
        """A host in full."""
        return self.get(f"/v1/hosts/{name}")

    def nova(self):
        """How the reading goes."""
        return self.get("/readyz")["nova"]

    def aggregates(self):
        """Host aggregates by name: hosts and metadata."""
        found = self.get("/v1/aggregates")["aggregates"]
        return {it["name"]: (it["hosts"], it["metadata"]) for it in found}

    def groups(self):
        """Server groups by name: policy and members."""
        found = self.get("/v1/server-groups")["server_groups"]
        return {it["name"]: (it["policy"], it["members"]) for it in found}

    def cells(self):
        """Cells by name: whether they are disabled."""
        return {it["name"]: it["disabled"] for it in self.get("/v1/snapshot")["cells"]}


def wait(is_so, seconds):
    """Waits until something is so; gives the seconds that took, or none."""
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > seconds:
            return None
        time.sleep(0.05)
    return time.monotonic() - began
