"""One file of the suite: a fresh server, its fixture, its tests in order."""
import dataclasses
import importlib.util
import os
import re
import unittest
from pathlib import Path

from gabbi import handlers, httpclient, suitemaker, utils

from harness import rest
from harness.server import HOST, NotStarted, Server

from . import client, fixtures


@dataclasses.dataclass
class Outcome:
    """How a test came out: passed unless it says why not."""

    name: str
    fault: str | None = None


@dataclasses.dataclass
class Report:
    """What became of a file."""

    file: str
    outcomes: list[Outcome]

    @property
    def passed(self):
        """How many of its tests passed."""
        return sum(outcome.fault is None for outcome in self.outcomes)

    @property
    def is_whole(self):
        """Whether all of its tests passed."""
        return self.passed == len(self.outcomes)


def folder():
    """Where the installed package keeps the suite."""
    package = importlib.util.find_spec("placement")
    return Path(package.origin).parent / "tests" / "functional" / "gabbits"


def load(path):
    """A file of the suite, as gabbi reads it."""
    return utils.load_yaml(yaml_file=str(path))


def fixture_of(document):
    """The name of a file's fixture."""
    return (document.get("fixtures") or ["APIFixture"])[0]


def run(path, command, home, start_seconds):
    """Runs a file against a server of its own."""
    document = load(path)
    fixture = fixture_of(document)
    home.mkdir()
    try:
        sections = fixtures.sections(fixture, home)
        with Server(command, home, sections, start_seconds) as server:
            outcomes = _run(path, document, fixture, server)
    except (NotStarted, rest.Refused) as error:
        stage = "server" if isinstance(error, NotStarted) else "fixture"
        fault = _one_line(f"{stage}: {error}")
        outcomes = [Outcome(test["name"], fault) for test in document["tests"]]
    return Report(path.name, outcomes)


def _run(path, document, fixture, server):
    connection = rest.Connection(HOST, server.port)
    os.environ.update(fixtures.build(fixture, rest.Admin(connection)))
    httpclient.get_http = lambda **_: client.Client(connection)
    suite = suitemaker.test_suite_from_dict(
        unittest.defaultTestLoader, path.stem, document, str(path.parent), HOST,
        server.port, None, None, handlers=[kind() for kind in handlers.RESPONSE_HANDLERS])
    collected = _Collected()
    suite.run(collected)
    connection.close()
    if not server.is_alive():
        for outcome in collected.outcomes:
            if outcome.fault:
                outcome.fault += f" [the server ended: {server.last_words()}]"
    return collected.outcomes


class _Collected(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcomes = []

    def _note(self, test, fault=None):
        self.outcomes.append(Outcome(test.test_data["name"], fault))

    def addSuccess(self, test):
        self._note(test)

    def addExpectedFailure(self, test, err):
        self._note(test)

    def addFailure(self, test, err):
        self._note(test, _one_line(str(err[1])))

    def addError(self, test, err):
        self._note(test, _one_line(f"{err[0].__name__}: {err[1]}"))

    def addSkip(self, test, reason):
        self._note(test, f"skipped: {reason}")

    def addUnexpectedSuccess(self, test):
        self._note(test, "passed, where it was expected to fail")


def _one_line(text):
    return re.sub(r"\s+", " ", text).strip()[:500]
