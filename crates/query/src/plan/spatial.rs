//! `spatial.within(field, shape[, error])` and its like, and `order by spatial.distance(field, shape[, round])`.
//!
//! ```text
//! field:  a field of an index that is named; else spatial.point(latitude, longitude) or spatial.wkt(field)
//! shape:  spatial.circle(radius, latitude, longitude[, units]), spatial.wkt(text[, units]), spatial.point(latitude, longitude)
//! ```
//!
//! How much of a shape's size a result may be wrong by, the third argument of conditions, is checked and then met by being exact.

use super::Refused;
use super::condition::{Condition, FieldUse, SpatialQuery};
use super::index_query::{DistanceKey, Planner};
use super::parameters::Scalar;
use crate::definition::{Analysis, Field, Places};
use crate::rql::{Call, Expression, Value};
use crate::spatial::{Geometry, Operation, Units, geometry_of_text};

/// The operation of a function of conditions. `None`: it is another function.
pub(super) fn operation(name: &str) -> Option<Operation> {
    let operations = [
        ("spatial.within", Operation::Within),
        ("spatial.contains", Operation::Contains),
        ("spatial.intersects", Operation::Intersects),
        ("spatial.disjoint", Operation::Disjoint),
    ];
    operations.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, operation)| operation)
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
    pub(super) fn spatial(&mut self, call: &Call<'_>, operation: Operation) -> Result<Condition, Refused> {
        let (operand, shape, error) = operands(call)?;
        let field = self.places(operand, &call.name)?;
        if let Some(error) = error {
            let error = self.coordinate(error, &call.name)?;
            if !(0.0..=0.5).contains(&error) {
                return invalid(format!("distErrPct {error} must be between [0 to 0.5]"));
            }
        }
        if shape.name.eq_ignore_ascii_case("spatial.point") {
            return invalid(format!("Method {}() needs a circle or well-known text as its shape", call.name));
        }
        let (geometry, units) = self.geometry(shape)?;
        Ok(Condition::Spatial(field, Box::new(SpatialQuery { operation, geometry, units })))
    }

    /// `spatial.distance(field, shape[, round])`
    pub(super) fn distance(&mut self, call: &Call<'_>) -> Result<DistanceKey, Refused> {
        let (operand, shape, round) = operands(call)?;
        let field = match self.quoted_places(operand)? {
            Some(field) => self.needed(field),
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
        if self.is_named || self.grouping.is_some() {
            return Ok(None);
        }
        let text = self.scalar_text(value)?;
        let inside = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        let places = match (inside("spatial.point").and_then(|paths| paths.split_once(',')), inside("spatial.wkt")) {
            (Some((latitude, longitude)), _) => Places::Point(latitude.trim(), longitude.trim()),
            (None, Some(path)) => Places::Wkt(path.trim()),
            (None, None) => return Ok(None),
        };
        Ok(places.field())
    }

    /// A field that the index must have.
    fn needed(&mut self, field: Field) -> FieldUse {
        let name = field.name.clone();
        self.fields.push(field);
        FieldUse { name, analysis: Analysis::LowerCase }
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
        if self.grouping.is_some() {
            return invalid(format!("{function}() of groups: places are neither counted nor added up, nor keys"));
        }
        let is = |name: &str| call.name.eq_ignore_ascii_case(name);
        let paths = call.arguments.iter().map(|path| self.path(path)).collect::<Result<Vec<String>, _>>()?;
        let places = match paths.as_slice() {
            [latitude, longitude] if is("spatial.point") => Places::Point(latitude, longitude),
            [path] if is("spatial.wkt") => Places::Wkt(path),
            _ => {
                return invalid(format!(
                    "Method {function}() expects first argument to be a point() method with 2 arguments, or a wkt() method with 1"
                ));
            }
        };
        let not_plain = || {
            Refused::NotSupported(
                "commas and parentheses in the names of fields of spatial.point() and spatial.wkt()".to_owned(),
            )
        };
        let field = places.field().ok_or_else(not_plain)?;
        Ok(self.needed(field))
    }

    fn geometry(&self, call: &Call<'_>) -> Result<(Geometry, Option<Units>), Refused> {
        let is = |name: &str| call.name.eq_ignore_ascii_case(name);
        let number = |expression| self.coordinate(expression, &call.name);
        match call.arguments.as_slice() {
            [latitude, longitude] if is("spatial.point") => {
                Ok((Geometry::point(number(longitude)?, number(latitude)?), None))
            }
            _ if is("spatial.point") => invalid("Method 'point()' expects two arguments to be provided".to_owned()),
            [radius, latitude, longitude, units @ ..] if is("spatial.circle") && units.len() < 2 => {
                let circle = Geometry::circle(number(longitude)?, number(latitude)?, number(radius)?);
                Ok((circle, self.units(units)?))
            }
            _ if is("spatial.circle") => {
                invalid("Method 'circle()' expects three or four arguments to be provided".to_owned())
            }
            [Expression::Value(text), units @ ..] if is("spatial.wkt") && units.len() < 2 => {
                let Scalar::Text(text) = self.parameters.scalar(text)? else {
                    return invalid("Method 'wkt()' expects a text".to_owned());
                };
                let geometry = geometry_of_text(&text).map_err(|error| Refused::Invalid(error.to_string()))?;
                Ok((geometry, self.units(units)?))
            }
            _ if is("spatial.wkt") => invalid("Method 'wkt()' expects one or two arguments to be provided".to_owned()),
            _ => invalid(format!("Method '{}' is not supported.", call.name)),
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
