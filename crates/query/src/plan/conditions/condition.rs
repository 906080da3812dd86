//! Conditions (predicates) on the fields of an index, with parameters substituted. Texts are as in the query: the index decides how
//! they are analysed.

use super::lucene::LuceneQuery;
use super::search_text::SearchPart;
use crate::definition::{FieldUse, terms};
use crate::index::{EntryId, Number};
use crate::plan::MoreLikeThis;
use crate::spatial::{Geometry, Operation, Units};
use regex::Regex;
use std::ops::Bound;
use std::sync::Arc;

/// Which entries of an index are wanted.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All.
    All,
    /// None.
    Nothing,
    /// Those of these documents.
    Ids(Vec<String>),
    /// Those of documents whose id begins so.
    IdPrefix(String),
    /// Those of documents whose id is between two bounds, in the order of the bytes of lower-cased ids.
    IdRange(Bound<String>, Bound<String>),
    /// Those with any of these terms.
    AnyOf(FieldUse, Vec<TermValue>),
    /// Those with all of these terms.
    AllOf(FieldUse, Vec<TermValue>),
    /// Those with a number between two bounds.
    Numbers(FieldUse, Bound<Number>, Bound<Number>),
    /// Those with a text between two bounds, in the order of bytes.
    Texts(FieldUse, Bound<String>, Bound<String>),
    /// Those with a text that begins so.
    Prefix(FieldUse, String),
    /// Those with a text that ends so.
    Suffix(FieldUse, String),
    /// Those with a text that a regular expression fits.
    Pattern(FieldUse, Regex),
    /// Those that have the field, if only as null.
    Exists(FieldUse),
    /// Those that are in all of these; at least two.
    And(Vec<Condition>),
    /// Those that are in any of these; at least two.
    Or(Vec<Condition>),
    /// All others.
    Not(Box<Condition>),
    /// All entries of documents that have one of these.
    OfDocuments(Box<Condition>),
    /// Those whose words fit to a text.
    Words(FieldUse, TextQuery),
    /// The same ones, counting so much more in scores.
    Boosted(Box<Condition>, f32),
    /// Those with a shape that lies so to one.
    Spatial(FieldUse, Box<SpatialQuery>),
    /// Those with a vector that is near to one.
    Vector(FieldUse, Box<VectorQuery>),
    /// Those that are like another one.
    Like(Box<MoreLikeThis>),
}

impl Condition {
    /// All of some conditions. Neighbours of which one bounds a field from below and the other from above are one range: one value has to
    /// be within both.
    ///
    /// * `conditions`: at least one.
    pub(in crate::plan) fn all_of(conditions: Vec<Condition>) -> Condition {
        let mut all: Vec<Condition> = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let both = all.last().and_then(|before| before.between(&condition));
            if both.is_some() {
                all.pop();
            }
            all.push(both.unwrap_or(condition));
        }
        match <[Condition; 1]>::try_from(all) {
            Ok([condition]) => condition,
            Err(all) => Condition::And(all),
        }
    }

    /// Those that are in any of these; one alone is that one.
    pub fn any_of(any: Vec<Condition>) -> Condition {
        match <[Condition; 1]>::try_from(any) {
            Ok([condition]) => condition,
            Err(any) => Condition::Or(any),
        }
    }

    /// The conditions that it is made of.
    pub fn operands(&self) -> &[Condition] {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => conditions,
            Condition::Not(condition) | Condition::OfDocuments(condition) | Condition::Boosted(condition, _) => {
                std::slice::from_ref(condition)
            }
            Condition::All
            | Condition::Nothing
            | Condition::Ids(_)
            | Condition::IdPrefix(_)
            | Condition::IdRange(..)
            | Condition::AnyOf(..)
            | Condition::AllOf(..)
            | Condition::Numbers(..)
            | Condition::Texts(..)
            | Condition::Prefix(..)
            | Condition::Suffix(..)
            | Condition::Pattern(..)
            | Condition::Exists(_)
            | Condition::Words(..)
            | Condition::Spatial(..)
            | Condition::Vector(..)
            | Condition::Like(_) => &[],
        }
    }

    /// The same, to be changed.
    fn operands_mut(&mut self) -> &mut [Condition] {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => conditions,
            Condition::Not(condition) | Condition::OfDocuments(condition) | Condition::Boosted(condition, _) => {
                std::slice::from_mut(condition)
            }
            Condition::All
            | Condition::Nothing
            | Condition::Ids(_)
            | Condition::IdPrefix(_)
            | Condition::IdRange(..)
            | Condition::AnyOf(..)
            | Condition::AllOf(..)
            | Condition::Numbers(..)
            | Condition::Texts(..)
            | Condition::Prefix(..)
            | Condition::Suffix(..)
            | Condition::Pattern(..)
            | Condition::Exists(_)
            | Condition::Words(..)
            | Condition::Spatial(..)
            | Condition::Vector(..)
            | Condition::Like(_) => &mut [],
        }
    }

    /// The range of which this is the one end and another condition the other. `None`: they are no such ends.
    fn between(&self, other: &Condition) -> Option<Condition> {
        fn ends<'b, T>(one: [&'b Bound<T>; 2], other: [&'b Bound<T>; 2]) -> Option<[&'b Bound<T>; 2]> {
            match (one, other) {
                ([low, Bound::Unbounded], [Bound::Unbounded, high])
                | ([Bound::Unbounded, high], [low, Bound::Unbounded]) => {
                    let is_end = |bound: &Bound<T>| !matches!(bound, Bound::Unbounded);
                    (is_end(low) && is_end(high)).then_some([low, high])
                }
                _ => None,
            }
        }
        match (self, other) {
            (Condition::Numbers(field, a, b), Condition::Numbers(of, c, d)) if field == of => {
                let [low, high] = ends([a, b], [c, d])?;
                Some(Condition::Numbers(field.clone(), *low, *high))
            }
            (Condition::IdRange(a, b), Condition::IdRange(c, d)) => {
                let [low, high] = ends([a, b], [c, d])?;
                Some(Condition::IdRange(low.clone(), high.clone()))
            }
            (Condition::Texts(field, a, b), Condition::Texts(of, c, d)) if field == of => {
                let [low, high] = ends([a, b], [c, d])?;
                let is_date = |bound: &Bound<String>| match bound {
                    Bound::Included(text) | Bound::Excluded(text) => terms::time(text, field.analysis.kind()).is_some(),
                    Bound::Unbounded => false,
                };
                (is_date(low) == is_date(high)).then(|| Condition::Texts(field.clone(), low.clone(), high.clone()))
            }
            _ => None,
        }
    }

    /// Whether it orders what it finds by how well it fits, if nothing else is said.
    pub fn is_boosted(&self) -> bool {
        matches!(self, Condition::Boosted(..) | Condition::Like(_) | Condition::Vector(..))
            || self.operands().iter().any(Condition::is_boosted)
    }

    /// True if the condition computes a score for each match.
    pub fn is_scoring(&self) -> bool {
        matches!(self, Condition::Boosted(..) | Condition::Words(..) | Condition::Like(_) | Condition::Vector(..))
            || self.operands().iter().any(Condition::is_scoring)
    }

    /// Calls `each` with whatever is to be like something.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub fn likenesses<E>(&mut self, each: &mut dyn FnMut(&mut MoreLikeThis) -> Result<(), E>) -> Result<(), E> {
        match self {
            Condition::Like(like) => each(like),
            condition => condition.operands_mut().iter_mut().try_for_each(|condition| condition.likenesses(each)),
        }
    }

    /// Whether vectors are looked for.
    pub fn has_vectors(&self) -> bool {
        matches!(self, Condition::Vector(..)) || self.operands().iter().any(Condition::has_vectors)
    }

    /// Calls `each` with whatever looks for vectors.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub fn vectors<E>(&mut self, each: &mut dyn FnMut(&FieldUse, &mut VectorQuery) -> Result<(), E>) -> Result<(), E> {
        match self {
            Condition::Vector(field, query) => each(field, query),
            condition => condition.operands_mut().iter_mut().try_for_each(|condition| condition.vectors(each)),
        }
    }

    /// Whether something is to be like something whose stop words are not known yet.
    pub fn lacks_stop_words(&self) -> bool {
        matches!(self, Condition::Like(like) if like.stop_words_document.is_some())
            || self.operands().iter().any(Condition::lacks_stop_words)
    }
}

/// What the vectors of a field are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorQuery {
    /// To what they are to be near.
    pub asked: VectorTarget,
    /// How near at least, from 0 to 1: [`crate::vector::is_near`].
    pub similarity_min: f32,
    /// As many vectors, the nearest, for each that is given.
    pub count_max: usize,
    /// Whether all are compared, and not those that the graph leads to.
    pub is_exact: bool,
    /// What it found, if that is known already.
    pub found: Option<Neighbours>,
}

/// The query vectors of a nearest-neighbour search.
#[derive(Clone, Debug, PartialEq)]
pub enum VectorTarget {
    /// One or several vectors as JSON; the field decides how they are read.
    Given(Vec<u8>),
    /// The vectors of a document in the index.
    Document(String),
}

/// Entries, rising, with how near each is.
pub type Neighbours = Arc<[(EntryId, f32)]>;

/// A spatial predicate on the shapes of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct SpatialQuery {
    /// How they are to lie.
    pub operation: Operation,
    /// To what.
    pub geometry: Geometry,
    /// The unit of its radii; `None`: that of the field.
    pub units: Option<Units>,
}

/// A full-text predicate on the words of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum TextQuery {
    /// Words, phrases and wildcards.
    Search {
        /// The parts of the text, in their order.
        parts: Vec<SearchPart>,
        /// Whether all must be there, and not only one.
        is_all: bool,
    },
    /// A word that is like this one.
    Fuzzy {
        /// The word.
        text: String,
        /// Only what is liker than this: from 0 to below 1.
        similarity: f32,
    },
    /// The words of a text not far from each other.
    Proximity {
        /// The parts of the text.
        parts: Vec<SearchPart>,
        /// By how many places they may be moved in all.
        distance: u32,
    },
    /// A query of Lucene's.
    Lucene {
        /// The query.
        query: LuceneQuery,
        /// Fields that it names, after its own one.
        fields: Vec<FieldUse>,
    },
}

/// A literal of a predicate, as a term of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermValue {
    /// A present null.
    Null,
    /// A text.
    Text(String),
    /// A number.
    Number(Number),
}
