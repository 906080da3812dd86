//! Compare-exchange values in dumps: `{"Key":…,"Value":"<JSON as text>"}`, and their tombstones: `{"Key":…}`.
//!
//! Atomic guards are not written, and passed over where another server wrote them: the change vectors that name them stay behind, too,
//! so that an imported document is new to cluster-wide transactions.

use std::borrow::Cow;

use documents::{CompareExchangeValue, Date, Item, ValueChange};
use json::{Kind, Raw, Writer};

use super::SmugglerOptions;

/// The element of a dump for a stored value.
pub(super) fn write(out: &mut Vec<u8>, value: &CompareExchangeValue<'_>) {
    let text = String::from_utf8_lossy(value.json().bytes());
    Writer::new(out).object(|json| _ = json.name("Key").string(value.key()).name("Value").string(&text));
}

/// The element of a dump for a deleted value.
pub(super) fn write_tombstone(out: &mut Vec<u8>, item: &Item<'_>) {
    Writer::new(out).object(|json| _ = json.name("Key").string(item.id()));
}

/// Whether the options mean a value.
pub(super) fn is_meant(value: Raw<'_>, options: &SmugglerOptions, now: Date) -> bool {
    let expires = value.get("@metadata").and_then(|metadata| metadata.get("@expires")).and_then(Raw::as_str);
    options.includes_expired || expires.and_then(|text| Date::parse(&text)).is_none_or(|date| date > now)
}

/// The change that an element of `CompareExchange` comes to. `None`: a guard, or a value that the options leave out.
///
/// # Errors
///
/// What is wrong with the element.
pub(super) fn read(element: Raw<'_>, options: &SmugglerOptions, now: Date) -> Result<Option<ValueChange>, String> {
    let key = key_of(element)?;
    let value: Cow<'_, [u8]> = match element.get("Value") {
        Some(value) if value.kind() == Kind::Object => Cow::Borrowed(value.bytes()),
        Some(value) => match value.as_str() {
            Some(text) => Cow::Owned(text.into_owned().into_bytes()),
            None => return Err("a compare-exchange value has a 'Value' that is an object, or its text".to_owned()),
        },
        None => return Err("a compare-exchange value has no 'Value'".to_owned()),
    };
    if documents::is_guard(&key) {
        return Ok(None);
    }
    // Checked, so that its properties can be read.
    let change = ValueChange::put(&key, &value, None).map_err(|error| error.to_string())?;
    let is_meant = change.value().is_none_or(|value| is_meant(value, options, now));
    Ok(is_meant.then_some(change))
}

/// The deletion that an element of `CompareExchangeTombstones` comes to. `None`: that of a guard.
///
/// # Errors
///
/// What is wrong with the element.
pub(super) fn read_tombstone(element: Raw<'_>) -> Result<Option<ValueChange>, String> {
    let key = key_of(element)?;
    match documents::is_guard(&key) {
        true => Ok(None),
        false => ValueChange::delete(&key, None).map(Some).map_err(|error| error.to_string()),
    }
}

fn key_of(element: Raw<'_>) -> Result<Cow<'_, str>, String> {
    let key = element.get("Key").and_then(Raw::as_str).filter(|key| !key.is_empty());
    key.ok_or_else(|| "a compare-exchange value has no 'Key'".to_owned())
}
