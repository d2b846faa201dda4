//! Explanations as they are stored: weights by weigher, not by host. Most weighers
//! say the same of all hosts, and what they say is then written once; as they are
//! shown it would be most of what a decision costs.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use stowplan_engine::Explanation;
use stowplan_engine::explain::{WeightPart, WeightRow, WeightTable};

use super::body::InstanceRecord;

/// Where stored weights have their columns; shown ones have `parts` in each host.
const COLUMNS: &str = "columns";
const PARTS: &str = "parts";

/// Writes the servers of a body in the stored form.
pub(super) fn servers<S: Serializer>(
    servers: &[InstanceRecord],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(servers.iter().map(Server::of))
}

/// An [`InstanceRecord`] in the stored form.
#[derive(Serialize)]
struct Server<'a> {
    instance_uuid: &'a uuid::Uuid,
    host: &'a Option<String>,
    node: &'a Option<String>,
    exhausted: &'a [String],
    more_exhausted: usize,
    explanation: Packed<'a>,
}

impl<'a> Server<'a> {
    fn of(server: &'a InstanceRecord) -> Self {
        let InstanceRecord { instance_uuid, host, node, exhausted, more_exhausted, explanation } =
            server;
        let explanation = Packed(explanation);
        Self { instance_uuid, host, node, exhausted, more_exhausted: *more_exhausted, explanation }
    }
}

/// An [`Explanation`] in the stored form.
struct Packed<'a>(&'a Explanation);

impl Serialize for Packed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Explanation {
            hosts,
            preselection,
            hint,
            filters,
            survivors,
            weights,
            draw,
            findings,
            more_findings,
        } = self.0;
        let mut fields = serializer.serialize_struct("Explanation", 9)?;
        fields.serialize_field("hosts", hosts)?;
        fields.serialize_field("preselection", preselection)?;
        fields.serialize_field("hint", hint)?;
        fields.serialize_field("filters", filters)?;
        fields.serialize_field("survivors", survivors)?;
        fields.serialize_field("weights", &PackedWeights(weights))?;
        fields.serialize_field("draw", draw)?;
        fields.serialize_field("findings", findings)?;
        fields.serialize_field("more_findings", more_findings)?;
        fields.end()
    }
}

/// A [`WeightTable`] in the stored form.
struct PackedWeights<'a>(&'a WeightTable);

impl Serialize for PackedWeights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WeightTable { normalization, hosts, more_hosts, warnings } = self.0;
        let width = hosts.first().map_or(0, |host| host.parts.len());
        if hosts.iter().any(|host| host.parts.len() != width) {
            return self.0.serialize(serializer);
        }
        let mut fields = serializer.serialize_struct("WeightTable", 5)?;
        fields.serialize_field("normalization", normalization)?;
        fields.serialize_field("hosts", &Hosts(hosts))?;
        let columns: Vec<Column<'_>> = (0..width).map(|at| Column { hosts, at }).collect();
        fields.serialize_field(COLUMNS, &columns)?;
        fields.serialize_field("more_hosts", more_hosts)?;
        fields.serialize_field("warnings", warnings)?;
        fields.end()
    }
}

/// Hosts without their parts.
struct Hosts<'a>(&'a [WeightRow]);

impl Serialize for Hosts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// A [`WeightRow`] without its parts.
        #[derive(Serialize)]
        struct Host<'a, W> {
            host: &'a str,
            node: &'a str,
            weight: &'a W,
        }
        serializer.collect_seq(self.0.iter().map(|row| {
            let WeightRow { host, node, weight, parts: _ } = row;
            Host { host, node, weight }
        }))
    }
}

/// What one weigher says of all hosts: each field once where it is the same of all,
/// or as a list.
struct Column<'a> {
    hosts: &'a [WeightRow],
    at: usize,
}

impl Column<'_> {
    fn field<T: Serialize + PartialEq, M: SerializeMap>(
        &self,
        map: &mut M,
        name: &str,
        of: impl Fn(&WeightPart) -> &T,
    ) -> Result<(), M::Error> {
        let all: Vec<&T> = self.hosts.iter().map(|host| of(&host.parts[self.at])).collect();
        if all.windows(2).all(|two| two[0] == two[1]) {
            map.serialize_entry(name, &all.first())
        } else {
            map.serialize_entry(name, &all)
        }
    }
}

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.field(&mut map, "weigher", |part| &part.weigher)?;
        self.field(&mut map, "raw", |part| &part.raw)?;
        self.field(&mut map, "normalized", |part| &part.normalized)?;
        self.field(&mut map, "multiplier", |part| &part.multiplier)?;
        self.field(&mut map, "source", |part| &part.source)?;
        self.field(&mut map, "product", |part| &part.product)?;
        map.end()
    }
}

/// Turns a stored body into the shown form.
pub(super) fn unpack(body: &mut Value) {
    let servers = body.get_mut("servers").and_then(Value::as_array_mut);
    for server in servers.into_iter().flatten() {
        if let Some(Value::Object(weights)) = server.pointer_mut("/explanation/weights") {
            unpack_weights(weights);
        }
    }
}

fn unpack_weights(weights: &mut Map<String, Value>) {
    let Some(Value::Array(columns)) = weights.remove(COLUMNS) else { return };
    let hosts = weights.get_mut("hosts").and_then(Value::as_array_mut);
    for (place, host) in hosts.into_iter().flatten().enumerate() {
        let of_host = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::Array(all) => all.get(place).cloned().unwrap_or_default(),
                same => same.clone(),
            };
            (name.clone(), value)
        };
        let part = |column: &Value| -> Value {
            Value::Object(column.as_object().into_iter().flatten().map(of_host).collect())
        };
        host[PARTS] = columns.iter().map(part).collect();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;
    use stowplan_engine::overrides::Source;
    use stowplan_engine::score::Score;

    fn row(host: &str, raw: [f64; 2]) -> WeightRow {
        let part = |weigher, raw: f64| WeightPart {
            weigher,
            raw: Score(raw),
            normalized: Score(raw / 4.0),
            multiplier: Score(1.0),
            source: Source::Option { option: "filter_scheduler.ram_weight_multiplier" },
            product: Score(raw / 4.0),
        };
        WeightRow {
            host: host.to_owned(),
            node: host.to_owned(),
            weight: Score(1.5),
            parts: vec![part("RAMWeigher", raw[0]), part("CPUWeigher", raw[1])],
        }
    }

    fn table(hosts: Vec<WeightRow>) -> WeightTable {
        WeightTable { normalization: "min_max", hosts, more_hosts: 7, warnings: vec!["w".into()] }
    }

    #[test]
    fn what_is_stored_is_shown_as_it_was() {
        let none = |mut row: WeightRow| {
            row.parts.clear();
            row
        };
        for hosts in [
            vec![],
            vec![row("a", [1.0, 2.0])],
            vec![row("a", [1.0, 0.0]), row("b", [4.0, 0.0]), row("c", [4.0, -0.0])],
            vec![none(row("a", [0.0, 0.0]))],
            vec![none(row("a", [0.0, 0.0])), row("b", [4.0, 0.0])],
        ] {
            let table = table(hosts);
            let stored = serde_json::to_value(PackedWeights(&table)).unwrap();
            let weights = |weights: Value| json!({"explanation": {"weights": weights}});
            let mut body = json!({"servers": [weights(stored)]});
            unpack(&mut body);
            let shown = serde_json::to_value(&table).unwrap();
            assert_eq!(body["servers"][0], weights(shown));
        }
    }

    #[test]
    fn what_is_the_same_of_all_hosts_is_stored_once() {
        let hosts = vec![row("a", [1.0, 0.0]), row("b", [4.0, 0.0])];
        let stored = serde_json::to_value(PackedWeights(&table(hosts))).unwrap();
        assert_eq!(stored["hosts"][0], json!({"host": "a", "node": "a", "weight": 1.5}));
        assert_eq!(stored[COLUMNS][0]["raw"], json!([1.0, 4.0]));
        assert_eq!(stored[COLUMNS][1]["raw"], json!(0.0));
        assert_eq!(stored[COLUMNS][1]["weigher"], "CPUWeigher");
    }
}
