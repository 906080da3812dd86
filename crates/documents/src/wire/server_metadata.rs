//! The part of a document's metadata that the server maintains: properties as JSON without braces, in the order of their names.

use json::{Raw, Writer};

/// The properties, as text each.
fn properties(server_metadata: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = [b"{", server_metadata, b"}"].concat();
    Raw::new(&text).members().map(|(name, value)| (name.decode().into_owned(), value.bytes().to_vec())).collect()
}

/// The value of a property, as JSON.
pub(crate) fn property(server_metadata: &[u8], name: &str) -> Option<Vec<u8>> {
    properties(server_metadata).into_iter().find(|(property, _)| property == name).map(|(_, value)| value)
}

/// The same with another value of one property; without one it is left out.
pub(crate) fn with_property(server_metadata: &[u8], name: &str, value: Option<Vec<u8>>) -> Vec<u8> {
    let mut properties = properties(server_metadata);
    properties.retain(|(property, _)| property != name);
    properties.extend(value.map(|value| (name.to_owned(), value)));
    properties.sort();
    let mut text = Vec::new();
    Writer::new(&mut text).object(|json| {
        properties.iter().for_each(|(name, value)| _ = json.name(name).raw(value));
    });
    text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}")).unwrap_or_default().to_vec()
}
