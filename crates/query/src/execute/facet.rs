//! Results counted by terms or ranges of a field, and what numbers of theirs come to.
//!
//! Counting alone walks through the terms of the field and counts, run by run, what their lists have in common with the set; for all
//! entries of an index it reads the counts of the lists. A small result of a large index, and whatever needs numbers, is read
//! entry by entry, once for each facet. Both ways give the same.
//!
//! An entry that has no number in a field counts as 0 there, one with several as all of them, as with the reference.

use super::condition::{self, ResolvedField};
use super::{CancelCheck, label_order};
use crate::definition::Fields;
use crate::index::{EntryIds, EntrySet, Error, FieldNumber, IndexEntry, IndexSnapshot, Kind, StoredTerm, TermRange};
use crate::plan::{ALL_RESULTS, Aggregation, Condition, Facet, FacetBy, FacetOptions, FieldUse, TermSort};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use storage::memory::MemoryReservation;

/// What terms are called that are no text to look at.
const NULL: &str = "NULL_VALUE";
const EMPTY: &str = "EMPTY_STRING";

/// What reading one entry costs, in entries of lists that are walked through.
const ENTRY_COST: u64 = 4;

/// What one facet comes to.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FacetResult {
    /// The terms or ranges of the page.
    pub values: Vec<FacetValue>,
    /// Entries of the terms after the page, those of several counted for each.
    pub remaining_hits: u64,
    /// Terms after the page.
    pub remaining_term_count: u64,
    /// Their names, if they are wanted.
    pub remaining_terms: Vec<String>,
}

/// Entries that are counted together.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetValue {
    /// The name of the term or range.
    pub range: String,
    /// How many.
    pub count: u64,
    /// One for each aggregation of the facet; none if there is no entry.
    pub aggregates: Vec<Aggregate>,
}

/// What numbers come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    /// The sum of all.
    pub sum: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Aggregate {
    /// Of no number.
    const NONE: Aggregate = Aggregate { sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn add(&mut self, other: Aggregate) {
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Counts what a condition finds. The reservation holds the memory of the results.
///
/// # Errors
///
/// [`Error`] if the index cannot be read or the terms do not fit into memory, [`Error::LongText`]; that of `check_cancel`.
pub fn facets<'f, E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    facets: impl Iterator<Item = &'f Facet>,
    check_cancel: CancelCheck<'_, E>,
) -> Result<(Vec<FacetResult>, MemoryReservation), E> {
    let set = match condition {
        Condition::All => None,
        condition => Some(condition::evaluate(index, fields, condition, check_cancel)?),
    };
    let facets: Vec<&Facet> = facets.collect();
    let is_plain = |facet: &&Facet| facet.aggregations.is_empty() && !matches!(facet.by, FacetBy::All);
    let is_walk = set.is_none() && facets.iter().all(is_plain);
    let counting = Counting {
        index,
        fields,
        set,
        is_walk,
        size: Cell::new(0),
        reservation: RefCell::new(index.reservation()),
        check_cancel,
    };
    let results = facets.into_iter().map(|facet| counting.facet(facet)).collect::<Result<_, E>>()?;
    Ok((results, counting.reservation.into_inner()))
}

struct Counting<'c, 'e, E> {
    index: &'c IndexSnapshot<'c>,
    fields: &'c dyn Fields,
    /// `None`: all entries.
    set: Option<EntrySet>,
    /// Where no entry has to be looked at, the reference walks through terms, and leaves them in the order of the walk.
    is_walk: bool,
    /// Bytes of the terms of all facets so far.
    size: Cell<usize>,
    reservation: RefCell<MemoryReservation>,
    check_cancel: CancelCheck<'e, E>,
}

impl<E: From<Error>> Counting<'_, '_, E> {
    fn facet(&self, facet: &Facet) -> Result<FacetResult, E> {
        let values = match &facet.by {
            FacetBy::Terms(field, options) => return self.terms(field, *options, &facet.aggregations),
            FacetBy::All => {
                let count = self.count();
                let value = FacetValue { range: ALL_RESULTS.to_owned(), count, aggregates: Vec::new() };
                let all = self.aggregated(self.ids(), value, &facet.aggregations)?;
                if count > 0 { vec![all] } else { Vec::new() }
            }
            FacetBy::Ranges(_, ranges) => {
                let mut values = Vec::with_capacity(ranges.len());
                for range in ranges {
                    let mut entries =
                        condition::evaluate(self.index, self.fields, &range.condition, self.check_cancel)?;
                    if let Some(set) = &self.set {
                        entries.intersect(set);
                    }
                    let (range, count) = (range.text.clone(), entries.len());
                    let value = FacetValue { range, count, aggregates: Vec::new() };
                    values.push(self.aggregated(Box::new(entries.into_entries()), value, &facet.aggregations)?);
                }
                values
            }
        };
        Ok(FacetResult { values, ..FacetResult::default() })
    }

    /// Counts the bytes of one more term.
    fn grow(&self, text: usize, aggregation_count: usize) -> Result<(), Error> {
        // The list is copied where it grows, and once more into the values of the page.
        let more = text + 3 * size_of::<(StoredTerm, TermCount)>() + aggregation_count * size_of::<Aggregate>();
        let size = self.size.get() + more;
        self.size.set(size);
        Ok(self.reservation.borrow_mut().grow(size)?)
    }

    fn count(&self) -> u64 {
        self.set.as_ref().map_or(self.index.entry_count(), EntrySet::len)
    }

    fn ids(&self) -> Box<dyn EntryIds + '_> {
        match &self.set {
            Some(set) => Box::new(set.entries()),
            None => Box::new(self.index.all()),
        }
    }

    /// A value with what the numbers of its entries come to.
    fn aggregated(
        &self,
        mut ids: Box<dyn EntryIds + '_>,
        mut value: FacetValue,
        aggregations: &[Aggregation],
    ) -> Result<FacetValue, E> {
        if aggregations.is_empty() || value.count == 0 {
            return Ok(value);
        }
        let mut numbers = Numbers::of(self.index, self.fields, aggregations)?;
        value.aggregates = vec![Aggregate::NONE; aggregations.len()];
        while let Some(id) = ids.next()? {
            (self.check_cancel)()?;
            add_all(&mut value.aggregates, numbers.read(&self.index.known_entry(id)?)?);
        }
        Ok(value)
    }

    fn terms(&self, field: &FieldUse, options: FacetOptions, aggregations: &[Aggregation]) -> Result<FacetResult, E> {
        let Some(ResolvedField { number, .. }) = ResolvedField::of(self.index, self.fields, field)? else {
            return Ok(FacetResult::default());
        };
        let is_small = match &self.set {
            Some(set) => self.index.present(number, Kind::Text)?.count() > set.len().saturating_mul(ENTRY_COST),
            None => false,
        };
        let counted = match aggregations.is_empty() && !is_small {
            true => self.terms_by_lists(number)?,
            false => self.terms_by_entries(number, aggregations)?,
        };
        let null_count = usize::from(matches!(counted.first(), Some((StoredTerm::Null, _))));
        let mut values = Vec::with_capacity(counted.len());
        for (term, counted) in counted {
            let range = match term {
                StoredTerm::Null => NULL.to_owned(),
                StoredTerm::Text(text) if text.is_empty() => EMPTY.to_owned(),
                StoredTerm::Text(text) => text,
                // What it is called is not there, and leaving it out would be wrong without a word.
                StoredTerm::Cut(_) | StoredTerm::Number(_) => {
                    return Err(Error::LongText { field: field.name.path.clone() }.into());
                }
            };
            values.push(FacetValue { range, count: counted.count, aggregates: counted.aggregates });
        }
        (self.check_cancel)()?;
        Ok(page(values, options, self.is_walk.then_some(null_count)))
    }

    /// The terms and their counts: null, then texts by their bytes.
    fn terms_by_lists(&self, field: FieldNumber) -> Result<Vec<(StoredTerm, TermCount)>, E> {
        let mut found = Vec::new();
        for kind in [Kind::Null, Kind::Text] {
            self.index.terms_within(&TermRange::all(field, kind), self.set.as_ref(), |term, count| {
                (self.check_cancel)()?;
                let text = match &term {
                    StoredTerm::Text(text) | StoredTerm::Cut(text) => text.len(),
                    StoredTerm::Null | StoredTerm::Number(_) => 0,
                };
                self.grow(text, 0)?;
                found.push((term, TermCount { count, aggregates: Vec::new() }));
                Ok::<_, E>(())
            })?;
        }
        Ok(found)
    }

    /// The same from the entries, with what their numbers come to.
    fn terms_by_entries(
        &self,
        field: FieldNumber,
        aggregations: &[Aggregation],
    ) -> Result<Vec<(StoredTerm, TermCount)>, E> {
        let mut numbers = Numbers::of(self.index, self.fields, aggregations)?;
        let mut texts: HashMap<Vec<u8>, TermCount> = HashMap::new();
        let mut nulls = None;
        let mut ids = self.ids();
        while let Some(id) = ids.next()? {
            (self.check_cancel)()?;
            let entry = self.index.known_entry(id)?;
            let values = numbers.read(&entry)?;
            for term in entry.record().terms() {
                let term = term?;
                if term.field != field {
                    continue;
                }
                match term.kind {
                    Kind::Null => nulls.get_or_insert_with(|| TermCount::new(values.len())).add(values),
                    Kind::Text => match texts.get_mut(term.bytes) {
                        Some(counted) => counted.add(values),
                        None => {
                            self.grow(term.bytes.len(), values.len())?;
                            texts
                                .entry(term.bytes.to_vec())
                                .or_insert_with(|| TermCount::new(values.len()))
                                .add(values);
                        }
                    },
                    _ => {}
                }
            }
        }
        let mut texts: Vec<(Vec<u8>, TermCount)> = texts.into_iter().collect();
        texts.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut found = Vec::with_capacity(texts.len() + 1);
        found.extend(nulls.map(|counted| (StoredTerm::Null, counted)));
        for (bytes, counted) in texts {
            found.push((StoredTerm::decode(Kind::Text, &bytes)?, counted));
        }
        Ok(found)
    }
}

/// Entries with one term.
struct TermCount {
    count: u64,
    aggregates: Vec<Aggregate>,
}

impl TermCount {
    fn new(aggregation_count: usize) -> TermCount {
        TermCount { count: 0, aggregates: vec![Aggregate::NONE; aggregation_count] }
    }

    /// Counts one more entry.
    fn add(&mut self, values: &[Aggregate]) {
        self.count += 1;
        add_all(&mut self.aggregates, values);
    }
}

fn add_all(sums: &mut [Aggregate], values: &[Aggregate]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        sum.add(*value);
    }
}

/// The numbers of entries, in the fields of aggregations.
struct Numbers {
    /// `None`: no entry ever had it.
    fields: Vec<Option<FieldNumber>>,
    /// Those of the last entry.
    values: Vec<Aggregate>,
}

impl Numbers {
    fn of(index: &IndexSnapshot<'_>, fields: &dyn Fields, aggregations: &[Aggregation]) -> Result<Numbers, Error> {
        let number = |aggregation: &Aggregation| index.field(&fields.resolve(&aggregation.field).0);
        let fields = aggregations.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(Numbers { values: Vec::with_capacity(fields.len()), fields })
    }

    fn read(&mut self, entry: &IndexEntry<'_>) -> Result<&[Aggregate], Error> {
        let Numbers { fields, values } = self;
        values.clear();
        values.resize(fields.len(), Aggregate::NONE);
        if fields.is_empty() {
            return Ok(values);
        }
        entry.each_number(|field, number| {
            let number = number.as_f64();
            for (value, _) in values.iter_mut().zip(&*fields).filter(|(_, own)| **own == Some(field)) {
                value.add(Aggregate { sum: number, min: number, max: number });
            }
        })?;
        for value in values.iter_mut().filter(|value| value.max < value.min) {
            *value = Aggregate { sum: 0.0, min: 0.0, max: 0.0 };
        }
        Ok(values)
    }
}

/// The terms that are wanted of all, in their order.
///
/// * `values`: null, then texts by their bytes.
/// * `walked_nulls`: how many of the values are null; then it comes first either way, and texts are ordered by their bytes.
///   `None`: all are ordered by name.
fn page(mut values: Vec<FacetValue>, options: FacetOptions, walked_nulls: Option<usize>) -> FacetResult {
    let by_name = |one: &FacetValue, other: &FacetValue| label_order::compare(&one.range, &other.range);
    match (options.sort, walked_nulls) {
        (TermSort::ValueAscending, Some(_)) => {}
        (TermSort::ValueDescending, Some(nulls)) => values[nulls..].reverse(),
        (TermSort::ValueAscending, None) => values.sort_by(by_name),
        (TermSort::ValueDescending, None) => values.sort_by(|one, other| by_name(other, one)),
        (TermSort::CountAscending, _) => {
            values.sort_by(|one, other| one.count.cmp(&other.count).then_with(|| by_name(one, other)));
        }
        (TermSort::CountDescending, _) => {
            let compare = |one: &FacetValue, other: &FacetValue| -> Ordering {
                other.count.cmp(&one.count).then_with(|| by_name(one, other))
            };
            values.sort_by(compare);
        }
    }
    values.drain(..options.start.min(values.len()));
    let remaining = values.split_off(options.page_size.min(values.len()));
    FacetResult {
        values,
        remaining_hits: remaining.iter().map(|value| value.count).sum(),
        remaining_term_count: remaining.len() as u64,
        remaining_terms: match options.names_remaining {
            true => remaining.into_iter().map(|value| value.range).collect(),
            false => Vec::new(),
        },
    }
}
