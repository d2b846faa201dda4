"""openstack-placement behind a small HTTP server.

A program of its own: `reference.py FOLDER` serves with FOLDER/placement.conf,
on the [api] bind_host and bind_port that it names.
"""
import configparser
import os
import socketserver
import sys
from pathlib import Path
from wsgiref import simple_server


class Handler(simple_server.WSGIRequestHandler):
    """Says nothing, and makes up no content type where there is none."""

    def get_environ(self):
        environ = super().get_environ()
        if self.headers.get("content-type") is None:
            environ["CONTENT_TYPE"] = ""
        return environ

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """A thread for each request."""

    daemon_threads = True


def main():
    """Serves until it is ended."""
    folder = Path(sys.argv[1])
    os.environ["OS_PLACEMENT_CONFIG_DIR"] = str(folder)
    options = configparser.RawConfigParser()
    options.read(folder / "placement.conf")
    from placement import wsgi  # reads the variable above
    application = wsgi.init_application()
    address = options["api"]["bind_host"], int(options["api"]["bind_port"])
    with Server(address, Handler) as server:
        server.set_app(application)
        server.serve_forever()


if __name__ == "__main__":
    main()
