//! Words of RQL: cuts a query into tokens, one at a time and without copying.
//!
//! The lexer never fails: what is no word of RQL becomes a [`Token::Broken`], and the parser, which knows what it wanted
//! there, makes the error. Keywords are words like others, since most of them may also be names.

use super::span::Span;

/// One word of a query, borrowed from its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'q> {
    /// A name or keyword: letters, digits, `_`, `-` and `@`, not beginning with a digit or `-`.
    Word(&'q str),
    /// A string with its quotes.
    Text(Quoted<'q>),
    /// A number as written.
    Number(&'q str),
    /// A parameter without its `$`.
    Parameter(&'q str),
    Sign(Sign),
    Broken(Broken),
    End,
}

/// A string as it stands in the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quoted<'q> {
    /// What is between the quotes.
    pub(super) inner: &'q str,
    pub(super) quote: u8,
    /// Has no doubled quote and no backslash, so that `inner` is its value.
    pub(super) is_plain: bool,
}

/// Punctuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Dot,
    Slash,
    Star,
}

/// What is no word of RQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// A character that begins none.
    Character,
    /// A string without its closing quote.
    Text,
    /// A comment without its `*/`.
    Comment,
    /// A `$` without a name.
    Parameter,
}

/// A place in the text of a query. Copies are cheap and go on by themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'q> {
    text: &'q str,
    at: usize,
}

impl<'q> Lexer<'q> {
    pub(super) fn new(text: &'q str) -> Self {
        Lexer { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'q str {
        self.text
    }

    /// Goes on at byte `at`, behind a script that was read otherwise.
    pub(super) fn jump(&mut self, at: usize) {
        self.at = at;
    }

    /// The next token, over blanks and comments.
    pub(super) fn token(&mut self) -> (Token<'q>, Span) {
        let Ok(()) = self.skip_blank() else {
            let span = Span::new(self.at, self.text.len());
            self.at = self.text.len();
            return (Token::Broken(Broken::Comment), span);
        };
        let start = self.at;
        let token = self.token_here();
        (token, Span::new(start, self.at))
    }

    fn token_here(&mut self) -> Token<'q> {
        let Some(first) = self.byte(0) else { return Token::End };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'@' => Token::Word(self.word()),
            b'0'..=b'9' => Token::Number(self.number()),
            b'-' if self.byte(1).is_some_and(|byte| byte.is_ascii_digit()) => Token::Number(self.number()),
            b'\'' | b'"' => self.quoted(first),
            b'$' => self.parameter(),
            _ if !first.is_ascii() && self.character().is_some_and(char::is_alphabetic) => Token::Word(self.word()),
            _ => self.sign(first),
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn character(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Passes over white space and comments; `Err` at a comment that has no end.
    fn skip_blank(&mut self) -> Result<(), ()> {
        while let Some(byte) = self.byte(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' if self.byte(1) == Some(b'/') => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                b'/' if self.byte(1) == Some(b'*') => {
                    let inside = &self.text[self.at + 2..];
                    self.at += 2 + inside.find("*/").ok_or(())? + 2;
                }
                b'!'..=b'~' => return Ok(()),
                _ => match self.character() {
                    Some(blank) if blank.is_whitespace() => self.at += blank.len_utf8(),
                    _ => return Ok(()),
                },
            }
        }
        Ok(())
    }

    fn parameter(&mut self) -> Token<'q> {
        self.at += 1;
        match self.word() {
            "" => Token::Broken(Broken::Parameter),
            name => Token::Parameter(name),
        }
    }

    /// Takes all that a word may have behind its first character.
    fn word(&mut self) -> &'q str {
        let start = self.at;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += rest.iter().take_while(|byte| is_part_of_word(**byte)).count();
            match self.character() {
                Some(letter) if !letter.is_ascii() && letter.is_alphanumeric() => self.at += letter.len_utf8(),
                _ => return &self.text[start..self.at],
            }
        }
    }

    /// Takes digits, a fraction and an exponent; `_` may stand between digits. `1and` is a number and a word.
    fn number(&mut self) -> &'q str {
        let start = self.at;
        self.at += 1;
        self.digits();
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        if self.byte(0) == Some(b'.') && is_digit(self.byte(1)) {
            self.at += 1;
            self.digits();
        }
        if matches!(self.byte(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(1), Some(b'+' | b'-')));
            if is_digit(self.byte(1 + sign)) {
                self.at += 1 + sign;
                self.digits();
            }
        }
        &self.text[start..self.at]
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9' | b'_') = self.byte(0) {
            self.at += 1;
        }
    }

    /// Takes a string: the quote inside is doubled, or has a backslash before it.
    fn quoted(&mut self, quote: u8) -> Token<'q> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut end = start;
        let mut is_plain = true;
        loop {
            match bytes.get(end) {
                Some(b'\\') => {
                    is_plain = false;
                    end += 2;
                }
                Some(byte) if *byte == quote && bytes.get(end + 1) == Some(&quote) => {
                    is_plain = false;
                    end += 2;
                }
                Some(byte) if *byte == quote => {
                    self.at = end + 1;
                    return Token::Text(Quoted { inner: &self.text[start..end], quote, is_plain });
                }
                Some(_) => end += 1,
                None => {
                    self.at = self.text.len();
                    return Token::Broken(Broken::Text);
                }
            }
        }
    }

    fn sign(&mut self, first: u8) -> Token<'q> {
        let (sign, size) = match (first, self.byte(1)) {
            (b'=', Some(b'=')) => (Sign::Equal, 2),
            (b'=', _) => (Sign::Equal, 1),
            (b'!', Some(b'=')) | (b'<', Some(b'>')) => (Sign::NotEqual, 2),
            (b'<', Some(b'=')) => (Sign::LessOrEqual, 2),
            (b'<', _) => (Sign::Less, 1),
            (b'>', Some(b'=')) => (Sign::GreaterOrEqual, 2),
            (b'>', _) => (Sign::Greater, 1),
            (b'(', _) => (Sign::OpenParenthesis, 1),
            (b')', _) => (Sign::CloseParenthesis, 1),
            (b'[', _) => (Sign::OpenBracket, 1),
            (b']', _) => (Sign::CloseBracket, 1),
            (b'{', _) => (Sign::OpenBrace, 1),
            (b'}', _) => (Sign::CloseBrace, 1),
            (b',', _) => (Sign::Comma, 1),
            (b'.', _) => (Sign::Dot, 1),
            (b'/', _) => (Sign::Slash, 1),
            (b'*', _) => (Sign::Star, 1),
            _ => {
                self.at += self.character().map_or(1, char::len_utf8);
                return Token::Broken(Broken::Character);
            }
        };
        self.at += size;
        Token::Sign(sign)
    }
}

fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Token<'_>]) {
        let mut lexer = Lexer::new(text);
        let mut found = Vec::new();
        loop {
            let (token, _) = lexer.token();
            if token == Token::End {
                break;
            }
            found.push(token);
        }
        assert_eq!(found, expected, "{text}");
    }

    fn plain(inner: &str) -> Token<'_> {
        Token::Text(Quoted { inner, quote: b'\'', is_plain: true })
    }

    #[test]
    fn words_have_letters_digits_and_some_signs() {
        check("a-b @id _x9 Größe", &[Token::Word("a-b"), Token::Word("@id"), Token::Word("_x9"), Token::Word("Größe")]);
        check(
            "a.b[]",
            &[
                Token::Word("a"),
                Token::Sign(Sign::Dot),
                Token::Word("b"),
                Token::Sign(Sign::OpenBracket),
                Token::Sign(Sign::CloseBracket),
            ],
        );
    }

    #[test]
    fn a_number_ends_where_a_word_begins() {
        check("-1.5e-3 1_000", &[Token::Number("-1.5e-3"), Token::Number("1_000")]);
        check("1and", &[Token::Number("1"), Token::Word("and")]);
        check("1h 2e", &[Token::Number("1"), Token::Word("h"), Token::Number("2"), Token::Word("e")]);
        check("5.x", &[Token::Number("5"), Token::Sign(Sign::Dot), Token::Word("x")]);
    }

    #[test]
    fn a_string_ends_at_its_own_quote() {
        check("'a' 'x'", &[plain("a"), plain("x")]);
        check(r#""it's""#, &[Token::Text(Quoted { inner: "it's", quote: b'"', is_plain: true })]);
        check(r"'a\'b'", &[Token::Text(Quoted { inner: r"a\'b", quote: b'\'', is_plain: false })]);
        check("'a''b'", &[Token::Text(Quoted { inner: "a''b", quote: b'\'', is_plain: false })]);
    }

    #[test]
    fn comments_and_blanks_are_passed_over() {
        check("a // b\n /* c */ d\u{a0}e //", &[Token::Word("a"), Token::Word("d"), Token::Word("e")]);
    }

    #[test]
    fn what_is_no_word_is_broken() {
        check("# 'a", &[Token::Broken(Broken::Character), Token::Broken(Broken::Text)]);
        check("$ /* a", &[Token::Broken(Broken::Parameter), Token::Broken(Broken::Comment)]);
        check(r"'a\", &[Token::Broken(Broken::Text)]);
    }
}
