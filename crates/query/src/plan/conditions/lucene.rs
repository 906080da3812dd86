//! The text of `lucene(field, text)`: Lucene's query language, as its classic parser reads it.
//!
//! ```text
//! query   := ( [ AND | OR | && | '||' ] [ NOT | '!' | '+' | '-' ] clause )+
//! clause  := [ field ':' ] ( '(' query ')' | term | phrase | range | '*' ) [ '^' boost ]
//! term    := characters [ '~' [ similarity ] ]       '*' and '?' in them are wildcards; '\' takes the next character as it is
//! phrase  := '"' ... '"' [ '~' distance ]
//! range   := '[' low TO high ']'  |  '{' low TO high '}'       '*' is no bound
//! ```
//!
//! Between two clauses without a word stands OR. `a AND b` makes both necessary, whatever stands around them.

use crate::limits::{BOUND_SIZE_MAX, DEPTH_MAX, SEARCH_CLAUSES_MAX};
use crate::plan::Refused;
use std::ops::Bound;

/// A query of Lucene's. A field is a number: 0 is the one that the function names, others are in [`Parsed::fields`].
#[derive(Clone, Debug, PartialEq)]
pub enum LuceneQuery {
    /// All entries.
    All,
    /// The words of a text; several follow each other.
    Words(usize, String),
    /// The words of a phrase and its slop, the largest distance in positions.
    Phrase(usize, String, u32),
    /// A word that fits to a pattern with `*` and `?`; characters that were escaped stand behind a `\`.
    Wildcard(usize, String),
    /// Words that are like this one.
    Fuzzy(usize, String, f32),
    /// Texts between two bounds.
    Range(usize, Bound<String>, Bound<String>),
    /// The same, counting so much more.
    Boosted(Box<LuceneQuery>, f32),
    /// What must be, what may be and what must not be.
    Several {
        /// All of these.
        must: Vec<LuceneQuery>,
        /// Any of these, if nothing must be.
        may: Vec<LuceneQuery>,
        /// None of these.
        must_not: Vec<LuceneQuery>,
    },
}

/// A query, and the names of the fields that it names in addition to the one of the function.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub query: LuceneQuery,
    pub fields: Vec<String>,
}

/// Reads a query.
///
/// # Errors
///
/// [`Refused::Invalid`] with the place, in characters from 1 on.
pub(crate) fn parse(text: &str) -> Result<Parsed, Refused> {
    let mut parser =
        Parser { text, characters: text.chars().collect(), at: 0, depth: 0, clause_count: 0, fields: Vec::new() };
    let query = parser.query(0)?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(Parsed { query, fields: parser.fields }),
        Some(_) => Err(parser.wrong("an end was expected")),
    }
}

struct Parser<'t> {
    text: &'t str,
    characters: Vec<char>,
    at: usize,
    depth: usize,
    clause_count: usize,
    fields: Vec<String>,
}

/// Whether a clause must be, may be or must not be.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Must,
    May,
    MustNot,
}

/// A similarity where none is given.
const SIMILARITY: f32 = 0.5;

impl Parser<'_> {
    fn wrong(&self, message: &str) -> Refused {
        let shown: String = self.text.chars().take(128).collect();
        Refused::Invalid(format!("Cannot parse '{shown}': {message} at character {}", self.at + 1))
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn takes(&mut self, text: &str) -> bool {
        let fits =
            text.chars().enumerate().all(|(at, character)| self.characters.get(self.at + at) == Some(&character));
        if fits {
            self.at += text.chars().count();
        }
        fits
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// A word of the language, with something else behind it.
    fn takes_word(&mut self, word: &str) -> bool {
        let start = self.at;
        if self.takes(word) && self.peek().is_none_or(|next| !is_term(next)) {
            return true;
        }
        self.at = start;
        false
    }

    fn query(&mut self, field: usize) -> Result<LuceneQuery, Refused> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong(&format!("parentheses exceed the limit DEPTH_MAX = {DEPTH_MAX}")));
        }
        let mut clauses: Vec<(Need, LuceneQuery)> = Vec::new();
        loop {
            self.skip_space();
            if matches!(self.peek(), None | Some(')')) && !clauses.is_empty() {
                break;
            }
            let is_and = !clauses.is_empty() && (self.takes_word("AND") || self.takes("&&"));
            if !is_and && !clauses.is_empty() {
                let _ = self.takes_word("OR") || self.takes("||");
            }
            self.skip_space();
            let need = if self.takes_word("NOT") || self.takes("!") || self.takes("-") {
                Need::MustNot
            } else if self.takes("+") || is_and {
                Need::Must
            } else {
                Need::May
            };
            self.skip_space();
            if is_and && let Some((before @ Need::May, _)) = clauses.last_mut() {
                *before = Need::Must;
            }
            clauses.push((need, self.clause(field)?));
        }
        self.depth -= 1;
        if let [(Need::May | Need::Must, _)] = clauses.as_slice() {
            return Ok(clauses.remove(0).1);
        }
        let mut of = |need: Need| {
            let (taken, rest) = std::mem::take(&mut clauses).into_iter().partition(|(other, _)| *other == need);
            clauses = rest;
            let taken: Vec<(Need, LuceneQuery)> = taken;
            taken.into_iter().map(|(_, clause)| clause).collect()
        };
        Ok(LuceneQuery::Several { must: of(Need::Must), may: of(Need::May), must_not: of(Need::MustNot) })
    }

    fn clause(&mut self, outer: usize) -> Result<LuceneQuery, Refused> {
        self.clause_count += 1;
        if self.clause_count > SEARCH_CLAUSES_MAX {
            return Err(self.wrong(&format!("clauses exceed the limit SEARCH_CLAUSES_MAX = {SEARCH_CLAUSES_MAX}")));
        }
        if self.takes("*:*") {
            return self.boosted(LuceneQuery::All);
        }
        let field = self.field(outer)?;
        let clause = match self.peek() {
            Some('(') => {
                self.at += 1;
                let query = self.query(field)?;
                self.skip_space();
                if !self.takes(")") {
                    return Err(self.wrong("')' was expected"));
                }
                query
            }
            Some('"') => self.phrase(field)?,
            Some(open @ ('[' | '{')) => self.range(field, open)?,
            _ => self.term(field)?,
        };
        self.boosted(clause)
    }

    /// A name with `:` behind it, or the field of what stands around.
    fn field(&mut self, outer: usize) -> Result<usize, Refused> {
        let start = self.at;
        let name = self.characters_of_term()?;
        if name.is_empty() || self.peek() != Some(':') {
            self.at = start;
            return Ok(outer);
        }
        self.at += 1;
        let name: String = name.replace('\\', "");
        let found = self.fields.iter().position(|other| *other == name);
        let number = found.unwrap_or_else(|| {
            self.fields.push(name);
            self.fields.len() - 1
        });
        Ok(number + 1)
    }

    /// Characters up to one that ends a term, escapes left in.
    fn characters_of_term(&mut self) -> Result<String, Refused> {
        let mut term = String::new();
        while let Some(character) = self.peek() {
            let is_first = term.is_empty();
            match character {
                '\\' => {
                    self.at += 1;
                    let Some(escaped) = self.peek() else {
                        return Err(self.wrong("a character was expected after '\\'"));
                    };
                    term.push('\\');
                    term.push(escaped);
                }
                '+' | '-' | '!' if is_first => break,
                character if is_term(character) => term.push(character),
                _ => break,
            }
            self.at += 1;
        }
        Ok(term)
    }

    fn term(&mut self, field: usize) -> Result<LuceneQuery, Refused> {
        let term = self.characters_of_term()?;
        if term.is_empty() {
            return Err(self.wrong("a term was expected"));
        }
        if term == "*" {
            return Ok(LuceneQuery::All);
        }
        self.check_size(&term)?;
        if has_wildcard(&term) {
            return Ok(LuceneQuery::Wildcard(field, term));
        }
        let text = unescaped(&term);
        if self.takes("~") {
            let similarity = match self.number() {
                Some(similarity) => similarity,
                None => SIMILARITY,
            };
            if !(0.0..1.0).contains(&similarity) {
                return Err(self.wrong("a similarity is from 0 to below 1"));
            }
            return Ok(LuceneQuery::Fuzzy(field, text, similarity));
        }
        Ok(LuceneQuery::Words(field, text))
    }

    fn check_size(&self, text: &str) -> Result<(), Refused> {
        match text.len() <= BOUND_SIZE_MAX {
            true => Ok(()),
            false => Err(self.wrong(&format!("a term exceeds the limit BOUND_SIZE_MAX = {BOUND_SIZE_MAX}"))),
        }
    }

    fn phrase(&mut self, field: usize) -> Result<LuceneQuery, Refused> {
        let text = self.quoted()?;
        if !self.takes("~") {
            return Ok(LuceneQuery::Phrase(field, text, 0));
        }
        match self.number() {
            Some(distance) if distance >= 0.0 => Ok(LuceneQuery::Phrase(field, text, distance as u32)),
            _ => Err(self.wrong("a number was expected")),
        }
    }

    fn quoted(&mut self) -> Result<String, Refused> {
        self.at += 1;
        let mut text = String::new();
        while let Some(character) = self.peek() {
            self.at += 1;
            match character {
                '"' => return Ok(text),
                '\\' => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                character => text.push(character),
            }
        }
        Err(self.wrong("'\"' was expected"))
    }

    fn range(&mut self, field: usize, open: char) -> Result<LuceneQuery, Refused> {
        self.at += 1;
        let low = self.bound()?;
        self.skip_space();
        if !self.takes_word("TO") {
            return Err(self.wrong("'TO' was expected"));
        }
        let high = self.bound()?;
        self.skip_space();
        let is_inclusive = open == '[';
        if !self.takes(if is_inclusive { "]" } else { "}" }) {
            return Err(self.wrong(if is_inclusive { "']' was expected" } else { "'}' was expected" }));
        }
        let bound = |text: Option<String>| match text {
            None => Bound::Unbounded,
            Some(text) if is_inclusive => Bound::Included(text),
            Some(text) => Bound::Excluded(text),
        };
        Ok(LuceneQuery::Range(field, bound(low), bound(high)))
    }

    /// `None`: no bound.
    fn bound(&mut self) -> Result<Option<String>, Refused> {
        self.skip_space();
        if self.peek() == Some('"') {
            return self.quoted().map(Some);
        }
        let mut text = String::new();
        while let Some(character) =
            self.peek().filter(|character| !character.is_whitespace() && !"]}".contains(*character))
        {
            text.push(character);
            self.at += 1;
        }
        self.check_size(&text)?;
        match text.as_str() {
            "" => Err(self.wrong("a bound was expected")),
            "*" => Ok(None),
            _ => Ok(Some(unescaped(&text))),
        }
    }

    fn boosted(&mut self, clause: LuceneQuery) -> Result<LuceneQuery, Refused> {
        if !self.takes("^") {
            return Ok(clause);
        }
        match self.number() {
            Some(boost) => Ok(LuceneQuery::Boosted(Box::new(clause), boost)),
            None => Err(self.wrong("a number was expected")),
        }
    }

    fn number(&mut self) -> Option<f32> {
        let rest = self.characters.get(self.at..).unwrap_or_default();
        let digits: String =
            rest.iter().take_while(|character| character.is_ascii_digit() || **character == '.').collect();
        let number = digits.parse().ok().filter(|number: &f32| number.is_finite())?;
        self.at += digits.len();
        Some(number)
    }
}

/// Whether a character may stand in a term.
fn is_term(character: char) -> bool {
    !character.is_whitespace() && !"():^[]\"{}~".contains(character)
}

/// Whether a term has a wildcard that is not escaped.
fn has_wildcard(term: &str) -> bool {
    let mut is_escaped = false;
    term.chars().any(|character| {
        let is_wildcard = !is_escaped && matches!(character, '*' | '?');
        is_escaped = !is_escaped && character == '\\';
        is_wildcard
    })
}

fn unescaped(term: &str) -> String {
    let mut text = String::with_capacity(term.len());
    let mut characters = term.chars();
    while let Some(character) = characters.next() {
        text.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query as a line.
    fn told(query: &LuceneQuery) -> String {
        let all = |clauses: &[LuceneQuery], sign: &str| {
            clauses.iter().map(|clause| format!("{sign}{}", told(clause))).collect::<Vec<_>>()
        };
        match query {
            LuceneQuery::All => "*:*".to_owned(),
            LuceneQuery::Words(field, text) => format!("{field}:{text}"),
            LuceneQuery::Phrase(field, text, distance) => format!("{field}:\"{text}\"~{distance}"),
            LuceneQuery::Wildcard(field, text) => format!("{field}:{text}"),
            LuceneQuery::Fuzzy(field, text, similarity) => format!("{field}:{text}~{similarity}"),
            LuceneQuery::Range(field, low, high) => format!("{field}:{low:?}..{high:?}"),
            LuceneQuery::Boosted(clause, boost) => format!("{}^{boost}", told(clause)),
            LuceneQuery::Several { must, may, must_not } => {
                format!("({})", [all(must, "+"), all(may, ""), all(must_not, "-")].concat().join(" "))
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(told(&parsed.query), expected, "{text}");
    }

    #[test]
    fn queries_are_read_as_lucene_does() {
        check("fox", "0:fox");
        check(" fox dog ", "(0:fox 0:dog)");
        check("fox OR dog || cat", "(0:fox 0:dog 0:cat)");
        check("fox AND dog cat", "(+0:fox +0:dog 0:cat)");
        check("fox && dog", "(+0:fox +0:dog)");
        check("fox -dog !cat NOT cow", "(0:fox -0:dog -0:cat -0:cow)");
        check("+fox +dog", "(+0:fox +0:dog)");
        check("+fox", "0:fox");
        check("-fox", "(-0:fox)");
        check("fox AND NOT dog", "(+0:fox -0:dog)");
        check("(fox OR dog) AND cat", "(+(0:fox 0:dog) +0:cat)");
        check("A:fox dog B:(x y) A:z", "(1:fox 0:dog (2:x 2:y) 1:z)");
        check("fox^2 \"a b\"^0.5", "(0:fox^2 0:\"a b\"~0^0.5)");
        check("\"a \\\" b\"~3", "0:\"a \" b\"~3");
        check("fox~ fox~0.7", "(0:fox~0.5 0:fox~0.7)");
        check("fo* f?x *x \\*x", "(0:fo* 0:f?x 0:*x 0:*x)");
        check("*:* *", "(*:* *:*)");
        check(
            "[a TO b] {a TO *} A:[* TO \"x y\"]",
            "(0:Included(\"a\")..Included(\"b\") 0:Excluded(\"a\")..Unbounded 1:Unbounded..Included(\"x y\"))",
        );
        check("wi-fi a+b foo/bar O'x", "(0:wi-fi 0:a+b 0:foo/bar 0:O'x)");
        check("ANDY ORANGE NOTE", "(0:ANDY 0:ORANGE 0:NOTE)");
    }

    #[test]
    fn what_is_none_is_refused_with_the_place() {
        for (text, expected) in [
            ("", "a term was expected at character 1"),
            ("fox AND", "a term was expected at character 8"),
            ("(fox", "')' was expected at character 5"),
            ("fox)", "an end was expected at character 4"),
            ("foo:", "a term was expected at character 5"),
            ("[2 TO 3}", "']' was expected at character 8"),
            ("[2 3]", "'TO' was expected at character 4"),
            ("\"x", "'\"' was expected"),
            ("x^", "a number was expected"),
            ("x~1", "a similarity is from 0"),
            ("x\\", "a character was expected"),
            (&"(".repeat(300), "DEPTH_MAX"),
            (&"x ".repeat(1025), "SEARCH_CLAUSES_MAX"),
            (&"x".repeat(1025), "BOUND_SIZE_MAX"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
