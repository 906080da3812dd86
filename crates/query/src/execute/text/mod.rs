//! Full-text matching: predicates compiled for the analyzer of each field.
//!
//! A [`TextMatcher`] is compiled from a [`crate::plan::TextQuery`] when a query runs ([`mod@compiler`]), is evaluated to ids
//! ([`mod@find`]), and scores ([`super::score`]).

mod compiler;
mod find;
mod fuzzy;
mod glob;
mod like_this;
mod phrase;

pub(super) use compiler::TextCompiler;
pub(super) use find::ids;
pub(super) use phrase::Phrase;

use crate::index::{EntrySet, FieldNumber};
use crate::plan::conditions::text as condition_text;
use glob::Glob;
use std::fmt;
use std::ops::{Bound, RangeBounds};

/// A full-text predicate on the terms of one index.
#[derive(Clone, Debug)]
pub(super) enum TextMatcher {
    /// None.
    Nothing,
    /// All.
    All,
    /// These.
    Entries(EntrySet),
    /// Those with a word.
    Word(FieldNumber, String),
    /// Those with any word of a kind.
    Like(FieldNumber, Pattern),
    /// Those with several words near to each other.
    Phrase(Phrase),
    /// Those that several others agree on.
    Several(Several),
    /// The same ones, counting so much more.
    Boosted(Box<TextMatcher>, f32),
}

/// Words of a kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// Those that begin so.
    Prefix(String),
    /// Those that end so.
    Suffix(String),
    /// Those that have it anywhere.
    Part(String),
    /// Those that fit to it, by `*` and `?`; `\` takes the next character as it is.
    Glob(Glob),
    /// Those between two bounds, in the order of bytes.
    Range(Bound<String>, Bound<String>),
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Prefix(prefix) => write!(f, "{prefix}*"),
            Pattern::Suffix(suffix) => write!(f, "*{suffix}"),
            Pattern::Part(part) => write!(f, "*{part}*"),
            Pattern::Glob(glob) => glob.fmt(f),
            Pattern::Range(low, high) => condition_text::write_range(f, low, high),
        }
    }
}

impl Pattern {
    /// Whether a word is of the kind.
    pub fn fits(&self, word: &str) -> bool {
        match self {
            Pattern::Prefix(prefix) => word.starts_with(prefix),
            Pattern::Suffix(suffix) => word.ends_with(suffix),
            Pattern::Part(part) => word.contains(part),
            Pattern::Glob(glob) => glob.fits(word),
            Pattern::Range(low, high) => {
                let [low, high] = [low, high].map(|bound| bound.as_ref().map(String::as_str));
                <(Bound<&str>, Bound<&str>) as RangeBounds<str>>::contains(&(low, high), word)
            }
        }
    }
}

/// What must be, what may be, and what must not be. Without anything that must be, something that may be has to.
#[derive(Clone, Debug, Default)]
pub(super) struct Several {
    pub must: Vec<TextMatcher>,
    pub may: Vec<TextMatcher>,
    pub must_not: Vec<TextMatcher>,
    /// Whether it counts how many of them there are.
    pub counts: bool,
}

impl TextMatcher {
    /// Any of these.
    fn any_of(mut matcher: Vec<TextMatcher>) -> TextMatcher {
        match matcher.len() {
            0 => TextMatcher::Nothing,
            1 => matcher.remove(0),
            _ => TextMatcher::Several(Several { may: matcher, counts: true, ..Several::default() }),
        }
    }

    /// All of these.
    fn all_of(mut matcher: Vec<TextMatcher>) -> TextMatcher {
        match matcher.len() {
            0 => TextMatcher::Nothing,
            1 => matcher.remove(0),
            _ => TextMatcher::Several(Several { must: matcher, counts: true, ..Several::default() }),
        }
    }
}
