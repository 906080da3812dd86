//! What needs all elements before it gives the first: order, distinct ones, groups, joins.

use super::super::error::{MapError, Result};
use super::super::expression::{Arrange, Arrangement, Expression, Lambda};
use super::super::identity::identity;
use super::super::value::{Group, Names, Object, Value};
use super::Evaluator;
use crate::index::Number;
use rust_decimal::prelude::ToPrimitive;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl<'d> Evaluator<'_, 'd> {
    pub(super) fn arrange(&mut self, arrange: &'d Arrange) -> Result<Value<'d>> {
        let source = self.evaluate(&arrange.source)?;
        // Characters in their reverse order, and the like: a text consists of them here alone.
        let mut elements = match (source.as_text(), &arrange.by) {
            (Some(text), Arrangement::Reverse | Arrangement::Distinct) => characters(&text),
            _ => self.elements(source)?,
        };
        match &arrange.by {
            Arrangement::Distinct => distinct(&mut elements),
            Arrangement::Reverse => elements.reverse(),
            Arrangement::Order(keys) => elements = self.sorted(elements, keys)?,
            Arrangement::Skip(count) => drop(elements.drain(..self.count(count)?.min(elements.len()))),
            Arrangement::Take(count) => elements.truncate(self.count(count)?),
            Arrangement::Concat(other) => elements.append(&mut self.elements_of(other)?),
            Arrangement::Union(other) => {
                elements.append(&mut self.elements_of(other)?);
                distinct(&mut elements);
            }
            Arrangement::Intersect(other) | Arrangement::Except(other) => {
                let is_wanted = matches!(arrange.by, Arrangement::Intersect(_));
                let others: HashSet<_> = self.elements_of(other)?.iter().map(identity).collect();
                elements.retain(|element| others.contains(&identity(element)) == is_wanted);
                distinct(&mut elements);
            }
            Arrangement::DefaultIfEmpty(default) => {
                if elements.is_empty() {
                    elements.push(self.evaluate(default)?);
                }
            }
            Arrangement::Group { key, element } => elements = self.groups(elements, key, element.as_ref())?,
            Arrangement::Dictionary { key, value } => return self.dictionary_of(elements, key, value),
            Arrangement::Join { inner, outer_key, inner_key, outer, inner_slot, output } => {
                let mut inner_by_key: HashMap<Vec<u8>, Vec<Value<'d>>> = HashMap::new();
                for element in self.elements_of(inner)? {
                    let key = self.apply(inner_key, element.clone())?;
                    if !key.is_null() {
                        inner_by_key.entry(identity(&key)).or_default().push(element);
                    }
                }
                let mut rows = Vec::new();
                for element in elements {
                    let key = self.apply(outer_key, element.clone())?;
                    for other in inner_by_key.get(&identity(&key)).into_iter().flatten() {
                        self.count_step()?;
                        self.set(*outer, element.clone());
                        self.set(*inner_slot, other.clone());
                        rows.push(self.evaluate(output)?);
                    }
                }
                elements = rows;
            }
            Arrangement::Zip { other, left, right, output } => {
                let others = self.elements_of(other)?;
                let mut rows = Vec::new();
                for (element, other) in elements.into_iter().zip(others) {
                    self.set(*left, element);
                    self.set(*right, other);
                    rows.push(self.evaluate(output)?);
                }
                elements = rows;
            }
        }
        Ok(Value::array(elements))
    }

    fn elements_of(&mut self, expression: &'d Expression) -> Result<Vec<Value<'d>>> {
        let value = self.evaluate(expression)?;
        self.elements(value)
    }

    fn count(&mut self, expression: &'d Expression) -> Result<usize> {
        match self.evaluate(expression)?.read() {
            Value::Long(count) => Ok(usize::try_from(count.max(0)).unwrap_or(usize::MAX)),
            Value::Missing | Value::Null => Ok(0),
            other => Err(MapError::Argument { function: "Take", found: other.type_name() }),
        }
    }

    fn sorted(&mut self, elements: Vec<Value<'d>>, keys: &'d [(Lambda, bool)]) -> Result<Vec<Value<'d>>> {
        let mut rows = Vec::with_capacity(elements.len());
        for element in elements {
            let mut row = Vec::with_capacity(keys.len());
            for (key, is_falling) in keys {
                let key = SortKey::of(&self.apply(key, element.clone())?.read())?;
                row.push(if *is_falling { Directed::Falling(Reverse(key)) } else { Directed::Rising(key) });
            }
            rows.push((row, element));
        }
        for column in 0..keys.len() {
            let kinds = rows.iter().map(|(row, _)| row[column].key()).filter(|key| **key != SortKey::Null);
            let mut kinds = kinds.map(std::mem::discriminant);
            let first = kinds.next();
            if kinds.any(|kind| Some(kind) != first) {
                return Err(MapError::Argument { function: "OrderBy", found: "mixed" });
            }
        }
        rows.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(rows.into_iter().map(|(_, element)| element).collect())
    }

    /// Groups in the order of their first elements.
    fn groups(
        &mut self,
        elements: Vec<Value<'d>>,
        key: &'d Lambda,
        element: Option<&'d Lambda>,
    ) -> Result<Vec<Value<'d>>> {
        let mut groups: Vec<Group<'d>> = Vec::new();
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for value in elements {
            let key = self.apply(key, value.clone())?;
            let value = match element {
                Some(element) => self.apply(element, value)?,
                None => value,
            };
            match places.get(&identity(&key)).and_then(|place| groups.get_mut(*place)) {
                Some(group) => group.elements.push(value),
                None => {
                    places.insert(identity(&key), groups.len());
                    groups.push(Group { key, elements: vec![value] });
                }
            }
        }
        Ok(groups.into_iter().map(|group| Value::Group(Rc::new(group))).collect())
    }

    fn dictionary_of(&mut self, elements: Vec<Value<'d>>, key: &'d Lambda, value: &'d Lambda) -> Result<Value<'d>> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let mut known: HashSet<Cow<'d, str>> = HashSet::new();
        for element in elements {
            let name = self.apply(key, element.clone())?;
            let name = super::super::display::display(&name);
            if !known.insert(name.clone()) {
                return Err(MapError::SeveralElements);
            }
            names.push(name);
            values.push(self.apply(value, element)?);
        }
        Ok(Value::Object(Rc::new(Object { names: Names::Dynamic(names), values })))
    }
}

/// Each value once, where it is first.
fn distinct(values: &mut Vec<Value<'_>>) {
    let mut known = HashSet::new();
    values.retain(|value| known.insert(identity(value)));
}

/// What sorting goes by: one order over all of them, as sorting demands, though kinds are not mixed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortKey<'d> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'d, str>),
    Date(i64),
    Span(i64),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Directed<'d> {
    Rising(SortKey<'d>),
    Falling(Reverse<SortKey<'d>>),
}

impl<'d> Directed<'d> {
    fn key(&self) -> &SortKey<'d> {
        match self {
            Directed::Rising(key) | Directed::Falling(Reverse(key)) => key,
        }
    }
}

impl<'d> SortKey<'d> {
    /// The key of a value that was read. A decimal is sorted as the double that is nearest.
    fn of(value: &Value<'d>) -> Result<SortKey<'d>> {
        Ok(match value {
            Value::Missing | Value::Null => SortKey::Null,
            Value::Bool(value) => SortKey::Bool(*value),
            Value::Long(long) => SortKey::Number(Number::Long(*long)),
            Value::Double(double) => SortKey::Number(Number::Double(*double)),
            Value::Decimal(decimal) => SortKey::Number(Number::Double(decimal.to_f64().unwrap_or(f64::NAN))),
            Value::Text(text) => SortKey::Text(text.clone()),
            Value::Date(date) => SortKey::Date(date.ticks),
            Value::Span(span) => SortKey::Span(span.0),
            other => return Err(MapError::Argument { function: "OrderBy", found: other.type_name() }),
        })
    }
}

pub(super) fn characters<'d>(text: &str) -> Vec<Value<'d>> {
    text.chars().map(|c| Value::text(c.to_string())).collect()
}
