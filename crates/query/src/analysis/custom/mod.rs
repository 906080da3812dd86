//! Custom analyzers: a tokenizer and a chain of filters, which users define by a class in C# ([`mod@csharp`]).
//!
//! The parts are those of Lucene.Net that bear the same names, asked of the reference about their terms. As everywhere here, words are
//! counted without gaps, whatever a filter leaves out.

mod csharp;
mod folding;
mod named;
mod porter;

use super::standard::{self, Token};
use super::{Each, LowerCase, Word, runs, stop_words};
use std::collections::BTreeSet;
use std::sync::Arc;

pub use csharp::{AnalyzerRefused, CustomAnalyzer};
pub use named::CustomAnalyzers;

/// How texts become words: a tokenizer, then filters in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chain {
    tokenizer: Tokenizer,
    filters: Vec<Filter>,
}

/// What cuts a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Tokenizer {
    /// Words, numbers, hosts, e-mail addresses and acronyms, as they are written.
    Standard,
    /// What stands between white space.
    Whitespace,
    /// Letters that follow each other.
    Letter,
    /// The whole text.
    Keyword,
}

/// What happens to a word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Filter {
    /// Drops the `'s` of a word and the points of an acronym, if the tokenizer is the standard one.
    Standard,
    LowerCase,
    /// Leaves words out.
    Stop(Arc<StopWords>),
    /// Characters beyond ASCII become the ASCII characters that they look like.
    AsciiFolding,
    /// Leaves out words whose UTF-16 units are not of such a number.
    Length {
        min: u32,
        max: u32,
    },
    /// English words lose their endings.
    PorterStem,
}

/// Words that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct StopWords {
    /// Lower-cased if case is ignored.
    words: BTreeSet<String>,
    ignores_case: bool,
}

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Whole,
    /// A part of a word, beside a wildcard: its length says nothing.
    Part,
}

impl StopWords {
    fn new(words: impl IntoIterator<Item = String>, ignores_case: bool) -> StopWords {
        let lower = |word: String| if ignores_case { documents::id::lower_text(&word) } else { word };
        StopWords { words: words.into_iter().map(lower).collect(), ignores_case }
    }

    /// The commonest words of English.
    fn english() -> StopWords {
        StopWords::new(stop_words::all().map(str::to_owned), false)
    }

    fn has(&self, word: &str) -> bool {
        match self.ignores_case {
            true => self.words.contains(&documents::id::lower_text(word)),
            false => self.words.contains(word),
        }
    }
}

impl Chain {
    fn of(tokenizer: Tokenizer, filters: impl IntoIterator<Item = Filter>) -> Chain {
        Chain { tokenizer, filters: filters.into_iter().collect() }
    }

    /// The chain of Lucene's `StandardAnalyzer`.
    fn standard(stop_words: Arc<StopWords>) -> Chain {
        Chain::of(Tokenizer::Standard, [Filter::Standard, Filter::LowerCase, Filter::Stop(stop_words)])
    }

    /// Calls `each` with the words by which a text is found, until that fails.
    pub(super) fn words<E>(&self, text: &str, each: Each<'_, E>) -> Result<(), E> {
        self.run(text, Text::Whole, each)
    }

    /// The same of a part of a word beside a wildcard.
    pub(super) fn words_of_part<E>(&self, text: &str, each: Each<'_, E>) -> Result<(), E> {
        self.run(text, Text::Part, each)
    }

    fn run<E>(&self, text: &str, is: Text, each: Each<'_, E>) -> Result<(), E> {
        let mut filtering = Filtering { filters: &self.filters, is, ..Filtering::default() };
        let mut plain = |word: Word<'_>| filtering.pass(Token::plain(word.place), word.text, each);
        match self.tokenizer {
            Tokenizer::Standard => standard::tokens(text, &mut |token| {
                let word = text.get(token.place.clone()).unwrap_or_default();
                filtering.pass(token, word, each)
            }),
            Tokenizer::Whitespace => runs(text, |character| !character.is_whitespace(), &mut plain),
            Tokenizer::Letter => runs(text, char::is_alphabetic, &mut plain),
            Tokenizer::Keyword if text.is_empty() => Ok(()),
            Tokenizer::Keyword => plain(Word { text, place: 0..text.len() }),
        }
    }
}

/// Passes words through filters, in memory of its own.
struct Filtering<'f> {
    filters: &'f [Filter],
    is: Text,
    word: String,
    spare: String,
    lower: LowerCase,
    letters: Vec<char>,
}

impl Default for Filtering<'_> {
    fn default() -> Self {
        let (word, spare, lower, letters) = Default::default();
        Filtering { filters: &[], is: Text::Whole, word, spare, lower, letters }
    }
}

impl Filtering<'_> {
    fn pass<E>(&mut self, token: Token, text: &str, each: Each<'_, E>) -> Result<(), E> {
        self.word.clear();
        self.word.push_str(text);
        for filter in self.filters {
            match filter {
                Filter::Standard => {
                    if let Some(filtered) = token.filtered(&self.word) {
                        self.spare.clear();
                        self.spare.push_str(&filtered);
                        std::mem::swap(&mut self.word, &mut self.spare);
                    }
                }
                Filter::LowerCase => self.lower.lower(&mut self.word),
                Filter::Stop(words) if words.has(&self.word) => return Ok(()),
                Filter::Stop(_) => {}
                Filter::AsciiFolding => folding::fold(&mut self.word, &mut self.spare),
                Filter::Length { min, max } => {
                    let length = self.word.encode_utf16().count();
                    if self.is == Text::Whole && !(*min as usize..=*max as usize).contains(&length) {
                        return Ok(());
                    }
                }
                Filter::PorterStem => porter::stem(&mut self.word, &mut self.letters),
            }
        }
        // An index keeps an empty text for what has no words.
        if self.word.is_empty() { Ok(()) } else { each(Word { text: &self.word, place: token.place }) }
    }
}
