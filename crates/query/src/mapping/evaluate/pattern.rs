//! `Regex`: regular expressions of the syntax that .NET and this engine share. There is no backtracking, so look-around and
//! references to groups are refused, and no text takes longer than its length allows.

use super::super::display::display;
use super::super::error::{MapError, Result};
use super::super::expression::Matching;
use super::super::function::Function;
use super::super::limits::{PATTERN_COUNT_MAX, PATTERN_SIZE_MAX, TEXT_SIZE_MAX};
use super::super::value::{Names, Object, Value};
use super::Evaluator;
use regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;
use std::rc::Rc;

/// Patterns that were compiled while evaluating, the last ones.
#[derive(Default)]
pub(crate) struct Patterns(Vec<(String, Regex)>);

impl Patterns {
    fn get(&mut self, pattern: &str) -> Result<Regex> {
        if let Some((_, regex)) = self.0.iter().find(|(known, _)| known == pattern) {
            return Ok(regex.clone());
        }
        let regex = compile(pattern)?;
        if self.0.len() == PATTERN_COUNT_MAX {
            self.0.remove(0);
        }
        self.0.push((pattern.to_owned(), regex.clone()));
        Ok(regex)
    }
}

/// Compiles a pattern.
///
/// # Errors
///
/// [`MapError::Pattern`] if it is none, uses what is not supported, or takes too much memory.
pub(crate) fn compile(pattern: &str) -> Result<Regex> {
    let built = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE_MAX).build();
    built.map_err(|_| MapError::Pattern(pattern.to_owned()))
}

impl<'d> Evaluator<'_, 'd> {
    pub(super) fn matching(&mut self, matching: &'d Matching) -> Result<Value<'d>> {
        let arguments = self.all(&matching.arguments)?;
        let Some((text, rest)) = arguments.split_first() else { return Ok(Value::Missing) };
        if text.is_null() {
            return Ok(Value::Missing);
        }
        apply(matching.function, &matching.pattern, text, rest)
    }

    /// A function whose pattern is computed.
    pub(super) fn match_dynamic(
        &mut self,
        function: Function,
        text: &Value<'d>,
        rest: &[Value<'d>],
    ) -> Result<Value<'d>> {
        let Some((pattern, rest)) = rest.split_first() else { return Ok(Value::Missing) };
        let pattern = self.patterns.get(&display(pattern))?;
        apply(function, &pattern, text, rest)
    }
}

fn apply<'d>(function: Function, pattern: &Regex, text: &Value<'d>, rest: &[Value<'d>]) -> Result<Value<'d>> {
    let text = super::call::text_of(function, text)?;
    Ok(match function {
        Function::IsMatch => Value::Bool(pattern.is_match(&text)),
        Function::Match => found(&text, pattern.captures(&text)),
        Function::Matches => {
            Value::array(pattern.captures_iter(&text).map(|captures| found(&text, Some(captures))).collect())
        }
        Function::SplitMatches => Value::array(pattern.split(&text).map(|part| Value::text(part.to_owned())).collect()),
        _ => {
            let replacement = rest.first().map(display).unwrap_or_default();
            let mut out = String::new();
            let mut end = 0;
            for captures in pattern.captures_iter(&text) {
                let Some(whole) = captures.get(0) else { continue };
                out.push_str(&text[end..whole.start()]);
                captures.expand(&replacement, &mut out);
                end = whole.end();
                if out.len() > TEXT_SIZE_MAX {
                    return Err(MapError::TooLong);
                }
            }
            out.push_str(&text[end..]);
            Value::text(out)
        }
    })
}

/// A match as an object: `Success`, `Value`, `Index`, `Length`, `Groups`.
fn found<'d>(text: &str, captures: Option<Captures<'_>>) -> Value<'d> {
    let groups = captures.iter().flat_map(|captures| captures.iter());
    let groups: Vec<Value<'d>> = groups.map(|group| part(text, group.map(|group| group.range()), None)).collect();
    let whole = captures.and_then(|captures| captures.get(0).map(|whole| whole.range()));
    part(text, whole, Some(Value::array(groups)))
}

fn part<'d>(text: &str, range: Option<std::ops::Range<usize>>, groups: Option<Value<'d>>) -> Value<'d> {
    let is_success = range.is_some();
    let range = range.unwrap_or(0..0);
    let count = |text: &str| Value::Long(i64::try_from(text.chars().count()).unwrap_or(i64::MAX));
    let value = &text[range.clone()];
    let mut names = vec!["Success", "Value", "Index", "Length"];
    let mut values =
        vec![Value::Bool(is_success), Value::text(value.to_owned()), count(&text[..range.start]), count(value)];
    if let Some(groups) = groups {
        names.push("Groups");
        values.push(groups);
    }
    let names = names.into_iter().map(Cow::Borrowed).collect();
    Value::Object(Rc::new(Object { names: Names::Dynamic(names), values }))
}
