//! `createSpatialField(latitude, longitude)` and `createSpatialField(wkt)` in maps in JavaScript.
//!
//! The function gives an object with one property that no document should have; what comes out of the engine is a place where it is met.

use super::super::special::Spatial;
use super::super::value::Value;
use json::{Kind, Raw};
use std::borrow::Cow;
use std::rc::Rc;

/// The name of the function.
pub(super) const FUNCTION: &str = "createSpatialField";

const MARK: &str = "$createSpatialField";

/// The function. As in the reference, of what are no numbers, or no text, there is no field.
pub(super) const DECLARATION: &str = "function createSpatialField(a, b) { \
     if (arguments.length > 1) { \
     return typeof a === 'number' && typeof b === 'number' ? { $createSpatialField: [a, b] } : undefined; } \
     return typeof a === 'string' ? { $createSpatialField: a } : undefined; }";

/// The place that an object stands for. `None`: it is any other object.
pub(super) fn made<'d>(object: Raw<'_>) -> Option<Value<'d>> {
    let mut members = object.members();
    let (name, given) = members.next()?;
    if name.decode() != MARK || members.next().is_some() {
        return None;
    }
    let spatial = match given.kind() {
        Kind::String => Spatial::Wkt(Cow::Owned(given.as_str()?.into_owned())),
        Kind::Array => {
            let mut numbers = given.elements().map(|number| number.as_f64());
            match (numbers.next()?, numbers.next()?) {
                (Some(latitude), Some(longitude)) => Spatial::Point { latitude, longitude },
                // JSON has no such numbers: NaN and what is without end.
                _ => return Some(Value::Missing),
            }
        }
        _ => return None,
    };
    Some(Value::Spatial(Rc::new(spatial)))
}
