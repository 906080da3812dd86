//! Conditions as operators over rising ids: lists where there are lists, sets where terms have to be walked through.

use super::Look;
use super::spatial;
use super::text::{self, Meaning};
use super::vector;
use crate::definition::{Analysis, Fields};
use crate::index::{
    Difference, EntryId, EntryIds, EntrySet, Error, FieldNumber, IndexSnapshot, Intersection, Kind, StoredTerm, Term,
    TermEntries, TermRange, Union,
};
use crate::indexing::terms;
use crate::plan::{Condition, FieldUse, Sought};
use std::ops::Bound;

pub(super) type Ids<'s> = Box<dyn EntryIds + 's>;

/// Terms of one field up to which their lists are merged; more become a set.
const MERGED_LISTS_MAX: usize = 8;

/// What looking into the record of an entry costs, in terms that are walked through.
const RECORD_COST: u64 = 16;

/// Conditions of a query up to which it may be a small one.
const ESTIMATED_CONDITIONS_MAX: usize = 64;

/// The entries that a condition wants.
pub(super) fn evaluate<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    look: Look<'_, E>,
) -> Result<EntrySet, E> {
    evaluate_watched(index, fields, condition, &Unwatched, look)
}

/// The same, its operators watched.
pub(super) fn evaluate_watched<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    watch: &impl Watch,
    look: Look<'_, E>,
) -> Result<EntrySet, E> {
    let ids = Operators { index, fields, watch, look }.of(condition)?;
    look()?;
    Ok(EntrySet::of(ids)?)
}

/// The same as rising ids.
pub(super) fn ids<'s, E: From<Error>>(
    index: &'s IndexSnapshot<'s>,
    fields: &dyn Fields,
    condition: &Condition,
    look: Look<'_, E>,
) -> Result<Box<dyn EntryIds + 's>, E> {
    Operators { index, fields, watch: &Unwatched, look }.of(condition)
}

/// How many entries a condition looks at, at most, from the counts of lists; `u64::MAX` if it walks through terms.
pub(super) fn entry_count_max(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
) -> Result<u64, Error> {
    match is_small(condition, &mut { ESTIMATED_CONDITIONS_MAX }) {
        true => count_max(index, fields, condition),
        false => Ok(u64::MAX),
    }
}

/// The same of a small condition.
fn count_max(index: &IndexSnapshot<'_>, fields: &dyn Fields, condition: &Condition) -> Result<u64, Error> {
    let each = |conditions: &[Condition]| {
        conditions.iter().map(|condition| count_max(index, fields, condition)).collect::<Result<Vec<u64>, _>>()
    };
    Ok(match condition {
        Condition::Nothing => 0,
        Condition::Ids(ids) if ids.len() <= MERGED_LISTS_MAX => {
            let mut sum = 0u64;
            for id in ids {
                sum = sum.saturating_add(index.entries_of(id)?.len() as u64);
            }
            sum
        }
        Condition::AnyOf(field, values) if values.len() <= MERGED_LISTS_MAX => {
            let Some(kept) = Kept::of(index, fields, field)? else { return Ok(0) };
            let mut sum = 0u64;
            for value in values {
                sum = sum.saturating_add(kept.list(index, value)?.count());
            }
            sum
        }
        // What walks through terms does so before anything is known of the others; but ranges stop where records are cheaper.
        Condition::And(conditions) => {
            let counts = each(conditions)?;
            let (mut is_walking, mut walked, mut ranges) = (false, 0u64, 0);
            for (condition, count) in conditions.iter().zip(&counts) {
                match condition {
                    Condition::All => {}
                    Condition::Not(condition) if condition.field_of_range().is_some() => ranges += 1,
                    Condition::Not(condition) => is_walking |= walks(condition),
                    condition if condition.field_of_range().is_some() => ranges += 1,
                    // It is walked through whole, whatever the others find; `u64::MAX` if nobody knows how much that is.
                    condition if walks(condition) => walked = walked.saturating_add(*count),
                    _ => {}
                }
            }
            let least = counts.into_iter().min().unwrap_or(u64::MAX);
            match is_walking {
                true => u64::MAX,
                false => least.saturating_mul(1 + RECORD_COST * ranges).saturating_add(walked),
            }
        }
        Condition::Or(conditions) => each(conditions)?.into_iter().fold(0, u64::saturating_add),
        Condition::Boosted(condition, _) => count_max(index, fields, condition)?,
        condition if condition.field_of_range().is_some() => match range_of(index, fields, condition)? {
            Some(range) => index.count_of_few(&range)?.unwrap_or(u64::MAX),
            None => 0,
        },
        _ => u64::MAX,
    })
}

/// Whether there are no more conditions in it than `left`, which they are taken from.
fn is_small(condition: &Condition, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    condition.operands().iter().all(|condition| is_small(condition, left))
}

/// The terms that a condition asks for. `None`: they are no range, or there are none.
fn range_of(index: &IndexSnapshot<'_>, fields: &dyn Fields, condition: &Condition) -> Result<Option<TermRange>, Error> {
    let Some(field) = condition.field_of_range() else { return Ok(None) };
    Ok(Kept::of(index, fields, field)?.and_then(|kept| kept.range(condition)))
}

/// Whether a condition is found by looking at many terms or documents before anything else is known.
fn walks(condition: &Condition) -> bool {
    match condition {
        Condition::And(conditions) | Condition::Or(conditions) => conditions.iter().any(walks),
        Condition::Not(condition) | Condition::Boosted(condition, _) => walks(condition),
        Condition::OfDocuments(_) => true,
        Condition::AnyOf(_, values) | Condition::AllOf(_, values) => values.len() > MERGED_LISTS_MAX,
        Condition::Ids(ids) => ids.len() > MERGED_LISTS_MAX,
        Condition::All | Condition::Nothing | Condition::Exists(_) => false,
        Condition::IdPrefix(_)
        | Condition::Numbers(..)
        | Condition::Texts(..)
        | Condition::Prefix(..)
        | Condition::Suffix(..)
        | Condition::Pattern(..)
        | Condition::Words(..)
        | Condition::Spatial(..)
        | Condition::Vector(..)
        | Condition::Like(_) => true,
    }
}

/// Watches operators as they are made.
pub(super) trait Watch {
    /// Makes the operator of a condition, and perhaps puts it into another one.
    fn watch<'s, E>(&self, condition: &Condition, make: impl FnOnce() -> Result<Ids<'s>, E>) -> Result<Ids<'s>, E>;

    /// Makes the operator of a condition that chooses among what others find.
    fn watch_choice<'s>(&self, condition: &Condition, ids: Ids<'s>, make: impl FnOnce(Ids<'s>) -> Ids<'s>) -> Ids<'s>;
}

/// Nobody watches: compiled away.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn watch<'s, E>(&self, _: &Condition, make: impl FnOnce() -> Result<Ids<'s>, E>) -> Result<Ids<'s>, E> {
        make()
    }

    fn watch_choice<'s>(&self, _: &Condition, ids: Ids<'s>, make: impl FnOnce(Ids<'s>) -> Ids<'s>) -> Ids<'s> {
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

struct Operators<'s, 'l, E, W> {
    index: &'s IndexSnapshot<'s>,
    fields: &'l dyn Fields,
    watch: &'l W,
    look: Look<'l, E>,
}

impl<'s, E: From<Error>, W: Watch> Operators<'s, '_, E, W> {
    /// The depth of the recursion is that of the query's text, which is bounded.
    fn of(&self, condition: &Condition) -> Result<Ids<'s>, E> {
        self.watch.watch(condition, || self.make(condition))
    }

    fn make(&self, condition: &Condition) -> Result<Ids<'s>, E> {
        (self.look)()?;
        Ok(match condition {
            Condition::All => Box::new(self.index.all()),
            Condition::Nothing => set(EntrySet::new()),
            Condition::Ids(ids) => {
                let mut found = EntrySet::new();
                for id in ids {
                    self.index.entries_of(id)?.into_iter().for_each(|entry| _ = found.insert(entry));
                }
                set(found)
            }
            Condition::IdPrefix(prefix) => set(self.index.entries_by_prefix(prefix)?),
            Condition::And(conditions) => self.and(conditions)?,
            Condition::Or(conditions) => Box::new(Union::new(self.all_of(conditions)?)),
            Condition::Not(condition) => Box::new(Difference::new(self.index.all(), self.of(condition)?)),
            Condition::Boosted(condition, _) => self.of(condition)?,
            Condition::OfDocuments(condition) => self.of_documents(condition)?,
            Condition::Like(like) => {
                let Operators { index, fields, look, .. } = self;
                let wanted = Meaning { index, fields: *fields, look: *look }.of_likeness(like)?;
                text::ids(self.index, &wanted, self.look)?
            }
            Condition::Words(field, query) => {
                let Operators { index, fields, look, .. } = self;
                let wanted = Meaning { index, fields: *fields, look: *look }.of(field, query)?;
                text::ids(self.index, &wanted, self.look)?
            }
            Condition::Spatial(field, query) => {
                set(spatial::entries(self.index, self.fields, field, query, self.look)?)
            }
            Condition::Vector(field, query) => {
                let mut found = EntrySet::new();
                let near = vector::nearest(self.index, self.fields, field, query, self.look)?;
                near.iter().for_each(|(entry, _)| _ = found.insert(*entry));
                set(found)
            }
            Condition::AnyOf(field, _)
            | Condition::AllOf(field, _)
            | Condition::Numbers(field, ..)
            | Condition::Texts(field, ..)
            | Condition::Prefix(field, _)
            | Condition::Suffix(field, _)
            | Condition::Pattern(field, _)
            | Condition::Exists(field) => match Kept::of(self.index, self.fields, field)? {
                Some(kept) => self.of_field(condition, field, kept)?,
                // No entry ever had it.
                None => set(EntrySet::new()),
            },
        })
    }

    /// All entries of the documents of what is found.
    fn of_documents(&self, condition: &Condition) -> Result<Ids<'s>, E> {
        let mut ids = self.of(condition)?;
        if !self.index.has_several_entries() {
            return Ok(ids);
        }
        let mut found = EntrySet::new();
        while let Some(id) = ids.next()? {
            (self.look)()?;
            let Some(entry) = self.index.entry(id)? else { continue };
            self.index.entries_of(entry.document())?.into_iter().for_each(|entry| _ = found.insert(entry));
        }
        Ok(set(found))
    }

    fn all_of(&self, conditions: &[Condition]) -> Result<Vec<Ids<'s>>, E> {
        conditions.iter().map(|condition| self.of(condition)).collect()
    }

    /// What is excluded is taken away from the rest. Ranges are walked through as far as that costs less than looking whether what the others
    /// find has a term in them.
    fn and(&self, conditions: &[Condition]) -> Result<Ids<'s>, E> {
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
            (self.look)()?;
            let Some(found) = self.index.range_within(&range, found_max.saturating_mul(RECORD_COST))? else {
                looked_at.push((condition, range, is_wanted));
                continue;
            };
            if is_wanted {
                found_max = found_max.min(found.len());
            }
            let ids = self.watch.watch(condition, || Ok(set(found)))?;
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
            ids = self.watch.watch_choice(condition, ids, choose);
        }
        Ok(ids)
    }

    fn of_field(&self, condition: &Condition, field: &FieldUse, kept: Kept) -> Result<Ids<'s>, E> {
        let Kept { number, analysis } = kept;
        if let Some(range) = kept.range(condition) {
            return Ok(set(self.index.range(&range)?));
        }
        match condition {
            Condition::AnyOf(_, values) => self.any_of(kept, values),
            Condition::AllOf(_, values) => Ok(Box::new(Intersection::new(self.lists(kept, values)?))),
            Condition::Suffix(_, suffix) => {
                let suffix = terms::analyzed(suffix, analysis);
                self.matching(field, number, |text| text.ends_with(&suffix))
            }
            Condition::Pattern(_, regex) => self.matching(field, number, |text| regex.is_match(text)),
            // A number is a text too.
            Condition::Exists(_) => {
                let nulls: Ids<'s> = Box::new(self.index.present(number, Kind::Null)?);
                Ok(Box::new(Union::new(vec![nulls, Box::new(self.index.present(number, Kind::Text)?)])))
            }
            _ => self.of(condition),
        }
    }

    fn any_of(&self, kept: Kept, values: &[Sought]) -> Result<Ids<'s>, E> {
        if values.len() <= MERGED_LISTS_MAX {
            let mut lists = self.lists(kept, values)?;
            return Ok(if lists.len() == 1 { lists.remove(0) } else { Box::new(Union::new(lists)) });
        }
        let mut found = EntrySet::new();
        for value in values {
            (self.look)()?;
            kept.list(self.index, value)?.add_to(&mut found)?;
        }
        Ok(set(found))
    }

    fn lists(&self, kept: Kept, values: &[Sought]) -> Result<Vec<Ids<'s>>, E> {
        values.iter().map(|value| Ok(Box::new(kept.list(self.index, value)?) as Ids<'s>)).collect()
    }

    /// Walks through all texts of the field.
    fn matching(&self, field: &FieldUse, number: FieldNumber, fits: impl Fn(&str) -> bool) -> Result<Ids<'s>, E> {
        let texts = TermRange::all(number, Kind::Text);
        let found = self.index.matching(&texts, |term| {
            (self.look)()?;
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

/// A field as an index keeps it.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub number: FieldNumber,
    pub analysis: Analysis,
}

impl Kept {
    /// `None`: no entry ever had it.
    pub fn of(index: &IndexSnapshot<'_>, fields: &dyn Fields, field: &FieldUse) -> Result<Option<Kept>, Error> {
        let (name, analysis) = fields.kept(field);
        Ok(index.field(&name)?.map(|number| Kept { number, analysis }))
    }

    /// The terms that a condition on the field asks for, if they are a range.
    pub fn range(&self, condition: &Condition) -> Option<TermRange> {
        let Kept { number, analysis } = *self;
        match condition {
            Condition::Numbers(_, low, high) => Some(TermRange::numbers(number, *low, *high)),
            Condition::Texts(_, low, high) => {
                let is_bounded = !matches!((low, high), (Bound::Unbounded, Bound::Unbounded));
                if let (true, Some(low), Some(high)) = (is_bounded, self.time(low), self.time(high)) {
                    return Some(TermRange::times(number, low, high));
                }
                let [low, high] = [low, high].map(|bound| bound.as_ref().map(|text| terms::analyzed(text, analysis)));
                Some(TermRange::text(number, text(&low), text(&high)))
            }
            Condition::Prefix(_, prefix) => Some(TermRange::prefix(number, &terms::analyzed(prefix, analysis))),
            _ => None,
        }
    }

    pub fn list<'s>(&self, index: &'s IndexSnapshot<'_>, value: &Sought) -> Result<TermEntries<'s>, Error> {
        match value {
            Sought::Null => index.term(self.number, Term::Null),
            Sought::Number(number) => index.term(self.number, Term::Number(*number)),
            Sought::Text(text) => match terms::time(text, self.analysis) {
                Some(ticks) => index.term(self.number, Term::Time(ticks)),
                None => index.term(self.number, Term::Text(&terms::analyzed(text, self.analysis))),
            },
        }
    }

    /// A bound as a date. `None`: it is another text.
    fn time(&self, bound: &Bound<String>) -> Option<Bound<u64>> {
        let time = |text: &String| terms::time(text, self.analysis);
        Some(match bound {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(text) => Bound::Included(time(text)?),
            Bound::Excluded(text) => Bound::Excluded(time(text)?),
        })
    }
}

fn set<'s>(entries: EntrySet) -> Ids<'s> {
    Box::new(entries.into_entries())
}

fn text(bound: &Bound<String>) -> Bound<&str> {
    bound.as_ref().map(String::as_str)
}
