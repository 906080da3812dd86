//! The text of a map, taken apart: `map(source, function)`.

use super::super::error::CompileError;
use super::super::property::Property;
use super::super::source::Source;
use super::Refusal;
use super::loading::{LOAD, text_of};
use documents::Feature;
use script::{Token, TokenKind};

/// A map: where documents come from, and what is made of each.
#[derive(Debug)]
pub(crate) struct Definition<'t> {
    pub source: Source,
    pub function: SourceFunction<'t>,
}

/// The text of a function, with its tokens.
#[derive(Debug)]
pub(crate) struct SourceFunction<'t> {
    pub text: &'t str,
    /// Their places are in `whole`.
    pub tokens: Vec<Token>,
    pub whole: &'t str,
}

/// Functions of RavenDB that need a missing feature ([`Feature::of_script_function`]).
const MISSING: [&str; 7] =
    ["loadPath", "boost", "timeSeriesNamesFor", "loadVector", "recurse", "tryConvertToNumber", "embeddings"];

impl<'t> Definition<'t> {
    pub fn of(text: &'t str) -> Result<Definition<'t>, Refusal> {
        let wrong = |at: usize, message: &str| CompileError::at(text, at, message);
        let tokens = script::tokens(text).ok_or_else(|| wrong(0, "A bracket, a text or a comment is not closed"))?;
        let word = |place: usize| tokens.get(place).map(|token: &Token| &text[token.start..token.end]);
        if let (Some("timeSeries"), Some("."), Some("map")) = (word(0), word(1), word(2)) {
            return Err(Feature::IndexSources.missing_for("indexes over timeSeries").into());
        }
        if let (Some("counters"), Some("."), Some("map")) = (word(0), word(1), word(2)) {
            return Definition::of_counters(text, &tokens);
        }
        if word(0) == Some("groupBy") {
            return Err(Refusal::NotSupported("'groupBy' beside a map".to_owned()));
        }
        if (word(0), word(1)) != (Some("map"), Some("(")) {
            return Err(wrong(0, "A map in JavaScript is map('Collection', function)").into());
        }
        let name = tokens.get(2).filter(|token| token.kind == TokenKind::Literal).and_then(|token| {
            let literal = text.get(token.start..token.end)?;
            let inside = literal.strip_prefix(['\'', '"'])?;
            inside.strip_suffix(['\'', '"']).filter(|name| !name.contains('\\'))
        });
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(
                wrong(text.len().min(4), "The first argument of 'map' has to be the name of a collection").into()
            );
        };
        let close = closing_of(text, &tokens)?;
        if word(3) != Some(",") || close < 5 {
            return Err(wrong(0, "The second argument of 'map' has to be a function").into());
        }
        let function = function_of(text, tokens.get(4..close).unwrap_or_default());
        let source = match name.eq_ignore_ascii_case("@all_docs") {
            true => Source::AllDocuments,
            false => Source::Collections(vec![name.to_owned()]),
        };
        Ok(Definition { source, function })
    }

    /// `counters.map(function)`, with the names of a collection and of a counter before the function.
    fn of_counters(text: &'t str, tokens: &[Token]) -> Result<Definition<'t>, Refusal> {
        let close = closing_of(text, tokens)?;
        let mut names = Vec::new();
        let mut first = 4;
        while let Some([name, comma]) = tokens.get(first..first + 2)
            && name.kind == TokenKind::Literal
            && comma.kind == TokenKind::Sign(b',')
        {
            let literal = text.get(name.start..name.end).and_then(text_of);
            names.push(
                literal.ok_or_else(|| CompileError::at(text, name.start, "A name must be a text without escapes"))?,
            );
            first += 2;
        }
        if names.len() > 2 || first >= close {
            let message = "Counters are mapped by counters.map('Collection', 'Name', function)";
            return Err(CompileError::at(text, 0, message).into());
        }
        let mut names = names.into_iter().map(str::to_owned);
        let collection = names.next().filter(|name| !name.eq_ignore_ascii_case("@all_docs"));
        let source = Source::Counters { collection, name: names.next() };
        Ok(Definition { source, function: function_of(text, tokens.get(first..close).unwrap_or_default()) })
    }
}

/// The place of the parenthesis that closes the call, behind which there is nothing.
fn closing_of(text: &str, tokens: &[Token]) -> Result<usize, Refusal> {
    let wrong = |at: usize, message: &str| CompileError::at(text, at, message);
    let mut depth = 0;
    let close = tokens.iter().position(|token| {
        match token.kind {
            TokenKind::Sign(b'(' | b'[' | b'{') | TokenKind::TemplateOpen if is_opening(text, token) => depth += 1,
            TokenKind::Sign(b')' | b']' | b'}') | TokenKind::TemplateClose => depth -= 1,
            _ => {}
        }
        depth == 0 && token.kind == TokenKind::Sign(b')')
    });
    let close = close.ok_or_else(|| wrong(0, "'map' is not closed"))?;
    let rest = tokens.get(close + 1..).unwrap_or_default();
    match rest.iter().find(|token| token.kind != TokenKind::Sign(b';')) {
        Some(token) => Err(wrong(token.start, "A map is one call of 'map'").into()),
        None => Ok(close),
    }
}

/// The function that tokens are.
fn function_of<'t>(text: &'t str, tokens: &[Token]) -> SourceFunction<'t> {
    let start = tokens.first().map_or(0, |token| token.start);
    let end = tokens.last().map_or(start, |token| token.end);
    SourceFunction { text: &text[start..end], tokens: tokens.to_vec(), whole: text }
}

/// Whether a name is one in C# as well, and means nothing there.
fn is_plain(name: &str) -> bool {
    script::is_name(name) && name.is_ascii() && !name.starts_with(['_', '$'])
}

/// A template's text between two expressions opens nothing that is not open.
fn is_opening(text: &str, token: &Token) -> bool {
    token.kind != TokenKind::TemplateOpen || text.as_bytes().get(token.start) == Some(&b'`')
}

impl SourceFunction<'_> {
    pub fn word(&self, place: usize) -> Option<&str> {
        self.tokens.get(place).map(|token| &self.whole[token.start..token.end])
    }

    /// A function of RavenDB that it calls, and that needs a missing feature.
    pub fn missing(&self) -> Option<&'static str> {
        MISSING.into_iter().find(|name| self.calls(name))
    }

    /// Whether it calls a function of the protocol, or asks for a member of it.
    pub fn calls(&self, name: &str) -> bool {
        self.tokens.iter().enumerate().any(|(place, token)| {
            let is_member = place > 0 && self.tokens[place - 1].kind == TokenKind::Sign(b'.');
            let is_called = matches!(self.word(place + 1), Some("(" | "."));
            token.kind == TokenKind::Word && !is_member && is_called && self.word(place) == Some(name)
        })
    }

    /// `x.B.C` in C#, with the place behind it.
    fn members_as_csharp(&self, place: usize, parameter: &str, text: &mut String) -> Option<usize> {
        if self.word(place) != Some(parameter) {
            return None;
        }
        let mut path = parameter.to_owned();
        let mut place = place + 1;
        let mut holders = Vec::new();
        while self.word(place) == Some(".") {
            let member = self.member(place + 1)?;
            holders.push(format!("{path} == null"));
            path.push_str(&format!(".{member}"));
            place += 2;
        }
        match holders.get(1..)? {
            [] => text.push_str(&path),
            // A member of nothing is null in JavaScript, and missing in C#.
            holders => text.push_str(&format!("({} ? null : {path})", holders.join(" || "))),
        }
        Some(place)
    }

    /// The name of a member, if it means the same in C#.
    fn member(&self, place: usize) -> Option<&str> {
        // What C# makes of the members of documents, texts and dates, JavaScript does not; and JavaScript knows the length of texts.
        let has_meaning = |name: &str| ["Id", "length"].contains(&name) || Property::of(name).is_some();
        self.word(place).filter(|name| is_plain(name) && !has_meaning(name))
    }

    /// The same in C#, if it gives one object of plain properties: `x => ({ a: x.A, b: x.B.C, c: load(x.D, 'Ds').E })`.
    pub fn as_csharp(&self, source: &Source) -> Option<String> {
        let parameter = self.word(0).filter(|name| script::is_name(name))?;
        if self.tokens.get(1)?.kind != TokenKind::Arrow || (self.word(2), self.word(3)) != (Some("("), Some("{")) {
            return None;
        }
        let end = self.tokens.len().checked_sub(2)?;
        if (self.word(end), self.word(end + 1)) != (Some("}"), Some(")")) {
            return None;
        }
        let mut text = String::new();
        let mut place = 4;
        while place < end {
            let name = self.word(place).filter(|name| is_plain(name))?;
            if self.word(place + 1) != Some(":") {
                return None;
            }
            text.push_str(&format!("{name} = "));
            place += 2;
            if (self.word(place), self.word(place + 1)) == (Some(LOAD), Some("(")) && parameter != LOAD {
                // `load(x.B, 'Cities')`
                text.push_str("LoadDocument(");
                place = self.members_as_csharp(place + 2, parameter, &mut text)?;
                let collection = self.word(place + 1).and_then(text_of).filter(|name| !name.contains('"'))?;
                if (self.word(place), self.word(place + 2)) != (Some(","), Some(")")) {
                    return None;
                }
                text.push_str(&format!(", \"{collection}\")"));
                // Of a whole document C# indexes the text.
                let member = self.member(place + 4).filter(|_| self.word(place + 3) == Some("."))?;
                text.push_str(&format!(".{member}"));
                place += 5;
            } else {
                place = self.members_as_csharp(place, parameter, &mut text)?;
            }
            match self.word(place) {
                Some(",") => place += 1,
                _ if place == end => {}
                _ => return None,
            }
            text.push_str(", ");
        }
        let from = match source {
            // The engine maps them.
            Source::Counters { .. } => return None,
            Source::AllDocuments => "docs".to_owned(),
            Source::Collections(names) => {
                format!("docs[\"{}\"]", names.first().filter(|name| !name.contains(['"', '\\']))?)
            }
        };
        let fields = text.strip_suffix(", ")?;
        Some(format!("{from}.Select({parameter} => new {{ {fields} }})"))
    }
}
