//! Words of RQL: names, strings, numbers, parameters, signs, with their places.

use super::Refused;

/// One word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or keyword, as written.
    Word(String),
    Text(String),
    Number(String),
    /// Without its `$`.
    Parameter(String),
    /// `=`, `(`, `,` and the like.
    Sign(&'static str),
    End,
}

/// A word and where it begins, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: usize,
}

/// Longer signs come first.
const SIGNS: [&str; 25] = [
    "==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", "{", "}", "[", "]", ",", ".", "*", ":", ";", "+", "-", "/",
    "?", "!", "|",
];

/// Cuts the whole text into words, ending with [`Token::End`].
pub(super) fn words(text: &str) -> Result<Vec<Placed>, Refused> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = skip_blank(text, rest)?;
        let at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            words.push(Placed { token: Token::End, at });
            return Ok(words);
        };
        let (token, size) = match first {
            '\'' | '"' => string(text, rest, first)?,
            '$' => {
                let size = 1 + word_size(&rest[1..]);
                (Token::Parameter(rest[1..size].to_owned()), size)
            }
            '0'..='9' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
                let size = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                (Token::Number(rest[..size].to_owned()), size)
            }
            _ if is_word(first) => {
                let size = word_size(rest);
                (Token::Word(rest[..size].to_owned()), size)
            }
            _ => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign = sign.ok_or_else(|| syntax(text, at, &format!("Unexpected character '{first}'")))?;
                (Token::Sign(sign), sign.len())
            }
        };
        words.push(Placed { token, at });
        rest = &rest[size..];
    }
}

/// A syntax error at a place.
pub(super) fn syntax(text: &str, at: usize, message: &str) -> Refused {
    let before = &text[..at.min(text.len())];
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.rsplit('\n').next().map_or(0, |last| last.chars().count());
    Refused::Syntax(format!("{line}:{column} {message}"))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '@'
}

fn word_size(rest: &str) -> usize {
    rest.find(|c| !is_word(c)).unwrap_or(rest.len())
}

/// Passes over white space and comments.
fn skip_blank<'a>(text: &str, rest: &'a str) -> Result<&'a str, Refused> {
    let mut rest = rest.trim_start();
    loop {
        let after = if rest.starts_with("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            let at = text.len() - rest.len();
            let end = rest.find("*/").ok_or_else(|| syntax(text, at, "A comment has no end"))?;
            &rest[end + 2..]
        } else {
            return Ok(rest);
        };
        rest = after.trim_start();
    }
}

/// A string: the quote inside is doubled or has a backslash before it.
fn string(text: &str, rest: &str, quote: char) -> Result<(Token, usize), Refused> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, escaped)) => value.push(escaped),
                None => break,
            },
            _ if c == quote => {
                if chars.peek().is_some_and(|(_, next)| *next == quote) {
                    chars.next();
                    value.push(quote);
                } else {
                    return Ok((Token::Text(value), at + c.len_utf8()));
                }
            }
            _ => value.push(c),
        }
    }
    Err(syntax(text, text.len() - rest.len(), "A string has no end"))
}
