//! What conditions ask for as text that people read, in explanations and plans, much as Lucene writes queries. The conditions themselves
//! are written in `execute/conditions/`.

use super::condition::{TermValue, TextQuery};
use super::lucene::LuceneQuery;
use super::search_text::{SearchPart, Wildcard};
use crate::index::Number;
use std::fmt::{self, Display, Formatter};
use std::ops::Bound;

impl Display for TermValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TermValue::Null => f.write_str("null"),
            TermValue::Text(text) => f.write_str(text),
            TermValue::Number(number) => write!(f, "{}", Shown(number)),
        }
    }
}

impl Display for TextQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TextQuery::Search { parts, is_all } => write!(f, "{}", Several(parts, if *is_all { " AND " } else { " " })),
            TextQuery::Fuzzy { text, similarity } => write!(f, "{text}~{similarity}"),
            TextQuery::Proximity { parts, distance } => write!(f, "\"{}\"~{distance}", Several(parts, " ")),
            TextQuery::Lucene { query, .. } => query.fmt(f),
        }
    }
}

impl Display for SearchPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let SearchPart { text, wildcard } = self;
        match wildcard {
            Wildcard::None if text.contains(char::is_whitespace) => write!(f, "\"{text}\""),
            Wildcard::None => f.write_str(text),
            Wildcard::Behind => write!(f, "{text}*"),
            Wildcard::Before => write!(f, "*{text}"),
            Wildcard::Around => write!(f, "*{text}*"),
        }
    }
}

impl Display for LuceneQuery {
    /// The depth of the recursion is that of the query's text, which is bounded.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LuceneQuery::All => f.write_str("*:*"),
            LuceneQuery::Words(_, text) | LuceneQuery::Wildcard(_, text) => f.write_str(text),
            LuceneQuery::Phrase(_, text, 0) => write!(f, "\"{text}\""),
            LuceneQuery::Phrase(_, text, distance) => write!(f, "\"{text}\"~{distance}"),
            LuceneQuery::Fuzzy(_, text, similarity) => write!(f, "{text}~{similarity}"),
            LuceneQuery::Range(_, low, high) => write_range(f, low, high),
            LuceneQuery::Boosted(query, boost) => write!(f, "({query})^{boost}"),
            LuceneQuery::Several { must, may, must_not } => {
                let signs = [("+", must), ("", may), ("-", must_not)];
                let all = signs.iter().flat_map(|(sign, queries)| queries.iter().map(move |query| (sign, query)));
                all.enumerate()
                    .try_for_each(|(at, (sign, query))| write!(f, "{}{sign}({query})", if at == 0 { "" } else { " " }))
            }
        }
    }
}

/// Several, with something between.
pub(crate) struct Several<'s, T>(pub &'s [T], pub &'static str);

impl<T: Display> Display for Several<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, one)| {
            f.write_str(if at == 0 { "" } else { self.1 })?;
            one.fmt(f)
        })
    }
}

struct Shown<'s>(&'s Number);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Number::Long(long) => long.fmt(f),
            Number::Double(double) => double.fmt(f),
        }
    }
}

/// `[low TO high}`: a square bracket takes the bound in.
pub(crate) struct Range<'r, T>(pub &'r Bound<T>, pub &'r Bound<T>);

impl Display for Range<'_, Number> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shown = |bound: &'_ Bound<Number>| bound.map(|number| Shown(&number).to_string());
        write_range(f, &shown(self.0), &shown(self.1))
    }
}

impl Display for Range<'_, String> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_range(f, self.0, self.1)
    }
}

/// `[low TO high}`
pub(crate) fn write_range(f: &mut Formatter<'_>, low: &Bound<String>, high: &Bound<String>) -> fmt::Result {
    f.write_str(if matches!(low, Bound::Excluded(_)) { "{" } else { "[" })?;
    match low {
        Bound::Unbounded => f.write_str("*")?,
        Bound::Included(low) | Bound::Excluded(low) => f.write_str(low)?,
    }
    f.write_str(" TO ")?;
    match high {
        Bound::Unbounded => f.write_str("*")?,
        Bound::Included(high) | Bound::Excluded(high) => f.write_str(high)?,
    }
    f.write_str(if matches!(high, Bound::Excluded(_)) { "}" } else { "]" })
}
