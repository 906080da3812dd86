//! Fragments of known texts as the reference cuts them, and of any text.

use super::super::marks::Marks;
use super::super::places;
use super::super::texts::Texts;
use super::*;
use crate::analysis::Analyzer;
use crate::definition::Analysis;
use crate::plan::{Find, Parameters, Plan};
use crate::rql;
use proptest::prelude::*;
use std::convert::Infallible;

const FOXES: &str = "The quick brown fox jumps over the lazy dog. Foxes are quick animals; the brown fox is quickest of all the wild animals that live in the old forest near the river where a fox was seen yesterday.";

/// Tags that are a character.
fn tags() -> Tags {
    let text = "from Us where search(T,'a') include highlight(T,18,1,$o)";
    let options = json::Value::parse(br#"{"o":{"PreTags":["<"],"PostTags":[">"]}}"#).unwrap();
    let plan = Plan::new(&rql::parse(text).unwrap(), Parameters::new(Some(&options))).unwrap();
    let Find::Index(query) = plan.find else { unreachable!() };
    query.highlights[0].tags.clone()
}

fn marks(words: &[&str], phrase: &[&str], analysis: Analysis) -> Marks {
    let mut marks = Marks::new(analysis);
    words.iter().zip(0..).for_each(|(word, number)| marks.add_word((*word).to_owned(), number));
    if phrase.len() > 1 {
        let phrase: Vec<String> = phrase.iter().map(|word| (*word).to_owned()).collect();
        marks.add_phrase(&phrase, 0, words.len() as u32);
    }
    marks
}

fn found(marks: &Marks, text: &str) -> Vec<HighlightMatch> {
    let mut texts = Texts::default();
    texts.push(text);
    let Ok(places) = places::of::<Infallible>(marks, &texts, &|| Ok(()));
    places
}

#[track_caller]
fn check(words: &[&str], phrase: &[&str], length: usize, expected: &[&str]) {
    let places = found(&marks(words, phrase, Analysis::Words(Analyzer::Standard)), FOXES);
    let fragments = cut(FOXES, &places, length, 10);
    let tagged: Vec<String> = fragments.iter().map(|fragment| fragment.tagged(FOXES, &places, &tags())).collect();
    assert_eq!(tagged, expected, "{words:?} {phrase:?} {length}");
}

/// The reference's fragments, but where it cuts a word in two or leaves text out.
#[test]
fn fragments_stand_around_words() {
    check(&["fox"], &[], 18, &[" brown <fox> jumps", " brown <fox> is", " a <fox> was"]);
    check(
        &["fox"],
        &[],
        30,
        &[" quick brown <fox> jumps over", "the brown <fox> is quickest of", " where a <fox> was seen"],
    );
    let second = "the brown <fox> is quickest of all the";
    check(
        &["fox"],
        &[],
        40,
        &["The quick brown <fox> jumps over the lazy", second, "the river where a <fox> was seen"],
    );
    check(
        &[],
        &["brown", "fox"],
        40,
        &["The quick <brown fox> jumps over the lazy", "the <brown fox> is quickest of all the"],
    );
    check(&["yesterday"], &[], 18, &[" <yesterday>."]);
    check(&["cat"], &["fox", "cat"], 18, &[]);
    let whole = FOXES.replace("fox", "<fox>");
    check(&["fox"], &[], 1000, &[whole.replace("<fox>es", "foxes").as_str()]);
}

#[test]
fn no_more_fragments_are_cut_than_are_wanted() {
    let places = found(&marks(&["fox"], &[], Analysis::Words(Analyzer::Standard)), FOXES);
    let count = |max| cut(FOXES, &places, 18, max).len();
    assert_eq!((count(0), count(1), count(2), count(9)), (0, 1, 2, 3));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_cut_into_parts_of_itself(
        text in "(fox|Fox's|a|brown|\u{fc}ber|\u{65e5}\u{672c}|zz\u{1f426}|[., ;\t]|[a-z]{1,12}|\\PC){0,60}",
        length in 18usize..60,
        count in 0usize..6,
        analyzer in prop_oneof![
            Just(Analysis::Words(Analyzer::Standard)),
            Just(Analysis::Words(Analyzer::Whitespace)),
            Just(Analysis::Words(Analyzer::NGram)),
            Just(Analysis::LowerCase)
        ],
    ) {
        let text = text.replace(['<', '>'], " ");
        let places = found(&marks(&["fox", "zz", "a", "\u{65e5}"], &["brown", "fox"], analyzer), &text);
        let fragments = cut(&text, &places, length, count);
        prop_assert!(fragments.len() <= count);
        let (mut from, mut is_any) = (0, false);
        for fragment in &fragments {
            let tagged = fragment.tagged(&text, &places, &tags());
            let plain = tagged.replace(['<', '>'], "");
            let part = &text[fragment.range.clone()];
            prop_assert_eq!(&plain, part);
            prop_assert!(fragment.range.start >= from, "{:?}", fragments);
            from = fragment.range.end;
            let words: Vec<&str> = tagged.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(word, _)| word).collect();
            prop_assert_eq!(words.len(), tagged.matches('>').count());
            prop_assert!(!words.is_empty() && words.iter().all(|word| !word.is_empty()));
            is_any = true;
            let longest = places.iter().map(|place| text[place.start()..place.end()].chars().count()).max().unwrap();
            prop_assert!(part.chars().count() <= length.max(longest), "{}", part);
        }
        prop_assert!(is_any || places.is_empty() || count == 0);
    }
}
