//! `explain from ..`: the operators that a query is made of, and what each came to.
//!
//! The same operators run as without it, each inside of one that counts what it gives and how long that takes. So the rows are those that
//! were really asked for: of two lists that are intersected, the longer one gives no more than it has to.

use super::condition::{Ids, Profiler};
use super::{CancelCheck, FoundEntries};
use crate::definition::Fields;
use crate::index::{EntryId, EntryIds, Error, IndexSnapshot, Result};
use crate::limits::{EXPLAINED_OPERATORS_MAX, EXPLAINED_TEXT_LENGTH_MAX};
use crate::plan::{Condition, IndexQuery, Page, SortBy, SortKey};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::rc::Rc;
use std::time::Duration;

/// How much time has passed since some moment.
pub type Clock = Rc<dyn Fn() -> Duration>;

/// An operator, and what it came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operator {
    /// What it does: `and`, `term`, `sort`.
    pub name: &'static str,
    /// The field that it does it with.
    pub field: Option<String>,
    /// What it asks of the field, or how it sorts; cut off after [`EXPLAINED_TEXT_LENGTH_MAX`] characters.
    pub argument: Option<String>,
    /// How many entries it has, as far as counts of lists tell before it runs.
    pub estimate: Option<u64>,
    /// How many it gave. `None`: it did not run by itself, as what `and` takes away.
    pub rows: Option<u64>,
    /// How long it took, with what it is made of.
    pub time: Duration,
    /// What it is made of.
    pub children: Vec<Operator>,
    /// How many of these are left out, since there are more operators than [`EXPLAINED_OPERATORS_MAX`].
    pub omitted_count: usize,
}

/// Finds the entries of a page, and tells how.
///
/// # Errors
///
/// As [`super::find`].
pub fn explain<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    query: &IndexQuery,
    page: Page,
    clock: &Clock,
    check_cancel: CancelCheck<'_, E>,
) -> std::result::Result<(FoundEntries, Operator), E> {
    let mut profiler = OperatorProfiler { clock: clock.clone(), measures: HashMap::new() };
    profiler.add(&query.condition);
    let start = clock();
    let found = super::page_of(index, fields, query, &query.condition, page, &profiler, check_cancel)?;
    let time = clock().saturating_sub(start);
    let conditions = profiler.operator(index, fields, &query.condition)?;
    let operator = match super::order_of(fields, query) {
        [] => conditions,
        keys => Operator {
            name: "sort",
            argument: Some(short(|text| write_keys(keys, text))),
            estimate: conditions.estimate,
            rows: Some(found.entries.len() as u64),
            time,
            children: vec![conditions],
            ..Operator::default()
        },
    };
    Ok((found, operator))
}

/// What an operator gave so far, and how long that took.
#[derive(Debug, Default)]
struct Measure {
    rows: Cell<u64>,
    time: Cell<Duration>,
    has_run: Cell<bool>,
}

impl Measure {
    fn add(&self, time: Duration) {
        self.has_run.set(true);
        self.time.set(self.time.get() + time);
    }
}

/// Measures the operators of conditions, which are told apart by where they stand in memory: they do not move while a query runs.
struct OperatorProfiler {
    clock: Clock,
    measures: HashMap<usize, Rc<Measure>>,
}

impl OperatorProfiler {
    /// The depth of the recursion is that of the query's text, which is bounded.
    fn add(&mut self, condition: &Condition) {
        if self.measures.len() < EXPLAINED_OPERATORS_MAX {
            self.measures.insert(address(condition), Rc::default());
            condition.operands().iter().for_each(|operand| self.add(operand));
        }
    }

    /// What was measured of a condition, as an operator. The depth of the recursion is that of the query's text, which is bounded.
    fn operator(&self, index: &IndexSnapshot<'_>, fields: &dyn Fields, condition: &Condition) -> Result<Operator> {
        let mut operator = Operator {
            name: condition.operator(),
            field: condition.field().map(|field| field.name.path.clone()),
            argument: Some(short(|text| condition.write_argument(text))).filter(|text| !text.is_empty()),
            ..Operator::default()
        };
        for operand in condition.operands() {
            match self.measures.contains_key(&address(operand)) {
                true => operator.children.push(self.operator(index, fields, operand)?),
                false => operator.omitted_count += 1,
            }
        }
        if let Some(measure) = self.measures.get(&address(condition)).filter(|measure| measure.has_run.get()) {
            operator.rows = Some(measure.rows.get());
            operator.time = measure.time.get();
        }
        operator.estimate = match operator.omitted_count {
            0 => condition.estimate(index, fields, &operator.children)?,
            _ => None,
        };
        Ok(operator)
    }
}

fn address(condition: &Condition) -> usize {
    std::ptr::from_ref(condition) as usize
}

impl Profiler for OperatorProfiler {
    fn profile<'s, E>(
        &self,
        condition: &Condition,
        make: impl FnOnce() -> std::result::Result<Ids<'s>, E>,
    ) -> std::result::Result<Ids<'s>, E> {
        let Some(measure) = self.measures.get(&address(condition)) else { return make() };
        let start = (self.clock)();
        let ids = make()?;
        measure.add((self.clock)().saturating_sub(start));
        Ok(Box::new(Watched { ids, measure: measure.clone(), others: None, clock: self.clock.clone() }))
    }

    fn profile_choice<'s>(
        &self,
        condition: &Condition,
        ids: Ids<'s>,
        make: impl FnOnce(Ids<'s>) -> Ids<'s>,
    ) -> Ids<'s> {
        let Some(measure) = self.measures.get(&address(condition)) else { return make(ids) };
        measure.has_run.set(true);
        let (others, clock) = (Rc::<Measure>::default(), || self.clock.clone());
        let ids = make(Box::new(Watched { ids, measure: others.clone(), others: None, clock: clock() }));
        Box::new(Watched { ids, measure: measure.clone(), others: Some(others), clock: clock() })
    }
}

/// Ids that are measured as they are given.
struct Watched<'s> {
    ids: Ids<'s>,
    measure: Rc<Measure>,
    /// What others do within, whose time is their own.
    others: Option<Rc<Measure>>,
    clock: Clock,
}

impl Watched<'_> {
    fn give(&mut self, next: impl FnOnce(&mut dyn EntryIds) -> Result<Option<EntryId>>) -> Result<Option<EntryId>> {
        let of_others =
            |others: &Option<Rc<Measure>>| others.as_ref().map_or(Duration::ZERO, |others| others.time.get());
        let (start, before) = ((self.clock)(), of_others(&self.others));
        let id = next(&mut *self.ids)?;
        let own = (self.clock)().saturating_sub(start).saturating_sub(of_others(&self.others).saturating_sub(before));
        self.measure.add(own);
        self.measure.rows.set(self.measure.rows.get() + u64::from(id.is_some()));
        Ok(id)
    }
}

impl EntryIds for Watched<'_> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        self.give(|ids| ids.next())
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        self.give(|ids| ids.seek(at_least))
    }

    fn count_max(&self) -> u64 {
        self.ids.count_max()
    }
}

/// The first [`EXPLAINED_TEXT_LENGTH_MAX`] characters of a text that is written, and a sign if there are more.
pub fn short(write: impl FnOnce(&mut dyn Write) -> fmt::Result) -> String {
    let mut text = Short { text: String::new(), left: EXPLAINED_TEXT_LENGTH_MAX };
    // What is too long ends with an error, and what is not written is not made.
    if write(&mut text).is_err() {
        text.text.push('\u{2026}');
    }
    text.text
}

struct Short {
    text: String,
    left: usize,
}

impl Write for Short {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for character in more.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

fn write_keys(keys: &[SortKey], text: &mut dyn Write) -> fmt::Result {
    for (at, key) in keys.iter().enumerate() {
        text.write_str(if at == 0 { "" } else { ", " })?;
        match &key.by {
            SortBy::Text(field) => text.write_str(&field.name.path)?,
            SortBy::Number(field) => write!(text, "{} as double", field.name.path)?,
            SortBy::AlphaNumeric(field) => write!(text, "{} as alphaNumeric", field.name.path)?,
            SortBy::Id => text.write_str("id()")?,
            SortBy::AlphaNumericId => text.write_str("id() as alphaNumeric")?,
            SortBy::Score => text.write_str("score()")?,
            SortBy::Random(_) => text.write_str("random()")?,
            SortBy::Distance(key) => write!(text, "spatial.distance({})", key.field.name.path)?,
        }
        text.write_str(if key.is_descending { " desc" } else { "" })?;
    }
    Ok(())
}
