//! Terms and coordinates of shapes, and reading them from fields of documents.

use super::extract::{ExtractedValue, Paths};
use super::field_failures::FieldFailures;
use super::indexer::Unmapped;
use crate::definition::{AutomaticIndex, Places};
use crate::index::{Entry, Error, FieldNumber, Index, Result, Term};
use crate::spatial::{Geometry, SpatialOptions, geometry_of_text};
use json::{Kind, Raw};

/// Adds a shape to an entry; an empty one is none.
pub(super) fn add(entry: &mut Entry, field: FieldNumber, options: &SpatialOptions, geometry: Geometry) -> Result<()> {
    let shape = options.shape(geometry, None)?;
    if shape.is_empty() {
        return Ok(());
    }
    options.grid().terms(&shape, &mut |term| entry.add(field, Term::Text(term)))?;
    entry.add_shape(field, &shape)
}

/// The fields of an automatic index that keep places.
pub(super) struct PlaceFields {
    paths: Paths,
    /// For each where it is kept, and the numbers of its paths.
    fields: Vec<(String, FieldNumber, Coordinates)>,
    /// What a document has at each path.
    values: Vec<PathValue>,
}

/// The numbers of paths.
enum Coordinates {
    Point { latitude: usize, longitude: usize },
    Wkt(usize),
}

/// What a document has at a path.
struct PathValue {
    /// Whether it is well-known text, and not a number.
    is_text: bool,
    geometries: Vec<Geometry>,
    number: Option<f64>,
    /// Why something there is no place.
    failure: Option<String>,
}

impl PlaceFields {
    pub fn new(definition: &AutomaticIndex, index: &Index) -> Result<PlaceFields> {
        let mut made = PlaceFields { paths: Paths::default(), fields: Vec::new(), values: Vec::new() };
        for (name, places) in definition.places() {
            let coordinates = match places {
                Places::Point(latitude, longitude) => {
                    Coordinates::Point { latitude: made.path(latitude, false), longitude: made.path(longitude, false) }
                }
                Places::Wkt(path) => Coordinates::Wkt(made.path(path, true)),
            };
            made.fields.push((name.to_owned(), index.field(name)?, coordinates));
        }
        Ok(made)
    }

    fn path(&mut self, path: &str, is_text: bool) -> usize {
        let number = self.values.len();
        self.paths.add(path, number);
        self.values.push(PathValue { is_text, geometries: Vec::new(), number: None, failure: None });
        number
    }

    /// Adds the places of a document. A field with a value that is no place gets none, and an error is recorded.
    ///
    /// # Errors
    ///
    /// Those of the index.
    pub fn add(&mut self, document: Raw<'_>, entry: &mut Entry, failures: &mut FieldFailures) -> Result<()> {
        let PlaceFields { paths, fields, values } = self;
        if fields.is_empty() {
            return Ok(());
        }
        values.iter_mut().for_each(PathValue::clear);
        paths.visit(document, &mut |path, found| {
            if let Some(value) = values.get_mut(path) {
                let read = if value.is_text { value.read_text(&found) } else { value.read_number(&found) };
                value.failure = std::mem::take(&mut value.failure).or(read.err());
            }
            Ok::<(), Error>(())
        })?;
        for (name, field, coordinates) in fields {
            failures.attempt(name, entry, |entry| add_place(entry, *field, coordinates, values))?;
        }
        Ok(())
    }
}

fn add_place(
    entry: &mut Entry,
    field: FieldNumber,
    coordinates: &Coordinates,
    values: &[PathValue],
) -> Result<(), Unmapped> {
    let value = |path: &usize| match values.get(*path) {
        Some(PathValue { failure: Some(failure), .. }) => Err(Unmapped::Failed(failure.clone())),
        value => Ok(value),
    };
    let options = SpatialOptions::default();
    match coordinates {
        Coordinates::Point { latitude, longitude } => {
            let number = |path| Ok::<_, Unmapped>(value(path)?.and_then(|value| value.number));
            if let (Some(latitude), Some(longitude)) = (number(latitude)?, number(longitude)?) {
                add(entry, field, &options, Geometry::point(longitude, latitude))?;
            }
        }
        Coordinates::Wkt(path) => {
            for geometry in value(path)?.into_iter().flat_map(|value| &value.geometries) {
                add(entry, field, &options, geometry.clone())?;
            }
        }
    }
    Ok(())
}

impl PathValue {
    fn clear(&mut self) {
        self.geometries.clear();
        self.number = None;
        self.failure = None;
    }

    fn read_text(&mut self, found: &ExtractedValue<'_>) -> Result<(), String> {
        let ExtractedValue::Value(value) = found else { return Ok(()) };
        match value.as_str() {
            Some(text) => self.geometries.push(geometry_of_text(&text).map_err(|error| error.to_string())?),
            None if value.kind() == Kind::Null => {}
            None => return Err("Well-known text has to be a text".to_owned()),
        }
        Ok(())
    }

    fn read_number(&mut self, found: &ExtractedValue<'_>) -> Result<(), String> {
        let ExtractedValue::Value(value) = found else { return Ok(()) };
        let number = match value.kind() {
            Kind::Null => return Ok(()),
            Kind::Number => value.as_f64(),
            Kind::String => value.as_str().and_then(|text| text.trim().parse().ok()),
            Kind::Bool | Kind::Array | Kind::Object => None,
        };
        let number = number.filter(|number: &f64| number.is_finite()).ok_or("A coordinate has to be a number")?;
        match self.number.replace(number) {
            None => Ok(()),
            Some(_) => Err("A place has one latitude and one longitude, and not several".to_owned()),
        }
    }
}
