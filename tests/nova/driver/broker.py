"""A virtual host of the broker, for one run."""
import base64
import json
import os
import urllib.request
import uuid
from urllib.parse import urlsplit


class Vhost:
    """A fresh virtual host; to be used with `with`."""

    def __init__(self):
        self._url = urlsplit(os.environ["STOWPLAN_TEST_RABBIT_URL"])
        self._management = os.environ["STOWPLAN_TEST_RABBIT_MANAGEMENT"]
        self.name = "nova-" + uuid.uuid4().hex

    @property
    def url(self):
        """Its transport_url."""
        return f"rabbit://{self._url.netloc}/{self.name}"

    def __enter__(self):
        self._ask("PUT", f"vhosts/{self.name}", {})
        rights = {"configure": ".*", "write": ".*", "read": ".*"}
        self._ask("PUT", f"permissions/{self.name}/{self._url.username}", rights)
        return self

    def __exit__(self, *_):
        self._ask("DELETE", f"vhosts/{self.name}", None)

    def _ask(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._management}/api/{path}", data, method=method)
        login = f"{self._url.username}:{self._url.password}"
        request.add_header("authorization", "Basic " + base64.b64encode(login.encode()).decode())
        request.add_header("content-type", "application/json")
        urllib.request.urlopen(request).close()
