"""One table of what it takes to place servers: in process, as criterion
measured it, and over HTTP, as the load tool did.

placing.py CRITERION HOSTS=FILE...   (FILE: rows of `stowplan-load --json`)
"""
import json
import sys
from pathlib import Path

criterion, loads = Path(sys.argv[1]), [pair.split("=", 1) for pair in sys.argv[2:]]


def median(group, function, hosts):
    """Milliseconds; none if it was not measured."""
    path = criterion / group / function / str(hosts) / "new" / "estimates.json"
    if path.exists():
        return json.loads(path.read_text())["median"]["point_estimate"] / 1e6
    return None


def row(what, hosts, ms, more=""):
    print(f"{what:66}{hosts:>8}{ms:>12.3f}{more}")


print(f"{'':66}{'hosts':>8}{'p50 ms':>12}{'per second':>13}{'CPU ms each':>13}")
for hosts in (1000, 10_000, 100_000):
    for group in ("pipeline", "affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity", "overrides"):
        parts = [median(group, part, hosts) for part in ("decide", "explain")]
        if None not in parts:
            what = {"pipeline": "plain", "overrides": "aggregates override"}.get(group, group)
            row(f"in process: one choice with its explanation, {what}", hosts, sum(parts))
    many = median("servers of one request", "100", hosts)
    if many is not None:
        row("in process: 100 servers of one request, 2 alternates", hosts, many)
for hosts, path in loads:
    for line in Path(path).read_text().splitlines():
        if not line.startswith("{"):
            continue
        told = json.loads(line)
        measured = told["servers"][0]
        cpu = measured["cpu_us_each"]
        cpu = "-" if cpu is None else f"{cpu / 1000:.3f}"
        row(f"over HTTP: {told['row']}", hosts, measured["p50_us"] / 1000, f"{measured['per_second']:>13.1f}{cpu:>13}")
