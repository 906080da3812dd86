//! `Math`: functions of numbers.

use super::super::error::{MapError, Result};
use super::super::expression::{Conversion, Type};
use super::super::function::Function;
use super::super::operator::order;
use super::super::value::Value;
use rust_decimal::Decimal;
use std::cmp::Ordering;

/// Digits that `Round` may keep, as in .NET.
const DECIMAL_DIGITS_MAX: i64 = 28;
const DOUBLE_DIGITS_MAX: i64 = 15;

/// A function of numbers; none if it is no such function.
pub(super) fn call<'d>(function: Function, first: &Value<'d>, rest: &[Value<'d>]) -> Option<Result<Value<'d>>> {
    let first = first.clone().read();
    let second = rest.first().map(|second| second.clone().read());
    let keeps_type = matches!(
        function,
        Function::Abs | Function::Ceiling | Function::Floor | Function::Round | Function::Truncate | Function::Sign
    );
    if matches!(function, Function::Min | Function::Max) {
        return Some(extreme(function, first, second));
    }
    if keeps_type {
        return Some(match first {
            Value::Long(long) => of_long(function, long),
            Value::Double(double) => of_double(function, double, second),
            Value::Decimal(decimal) => of_decimal(function, decimal, second),
            other => Err(MapError::Argument { function: function.name(), found: other.type_name() }),
        });
    }
    let real: fn(f64) -> f64 = match function {
        Function::Sqrt => f64::sqrt,
        Function::Exp => f64::exp,
        Function::Log if second.is_none() => f64::ln,
        Function::Log10 => f64::log10,
        Function::Sin => f64::sin,
        Function::Cos => f64::cos,
        Function::Tan => f64::tan,
        Function::Asin => f64::asin,
        Function::Acos => f64::acos,
        Function::Atan => f64::atan,
        Function::Log | Function::Pow | Function::Atan2 => return Some(of_two(function, first, second)),
        _ => return None,
    };
    Some(double(function, first).map(|number| number.map_or(Value::Missing, |number| Value::Double(real(number)))))
}

/// The number as a double; none if it is null.
fn double(function: Function, value: Value<'_>) -> Result<Option<f64>> {
    let type_name = value.type_name();
    match super::super::convert::convert(Conversion { to: Type::Double, is_nullable: true, parses: false }, value) {
        Ok(Value::Double(double)) => Ok(Some(double)),
        Ok(_) => Ok(None),
        Err(_) => Err(MapError::Argument { function: function.name(), found: type_name }),
    }
}

fn of_two<'d>(function: Function, first: Value<'d>, second: Option<Value<'d>>) -> Result<Value<'d>> {
    let (first, second) = (double(function, first)?, double(function, second.unwrap_or(Value::Missing))?);
    let (Some(first), Some(second)) = (first, second) else { return Ok(Value::Missing) };
    Ok(Value::Double(match function {
        Function::Pow => first.powf(second),
        Function::Log => first.log(second),
        _ => first.atan2(second),
    }))
}

fn extreme<'d>(function: Function, first: Value<'d>, second: Option<Value<'d>>) -> Result<Value<'d>> {
    let Some(second) = second.filter(|second| !second.is_null()) else { return Ok(Value::Missing) };
    let wanted = if function == Function::Min { Ordering::Less } else { Ordering::Greater };
    Ok(if order(&second, &first)? == wanted { second } else { first })
}

fn of_long<'d>(function: Function, long: i64) -> Result<Value<'d>> {
    match function {
        Function::Abs => long.checked_abs().map(Value::Long).ok_or(MapError::Overflow),
        Function::Sign => Ok(Value::Long(long.signum())),
        _ => Ok(Value::Long(long)),
    }
}

fn digits(second: Option<Value<'_>>, max: i64) -> Result<u32> {
    match second {
        None => Ok(0),
        Some(Value::Long(digits)) if (0..=max).contains(&digits) => Ok(digits as u32),
        Some(_) => Err(MapError::Range { function: "Round" }),
    }
}

fn of_double<'d>(function: Function, double: f64, second: Option<Value<'d>>) -> Result<Value<'d>> {
    Ok(Value::Double(match function {
        Function::Abs => double.abs(),
        Function::Ceiling => double.ceil(),
        Function::Floor => double.floor(),
        Function::Truncate => double.trunc(),
        Function::Sign if double.is_nan() => return Err(MapError::Range { function: "Sign" }),
        Function::Sign => return Ok(Value::Long(i64::from(double > 0.0) - i64::from(double < 0.0))),
        // As .NET does it: by scaling, halves to the even digit.
        _ => {
            let scale = 10f64.powi(digits(second, DOUBLE_DIGITS_MAX)? as i32);
            if double.abs() < 1e16 { (double * scale).round_ties_even() / scale } else { double }
        }
    }))
}

fn of_decimal<'d>(function: Function, decimal: Decimal, second: Option<Value<'d>>) -> Result<Value<'d>> {
    Ok(Value::Decimal(match function {
        Function::Abs => decimal.abs(),
        Function::Ceiling => decimal.ceil(),
        Function::Floor => decimal.floor(),
        Function::Truncate => decimal.trunc(),
        Function::Sign => {
            let sign = decimal.cmp(&Decimal::ZERO) as i64;
            return Ok(Value::Long(sign));
        }
        _ => decimal.round_dp(digits(second, DECIMAL_DIGITS_MAX)?),
    }))
}
