"""What following costs: the first reading, a change, and the time between."""
import os
import threading
import time
from pathlib import Path

from harness.server import HOST, Server

from . import cloud, rows
from .world import CELLS, World

SERVERS = 5  # on each node
IDLE_SECONDS = 30
TICKS = os.sysconf("SC_CLK_TCK")


def measure(command, folder, addresses, nodes, kind):
    """Prints the figures."""
    stage = World(addresses)
    for name, uuid in CELLS.items():
        stage.map(name, uuid)
        _fill(getattr(stage, name), name, nodes)
    config = {"nova": {"api_database": addresses["api"]}, "DEFAULT": {"service_down_time": 86400}}
    with Server(command, folder, config, 60) as server:
        seen, began = cloud.Cloud(HOST, server.port), time.monotonic()
        cloud.wait(lambda: _known(seen) == 2 * nodes, 600)
        print(f"{kind}: {2 * nodes} nodes, {2 * nodes * SERVERS} servers read in "
              f"{time.monotonic() - began:.1f} s, {_cpu(server):.1f} s of processor time", flush=True)
        _idle(server, f"{kind}: right after")
        time.sleep(60)
        _idle(server, f"{kind}: while nothing changes")
        with _Heartbeats(stage, nodes):
            _idle(server, f"{kind}: while all services say every 10 s that they live")
            delays = [_change(stage.cell2, seen, number) for number in range(8)]
        print(f"{kind}: a change is seen after {max(delays):.1f} s at most, "
              f"{sum(delays) / len(delays):.1f} s in the middle", flush=True)


def _fill(cell, name, nodes):
    hosts = [f"{name}-{number:05}" for number in range(nodes)]
    old = rows.now().replace(year=2025)
    cell.insert("services", *(rows.service(host) for host in hosts))
    cell.insert("compute_nodes", *(rows.compute_node(host, updated_at=old) for host in hosts))
    servers = [rows.server(host, updated_at=old) for host in hosts for _ in range(SERVERS)]
    cell.insert("instances", *servers)
    cell.insert("instance_system_metadata", *(
        rows.image_property(server["uuid"], key, value) for server in servers
        for key, value in (("os_distro", "linux"), ("hw_machine_type", "q35"), ("min_ram", "0"))))


def _known(seen):
    told = seen.nova()["databases"]
    return sum(told.get(name, {}).get("known", 0) for name in CELLS)


def _cpu(server):
    fields = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _idle(server, title):
    before = _cpu(server)
    time.sleep(IDLE_SECONDS)
    share = (_cpu(server) - before) / IDLE_SECONDS
    print(f"{title}: {100 * share:.2f} % of one processor", flush=True)


def _change(cell, seen, number):
    host = "cell2-00000"
    time.sleep(0.7 * number)
    cell.update("compute_nodes", {"host": host}, vcpus_used=10 + number, updated_at=rows.now())
    return cloud.wait(
        lambda: seen.host(host)["figures"]["vcpus_used"] == 10 + number, 60) or 60.0


class _Heartbeats:
    """Every service says every ten seconds that it lives, a tenth of them each second."""

    def __init__(self, stage, nodes):
        self._cells, self._nodes = (stage.cell1, stage.cell2), nodes
        self._stop = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=self._beat)
        self._thread.start()

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _beat(self):
        second = 0
        while not self._stop.wait(1):
            second += 1
            for cell in self._cells:
                cell.run("UPDATE services SET report_count = report_count + 1, "
                         f"last_seen_up = '{rows.now()}', updated_at = '{rows.now()}' "
                         f"WHERE id % 10 = {second % 10}")
