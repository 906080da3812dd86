//! `@counters`: the names of a document's counters in the metadata that the server maintains.
//!
//! They stand in the order of upper-case ASCII letters, as the reference server sorts them; the rest of each compares by its bytes.

use std::cmp::Ordering;

use json::{Kind, Raw, Writer};

use crate::ids::id;
use crate::limits::COUNTER_NAMES_SIZE_MAX;
use crate::wire::server_metadata::{property, with_property};
use crate::{Error, Result};

const PROPERTY: &str = "@counters";

/// Names that a command adds and removes, in order.
#[derive(Debug, Default)]
pub(crate) struct NameChanges(Vec<(String, bool)>);

impl NameChanges {
    pub fn add(&mut self, name: &str) {
        self.0.push((name.to_owned(), true));
    }

    pub fn remove(&mut self, name: &str) {
        self.0.push((name.to_owned(), false));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names after the changes.
    fn apply(&self, mut names: Vec<String>) -> Vec<String> {
        let mut keys: std::collections::HashSet<Vec<u8>> = names.iter().map(|name| id::lower(name)).collect();
        for (name, is_added) in &self.0 {
            let key = id::lower(name);
            if *is_added && !keys.contains(&key) {
                names.push(name.clone());
                keys.insert(key);
            } else if !*is_added && keys.remove(&key) {
                names.retain(|kept| id::lower(kept) != key);
            }
        }
        names.sort_by(|left, right| compare(left, right));
        names
    }
}

/// The order of names.
fn compare(left: &str, right: &str) -> Ordering {
    let upper = |name: &str| name.bytes().map(|byte| byte.to_ascii_uppercase()).collect::<Vec<_>>();
    upper(left).cmp(&upper(right)).then_with(|| left.cmp(right))
}

/// The names in server metadata.
pub(crate) fn names_in(server_metadata: &[u8]) -> Vec<String> {
    let Some(value) = property(server_metadata, PROPERTY) else { return Vec::new() };
    let value = Raw::new(&value);
    if value.kind() != Kind::Array {
        return Vec::new();
    }
    value.elements().filter_map(|name| name.as_str().map(|name| name.into_owned())).collect()
}

/// Server metadata with changed names, and whether there are any.
///
/// # Errors
///
/// [`Error::TooLarge`] over [`COUNTER_NAMES_SIZE_MAX`].
pub(crate) fn changed(server_metadata: &[u8], changes: &NameChanges) -> Result<(Vec<u8>, bool)> {
    let names = changes.apply(names_in(server_metadata));
    if names.is_empty() {
        return Ok((with_property(server_metadata, PROPERTY, None), false));
    }
    let mut value = Vec::new();
    Writer::new(&mut value).array(|json| names.iter().for_each(|name| _ = json.string(name)));
    if value.len() > COUNTER_NAMES_SIZE_MAX {
        let what = "the list of a document's counters";
        return Err(Error::TooLarge { what, size: value.len(), max: COUNTER_NAMES_SIZE_MAX });
    }
    Ok((with_property(server_metadata, PROPERTY, Some(value)), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_added_and_removed_without_regard_to_case_beside_other_properties() {
        let mut changes = NameChanges::default();
        ["likes", "Zed", "alpha", "Beta", "LIKES", "_a"].iter().for_each(|name| changes.add(name));
        let (text, has_names) = changed(br#""@attachments":[1],"@timeseries":["x"]"#, &changes).unwrap();
        let expected = r#""@attachments":[1],"@counters":["alpha","Beta","likes","Zed","_a"],"@timeseries":["x"]"#;
        assert_eq!((std::str::from_utf8(&text).unwrap(), has_names), (expected, true));
        assert_eq!(names_in(&text), ["alpha", "Beta", "likes", "Zed", "_a"]);
        let mut changes = NameChanges::default();
        ["LIKES", "zed", "ALPHA", "beta", "_A", "none"].iter().for_each(|name| changes.remove(name));
        let (text, has_names) = changed(&text, &changes).unwrap();
        let expected = r#""@attachments":[1],"@timeseries":["x"]"#;
        assert_eq!((std::str::from_utf8(&text).unwrap(), has_names), (expected, false));
    }

    #[test]
    fn a_name_that_is_deleted_and_added_again_has_its_new_spelling() {
        let mut changes = NameChanges::default();
        changes.remove("A");
        changes.add("A");
        let (text, _) = changed(br#""@counters":["a"]"#, &changes).unwrap();
        assert_eq!(text, br#""@counters":["A"]"#);
    }
}
