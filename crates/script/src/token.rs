//! The tokens of JavaScript, as far as finding members and calls needs them.
//!
//! Whether a `/` divides or begins a regular expression is told by what stands before it: after a value it divides. A `)` that
//! closes the head of `if`, `while`, `for` or `with` is no value; nor is a `}`.

use crate::limits::BRACKET_DEPTH_MAX;

/// A token, with its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is.
    pub kind: TokenKind,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name, or a word of the language.
    Word,
    /// A number, a string, a regular expression, a template without expressions.
    Literal,
    /// `` ` `` or `}` up to `${`: the beginning or the middle of a template.
    TemplateOpen,
    /// `}` up to `` ` ``: the end of a template that has expressions.
    TemplateClose,
    /// An operator or bracket of one byte: itself. Those of several bytes come byte by byte, but for those below.
    Sign(u8),
    /// `=>`
    Arrow,
    /// `?.`
    Optional,
    /// `...`
    Spread,
    /// `++` or `--`
    Step,
    /// `=` and what ends with it (`+=`, `??=`), but no comparison.
    Assign,
    /// `==`, `===`, `!=`, `!==`, `<=`, `>=`, `**`, `&&`, `||`, `??`, shifts
    Operator,
}

/// Why the text is no JavaScript; the parser of the engine will say it better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

pub(crate) struct Scanner<'s> {
    text: &'s [u8],
    pub at: usize,
    /// Whether a value stands before.
    pub after_value: bool,
    /// Open brackets: what closes them, and for parentheses whether they are the head of a statement.
    open: Vec<(u8, bool)>,
    /// Whether the last word begins a statement that has a head in parentheses.
    before_head: bool,
    /// Whether the byte before the current token is a point, so that a word is a name whatever it is.
    after_point: bool,
}

/// Words after which an expression comes, although they look like a value.
const BEFORE_EXPRESSION: [&[u8]; 23] = [
    b"return",
    b"typeof",
    b"case",
    b"in",
    b"of",
    b"delete",
    b"void",
    b"throw",
    b"new",
    b"else",
    b"do",
    b"instanceof",
    b"var",
    b"let",
    b"const",
    b"if",
    b"while",
    b"for",
    b"with",
    b"switch",
    b"await",
    b"yield",
    b"extends",
];

impl<'s> Scanner<'s> {
    pub fn new(text: &'s str) -> Scanner<'s> {
        Scanner {
            text: text.as_bytes(),
            at: 0,
            after_value: false,
            open: Vec::new(),
            before_head: false,
            after_point: false,
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or_default()
    }

    /// Goes past white space and comments; gives whether there was the end of a line.
    pub fn skip_space(&mut self) -> Result<bool, Malformed> {
        let mut line_ended = false;
        loop {
            match (self.byte(0), self.byte(1)) {
                (b'\n' | b'\r', _) => line_ended = true,
                (b' ' | b'\t' | 0x0b | 0x0c, _) => {}
                (b'/', b'/') => {
                    while !matches!(self.byte(0), b'\n' | b'\r' | 0) {
                        self.at += 1;
                    }
                    continue;
                }
                (b'/', b'*') => {
                    let rest = &self.text[self.at + 2..];
                    let end = rest.windows(2).position(|window| window == b"*/").ok_or(Malformed)?;
                    line_ended |= rest[..end].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
                    self.at += end + 3;
                }
                _ => return Ok(line_ended),
            }
            self.at += 1;
        }
    }

    /// The next token; `None` at the end of the text.
    pub fn next(&mut self) -> Result<Option<Token>, Malformed> {
        self.skip_space()?;
        let start = self.at;
        if start >= self.text.len() {
            return Ok(None);
        }
        let byte = self.byte(0);
        let after_point = std::mem::take(&mut self.after_point);
        let before_head = std::mem::take(&mut self.before_head);
        let was_value = std::mem::take(&mut self.after_value);
        let kind = match byte {
            b'"' | b'\'' => {
                self.string(byte)?;
                self.value(TokenKind::Literal)
            }
            b'`' => {
                self.at += 1;
                self.template(true)?
            }
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            b'/' if !was_value => {
                self.regular_expression()?;
                self.value(TokenKind::Literal)
            }
            _ if is_part_of_word(byte) => {
                while is_part_of_word(self.byte(0)) {
                    self.at += 1;
                }
                let word = &self.text[start..self.at];
                self.after_value = after_point || !BEFORE_EXPRESSION.contains(&word);
                self.before_head = !after_point && matches!(word, b"if" | b"while" | b"for" | b"with" | b"switch");
                TokenKind::Word
            }
            b'(' => self.open(b')', before_head)?,
            b'[' => self.open(b']', false)?,
            b'{' => self.open(b'}', false)?,
            b'}' if self.open.last() == Some(&(b'`', false)) => {
                self.open.pop();
                self.at += 1;
                self.template(false)?
            }
            b')' | b']' | b'}' => {
                let (close, is_head) = self.open.pop().ok_or(Malformed)?;
                if close != byte {
                    return Err(Malformed);
                }
                self.at += 1;
                self.after_value = byte != b'}' && !is_head;
                TokenKind::Sign(byte)
            }
            _ => self.operator(byte, was_value),
        };
        Ok(Some(Token { start, end: self.at, kind }))
    }

    fn operator(&mut self, byte: u8, was_value: bool) -> TokenKind {
        let three = [byte, self.byte(1), self.byte(2)];
        let (size, kind) = match three {
            [b'.', b'.', b'.'] => (3, TokenKind::Spread),
            [b'=', b'>', _] => (2, TokenKind::Arrow),
            [b'?', b'.', next] if !next.is_ascii_digit() => (2, TokenKind::Optional),
            [b'+', b'+', _] | [b'-', b'-', _] => (2, TokenKind::Step),
            [b'=' | b'!', b'=', b'='] => (3, TokenKind::Operator),
            [b'=' | b'!' | b'<' | b'>', b'=', _] => (2, TokenKind::Operator),
            [b'*', b'*', b'='] | [b'&', b'&', b'='] | [b'|', b'|', b'='] | [b'?', b'?', b'='] => (3, TokenKind::Assign),
            [b'<', b'<', b'='] | [b'>', b'>', b'='] => (3, TokenKind::Assign),
            [b'>', b'>', b'>'] if self.byte(3) == b'=' => (4, TokenKind::Assign),
            [b'>', b'>', b'>'] => (3, TokenKind::Operator),
            [b'*', b'*', _]
            | [b'&', b'&', _]
            | [b'|', b'|', _]
            | [b'?', b'?', _]
            | [b'<', b'<', _]
            | [b'>', b'>', _] => (2, TokenKind::Operator),
            [b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', b'=', _] => (2, TokenKind::Assign),
            [b'=', _, _] => (1, TokenKind::Assign),
            _ => (1, TokenKind::Sign(byte)),
        };
        self.at += size;
        // `a++` is a value still, and what follows `++` before one is to be one.
        self.after_value = kind == TokenKind::Step && was_value;
        self.after_point = kind == TokenKind::Sign(b'.') || kind == TokenKind::Optional;
        kind
    }

    fn value(&mut self, kind: TokenKind) -> TokenKind {
        self.after_value = true;
        kind
    }

    fn open(&mut self, close: u8, is_head: bool) -> Result<TokenKind, Malformed> {
        if self.open.len() >= BRACKET_DEPTH_MAX {
            return Err(Malformed);
        }
        self.open.push((close, is_head));
        let byte = self.byte(0);
        self.at += 1;
        Ok(TokenKind::Sign(byte))
    }

    fn number(&mut self) -> TokenKind {
        // `1.5e-3`, `0xff`, `10n`, `1_000`; the point of `1.a` belongs to the number, as it does for the engine.
        while is_part_of_word(self.byte(0))
            || self.byte(0) == b'.'
            || (matches!(self.byte(0), b'+' | b'-') && matches!(self.text[self.at - 1], b'e' | b'E') && !self.is_hex())
        {
            self.at += 1;
        }
        self.value(TokenKind::Literal)
    }

    fn is_hex(&self) -> bool {
        let start = self.text[..self.at].iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        matches!(self.text.get(start..start + 2), Some(b"0x" | b"0X"))
    }

    fn string(&mut self, quote: u8) -> Result<(), Malformed> {
        self.at += 1;
        loop {
            match self.byte(0) {
                b'\\' => self.at += 2,
                0 | b'\n' if self.at >= self.text.len() || self.byte(0) == b'\n' => return Err(Malformed),
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn template(&mut self, is_first: bool) -> Result<TokenKind, Malformed> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    return Ok(self.value(if is_first { TokenKind::Literal } else { TokenKind::TemplateClose }));
                }
                (b'$', b'{') => {
                    if self.open.len() >= BRACKET_DEPTH_MAX {
                        return Err(Malformed);
                    }
                    self.open.push((b'`', false));
                    self.at += 2;
                    return Ok(TokenKind::TemplateOpen);
                }
                _ if self.at >= self.text.len() => return Err(Malformed),
                _ => self.at += 1,
            }
        }
    }

    fn regular_expression(&mut self) -> Result<(), Malformed> {
        let mut is_class = false;
        self.at += 1;
        loop {
            match self.byte(0) {
                0 | b'\n' => return Err(Malformed),
                b'\\' => self.at += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        while is_part_of_word(self.byte(0)) {
            self.at += 1;
        }
        Ok(())
    }
}

pub(crate) fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte == b'#' || !byte.is_ascii()
}

/// The tokens of a text; `None` if a bracket, a text or a comment is not closed. It may be no JavaScript all the same.
pub fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    while let Some(token) = scanner.next().ok()? {
        tokens.push(token);
    }
    scanner.open.is_empty().then_some(tokens)
}
