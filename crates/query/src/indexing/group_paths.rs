//! What a document has at the paths of groups: one value, or one for each element of an array.
//!
//! As in the reference, below `[]` an array is its elements (`Lines[].Tags`), and without `[]` an array on the way is the list of what
//! its elements have (`Lines.Product`).

use super::automatic::in_metadata;
use super::decimal_sum::DecimalSum;
use crate::plan::{PathStep, write_path};
use json::{Kind, Raw};

/// A field of the groups, and where documents have it.
pub(super) struct Path {
    pub name: String,
    steps: Vec<PathStep>,
    pub is_metadata: bool,
    /// Whether each element of an array is a value of its own.
    fans_out: bool,
}

impl Path {
    /// * `is_array`: whether it is of `array(..)`, one key.
    pub fn key(path: &str, is_array: bool) -> Path {
        let mut path = Path::of(path);
        path.fans_out = !is_array && path.steps.contains(&PathStep::Elements);
        path
    }

    /// What is added up: by rows where a key goes through the same array, all of it in each row otherwise.
    pub fn sum(path: &str, keys: &[Path]) -> Path {
        let mut path = Path::of(path);
        path.fans_out = keys.iter().any(|key| key.fans_out && path.is_in_array_of(key));
        path
    }

    /// The same under another name.
    pub fn named(self, name: &str) -> Path {
        Path { name: name.to_owned(), ..self }
    }

    fn of(path: &str) -> Path {
        let metadata = in_metadata(path);
        let mut steps = Vec::new();
        for part in metadata.unwrap_or(path).split('.') {
            let name = part.trim_end_matches("[]");
            steps.push(PathStep::Name(name.to_owned()));
            let arrays = (part.len() - name.len()) / 2;
            steps.extend(std::iter::repeat_n(PathStep::Elements, arrays));
        }
        Path { name: path.to_owned(), steps, is_metadata: metadata.is_some(), fans_out: false }
    }

    /// Whether it leads through the array whose elements are values of the key: `Lines[].Price` and `Lines.Price` do for `Lines[].Product`.
    fn is_in_array_of(&self, key: &Path) -> bool {
        let array = key.steps.iter().rposition(|step| *step == PathStep::Elements).unwrap_or(0);
        let is_name = |step: &&PathStep| **step != PathStep::Elements;
        let mut names = self.steps.iter().filter(is_name);
        self.is_metadata == key.is_metadata
            && key.steps[..array].iter().filter(is_name).all(|name| names.next() == Some(name))
    }

    /// What a document has there.
    pub fn values<'d>(&self, body: Raw<'d>, metadata: Raw<'d>) -> Values<'d> {
        let root = if self.is_metadata { metadata } else { body };
        if self.fans_out {
            let mut list = Vec::new();
            collect(&self.steps, root, &mut list);
            return Values::Each(list);
        }
        let mut value = root;
        for (at, step) in self.steps.iter().enumerate() {
            match (step, value.kind()) {
                (PathStep::Name(name), Kind::Object) => match value.get(name) {
                    Some(found) => value = found,
                    None => return Values::One(None),
                },
                (PathStep::Elements, Kind::Array) => return Values::Made(elements(&self.steps[at..], value)),
                (PathStep::Name(_), Kind::Array | Kind::String) => {
                    let mut made = Vec::new();
                    let is_there = write_path(&self.steps[at..], value, &mut made);
                    return if is_there { Values::Made(made) } else { Values::One(None) };
                }
                (PathStep::Elements, _) => {}
                _ => return Values::One(None),
            }
        }
        Values::One(Some(value))
    }

    /// What a document has there to be added up.
    pub fn amounts<'d>(&self, body: Raw<'d>, metadata: Raw<'d>) -> Values<'d> {
        if !self.fans_out {
            return self.values(body, metadata);
        }
        let mut list = Vec::new();
        collect_amounts(&self.steps, if self.is_metadata { metadata } else { body }, &mut list);
        Values::Each(list)
    }
}

/// Adds what stands at a path to a list: one for each element of arrays on the way, `None` where there is nothing. The
/// recursion is as deep as the path.
fn collect<'d>(steps: &[PathStep], value: Raw<'d>, list: &mut Vec<Option<Raw<'d>>>) {
    match (steps.split_first(), value.kind()) {
        (None, _) => list.push(Some(value)),
        (Some((PathStep::Name(name), rest)), Kind::Object) => match value.get(name) {
            Some(value) if rest.is_empty() && value.kind() == Kind::Array => list.extend(value.elements().map(Some)),
            Some(value) => collect(rest, value, list),
            None => list.push(None),
        },
        (Some((PathStep::Elements, rest)), Kind::Array) => {
            value.elements().for_each(|element| collect(rest, element, list));
        }
        (Some(_), _) => list.push(None),
    }
}

/// As [`collect`], but arrays are entered with and without `[]`, and one that is at the end is one value.
fn collect_amounts<'d>(steps: &[PathStep], value: Raw<'d>, list: &mut Vec<Option<Raw<'d>>>) {
    match (steps.split_first(), value.kind()) {
        (None, _) => list.push(Some(value)),
        (Some((PathStep::Name(name), rest)), Kind::Object) => match value.get(name) {
            Some(value) => collect_amounts(rest, value, list),
            None => list.push(None),
        },
        (Some((PathStep::Elements, rest)), Kind::Array) => {
            value.elements().for_each(|element| collect_amounts(rest, element, list));
        }
        (Some(_), Kind::Array) => value.elements().for_each(|element| collect_amounts(steps, element, list)),
        (Some(_), _) => list.push(None),
    }
}

/// An array of all that the elements of an array have.
fn elements(steps: &[PathStep], array: Raw<'_>) -> Vec<u8> {
    let mut list = Vec::new();
    collect(steps, array, &mut list);
    let mut made = Vec::new();
    json::Writer::new(&mut made).array(|json| {
        for value in list {
            _ = json.raw(value.map_or(b"null", |value| value.bytes()));
        }
    });
    made
}

/// The values of one path: as many as rows if it fans out.
pub(super) enum Values<'d> {
    One(Option<Raw<'d>>),
    Each(Vec<Option<Raw<'d>>>),
    /// Made of several places of the document.
    Made(Vec<u8>),
}

impl Values<'_> {
    /// How many there are; `None`: one for all rows.
    pub fn count(&self) -> Option<usize> {
        match self {
            Values::Each(list) => Some(list.len()),
            Values::One(_) | Values::Made(_) => None,
        }
    }

    /// The key of a row: a list that is shorter than others ends with its last value, again and again.
    pub fn key(&self, row: usize) -> Option<Raw<'_>> {
        match self {
            Values::One(value) => *value,
            Values::Each(list) => list.get(row).or(list.last()).copied().flatten(),
            Values::Made(made) => Some(Raw::new(made)),
        }
    }

    /// What a row adds; an array is added up. `None`: it is no number.
    pub fn amount(&self, row: usize) -> Option<DecimalSum> {
        match self {
            Values::Each(list) => added(list.get(row).copied().flatten()),
            Values::One(value) => added(*value),
            Values::Made(made) => added(Some(Raw::new(made))),
        }
    }

    /// Adds the numbers of a row to a list: null and missing are none, of an array all are. `None`: there is something else.
    pub fn numbers(&self, row: usize, list: &mut Vec<DecimalSum>) -> Option<()> {
        match self {
            Values::Each(values) => add_numbers(values.get(row).copied().flatten(), list),
            Values::One(value) => add_numbers(*value, list),
            Values::Made(made) => add_numbers(Some(Raw::new(made)), list),
        }
    }
}

/// The recursion is as deep as arrays in arrays, whose depth is bounded.
fn add_numbers(value: Option<Raw<'_>>, list: &mut Vec<DecimalSum>) -> Option<()> {
    match value {
        None => {}
        Some(value) => match value.kind() {
            Kind::Null => {}
            Kind::Array => value.elements().try_for_each(|element| add_numbers(Some(element), list))?,
            _ => list.push(DecimalSum::of(value)?),
        },
    }
    Some(())
}

fn added(value: Option<Raw<'_>>) -> Option<DecimalSum> {
    match value {
        None => Some(DecimalSum::ZERO),
        Some(value) if value.kind() == Kind::Array => {
            value.elements().try_fold(DecimalSum::ZERO, |sum, element| Some(sum.plus(added(Some(element))?)))
        }
        Some(value) => DecimalSum::of(value),
    }
}
