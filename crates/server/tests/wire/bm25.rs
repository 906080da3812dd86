//! `Indexing.FullText.Scoring` = Bm25: scores are those that the formula gives, computed here of the texts.

use super::support::Wire;

const TEXTS: [&str; 7] = [
    "fox",
    "fox fox fox",
    "quick fox",
    "quick brown fox jumps lazy dog",
    "dog dog",
    "lazy dog sleeps",
    "quick quick brown bear sleeps near quick river bank under moon light while owls watch silent",
];

const BM25: &str = r#""Indexing.FullText.Scoring":"Bm25""#;

fn define(wire: &Wire, name: &str, settings: &str) {
    let map = "from u in docs.Us select new { u.N, u.A }";
    let fields = r#"{"N":{"Indexing":"Search"}}"#;
    let body = format!(
        r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{fields},"Configuration":{{{settings}}}}}]}}"#
    );
    let answer = wire.call("PUT /databases/db/admin/indexes", &body);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

fn put(wire: &Wire, number: usize, text: &str) {
    wire.put(&format!("us/{number}"), &format!(r#"{{"N":"{text}","A":{number},"@metadata":{{"@collection":"Us"}}}}"#));
}

/// Documents `us/1` and so on, with a text `N` and a number `A`.
fn with_texts() -> Wire {
    let wire = Wire::with_database();
    TEXTS.iter().enumerate().for_each(|(number, text)| put(&wire, number + 1, text));
    wire
}

/// `A` and the score of each result.
#[track_caller]
fn ask(wire: &Wire, query: &str) -> Vec<(usize, f64)> {
    let text = query.replace('"', "\\\"");
    let body = format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{query}") };
    let number = |value: Option<&json::Value>| match value {
        Some(json::Value::Number(text)) => text.parse::<f64>().unwrap(),
        other => panic!("{query}: {other:?}"),
    };
    let score = |result: &json::Value| number(result.get("@metadata").unwrap().get("@index-score"));
    results.iter().map(|result| (number(result.get("A")) as usize, score(result))).collect()
}

#[track_caller]
fn check(query: &str, found: &[(usize, f64)], expected: &[(usize, f64)]) {
    let is_near = |(found, expected): (&(usize, f64), &(usize, f64))| {
        found.0 == expected.0 && (found.1 - expected.1).abs() <= 1e-4 * expected.1
    };
    let are_near = found.len() == expected.len() && found.iter().zip(expected).all(is_near);
    assert!(are_near, "{query}: {found:?}, not {expected:?}");
}

/// The texts that have any of the words with their scores, the best first.
fn bm25(texts: &[(usize, &str)], words: &[&str], k1: f64, b: f64) -> Vec<(usize, f64)> {
    let count = |text: &str, word: &str| text.split(' ').filter(|other| *other == word).count() as f64;
    let length = |text: &str| text.split(' ').count() as f64;
    let all = texts.len() as f64;
    let average = texts.iter().map(|(_, text)| length(text)).sum::<f64>() / all;
    let mut scores = Vec::new();
    for (number, text) in texts {
        let mut score = 0.0;
        for word in words {
            let having = texts.iter().filter(|(_, text)| count(text, word) > 0.0).count() as f64;
            let idf = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            let frequency = count(text, word);
            if frequency == 0.0 {
                continue;
            }
            score += idf * frequency * (k1 + 1.0) / (frequency + k1 * (1.0 - b + b * length(text) / average));
        }
        if score > 0.0 {
            scores.push((*number, score));
        }
    }
    scores.sort_by(|one, other| other.1.total_cmp(&one.1));
    scores
}

#[test]
fn words_are_scored_by_the_formula() {
    let wire = with_texts();
    let texts: Vec<(usize, &str)> = TEXTS.iter().enumerate().map(|(at, text)| (at + 1, *text)).collect();
    let settings = [
        ("Plain", BM25.to_owned(), 1.2, 0.75),
        ("Long", format!(r#"{BM25},"Indexing.FullText.Bm25.K1":"2","Indexing.FullText.Bm25.B":"0""#), 2.0, 0.0),
        ("Set", format!(r#"{BM25},"Indexing.FullText.Bm25.K1":0,"Indexing.FullText.Bm25.B":1"#), 0.0, 1.0),
    ];
    for (name, settings, k1, b) in &settings {
        define(&wire, name, settings);
        for words in [&["fox"][..], &["dog"], &["quick", "fox"], &["lazy", "brown", "sleeps"]] {
            let query = format!("from index '{name}' where search(N, '{}') order by score()", words.join(" "));
            let expected = bm25(&texts, words, *k1, *b);
            // Equal scores have no order that the formula gives.
            let found = ask(&wire, &query);
            let mut sorted = found.clone();
            sorted.sort_by(|one, other| (other.1.total_cmp(&one.1)).then(one.0.cmp(&other.0)));
            assert_eq!(found, sorted, "{query}");
            check(&query, &found, &expected);
            let first = ask(&wire, &format!("{query} limit 2"));
            assert_eq!(first, found[..first.len()], "{query}");
        }
    }
}

/// Computed by hand: 7 texts of 33 words, 4 of which have `fox`; idf = ln( 1 + 3.5 / 4.5 ) = 0.57536.
#[test]
fn one_score_is_computed_by_hand() {
    let wire = with_texts();
    define(&wire, "I", BM25);
    let expected = [(2, 0.98055), (1, 0.84901), (3, 0.75264), (4, 0.51761)];
    check("fox", &ask(&wire, "from index 'I' where search(N, 'fox') order by score()"), &expected);
    // A phrase has the idf of all its words, and a boost multiplies.
    let phrase = ask(&wire, "from index 'I' where search(N, '\"quick fox\"')");
    let twice = ask(&wire, "from index 'I' where boost(search(N, '\"quick fox\"'), 2)");
    check("twice", &twice, &[(3, 2.0 * phrase[0].1)]);
    let explained = r#"{"Query":"from index 'I' where search(N, 'fox') include explanations()"}"#;
    let text = wire.call("POST /databases/db/queries", explained).text();
    for part in ["(MATCH) weight(N:fox in 1) by BM25, product of:", "0.57536", "= k1", "= average length"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn lengths_follow_their_documents() {
    let wire = with_texts();
    define(&wire, "I", BM25);
    let query = "from index 'I' where search(N, 'fox dog') order by score()";
    ask(&wire, query);
    wire.call("DELETE /databases/db/docs?id=us/7", "");
    wire.call("DELETE /databases/db/docs?id=us/1", "");
    put(&wire, 5, "dog cat cow pig hen");
    let texts = [(2, TEXTS[1]), (3, TEXTS[2]), (4, TEXTS[3]), (5, "dog cat cow pig hen"), (6, TEXTS[5])];
    check(query, &ask(&wire, query), &bm25(&texts, &["fox", "dog"], 1.2, 0.75));
    // Another scoring is another index, built anew.
    define(&wire, "I", r#""Indexing.FullText.Scoring":"TfIdf""#);
    wire.until("GET /databases/db/indexes?namesOnly=true", |names| !names.text().contains("ReplacementOf/"));
    let plain = ask(&wire, query);
    define(&wire, "J", "");
    assert_eq!(plain, ask(&wire, &query.replace("'I'", "'J'")));
}

#[test]
fn what_it_does_not_go_with_is_refused() {
    let wire = Wire::with_database();
    let refused = |maps: &str, reduce: &str, settings: &str, status: u16, message: &str| {
        let body = format!(
            r#"{{"Indexes":[{{"Name":"I","Maps":["{maps}"],"Reduce":"{reduce}","Configuration":{{{settings}}}}}]}}"#
        );
        let answer = wire.call("PUT /databases/db/admin/indexes", &body);
        assert!(answer.status == status && answer.text().contains(message), "{} {}", answer.status, answer.text());
    };
    let map = "from u in docs.Us select new { u.N, Count = 1 }";
    let reduce = "from r in results group r by r.N into g select new { N = g.Key, Count = g.Sum(x => x.Count) }";
    refused(map, reduce, BM25, 501, "Bm25 in an index with a reduce or with Boost()");
    refused("from u in docs.Us select new { N = u.N.Boost(2) }", "", BM25, 501, "with Boost()");
    let b = format!(r#"{BM25},"Indexing.FullText.Bm25.B":"2""#);
    refused(map, "", &b, 400, "'Indexing.FullText.Bm25.B' must be a number from 0 to 1, and not '2'");
    refused(map, "", r#""Indexing.FullText.Bm25.B":"0""#, 400, "needs 'Indexing.FullText.Scoring' to be Bm25");
    refused(map, "", r#""Indexing.FullText.Scoring":"Best""#, 400, "TfIdf or Bm25");
}
