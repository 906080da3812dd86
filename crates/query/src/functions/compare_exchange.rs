//! `cmpxchg(key)`: compare-exchange values, as a value that is compared, as a column, and beside the results.

use super::{Argument, Clause, Function, Kind, Use};
use crate::plan::{Parameters, Refused, Scalar};
use crate::rql::{Call, Expression};

pub(crate) static CMPXCHG: Function = Function {
    name: "cmpxchg",
    aliases: &[],
    arguments: &[Argument::required("key", Kind::Any)],
    about: "The `Object` of the compare-exchange value with a key, `null` if there is none. As a value it is read when the query begins. In `include` its \
            argument is a path to keys: the answer has their values in `CompareExchangeValueIncludes`.",
    example: "from Users as u select u.Name, cmpxchg('names/best') as Best",
    uses: &[Use::Known(Clause::Value), Use::Known(Clause::Select), Use::Known(Clause::Include)],
    missing: &[],
};

/// A call in the place of a value: `cmpxchg(key)`, `now()`, `today()`.
///
/// # Errors
///
/// [`Refused`]: it is another function, its argument is no key, or it gives an array; or the value cannot be read.
pub(crate) fn value_of(call: &Call<'_>, parameters: Parameters<'_>) -> Result<Scalar, Refused> {
    if let Some(time) = super::time::value_of(call, documents::Date::now()) {
        return Ok(time);
    }
    let Some(stored) = parameters.stored().filter(|_| CMPXCHG.is(&call.name)) else {
        return Err(Refused::call(&call.name, "as a value"));
    };
    let [Expression::Value(key)] = call.arguments.as_slice() else { return Err(CMPXCHG.wrong_arguments()) };
    let Scalar::Text(key) = parameters.scalar(key)? else { return Err(CMPXCHG.wrong_arguments()) };
    let value = stored.compare_exchange_value(&key).map_err(|error| Refused::Invalid(error.to_string()))?;
    let mut object = value.and_then(|value| value.object());
    for name in call.member.iter().flat_map(|member| member.text().split('.').map(str::to_owned).collect::<Vec<_>>()) {
        object = object.and_then(|object| object.get(&name));
    }
    match object.map(|object| (object.kind(), object)) {
        None | Some((json::Kind::Null, _)) => Ok(Scalar::Null),
        Some((json::Kind::Bool, value)) => Ok(Scalar::Boolean(value.as_bool() == Some(true))),
        Some((json::Kind::Number, value)) => Ok(Scalar::Number(value.number_text().unwrap_or_default().to_owned())),
        Some((json::Kind::String, value)) => Ok(Scalar::Text(value.as_str().unwrap_or_default().into_owned())),
        Some((json::Kind::Object, value)) => Ok(Scalar::Object(String::from_utf8_lossy(value.bytes()).into_owned())),
        Some((json::Kind::Array, _)) => {
            Err(Refused::Invalid(format!("The compare-exchange value '{key}' is an array; compare with one value")))
        }
    }
}
