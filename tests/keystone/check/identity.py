"""A Keystone in a folder of its own, and who there is in it.

As a program, `identity.py FOLDER PORT` serves it.
"""
import json
import os
import socketserver
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from wsgiref import simple_server

HOST = "127.0.0.1"
PASSWORD = "s3cret"  # everyone's
TIMEOUT = 30

OPTIONS = """\
[database]
connection = sqlite:///{folder}/keystone.db
[token]
expiration = {lifetime}
allow_expired_window = 3600
[fernet_tokens]
key_repository = {folder}/fernet
[fernet_receipts]
key_repository = {folder}/fernet
[credential]
key_repository = {folder}/credential
"""


def configuration(folder):
    """The file of options."""
    return folder / "keystone.conf"


def write_options(folder, lifetime):
    """Writes the file of options; tokens live that many seconds."""
    configuration(folder).write_text(OPTIONS.format(folder=folder, lifetime=lifetime))


def make(folder, url):
    """Makes the database, the keys, and the first admin."""
    write_options(folder, lifetime=3600)
    manage = [Path(sys.prefix) / "bin" / "keystone-manage", "--config-file",
              configuration(folder)]
    us = f"{os.getuid()}", f"{os.getgid()}"
    owner = ["--keystone-user", us[0], "--keystone-group", us[1]]
    for command in (["db_sync"], ["fernet_setup", *owner], ["credential_setup", *owner]):
        _run([*manage, *command])
    _run([*manage, "bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-region-id", "one",
          "--bootstrap-public-url", url, "--bootstrap-internal-url", url,
          "--bootstrap-admin-url", url])


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[3]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


class Keystone:
    """The API of a Keystone, as its admin."""

    def __init__(self, url):
        self.url = url
        self.admin, _ = self.token("admin", project="admin")

    def call(self, method, path, body=None, headers=None):
        """Status, headers and body of an answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                content = response.read()
                return response.status, response.headers, json.loads(content or b"null")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, {}

    def token(self, user, project=None, system=False):
        """A new token of a user, and when it ends."""
        domain = {"name": "Default"}
        who = {"name": user, "domain": domain, "password": PASSWORD}
        auth = {"identity": {"methods": ["password"], "password": {"user": who}}}
        if project:
            auth["scope"] = {"project": {"name": project, "domain": domain}}
        elif system:
            auth["scope"] = {"system": {"all": True}}
        else:
            auth["scope"] = "unscoped"
        status, headers, body = self.call("POST", "/auth/tokens", {"auth": auth})
        if status != 201:
            sys.exit(f"Keystone does not let {user} in: {status}")
        return headers["x-subject-token"], body["token"]

    def make(self, kind, body):
        """Makes a thing; gives its id."""
        plural = kind + ("ies" if kind.endswith("y") else "s")
        status, _, made = self.call(
            "POST", f"/{plural}", {kind: body}, {"x-auth-token": self.admin})
        if status != 201:
            sys.exit(f"Keystone does not make {kind} {body}: {status}")
        return made[kind]["id"]

    def _id(self, kind, name):
        _, _, body = self.call("GET", f"/{kind}s?name={name}", None,
                               {"x-auth-token": self.admin})
        return body[f"{kind}s"][0]["id"]

    def role(self, name):
        """The id of a role, which is made where it is not there."""
        _, _, body = self.call("GET", f"/roles?name={name}", None, {"x-auth-token": self.admin})
        return body["roles"][0]["id"] if body["roles"] else self.make("role", {"name": name})

    def grant(self, user, role, project):
        """Gives a user a role in a project."""
        status, _, _ = self.call(
            "PUT", f"/projects/{project}/users/{user}/roles/{self.role(role)}", None,
            {"x-auth-token": self.admin})
        if status != 204:
            sys.exit(f"Keystone does not grant {role}: {status}")

    def revoke(self, token):
        """Ends a token before its time."""
        self.call("DELETE", "/auth/tokens", None,
                  {"x-auth-token": self.admin, "x-subject-token": token})


class People:
    """Projects and users: the service's own, a Nova, someone who reads."""

    def __init__(self, keystone):
        self.projects = {}
        for name in ("service", "demo", "other"):
            self.projects[name] = keystone.make("project", {"name": name, "domain_id": "default"})
        for user, role, project in (("placement", "service", "service"),
                                    ("placement", "admin", "service"),
                                    ("nova", "service", "service"),
                                    ("alice", "reader", "demo")):
            if user not in self.projects.setdefault("users", {}):
                self.projects["users"][user] = keystone.make(
                    "user", {"name": user, "password": PASSWORD, "domain_id": "default"})
            keystone.grant(self.projects["users"][user], role, self.projects[project])


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True


def main():
    """Serves until it is ended."""
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    del sys.argv[1:]  # Keystone would read them, too
    os.environ["OS_KEYSTONE_CONFIG_DIR"] = str(folder)
    from keystone.server import wsgi  # reads the variable above
    with _Server((HOST, port), _Handler) as server:
        server.set_app(wsgi.initialize_public_application())
        server.serve_forever()


if __name__ == "__main__":
    main()
