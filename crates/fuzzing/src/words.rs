//! Words: any text is cut into words that stand in it, one after the other, and any text that is searched for is refused or becomes a
//! condition.

use query::analysis::Analyzer;
use query::plan::{Parameters, Plan};
use query::rql;

const ANALYZERS: [Analyzer; 6] = [
    Analyzer::Standard,
    Analyzer::Whitespace,
    Analyzer::LowerCaseWhitespace,
    Analyzer::Simple,
    Analyzer::Stop,
    Analyzer::NGram,
];

/// A text to be cut, and to be searched for in each way that there is.
pub(crate) fn words(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for analyzer in ANALYZERS {
        let mut last = 0;
        let Ok(()) = analyzer.words::<std::convert::Infallible>(text, &mut |word| {
            assert!(!word.text.is_empty() && text.get(word.place.clone()).is_some(), "{analyzer:?} {text:?}");
            assert!(word.place.start >= last, "{analyzer:?} {text:?}: words stand behind each other");
            last = word.place.start;
            Ok(())
        });
        let _ = analyzer.query_words(text);
    }
    let mut parameters = json::Value::object();
    parameters.set("p", json::Value::String(text.to_owned()));
    for condition in
        ["search(A, $p)", "lucene(A, $p)", "proximity(search(A, $p), 3)", "fuzzy(A = $p, 0.5)", "boost(A = $p, 2)"]
    {
        let query = format!("from C where {condition}");
        if let Ok(tree) = rql::parse(&query)
            && let Err(refused) = Plan::new(&tree, Parameters::new(Some(&parameters)))
        {
            assert!(!refused.to_string().is_empty());
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "john.doe@example.com wi-fi 3.14 ABC_def 12-34 I.B.M. O'Reilly's AT&T",
        "1,000.50 2020-01-02T03:04:05 x_1-y a.b.c.d 日本 テスト",
        "\"quick fox\"~3^2 +a -b !c NOT d AND e && f || g (h i)^0.5 A:j k~0.7 l* m?n [a TO b] {c TO *} *:* \\*",
        "a* *b *c* \"d e\" \\* \"open",
        "a_b-c/d.e,f'g&h@i",
        "((((a OR b) AND c) d) -e)",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
