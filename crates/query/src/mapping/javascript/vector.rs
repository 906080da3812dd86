//! `createVector(value)` in maps in JavaScript.
//!
//! The function gives an object with one property that no document should have; what comes out of the engine is a vector where it is met.

use super::super::value::Value;
use super::values;
use json::Raw;
use std::rc::Rc;

/// The name of the function.
pub(super) const FUNCTION: &str = "createVector";

const MARK: &str = "$createVector";

/// The function. Of null and of what is missing there is no vector.
pub(super) const DECLARATION: &str = "function createVector(value) { \
     return value === null || value === undefined ? undefined : { $createVector: value }; }";

/// The vector that an object stands for. `None`: it is any other object. The depth of the recursion is that of JSON, which is bounded.
pub(super) fn made<'d>(object: Raw<'_>) -> Option<Value<'d>> {
    let mut members = object.members();
    let (name, given) = members.next()?;
    (name.decode() == MARK && members.next().is_none()).then(|| Value::Vector(Rc::new(values::owned(given))))
}
