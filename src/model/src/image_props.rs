//! Image metadata: the raw properties of a request and their typed form.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::image_props_names::{
    ARCHITECTURES, HYPERVISOR_TYPES, PropKind, RENAMED, VM_MODES, Words, property,
};
use crate::image_props_version::VersionConditions;
use crate::pytext;

/// An image as a request names it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct ImageMeta {
    /// Id; null for a server that boots without an image.
    pub id: Option<String>,
    /// Such as `qcow2`.
    pub disk_format: Option<String>,
    /// Raw properties, older names included, in the order given.
    pub properties: Map<String, Value>,
}

impl ImageMeta {
    /// Traits that the image requires (properties `trait:NAME` = `required`).
    pub fn required_traits(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().filter_map(|(name, value)| {
            name.strip_prefix("trait:").filter(|_| value.as_str() == Some("required"))
        })
    }

    /// The same with only those properties that scheduling reads: others may
    /// hold anything.
    #[must_use]
    pub fn known(&self) -> Self {
        let is_read = |name: &str| name.starts_with("trait:") || is_known(name);
        let known = self.properties.iter().filter(|(name, _)| is_read(name));
        Self {
            properties: known.map(|(name, value)| (name.clone(), value.clone())).collect(),
            ..self.clone()
        }
    }
}

/// Whether a name, older ones included, is that of a property that Nova knows.
#[must_use]
pub fn is_known(name: &str) -> bool {
    name == ADAPTER_TYPE || RENAMED.iter().any(|(old, _)| *old == name) || property(name).is_some()
}

/// An older name that stands for two properties.
const ADAPTER_TYPE: &str = "vmware_adaptertype";

/// The properties of an image under their present names, typed.
///
/// Older names are renamed (when both are set the present one wins) and names
/// that Nova does not know are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageProps(BTreeMap<&'static str, PropValue>);

/// One typed property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropValue {
    /// A text, in canonical form where the property has one.
    Text(String),
    /// A boolean.
    Flag(bool),
    /// A whole number.
    Int(i64),
    /// Conditions on the hypervisor's version.
    Versions(VersionConditions),
}

/// The text that host aggregates and instances are compared with: booleans
/// are `True` and `False`.
impl fmt::Display for PropValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Flag(true) => f.write_str("True"),
            Self::Flag(false) => f.write_str("False"),
            Self::Int(number) => number.fmt(f),
            Self::Versions(versions) => versions.fmt(f),
        }
    }
}

/// An image property whose value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("image property {property} is {value}: expected {expected}")]
pub struct PropError {
    /// The property, as the request names it.
    pub property: String,
    /// Its value, as the request gives it.
    pub value: String,
    /// What it may be.
    pub expected: String,
}

impl ImageProps {
    /// Types the raw properties of an image.
    ///
    /// # Errors
    /// The first property whose value is not of its kind: an unknown
    /// architecture, hypervisor type or VM mode, a number that is none, or
    /// version conditions of another form.
    pub fn typed(raw: &Map<String, Value>) -> Result<Self, PropError> {
        let mut props = BTreeMap::new();
        for (old, new) in RENAMED {
            if let Some(value) = raw.get(*old) {
                insert(&mut props, old, new, value)?;
            }
        }
        if let Some(adapter) = raw.get(ADAPTER_TYPE) {
            let adapter = pytext::str(adapter);
            if adapter == "ide" {
                props.insert("hw_disk_bus", PropValue::Text(adapter));
            } else {
                props.insert("hw_disk_bus", PropValue::Text("scsi".to_owned()));
                props.insert("hw_scsi_model", PropValue::Text(adapter));
            }
        }
        for (name, value) in raw {
            insert(&mut props, name, name, value)?;
        }
        Ok(Self(props))
    }

    /// The property of that (present) name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PropValue> {
        self.0.get(name)
    }

    /// The text of that property, if it is one.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(PropValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The conditions on the hypervisor's version.
    #[must_use]
    pub fn hypervisor_versions(&self) -> Option<&VersionConditions> {
        match self.0.get("img_hv_requested_version") {
            Some(PropValue::Versions(versions)) => Some(versions),
            _ => None,
        }
    }

    /// All properties by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &PropValue)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

/// Types one value; a name that is not known is dropped.
fn insert(
    props: &mut BTreeMap<&'static str, PropValue>,
    given: &str,
    name: &str,
    value: &Value,
) -> Result<(), PropError> {
    let Some((name, kind)) = property(name) else {
        return Ok(());
    };
    let typed = typed(kind, value).map_err(|expected| PropError {
        property: given.to_owned(),
        value: value.to_string(),
        expected,
    })?;
    props.insert(name, typed);
    Ok(())
}

/// The value in its kind, or what was expected.
fn typed(kind: PropKind, value: &Value) -> Result<PropValue, String> {
    let text = pytext::str(value);
    let word = |words: &Words| {
        words
            .canonical(&text)
            .map(|word| PropValue::Text(word.to_owned()))
            .ok_or_else(|| format!("one of {}", words.known.join(", ")))
    };
    match kind {
        PropKind::Text if value.is_null() => Err("a text".to_owned()),
        PropKind::Text => Ok(PropValue::Text(text)),
        PropKind::Flag => Ok(PropValue::Flag(match value {
            Value::Bool(flag) => *flag,
            _ => pytext::flag(&text),
        })),
        PropKind::Int => match value {
            Value::Bool(flag) => Some(i64::from(*flag)),
            Value::Number(number) => number.as_i64().or(number.as_f64().map(|f| f as i64)),
            Value::String(text) => pytext::int(text),
            _ => None,
        }
        .map(PropValue::Int)
        .ok_or_else(|| "a whole number".to_owned()),
        PropKind::Architecture => word(&ARCHITECTURES),
        PropKind::HypervisorType => word(&HYPERVISOR_TYPES),
        PropKind::VmMode => word(&VM_MODES),
        PropKind::Versions => {
            VersionConditions::parse(&text).map(PropValue::Versions).ok_or_else(|| {
                "conditions such as >=4.0,<7.0 (comparisons: <= >= < > == !=)".to_owned()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn props(value: Value) -> Result<ImageProps, PropError> {
        ImageProps::typed(value.as_object().unwrap())
    }

    #[test]
    fn older_names_give_way_to_present_ones() {
        let props = props(json!({
            "hw_architecture": "AMD64", "architecture": "i386",
            "vm_mode": "pv", "hypervisor_type": "xapi",
            "vmware_adaptertype": "lsiLogic", "unheard_of": 1,
        }))
        .unwrap();
        assert_eq!(props.text("hw_architecture"), Some("x86_64"));
        assert_eq!(props.text("hw_vm_mode"), Some("xen"));
        assert_eq!(props.text("img_hv_type"), Some("xen"));
        assert_eq!(props.text("hw_disk_bus"), Some("scsi"));
        assert_eq!(props.text("hw_scsi_model"), Some("lsiLogic"));
        assert_eq!(props.get("unheard_of"), None);
    }

    #[test]
    fn kinds_have_their_texts() {
        let props = props(json!({
            "hw_qemu_guest_agent": "yes", "hw_cpu_cores": "4", "os_distro": "arch",
        }))
        .unwrap();
        let texts: Vec<_> = props.iter().map(|(n, v)| (n, v.to_string())).collect();
        assert_eq!(
            texts,
            [
                ("hw_cpu_cores", "4".to_owned()),
                ("hw_qemu_guest_agent", "True".to_owned()),
                ("os_distro", "arch".to_owned()),
            ]
        );
    }

    #[test]
    fn a_bad_value_names_property_value_and_expectation() {
        let error = props(json!({"vm_mode": "steam"})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "image property vm_mode is \"steam\": expected one of exe, hvm, uml, xen"
        );
        assert!(props(json!({"img_hv_requested_version": "junk"})).is_err());
        assert!(props(json!({"hw_cpu_cores": "four"})).is_err());
    }
}
