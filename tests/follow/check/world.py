"""A small cloud in Nova's databases: two cells, three hosts, some servers."""
import sqlalchemy

from . import rows

CELLS = {"cell1": "11111111-aaaa-4aaa-8aaa-111111111111",
         "cell2": "22222222-aaaa-4aaa-8aaa-222222222222"}
HOSTS = {"cell1": ["cmp-1", "cmp-2"], "cell2": ["cmp-3"]}
TEMPLATE = "{scheme}://{username}:{password}@{hostname}:{port}/"


class World:
    """The databases, and what was put into them first."""

    def __init__(self, addresses):
        self.addresses = addresses
        self.api, self.cell1, self.cell2 = (
            rows.Database(addresses[name]) for name in ("api", "cell1", "cell2"))
        self.server = rows.server("cmp-1", display_name="first")

    def fill(self):
        """Makes everything."""
        self.api.insert("cell_mappings", self._mapping(
            "cell0", "00000000-0000-0000-0000-000000000000", "mysql://nobody/cell0"))
        for name, uuid in CELLS.items():
            self.map(name, uuid)
        for name, hosts in HOSTS.items():
            cell = getattr(self, name)
            for host in hosts:
                cell.insert("services", rows.service(host))
                cell.insert("compute_nodes", rows.compute_node(host))
        self.cell1.insert("instances", self.server)
        for name, value in (("os_distro", "linux"), ("hw_machine_type", "q35"),
                            ("min_ram", "0"), ("base_image_ref", "x"), ("my_own", "x")):
            self.cell1.insert("instance_system_metadata", rows.image_property(
                self.server["uuid"], name, value))
        self.cell1.insert("instances", rows.server("cmp-1", deleted=77), )
        self.api.insert("aggregates", {"id": 7, "name": "ssd", "created_at": rows.now(),
                                       "uuid": "0000000f-0000-4000-8000-00000000000f"})
        self.join("cmp-1")
        self.join("cmp-9")
        self.api.insert("aggregate_metadata", {"aggregate_id": 7, "key": "availability_zone",
                                               "value": "z1", "created_at": rows.now()})

    def join(self, host):
        """Adds a host to the aggregate."""
        self.api.insert("aggregate_hosts", {"aggregate_id": 7, "host": host,
                                            "created_at": rows.now()})

    def map(self, name, uuid):
        """Maps a cell; on a server by a template."""
        address = self.addresses[name]
        url = sqlalchemy.make_url(address)
        if url.host:
            address = TEMPLATE + url.database
        self.api.insert("cell_mappings", self._mapping(name, uuid, address))

    @staticmethod
    def _mapping(name, uuid, address):
        return {"created_at": rows.now(), "uuid": uuid, "name": name, "disabled": False,
                "transport_url": "fake://", "database_connection": address}
