//! The functions of RQL: a closed table, with a file for each function or family.
//!
//! A row ([`Function`]) has the name, the arguments, the documentation, and the uses of a function: in which clauses it may stand and how
//! each of them plans it. The parser accepts calls by their shape. The planner of a clause looks the name up here and takes the row's use
//! for that clause; no planner compares a call with a literal name. `docs/rql.md` and the completion of the studio are written from the
//! table, which `tests/functions.rs` checks. The design is in `docs/design/functions.md`.

mod affix;
mod argument;
mod boost;
mod clause;
mod compare_exchange;
mod counter;
mod exact;
mod exists;
pub(crate) mod facet;
mod function;
mod fuzzy;
mod groups;
pub(crate) mod highlight;
mod id;
mod include;
mod intersect;
mod lucene;
mod metadata;
mod missing;
pub(crate) mod more_like_this;
mod order;
mod proximity;
mod regex;
mod search;
mod spatial;
pub(crate) mod suggest;
mod time;
mod vector;
mod when;

pub use argument::{Argument, Kind};
pub use clause::Clause;
pub(crate) use clause::{GroupField, Use};
pub(crate) use compare_exchange::{CMPXCHG, value_of};
pub(crate) use counter::{COUNTER, COUNTER_RAW};
pub use function::Function;
pub(crate) use id::ID;
pub(crate) use metadata::GET_METADATA;
pub use time::may_read_time;
pub(crate) use when::is_left_out;

use crate::plan::Refused;
use crate::rql::nearest::nearest;
use std::sync::LazyLock;

/// All functions, by subject. `docs/rql.md` lists them in this order.
pub static FUNCTIONS: &[&Function] = &[
    // Texts.
    &affix::STARTS_WITH,
    &affix::ENDS_WITH,
    &search::SEARCH,
    &lucene::LUCENE,
    &regex::REGEX,
    &fuzzy::FUZZY,
    &proximity::PROXIMITY,
    // Conditions.
    &exact::EXACT,
    &exists::EXISTS,
    &boost::BOOST,
    &intersect::INTERSECT,
    &when::WHEN,
    &more_like_this::MORE_LIKE_THIS,
    // Values and orders.
    &id::ID,
    &metadata::GET_METADATA,
    &compare_exchange::CMPXCHG,
    &time::NOW,
    &time::TODAY,
    &order::SCORE,
    &order::RANDOM,
    // Groups.
    &groups::KEY,
    &groups::COUNT,
    &groups::SUM,
    &groups::ARRAY,
    // Places.
    &spatial::WITHIN,
    &spatial::CONTAINS,
    &spatial::INTERSECTS,
    &spatial::DISJOINT,
    &spatial::DISTANCE,
    &spatial::POINT,
    &spatial::WKT,
    &spatial::CIRCLE,
    // Vectors.
    &vector::SEARCH,
    &vector::F32,
    &vector::F32_I8,
    &vector::F32_I1,
    &vector::I8,
    &vector::I1,
    &vector::FOR_DOCUMENT,
    // Answers in place of results.
    &facet::FACET,
    &facet::MIN,
    &facet::MAX,
    &facet::AVG,
    &suggest::SUGGEST,
    // What comes with results.
    &highlight::HIGHLIGHT,
    &include::EXPLANATIONS,
    &include::TIMINGS,
    &counter::COUNTERS,
    &include::REVISIONS,
    &counter::COUNTER,
    &counter::COUNTER_RAW,
    // Refused by name.
    &order::CUSTOM,
    &missing::TIME_SERIES,
    &missing::OUTPUT,
    &missing::TEXT,
    &missing::TEXT_I8,
    &missing::TEXT_I1,
    &missing::AI_TASK,
];

/// The functions by the length of their names, so that a lookup compares with a few.
static BY_LENGTH: LazyLock<Vec<Vec<(&'static str, &'static Function)>>> = LazyLock::new(|| {
    let mut by_length: Vec<Vec<(&'static str, &'static Function)>> = Vec::new();
    for function in FUNCTIONS.iter().copied() {
        for name in function.names() {
            by_length.resize_with(by_length.len().max(name.len() + 1), Vec::new);
            by_length[name.len()].push((name, function));
        }
    }
    by_length
});

/// The function that a call of this name means, in any case. `None`: there is none.
pub fn find(name: &str) -> Option<&'static Function> {
    let names = BY_LENGTH.get(name.len())?;
    // Nearly all calls are spelled as here, and bytes are compared faster than letters.
    let as_it_is = names.iter().find(|(known, _)| *known == name);
    as_it_is.or_else(|| names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))).map(|(_, function)| *function)
}

/// Whether a call of this name may stand in a clause.
pub(crate) fn stands_in(name: &str, clause: Clause) -> bool {
    find(name).is_some_and(|function| function.uses.iter().any(|usage| usage.clause() == clause))
}

/// Why a call is not a condition of `where`.
pub(crate) fn not_a_condition(name: &str) -> Refused {
    let Some(function) = find(name) else {
        return Refused::Invalid(unknown(name, Clause::Where));
    };
    if function.is_missing(Clause::Where) {
        return Refused::call(function.name, "in a condition");
    }
    let clauses = function.clauses();
    if clauses.contains(&Clause::Where) {
        return not_alone(function.name);
    }
    let names: Vec<&str> = clauses.iter().map(|clause| clause.name()).collect();
    let function = function.name;
    Refused::Invalid(match names.as_slice() {
        [] => format!("Function '{function}' is not a condition of `where`"),
        names => format!("Function '{function}' is not a condition of `where`; it stands in {}", names.join(", ")),
    })
}

/// A call of a function that does not exist, in words, with the one of the clause that was probably meant.
fn unknown(name: &str, clause: Clause) -> String {
    let known = FUNCTIONS.iter().filter(|function| function.clauses().contains(&clause)).map(|function| function.name);
    let hint = nearest(name, known).map_or_else(String::new, |meant| format!(". Did you mean '{meant}'?"));
    format!("Unknown function '{name}' in `{}`{hint}", clause.name())
}

/// Why a call that gives a value is not a condition.
pub(crate) fn not_alone(name: &str) -> Refused {
    Refused::Invalid(format!("{name}() alone is not a condition; compare it with a value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::VectorOptions;
    use std::collections::HashSet;

    #[test]
    fn every_name_is_found_in_any_case_and_means_one_function() {
        let mut names = HashSet::new();
        for function in FUNCTIONS {
            for name in function.names() {
                assert!(names.insert(name.to_ascii_lowercase()), "{name}");
                for spelling in [name.to_owned(), name.to_ascii_uppercase(), name.to_ascii_lowercase()] {
                    assert!(std::ptr::eq(find(&spelling).unwrap(), *function), "{spelling}");
                }
            }
        }
        for unknown in ["", "nonsense", "spatial.", "spatial.withinn", "embedding.f32_f32", "größe"] {
            assert!(find(unknown).is_none(), "{unknown}");
        }
    }

    /// A second use for one clause would never be planned.
    #[test]
    fn no_function_has_two_uses_of_a_kind() {
        for function in FUNCTIONS {
            let kinds: HashSet<_> = function.uses.iter().map(std::mem::discriminant).collect();
            let known = function.uses.iter().filter(|usage| matches!(usage, Use::Known(_))).count();
            assert_eq!(kinds.len() + known.saturating_sub(1), function.uses.len(), "{}", function.name);
            assert!(!function.uses.is_empty() || !function.missing.is_empty(), "{}", function.name);
        }
    }

    /// Names of fields of automatic indexes have them, too.
    #[test]
    fn embeddings_are_those_of_the_names_of_fields() {
        for function in FUNCTIONS {
            if let Some(options) = function.vector_field() {
                let name = function.name.strip_prefix("embedding.").unwrap();
                assert_eq!(VectorOptions::of_function(name), Some(options), "{name}");
            }
        }
    }
}
