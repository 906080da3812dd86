//! `include explanations()`: why results score what they do. Expected values are those of the reference, but where a comment says
//! otherwise; entries are counted from 1 here.

use super::support::Wire;

fn with_documents() -> Wire {
    let wire = Wire::with_database();
    for number in 0..3 {
        let document =
            format!(r#"{{"T":"red fox {number}","N":"Short fox","G":"g1","@metadata":{{"@collection":"Docs"}}}}"#);
        wire.put(&format!("docs/{number}"), &document);
    }
    let reduce = r#"from r in results group r by r.T into g select new { T = g.Key, n = g.Sum(x => x.n) }"#;
    let definition = format!(
        r#"{{"Indexes":[{{"Name":"Groups","Maps":["from d in docs.Docs select new {{ d.T, n = 1 }}"],"Reduce":"{reduce}","Fields":{{"T":{{"Storage":"Yes"}}}}}}]}}"#
    );
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    wire
}

fn ask(wire: &Wire, query: &str, options: &str) -> super::support::Answer {
    let query = query.replace('"', "\\\"");
    let body = format!(r#"{{"Query":"{query}","QueryParameters":{{"o":{options}}},"WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

/// The only text of a result.
#[track_caller]
fn explained(answer: &json::Value, key: &str) -> String {
    match answer.get("Explanations").and_then(|all| all.get(key)) {
        Some(json::Value::Array(texts)) if texts.len() == 1 => texts[0].as_str().unwrap().to_owned(),
        other => panic!("{key}: {other:?}"),
    }
}

#[track_caller]
fn check(wire: &Wire, query: &str, options: &str, key: &str, expected: &str) {
    let answer = ask(wire, query, options);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    assert_eq!(explained(&answer.json(), key), expected, "{query}");
}

#[test]
fn a_word_is_explained() {
    let wire = with_documents();
    let expected = "0.71231794 = (MATCH) fieldWeight(search(T):fox in 1), product of:
  1 = tf(termFreq(search(T):fox)=1)
  0.71231794 = idf(docFreq=3, maxDocs=3)
  1 = fieldNorm(field=search(T), doc=1)
";
    check(&wire, "from Docs where search(T, 'fox') include explanations()", "{}", "docs/0", expected);
}

#[test]
fn sums_and_shares_are_explained() {
    let wire = with_documents();
    let query = "from Docs where search(T, 'fox red') or T = 'red fox 1' include explanations()";
    let word = |word: &str| {
        format!(
            "      0.293429 = (MATCH) weight(search(T):{word} in 1), product of:
        0.41193542 = queryWeight(search(T):{word}), product of:
          0.71231794 = idf(docFreq=3, maxDocs=3)
          0.57830274 = queryNorm
        0.71231794 = (MATCH) fieldWeight(search(T):{word} in 1), product of:
          1 = tf(termFreq(search(T):{word})=1)
          0.71231794 = idf(docFreq=3, maxDocs=3)
          1 = fieldNorm(field=search(T), doc=1)
"
        )
    };
    let expected = format!(
        "0.293429 = (MATCH) product of:
  0.586858 = (MATCH) sum of:
    0.586858 = (MATCH) sum of:
{}{}  0.5 = coord(1/2)
",
        word("fox"),
        word("red")
    );
    check(&wire, query, "{}", "docs/0", &expected);
}

#[test]
fn phrases_ranges_and_all_are_explained() {
    let wire = with_documents();
    let phrase = "1.4246359 = (MATCH) fieldWeight(search(T):\"red fox\" in 1), product of:
  1 = tf(phraseFreq=1)
  1.4246359 = idf(search(T): red=3 fox=3)
  1 = fieldNorm(field=search(T), doc=1)
";
    check(&wire, "from Docs where search(T, '\"red fox\"') include explanations()", "{}", "docs/0", phrase);
    let range = "1 = (MATCH) ConstantScoreQuery(T:{a TO *]), product of:\n  1 = boost\n  1 = queryNorm\n";
    check(&wire, "from Docs where T > 'a' include explanations()", "{}", "docs/2", range);
    let all = "1 = (MATCH) MatchAllDocsQuery, product of:\n  1 = queryNorm\n";
    check(&wire, "from index 'Groups' include explanations($o)", r#"{"groupKey":"T"}"#, "red fox 0", all);
    let grouped = "from Docs group by G select key(), count() include explanations($o)";
    check(&wire, grouped, r#"{"GroupKey":"G"}"#, "g1", all);
}

/// What is told is what it scores.
#[test]
fn explanations_begin_with_the_score() {
    let wire = with_documents();
    for condition in [
        "T = 'red fox 1' or N = 'short fox'",
        "search(T, 'red') and not T = 'red fox 2' and G in ('g1', 'g2')",
        "boost(search(T, 'fo* 1'), 3.5) or fuzzy(N = 'shirt fox', 0.5)",
        "lucene(T, '+red fox^2 -zebra') or id() = 'docs/1'",
        "exists(N) and proximity(search(T, 'red 1'), 2) or startsWith(N, 's') or T >= 'red fox 1'",
    ] {
        let answer = ask(&wire, &format!("from Docs where {condition} include explanations()"), "{}").json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
        assert!(!results.is_empty(), "{condition}");
        for result in results {
            let metadata = result.get("@metadata").unwrap();
            let text = explained(&answer, metadata.get("@id").and_then(json::Value::as_str).unwrap());
            let told: f32 = text.split(' ').next().unwrap().parse().unwrap();
            let Some(json::Value::Number(score)) = metadata.get("@index-score") else { panic!("{metadata:?}") };
            let score: f32 = score.parse().unwrap();
            assert!((told - score).abs() <= 1e-5 * score.abs(), "{condition}: {score}\n{text}");
        }
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let wire = with_documents();
    for (query, options, expected) in [
        ("from Docs include explanations()", "{}", "Collection queries cannot return explanations."),
        ("from Docs where id() = 'docs/1' include explanations()", "{}", "Collection queries cannot return"),
        ("from Docs where T = 'a' include explanations($o, $o)", "{}", "expects zero or one argument(s)"),
        ("from Docs where T = 'a' include explanations(1)", "{}", "must be an object"),
        ("from index 'Groups' include explanations($o)", r#"{"GroupKey":"X"}"#, "the group key 'X' is not a value"),
    ] {
        let answer = ask(&wire, query, options);
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.text().contains(expected), "{query}: {}", answer.text());
    }
}
