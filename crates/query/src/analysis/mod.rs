//! From texts to words: the analyzers that a field of an index may have.
//!
//! Each is a tokenizer and what follows it, as the reference's analyzers of the same name are (asked about their terms). Words come in the
//! order of the text and are counted from 0 without gaps: a stop word leaves none, which is what phrases rest on.

mod custom;
mod ngram;
mod standard;
mod stop_words;

pub use custom::{AnalyzerRefused, Chain, CustomAnalyzer, CustomAnalyzers};

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// How the texts of a field become words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analyzer {
    /// Words, numbers, hosts, e-mail addresses and acronyms, lower-cased, without the commonest English words.
    Standard,
    /// What stands between white space, as it is.
    Whitespace,
    /// What stands between white space, lower-cased.
    LowerCaseWhitespace,
    /// Letters that follow each other, lower-cased.
    Simple,
    /// The same without the commonest English words.
    Stop,
    /// Parts of two to six characters of the words of [`Analyzer::Standard`]. What is looked for is not cut.
    NGram,
    /// What a custom analyzer says.
    Custom(Arc<Chain>),
}

/// A word, and where in the text it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'w> {
    /// The word, as it is found.
    pub text: &'w str,
    /// The bytes of the text that it was made of.
    pub place: Range<usize>,
}

/// Where words go.
type Each<'e, E> = &'e mut dyn FnMut(Word<'_>) -> Result<(), E>;

impl Analyzer {
    /// The analyzer of a name, without namespace and assembly.
    pub(crate) fn of(name: &str) -> Option<Analyzer> {
        Some(match name {
            "StandardAnalyzer" | "RavenStandardAnalyzer" => Analyzer::Standard,
            "WhitespaceAnalyzer" => Analyzer::Whitespace,
            "LowerCaseWhitespaceAnalyzer" => Analyzer::LowerCaseWhitespace,
            "SimpleAnalyzer" => Analyzer::Simple,
            "StopAnalyzer" => Analyzer::Stop,
            "NGramAnalyzer" => Analyzer::NGram,
            _ => return None,
        })
    }

    /// Calls `each` with the words by which a text is found, until that fails.
    pub fn words<E>(&self, text: &str, each: Each<'_, E>) -> Result<(), E> {
        match self {
            Analyzer::Standard => standard_words(text, is_uncommon, each),
            Analyzer::Whitespace => runs(text, |character| !character.is_whitespace(), each),
            Analyzer::LowerCaseWhitespace => {
                let mut lower = LowerCase::default();
                runs(text, |character| !character.is_whitespace(), &mut |word| lower.give(word, each))
            }
            Analyzer::Simple => letters(text, |_| true, each),
            Analyzer::Stop => letters(text, is_uncommon, each),
            Analyzer::NGram => standard_words(text, is_uncommon, &mut |word: Word<'_>| ngram::cut(&word, each)),
            Analyzer::Custom(chain) => chain.words(text, each),
        }
    }

    /// The words of a query text.
    pub fn query_words(&self, text: &str) -> Vec<String> {
        let analyzer = if *self == Analyzer::NGram { &Analyzer::Standard } else { self };
        gathered(|each| analyzer.words(text, each))
    }

    /// The same for a part of a word beside a wildcard: for analyzers that have names, the beginning of a word is never a stop word.
    pub fn query_word_parts(&self, text: &str) -> Vec<String> {
        match self {
            Analyzer::Standard | Analyzer::NGram => gathered(|each| standard_words(text, |_| true, each)),
            Analyzer::Stop => Analyzer::Simple.query_words(text),
            Analyzer::Whitespace | Analyzer::LowerCaseWhitespace | Analyzer::Simple => self.query_words(text),
            Analyzer::Custom(chain) => gathered(|each| chain.words_of_part(text, each)),
        }
    }
}

/// All words that `give` gives.
fn gathered(give: impl FnOnce(Each<'_, Infallible>) -> Result<(), Infallible>) -> Vec<String> {
    let mut words = Vec::new();
    let Ok(()) = give(&mut |word| {
        words.push(word.text.to_owned());
        Ok(())
    });
    words
}

/// Lower-cases words, in memory of its own.
#[derive(Default)]
struct LowerCase(Vec<u8>);

impl LowerCase {
    /// Lower-cases a word in place.
    fn lower(&mut self, word: &mut String) {
        documents::id::lower_into(&mut self.0, word);
        if let Ok(lower) = std::str::from_utf8(&self.0) {
            word.clear();
            word.push_str(lower);
        }
    }

    fn give<E>(&mut self, word: Word<'_>, each: Each<'_, E>) -> Result<(), E> {
        documents::id::lower_into(&mut self.0, word.text);
        // What is lower-cased stays UTF-8; the word itself is the way out that is never taken.
        each(Word { text: std::str::from_utf8(&self.0).unwrap_or(word.text), place: word.place })
    }
}

fn is_uncommon(word: &str) -> bool {
    !stop_words::contains(word)
}

fn standard_words<E>(text: &str, keeps: fn(&str) -> bool, each: Each<'_, E>) -> Result<(), E> {
    let mut lower = LowerCase::default();
    standard::words(text, &mut |word| {
        // As in the reference a word whose 's was dropped is none that is left out: the `it` of `it's` is found.
        let is_cut = word.text.len() < word.place.len();
        lower.give(word, &mut |word: Word<'_>| match is_cut || keeps(word.text) {
            true => each(word),
            false => Ok(()),
        })
    })
}

fn letters<E>(text: &str, keeps: fn(&str) -> bool, each: Each<'_, E>) -> Result<(), E> {
    let mut lower = LowerCase::default();
    runs(text, char::is_alphabetic, &mut |word| {
        lower.give(word, &mut |word: Word<'_>| if keeps(word.text) { each(word) } else { Ok(()) })
    })
}

/// Characters of a kind that follow each other.
fn runs<E>(text: &str, is_inside: impl Fn(char) -> bool, each: Each<'_, E>) -> Result<(), E> {
    let mut rest = 0;
    while let Some(start) = text[rest..].find(&is_inside).map(|at| rest + at) {
        let end = text[start..].find(|character| !is_inside(character)).map_or(text.len(), |at| start + at);
        each(Word { text: &text[start..end], place: start..end })?;
        rest = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(analyzer: Analyzer, text: &str, expected: &str) {
        let mut words = Vec::new();
        let Ok(()) = analyzer.words::<std::convert::Infallible>(text, &mut |word| {
            assert!(text.get(word.place).is_some(), "{text}");
            words.push(word.text.to_owned());
            Ok(())
        });
        assert_eq!(words.join(" "), expected, "{analyzer:?}: {text}");
    }

    /// As the terms of the reference's analyzers of these names are.
    #[test]
    fn texts_become_the_words_of_the_reference() {
        let text = "john.doe@example.com wi-fi 3.14 ABC_def 12-34 I.B.M. O'Reilly's AT&T";
        check(Analyzer::Standard, text, "john.doe@example.com wi fi 3.14 abc def 12-34 ibm o'reilly at&t");
        let other = "x1y2 foo/bar foo:bar, e-mail user_name 1,000.50 2020-01-02T03:04:05 C# c++ .NET";
        let expected = "x1y2 foo bar foo bar e mail user name 1,000.50 2020-01-02t03 04 05 c c net";
        check(Analyzer::Standard, other, expected);
        check(Analyzer::Standard, "The quick Fox jumps over the lazy dog's bone", "quick fox jumps over lazy dog bone");
        check(Analyzer::Standard, "Zürich Éa 日本 テスト русский", "zürich éa 日 本 テ ス ト русский");
        check(Analyzer::Standard, "www.example.com. o'reilly2 a.b.cd x.y", "www.example.com o'reilly 2 a.b.cd x.y");
        check(Analyzer::Whitespace, text, text);
        check(Analyzer::LowerCaseWhitespace, "A  b\tC#", "a b c#");
        check(Analyzer::Standard, "It's the a's, and it is", "it a");
        check(Analyzer::Simple, "O'Reilly's 3 The_x1y", "o reilly s the x y");
        check(Analyzer::Stop, "O'Reilly's 3 The_x1y", "o reilly s x y");
        check(Analyzer::NGram, "the wifi", "wi if fi wif ifi wifi");
    }

    #[test]
    fn what_is_looked_for_is_not_cut() {
        assert_eq!(Analyzer::NGram.query_words("the Wifi x"), ["wifi", "x"]);
    }
}
