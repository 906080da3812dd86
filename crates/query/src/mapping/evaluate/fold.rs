//! One value of many rows: sums, extremes, the first, and rows as an array.

use super::super::convert::{convert, written_decimal};
use super::super::error::{MapError, Result};
use super::super::expression::{Conversion, Expression, Fold, Lambda, Operator, Sequence, SequenceStep, Type};
use super::super::operator::{binary, order};
use super::super::value::Value;
use super::Evaluator;
use std::cmp::Ordering;
use std::ops::ControlFlow;

impl<'d> Evaluator<'_, 'd> {
    /// What the rows give.
    pub(super) fn gather(&mut self, sequence: &'d Sequence) -> Result<Vec<Value<'d>>> {
        let mut values = Vec::new();
        let _ = self.rows(&sequence.steps, &mut |evaluator| {
            values.push(evaluator.evaluate(&sequence.output)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }

    /// One value of all rows. Of what is not there nothing is known but that it has no elements.
    pub(super) fn fold(&mut self, fold: Fold, sequence: &'d Sequence) -> Result<Value<'d>> {
        let mut folded = Folded { fold, value: Value::Missing, count: 0, has_nulls: false };
        let Some((SequenceStep::Each { slot, source }, rest)) = sequence.steps.split_first() else {
            return Ok(Value::Missing);
        };
        let source = self.evaluate(source)?;
        if source.is_null() {
            return Ok(if fold == Fold::Count { Value::Long(0) } else { Value::Missing });
        }
        let _ = self.each(source, &mut |evaluator, element| {
            evaluator.set(*slot, element);
            evaluator.rows(rest, &mut |evaluator| {
                let value = evaluator.evaluate(&sequence.output)?;
                folded.add(value)
            })
        })?;
        folded.end()
    }

    /// `start`, what the lambda gives for it, and so on, down to what is null. An array is followed by each element.
    pub(super) fn recurse(&mut self, start: &'d Expression, lambda: &'d Lambda) -> Result<Value<'d>> {
        let mut found = Vec::new();
        let mut waiting = vec![self.evaluate(start)?];
        while let Some(value) = waiting.pop() {
            if value.is_null() {
                continue;
            }
            if value.is_array() {
                let mut elements = self.elements(value)?;
                elements.reverse();
                waiting.append(&mut elements);
                continue;
            }
            self.count_step()?;
            found.push(value.clone());
            waiting.push(self.apply(lambda, value)?);
        }
        Ok(Value::array(found))
    }

    /// The value of a lambda for one element.
    pub(super) fn apply(&mut self, lambda: &'d Lambda, element: Value<'d>) -> Result<Value<'d>> {
        self.set(lambda.slot, element);
        self.evaluate(&lambda.body)
    }
}

struct Folded<'d> {
    fold: Fold,
    /// The sum, the extreme, the element; missing before there is one.
    value: Value<'d>,
    count: usize,
    /// Whether nulls were left out of the count.
    has_nulls: bool,
}

impl<'d> Folded<'d> {
    fn add(&mut self, value: Value<'d>) -> super::Flow {
        self.count += 1;
        match self.fold {
            Fold::Sum { is_typed } | Fold::Average { is_typed } => {
                let value = match written_decimal(&value) {
                    Some(decimal) if !is_typed => Value::Decimal(decimal),
                    _ => value.read(),
                };
                if value.is_null() {
                    self.count -= usize::from(is_typed);
                    self.has_nulls |= is_typed;
                } else {
                    let value = if is_typed { value } else { decimal(value) };
                    let sum = std::mem::replace(&mut self.value, Value::Missing);
                    self.value = if sum.is_null() { value } else { binary(Operator::Add, sum, value)? };
                }
            }
            Fold::Min | Fold::Max => {
                let wanted = if self.fold == Fold::Min { Ordering::Less } else { Ordering::Greater };
                let read = value.clone().read();
                if !read.is_null() && (self.value.is_null() || order(&read, &self.value.clone().read())? == wanted) {
                    // A number of a document keeps its text.
                    self.value = if matches!(read, Value::Double(_)) { value } else { read };
                }
            }
            Fold::Count => {}
            Fold::Any => return Ok(ControlFlow::Break(())),
            Fold::All => match value.read() {
                Value::Bool(true) => {}
                Value::Bool(false) | Value::Missing | Value::Null => {
                    self.value = Value::Bool(false);
                    return Ok(ControlFlow::Break(()));
                }
                other => return Err(MapError::Argument { function: "All", found: other.type_name() }),
            },
            Fold::First | Fold::FirstOrDefault => {
                self.value = value;
                return Ok(ControlFlow::Break(()));
            }
            Fold::Last | Fold::LastOrDefault => self.value = value,
            Fold::Single | Fold::SingleOrDefault if self.count > 1 => return Err(MapError::SeveralElements),
            Fold::Single | Fold::SingleOrDefault => self.value = value,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn end(self) -> Result<Value<'d>> {
        let count = i64::try_from(self.count).unwrap_or(i64::MAX);
        match self.fold {
            Fold::Average { .. } if self.count == 0 && self.has_nulls => Ok(Value::Null),
            Fold::Average { .. } | Fold::First | Fold::Last | Fold::Single if self.count == 0 => {
                Err(MapError::NoElements)
            }
            Fold::Sum { .. } if self.value.is_null() => Ok(Value::Long(0)),
            Fold::Sum { .. } => self.sum(),
            Fold::Average { .. } if self.value.is_null() => Ok(Value::Long(0)),
            Fold::Average { .. } => match self.sum()? {
                Value::Long(sum) => Ok(Value::Double(sum as f64 / count as f64)),
                sum => binary(Operator::Divide, sum, Value::Long(count)),
            },
            Fold::Count => Ok(Value::Long(count)),
            Fold::Any => Ok(Value::Bool(self.count > 0)),
            Fold::All => Ok(Value::Bool(self.value.is_null())),
            _ => Ok(self.value),
        }
    }

    /// The sum, which one element alone does not check.
    fn sum(&self) -> Result<Value<'d>> {
        match &self.value {
            Value::Text(_) | Value::Bool(_) | Value::Date(_) | Value::Json(_) => {
                Err(MapError::Argument { function: "Sum", found: self.value.type_name() })
            }
            value => Ok(value.clone()),
        }
    }
}

/// A number as a decimal; a double that no decimal holds stays one.
fn decimal(value: Value<'_>) -> Value<'_> {
    match value {
        value @ (Value::Long(_) | Value::Double(_)) => {
            let conversion = Conversion { to: Type::Decimal, is_nullable: true, parses: false };
            convert(conversion, value.clone()).unwrap_or(value)
        }
        value => value,
    }
}

impl Value<'_> {
    pub(super) fn is_array(&self) -> bool {
        match self {
            Value::Array(_) | Value::Group(_) => true,
            Value::Json(raw) => raw.kind() == json::Kind::Array,
            _ => false,
        }
    }
}
