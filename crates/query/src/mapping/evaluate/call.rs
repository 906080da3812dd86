//! Calls of functions: which file has which, and the rule for null.

use super::super::display::display;
use super::super::error::{MapError, Result};
use super::super::expression::{Expression, Operator};
use super::super::function::Function;
use super::super::operator::{binary, equal, order};
use super::super::value::Value;
use super::{Evaluator, document, format, math, text, time};
use std::borrow::Cow;

impl<'d> Evaluator<'_, 'd> {
    /// The value of a function for these arguments, of which there are as many as its signature demands.
    ///
    /// A method of null is null, but for those that say what null is: `ToString`, `IsNullOrEmpty`, `ParseInt`.
    pub(super) fn call(&mut self, function: Function, arguments: &'d [Expression]) -> Result<Value<'d>> {
        let Some((first, rest)) = arguments.split_first() else { return Ok(Value::Missing) };
        let first = self.evaluate(first)?;
        match function {
            Function::ToString => {
                let format = if let Some(format) = rest.first() { Some(self.evaluate(format)?) } else { None };
                format::to_string(first, format)
            }
            Function::ParseInt | Function::ParseLong | Function::ParseDouble | Function::ParseDecimal => {
                let default = if let Some(default) = rest.first() { Some(self.evaluate(default)?) } else { None };
                Ok(format::parse_or(function, &first, default))
            }
            Function::IsNullOrEmpty => Ok(Value::Bool(first.is_null() || text_of(function, &first)?.is_empty())),
            Function::IsNullOrWhiteSpace => {
                Ok(Value::Bool(first.is_null() || text_of(function, &first)?.trim().is_empty()))
            }
            Function::Format | Function::Join | Function::ConcatTexts => {
                let mut values = vec![first];
                values.append(&mut self.all(rest)?);
                match function {
                    Function::Format => format::format(&values),
                    Function::Join => {
                        let separator = display(&values.remove(0));
                        let values = self.flattened(values)?;
                        text::joined(values.iter().map(display), &separator)
                    }
                    _ => {
                        let values = self.flattened(values)?;
                        text::joined(values.iter().map(display), "")
                    }
                }
            }
            Function::Equals => {
                let second = self.argument(rest)?;
                Ok(Value::Bool(equal(&first.read(), &second.read())?))
            }
            Function::Boost => document::boost(first, self.argument(rest)?),
            Function::CreateField => document::create_field(first, self.all(rest)?),
            Function::CreateVector => Ok(document::create_vector(first)),
            Function::CreateSpatialField => document::create_spatial_field(first, self.all(rest)?),
            _ if first.is_null() => Ok(Value::Missing),
            Function::CompareTo => {
                let second = self.argument(rest)?;
                order(&first.read(), &second.read()).map(|ordering| Value::Long(ordering as i64))
            }
            Function::Contains => self.contains(first, rest),
            Function::ContainsKey => {
                let key = self.argument(rest)?;
                let value = super::member::index(first, Value::Text(display(&key)))?;
                Ok(Value::Bool(!matches!(value, Value::Missing)))
            }
            Function::Subtract => {
                let second = self.argument(rest)?;
                binary(Operator::Subtract, first, second)
            }
            Function::Id
            | Function::MetadataFor
            | Function::AsJson
            | Function::LoadDocument
            | Function::LoadDocumentUnfollowed
            | Function::LoadCompareExchangeValue
            | Function::AttachmentsFor
            | Function::CounterNamesFor
            | Function::TimeSeriesNamesFor
            | Function::LoadAttachment
            | Function::LoadAttachments
            | Function::GetContentAsString
            | Function::IfEntityIs => {
                let rest = self.all(rest)?;
                self.of_document(function, first, &rest)
            }
            Function::IsMatch
            | Function::Match
            | Function::Matches
            | Function::ReplaceMatches
            | Function::SplitMatches => {
                let rest = self.all(rest)?;
                self.match_dynamic(function, &first, &rest)
            }
            _ => {
                let rest = self.all(rest)?;
                if let Some(result) = text::call(function, &first, &rest) {
                    return result;
                }
                match math::call(function, &first, &rest) {
                    Some(result) => result,
                    None => time::call(function, &first, &rest),
                }
            }
        }
    }

    fn argument(&mut self, rest: &'d [Expression]) -> Result<Value<'d>> {
        rest.first().map_or(Ok(Value::Missing), |argument| self.evaluate(argument))
    }

    /// A text in a text, or an element in an array.
    fn contains(&mut self, value: Value<'d>, rest: &'d [Expression]) -> Result<Value<'d>> {
        let wanted = self.argument(rest)?;
        if let Some(text) = value.as_text() {
            return Ok(match wanted.as_text() {
                Some(wanted) => Value::Bool(text.contains(&*wanted)),
                None => Value::Bool(false),
            });
        }
        let wanted = super::super::identity::identity(&wanted);
        let elements = self.elements(value)?;
        Ok(Value::Bool(elements.iter().any(|element| super::super::identity::identity(element) == wanted)))
    }

    /// The elements of the one array that is given, or what is given.
    fn flattened(&mut self, mut values: Vec<Value<'d>>) -> Result<Vec<Value<'d>>> {
        match values.first() {
            Some(value) if values.len() == 1 && (value.is_array() || value.is_null()) => {
                self.elements(values.remove(0))
            }
            _ => Ok(values),
        }
    }
}

/// The text that a function needs.
pub(super) fn text_of<'d>(function: Function, value: &Value<'d>) -> Result<Cow<'d, str>> {
    value.as_text().ok_or_else(|| MapError::Argument { function: function.name(), found: value.type_name() })
}
