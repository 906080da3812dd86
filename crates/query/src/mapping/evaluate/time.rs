//! Functions of dates and durations.

use super::super::convert::{convert, whole};
use super::super::date::{DateKind, DateTime, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MILLISECOND, TICKS_PER_MINUTE};
use super::super::date::{TICKS_PER_SECOND, TimeSpan, days_in_month};
use super::super::display::{clock_text, day_text};
use super::super::error::{MapError, Result};
use super::super::expression::{Conversion, Operator, Type};
use super::super::function::Function;
use super::super::operator::{as_date, as_span, binary};
use super::super::value::Value;

/// A function of dates and durations: all that no other file has.
pub(super) fn call<'d>(function: Function, first: &Value<'d>, rest: &[Value<'d>]) -> Result<Value<'d>> {
    let value = first.clone().read();
    match function {
        Function::NewDate => new_date(&value, rest),
        Function::NewSpan => new_span(&value, rest),
        Function::DaysInMonth => {
            let (year, month) = (long(function, &value)?, long(function, argument(rest, 0))?);
            if DateTime::of_day(year, month, 1).is_none() {
                return Err(MapError::Range { function: "DaysInMonth" });
            }
            Ok(Value::Long(days_in_month(year, month)))
        }
        Function::SpanFromTicks => long(function, &value).map(|ticks| Value::Span(TimeSpan(ticks))),
        Function::SpanFromMilliseconds
        | Function::SpanFromSeconds
        | Function::SpanFromMinutes
        | Function::SpanFromHours
        | Function::SpanFromDays => ticks(function, &value).map(|ticks| Value::Span(TimeSpan(ticks))),
        Function::Duration => {
            let span = as_span(&value).ok_or_else(|| unfit(function, &value))?;
            span.0.checked_abs().map(|ticks| Value::Span(TimeSpan(ticks))).ok_or(MapError::Overflow)
        }
        // The C# client wraps each field of these types. Their values are texts, as in documents.
        Function::AsDateOnly => Ok(as_date(&value).map_or(Value::Missing, |date| Value::text(day_text(date)))),
        Function::AsTimeOnly => {
            let time = as_span(&value).filter(|span| (0..TICKS_PER_DAY).contains(&span.0));
            Ok(time.map_or(Value::Missing, |time| Value::text(clock_text(time))))
        }
        Function::Add if as_date(&value).is_none() => binary(Operator::Add, value, argument(rest, 0).clone()),
        _ => {
            let date = as_date(&value).ok_or_else(|| unfit(function, &value))?;
            of_date(function, date, argument(rest, 0)).map(|date| date.map_or(Value::Missing, Value::Date))
        }
    }
}

fn argument<'v, 'd>(rest: &'v [Value<'d>], index: usize) -> &'v Value<'d> {
    rest.get(index).unwrap_or(&Value::Missing)
}

/// None if what is added is null.
fn of_date(function: Function, date: DateTime, by: &Value<'_>) -> Result<Option<DateTime>> {
    let by = by.clone().read();
    match function {
        // Dates without a clock are taken for UTC: there is no other clock here.
        Function::ToUniversalTime => return Ok(Some(DateTime { kind: DateKind::Utc, ..date })),
        _ if by.is_null() => return Ok(None),
        Function::AddMonths => date.add_months(long(function, &by)?),
        Function::AddYears => date.add_months(long(function, &by)?.checked_mul(12).ok_or(MapError::Overflow)?),
        Function::AddTicks => date.add_ticks(long(function, &by)?),
        Function::Add => date.add_ticks(as_span(&by).ok_or_else(|| unfit(function, &by))?.0),
        _ => date.add_ticks(ticks(function, &by)?),
    }
    .map(Some)
}

/// A number of the function's units, in ticks.
fn ticks(function: Function, value: &Value<'_>) -> Result<i64> {
    let unit = match function {
        Function::AddMilliseconds | Function::SpanFromMilliseconds => TICKS_PER_MILLISECOND,
        Function::AddSeconds | Function::SpanFromSeconds => TICKS_PER_SECOND,
        Function::AddMinutes | Function::SpanFromMinutes => TICKS_PER_MINUTE,
        Function::AddHours | Function::SpanFromHours => TICKS_PER_HOUR,
        Function::AddDays | Function::SpanFromDays => TICKS_PER_DAY,
        _ => return Err(unfit(function, value)),
    };
    if let Value::Long(count) = value {
        return count.checked_mul(unit).ok_or(MapError::Overflow);
    }
    match convert(Conversion { to: Type::Double, is_nullable: false, parses: false }, value.clone()) {
        Ok(Value::Double(count)) => whole((count * unit as f64).round()).ok_or(MapError::Overflow),
        _ => Err(unfit(function, value)),
    }
}

fn long(function: Function, value: &Value<'_>) -> Result<i64> {
    match convert(Conversion { to: Type::LONG, is_nullable: false, parses: false }, value.clone()) {
        Ok(Value::Long(long)) => Ok(long),
        _ => Err(unfit(function, value)),
    }
}

fn unfit(function: Function, value: &Value<'_>) -> MapError {
    MapError::Argument { function: function.name(), found: value.type_name() }
}

/// Year, month and day, and hour, minute, second, millisecond after them; or ticks.
fn new_date<'d>(first: &Value<'_>, rest: &[Value<'_>]) -> Result<Value<'d>> {
    let out_of_range = || MapError::Range { function: "DateTime" };
    let parts = parts(Function::NewDate, first, rest)?;
    let date = match *parts {
        [ticks] => DateTime::new(ticks, DateKind::Unspecified)?,
        [year, month, day, ref time @ ..] => {
            let date = DateTime::of_day(year, month, day).ok_or_else(out_of_range)?;
            let [hour, minute, second, millisecond] =
                std::array::from_fn(|index| time.get(index).copied().unwrap_or(0));
            let fits = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
            if !fits || !(0..1000).contains(&millisecond) || matches!(time.len(), 1 | 2 | 5..) {
                return Err(out_of_range());
            }
            let seconds = hour * 3600 + minute * 60 + second;
            date.add_ticks(seconds * TICKS_PER_SECOND + millisecond * TICKS_PER_MILLISECOND)?
        }
        _ => return Err(out_of_range()),
    };
    let is_utc = rest.last().and_then(|kind| kind.as_text()).is_some_and(|kind| kind == "Utc");
    Ok(Value::Date(DateTime { kind: if is_utc { DateKind::Utc } else { date.kind }, ..date }))
}

/// Ticks; hours, minutes and seconds; days before them; milliseconds after them.
fn new_span<'d>(first: &Value<'_>, rest: &[Value<'_>]) -> Result<Value<'d>> {
    let parts = parts(Function::NewSpan, first, rest)?;
    let units: &[i64] = match parts.len() {
        1 => &[1],
        3 => &[TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND],
        4 | 5 => &[TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND, TICKS_PER_MILLISECOND],
        _ => return Err(MapError::Range { function: "TimeSpan" }),
    };
    let ticks = parts.iter().zip(units).try_fold(0i64, |sum, (part, unit)| sum.checked_add(part.checked_mul(*unit)?));
    ticks.map(|ticks| Value::Span(TimeSpan(ticks))).ok_or(MapError::Overflow)
}

fn parts(function: Function, first: &Value<'_>, rest: &[Value<'_>]) -> Result<Vec<i64>> {
    // The kind of a date, as `DateTimeKind.Utc`, may stand at its end.
    let numbers = std::iter::once(first).chain(rest).filter(|value| !matches!(value, Value::Text(_)));
    numbers.map(|value| long(function, &value.clone().read())).collect()
}
