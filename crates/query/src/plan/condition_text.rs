//! Conditions as text that people read: how explanations and plans call them, much as Lucene writes queries.

use super::condition::{Condition, FieldUse, Sought, TextQuery};
use super::lucene::LuceneQuery;
use super::search_text::{SearchPart, Wildcard};
use crate::index::Number;
use crate::spatial::Operation;
use std::fmt::{self, Display, Formatter};
use std::ops::Bound;

impl Condition {
    /// What kind of condition it is.
    pub fn operator(&self) -> &'static str {
        match self {
            Condition::All => "all",
            Condition::Nothing => "nothing",
            Condition::Ids(_) => "ids",
            Condition::IdPrefix(_) => "idPrefix",
            Condition::AnyOf(_, values) if values.len() == 1 => "term",
            Condition::AnyOf(..) => "in",
            Condition::AllOf(..) => "allIn",
            Condition::Numbers(..) | Condition::Texts(..) => "range",
            Condition::Prefix(..) => "startsWith",
            Condition::Suffix(..) => "endsWith",
            Condition::Pattern(..) => "regex",
            Condition::Exists(_) => "exists",
            Condition::And(_) => "and",
            Condition::Or(_) => "or",
            Condition::Not(_) => "not",
            Condition::OfDocuments(_) => "ofDocuments",
            Condition::Words(_, TextQuery::Search { .. }) => "search",
            Condition::Words(_, TextQuery::Fuzzy { .. }) => "fuzzy",
            Condition::Words(_, TextQuery::Proximity { .. }) => "proximity",
            Condition::Words(_, TextQuery::Lucene { .. }) => "lucene",
            Condition::Boosted(..) => "boost",
            Condition::Like(_) => "moreLikeThis",
            Condition::Spatial(..) => "spatial",
            Condition::Vector(..) => "vector",
        }
    }

    /// The field that it is about, if it is one.
    pub fn field(&self) -> Option<&FieldUse> {
        match self {
            Condition::AnyOf(field, _)
            | Condition::AllOf(field, _)
            | Condition::Numbers(field, ..)
            | Condition::Texts(field, ..)
            | Condition::Prefix(field, _)
            | Condition::Suffix(field, _)
            | Condition::Pattern(field, _)
            | Condition::Exists(field)
            | Condition::Words(field, _)
            | Condition::Spatial(field, _)
            | Condition::Vector(field, _) => Some(field),
            Condition::All
            | Condition::Nothing
            | Condition::Ids(_)
            | Condition::IdPrefix(_)
            | Condition::And(_)
            | Condition::Or(_)
            | Condition::Not(_)
            | Condition::OfDocuments(_)
            | Condition::Boosted(..)
            | Condition::Like(_) => None,
        }
    }

    /// The conditions that it is made of.
    pub fn operands(&self) -> &[Condition] {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => conditions,
            Condition::Not(condition) | Condition::OfDocuments(condition) | Condition::Boosted(condition, _) => {
                std::slice::from_ref(condition)
            }
            _ => &[],
        }
    }

    /// The same, to be changed.
    pub(super) fn operands_mut(&mut self) -> &mut [Condition] {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => conditions,
            Condition::Not(condition) | Condition::OfDocuments(condition) | Condition::Boosted(condition, _) => {
                std::slice::from_mut(condition)
            }
            _ => &mut [],
        }
    }

    /// What it asks of its field, or of entries; nothing of conditions that are made of others.
    pub fn write_argument(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Condition::All | Condition::Exists(_) => f.write_str("*"),
            Condition::Nothing
            | Condition::And(_)
            | Condition::Or(_)
            | Condition::Not(_)
            | Condition::OfDocuments(_) => Ok(()),
            Condition::Ids(ids) => write!(f, "{}", Several(ids, ", ")),
            Condition::IdPrefix(prefix) | Condition::Prefix(_, prefix) => write!(f, "{prefix}*"),
            Condition::AnyOf(_, values) | Condition::AllOf(_, values) => write!(f, "{}", Several(values, ", ")),
            Condition::Numbers(_, low, high) => write!(f, "{}", Range(low, high)),
            Condition::Texts(_, low, high) => write!(f, "{}", Range(low, high)),
            Condition::Suffix(_, suffix) => write!(f, "*{suffix}"),
            Condition::Pattern(_, regex) => write!(f, "/{regex}/"),
            Condition::Words(_, query) => write!(f, "{query}"),
            Condition::Boosted(_, boost) => write!(f, "{boost}"),
            Condition::Spatial(_, query) => f.write_str(match query.operation {
                Operation::Within => "within",
                Operation::Contains => "contains",
                Operation::Intersects => "intersects",
                Operation::Disjoint => "disjoint",
            }),
            Condition::Vector(_, query) => {
                let kind = if query.is_exact { "exact" } else { "nearest" };
                write!(f, "{kind} {} >= {}", query.count_max, query.similarity_min)
            }
            Condition::Like(like) => {
                write!(f, "{}", like.fields.as_ref().map_or(String::new(), |names| names.join(", ")))
            }
        }
    }
}

/// As Lucene writes queries: `Name:ann`, `Age:[3 TO *]`.
impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self, self.field()) {
            (Condition::All, _) => f.write_str("*:*"),
            (_, Some(field)) => {
                write!(f, "{}:", field.name.stored(field.analysis))?;
                self.write_argument(f)
            }
            (Condition::Ids(_) | Condition::IdPrefix(_), None) => {
                f.write_str("id():")?;
                self.write_argument(f)
            }
            // The depth of the recursion is that of the query's text, which is bounded.
            (Condition::Boosted(condition, boost), None) => write!(f, "({condition})^{boost}"),
            (Condition::Not(condition), None) => write!(f, "-({condition})"),
            (Condition::OfDocuments(condition), None) => write!(f, "documents({condition})"),
            (Condition::And(conditions), None) => write!(f, "({})", Several(conditions, " AND ")),
            (Condition::Or(conditions), None) => write!(f, "({})", Several(conditions, " OR ")),
            (_, None) => f.write_str(self.operator()),
        }
    }
}

impl Display for Sought {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Sought::Null => f.write_str("null"),
            Sought::Text(text) => f.write_str(text),
            Sought::Number(number) => write!(f, "{}", Shown(number)),
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
struct Several<'s, T>(&'s [T], &'static str);

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
struct Range<'r, T>(&'r Bound<T>, &'r Bound<T>);

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
