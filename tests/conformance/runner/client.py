"""The HTTP client that gabbi is given."""
import httpx


class Client:
    """What gabbi takes for its HTTP client.

    Its own makes a client per test, and cannot send a content-length that is
    no number, which one test of the suite wants.
    """

    def __init__(self, connection):
        self._connection = connection

    def request(self, absolute_uri, method, body, headers, redirect, timeout):
        """The headers, status among them, and the content of an answer."""
        target = httpx.URL(absolute_uri).raw_path.decode()  # percent-encoded
        body = body.encode() if isinstance(body, str) else body or b""
        response, content = self._connection.send(method, target, headers, body)
        answer = httpx.Headers(response.getheaders())
        answer["status"] = str(response.status)
        answer["reason"] = response.reason
        answer["http_protocol_version"] = "HTTP/1.1"
        return answer, content
