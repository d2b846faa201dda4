"""A server on a fresh database, from its start to its end."""
import configparser
import os
import shlex
import signal
import socket
import subprocess
import time

HOST = "127.0.0.1"
STOP_SECONDS = 5


class NotStarted(Exception):
    """The server does not answer."""


class Server:
    """A server in a folder of its own; to be used with `with`."""

    def __init__(self, command, folder, sections, start_seconds):
        self.port = _free_port()
        self._log = folder / "server.log"
        self._start_seconds = start_seconds
        config = folder / "placement.conf"
        _write(config, folder, self.port, sections)
        values = {"{config}": str(config), "{host}": HOST, "{port}": str(self.port)}
        self._arguments = [_filled(part, values) for part in shlex.split(command)]
        self._process = None

    def __enter__(self):
        try:
            with open(self._log, "wb") as log:
                self._process = subprocess.Popen(
                    self._arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    env=_environment(), start_new_session=True)
        except OSError as error:
            raise NotStarted(f"{self._arguments[0]}: {error}") from error
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def _wait_until_it_answers(self):
        until = time.monotonic() + self._start_seconds
        while time.monotonic() < until:
            if not self.is_alive():
                raise NotStarted("it ended: " + self.last_words())
            try:
                socket.create_connection((HOST, self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise NotStarted(f"no answer in {self._start_seconds} s: " + self.last_words())

    @property
    def pid(self):
        """The id of its process."""
        return self._process.pid

    def is_alive(self):
        """Whether its process still runs."""
        return self._process.poll() is None

    def last_words(self):
        """The end of its log."""
        lines = self._log.read_text(errors="replace").split("\n")
        return " / ".join([line.strip() for line in lines if line.strip()][-3:])

    def stop(self):
        """Asks it to end, then makes it.

        Its process leads a group of its own: the signal reaches what the
        command started, and nothing else.
        """
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(STOP_SECONDS)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def _free_port():
    with socket.socket() as door:
        door.bind((HOST, 0))
        return door.getsockname()[1]


def _filled(text, values):
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _environment():
    """Ours, without what would change options or send requests elsewhere."""
    def is_wanted(name):
        return not name.startswith("OS_") and not name.lower().endswith("_proxy")

    return {name: value for name, value in os.environ.items() if is_wanted(name)}


def _write(config, folder, port, sections):
    options = {
        "placement_database": {
            "connection": f"sqlite:///{folder}/placement.db",
            "sqlite_synchronous": "false",
        },
        "api": {"auth_strategy": "noauth2", "bind_host": HOST, "bind_port": port},
        "oslo_policy": {"enforce_new_defaults": "false", "enforce_scope": "true"},
    }
    for section, more in sections.items():
        options.setdefault(section, {}).update(more)
    ini = configparser.RawConfigParser()
    ini.read_dict(options)
    with open(config, "w") as file:
        ini.write(file)
