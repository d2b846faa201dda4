"""The command line: one check for each kind of database."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import rest
from harness.server import HOST, Server

from . import compare, databases, questions, world

SHOWN = 20  # differences that are printed for each kind
START_SECONDS = 120
REFERENCE = Path(__file__).with_name("reference.py")


def main():
    """Checks what was asked for; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="run", description="Fills a real openstack-placement, imports its database, and "
        "compares every GET of both servers.")
    parser.add_argument("--stowplan", metavar="BINARY", required=True, type=Path)
    parser.add_argument("--seed", metavar="N", type=int, default=1,
                        help="draws another cloud (1)")
    parser.add_argument("--keep", metavar="FOLDER", type=Path,
                        help="leave configurations, files and logs here")
    parser.add_argument("kinds", metavar="KIND", nargs="*",
                        help=f"{', '.join(databases.KINDS)} (those that are there)")
    options = parser.parse_args()
    unknown = set(options.kinds) - set(databases.available())
    if unknown:
        parser.error(f"not there: {', '.join(sorted(unknown))}; servers are named by "
                     "STOWPLAN_TEST_MARIADB_URL and STOWPLAN_TEST_POSTGRES_URL")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="import-") as scratch:
        home = (options.keep or Path(scratch)).resolve()
        for kind in options.kinds or databases.available():
            folder = home / kind
            folder.mkdir(parents=True)
            same, differing, unanswered = _check(kind, folder, options)
            print(f"{kind}: {same} questions answered alike, {differing} otherwise; "
                  f"on {unanswered} the reference breaks", flush=True)
            passed += same
            failed += differing
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _check(kind, folder, options):
    """Fills, imports, compares; how many questions were answered alike, otherwise,
    and not at all by the reference."""
    theirs, ours = folder / "reference", folder / "stowplan"
    theirs.mkdir()
    ours.mkdir()
    with (databases.fresh(kind, theirs / "placement.db") as source,
          databases.fresh(kind, ours / "stowplan.db") as target):
        sections = {"placement_database": {"connection": source, "sync_on_startup": "true"}}
        command = f"{sys.executable} {REFERENCE} {theirs}"
        with Server(command, theirs, sections, START_SECONDS) as reference:
            asked = _fill(reference, source, options.seed)
            _import(options.stowplan, source, target)
            sections = {"placement_database": {"connection": target}}
            command = f"{options.stowplan} serve --config {{config}}"
            with Server(command, ours, sections, START_SECONDS) as server:
                return _compare(asked, reference, server)


def _fill(reference, source, seed):
    connection = rest.Connection(HOST, reference.port)
    admin = rest.Admin(connection)
    made = world.World(admin, seed)
    made.build()
    world.age(source, seed)
    providers = admin.call("GET", "/resource_providers")["resource_providers"]
    aggregates = {
        aggregate for provider in providers
        for aggregate in admin.call(
            "GET", f"/resource_providers/{provider['uuid']}/aggregates")["aggregates"]
    }
    seen = {
        "names": [provider["name"] for provider in providers],
        "aggregates": sorted(aggregates),
        "classes": [one["name"] for one in
                    admin.call("GET", "/resource_classes")["resource_classes"]],
        "traits": admin.call("GET", "/traits?associated=true")["traits"],
    }
    connection.close()
    return list(questions.questions(made, seen))


def _import(binary, source, target):
    command = [binary, "db", "import", "--format", "json", "--from", source,
               "--set", f"placement_database.connection={target}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"stowplan db import ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    report = json.loads(done.stdout)
    print(f"imported in {report['seconds']:.2f} s: "
          + ", ".join(f"{row['rows']} {row['what']}" for row in report["rows"] + report["notes"]))


def _compare(asked, reference, server):
    theirs = rest.Connection(HOST, reference.port)
    ours = rest.Connection(HOST, server.port)
    same = differing = unanswered = 0
    for version, target in asked:
        try:
            fault = compare.difference(target, version, theirs, ours)
        except compare.Unanswered:
            unanswered += 1
            continue
        if fault is None:
            same += 1
        else:
            differing += 1
            if differing <= SHOWN:
                print(f"  {version} GET {target}: {fault}", flush=True)
    theirs.close()
    ours.close()
    return same, differing, unanswered
