"""The cloud as the server's REST API shows it."""
import json
import time

HEADERS = {"x-auth-token": "admin", "content-type": "application/json",
           "openstack-api-version": "placement 1.28"}


class Cloud:
    """Hosts, aggregates and allocations, looked at."""

    def __init__(self, connection):
        self._connection = connection

    def _send(self, method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        response, content = self._connection.send(method, path, HEADERS, data)
        return response.status, json.loads(content) if content else None

    def make(self, hosts):
        """Reports hosts, and waits until the bus is there."""
        inventory = {"VCPU": {"total": 100}, "MEMORY_MB": {"total": 100000},
                     "DISK_GB": {"total": 10000}}
        for host in hosts:
            report = {"inventory": inventory, "io_workload": 0, "failed_builds": 0,
                      "cell_uuid": "4f5bd2a1-8a7c-4e0c-9f63-6f1d0c8a9b10"}
            status, answer = self._send("PUT", f"/v1/hosts/{host}", report)
            assert status == 201, answer
        while self._send("GET", "/readyz")[1]["bus"]["state"] != "consuming":
            time.sleep(0.05)

    def held(self, server):
        """What a server holds, by provider."""
        return self._send("GET", f"/allocations/{server}")[1]["allocations"]

    def look(self, place):
        """The value of a field, such as `cmp-1.status`."""
        if place == "aggregates":
            found = self._send("GET", "/v1/aggregates")[1]["aggregates"]
            return [[it["name"], it["hosts"], it["metadata"]] for it in found]
        host, field = place.split(".")
        status, found = self._send("GET", f"/v1/hosts/{host}")
        if status != 200:
            return None
        return {
            "metrics": found["report"]["metrics"],
            "reason": found["service"]["disabled_reason"],
            "status": found["status"],
            "version": found["service"]["version"],
            # Those that hold an allocation are there by our own word.
            "instances": [it for it in found["instances"] if not self.held(it)],
            # What our own claims make there, the host has not told.
            "io": found["figures"]["num_io_ops"] - found["figures"]["num_instances"],
            "failed": found["figures"]["failed_builds"],
        }[field]
