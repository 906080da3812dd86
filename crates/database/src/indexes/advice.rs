//! The index adviser: which indexes are unused, covered by others, mergeable, failed, slow, or have fields without values, what to do
//! about each, and what that changes.
//!
//! [`Indexes::advice`] gathers facts of the open indexes; [`advise`] is a pure function of them. Nothing is changed here: an action is
//! a request that an operator sends ([design](../../../../docs/design/queries-that-help.md)).

use std::time::Duration;

use documents::Date;
use json::Value;
use query::definition::AutomaticIndex;
use query::limits::AUTOMATIC_FIELDS_MAX;

use super::open::Index;
use super::registry::Indexes;
use crate::Result;
use crate::limits::{ADVICE_FAN_OUT_MIN, ADVICE_SLOW_PERCENT_MIN, ADVICE_SLOW_TIME_MIN, ADVICE_VALUES_DOCUMENTS_MIN};

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The name of the index; of several that can be merged the first.
    pub index: String,
    /// What is wrong with it.
    pub problem: Problem,
    /// The facts, as a sentence.
    pub message: String,
    /// What to do.
    pub action: Action,
    /// What the action changes, as a sentence.
    pub effect: String,
}

/// What is wrong with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// It stopped.
    Failed,
    /// Documents or fields of documents could not be indexed.
    HasErrors,
    /// Another index answers all that it does.
    Covered,
    /// One automatic index could take the place of several of the same source.
    Mergeable,
    /// No query used it.
    Unused,
    /// Queries asked it for fields that no document has.
    FieldsWithoutValues,
    /// It takes much of the time of indexing.
    Slow,
    /// It has many entries for each document.
    FanOut,
}

impl Problem {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Problem::Failed => "Failed",
            Problem::HasErrors => "HasErrors",
            Problem::Covered => "Covered",
            Problem::Mergeable => "Mergeable",
            Problem::Unused => "Unused",
            Problem::FieldsWithoutValues => "FieldsWithoutValues",
            Problem::Slow => "Slow",
            Problem::FanOut => "FanOut",
        }
    }
}

/// What to do about an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Delete it.
    Delete,
    /// Build it again.
    Reset,
    /// Look at its errors.
    ReadErrors,
    /// Change its definition.
    ChangeDefinition,
    /// Create the automatic index that replaces it and the others, by a query.
    Merge {
        /// The name of the new index.
        name: String,
        /// The fields of the new index.
        fields: Vec<String>,
        /// The indexes that it replaces.
        replaced: Vec<String>,
        /// The query that creates it; `None`: its fields need more than a query of this form says.
        query: Option<String>,
    },
}

/// What is known of one index.
#[derive(Clone, Debug)]
struct IndexFacts {
    name: String,
    /// `None`: a static index.
    automatic: Option<AutomaticIndex>,
    /// The definition of a static index.
    given: Option<Value>,
    /// Its results become documents, which others read without a query of the index.
    has_output: bool,
    /// Queries are answered by it: it is enabled, sound, and was complete once.
    answers: bool,
    collections: String,
    last_query: Option<Date>,
    /// From its last query, or else from its creation or its opening, whichever was later.
    unused_for: Duration,
    failure: Option<String>,
    error_count: u64,
    failed_count: u64,
    entry_count: u64,
    document_count: u64,
    is_grouped: bool,
    fields_without_values: Vec<String>,
    /// Time of its batches since it was opened.
    indexing_time: Duration,
    size: u64,
}

impl Indexes {
    /// Advice on the indexes, by name; nothing is changed.
    ///
    /// * `unused_after`: how long no query used an index that is reported as unused. An index without a query counts from its creation, or
    ///   from the opening of the database if that was later.
    ///
    /// # Errors
    ///
    /// An index cannot be read.
    pub fn advice(&self, unused_after: Duration) -> Result<Vec<Advice>> {
        let now = Date::now();
        // A replacement is about to take the place of the index of its name.
        let indexes = self.all();
        let facts = indexes.iter().filter(|index| !index.is_replacement()).map(|index| IndexFacts::of(index, now));
        Ok(advise(&facts.collect::<Result<Vec<_>>>()?, unused_after))
    }
}

impl IndexFacts {
    fn of(index: &Index, now: Date) -> Result<IndexFacts> {
        let statistics = index.statistics()?;
        let definition = index.definition();
        let collections: Vec<&str> =
            index.sources().iter().map(|source| source.collection.as_deref().unwrap_or("all documents")).collect();
        let failure = index.failure();
        let (mut fields_without_values, mut document_count) = (Vec::new(), 0);
        if failure.is_none() {
            let snapshot = index.read()?;
            document_count = snapshot.document_count();
            if let Some(automatic) = definition.as_automatic()
                && document_count >= ADVICE_VALUES_DOCUMENTS_MIN
            {
                let without = index.fields_without_values(automatic, &snapshot)?;
                fields_without_values = without.iter().map(|field| field.name.path.clone()).collect();
            }
        }
        let since = statistics.last_query.unwrap_or_else(|| index.created().max(index.opened()));
        Ok(IndexFacts {
            name: index.name().to_owned(),
            automatic: definition.as_automatic().cloned(),
            given: definition.as_map().map(|map| map.given().clone()),
            has_output: definition.output().is_some(),
            answers: index.was_complete() && index.is_sound() && !index.settings().is_disabled,
            collections: collections.join(", "),
            last_query: statistics.last_query,
            unused_for: now.since(since),
            failure: failure.map(|error| error.to_string()),
            error_count: statistics.error_count,
            failed_count: statistics.failed_count,
            entry_count: statistics.entry_count,
            document_count,
            is_grouped: definition.is_grouped(),
            fields_without_values,
            indexing_time: statistics.indexing_time,
            size: index.environment().map_or(Ok(0), |environment| environment.used_size())?,
        })
    }

    fn advice(&self, problem: Problem, message: String, action: Action, effect: impl Into<String>) -> Advice {
        Advice { index: self.name.clone(), problem, message, action, effect: effect.into() }
    }

    /// What its deletion changes.
    fn deletion_effect(&self) -> String {
        format!("Frees {} bytes, and writes to {} update one index less.", self.size, self.collections)
    }
}

/// Advice on indexes from what is known of them: by index, the gravest problem of each first.
fn advise(indexes: &[IndexFacts], unused_after: Duration) -> Vec<Advice> {
    let mut advice = Vec::new();
    let total_time: Duration = indexes.iter().map(|index| index.indexing_time).sum();
    for index in indexes {
        if let Some(failure) = &index.failure {
            let message = format!("The index has failed, and its queries are refused: {failure}");
            let effect = "Builds the index again from all documents. It fails again while its documents or its definition are the same.";
            advice.push(index.advice(Problem::Failed, message, Action::Reset, effect));
        } else if index.error_count > 0 {
            let message = format!(
                "The index keeps {} errors; {} documents could not be indexed since it was built.",
                index.error_count, index.failed_count
            );
            let effect = "The errors name the documents. Queries find these documents once they or the definition are corrected.";
            advice.push(index.advice(Problem::HasErrors, message, Action::ReadErrors, effect));
        }
        let covering = indexes.iter().find(|other| covers(other, index));
        if let Some(other) = covering {
            let message = format!("The index '{}' answers all queries that this one answers.", other.name);
            advice.push(index.advice(Problem::Covered, message, Action::Delete, index.deletion_effect()));
        } else if index.unused_for >= unused_after && !index.has_output {
            let message = match index.last_query {
                Some(date) => format!("The last query of the index was at {date}."),
                None => "No query used the index since it was created or the database was opened.".to_owned(),
            };
            advice.push(index.advice(Problem::Unused, message, Action::Delete, index.deletion_effect()));
        }
        if !index.fields_without_values.is_empty() {
            let message = format!("No indexed document has a value in {}.", index.fields_without_values.join(", "));
            let effect = "The next query creates the index again with the fields that it needs.";
            advice.push(index.advice(Problem::FieldsWithoutValues, message, Action::Delete, effect));
        }
        advice.extend(slowness(index, total_time, indexes.len()));
    }
    advice.extend(mergers(indexes));
    advice.sort_by(|one, other| (&one.index, one.problem).cmp(&(&other.index, other.problem)));
    advice
}

/// True if `other` makes `index` superfluous. Of two that are the same, the first by name stays.
fn covers(other: &IndexFacts, index: &IndexFacts) -> bool {
    if other.name == index.name || !other.answers {
        return false;
    }
    match (&other.automatic, &index.automatic, &other.given, &index.given) {
        (Some(wide), Some(narrow), ..) => wide.covers(narrow) && (!narrow.covers(wide) || other.name < index.name),
        (None, None, Some(one), Some(same)) => {
            let is_same = ["Maps", "Reduce", "Fields", "Configuration", "AdditionalSources"]
                .iter()
                .all(|property| one.get(property) == same.get(property));
            is_same && !index.has_output && !other.has_output && other.name < index.name
        }
        _ => false,
    }
}

/// The time that an index takes, and its entries for each document.
fn slowness(index: &IndexFacts, total: Duration, count: usize) -> Vec<Advice> {
    let mut advice = Vec::new();
    let percent = (index.indexing_time.as_millis() * 100).checked_div(total.as_millis()).unwrap_or(0);
    if count > 1 && index.indexing_time >= ADVICE_SLOW_TIME_MIN && percent >= ADVICE_SLOW_PERCENT_MIN {
        let message = format!(
            "The index took {percent} % of the time of indexing since it was opened: {} s of {} s.",
            index.indexing_time.as_secs(),
            total.as_secs()
        );
        let effect = "A map that gives fewer fields or entries, or loads fewer documents, makes all indexes of the database fresher.";
        advice.push(index.advice(Problem::Slow, message, Action::ChangeDefinition, effect));
    }
    let fan_out = index.entry_count.checked_div(index.document_count).unwrap_or(0);
    if !index.is_grouped && fan_out >= ADVICE_FAN_OUT_MIN {
        let message = format!(
            "The index has {fan_out} entries for each document: {} of {} documents.",
            index.entry_count, index.document_count
        );
        let effect = "A map that gives one object with arrays in its fields gives one entry for each document.";
        advice.push(index.advice(Problem::FanOut, message, Action::ChangeDefinition, effect));
    }
    advice
}

/// Automatic indexes of one source, none of which covers another: one index with the fields of all would answer for all.
fn mergers(indexes: &[IndexFacts]) -> Vec<Advice> {
    let mut advice = Vec::new();
    let mut is_merged = vec![false; indexes.len()];
    // What another one covers is deleted, not merged.
    let is_covered = |index: &IndexFacts| indexes.iter().any(|other| covers(other, index));
    for (at, first) in indexes.iter().enumerate() {
        let may_merge = !is_merged[at] && first.answers && !is_covered(first);
        let Some(definition) = first.automatic.as_ref().filter(|_| may_merge) else { continue };
        let (mut merged, mut replaced, mut size) = (definition.clone(), vec![first.name.clone()], first.size);
        for (to, other) in indexes.iter().enumerate().skip(at + 1).filter(|(_, other)| other.answers) {
            let Some(definition) = other.automatic.as_ref().filter(|other| other.has_source_of(definition)) else {
                continue;
            };
            let wider = merged.widened_by(definition);
            if is_covered(other) || wider.fields().len() > AUTOMATIC_FIELDS_MAX {
                continue;
            }
            (merged, size, is_merged[to]) = (wider, size + other.size, true);
            replaced.push(other.name.clone());
        }
        if replaced.len() < 2 {
            continue;
        }
        let message = format!("{} automatic indexes read {}.", replaced.len(), first.collections);
        let effect = format!(
            "One index answers for all of them and replaces them once it is complete; writes to {} update one index in place of {}. They take {size} bytes now.",
            first.collections,
            replaced.len()
        );
        let fields = merged.fields().iter().map(|field| field.name.path.clone()).collect();
        let (name, query) = (merged.name(), creating_query(&merged));
        advice.push(first.advice(Problem::Mergeable, message, Action::Merge { name, fields, replaced, query }, effect));
    }
    advice
}

/// A query that needs all fields of an automatic index.
fn creating_query(index: &AutomaticIndex) -> Option<String> {
    let is_plain = |path: &str| path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte));
    let plain = |field: &query::definition::Field| {
        field.needs == query::definition::FieldNeeds::default() && !field.name.is_quoted && is_plain(&field.name.path)
    };
    if !index.group_by().is_empty() || index.fields().is_empty() || !index.fields().iter().all(plain) {
        return None;
    }
    let source = match &index.collection {
        None => "@all_docs".to_owned(),
        Some(name) => format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'")),
    };
    let conditions: Vec<String> = index.fields().iter().map(|field| format!("exists({})", field.name.path)).collect();
    Some(format!("from {source} where {} limit 0", conditions.join(" and ")))
}

#[cfg(test)]
mod tests {
    use query::definition::{Field, FieldName, FieldNeeds};

    use super::*;

    fn facts(name: &str) -> IndexFacts {
        IndexFacts {
            name: name.to_owned(),
            automatic: None,
            given: Some(Value::parse(format!(r#"{{"Maps":["{name}"]}}"#).as_bytes()).unwrap()),
            has_output: false,
            answers: true,
            collections: "Orders".to_owned(),
            last_query: None,
            unused_for: Duration::ZERO,
            failure: None,
            error_count: 0,
            failed_count: 0,
            entry_count: 10,
            document_count: 10,
            is_grouped: false,
            fields_without_values: Vec::new(),
            indexing_time: Duration::from_secs(1),
            size: 1000,
        }
    }

    fn automatic(paths: &[&str]) -> IndexFacts {
        let field = |path: &&str| {
            let name = FieldName { path: (*path).to_owned(), is_quoted: false };
            Field { name, needs: FieldNeeds::default() }
        };
        let definition = AutomaticIndex::new(Some("Orders".to_owned()), paths.iter().map(field));
        IndexFacts { name: definition.name(), automatic: Some(definition), given: None, ..facts("") }
    }

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// The problems with the names of their indexes.
    #[track_caller]
    fn check(indexes: &[IndexFacts], expected: &[(&str, Problem)]) -> Vec<Advice> {
        let advice = advise(indexes, DAY);
        let found: Vec<_> = advice.iter().map(|advice| (advice.index.as_str(), advice.problem)).collect();
        assert_eq!(found, expected);
        advice
    }

    #[test]
    fn indexes_without_a_problem_get_no_advice() {
        check(&[facts("A"), facts("B"), automatic(&["X"])], &[]);
        check(&[], &[]);
    }

    #[test]
    fn unused_failed_and_failing_indexes_are_told() {
        let unused = IndexFacts { unused_for: DAY, ..facts("Unused") };
        let written = IndexFacts { unused_for: DAY, has_output: true, ..facts("Written") };
        let failed = IndexFacts { failure: Some("too many".to_owned()), answers: false, ..facts("Failed") };
        let failing = IndexFacts { error_count: 2, failed_count: 3, ..facts("Failing") };
        let expected = [("Failed", Problem::Failed), ("Failing", Problem::HasErrors), ("Unused", Problem::Unused)];
        let advice = check(&[unused, written, failed, failing], &expected);
        assert_eq!(advice[0].action, Action::Reset);
        assert!(advice[0].message.ends_with("too many"), "{}", advice[0].message);
        assert_eq!(advice[2].effect, "Frees 1000 bytes, and writes to Orders update one index less.");
    }

    #[test]
    fn an_index_that_another_covers_is_superfluous() {
        let (narrow, wide) = (automatic(&["X"]), automatic(&["X", "Y"]));
        let advice = check(&[narrow.clone(), wide.clone()], &[("Auto/Orders/ByX", Problem::Covered)]);
        assert_eq!(advice[0].message, "The index 'Auto/Orders/ByXAndY' answers all queries that this one answers.");
        check(&[narrow, IndexFacts { answers: false, ..wide }], &[]);
        let copy = IndexFacts { name: "B".to_owned(), ..facts("A") };
        check(&[facts("A"), copy], &[("B", Problem::Covered)]);
    }

    #[test]
    fn automatic_indexes_of_one_source_can_be_merged() {
        let others = AutomaticIndex::new(Some("Others".to_owned()), []);
        let others = IndexFacts { name: others.name(), automatic: Some(others), ..automatic(&[]) };
        let indexes = [automatic(&["X"]), automatic(&["Y.Z"]), others];
        let advice = check(&indexes, &[("Auto/Orders/ByX", Problem::Mergeable)]);
        let Action::Merge { name, fields, replaced, query } = &advice[0].action else { panic!("{advice:?}") };
        assert_eq!((name.as_str(), fields.join(" ")), ("Auto/Orders/ByXAndY.Z", "X Y.Z".to_owned()));
        assert_eq!(replaced.join(" "), "Auto/Orders/ByX Auto/Orders/ByY.Z");
        assert_eq!(query.as_deref(), Some("from 'Orders' where exists(X) and exists(Y.Z) limit 0"));
        assert!(advice[0].effect.contains("They take 2000 bytes now."), "{}", advice[0].effect);
    }

    #[test]
    fn an_index_that_takes_most_of_the_time_is_slow() {
        let slow = IndexFacts { indexing_time: ADVICE_SLOW_TIME_MIN, ..facts("Slow") };
        let advice = check(&[facts("A"), slow.clone()], &[("Slow", Problem::Slow)]);
        assert!(advice[0].message.contains(" % of the time"), "{}", advice[0].message);
        // It is the only one.
        check(std::slice::from_ref(&slow), &[]);
        check(
            &[facts("A"), IndexFacts { indexing_time: ADVICE_SLOW_TIME_MIN * 9, ..facts("B") }, slow],
            &[("B", Problem::Slow)],
        );
        let fan_out = IndexFacts { entry_count: 10 * ADVICE_FAN_OUT_MIN, ..facts("Wide") };
        check(std::slice::from_ref(&fan_out), &[("Wide", Problem::FanOut)]);
        check(&[IndexFacts { is_grouped: true, ..fan_out }], &[]);
    }

    #[test]
    fn fields_that_no_document_has_are_told() {
        let misspelt = IndexFacts { fields_without_values: vec!["Freigth".to_owned()], ..automatic(&["Freigth"]) };
        let advice = check(&[misspelt], &[("Auto/Orders/ByFreigth", Problem::FieldsWithoutValues)]);
        assert_eq!(advice[0].message, "No indexed document has a value in Freigth.");
    }
}
