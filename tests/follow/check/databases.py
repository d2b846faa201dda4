"""Databases of Nova's, made by nova-manage: files, or databases of one server."""
import contextlib
import os
import subprocess
import sys
import uuid
from pathlib import Path

import sqlalchemy

NAMES = ("api", "cell1", "cell2")
KINDS = {"sqlite": None, "mariadb": "STOWPLAN_TEST_MARIADB_URL"}
MANAGE = Path(sys.prefix) / "bin" / "nova-manage"


def available():
    """The kinds that can be checked here."""
    return [kind for kind, variable in KINDS.items()
            if variable is None or os.environ.get(variable)]


@contextlib.contextmanager
def fresh(kind, folder):
    """The addresses of an API database and two of cells, with Nova's schema."""
    with _empty(kind, folder) as addresses:
        _sync(folder, addresses)
        yield addresses


@contextlib.contextmanager
def _empty(kind, folder):
    if kind == "sqlite":
        yield {name: f"sqlite:///{folder}/{name}.db" for name in NAMES}
        return
    server = sqlalchemy.make_url(os.environ[KINDS[kind]]).set(drivername="mysql+pymysql")
    prefix = f"stowplan_follow_{uuid.uuid4().hex[:8]}"
    with _administrator(server) as administer:
        for name in NAMES:
            administer(f"CREATE DATABASE {prefix}_{name} CHARACTER SET utf8")
    try:
        yield {name: server.set(database=f"{prefix}_{name}").render_as_string(False)
               for name in NAMES}
    finally:
        with _administrator(server) as administer:
            for name in NAMES:
                administer(f"DROP DATABASE {prefix}_{name}")


@contextlib.contextmanager
def _administrator(server):
    engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield lambda statement: connection.execute(sqlalchemy.text(statement))
    engine.dispose()


def _sync(folder, addresses):
    for cell in ("cell1", "cell2"):
        config = folder / f"{cell}.conf"
        config.write_text(
            "[DEFAULT]\ntransport_url = fake://\n"
            f"[database]\nconnection = {addresses[cell]}\n"
            f"[api_database]\nconnection = {addresses['api']}\n")
        commands = [["db", "sync", "--local_cell"]]
        if cell == "cell1":
            commands.append(["api_db", "sync"])
        for command in commands:
            subprocess.run([MANAGE, "--config-file", config, *command], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           env={**os.environ, "OS_NOVA_DISABLE_EVENTLET_PATCHING": "true"})
