//! Conditions as operators over rising ids: lists where there are lists, sets where terms have to be walked through. What is special about
//! each condition is in [`super::conditions`].

use super::CancelCheck;
use crate::definition::terms;
use crate::definition::{AnalysisKind, Fields};
use crate::index::{
    Difference, EntryId, EntryIds, EntrySet, Error, FieldNumber, IndexSnapshot, Intersection, Kind, StoredTerm, Term,
    TermEntries, TermRange, Union,
};
use crate::plan::{Condition, FieldUse, TermValue};
use std::ops::Bound;

pub(super) type Ids<'s> = Box<dyn EntryIds + 's>;

/// Terms of one field up to which their lists are merged; more become a set.
pub(super) const MERGED_LISTS_MAX: usize = 8;

/// What looking into the record of an entry costs, in terms that are walked through.
pub(super) const RECORD_COST: u64 = 16;

/// Conditions of a query up to which it may be a small one.
const ESTIMATED_CONDITIONS_MAX: usize = 64;

/// The entries that a condition wants.
pub(super) fn evaluate<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    check_cancel: CancelCheck<'_, E>,
) -> Result<EntrySet, E> {
    evaluate_profiled(index, fields, condition, &NoProfiler, check_cancel)
}

/// The same, its operators watched.
pub(super) fn evaluate_profiled<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    profiler: &impl Profiler,
    check_cancel: CancelCheck<'_, E>,
) -> Result<EntrySet, E> {
    let ids = Operators { index, fields, profiler, check_cancel }.of(condition)?;
    check_cancel()?;
    Ok(EntrySet::of(ids)?)
}

/// The same as rising ids.
pub(super) fn ids<'s, E: From<Error>>(
    index: &'s IndexSnapshot<'s>,
    fields: &dyn Fields,
    condition: &Condition,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Box<dyn EntryIds + 's>, E> {
    Operators { index, fields, profiler: &NoProfiler, check_cancel }.of(condition)
}

/// How many entries a condition looks at, at most, from the counts of lists; `u64::MAX` if it walks through terms.
pub(super) fn entry_count_max(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
) -> Result<u64, Error> {
    match is_small(condition, &mut { ESTIMATED_CONDITIONS_MAX }) {
        true => condition.count_max(index, fields),
        false => Ok(u64::MAX),
    }
}

/// Whether the condition has at most `left` parts; subtracts them.
fn is_small(condition: &Condition, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    condition.operands().iter().all(|condition| is_small(condition, left))
}

/// The terms that a condition asks for. `None`: they are no range, or there are none.
fn range_of(index: &IndexSnapshot<'_>, fields: &dyn Fields, condition: &Condition) -> Result<Option<TermRange>, Error> {
    let Some(field) = condition.field().filter(|_| condition.is_range()) else { return Ok(None) };
    Ok(ResolvedField::of(index, fields, field)?.and_then(|resolved| condition.range(resolved)))
}

/// Instruments operators while they are made (EXPLAIN).
pub(super) trait Profiler {
    /// Makes the operator of a condition, and may wrap it in a measuring one.
    fn profile<'s, E>(&self, condition: &Condition, make: impl FnOnce() -> Result<Ids<'s>, E>) -> Result<Ids<'s>, E>;

    /// The same for a condition that filters the results of other operators.
    fn profile_choice<'s>(&self, condition: &Condition, ids: Ids<'s>, make: impl FnOnce(Ids<'s>) -> Ids<'s>)
    -> Ids<'s>;
}

/// No instrumentation; compiled away.
pub(super) struct NoProfiler;

impl Profiler for NoProfiler {
    fn profile<'s, E>(&self, _: &Condition, make: impl FnOnce() -> Result<Ids<'s>, E>) -> Result<Ids<'s>, E> {
        make()
    }

    fn profile_choice<'s>(&self, _: &Condition, ids: Ids<'s>, make: impl FnOnce(Ids<'s>) -> Ids<'s>) -> Ids<'s> {
        make(ids)
    }
}

/// The terms of a field within which every entry has one that a condition finds. `None`: it says nothing of them.
pub(super) fn range_of_field(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    of: (FieldNumber, Kind),
) -> Result<Option<TermRange>, Error> {
    let conditions = match condition {
        Condition::And(conditions) => conditions.as_slice(),
        condition => std::slice::from_ref(condition),
    };
    let mut common: Option<TermRange> = None;
    for condition in conditions {
        if let Some(range) = range_of(index, fields, condition)?.filter(|range| range.of() == of) {
            common = Some(common.map_or_else(|| range.clone(), |common| common.common(&range)));
        }
    }
    Ok(common)
}

/// Makes the operators of conditions.
pub(super) struct Operators<'s, 'l, E, W> {
    pub index: &'s IndexSnapshot<'s>,
    pub fields: &'l dyn Fields,
    profiler: &'l W,
    pub check_cancel: CancelCheck<'l, E>,
}

impl<'s, E: From<Error>, W: Profiler> Operators<'s, '_, E, W> {
    /// The entries of a condition, rising. The depth of the recursion is that of the query's text, which is bounded.
    pub fn of(&self, condition: &Condition) -> Result<Ids<'s>, E> {
        self.profiler.profile(condition, || {
            (self.check_cancel)()?;
            condition.ids(self)
        })
    }

    /// A field as the index keeps it. `None`: no entry ever had it.
    pub fn resolve(&self, field: &FieldUse) -> Result<Option<ResolvedField>, E> {
        Ok(ResolvedField::of(self.index, self.fields, field)?)
    }

    /// The entries that all conditions find. What is excluded is taken away from the rest. Ranges are walked through as far as that costs
    /// less than looking whether what the others find has a term in them.
    pub fn and(&self, conditions: &[Condition]) -> Result<Ids<'s>, E> {
        let (mut wanted, mut unwanted, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        let mut found_max = u64::MAX;
        for condition in conditions {
            let (inner, is_wanted) = match condition {
                Condition::All => continue,
                Condition::Not(inner) => (&**inner, false),
                condition => (condition, true),
            };
            if let Some(range) = range_of(self.index, self.fields, inner)? {
                ranges.push((inner, range, is_wanted));
            } else if is_wanted {
                wanted.push(self.of(inner)?);
                found_max = found_max.min(wanted.last().map_or(u64::MAX, |ids| ids.count_max()));
            } else {
                unwanted.push(self.of(inner)?);
            }
        }
        let mut looked_at = Vec::new();
        for (condition, range, is_wanted) in ranges {
            (self.check_cancel)()?;
            let Some(found) = self.index.range_within(&range, found_max.saturating_mul(RECORD_COST))? else {
                looked_at.push((condition, range, is_wanted));
                continue;
            };
            if is_wanted {
                found_max = found_max.min(found.len());
            }
            let ids = self.profiler.profile(condition, || Ok(set(found)))?;
            if is_wanted { wanted.push(ids) } else { unwanted.push(ids) }
        }
        let mut ids: Ids<'s> = match wanted.len() {
            0 => Box::new(self.index.all()),
            1 => wanted.remove(0),
            _ => Box::new(Intersection::new(wanted)),
        };
        if !unwanted.is_empty() {
            ids = Box::new(Difference::new(ids, Union::new(unwanted)));
        }
        for (condition, range, is_wanted) in looked_at {
            let index = self.index;
            let choose = |ids| Box::new(WithTerm { index, ids, range, is_wanted, key: Vec::new() }) as Ids<'s>;
            ids = self.profiler.profile_choice(condition, ids, choose);
        }
        Ok(ids)
    }

    /// The lists of some terms.
    pub fn lists(&self, resolved: ResolvedField, values: &[TermValue]) -> Result<Vec<Ids<'s>>, E> {
        values.iter().map(|value| Ok(Box::new(resolved.list(self.index, value)?) as Ids<'s>)).collect()
    }

    /// Walks through all texts of the field.
    pub fn matching(&self, field: &FieldUse, number: FieldNumber, fits: impl Fn(&str) -> bool) -> Result<Ids<'s>, E> {
        let texts = TermRange::all(number, Kind::Text);
        let found = self.index.matching(&texts, |term| {
            (self.check_cancel)()?;
            match term {
                StoredTerm::Text(text) => Ok(fits(&text)),
                // Its end is not there to be looked at, and leaving it out would be wrong without a word.
                StoredTerm::Cut(_) => Err(Error::LongText { field: field.name.path.clone() }.into()),
                StoredTerm::Null | StoredTerm::Number(_) => Ok(false),
            }
        });
        found.map(set)
    }
}

/// Those of some entries that have a term in a range, or those that have none, as their records say.
struct WithTerm<'s> {
    index: &'s IndexSnapshot<'s>,
    ids: Ids<'s>,
    range: TermRange,
    is_wanted: bool,
    key: Vec<u8>,
}

impl WithTerm<'_> {
    /// The first that fits, from one on.
    fn fitting(&mut self, mut found: Option<EntryId>) -> Result<Option<EntryId>, Error> {
        while let Some(id) = found {
            let entry = self.index.known_entry(id)?;
            if entry.has_term_in(&self.range, &mut self.key)? == self.is_wanted {
                break;
            }
            found = self.ids.next()?;
        }
        Ok(found)
    }
}

impl EntryIds for WithTerm<'_> {
    fn next(&mut self) -> Result<Option<EntryId>, Error> {
        let found = self.ids.next()?;
        self.fitting(found)
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>, Error> {
        let found = self.ids.seek(at_least)?;
        self.fitting(found)
    }

    fn count_max(&self) -> u64 {
        self.ids.count_max()
    }
}

/// A field resolved in one index: its number, and what its analysis makes of a text.
#[derive(Clone, Copy)]
pub(super) struct ResolvedField {
    pub number: FieldNumber,
    pub analysis: AnalysisKind,
}

impl ResolvedField {
    /// `None`: no entry ever had it.
    pub fn of(
        index: &IndexSnapshot<'_>,
        fields: &dyn Fields,
        field: &FieldUse,
    ) -> Result<Option<ResolvedField>, Error> {
        let (name, analysis) = fields.resolve(field);
        Ok(index.field(&name)?.map(|number| ResolvedField { number, analysis: analysis.kind() }))
    }

    /// The entries with a term.
    pub fn list<'s>(&self, index: &'s IndexSnapshot<'_>, value: &TermValue) -> Result<TermEntries<'s>, Error> {
        match value {
            TermValue::Null => index.term(self.number, Term::Null),
            TermValue::Number(number) => index.term(self.number, Term::Number(*number)),
            TermValue::Text(text) => match terms::time(text, self.analysis) {
                Some(ticks) => index.term(self.number, Term::Time(ticks)),
                None => index.term(self.number, Term::Text(&terms::analyzed(text, self.analysis))),
            },
        }
    }

    /// A bound as a date. `None`: it is another text.
    pub fn time(&self, bound: &Bound<String>) -> Option<Bound<u64>> {
        let time = |text: &String| terms::time(text, self.analysis);
        Some(match bound {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(text) => Bound::Included(time(text)?),
            Bound::Excluded(text) => Bound::Excluded(time(text)?),
        })
    }
}

/// The ids of a set.
pub(super) fn set<'s>(entries: EntrySet) -> Ids<'s> {
    Box::new(entries.into_entries())
}
