//! Groups of indexes that queries make by `group by`: what is counted and added up of each document, and under which key.
//!
//! Where a key goes through arrays (`Lines[].Product`), each element is a row of its own, and so are the sums that go through
//! arrays; several such paths are read side by side, the shorter ones filled up with nulls. An empty array gives no row.

use super::amount::Amount;
use super::automatic::{in_metadata, write_metadata};
use super::grouped::Groups;
use super::map_runner::Loading;
use super::reduce_tree::Reduces;
use crate::definition::{AutomaticIndex, COUNT};
use crate::execute::write_path;
use crate::index::GroupKey;
use crate::mapping::rewritten;
use crate::plan::Step;
use documents::Document;
use json::{Kind, Raw, Writer};

pub(super) struct AutomaticGroups {
    keys: Vec<Path>,
    sums: Vec<Path>,
    counts: bool,
    metadata: Vec<u8>,
    value: Vec<u8>,
    identity: Vec<u8>,
}

/// A field of the groups, and where documents have it.
struct Path {
    name: String,
    steps: Vec<Step>,
    is_metadata: bool,
    /// Whether each element of an array is a value of its own.
    fans_out: bool,
}

impl AutomaticGroups {
    pub fn new(definition: &AutomaticIndex) -> AutomaticGroups {
        let is_array = |path: &str| definition.group_by().iter().any(|key| key.is_array && key.path == path);
        let keys = definition.keys().map(|key| Path::of(&key.name.path, !is_array(&key.name.path)));
        let aggregates: Vec<&str> = definition.aggregates().map(|field| field.name.path.as_str()).collect();
        let sums = aggregates.iter().filter(|path| **path != COUNT).map(|path| Path::of(path, true));
        AutomaticGroups {
            keys: keys.collect(),
            sums: sums.collect(),
            counts: aggregates.contains(&COUNT),
            metadata: Vec::new(),
            value: Vec::new(),
            identity: Vec::new(),
        }
    }
}

impl Path {
    fn of(path: &str, may_fan_out: bool) -> Path {
        let metadata = in_metadata(path);
        let mut steps = Vec::new();
        for part in metadata.unwrap_or(path).split('.') {
            let name = part.trim_end_matches("[]");
            steps.push(Step::Name(name.to_owned()));
            let arrays = (part.len() - name.len()) / 2;
            steps.extend(std::iter::repeat_n(Step::Elements, arrays));
        }
        let fans_out = may_fan_out && steps.contains(&Step::Elements);
        Path { name: path.to_owned(), steps, is_metadata: metadata.is_some(), fans_out }
    }

    fn root<'d>(&self, body: Raw<'d>, metadata: Raw<'d>) -> Raw<'d> {
        if self.is_metadata { metadata } else { body }
    }
}

/// Adds what stands at a path to a list: one for each element of arrays on the way, `None` where there is nothing. The
/// recursion is as deep as the path.
fn values<'d>(steps: &[Step], value: Raw<'d>, list: &mut Vec<Option<Raw<'d>>>) {
    match (steps.split_first(), value.kind()) {
        (None, _) => list.push(Some(value)),
        (Some((Step::Name(name), rest)), Kind::Object) => match value.get(name) {
            Some(value) => values(rest, value, list),
            None => list.push(None),
        },
        (Some((Step::Elements, rest)), Kind::Array) => {
            value.elements().for_each(|element| values(rest, element, list));
        }
        (Some(_), _) => list.push(None),
    }
}

/// The values of one path: as many as rows if it fans out.
enum Values<'d> {
    One(Option<Raw<'d>>),
    Each(Vec<Option<Raw<'d>>>),
    /// Made of several places of the document.
    Made(Vec<u8>),
}

impl<'d> Values<'d> {
    fn of(path: &Path, root: Raw<'d>) -> Values<'d> {
        if path.fans_out {
            let mut list = Vec::new();
            values(&path.steps, root, &mut list);
            return Values::Each(list);
        }
        if path.steps.contains(&Step::Elements) {
            let mut made = Vec::new();
            let is_there = write_path(&path.steps, root, &mut made);
            return if is_there { Values::Made(made) } else { Values::One(None) };
        }
        let mut value = Some(root);
        for step in &path.steps {
            let Step::Name(name) = step else { continue };
            value = value.filter(|value| value.kind() == Kind::Object).and_then(|value| value.get(name));
        }
        Values::One(value)
    }

    /// How many there are; `None`: one for all rows.
    fn count(&self) -> Option<usize> {
        match self {
            Values::Each(list) => Some(list.len()),
            Values::One(_) | Values::Made(_) => None,
        }
    }

    fn at(&self, row: usize) -> Option<Raw<'_>> {
        match self {
            Values::One(value) => *value,
            Values::Each(list) => list.get(row).copied().flatten(),
            Values::Made(made) => Some(Raw::new(made)),
        }
    }
}

impl Groups for AutomaticGroups {
    fn map(
        &mut self,
        document: &Document<'_>,
        _: Loading<'_>,
        give: &mut dyn FnMut(GroupKey, &[u8]),
    ) -> Result<(), String> {
        let AutomaticGroups { keys, sums, counts, metadata, value, identity } = self;
        if keys.iter().chain(&*sums).any(|path| path.is_metadata) {
            write_metadata(document, metadata);
        }
        let (body, metadata) = (document.body(), Raw::new(metadata));
        let of = |path: &Path| Values::of(path, path.root(body, metadata));
        let key_values: Vec<Values<'_>> = keys.iter().map(of).collect();
        let sum_values: Vec<Values<'_>> = sums.iter().map(of).collect();
        let lengths = || key_values.iter().filter_map(Values::count);
        let (is_row, rows) = match (lengths().min(), lengths().max()) {
            (None, _) => (false, 1),
            (Some(0), _) => return Ok(()),
            (Some(_), longest) => (true, longest.unwrap_or(0)),
        };
        for row in 0..rows {
            identity.clear();
            value.clear();
            let mut json = Writer::new(value);
            json.open_object();
            for (path, values) in keys.iter().zip(&key_values) {
                let key = values.at(row);
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
                let sum = if is_row { added(values.at(row)) } else { added_all(values) };
                let sum = sum.ok_or_else(|| format!("'{}' is to be added up and is no number", path.name))?;
                sum.write(json.name(&path.name));
            }
            json.close_object();
            give(GroupKey::of(identity), value);
        }
        Ok(())
    }
}

/// A value as an amount; an array is added up. `None`: it is no number.
fn added(value: Option<Raw<'_>>) -> Option<Amount> {
    match value {
        None => Some(Amount::ZERO),
        Some(value) if value.kind() == Kind::Array => {
            value.elements().try_fold(Amount::ZERO, |sum, element| Some(sum.plus(Amount::of(element)?)))
        }
        Some(value) => Amount::of(value),
    }
}

fn added_all(values: &Values<'_>) -> Option<Amount> {
    match values {
        Values::Each(list) => list.iter().try_fold(Amount::ZERO, |sum, value| Some(sum.plus(added(*value)?))),
        values => added(values.at(0)),
    }
}

/// Appends bytes that are equal for equal keys only: null and missing are, and numbers of one value.
fn identify(key: Option<Raw<'_>>, out: &mut Vec<u8>) {
    let start = out.len();
    match key.map(|key| (key, key.kind(), Amount::of(key))) {
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

    fn reduce(&self, _: &GroupKey, values: &[Raw<'_>], give: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let Some(first) = values.first() else { return Ok(()) };
        let mut count = 0;
        let mut sums = vec![Amount::ZERO; self.sums.len()];
        for value in values {
            // The properties stand in the order in which they were written, so that each is found at once.
            let mut members = value.members().skip(self.keys.len());
            if self.counts {
                count += members.next().and_then(|(_, count)| count.as_u64()).unwrap_or(0);
            }
            for (sum, (_, value)) in sums.iter_mut().zip(members) {
                *sum = sum.plus(Amount::of(value).unwrap_or(Amount::ZERO));
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
        });
        give(&out);
        Ok(())
    }
}
