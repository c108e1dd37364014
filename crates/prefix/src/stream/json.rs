//! Exact pieces of JSON texts.
//!
//! Owns: finding a field's or an element's text, byte for byte. Never: writing a value anew.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The exact text of a field's value; of a name that is there twice the last, as other readers have it.
pub(crate) fn field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut fields: BTreeMap<String, &'a RawValue> = serde_json::from_str(object).ok()?;
    fields.remove(name).map(RawValue::get)
}

/// The exact texts of a list's elements; none for a text that is no list.
pub(crate) fn elements(list: &str) -> Vec<&str> {
    let elements: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
    elements.into_iter().map(RawValue::get).collect()
}
