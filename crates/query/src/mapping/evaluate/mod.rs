//! Evaluating expressions over documents.
//!
//! An [`Evaluator`] has one frame of variables. Rows are nested loops: each loop calls the steps after it, so nothing is
//! gathered that is not asked for, and `First` or `Any` end the loops by breaking. The depth of calls is bounded by that of the
//! expressions and the number of loops; the number of steps is counted.

mod arrange;
mod call;
mod document;
mod fold;
mod format;
mod math;
mod member;
mod pattern;
mod text;
mod time;

use super::convert::{convert, try_convert};
use super::error::{MapError, Result};
use super::expression::{Constant, Expression, Operator, Program, SequenceStep, Slot};
use super::host::Host;
use super::limits::{STEP_COUNT_MAX, STEPS_PER_CHECK};
use super::operator::{binary, negate};
use super::value::{Names, Object, Value};
use json::{Kind, Raw};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Whether rows are wanted still.
pub(crate) type Flow = Result<ControlFlow<()>>;

/// Takes a row: its variables are those of the evaluator.
pub(crate) type Row<'r, 'h, 'd> = &'r mut dyn FnMut(&mut Evaluator<'h, 'd>) -> Flow;

pub(crate) use format::{check_format, text_of};
pub(super) use member::{of_date, of_span};
use pattern::Patterns;
pub(crate) use pattern::compile as compile_pattern;

/// Evaluates the expressions of one program for one document or group.
pub(crate) struct Evaluator<'h, 'd> {
    slots: Vec<Value<'d>>,
    /// The properties of the document that the program reads, as [`Program::fields`] names them.
    fields: Vec<Option<Raw<'d>>>,
    host: &'h mut dyn Host<'d>,
    patterns: Patterns,
    steps_left: usize,
}

impl<'h, 'd> Evaluator<'h, 'd> {
    /// For the document or group `input`, which is the first variable.
    pub fn new(program: &'d Program, input: Value<'d>, host: &'h mut dyn Host<'d>) -> Self {
        let fields = match &input {
            Value::Document(document) if !program.fields.is_empty() => fields(document.body, &program.fields),
            Value::Json(object) if !program.fields.is_empty() => fields(*object, &program.fields),
            _ => Vec::new(),
        };
        let mut slots = Vec::with_capacity(program.slot_count);
        slots.push(input);
        slots.resize(program.slot_count.max(1), Value::Missing);
        Evaluator { slots, fields, host, patterns: Patterns::default(), steps_left: STEP_COUNT_MAX }
    }

    /// Sets a variable.
    pub fn set(&mut self, slot: Slot, value: Value<'d>) {
        // The compiler numbers no slot that the frame has not.
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    /// The value of a variable.
    pub fn get(&self, slot: Slot) -> Value<'d> {
        self.slots.get(slot).cloned().unwrap_or(Value::Missing)
    }

    /// Calls `row` for each row that the steps give.
    pub fn rows(&mut self, steps: &'d [SequenceStep], row: Row<'_, 'h, 'd>) -> Flow {
        for (index, step) in steps.iter().enumerate() {
            match step {
                SequenceStep::Let { slot, value } => {
                    let value = self.evaluate(value)?;
                    self.set(*slot, value);
                }
                SequenceStep::Where(condition) => {
                    if !self.is_true(condition)? {
                        return Ok(ControlFlow::Continue(()));
                    }
                }
                SequenceStep::Each { slot, source } => {
                    let source = self.evaluate(source)?;
                    return self.each(source, &mut |evaluator, element| {
                        evaluator.set(*slot, element);
                        evaluator.rows(&steps[index + 1..], row)
                    });
                }
            }
        }
        row(self)
    }

    /// Calls `found` for each element of a value.
    ///
    /// # Errors
    ///
    /// [`MapError::Argument`] if the value has no elements, as numbers and texts have none.
    pub fn each(
        &mut self,
        source: Value<'d>,
        found: &mut dyn FnMut(&mut Evaluator<'h, 'd>, Value<'d>) -> Flow,
    ) -> Flow {
        let mut visit = |evaluator: &mut Self, element: Value<'d>| {
            evaluator.count_step()?;
            found(evaluator, element)
        };
        match source {
            Value::Missing | Value::Null => {}
            Value::Json(raw) if raw.kind() == Kind::Array => {
                for element in raw.elements() {
                    if visit(self, Value::of(element))?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Value::Array(values) => {
                for value in values.iter() {
                    if visit(self, value.clone())?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Value::Group(group) => {
                for value in &group.elements {
                    if visit(self, value.clone())?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Value::Boosted(boosted) => return self.each(boosted.value.clone(), found),
            other => {
                let Some(pairs) = member::pairs(&other) else {
                    return Err(MapError::Argument { function: "from", found: other.type_name() });
                };
                for pair in pairs {
                    if visit(self, pair)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The elements of a value.
    fn elements(&mut self, source: Value<'d>) -> Result<Vec<Value<'d>>> {
        let mut elements = Vec::new();
        let _ = self.each(source, &mut |_, element| {
            elements.push(element);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(elements)
    }

    fn count_step(&mut self) -> Result<()> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(MapError::TooManySteps)?;
        match self.steps_left.is_multiple_of(STEPS_PER_CHECK) && self.host.is_stopped() {
            true => Err(MapError::Interrupted),
            false => Ok(()),
        }
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, expression: &'d Expression) -> Result<Value<'d>> {
        match expression {
            Expression::DocumentField(index) => Ok(Value::of_found(self.fields.get(*index).copied().flatten())),
            Expression::Variable(slot) => Ok(self.get(*slot)),
            Expression::Member(member) => {
                let object = self.evaluate(&member.object)?;
                member::member(&object, &member.name, member.property)
            }
            Expression::Constant(constant) => Ok(constant_value(constant)),
            Expression::Object(object) => {
                let values = self.all(&object.values)?;
                Ok(Value::Object(Rc::new(Object { names: Names::Static(&object.names), values })))
            }
            Expression::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                if self.is_true(condition)? { self.evaluate(then) } else { self.evaluate(otherwise) }
            }
            Expression::Coalesce(parts) => match self.evaluate(&parts[0])? {
                Value::Missing | Value::Null => self.evaluate(&parts[1]),
                value => Ok(value),
            },
            Expression::And(parts) => Ok(Value::Bool(self.is_true(&parts[0])? && self.is_true(&parts[1])?)),
            Expression::Or(parts) => Ok(Value::Bool(self.is_true(&parts[0])? || self.is_true(&parts[1])?)),
            Expression::Not(operand) => Ok(Value::Bool(!self.is_true(operand)?)),
            Expression::Binary(operator, parts) => self.binary(*operator, parts),
            Expression::Negate(operand) => negate(self.evaluate(operand)?),
            Expression::Convert(conversion, operand) => convert(*conversion, self.evaluate(operand)?),
            Expression::TryConvert(to, operand) => try_convert(*to, self.evaluate(operand)?),
            Expression::Index(parts) => {
                let (object, index) = (self.evaluate(&parts[0])?, self.evaluate(&parts[1])?);
                member::index(object, index)
            }
            Expression::Array(values) => self.all(values).map(Value::array),
            Expression::Dictionary(pairs) => self.dictionary(pairs),
            Expression::Call(function, arguments) => self.call(*function, arguments),
            Expression::Matching(matching) => self.matching(matching),
            Expression::Sequence(sequence) => self.gather(sequence).map(Value::array),
            Expression::Fold(fold, sequence) => self.fold(*fold, sequence),
            Expression::Arrange(arrange) => self.arrange(arrange),
            Expression::Recurse(start, lambda) => self.recurse(start, lambda),
        }
    }

    fn binary(&mut self, operator: Operator, parts: &'d [Expression; 2]) -> Result<Value<'d>> {
        let left = self.evaluate(&parts[0])?;
        let right = self.evaluate(&parts[1])?;
        // Texts are compared as they stand, dates among them: `d.At == "2024-01-02T03:04:05"`.
        if matches!(operator, Operator::Equal | Operator::NotEqual)
            && let (Some(left), Some(right)) = (left.as_text(), right.as_text())
        {
            return Ok(Value::Bool((left == right) == (operator == Operator::Equal)));
        }
        binary(operator, left, right)
    }

    fn all(&mut self, expressions: &'d [Expression]) -> Result<Vec<Value<'d>>> {
        let mut values = Vec::with_capacity(expressions.len());
        for expression in expressions {
            values.push(self.evaluate(expression)?);
        }
        Ok(values)
    }

    fn dictionary(&mut self, pairs: &'d [[Expression; 2]]) -> Result<Value<'d>> {
        let (mut names, mut values) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for [name, value] in pairs {
            let name = self.evaluate(name)?;
            names.push(super::display::display(&name));
            values.push(self.evaluate(value)?);
        }
        Ok(Value::Object(Rc::new(Object { names: Names::Dynamic(names), values })))
    }

    /// Whether a condition holds; null does not.
    ///
    /// # Errors
    ///
    /// [`MapError::Convert`] if it is neither true nor false nor null.
    pub fn is_true(&mut self, condition: &'d Expression) -> Result<bool> {
        match self.evaluate(condition)?.read() {
            Value::Bool(value) => Ok(value),
            Value::Missing | Value::Null => Ok(false),
            other => Err(MapError::Convert { value: format!("type '{}'", other.type_name()), to: "bool" }),
        }
    }
}

fn constant_value(constant: &Constant) -> Value<'_> {
    match constant {
        Constant::Null => Value::Null,
        Constant::Bool(value) => Value::Bool(*value),
        Constant::Long(long) => Value::Long(*long),
        Constant::Double(double) => Value::Double(*double),
        Constant::Decimal(decimal) => Value::Decimal(*decimal),
        Constant::Text(text) => Value::Text(Cow::Borrowed(text)),
        Constant::Date(date) => Value::Date(*date),
        Constant::Span(span) => Value::Span(*span),
    }
}

/// The properties with these names, found in one pass over the object.
fn fields<'d>(object: Raw<'d>, names: &[Box<str>]) -> Vec<Option<Raw<'d>>> {
    let mut found = vec![None; names.len()];
    let mut missing = names.len();
    for (name, value) in object.members() {
        if let Some(index) = names.iter().position(|wanted| name.is(wanted)) {
            found[index] = Some(value);
            missing -= 1;
            // Documents have no name twice.
            if missing == 0 {
                break;
            }
        }
    }
    found
}
