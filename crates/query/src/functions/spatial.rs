//! `spatial.within(field, shape[, error])` and its like, and `order by spatial.distance(field, shape[, round])`.
//!
//! ```text
//! field:  a field of an index that is named; else spatial.point(latitude, longitude) or spatial.wkt(field)
//! shape:  spatial.circle(radius, latitude, longitude[, units]), spatial.wkt(text[, units]), spatial.point(latitude, longitude)
//! ```
//!
//! How much of a shape's size a result may be wrong by, the third argument of conditions, is checked and then met by being exact.

use super::{Argument, Function, Kind, Use, find};
use crate::definition::{Analysis, Field, Places};
use crate::plan::{Condition, DistanceKey, FieldUse, Planner, Refused, Scalar, SortBy, SpatialQuery};
use crate::rql::{Call, Expression, Value};
use crate::spatial::{Geometry, Operation, Units, geometry_of_text};

const RELATED: &[Argument] = &[
    Argument::required("field", Kind::Places),
    Argument::required("shape", Kind::Shape),
    Argument::optional("error", Kind::Number),
];

pub(super) static WITHIN: Function = Function {
    name: "spatial.within",
    aliases: &[],
    arguments: RELATED,
    about: "Finds places and shapes that lie in the shape.",
    example: "from Items where spatial.within(spatial.point(Lat, Lng), spatial.circle(10, 59.9, 10.7, 'Kilometers'))",
    uses: &[Use::Condition(|planner, call, _| planner.spatial(call, Operation::Within))],
    missing: &[],
};

pub(super) static CONTAINS: Function = Function {
    name: "spatial.contains",
    aliases: &[],
    arguments: RELATED,
    about: "Finds shapes that the shape lies in.",
    example: "from Items where spatial.contains(spatial.wkt(Area), spatial.wkt('POINT(10.7 59.9)'))",
    uses: &[Use::Condition(|planner, call, _| planner.spatial(call, Operation::Contains))],
    missing: &[],
};

pub(super) static INTERSECTS: Function = Function {
    name: "spatial.intersects",
    aliases: &[],
    arguments: RELATED,
    about: "Finds shapes that have a point in common with the shape.",
    example: "from Items where spatial.intersects(spatial.wkt(Area), spatial.circle(10, 59.9, 10.7))",
    uses: &[Use::Condition(|planner, call, _| planner.spatial(call, Operation::Intersects))],
    missing: &[],
};

pub(super) static DISJOINT: Function = Function {
    name: "spatial.disjoint",
    aliases: &[],
    arguments: RELATED,
    about: "Finds shapes that have no point in common with the shape.",
    example: "from Items where spatial.disjoint(spatial.wkt(Area), spatial.circle(10, 59.9, 10.7))",
    uses: &[Use::Condition(|planner, call, _| planner.spatial(call, Operation::Disjoint))],
    missing: &[],
};

pub(super) static DISTANCE: Function = Function {
    name: "spatial.distance",
    aliases: &[],
    arguments: &[
        Argument::required("field", Kind::Places),
        Argument::required("shape", Kind::Shape),
        Argument::optional("round", Kind::Number),
    ],
    about: "The distance from the middle of the shape: the nearest comes first, and what has no place last. Distances with as many whole multiples of `round` are equal.",
    example: "from Items order by spatial.distance(spatial.point(Lat, Lng), spatial.point(59.9, 10.7), 25)",
    uses: &[Use::Order(|planner, call| planner.distance(call).map(SortBy::Distance))],
    missing: &[],
};

pub(super) static POINT: Function = Function {
    name: "spatial.point",
    aliases: &[],
    arguments: &[Argument::required("latitude", Kind::Field), Argument::required("longitude", Kind::Field)],
    about: "The place that two fields of a document hold; or, with two numbers, the point that `spatial.distance` measures from.",
    example: "from Items order by spatial.distance(spatial.point(Lat, Lng), spatial.point(59.9, 10.7))",
    uses: &[Use::Places(places_of_point), Use::Shape(|planner, call| planner.point(call))],
    missing: &[],
};

pub(super) static WKT: Function = Function {
    name: "spatial.wkt",
    aliases: &[],
    arguments: &[Argument::required("field or text", Kind::Field), Argument::optional("units", Kind::Units)],
    about: "The shape that a field of a document holds as well-known text; or, with a text, that shape.",
    example: "from Items where spatial.within(spatial.wkt(Area), spatial.wkt('POLYGON((10 59, 11 59, 11 60, 10 60, 10 59))'))",
    uses: &[Use::Places(places_of_wkt), Use::Shape(|planner, call| planner.wkt(call))],
    missing: &[],
};

pub(super) static CIRCLE: Function = Function {
    name: "spatial.circle",
    aliases: &[],
    arguments: &[
        Argument::required("radius", Kind::Number),
        Argument::required("latitude", Kind::Number),
        Argument::required("longitude", Kind::Number),
        Argument::optional("units", Kind::Units),
    ],
    about: "A circle. Its units are `Kilometers` or `Miles`; without them those of the field, which are kilometers unless the index says otherwise.",
    example: "from Items where spatial.within(spatial.point(Lat, Lng), spatial.circle(5, 59.9, 10.7, 'Miles'))",
    uses: &[Use::Shape(|planner, call| planner.circle(call))],
    missing: &[],
};

fn places_of_point(paths: &[String]) -> Option<Places<'_>> {
    match paths {
        [latitude, longitude] => Some(Places::Point(latitude, longitude)),
        _ => None,
    }
}

fn places_of_wkt(paths: &[String]) -> Option<Places<'_>> {
    match paths {
        [path] => Some(Places::Wkt(path)),
        _ => None,
    }
}

fn invalid<T>(message: String) -> Result<T, Refused> {
    Err(Refused::Invalid(message))
}

/// The field, the shape and what may stand behind.
fn operands<'c, 'q>(
    call: &'c Call<'q>,
) -> Result<(&'c Expression<'q>, &'c Call<'q>, Option<&'c Expression<'q>>), Refused> {
    let (operand, shape, more) = match call.arguments.as_slice() {
        [operand, shape] => (operand, shape, None),
        [operand, shape, more] => (operand, shape, Some(more)),
        _ => return invalid(format!("Method {}() expects 2-3 arguments to be provided", call.name)),
    };
    match shape {
        Expression::Call(shape) => Ok((operand, shape, more)),
        _ => invalid(format!("Method {}() expects a shape as second argument", call.name)),
    }
}

impl Planner<'_> {
    /// `spatial.within(field, shape[, error])`
    fn spatial(&mut self, call: &Call<'_>, operation: Operation) -> Result<Condition, Refused> {
        let (operand, shape, error) = operands(call)?;
        let field = self.places(operand, &call.name)?;
        if let Some(error) = error {
            let error = self.coordinate(error, &call.name)?;
            if !(0.0..=0.5).contains(&error) {
                return invalid(format!("distErrPct {error} must be between [0 to 0.5]"));
            }
        }
        if POINT.is(&shape.name) {
            return invalid(format!("Method {}() needs a circle or well-known text as its shape", call.name));
        }
        let (geometry, units) = self.geometry(shape)?;
        Ok(Condition::Spatial(field, Box::new(SpatialQuery { operation, geometry, units })))
    }

    /// `spatial.distance(field, shape[, round])`
    fn distance(&mut self, call: &Call<'_>) -> Result<DistanceKey, Refused> {
        let (operand, shape, round) = operands(call)?;
        let field = match self.quoted_places(operand)? {
            Some(field) => self.need(field, Analysis::LowerCase),
            None => self.places(operand, &call.name)?,
        };
        let (geometry, _) = self.geometry(shape)?;
        let round = match round {
            None => None,
            Some(round) => self.round(round, &call.name)?.filter(|round| *round > 0.0),
        };
        Ok(DistanceKey { field, geometry, round })
    }

    /// Fields as clients write them where they sort by what is no field of an index: `'spatial.point(Lat, Lng)'`.
    fn quoted_places(&self, operand: &Expression<'_>) -> Result<Option<Field>, Refused> {
        let Expression::Value(value) = operand else { return Ok(None) };
        if self.is_named || self.is_grouping() {
            return Ok(None);
        }
        let text = self.scalar_text(value)?;
        let inside = |function: &Function| text.strip_prefix(function.name)?.strip_prefix('(')?.strip_suffix(')');
        let places = match (inside(&POINT).and_then(|paths| paths.split_once(',')), inside(&WKT)) {
            (Some((latitude, longitude)), _) => Places::Point(latitude.trim(), longitude.trim()),
            (None, Some(path)) => Places::Wkt(path.trim()),
            (None, None) => return Ok(None),
        };
        Ok(places.field())
    }

    /// The field of an index that is named, or one that is made of fields of documents.
    fn places(&mut self, operand: &Expression<'_>, function: &str) -> Result<FieldUse, Refused> {
        let Expression::Call(call) = operand else {
            return match self.is_named {
                true => self.field(operand, Analysis::LowerCase),
                false => {
                    invalid(format!("Method {function}() expects spatial.point() or spatial.wkt() as first argument"))
                }
            };
        };
        if self.is_named {
            return invalid(format!(
                "Method {function}() expects that first argument will be a field name when static index is queried"
            ));
        }
        if self.is_grouping() {
            return invalid(format!("{function}() of groups: places are neither counted nor added up, nor keys"));
        }
        let paths = call.arguments.iter().map(|path| self.path(path)).collect::<Result<Vec<String>, _>>()?;
        let plan = find(&call.name).and_then(Function::places);
        let Some(places) = plan.and_then(|plan| plan(&paths)) else {
            return invalid(format!(
                "Method {function}() expects first argument to be a point() method with 2 arguments, or a wkt() method with 1"
            ));
        };
        let not_plain = || {
            Refused::NotSupported(
                "commas and parentheses in the names of fields of spatial.point() and spatial.wkt()".to_owned(),
            )
        };
        let field = places.field().ok_or_else(not_plain)?;
        Ok(self.need(field, Analysis::LowerCase))
    }

    fn geometry(&self, call: &Call<'_>) -> Result<(Geometry, Option<Units>), Refused> {
        match find(&call.name).and_then(Function::shape) {
            Some(plan) => plan(self, call),
            None => invalid(format!("Method '{}' is not supported.", call.name)),
        }
    }

    /// `spatial.point(latitude, longitude)`
    fn point(&self, call: &Call<'_>) -> Result<(Geometry, Option<Units>), Refused> {
        let number = |expression| self.coordinate(expression, &call.name);
        match call.arguments.as_slice() {
            [latitude, longitude] => Ok((Geometry::point(number(longitude)?, number(latitude)?), None)),
            _ => invalid("Method 'point()' expects two arguments to be provided".to_owned()),
        }
    }

    /// `spatial.circle(radius, latitude, longitude[, units])`
    fn circle(&self, call: &Call<'_>) -> Result<(Geometry, Option<Units>), Refused> {
        let number = |expression| self.coordinate(expression, &call.name);
        match call.arguments.as_slice() {
            [radius, latitude, longitude, units @ ..] if units.len() < 2 => {
                let circle = Geometry::circle(number(longitude)?, number(latitude)?, number(radius)?);
                Ok((circle, self.units(units)?))
            }
            _ => invalid("Method 'circle()' expects three or four arguments to be provided".to_owned()),
        }
    }

    /// `spatial.wkt(text[, units])`
    fn wkt(&self, call: &Call<'_>) -> Result<(Geometry, Option<Units>), Refused> {
        match call.arguments.as_slice() {
            [Expression::Value(text), units @ ..] if units.len() < 2 => {
                let Scalar::Text(text) = self.parameters.scalar(text)? else {
                    return invalid("Method 'wkt()' expects a text".to_owned());
                };
                let geometry = geometry_of_text(&text).map_err(|error| Refused::Invalid(error.to_string()))?;
                Ok((geometry, self.units(units)?))
            }
            _ => invalid("Method 'wkt()' expects one or two arguments to be provided".to_owned()),
        }
    }

    fn units(&self, given: &[Expression<'_>]) -> Result<Option<Units>, Refused> {
        let [given] = given else { return Ok(None) };
        let name = match given {
            Expression::Value(value) => self.scalar_text(value)?,
            Expression::Field(path) => path.text().into_owned(),
            _ => String::new(),
        };
        match Units::of(&name) {
            Some(units) => Ok(Some(units)),
            None => invalid(format!("SpatialUnits value must be either 'Kilometers' or 'Miles' but was '{name}'.")),
        }
    }

    fn scalar_text(&self, value: &Value<'_>) -> Result<String, Refused> {
        Ok(self.parameters.scalar(value)?.text().unwrap_or_default())
    }

    /// Clients leave it out as null; a text is one that is written as a number.
    fn round(&self, expression: &Expression<'_>, function: &str) -> Result<Option<f64>, Refused> {
        let Expression::Value(value) = expression else { return self.coordinate(expression, function).map(Some) };
        match self.parameters.scalar(value)? {
            Scalar::Null => Ok(None),
            Scalar::Text(text) => match text.trim().parse() {
                Ok(number) => Ok(Some(number).filter(|number: &f64| number.is_finite())),
                Err(_) => invalid(format!("The input string '{text}' was not in a correct format.")),
            },
            _ => self.coordinate(expression, function).map(Some),
        }
    }

    fn coordinate(&self, expression: &Expression<'_>, function: &str) -> Result<f64, Refused> {
        let found = match expression {
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
                _ => None,
            },
            _ => None,
        };
        found.map_or_else(|| invalid(format!("Method {function}() expects a number where it has something else")), Ok)
    }
}
