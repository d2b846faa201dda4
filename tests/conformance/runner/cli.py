"""The command line: which files, how many at once, and what must pass."""
import argparse
import fnmatch
import itertools
import os
import sys
import tempfile
from concurrent import futures
from pathlib import Path

from . import suite


def main():
    """Runs what was asked for; gives the exit status."""
    parser = _parser()
    options = parser.parse_args()
    paths = _chosen(options.files)
    if not paths:
        parser.error("no file of the suite matches")
    expected = _expected(options.expect, paths, parser) if options.expect else None
    if options.list:
        return _list(paths)
    if not options.server:
        parser.error("--server is needed")
    reports = {}
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        home = Path(options.keep or scratch)
        home.mkdir(parents=True, exist_ok=True)
        for report in _run(paths, options, home.resolve()):
            reports[report.file] = report
            _say(report)
    return _conclude(reports, expected)


def _parser():
    parser = argparse.ArgumentParser(
        prog="run", description="Runs the functional suite of openstack-placement "
        "against a server, each file against a fresh one.")
    parser.add_argument(
        "--server", metavar="COMMAND", help="starts the server; {config} stands for its "
        "INI file, {host} and {port} for where it listens")
    parser.add_argument(
        "--expect", metavar="LIST", type=Path, help="the files that must pass whole; "
        "what the others do is shown and does not count")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(),
                        help="files run at once (one per CPU)")
    parser.add_argument("--start-seconds", metavar="N", type=float, default=30,
                        help="how long a server may take to start (30)")
    parser.add_argument("--keep", metavar="FOLDER",
                        help="leave configurations, databases and logs here")
    parser.add_argument("--list", action="store_true",
                        help="list the files with their fixtures and counts")
    parser.add_argument("files", metavar="GLOB", nargs="*",
                        help="names of files, such as 'allocation*' (all)")
    return parser


def _chosen(globs):
    paths = sorted(suite.folder().glob("*.yaml"))
    wanted = [glob.removesuffix(".yaml") for glob in globs] or ["*"]
    return [path for path in paths if any(fnmatch.fnmatch(path.stem, glob) for glob in wanted)]


def _expected(listing, paths, parser):
    """The names in the list that are among the files to be run."""
    lines = (line.partition("#")[0].strip() for line in listing.read_text().splitlines())
    names = {line for line in lines if line}
    unknown = names - {path.name for path in _chosen([])}
    if unknown:
        parser.error(f"{listing}: not in the suite: {', '.join(sorted(unknown))}")
    return names & {path.name for path in paths}


def _list(paths):
    total = 0
    for path in paths:
        document = suite.load(path)
        count = len(document["tests"])
        total += count
        print(f"{path.name:48} {count:4}  {suite.fixture_of(document)}")
    print(f"{total} tests in {len(paths)} files")
    return 0


def _run(paths, options, home):
    """The reports in the order in which they come, the largest files begun first."""
    size = {path: path.stat().st_size for path in paths}
    ordered = sorted(paths, key=size.get, reverse=True)
    places = (home / path.stem for path in ordered)
    command, seconds = itertools.repeat(options.server), itertools.repeat(options.start_seconds)
    with futures.ProcessPoolExecutor(max_workers=max(options.jobs, 1)) as pool:
        jobs = zip(ordered, command, places, seconds)
        asked = [pool.submit(suite.run, *job) for job in jobs]
        for done in futures.as_completed(asked):
            yield done.result()


def _say(report):
    print(f"{report.file} {report.passed}/{len(report.outcomes)}", flush=True)
    for outcome in report.outcomes:
        if outcome.fault:
            print(f"  FAIL {outcome.name}: {outcome.fault}", flush=True)


def _conclude(reports, expected):
    """Says what matters of the whole; gives the exit status."""
    whole = {name for name, report in reports.items() if report.is_whole}
    if expected is None:
        is_fine = len(whole) == len(reports)
    else:
        broken, more = sorted(expected - whole), sorted(whole - expected)
        for name in broken:
            print(f"must pass whole and does not: {name}")
        for name in more:
            print(f"passes whole and may be listed: {name}")
        is_fine = not broken
    passed = sum(report.passed for report in reports.values())
    total = sum(len(report.outcomes) for report in reports.values())
    sys.stdout.flush()
    print(f"{passed} passed, {total - passed} failed")
    return 0 if is_fine else 1
