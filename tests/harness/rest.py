"""One kept-alive HTTP connection that sends exactly what it is told."""
import http.client
import json

TIMEOUT = 30  # seconds to wait for an answer
GONE = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)


class Connection:
    """A connection that is opened when needed, and again when it was closed."""

    def __init__(self, host, port):
        self.address = (host, port)
        self._http = None

    def send(self, method, target, headers, body=b""):
        """Sends a request; gives the response and its whole content."""
        is_fresh = self._http is None
        try:
            return self._send(method, target, headers, body)
        except GONE:
            self.close()
            if is_fresh:
                raise
            return self._send(method, target, headers, body)
        except Exception:
            self.close()
            raise

    def _send(self, method, target, headers, body):
        if self._http is None:
            self._http = http.client.HTTPConnection(*self.address, timeout=TIMEOUT)
        self._http.putrequest(method, target)
        for name, value in headers.items():
            self._http.putheader(name, str(value))
        has_length = any(name.lower() == "content-length" for name in headers)
        if not has_length and (body or method in ("PUT", "POST", "PATCH")):
            self._http.putheader("content-length", str(len(body)))
        self._http.endheaders(body)
        response = self._http.getresponse()
        content = response.read()
        if response.will_close:
            self.close()
        return response, content

    def close(self):
        """Closes it until the next request."""
        if self._http is not None:
            self._http.close()
            self._http = None


class Refused(Exception):
    """A request that had to succeed did not."""


class Admin:
    """A JSON client with every right, for whom a refusal is an error."""

    def __init__(self, connection):
        self._connection = connection

    def call(self, method, path, body=None, version="1.37"):
        """The body of the answer."""
        headers = {
            "accept": "application/json",
            "openstack-api-version": f"placement {version}",
            "x-auth-token": "admin",
        }
        data = b""
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        try:
            response, content = self._connection.send(method, path, headers, data)
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"{method} {path}: {error!r}") from error
        if response.status >= 300:
            text = content.decode(errors="replace")
            raise Refused(f"{method} {path}: {response.status} {text}")
        return json.loads(content) if content else None
