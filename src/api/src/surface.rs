//! Which of the surfaces a path belongs to.

use stowplan_config::Api;

/// A part of the HTTP service with its own manners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The Placement API.
    Placement {
        /// Whether the path begins with `[api] placement_prefix`.
        prefixed: bool,
        /// Whether it is the root, which needs no token.
        root: bool,
    },
    /// The compute API's calls under `/v2.1`.
    Compute {
        /// Whether the path begins with `[api] compute_prefix`.
        prefixed: bool,
        /// Whether it is a document of versions, which needs no token.
        root: bool,
    },
    /// Our own calls under `/v1`.
    Native,
    /// Probes and documentation: no token.
    Public,
}

/// Where the compute API is served.
pub const COMPUTE: &str = "/v2.1";

/// Paths that need no token.
const PUBLIC: [&str; 6] = ["/docs", "/openapi.json", "/ui", "/healthz", "/readyz", "/metrics"];

impl Surface {
    /// The surface of a path, by its first part.
    #[must_use]
    pub fn of(path: &str, api: &Api) -> Self {
        if within(path, "/v1") {
            return Self::Native;
        }
        let rest = prefixed(path, &api.compute_prefix);
        if rest.is_some() || within(path, COMPUTE) {
            let inner = rest.unwrap_or(path);
            let root = matches!(inner.strip_prefix(COMPUTE).unwrap_or(inner), "" | "/");
            return Self::Compute { prefixed: rest.is_some(), root };
        }
        if PUBLIC.iter().any(|prefix| within(path, prefix)) {
            return Self::Public;
        }
        let rest = prefixed(path, &api.placement_prefix);
        let root = matches!(rest.unwrap_or(path), "" | "/");
        Self::Placement { prefixed: rest.is_some(), root }
    }
}

impl Surface {
    /// Whether a path of this surface needs no token.
    #[must_use]
    pub fn is_open(self) -> bool {
        match self {
            Self::Public => true,
            Self::Placement { root, .. } | Self::Compute { root, .. } => root,
            Self::Native => false,
        }
    }

    /// Whether the path begins with the prefix of the surface.
    #[must_use]
    pub fn is_prefixed(self) -> bool {
        match self {
            Self::Placement { prefixed, .. } | Self::Compute { prefixed, .. } => prefixed,
            Self::Public | Self::Native => false,
        }
    }
}

/// A prefix as it is mounted: with a slash before it and none after it.
#[must_use]
pub fn mount(prefix: &str) -> String {
    let inner = prefix.trim_matches('/');
    if inner.is_empty() { String::new() } else { format!("/{inner}") }
}

fn prefixed<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let inner = prefix.trim_matches('/');
    if inner.is_empty() {
        return None;
    }
    let rest = path.strip_prefix('/')?.strip_prefix(inner)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

fn within(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_their_surfaces() {
        let api = Api {
            placement_prefix: "/placement/".to_owned(),
            compute_prefix: "/compute".to_owned(),
            ..Api::default()
        };
        let compute = |prefixed, root| Surface::Compute { prefixed, root };
        let placement = |prefixed, root| Surface::Placement { prefixed, root };
        for (path, surface) in [
            ("/", placement(false, true)),
            ("/traits", placement(false, false)),
            ("/placement", placement(true, true)),
            ("/placement/", placement(true, true)),
            ("/placement/traits", placement(true, false)),
            ("/placements", placement(false, false)),
            ("/v1/hosts", Surface::Native),
            ("/v1", Surface::Native),
            ("/v10", placement(false, false)),
            ("/v2.1/os-aggregates", compute(false, false)),
            ("/v2.1/", compute(false, true)),
            ("/v2.1", compute(false, true)),
            ("/v2.10", placement(false, false)),
            ("/compute", compute(true, true)),
            ("/compute/", compute(true, true)),
            ("/compute/v2.1/", compute(true, true)),
            ("/compute/v2.1/os-services", compute(true, false)),
            ("/compute/elsewhere", compute(true, false)),
            ("/docs/index.html", Surface::Public),
            ("/healthz", Surface::Public),
            ("/healthzz", placement(false, false)),
        ] {
            assert_eq!(Surface::of(path, &api), surface, "{path}");
        }
    }
}
