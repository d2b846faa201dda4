"""Databases for one check: a file, or one of its own on a server."""
import contextlib
import os
import uuid

import sqlalchemy

KINDS = {
    "sqlite": None,
    "mariadb": ("STOWPLAN_TEST_MARIADB_URL", "mysql+pymysql"),
    "postgresql": ("STOWPLAN_TEST_POSTGRES_URL", "postgresql+psycopg2"),
}

# The reference's tables take the database's encoding, and a server's own default
# may be one that cannot hold every name.
UNICODE = {
    "mariadb": "CHARACTER SET utf8mb4",
    "postgresql": "TEMPLATE template0 ENCODING 'UTF8'",
}


def available():
    """The kinds that can be checked here."""
    return [kind for kind, server in KINDS.items() if server is None or os.environ.get(server[0])]


@contextlib.contextmanager
def fresh(kind, file):
    """The address of an empty database, as placement.conf has it."""
    if KINDS[kind] is None:
        yield f"sqlite:///{file}"
        return
    variable, driver = KINDS[kind]
    server = sqlalchemy.make_url(os.environ[variable]).set(drivername=driver)
    name = f"stowplan_import_{uuid.uuid4().hex}"
    _administer(server, f"CREATE DATABASE {name} {UNICODE[kind]}")
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        force = " WITH (FORCE)" if kind == "postgresql" else ""
        _administer(server, f"DROP DATABASE {name}{force}")


def _administer(server, statement):
    engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(statement))
    engine.dispose()
