//! The recorded cluster on the server: hosts reported and kept alive, and what
//! the server says is in use.
//!
//! CPU is counted in thousandths of a core throughout: one unit of VCPU stands
//! for a thousandth, so that nothing is lost by rounding. MEMORY_MB is MiB, as
//! recorded. Each GPU is a device of its host, a child provider with
//! CUSTOM_GPU_MILLI 1000 and the trait of its model.

use super::{
    books::Books,
    openb::{Node, WHOLE_GPU},
};
use crate::http::Client;
use anyhow::{anyhow, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    thread,
};
use uuid::Uuid;

/// The class of shares of GPUs.
pub const GPU_MILLI: &str = "CUSTOM_GPU_MILLI";
/// Connections that ask for usages at once.
const ASKERS: usize = 4;

/// What a provider of the server stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node, by its place.
    Node(usize),
    /// A GPU: its node, and its number there.
    Gpu(usize, usize),
}

/// The cluster as the server knows it.
#[derive(Debug)]
pub struct Cluster {
    parts: HashMap<Uuid, Part>,
    names: HashMap<String, Part>,
}

/// The trait of a model of GPU.
pub fn model_trait(model: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("CUSTOM_GPU_{}", model.chars().map(plain).collect::<String>())
}

/// The report of a node, as a host.
fn report(node: &Node) -> Value {
    let devices: Vec<Value> = (0..node.gpus)
        .map(|number| {
            json!({
                "name": device(number),
                "resource_class": GPU_MILLI,
                "total": WHOLE_GPU,
                "traits": [model_trait(&node.model)],
            })
        })
        .collect();
    json!({
        "vcpus": node.cpu_milli,
        "memory_mb": node.memory_mib,
        "inventory": {
            "VCPU": {"total": node.cpu_milli, "max_unit": node.cpu_milli},
            "MEMORY_MB": {"total": node.memory_mib, "max_unit": node.memory_mib},
        },
        "devices": devices,
        // Servers alone: no bound on batch tasks is needed.
        "max_tasks": 0,
        "unschedulable": true,
    })
}

fn device(number: usize) -> String {
    format!("gpu-{number}")
}

#[derive(Deserialize)]
struct Providers {
    resource_providers: Vec<Provider>,
}

#[derive(Deserialize)]
struct Provider {
    uuid: Uuid,
    name: String,
}

#[derive(Deserialize)]
struct Usages {
    usages: BTreeMap<String, i64>,
}

impl Cluster {
    /// Reports every node. `tell` is called after each.
    ///
    /// # Errors
    /// When the server refuses a report, or holds providers besides these.
    pub fn report(client: &Client, nodes: &[Node], tell: impl Fn()) -> anyhow::Result<Self> {
        for node in nodes {
            client.put(&format!("/v1/hosts/{}", node.name), &report(node))?.demand()?;
            tell();
        }
        let mut names = HashMap::new();
        for (place, node) in nodes.iter().enumerate() {
            names.insert(node.name.clone(), Part::Node(place));
            for number in 0..node.gpus {
                let name = format!("{}_{}", node.name, device(number));
                names.insert(name, Part::Gpu(place, number));
            }
        }
        let listed: Providers = client.get("/resource_providers")?.demand()?.json()?;
        let mut parts = HashMap::with_capacity(listed.resource_providers.len());
        for provider in listed.resource_providers {
            let Some(part) = names.get(&provider.name).copied() else {
                bail!(
                    "the server has the resource provider {} ({}), which is not of these nodes: \
                     replay needs a server of its own",
                    provider.name,
                    provider.uuid
                );
            };
            parts.insert(provider.uuid, part);
        }
        if parts.len() < names.len() {
            bail!("the server has {} of {} resource providers", parts.len(), names.len());
        }
        Ok(Self { parts, names })
    }

    /// What a provider stands for.
    ///
    /// # Errors
    /// When it is none of these nodes'.
    pub fn part(&self, provider: Uuid) -> anyhow::Result<Part> {
        self.parts
            .get(&provider)
            .copied()
            .ok_or_else(|| anyhow!("provider {provider} is none of these nodes'"))
    }

    /// What a provider of this name stands for.
    pub fn part_named(&self, name: &str) -> Option<Part> {
        self.names.get(name).copied()
    }

    /// How many providers there are.
    pub fn providers(&self) -> usize {
        self.parts.len()
    }

    /// Asks every provider what is in use of it, and compares that with the
    /// books. Gives what differs.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn differences(&self, client: &Client, books: &Books) -> anyhow::Result<Vec<String>> {
        let mut providers: Vec<(Uuid, Part)> =
            self.parts.iter().map(|(uuid, part)| (*uuid, *part)).collect();
        providers.sort_by_key(|(uuid, _)| *uuid);
        let share = providers.len().div_ceil(ASKERS).max(1);
        let asked: Vec<anyhow::Result<Vec<String>>> = thread::scope(|scope| {
            let askers: Vec<_> = providers
                .chunks(share)
                .map(|share| scope.spawn(move || differing(client, books, share)))
                .collect();
            let broke = |_| Err(anyhow!("a thread broke off"));
            askers.into_iter().map(|asker| asker.join().unwrap_or_else(broke)).collect()
        });
        Ok(asked.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
    }
}

fn differing(
    client: &Client,
    books: &Books,
    providers: &[(Uuid, Part)],
) -> anyhow::Result<Vec<String>> {
    let mut differing = Vec::new();
    for (uuid, part) in providers {
        let path = format!("/resource_providers/{uuid}/usages");
        let Usages { mut usages } = client.get(&path)?.demand()?.json()?;
        usages.retain(|_, used| *used != 0);
        let expected = expected(books, *part);
        if usages != expected {
            differing.push(format!("{part:?} {uuid}: usages {usages:?}, claims {expected:?}"));
        }
    }
    Ok(differing)
}

/// What the books say is in use of a part, as usages without zeros.
fn expected(books: &Books, part: Part) -> BTreeMap<String, i64> {
    let node = match part {
        Part::Node(node) | Part::Gpu(node, _) => node,
    };
    let Some(used) = books.used_of(node) else { return BTreeMap::new() };
    let amounts = match part {
        Part::Node(_) => vec![("VCPU", used.cpu_milli), ("MEMORY_MB", used.memory_mib)],
        Part::Gpu(_, number) => {
            vec![(GPU_MILLI, used.gpus.get(number).map_or(0, |(_, used)| *used))]
        }
    };
    amounts
        .into_iter()
        .filter(|(_, used)| *used != 0)
        .map(|(class, used)| (class.to_owned(), used))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_of_models_have_the_form_of_traits() {
        assert_eq!(model_trait("V100M16"), "CUSTOM_GPU_V100M16");
        assert_eq!(model_trait("rtx 4090-d"), "CUSTOM_GPU_RTX_4090_D");
    }

    #[test]
    fn expected_usages_have_no_zeros() {
        let node = Node {
            name: "n".to_owned(),
            cpu_milli: 10,
            memory_mib: 10,
            gpus: 1,
            model: "T4".to_owned(),
        };
        let books = Books::new(vec![node]);
        assert!(expected(&books, Part::Node(0)).is_empty());
        assert!(expected(&books, Part::Gpu(0, 0)).is_empty());
    }
}
