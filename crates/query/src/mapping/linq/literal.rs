//! Literals: numbers, texts with their escapes, interpolated texts.

use super::super::evaluate::check_format;
use super::super::expression::{Constant, Expression};
use super::super::function::Function;
use super::Compiler;
use super::syntax::{Result, Syntax};
use rust_decimal::Decimal;

impl Compiler {
    /// The value of a literal.
    pub(super) fn literal(&self, syntax: Syntax<'_>) -> Result<Expression> {
        constant(syntax).map(Expression::Constant)
    }

    /// The text of a literal that has to be one.
    pub(super) fn text_literal(&self, syntax: Syntax<'_>) -> Result<String> {
        let literal = syntax.bare();
        if literal.kind().ends_with("string_literal")
            && let Expression::Constant(Constant::Text(text)) = self.literal(literal)?
        {
            return Ok(text.into_string());
        }
        Err(syntax.error(format!("A text literal is expected here, not '{}'", syntax.quoted())))
    }

    /// `$"…{value,width:format}…"`, as a call of `Format`.
    pub(super) fn interpolated(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        let is_verbatim = syntax.children().first().is_some_and(|start| start.source().contains('@'));
        if syntax.source().contains("\"\"\"") && !is_verbatim {
            return Err(syntax.unsupported());
        }
        let mut pattern = String::new();
        let mut values = Vec::new();
        for part in syntax.children() {
            match part.kind() {
                "interpolation_start" | "interpolation_quote" => {}
                // Doubled braces are two characters here, as they are in the pattern of `Format`.
                "string_content" if is_verbatim => pattern.push_str(&part.source().replace("\"\"", "\"")),
                "string_content" => pattern.push_str(part.source()),
                "escape_sequence" => pattern.push(escape(part)?),
                "interpolation" => {
                    let mut item = format!("{{{}", values.len());
                    for detail in part.children() {
                        match detail.kind() {
                            "interpolation_brace" => {}
                            "interpolation_alignment_clause" | "interpolation_format_clause" => {
                                item.push_str(&detail.source().replace(char::is_whitespace, " "));
                            }
                            _ => values.push(self.expression(detail)?),
                        }
                    }
                    pattern.push_str(&item);
                    pattern.push('}');
                }
                _ => return Err(part.unsupported()),
            }
        }
        // `{{{x}}}` is not read by the parser as C# does.
        check_format(&pattern, values.len()).map_err(|error| syntax.error(error.to_string()))?;
        let mut arguments = vec![Expression::Constant(Constant::Text(pattern.into()))];
        arguments.append(&mut values);
        Ok(Expression::Call(Function::Format, arguments))
    }
}

/// The value of a literal.
pub(crate) fn constant(syntax: Syntax<'_>) -> Result<Constant> {
    let source = syntax.source();
    Ok(match syntax.kind() {
        "null_literal" => Constant::Null,
        "boolean_literal" => Constant::Bool(source == "true"),
        "integer_literal" => integer(source).map(Constant::Long).ok_or_else(|| too_great(syntax))?,
        "real_literal" => real(source).ok_or_else(|| too_great(syntax))?,
        "character_literal" | "string_literal" => Constant::Text(parts_text(syntax)?.into()),
        "verbatim_string_literal" => {
            let inner = source.strip_prefix("@\"").and_then(|inner| inner.strip_suffix('"'));
            Constant::Text(inner.ok_or_else(|| syntax.unsupported())?.replace("\"\"", "\"").into())
        }
        _ => return Err(syntax.unsupported()),
    })
}

fn too_great(syntax: Syntax<'_>) -> super::CompileError {
    syntax.error(format!("The number '{}' is too great", syntax.quoted()))
}

fn integer(source: &str) -> Option<i64> {
    let digits: String = source.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let digits = digits.trim_end_matches(['u', 'l']);
    match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(hex), _) => i64::from_str_radix(hex, 16).ok(),
        (_, Some(bits)) => i64::from_str_radix(bits, 2).ok(),
        _ => digits.parse().ok(),
    }
}

fn real(source: &str) -> Option<Constant> {
    let digits: String = source.chars().filter(|c| *c != '_').collect();
    match digits.strip_suffix(['m', 'M']) {
        Some(decimal) => {
            let parsed = decimal.parse::<Decimal>().or_else(|_| Decimal::from_scientific(decimal));
            parsed.ok().map(Constant::Decimal)
        }
        None if digits.ends_with(['f', 'F']) => {
            digits[..digits.len() - 1].parse::<f32>().ok().map(|float| Constant::Double(f64::from(float)))
        }
        None => digits
            .trim_end_matches(['d', 'D'])
            .parse()
            .ok()
            .filter(|double: &f64| double.is_finite())
            .map(Constant::Double),
    }
}

/// The text of a literal that consists of parts.
fn parts_text(syntax: Syntax<'_>) -> Result<String> {
    let mut text = String::new();
    for part in syntax.children() {
        match part.kind() {
            "escape_sequence" => text.push(escape(part)?),
            "string_literal_content" | "character_literal_content" => text.push_str(part.source()),
            _ => return Err(part.unsupported()),
        }
    }
    Ok(text)
}

fn escape(syntax: Syntax<'_>) -> Result<char> {
    let source = syntax.source();
    let code = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let character = match source.get(1..2).unwrap_or_default() {
        "x" | "u" | "U" => source.get(2..).and_then(code),
        "a" => Some('\u{7}'),
        "b" => Some('\u{8}'),
        "e" => Some('\u{1b}'),
        "f" => Some('\u{c}'),
        "n" => Some('\n'),
        "r" => Some('\r'),
        "t" => Some('\t'),
        "v" => Some('\u{b}'),
        "0" => Some('\0'),
        other => other.chars().next(),
    };
    // Half of a pair of surrogates is no character here.
    character.ok_or_else(|| syntax.error(format!("The escape '{source}' is not supported")))
}
