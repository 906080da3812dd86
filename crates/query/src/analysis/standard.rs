//! Words of a text as Lucene's classic standard tokenizer finds them: of several rules the one that takes most.
//!
//! ```text
//!  run       letters and digits; a letter of Chinese or Japanese stands alone
//!  apostrophe  letters ' letters ...         o'reilly; a last 's is dropped
//!  acronym   letter . letter . ...           I.B.M., without its points
//!  company   letters & or @ letters          AT&T
//!  email     run (. - _ run)* @ run (. - run)+
//!  host      run . run . ...
//!  number    runs with _ - / . , between them, of which every second has a digit: 3.14, 12-34, 1,000.50
//! ```

use super::{Each, Word};
use crate::limits::{WORD_LENGTH_MAX, WORD_PARTS_MAX};
use std::borrow::Cow;
use std::ops::Range;

/// Gives the words of a text: of those with an `'s` without that, of acronyms without their points.
pub(super) fn words<E>(text: &str, each: Each<'_, E>) -> Result<(), E> {
    tokens(text, &mut |token| {
        let word = text.get(token.place.clone()).unwrap_or_default();
        let filtered = token.filtered(word);
        each(Word { text: filtered.as_deref().unwrap_or(word), place: token.place })
    })
}

/// Gives the words of a text as they are written there.
pub(super) fn tokens<E>(text: &str, each: &mut dyn FnMut(Token) -> Result<(), E>) -> Result<(), E> {
    let mut tokenizer = Tokenizer { text, runs: Vec::new() };
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|character| is_run(character) || is_alone(character)).map(|at| rest + at)
    {
        let found = tokenizer.longest(start);
        rest = found.end;
        let word = &text[start..found.end];
        if word.len() <= WORD_LENGTH_MAX || word.chars().count() <= WORD_LENGTH_MAX {
            each(Token { place: start..found.end, rule: found.rule })?;
        }
    }
    Ok(())
}

/// A word as it is written, by its bytes in the text.
pub(super) struct Token {
    /// The bytes.
    pub place: Range<usize>,
    rule: Rule,
}

impl Token {
    /// One that another tokenizer found.
    pub fn plain(place: Range<usize>) -> Token {
        Token { place, rule: Rule::Other }
    }

    /// What Lucene's `StandardFilter` makes of the word. `None`: it stays.
    pub fn filtered<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        match self.rule {
            Rule::Apostrophe => word.strip_suffix("'s").or_else(|| word.strip_suffix("'S")).map(Cow::Borrowed),
            Rule::Acronym => Some(word.chars().filter(|character| *character != '.').collect()),
            Rule::Other => None,
        }
    }
}

/// What is done with a word.
#[derive(Clone, Copy)]
enum Rule {
    Apostrophe,
    Acronym,
    Other,
}

struct Match {
    end: usize,
    rule: Rule,
}

/// Letters and digits that follow each other, and what stands between them and the next.
struct Run {
    place: Range<usize>,
    /// The end of the letters that it begins with.
    letters_end: usize,
    has_digit: bool,
    /// The one character before the next run; `None`: it is the last.
    separator: Option<char>,
}

struct Tokenizer<'t> {
    text: &'t str,
    runs: Vec<Run>,
}

impl Tokenizer<'_> {
    /// The longest word that begins here.
    fn longest(&mut self, start: usize) -> Match {
        let first = self.text[start..].chars().next().map_or((0, false), |first| (first.len_utf8(), is_alone(first)));
        if let (length, true) = first {
            return Match { end: start + length, rule: Rule::Other };
        }
        self.find_runs(start);
        let mut best = Match { end: self.runs.first().map_or(start + first.0, |run| run.place.end), rule: Rule::Other };
        if self.runs.len() == 1 && !self.text[best.end..].starts_with('.') {
            return best;
        }
        let rules = [
            (self.apostrophe(), Rule::Apostrophe),
            (self.acronym(), Rule::Acronym),
            (self.company(), Rule::Other),
            (self.email(), Rule::Other),
            (self.host(), Rule::Other),
            (self.number(), Rule::Other),
        ];
        for (end, rule) in rules {
            if let Some(end) = end.filter(|end| *end > best.end) {
                best = Match { end, rule };
            }
        }
        best
    }

    /// Runs that may belong to one word, the first one here.
    fn find_runs(&mut self, start: usize) {
        self.runs.clear();
        let mut at = start;
        loop {
            let rest = &self.text[at..];
            let length = rest.find(|character| !is_run(character)).unwrap_or(rest.len());
            let run = &rest[..length];
            let mut after = rest[length..].chars();
            let separator = after.next().filter(|separator| is_separator(*separator));
            let goes_on = after.next().is_some_and(is_run) && self.runs.len() < WORD_PARTS_MAX;
            self.runs.push(Run {
                place: at..at + length,
                letters_end: at + run.find(|character: char| !character.is_alphabetic()).unwrap_or(length),
                has_digit: run.contains(char::is_numeric),
                separator: separator.filter(|_| goes_on),
            });
            match separator {
                Some(separator) if goes_on => at += length + separator.len_utf8(),
                _ => return,
            }
        }
    }

    /// Whether a run is of letters only.
    fn is_letters(&self, run: &Run) -> bool {
        run.letters_end == run.place.end
    }

    /// The letters that a run begins with, if there are any.
    fn letters_of(&self, run: usize) -> Option<usize> {
        let run = self.runs.get(run)?;
        (run.letters_end > run.place.start).then_some(run.letters_end)
    }

    fn apostrophe(&self) -> Option<usize> {
        let mut end = None;
        for (at, run) in self.runs.iter().enumerate() {
            if run.separator != Some('\'') || !self.is_letters(run) {
                break;
            }
            end = self.letters_of(at + 1).or(end);
        }
        end
    }

    /// Single letters, each with a point behind it, at least two.
    fn acronym(&self) -> Option<usize> {
        let mut end = None;
        for (at, run) in self.runs.iter().enumerate() {
            let is_letter = self.is_letters(run) && self.text[run.place.clone()].chars().count() == 1;
            if !is_letter || !self.text[run.place.end..].starts_with('.') {
                break;
            }
            end = (at > 0).then_some(run.place.end + 1);
        }
        end
    }

    fn company(&self) -> Option<usize> {
        let first = self.runs.first()?;
        let is_one = matches!(first.separator, Some('&' | '@')) && self.is_letters(first);
        if is_one { self.letters_of(1) } else { None }
    }

    fn email(&self) -> Option<usize> {
        let at = self.runs.iter().position(|run| !matches!(run.separator, Some('.' | '-' | '_')))?;
        if self.runs.get(at)?.separator != Some('@') {
            return None;
        }
        let rest = self.runs.get(at + 1..)?;
        let last = rest.iter().position(|run| !matches!(run.separator, Some('.' | '-')))?;
        if last == 0 { None } else { Some(rest.get(last)?.place.end) }
    }

    fn host(&self) -> Option<usize> {
        let last = self.runs.iter().position(|run| run.separator != Some('.'))?;
        Some(self.runs.get(last)?.place.end)
    }

    fn number(&self) -> Option<usize> {
        // Those with a digit are the first, third and so on, or the second, fourth and so on.
        let (mut even, mut odd) = (true, true);
        let mut end = None;
        for (at, run) in self.runs.iter().enumerate() {
            if at % 2 == 0 {
                even &= run.has_digit;
            } else {
                odd &= run.has_digit;
            }
            if at > 0 && !even && !odd {
                break;
            }
            if at > 0 {
                end = Some(run.place.end);
            }
            if !matches!(run.separator, Some('_' | '-' | '/' | '.' | ',')) {
                break;
            }
        }
        end
    }
}

fn is_run(character: char) -> bool {
    character.is_alphanumeric() && !is_alone(character)
}

/// Letters of Chinese and Japanese, which are words of their own.
fn is_alone(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}' | '\u{3300}'..='\u{337f}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff65}'..='\u{ff9f}')
}

fn is_separator(character: char) -> bool {
    matches!(character, '\'' | '.' | '&' | '@' | '-' | '_' | '/' | ',')
}
