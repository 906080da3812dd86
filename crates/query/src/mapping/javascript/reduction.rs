//! The text of a reduce, taken apart: `groupBy(key).aggregate(function)`.

use super::super::error::CompileError;
use super::super::limits::EXPRESSION_DEPTH_MAX;
use super::definition::SourceFunction;
use super::syntax::{Lambda, closing, path, properties};

/// A reduce.
#[derive(Debug)]
pub(super) struct Reduction<'t> {
    pub key: Key<'t>,
    pub function: SourceFunction<'t>,
    /// What stands before and behind: functions that it may call.
    pub declarations: String,
}

/// What mapped values are grouped by.
#[derive(Debug)]
pub(super) enum Key<'t> {
    /// `x => x.a.b`
    Value(Vec<&'t str>),
    /// `x => ({ a: x.a, b: x.b.c })`
    Object(Vec<(&'t str, Vec<&'t str>)>),
}

impl<'t> Reduction<'t> {
    /// # Errors
    ///
    /// [`CompileError`] if it is none.
    pub fn of(text: &'t str) -> Result<Reduction<'t>, CompileError> {
        let wrong = |at: usize, message: &str| CompileError::at(text, at, message);
        let tokens = script::tokens(text).ok_or_else(|| wrong(0, "A bracket, a text or a comment is not closed"))?;
        let words: Vec<&'t str> = tokens.iter().map(|token| &text[token.start..token.end]).collect();
        let start_of = |place: usize| tokens.get(place).map_or(text.len(), |token| token.start);
        const FORM: &str = "A reduce in JavaScript is groupBy(key).aggregate(function)";
        let first = words.windows(2).position(|pair| pair == ["groupBy", "("]).ok_or_else(|| wrong(0, FORM))?;
        let close = closing(&words, first + 1).ok_or_else(|| wrong(start_of(first), FORM))?;
        let Some([".", "aggregate", "("]) = words.get(close + 1..close + 4) else {
            return Err(wrong(start_of(close + 1), FORM));
        };
        let last = closing(&words, close + 3).ok_or_else(|| wrong(start_of(close + 1), FORM))?;
        if words.get(last + 1).is_some_and(|next| *next == ".") {
            return Err(wrong(start_of(last + 1), FORM));
        }
        let key = words.get(first + 2..close).and_then(Key::of).ok_or_else(|| {
            wrong(start_of(first + 2), "'groupBy' takes a function that gives a property, or an object of properties")
        })?;
        let function = tokens.get(close + 4..last).unwrap_or_default().to_vec();
        let (Some(begin), Some(end)) = (function.first(), function.last()) else {
            return Err(wrong(start_of(last), "'aggregate' takes a function of a group"));
        };
        let function = SourceFunction { text: &text[begin.start..end.end], tokens: function, whole: text };
        let behind = tokens.get(last).map_or("", |token| &text[token.end..]);
        let declarations = format!("{}\n{behind}", &text[..start_of(first)]);
        Ok(Reduction { key, function, declarations })
    }
}

impl<'t> Key<'t> {
    fn of(words: &[&'t str]) -> Option<Key<'t>> {
        let lambda = Lambda::of(words)?;
        let [parameter] = lambda.parameters.as_slice() else { return None };
        // Each name is a level of the stack when it is read.
        let path = |words| path(words, parameter).filter(|path| path.len() < EXPRESSION_DEPTH_MAX);
        if let Some(path) = path(lambda.body) {
            return Some(Key::Value(path));
        }
        let parts = properties(lambda.body)?.into_iter().map(|(name, words)| Some((name, path(words)?)));
        parts.collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty()).map(Key::Object)
    }
}
