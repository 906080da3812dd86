//! Asking a result whether it fits the clause `filter`.
//!
//! As in the reference, values are compared as JavaScript does: equal are those of one kind only; below and above, texts are compared as
//! they are, and other pairs as numbers, of which null is 0. What is missing fits no comparison but `!=`; a property of what is missing or
//! null is null. An object equals nothing; below and above it is the text `[object Object]`. Arrays and texts have a `length`. Unlike
//! there, `in` and `all in` ask the elements of an array. A document that `load` does not find is missing, and equals null.

use std::borrow::Cow;
use std::cmp::Ordering;

use documents::{Document, Snapshot};
use json::{Kind, Raw};
use script::Limits;

use super::loaded_values::LoadedValues;
use super::loading::Loads;
use super::projection::Row;
use super::scripted::{ScriptFailure, ScriptProjection, Scripted};
use crate::definition::terms;
use crate::index::Number;
use crate::mapping::part_named;
use crate::plan::{FilterClause, FilterCondition, Operand, PathStep, Projected, Scalar, write_path};
use crate::rql::Operator;

/// A filter that is ready to ask results.
pub struct ResultFilter<'p> {
    clause: &'p FilterClause,
    calls: Vec<ScriptProjection<'p>>,
    loads: Loads<'p>,
    /// Is used again for each value.
    memory: Vec<u8>,
}

impl<'p> ResultFilter<'p> {
    /// Compiles its scripts.
    ///
    /// * `limits`: of each call, for each result.
    ///
    /// # Errors
    ///
    /// [`ScriptFailure::Script`]
    pub fn new(clause: &'p FilterClause, limits: Limits) -> Result<ResultFilter<'p>, ScriptFailure> {
        let calls = clause.calls.iter().map(|call| ScriptProjection::new(call, limits)).collect::<Result<_, _>>()?;
        Ok(ResultFilter { clause, calls, loads: Loads::new(&clause.loads), memory: Vec::new() })
    }

    /// Whether a result fits. Functions are called, and documents loaded, as far as their values are needed.
    ///
    /// * `snapshot`: where documents are loaded from.
    ///
    /// # Errors
    ///
    /// [`ScriptFailure`] of a function or of `load`.
    pub fn holds(&mut self, row: &Row<'_>, snapshot: &Snapshot<'_>) -> Result<bool, ScriptFailure> {
        let ResultFilter { clause, calls, loads, memory } = self;
        FilterInput { row, snapshot, calls, loads, loaded: None, memory }.holds(&clause.condition)
    }
}

/// The result that a filter is evaluated on.
struct FilterInput<'a> {
    row: &'a Row<'a>,
    snapshot: &'a Snapshot<'a>,
    calls: &'a [ScriptProjection<'a>],
    loads: &'a Loads<'a>,
    /// What `load` found for this result. `None` until a condition asks.
    loaded: Option<LoadedValues>,
    memory: &'a mut Vec<u8>,
}

impl FilterInput<'_> {
    /// The depth of the recursion is that of the condition, which the parser bounds.
    fn holds(&mut self, condition: &FilterCondition) -> Result<bool, ScriptFailure> {
        Ok(match condition {
            FilterCondition::Always => true,
            FilterCondition::And(operands) => {
                for operand in operands {
                    if !self.holds(operand)? {
                        return Ok(false);
                    }
                }
                true
            }
            FilterCondition::Or(operands) => {
                for operand in operands {
                    if self.holds(operand)? {
                        return Ok(true);
                    }
                }
                false
            }
            FilterCondition::Not(operand) => !self.holds(operand)?,
            FilterCondition::Compare(operand, operator, scalar) => self.compared(operand, *operator, scalar)?,
            FilterCondition::CompareFields(left, operator, right) => {
                let scalar = match self.with_value(right, scalar)? {
                    None if self.is_in_nothing(right)? => Some(Scalar::Null),
                    scalar => scalar.flatten(),
                };
                let Some(scalar) = scalar else { return Ok(*operator == Operator::NotEqual) };
                self.compared(left, *operator, &scalar)?
            }
            FilterCondition::AnyOf(operand, scalars) => self.has_value(operand, |value| {
                let is_among = |value: Raw<'_>| scalars.iter().any(|scalar| is_equal(value, scalar));
                match value.kind() {
                    Kind::Array => value.elements().any(is_among),
                    _ => is_among(value),
                }
            })?,
            FilterCondition::AllOf(operand, scalars) => self.has_value(operand, |value| {
                let has = |scalar: &Scalar| match value.kind() {
                    Kind::Array => value.elements().any(|element| is_equal(element, scalar)),
                    _ => is_equal(value, scalar),
                };
                !scalars.is_empty() && scalars.iter().all(has)
            })?,
            FilterCondition::Prefix(operand, prefix) => {
                self.with_text(operand, |text| text.starts_with(prefix.as_str()))?
            }
            FilterCondition::Suffix(operand, suffix) => {
                self.with_text(operand, |text| text.ends_with(suffix.as_str()))?
            }
            FilterCondition::Pattern(operand, regex) => self.with_text(operand, |text| regex.is_match(text))?,
            FilterCondition::Exists(operand) => self.has_value(operand, |_| true)?,
            FilterCondition::IsTrue(operand) => self.has_value(operand, |value| value.as_bool() == Some(true))?,
        })
    }

    fn compared(&mut self, operand: &Operand, operator: Operator, scalar: &Scalar) -> Result<bool, ScriptFailure> {
        let is_met = match self.with_value(operand, |value| is_met(operator, value, scalar))? {
            None if self.is_in_nothing(operand)? => Some(is_met(operator, Raw::new(b"null"), scalar)),
            is_met => is_met,
        };
        Ok(is_met.unwrap_or(operator == Operator::NotEqual))
    }

    /// Whether an operand is a property of what is missing, or null; or a document that `load` did not find.
    fn is_in_nothing(&mut self, operand: &Operand) -> Result<bool, ScriptFailure> {
        self.memory.clear();
        let (place, before) = match operand {
            Operand::Of(Projected::Path { steps, .. }) => {
                let Some((_, before @ [_, ..])) = steps.split_last() else { return Ok(false) };
                return Ok(!write_steps(before, self.row, self.memory) || self.memory == b"null");
            }
            Operand::Loaded { place, steps } => (*place, steps.split_last().map_or(&[][..], |(_, before)| before)),
            Operand::LoadedId(place) => (*place, &[][..]),
            Operand::Of(_) | Operand::Called(_) => return Ok(false),
        };
        let is_there = self.loaded()?.value(place).is_some_and(|value| write_path(before, value, &mut Vec::new()));
        Ok(!is_there)
    }

    /// What `load` found for this result.
    fn loaded(&mut self) -> Result<&LoadedValues, ScriptFailure> {
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => LoadedValues::load(self.loads, self.row, self.snapshot)?,
        };
        Ok(self.loaded.insert(loaded))
    }

    fn has_value(&mut self, operand: &Operand, ask: impl FnOnce(Raw<'_>) -> bool) -> Result<bool, ScriptFailure> {
        Ok(self.with_value(operand, ask)?.unwrap_or(false))
    }

    fn with_text(&mut self, operand: &Operand, ask: impl FnOnce(&str) -> bool) -> Result<bool, ScriptFailure> {
        self.has_value(operand, |value| value.as_str().is_some_and(|text| ask(&text)))
    }

    /// Asks something of a value of a result; `None`: it is not there.
    fn with_value<T>(&mut self, operand: &Operand, ask: impl FnOnce(Raw<'_>) -> T) -> Result<Option<T>, ScriptFailure> {
        let row = self.row;
        let projected = match operand {
            Operand::Of(projected) => projected,
            Operand::Called(place) => {
                let stored = row.stored().unwrap_or(Raw::new(b"{}"));
                let found = row.document.map_or(Scripted::Group(stored), Scripted::Document);
                let given = match self.calls.get(*place) {
                    Some(call) => call.value(found, self.snapshot)?,
                    None => return Ok(None),
                };
                return Ok(Some(ask(Raw::new(&given))));
            }
            Operand::Loaded { place, steps } => {
                let Some(value) = self.loaded()?.value(*place) else { return Ok(None) };
                let mut memory = Vec::new();
                let write = |steps: &[PathStep], out: &mut Vec<u8>| write_path(steps, value, out);
                let is_there = match steps.split_last() {
                    Some((PathStep::Name(name), of)) if is_member(name) => write_member(of, name, write, &mut memory),
                    _ => write(steps, &mut memory),
                };
                return Ok(is_there.then(|| ask(Raw::new(&memory))));
            }
            Operand::LoadedId(place) => {
                let Some(id) = self.loaded()?.id(*place) else { return Ok(None) };
                let id = json::Value::from(id).to_vec();
                return Ok(Some(ask(Raw::new(&id))));
            }
        };
        let is_there = write_operand(projected, row, self.memory);
        Ok(is_there.then(|| ask(Raw::new(self.memory))))
    }
}

/// Whether a value and one of the query compare so.
fn is_met(operator: Operator, value: Raw<'_>, scalar: &Scalar) -> bool {
    let is_order = |is: fn(Ordering) -> bool| order(value, scalar).is_some_and(is);
    match operator {
        Operator::Equal => is_equal(value, scalar),
        Operator::NotEqual => !is_equal(value, scalar),
        Operator::Less => is_order(Ordering::is_lt),
        Operator::LessOrEqual => is_order(Ordering::is_le),
        Operator::Greater => is_order(Ordering::is_gt),
        Operator::GreaterOrEqual => is_order(Ordering::is_ge),
    }
}

/// A value that others are compared with; `None`: it is an array or an object.
fn scalar(value: Raw<'_>) -> Option<Scalar> {
    Some(match value.kind() {
        Kind::Null => Scalar::Null,
        Kind::Bool => Scalar::Boolean(value.as_bool()?),
        Kind::Number => Scalar::Number(value.number_text()?.to_owned()),
        Kind::String => Scalar::Text(value.as_str()?.into_owned()),
        Kind::Array | Kind::Object => return None,
    })
}

/// Writes a value of a result in place of what was there. False: there is none.
fn write_operand(operand: &Projected, row: &Row<'_>, memory: &mut Vec<u8>) -> bool {
    memory.clear();
    match operand {
        Projected::Path { steps, .. } => match steps.split_last() {
            Some((PathStep::Name(name), of @ [_, ..])) if is_member(name) => {
                write_member(of, name, |steps, out| write_steps(steps, row, out), memory)
            }
            _ => write_steps(steps, row, memory),
        },
        Projected::Metadata(steps) => row.document.is_some_and(|document| {
            let mut metadata = vec![b'{'];
            document.write_metadata(&mut metadata, None);
            metadata.push(b'}');
            write_path(steps, Raw::new(&metadata), memory)
        }),
        Projected::Id => {
            let id = row.document.map(Document::id).or_else(|| row.entry.map(|entry| entry.document()));
            memory.push(b'"');
            json::escape_into(memory, id.unwrap_or_default());
            memory.push(b'"');
            true
        }
        Projected::Literal(json) => {
            memory.extend_from_slice(json);
            true
        }
        Projected::Key(_) => false,
    }
}

/// Whether values that are no objects may have it: `length`, and what paths of other clauses give, as members in C#. In JavaScript such
/// values lack those.
fn is_member(name: &str) -> bool {
    matches!(name, "length" | "Length" | "Count") || part_named(name).is_some()
}

/// Writes a member that is a property of objects and, if it is `length`, the length of arrays and texts, as in JavaScript. As in the
/// reference, a missing value has the length 0.
///
/// * `of`: the path of the value; `write`: appends what stands at a path, if anything does; `memory`: empty.
fn write_member(
    of: &[PathStep],
    name: &str,
    write: impl Fn(&[PathStep], &mut Vec<u8>) -> bool,
    memory: &mut Vec<u8>,
) -> bool {
    let is_length = name == "length";
    if !write(of, memory) {
        memory.push(b'0');
        return is_length;
    }
    let value = Raw::new(memory);
    let length = match value.kind() {
        Kind::Object => {
            let Some(member) = value.get(name).map(|member| member.bytes().to_vec()) else { return false };
            *memory = member;
            return true;
        }
        Kind::Array => value.elements().count(),
        Kind::String => value.as_str().map_or(0, |text| text.encode_utf16().count()),
        Kind::Null | Kind::Bool | Kind::Number => return false,
    };
    memory.clear();
    memory.extend_from_slice(length.to_string().as_bytes());
    is_length
}

/// Appends what stands at a path of a result. False: nothing does.
fn write_steps(steps: &[PathStep], row: &Row<'_>, out: &mut Vec<u8>) -> bool {
    match (row.document, row.stored()) {
        (Some(document), _) => write_path(steps, document.body(), out),
        (None, Some(stored)) => write_path(steps, stored, out),
        (None, None) => false,
    }
}

/// Values of two kinds are never equal.
fn is_equal(value: Raw<'_>, scalar: &Scalar) -> bool {
    match (value.kind(), scalar) {
        (Kind::Null, Scalar::Null) => true,
        (Kind::Bool, Scalar::Boolean(is_true)) => value.as_bool() == Some(*is_true),
        (Kind::String, Scalar::Text(text)) => value.as_str().is_some_and(|value| *value == **text),
        (Kind::Number, Scalar::Number(_)) => order(value, scalar) == Some(Ordering::Equal),
        _ => false,
    }
}

/// `None`: they have no order.
fn order(value: Raw<'_>, scalar: &Scalar) -> Option<Ordering> {
    if let (Kind::String, Scalar::Text(text)) = (value.kind(), scalar) {
        return value.as_str().map(|value| value.encode_utf16().cmp(text.encode_utf16()));
    }
    if value.kind() == Kind::Object || matches!(scalar, Scalar::Object(_)) {
        return object_order(value, scalar);
    }
    let left = match value.kind() {
        Kind::Null => ZERO,
        Kind::Bool => of_boolean(value.as_bool()?),
        Kind::Number => terms::number(value.number_text()?)?,
        Kind::String => of_text(&value.as_str()?)?,
        Kind::Array | Kind::Object => return None,
    };
    let right = match scalar {
        Scalar::Null => ZERO,
        Scalar::Boolean(is_true) => of_boolean(*is_true),
        // One beyond those of documents is the infinite one: all are on one side of it.
        Scalar::Number(text) => terms::number(text).or_else(|| text.parse().ok().map(Number::Double))?,
        Scalar::Text(text) => of_text(text)?,
        Scalar::Object(_) => return None,
    };
    Some(left.cmp(&right))
}

/// The order of two values of which at least one is an object: an object is its text in JavaScript, which is no number.
fn object_order(value: Raw<'_>, scalar: &Scalar) -> Option<Ordering> {
    const OBJECT: &str = "[object Object]";
    let left = match value.kind() {
        Kind::Object => Cow::Borrowed(OBJECT),
        Kind::String => value.as_str()?,
        Kind::Null | Kind::Bool | Kind::Number | Kind::Array => return None,
    };
    let right = match scalar {
        Scalar::Object(_) => OBJECT,
        Scalar::Text(text) => text.as_str(),
        Scalar::Null | Scalar::Boolean(_) | Scalar::Number(_) => return None,
    };
    Some(left.encode_utf16().cmp(right.encode_utf16()))
}

const ZERO: Number = Number::Long(0);

fn of_boolean(is_true: bool) -> Number {
    Number::Long(is_true.into())
}

/// `None`: it is no number.
fn of_text(text: &str) -> Option<Number> {
    match text.trim() {
        "" => Some(ZERO),
        "Infinity" | "+Infinity" => Some(Number::Double(f64::INFINITY)),
        "-Infinity" => Some(Number::Double(f64::NEG_INFINITY)),
        text => terms::number(text),
    }
}
