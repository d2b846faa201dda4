"""The command line: which files, and how each came out."""
import argparse
import fnmatch
import tempfile
from pathlib import Path

from harness.rest import Admin, Connection
from harness.server import HOST, NotStarted, Server

from . import cases, openstack_cli, sdk, surfaces

MAX_SHOWN = 500  # characters of a fault

def main():
    """Runs what was asked for; gives the exit status."""
    options = _parser().parse_args()
    paths = [path for path in cases.files()
             if any(fnmatch.fnmatch(path.stem, glob) for glob in options.files or ["*"])]
    passed, failed = 0, 0
    covered = {surface: (set(), set()) for surface in (surfaces.PLACEMENT, surfaces.COMPUTE)}
    with tempfile.TemporaryDirectory(prefix="clients-") as home:
        for path in paths:
            faults, count, ran = _run(path, options, Path(home) / path.stem)
            for whole, part in zip(covered[surfaces.of(path)], ran):
                whole |= part
            passed += count - len(faults)
            failed += len(faults)
            print(f"{path.stem} {count - len(faults)}/{count}")
            for fault in faults:
                print("  FAIL", " ".join(fault.split())[:MAX_SHOWN])
    for surface, ran in covered.items():
        files = [path for path in cases.files() if surfaces.of(path) == surface]
        missing = _never_run(surface, *ran) if set(files) <= set(paths) else []
        for name in missing:
            print(f"never run: {name}")
        failed += len(missing)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="run", description="Drives a server with the `openstack` command and with "
        "openstacksdk, each file of steps against a fresh server.")
    parser.add_argument(
        "--server", metavar="COMMAND", required=True, help="starts the server; {config} stands "
        "for its INI file, {host} and {port} for where it listens")
    parser.add_argument("--start-seconds", metavar="N", type=float, default=30,
                        help="how long a server may take to start (30)")
    parser.add_argument("files", metavar="GLOB", nargs="*",
                        help="names of files of steps, such as 'alloc*' (all)")
    return parser


def _run(path, options, folder):
    """What failed, how many steps there are, and what was run."""
    steps, surface = cases.read(path), surfaces.of(path)
    folder.mkdir()
    try:
        with Server(options.server, folder, {}, options.start_seconds) as server:
            url = f"http://{HOST}:{server.port}"
            command = openstack_cli.CommandLine(url, surface)
            proxy, admin = sdk.Sdk(url, surface), Admin(Connection(HOST, server.port))
            faults = [f"{step.title}: {fault}" for step in steps
                      if (fault := _fault(step, command, proxy, admin))]
            return faults, len(steps), (command.ran, proxy.ran)
    except NotStarted as error:
        return [f"{step.title}: {error}" for step in steps], len(steps), (set(), set())


def _fault(step, command, proxy, admin):
    """What is wrong with the outcome of a step; nothing if it is as it must be."""
    if step.openstack:
        status, found, complaint = command.run(step.openstack, step.api)
        refusal = complaint if status else None
    elif step.send:
        method, path = step.send.split()
        found, refusal = admin.call(method, path, step.body), None
    else:
        try:
            found, refusal = proxy.call(step.sdk, step.args, step.options), None
        except Exception as error:  # whatever a client raises is an outcome
            found, refusal = None, f"{type(error).__name__}: {error}"
    if step.fails is None and refusal is not None:
        return f"refused: {refusal.strip()}"
    if step.fails is not None and refusal is None:
        return f"not refused, gave {found!r}"
    if step.fails is not None:
        return None if step.fails in refusal else f"wanted {step.fails!r} in: {refusal.strip()}"
    return None if cases.is_match(step.gives, found) else f"wanted {step.gives!r}, got {found!r}"


def _never_run(surface, commands, calls):
    """What the clients can do with an API and no step does."""
    names = [f"openstack {' '.join(name)}"
             for name in openstack_cli.commands(surface).keys() - commands]
    return sorted(names + [f"sdk {name}" for name in sdk.calls(surface) - calls])
