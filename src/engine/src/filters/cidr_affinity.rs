//! `SimpleCIDRAffinityFilter`: the host's address is in a network of the
//! request's.

use std::fmt;
use std::net::IpAddr;

use stowplan_model::pytext;

use crate::fault::{Fault, FaultKind};
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

/// The hint with an address of the network.
const ADDRESS: &str = "build_near_host_ip";
/// The hint with the size of the network, a text put behind the address.
const SIZE: &str = "cidr";
/// The size when the hint is missing.
const DEFAULT_SIZE: &str = "/24";

/// Fails hosts whose IP address is not in the network around the hint
/// `build_near_host_ip`. Addresses of another version are never inside.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimpleCidrAffinityFilter;

impl Filter for SimpleCidrAffinityFilter {
    fn name(&self) -> &'static str {
        "SimpleCIDRAffinityFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let request = cx.request.request();
        let near = request.hint(ADDRESS);
        if near.is_empty() || near == [""] {
            return Ok(None);
        }
        let near = one(ADDRESS, near)?;
        let size = match request.scheduler_hints.get(SIZE) {
            None => DEFAULT_SIZE,
            Some(size) => one(SIZE, size)?,
        };
        let text = format!("{near}{size}");
        let network = Network::parse(&text).ok_or_else(|| {
            Fault::new(
                FaultKind::Address,
                format!(
                    "hints {ADDRESS} and {SIZE} make \"{text}\": expected a network such as \
                     192.0.2.1/24"
                ),
            )
        })?;
        Ok(Some(Box::new(Near(network))))
    }
}

/// The one text of a hint.
fn one<'a>(hint: &str, values: &'a [String]) -> Result<&'a str, Fault> {
    match values {
        [value] => Ok(value),
        _ => Err(Fault::new(
            FaultKind::Type,
            format!("hint {hint} has {} values: expected one", values.len()),
        )),
    }
}

/// A network: an address and the bits of it that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    /// Reads an address, alone or with a prefix length, netmask or hostmask
    /// behind a slash.
    fn parse(text: &str) -> Option<Self> {
        let (address, size) = match text.split_once('/') {
            Some((address, size)) => (address, Some(size)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let width = width(address);
        let prefix = match size {
            None => width,
            Some(size) => match pytext::int(size) {
                Some(prefix) => u32::try_from(prefix).ok()?,
                None => mask(size.parse().ok()?, width)?,
            },
        };
        (prefix <= width).then_some(Self { address, prefix })
    }

    fn contains(&self, other: IpAddr) -> bool {
        let width = width(self.address);
        let same_version = self.address.is_ipv4() == other.is_ipv4();
        let shift = width - self.prefix;
        let net = |address| bits(address).checked_shr(shift).unwrap_or(0);
        same_version && net(self.address) == net(other)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

const fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The prefix length that a netmask or hostmask stands for.
fn mask(mask: IpAddr, width: u32) -> Option<u32> {
    if self::width(mask) != width {
        return None;
    }
    let all = u128::MAX >> (128 - width);
    let ones = |bits: u128| bits.count_ones();
    let set = bits(mask);
    let is_hostmask = |bits: u128| bits & bits.wrapping_add(1) == 0;
    if is_hostmask(!set & all) {
        Some(ones(set))
    } else if is_hostmask(set) {
        Some(width - ones(set))
    } else {
        None
    }
}

struct Near(Network);

impl Predicate for Near {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let facts = view.facts(host);
        let text = facts.host_ip.as_deref();
        let address: IpAddr = text.and_then(|text| text.parse().ok()).ok_or_else(|| {
            Fault::new(
                FaultKind::Address,
                format!(
                    "host_ip of host {} is {}: expected an IP address",
                    facts.host,
                    text.map_or_else(|| "null".to_owned(), |text| format!("\"{text}\""))
                ),
            )
        })?;
        Ok(if self.0.contains(address) {
            Verdict::Pass
        } else {
            Verdict::Fail(Reason::AddressOutside { address, network: self.0.to_string() })
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn networks_are_read_with_prefixes_and_masks() {
        for (text, prefix) in [
            ("10.0.1.9/24", 24),
            ("10.0.1.9", 32),
            ("10.0.1.9/ 8", 8),
            ("10.0.1.9/255.255.0.0", 16),
            ("10.0.1.9/0.0.0.255", 24),
            ("fd00::1/64", 64),
            ("10.0.1.9/0", 0),
        ] {
            assert_eq!(Network::parse(text).map(|n| n.prefix), Some(prefix), "{text}");
        }
        for text in ["10.0.1/24", "10.0.1.9/33", "10.0.1.9/-1", "10.0.1.9/a", "x/24", "1.2.3.4/"] {
            assert_eq!(Network::parse(text), None, "{text}");
        }
        assert_eq!(Network::parse("10.0.1.9/255.0.255.0"), None);
    }

    #[test]
    fn inside_is_by_the_leading_bits_of_one_version() {
        let inside = |network: &str, address: &str| {
            Network::parse(network).unwrap().contains(address.parse().unwrap())
        };
        assert!(inside("10.0.1.9/24", "10.0.1.200"));
        assert!(!inside("10.0.1.9/24", "10.0.2.9"));
        assert!(inside("10.0.1.9/0", "192.0.2.1"));
        assert!(inside("::/0", "fd00::1"));
        assert!(!inside("::/0", "10.0.0.1"));
        assert!(inside("fd00::1/127", "fd00::"));
    }
}
