//! Groups of indexes that queries make by `group by`: what is counted and added up of each document, and under which key.
//!
//! Where a key goes through arrays (`Lines[].Product`), each element is a row of its own, and so are the sums that go through the same
//! array; what is added up of other arrays counts whole in each row. Several such keys are read side by side, the shorter ones filled up
//! with their last value. An empty array gives no row.
//!
//! Least and greatest numbers are reduced as they are; an average is `[sum, count]` in all nodes of a group, and a number in its result.

use super::automatic::write_metadata;
use super::decimal_sum::DecimalSum;
use super::group_paths::{Path, Values};
use super::grouped::{Give, Groups};
use super::map_runner::Loading;
use super::measuring::{Measured, Measuring};
use super::reduce_tree::Reduces;
use crate::definition::{AutomaticIndex, COUNT, MeasuredField};
use crate::index::GroupKey;
use crate::mapping::{MapError, rewritten};
use documents::Document;
use json::{Kind, Raw, Writer};

pub(super) struct AutomaticGroups {
    keys: Vec<Path>,
    sums: Vec<Path>,
    measures: Vec<(Path, Measuring)>,
    counts: bool,
    metadata: Vec<u8>,
    value: Vec<u8>,
    identity: Vec<u8>,
    /// The numbers of a row.
    numbers: Vec<DecimalSum>,
}

impl AutomaticGroups {
    pub fn new(definition: &AutomaticIndex) -> AutomaticGroups {
        let is_array = |path: &str| definition.group_by().iter().any(|key| key.is_array && key.path == path);
        let keys: Vec<Path> =
            definition.keys().map(|key| Path::key(&key.name.path, is_array(&key.name.path))).collect();
        let aggregates: Vec<&str> = definition.aggregates().map(|field| field.name.path.as_str()).collect();
        let measured = aggregates.iter().filter_map(|name| Some((*name, MeasuredField::of_name(name)?)));
        let measures =
            measured.map(|(name, field)| (Path::sum(field.path, &keys).named(name), Measuring::new(field.measure)));
        let is_sum = |name: &&&str| **name != COUNT && MeasuredField::of_name(name).is_none();
        AutomaticGroups {
            measures: measures.collect(),
            sums: aggregates.iter().filter(is_sum).map(|path| Path::sum(path, &keys)).collect(),
            keys,
            counts: aggregates.contains(&COUNT),
            metadata: Vec::new(),
            value: Vec::new(),
            identity: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

impl Groups for AutomaticGroups {
    fn map(&mut self, document: &Document<'_>, _: Loading<'_>, give: Give<'_>) -> Result<(), MapError> {
        let AutomaticGroups { keys, sums, measures, counts, metadata, value, identity, numbers } = self;
        if keys.iter().chain(&*sums).chain(measures.iter().map(|(path, _)| path)).any(|path| path.is_metadata) {
            write_metadata(document, metadata);
        }
        let (body, metadata) = (document.body(), Raw::new(metadata));
        let key_values: Vec<Values<'_>> = keys.iter().map(|path| path.values(body, metadata)).collect();
        let lengths = || key_values.iter().filter_map(Values::count);
        if lengths().min() == Some(0) {
            return Ok(());
        }
        let rows = lengths().max().unwrap_or(1);
        let sum_values: Vec<Values<'_>> = sums.iter().map(|path| path.amounts(body, metadata)).collect();
        let measured: Vec<Values<'_>> = measures.iter().map(|(path, _)| path.amounts(body, metadata)).collect();
        for row in 0..rows {
            identity.clear();
            value.clear();
            let mut json = Writer::new(value);
            json.open_object();
            for (path, values) in keys.iter().zip(&key_values) {
                let key = values.key(row);
                // However a date is spelled, it is one group.
                let date = key.and_then(rewritten);
                let key = date.as_deref().map(Raw::new).or(key);
                identify(key, identity);
                json.name(&path.name).raw(key.map_or(b"null", |key| key.bytes()));
            }
            if *counts {
                json.name(COUNT).unsigned(1);
            }
            for (path, values) in sums.iter().zip(&sum_values) {
                let sum = values
                    .amount(row)
                    .ok_or_else(|| MapError::Stopped(format!("'{}' is to be added up and is no number", path.name)))?;
                sum.write(json.name(&path.name));
            }
            for ((path, measuring), values) in measures.iter().zip(&measured) {
                numbers.clear();
                values.numbers(row, numbers).ok_or_else(|| {
                    MapError::Stopped(format!("'{}' needs numbers, and there is another value", path.name))
                })?;
                measuring.of(numbers).write(json.name(&path.name));
            }
            json.close_object();
            give(GroupKey::of(identity), value)?;
        }
        Ok(())
    }

    fn finish(&self, result: Vec<u8>) -> Vec<u8> {
        if !self.measures.iter().any(|(_, measuring)| measuring.has_parts()) {
            return result;
        }
        let first = self.keys.len() + usize::from(self.counts) + self.sums.len();
        let mut finished = Vec::with_capacity(result.len());
        Writer::new(&mut finished).object(|json| {
            for (at, (name, value)) in Raw::new(&result).members().enumerate() {
                json.name(&name.decode());
                match at.checked_sub(first).and_then(|at| self.measures.get(at)) {
                    Some((_, measuring)) => measuring.read(value).finish(json),
                    None => _ = json.raw(value.bytes()),
                }
            }
        });
        finished
    }
}

/// Appends bytes that are equal for equal keys only: null and missing are, and numbers of one value.
fn identify(key: Option<Raw<'_>>, out: &mut Vec<u8>) {
    let start = out.len();
    match key.map(|key| (key, key.kind(), DecimalSum::of(key))) {
        None | Some((_, Kind::Null, _)) => out.push(0),
        Some((_, Kind::Number, Some(amount))) => {
            out.push(1);
            amount.write(&mut Writer::new(out));
        }
        Some((key, ..)) => {
            out.push(2);
            out.extend_from_slice(key.bytes());
        }
    }
    let length = (out.len() - start) as u64;
    out.extend_from_slice(&length.to_be_bytes());
}

impl Reduces for AutomaticGroups {
    fn is_partial(&self) -> bool {
        true
    }

    fn reduce(&self, _: &GroupKey, values: &[Raw<'_>], give: &mut dyn FnMut(&[u8])) -> Result<(), MapError> {
        let Some(first) = values.first() else { return Ok(()) };
        let mut count = 0;
        let mut sums = vec![DecimalSum::ZERO; self.sums.len()];
        let mut measured: Vec<Measured> = self.measures.iter().map(|(_, measuring)| measuring.of(&[])).collect();
        for value in values {
            // The properties stand in the order in which they were written, so that each is found at once.
            let mut members = value.members().skip(self.keys.len());
            if self.counts {
                count += members.next().and_then(|(_, count)| count.as_u64()).unwrap_or(0);
            }
            for (sum, (_, value)) in sums.iter_mut().zip(members.by_ref()) {
                *sum = sum.plus(DecimalSum::of(value).unwrap_or(DecimalSum::ZERO));
            }
            for ((whole, (_, measuring)), (_, value)) in measured.iter_mut().zip(&self.measures).zip(members) {
                *whole = whole.and(measuring.read(value));
            }
        }
        let mut out = Vec::new();
        Writer::new(&mut out).object(|json| {
            for (path, (_, key)) in self.keys.iter().zip(first.members()) {
                json.name(&path.name).raw(key.bytes());
            }
            if self.counts {
                json.name(COUNT).unsigned(count);
            }
            for (path, sum) in self.sums.iter().zip(sums) {
                sum.write(json.name(&path.name));
            }
            for ((path, _), measured) in self.measures.iter().zip(measured) {
                measured.write(json.name(&path.name));
            }
        });
        give(&out);
        Ok(())
    }
}
