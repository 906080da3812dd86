//! Functions of texts. Positions count characters.

use super::super::display::display;
use super::super::error::{MapError, Result};
use super::super::function::Function;
use super::super::limits::TEXT_SIZE_MAX;
use super::super::value::Value;
use super::arrange::characters;
use super::call::text_of;
use std::borrow::Cow;

/// A function of a text that is not null; none if it is no such function.
pub(super) fn call<'d>(function: Function, first: &Value<'d>, rest: &[Value<'d>]) -> Option<Result<Value<'d>>> {
    let is_ours = matches!(
        function,
        Function::Substring
            | Function::IndexOf
            | Function::LastIndexOf
            | Function::Split
            | Function::ToLower
            | Function::ToUpper
            | Function::Trim
            | Function::TrimStart
            | Function::TrimEnd
            | Function::Replace
            | Function::StartsWith
            | Function::EndsWith
            | Function::PadLeft
            | Function::PadRight
            | Function::Remove
            | Function::Insert
            | Function::ToCharArray
            | Function::IsDigit
            | Function::IsLetter
            | Function::IsLetterOrDigit
            | Function::IsWhiteSpace
            | Function::IsUpper
            | Function::IsLower
    );
    is_ours.then(|| text_of(function, first).and_then(|text| of_text(function, text, rest)))
}

fn of_text<'d>(function: Function, text: Cow<'d, str>, rest: &[Value<'d>]) -> Result<Value<'d>> {
    let made = |text: &str| Ok(Value::text(text.to_owned()));
    match function {
        Function::Substring => {
            let (start, count) = range(function, &text, rest)?;
            made(part(&text, start, count))
        }
        Function::Remove => {
            let (start, count) = range(function, &text, rest)?;
            let removed = part(&text, start, count);
            // The part is a slice of the text, so both of its ends are places in it.
            let at = part(&text, 0, start).len();
            made(&format!("{}{}", &text[..at], &text[at + removed.len()..]))
        }
        Function::Insert => {
            let (start, _) = range(function, &text, &rest[..1])?;
            let at = part(&text, 0, start).len();
            made(&format!("{}{}{}", &text[..at], argument(function, rest, 1)?, &text[at..]))
        }
        Function::IndexOf | Function::LastIndexOf => {
            let wanted = argument(function, rest, 0)?;
            let from = if rest.len() > 1 { range(function, &text, &rest[1..])?.0 } else { 0 };
            let skipped = part(&text, 0, from).len();
            let found = match function {
                Function::IndexOf => text[skipped..].find(&*wanted).map(|at| at + skipped),
                _ => text.rfind(&*wanted),
            };
            let position = found.map_or(-1, |at| i64::try_from(text[..at].chars().count()).unwrap_or(i64::MAX));
            Ok(Value::Long(position))
        }
        Function::Split => split(&text, rest),
        Function::ToLower => made(&text.to_lowercase()),
        Function::ToUpper => made(&text.to_uppercase()),
        Function::Trim | Function::TrimStart | Function::TrimEnd => {
            let characters: String = rest.iter().map(display).collect();
            let is_trimmed = |c: char| if characters.is_empty() { c.is_whitespace() } else { characters.contains(c) };
            made(match function {
                Function::Trim => text.trim_matches(is_trimmed),
                Function::TrimStart => text.trim_start_matches(is_trimmed),
                _ => text.trim_end_matches(is_trimmed),
            })
        }
        Function::Replace => {
            let (from, to) = (argument(function, rest, 0)?, rest.get(1).map(display).unwrap_or_default());
            if from.is_empty() {
                return Err(MapError::Range { function: "Replace" });
            }
            let added = text.matches(&*from).count().saturating_mul(to.len());
            if text.len().saturating_add(added) > TEXT_SIZE_MAX {
                return Err(MapError::TooLong);
            }
            made(&text.replace(&*from, &to))
        }
        Function::StartsWith | Function::EndsWith => {
            let wanted = argument(function, rest, 0)?;
            // The second argument is a name that ends so, or tells whether case is ignored.
            let ignores_case = match rest.get(1).map(|option| option.clone().read()) {
                Some(Value::Text(option)) => option.ends_with("IgnoreCase"),
                Some(Value::Bool(option)) => option,
                _ => false,
            };
            let (text, wanted) = if ignores_case {
                (Cow::Owned(text.to_lowercase()), Cow::Owned(wanted.to_lowercase()))
            } else {
                (text, wanted)
            };
            let is_so =
                if function == Function::StartsWith { text.starts_with(&*wanted) } else { text.ends_with(&*wanted) };
            Ok(Value::Bool(is_so))
        }
        Function::PadLeft | Function::PadRight => {
            let width = number(function, rest, 0)?;
            let filler = rest.get(1).map(display).and_then(|text| text.chars().next()).unwrap_or(' ');
            let missing = width.saturating_sub(text.chars().count());
            if missing > TEXT_SIZE_MAX {
                return Err(MapError::TooLong);
            }
            let padding: String = std::iter::repeat_n(filler, missing).collect();
            Ok(Value::text(if function == Function::PadLeft { padding + &text } else { text.into_owned() + &padding }))
        }
        Function::ToCharArray => Ok(Value::array(characters(&text))),
        _ => Ok(Value::Bool(text.chars().next().is_some_and(|c| match function {
            Function::IsDigit => c.is_ascii_digit(),
            Function::IsLetter => c.is_alphabetic(),
            Function::IsLetterOrDigit => c.is_alphanumeric(),
            Function::IsWhiteSpace => c.is_whitespace(),
            Function::IsUpper => c.is_uppercase(),
            _ => c.is_lowercase(),
        }))),
    }
}

/// Start and count of the first two arguments; without a count all that follows.
fn range(function: Function, text: &str, arguments: &[Value<'_>]) -> Result<(usize, usize)> {
    let size = text.chars().count();
    let start = number(function, arguments, 0)?;
    let count = if arguments.len() > 1 { number(function, arguments, 1)? } else { size.saturating_sub(start) };
    if start > size || count > size - start {
        return Err(MapError::Range { function: function.name() });
    }
    Ok((start, count))
}

/// A number of characters from a position on.
fn part(text: &str, start: usize, count: usize) -> &str {
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let from = places.nth(start).unwrap_or(text.len());
    let to = if count == 0 { from } else { places.nth(count - 1).unwrap_or(text.len()) };
    &text[from..to]
}

fn argument<'d>(function: Function, arguments: &[Value<'d>], index: usize) -> Result<Cow<'d, str>> {
    text_of(function, arguments.get(index).unwrap_or(&Value::Missing))
}

fn number(function: Function, arguments: &[Value<'_>], index: usize) -> Result<usize> {
    match arguments.get(index).map(|argument| argument.clone().read()) {
        Some(Value::Long(number)) => usize::try_from(number).map_err(|_| MapError::Range { function: function.name() }),
        other => Err(MapError::Argument {
            function: function.name(),
            found: other.map_or("null", |other| other.type_name()),
        }),
    }
}

/// The parts between separators: texts and characters, or arrays of them; `RemoveEmptyEntries` at the end drops empty parts.
fn split<'d>(text: &str, arguments: &[Value<'d>]) -> Result<Value<'d>> {
    let (mut separators, mut drops_empty) = (Vec::new(), false);
    for argument in arguments {
        match argument {
            Value::Array(values) => separators.extend(values.iter().map(display)),
            Value::Text(option) if option.contains("RemoveEmptyEntries") => drops_empty = true,
            Value::Text(option) if option == "StringSplitOptions.None" => {}
            other => separators.push(display(other)),
        }
    }
    separators.retain(|separator| !separator.is_empty());
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let found = if separators.is_empty() {
            rest.char_indices().find(|(_, c)| c.is_whitespace()).map(|(at, c)| (at, c.len_utf8()))
        } else {
            let places = separators.iter().filter_map(|separator| Some((rest.find(&**separator)?, separator.len())));
            places.min_by_key(|(at, _)| *at)
        };
        let Some((at, size)) = found else { break };
        parts.push(&rest[..at]);
        rest = &rest[at + size..];
    }
    parts.push(rest);
    if drops_empty {
        parts.retain(|part| !part.is_empty());
    }
    Ok(Value::array(parts.into_iter().map(|part| Value::text(part.to_owned())).collect()))
}

/// Texts with a separator between them.
pub(super) fn joined<'d, 't>(texts: impl Iterator<Item = Cow<'t, str>>, separator: &str) -> Result<Value<'d>> {
    let mut out = String::new();
    for (index, text) in texts.enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(&text);
        if out.len() > TEXT_SIZE_MAX {
            return Err(MapError::TooLong);
        }
    }
    Ok(Value::text(out))
}
