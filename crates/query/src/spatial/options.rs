//! How a field keeps shapes: the option `Spatial` of a definition.

use super::cells::{DIGITS_MAX, Grid};
use super::distance::KILOMETERS_PER_MILE;
use super::shape::{Geometry, Rect, Shape, ShapeError};
use super::space::Space;
use super::wkt;
use json::Value;

/// The unit of radii and distances on the earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Kilometres.
    Kilometers,
    /// Miles of 1.609344 km.
    Miles,
}

impl Units {
    /// By name, in any case.
    pub fn of(name: &str) -> Option<Units> {
        [Units::Kilometers, Units::Miles].into_iter().find(|units| units.name().eq_ignore_ascii_case(name))
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Units::Kilometers => "Kilometers",
            Units::Miles => "Miles",
        }
    }
}

/// What is kept of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The shape; a level of cells is five bits.
    GeohashPrefixTree,
    /// The shape; a level of cells is two bits.
    QuadPrefixTree,
    /// What it lies in, and queries are boxed too.
    BoundingBox,
}

impl Strategy {
    fn name(self) -> &'static str {
        match self {
            Strategy::GeohashPrefixTree => "GeohashPrefixTree",
            Strategy::QuadPrefixTree => "QuadPrefixTree",
            Strategy::BoundingBox => "BoundingBox",
        }
    }
}

/// How a field keeps shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialOptions {
    /// Where they lie.
    pub space: Space,
    /// What is kept of them.
    pub strategy: Strategy,
    /// How small cells become. Results are exact whatever it is; it bounds how many terms a query looks at.
    pub max_tree_level: u32,
    /// The unit of a query's radii and of distances, where the query says none.
    pub units: Units,
}

/// Levels of cells that may be asked for; those of the reference end there too.
const LEVEL_MAX: i64 = 50;

/// Levels where the definition says none.
const LEVEL_DEFAULT: u32 = 9;

impl Default for SpatialOptions {
    fn default() -> SpatialOptions {
        SpatialOptions {
            space: Space::Geography,
            strategy: Strategy::GeohashPrefixTree,
            max_tree_level: LEVEL_DEFAULT,
            units: Units::Kilometers,
        }
    }
}

impl SpatialOptions {
    /// Reads the option of a field.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn from_json(given: &Value) -> Result<SpatialOptions, String> {
        let given_as = |key: &str| given.get(key).filter(|value| **value != Value::Null);
        let text = |key: &str| match given_as(key) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| format!("'{key}' must be a text")),
        };
        let wrong = |key: &str, value: &str| format!("'{key}' cannot be '{value}'");
        let is_geography = match text("Type")? {
            None | Some("Geography") => true,
            Some("Cartesian") => false,
            Some(other) => return Err(wrong("Type", other)),
        };
        let strategy = match text("Strategy")? {
            None | Some("GeohashPrefixTree") => Strategy::GeohashPrefixTree,
            Some("QuadPrefixTree") => Strategy::QuadPrefixTree,
            Some("BoundingBox") => Strategy::BoundingBox,
            Some(other) => return Err(wrong("Strategy", other)),
        };
        let units = match text("Units")? {
            None => Units::Kilometers,
            Some(name) => Units::of(name).ok_or_else(|| wrong("Units", name))?,
        };
        let max_tree_level = match given_as("MaxTreeLevel").map(Value::as_i64) {
            None | Some(Some(0)) => LEVEL_DEFAULT,
            Some(Some(level @ 1..=LEVEL_MAX)) => level as u32,
            Some(_) => return Err(format!("'MaxTreeLevel' must be a whole number from 1 to {LEVEL_MAX}")),
        };
        let space = match is_geography {
            true => Space::Geography,
            false => Space::Cartesian(bounds(given)?),
        };
        Ok(SpatialOptions { space, strategy, max_tree_level, units })
    }

    /// Writes the option as clients read it: its properties, without braces.
    pub fn write_members(&self, json: &mut json::Writer<'_>) {
        let Rect { min, max } = self.space.bounds();
        let kind = if self.space == Space::Geography { "Geography" } else { "Cartesian" };
        json.name("Type").string(kind).name("MaxTreeLevel").unsigned(u64::from(self.max_tree_level));
        for (name, number) in [("MaxX", max.x), ("MaxY", max.y), ("MinX", min.x), ("MinY", min.y)] {
            json.name(name).double(number);
        }
        json.name("Strategy").string(self.strategy.name()).name("Units").string(self.units.name());
    }

    /// Its cells.
    pub fn grid(&self) -> Grid {
        let bits = match self.strategy {
            Strategy::GeohashPrefixTree | Strategy::BoundingBox => self.max_tree_level * 5,
            Strategy::QuadPrefixTree => self.max_tree_level * 2,
        };
        Grid::new(self.space, bits.div_ceil(5).min(DIGITS_MAX))
    }

    /// A geometry as a shape of the field.
    ///
    /// * `units`: of its radii; `None`: that of the field.
    ///
    /// # Errors
    ///
    /// [`ShapeError`]
    pub fn shape(&self, geometry: Geometry, units: Option<Units>) -> Result<Shape, ShapeError> {
        let unit = match (self.space, units.unwrap_or(self.units)) {
            (Space::Geography, Units::Miles) => KILOMETERS_PER_MILE,
            _ => 1.0,
        };
        let shape = Shape::new(geometry, &self.space, unit)?;
        Ok(if self.strategy == Strategy::BoundingBox { shape.boxed() } else { shape })
    }

    /// A text as a shape of the field.
    ///
    /// # Errors
    ///
    /// [`ShapeError`]
    pub fn shape_of_text(&self, text: &str) -> Result<Shape, ShapeError> {
        self.shape(geometry_of_text(text)?, None)
    }
}

/// Reads well-known text.
///
/// # Errors
///
/// [`ShapeError`], with the beginning of the text.
pub fn geometry_of_text(text: &str) -> Result<Geometry, ShapeError> {
    wkt::parse(text).ok_or_else(|| {
        let shown: String = text.chars().take(crate::limits::FOUND_CHARACTERS_MAX).collect();
        let dots = if shown.len() < text.len() { "…" } else { "" };
        ShapeError(format!("Value '{shown}{dots}' is not a valid WKT value."))
    })
}

fn bounds(given: &Value) -> Result<Rect, String> {
    let side = |key: &str, default: f64| match given.get(key).filter(|value| **value != Value::Null) {
        None => Ok(default),
        Some(value) => match value {
            Value::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
        .ok_or_else(|| format!("'{key}' must be a number")),
    };
    let sides = [side("MinX", -180.0)?, side("MaxX", 180.0)?, side("MinY", -90.0)?, side("MaxY", 90.0)?];
    let [min_x, max_x, min_y, max_y] = sides;
    let is_wide = |low: f64, high: f64| low < high && (high - low).is_finite();
    match is_wide(min_x, max_x) && is_wide(min_y, max_y) {
        true => Ok(Rect::new(sides)),
        false => Err("'MinX' must be below 'MaxX', and 'MinY' below 'MaxY'".to_owned()),
    }
}
