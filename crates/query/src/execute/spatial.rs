//! Evaluation of spatial predicates: the entries whose shapes have a relation to a given shape, and their distances.
//!
//! The shape that is asked for is covered with cells. An entry with a point in a cell that is wholly inside is found; what else has a
//! cell among them is compared by its coordinates, which its record has.

use super::CancelCheck;
use super::best::Best;
use crate::definition::Fields;
use crate::index::{
    EntryId, EntryIds, EntrySet, Error, FieldNumber, IndexEntry, IndexSnapshot, Kind, Result, Term, TermRange,
};
use crate::limits::{POSITION_PAIRS_PER_CHECK, SHAPE_POSITIONS_OF_QUERY_MAX};
use crate::plan::{DistanceKey, FieldUse, SpatialQuery};
use crate::spatial::{Operation, Position, Shape, ShapeError, SpatialOptions};
use std::ops::Bound;

/// How far an entry's shape is, and where its middle lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// In the units of the field.
    pub distance: f64,
    /// The middle.
    pub latitude: f64,
    /// The middle.
    pub longitude: f64,
}

/// The entries with a shape in a field that lies so to the one of a query.
pub(super) fn entries<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    field: &FieldUse,
    query: &SpatialQuery,
    check_cancel: CancelCheck<'_, E>,
) -> Result<EntrySet, E> {
    let options = fields.spatial(field);
    // What is asked for has to make sense even where there is nothing.
    let asked = options.shape(query.geometry.clone(), query.units).map_err(Error::from)?;
    let count = asked.position_count();
    if count > SHAPE_POSITIONS_OF_QUERY_MAX {
        return Err(Error::Shape(ShapeError(format!(
            "a shape of {count} positions exceeds the limit SHAPE_POSITIONS_OF_QUERY_MAX = {SHAPE_POSITIONS_OF_QUERY_MAX}"
        )))
        .into());
    }
    let Some(number) = index.field(&fields.resolve(field).0)? else { return Ok(EntrySet::new()) };
    let finding = Finding { index, number, options, asked, check_cancel };
    if query.operation != Operation::Disjoint {
        return finding.entries(query.operation);
    }
    let mut entries = EntrySet::of(index.present(number, Kind::Text)?)?;
    entries.subtract(&finding.entries(Operation::Intersects)?);
    Ok(entries)
}

struct Finding<'f, E> {
    index: &'f IndexSnapshot<'f>,
    number: FieldNumber,
    options: SpatialOptions,
    asked: Shape,
    check_cancel: CancelCheck<'f, E>,
}

impl<E: From<Error>> Finding<'_, E> {
    fn entries(&self, operation: Operation) -> Result<EntrySet, E> {
        let Finding { index, number, options, asked, check_cancel } = self;
        let grid = options.grid();
        let ranges = grid.ranges(asked);
        let between =
            |(start, end): &(String, String)| TermRange::text(*number, Bound::Included(start), Bound::Excluded(end));
        let (mut found, mut open) = (EntrySet::new(), EntrySet::new());
        let has_others =
            index.terms(&TermRange::prefix(*number, "s"), crate::index::Direction::Ascending).next()?.is_some();
        for range in &ranges {
            check_cancel()?;
            let points = index.range(&between(&grid.points(range)))?;
            // A point that has a whole shape is all of it, which cells do not tell.
            let is_found = range.is_inside && operation != Operation::Contains;
            if is_found {
                found.unite(&points)
            } else {
                open.unite(&points)
            }
            if has_others {
                open.unite(&index.range(&between(&grid.shapes(range)))?);
            }
        }
        if has_others {
            for term in grid.larger(&ranges) {
                check_cancel()?;
                index.term(*number, Term::Text(&term))?.add_to(&mut open)?;
            }
        }
        open.subtract(&found);
        let mut entries = open.entries();
        while let Some(id) = entries.next()? {
            let (holds, pair_count) = self.holds(id, operation)?;
            // Looks are counted: what took long looks as often as others would have meanwhile.
            (0..1 + pair_count / POSITION_PAIRS_PER_CHECK).try_for_each(|_| check_cancel())?;
            if holds {
                found.insert(id);
            }
        }
        Ok(found)
    }

    /// Whether any of an entry's shapes lies so, and how many pairs of positions were compared.
    fn holds(&self, id: EntryId, operation: Operation) -> Result<(bool, usize), Error> {
        let space = &self.options.space;
        let (mut holds, mut pair_count) = (false, 0);
        let count = self.asked.position_count();
        self.index.known_entry(id)?.each_shape(self.number, |bytes| {
            let shape = Shape::decode(bytes, space).ok_or_else(broken)?;
            if !holds {
                holds = operation.holds(&shape, &self.asked, space);
                pair_count += count * shape.position_count();
            }
            Ok(())
        })?;
        Ok((holds, pair_count))
    }
}

fn broken() -> Error {
    Error::Corrupt { rule: "a shape has its middle and its parts" }
}

/// Distances from one position.
pub(super) struct Distances {
    number: Option<FieldNumber>,
    options: SpatialOptions,
    /// `None`: from an empty shape nothing is far or near.
    from: Option<Position>,
    round: Option<f64>,
}

impl Distances {
    pub fn of(index: &IndexSnapshot<'_>, fields: &dyn Fields, key: &DistanceKey) -> Result<Distances> {
        let options = fields.spatial(&key.field);
        let shape = options.shape(key.geometry.clone(), None)?;
        let number = index.field(&fields.resolve(&key.field).0)?;
        Ok(Distances { number, options, from: shape.center(), round: key.round })
    }

    /// That of an entry's nearest shape. `None`: it has none.
    pub fn distance(&self, entry: &IndexEntry<'_>) -> Result<Option<Distance>> {
        let (Some(number), Some(from)) = (self.number, self.from) else { return Ok(None) };
        let mut nearest: Option<Distance> = None;
        entry.each_shape(number, |bytes| {
            let at = Shape::decode_center(bytes).ok_or_else(broken)?;
            let distance = self.options.space.sorted_distance(from, at, self.options.units);
            if nearest.is_none_or(|nearest| distance < nearest.distance) {
                nearest = Some(Distance { distance, latitude: at.y, longitude: at.x });
            }
            Ok(())
        })?;
        Ok(nearest)
    }

    /// A number that is the greater the farther an entry is, as far as it is told apart. `None`: it has no shape.
    pub fn sortable(&self, entry: &IndexEntry<'_>) -> Result<Option<u64>> {
        let distance = self.distance(entry)?.map(|found| found.distance);
        let rounded = distance.map(|distance| match self.round {
            Some(round) => distance - distance % round,
            None => distance,
        });
        // No distance is negative: the bits of such doubles rise with them.
        Ok(rounded.map(|distance| (distance + 0.0).to_bits()))
    }

    /// The first entries of a set, the nearest or farthest first; those without a shape are the last.
    pub fn first<E: From<Error>>(
        &self,
        index: &IndexSnapshot<'_>,
        set: &EntrySet,
        count_max: usize,
        is_descending: bool,
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Vec<EntryId>, E> {
        let mut best = Best::new(count_max, index.reservation());
        let mut entries = set.entries();
        while let Some(id) = entries.next()? {
            check_cancel()?;
            let key = self.sortable(&index.known_entry(id)?)?;
            let order = key.map_or(0, |key| if is_descending { !key } else { key });
            best.push((key.is_none(), order, id))?;
        }
        Ok(best.into_sorted().into_iter().map(|(.., id)| id).collect())
    }
}
