//! Full text: words, phrases, wildcards, what is like, and how well results fit. Expected values are those of the reference, but where a
//! comment says otherwise.

use super::support::Wire;

const TEXTS: [&str; 8] = [
    "The quick brown Fox jumps over the lazy dog",
    "fox fox fox",
    "quick fox",
    "fox trot quick",
    "dog dog",
    "foxy dog",
    "alpha beta gamma",
    "beta alpha",
];

fn define(wire: &Wire, name: &str, map: &str, fields: &str) {
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{fields}}}]}}"#);
    let answer = wire.call("PUT /databases/db/admin/indexes", &body);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

/// Documents `us/1` and so on, with a text `N`, a number `A` and a text `M`; and an index of them, `I`.
fn with_texts(texts: &[&str]) -> Wire {
    let wire = Wire::with_database();
    for (number, text) in texts.iter().enumerate() {
        let number = number + 1;
        let document = format!(r#"{{"N":"{text}","A":{number},"M":"m{number}","@metadata":{{"@collection":"Us"}}}}"#);
        wire.put(&format!("us/{number}"), &document);
    }
    define(&wire, "I", "from u in docs.Us select new { u.N, u.A, u.M }", r#"{"N":{"Indexing":"Search"}}"#);
    wire
}

#[track_caller]
fn ask(wire: &Wire, text: &str) -> json::Value {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let body = format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    answer.json()
}

#[track_caller]
fn results(answer: &json::Value) -> &[json::Value] {
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    results
}

/// `A` and the score of each result.
#[track_caller]
fn check(wire: &Wire, condition: &str, expected: &str) {
    check_query(wire, &format!("from index 'I' where {condition}"), expected);
}

#[track_caller]
fn check_query(wire: &Wire, query: &str, expected: &str) {
    check_answer(&ask(wire, query), query, expected);
}

#[track_caller]
fn check_answer(answer: &json::Value, query: &str, expected: &str) {
    let number = |value: Option<&json::Value>| match value {
        Some(json::Value::Number(number)) => number.parse::<f64>().unwrap(),
        other => panic!("{query}: {other:?}"),
    };
    let score = |result: &json::Value| number(result.get("@metadata").unwrap().get("@index-score"));
    let found: Vec<(f64, f64)> =
        results(answer).iter().map(|result| (number(result.get("A")), score(result))).collect();
    let pairs = expected.split(' ').filter(|pair| !pair.is_empty());
    let wanted: Vec<(f64, f64)> = pairs
        .map(|pair| pair.split_once(':').map(|(id, score)| (id.parse().unwrap(), score.parse().unwrap())).unwrap())
        .collect();
    let is_near = |(found, wanted): (&(f64, f64), &(f64, f64))| {
        found.0 == wanted.0 && (found.1 - wanted.1).abs() <= 1e-4 * wanted.1.abs().max(0.1)
    };
    assert!(found.len() == wanted.len() && found.iter().zip(&wanted).all(is_near), "{query}: {found:?}");
}

#[test]
fn words_are_searched_for_and_scored() {
    let wire = with_texts(&TEXTS);
    check(&wire, "search(N, 'fox')", "1:1.47 2:2.5461 3:1.47 4:1.47");
    check(&wire, "search(N, 'fox quick')", "1:2.2422 2:0.83461 3:2.2422 4:2.2422");
    check(&wire, "search(N, 'FOX Quick', and)", "1:2.2422 3:2.2422 4:2.2422");
    check(&wire, "search(N, 'fo*')", "1:1 2:1 3:1 4:1 6:1");
    check(&wire, "search(N, '*ox')", "1:1 2:1 3:1 4:1");
    check(&wire, "search(N, '*o*')", "1:1 2:1 3:1 4:1 5:1 6:1");
    check(&wire, "search(N, 'f*x')", "");
    check(&wire, "search(N, '\"quick fox\"')", "3:3.1632");
    check(&wire, "search(N, '\"quick fox\" dog')", "1:0.39951 3:1.3944 5:0.565 6:0.39951");
    check(&wire, "search(N, 'the')", "");
    check(&wire, "search(N, 'the fox', and)", "1:1.47 2:2.5461 3:1.47 4:1.47");
    check(&wire, "search(N, '')", "");
    check(&wire, "search(N, 'trot;quick')", "4:4.0794");
    check(&wire, "search(M, 'M3')", "3:2.3863");
}

#[test]
fn other_conditions_compare_with_single_words() {
    let wire = with_texts(&TEXTS);
    // The reference scores equality by frequency as well; here nothing scores that is not asked for.
    check(&wire, "N = 'FOX'", "1:1 2:1 3:1 4:1");
    check(&wire, "N = 'quick fox'", "");
    check(&wire, "N in ('fox', 'dog')", "1:1 2:1 3:1 4:1 5:1 6:1");
    check(&wire, "startsWith(N, 'FO')", "1:1 2:1 3:1 4:1 6:1");
    check(&wire, "N != 'fox'", "5:1 6:1 7:1 8:1");
}

#[test]
fn scores_of_operands_add_up() {
    let wire = with_texts(&TEXTS);
    check(&wire, "A = 3 or search(N, 'dog')", "1:0.72893 3:0.25427 5:1.0309 6:0.72893");
    check(
        &wire,
        "boost(search(N, 'dog'), 5) or search(N, 'fox')",
        "1:1.9197 5:1.1796 6:0.83409 2:0.2178 3:0.12575 4:0.12575",
    );
    check(&wire, "boost(A = 3, 10) or A = 4 or A = 5", "3:0.33005 4:0.033005 5:0.033005");
    check(&wire, "boost(A = 5, -1) or A = 6", "6:0.35355 5:-0.35355");
    check(&wire, "search(N, 'fox') and not search(N, 'quick')", "2:2.6677");
    check(&wire, "search(N, 'fox') and A > 1", "2:2.6677 3:1.7779 4:1.7779");
    check(&wire, "search(N, 'fox quick') or A = 2", "1:1.0239 2:1.1696 3:1.0239 4:1.0239");
    check(&wire, "id() = 'us/5' or boost(search(N, 'fox'), 1)", "5:1.0159 2:0.66771 1:0.3855 3:0.3855 4:0.3855");
    check(&wire, "search(N, 'fox') order by score()", "2:2.5461 1:1.47 3:1.47 4:1.47");
    check(&wire, "search(N, 'fox') order by score() desc", "1:1.47 3:1.47 4:1.47 2:2.5461");
    check(&wire, "search(N, 'fox') order by A as long desc", "4:1.47 3:1.47 2:2.5461 1:1.47");
    check(&wire, "M = 'm3' or A = 4 order by score()", "3:1.1004 4:0.19325");
    check(&wire, "exists(N) order by score() limit 2", "1:1 2:1");
}

#[test]
fn what_is_like_or_near_is_found() {
    let wire = with_texts(&TEXTS);
    check(&wire, "fuzzy(N = 'fix', 0.5)", "1:1.47 2:2.5461 3:1.47 4:1.47");
    check(&wire, "fuzzy(N = 'fix', 0.7)", "");
    check(&wire, "fuzzy(N = 'quik', 0.5)", "1:1.6931 3:1.6931 4:1.6931");
    check(&wire, "fuzzy(M = 'm3', 0.4) and A < 5", "1:0.6978 2:0.6978 3:2.3967 4:0.6978");
    check(&wire, "proximity(search(N, 'dog quick'), 10)", "1:1.1972");
    check(&wire, "proximity(search(N, 'quick_fox'), 0)", "3:3.1632");
    check(&wire, "proximity(search(N, 'quick dog'), 3)", "");
    check(&wire, "proximity(search(N, 'fox quick'), 1)", "4:2.2367");
    check(&wire, "proximity(search(N, 'fox quick'), 2)", "3:1.8262 4:2.2367");
    check(&wire, "proximity(search(N, 'fox quick dog'), 20)", "1:1.9826");
}

#[test]
fn lucene_queries_are_answered() {
    let wire = with_texts(&TEXTS);
    check(&wire, "lucene(N, 'fox AND quick')", "1:2.2422 3:2.2422 4:2.2422");
    check(&wire, "lucene(N, '\"quick fox\"~3')", "1:2.2367 3:3.1632 4:1.5816");
    check(&wire, "lucene(N, 'fox -quick')", "2:2.5461");
    check(&wire, "lucene(N, 'fo* quick^10') order by score()", "1:1.7492 3:1.7492 4:1.7492 2:0.029479 6:0.029479");
    check(&wire, "lucene(N, '[a TO f]')", "1:1 5:1 6:1 7:1 8:1");
    check(&wire, "lucene(N, 'f?x')", "1:1 2:1 3:1 4:1");
    check(&wire, "lucene(N, 'f*x*')", "1:1 2:1 3:1 4:1 6:1");
    check(&wire, "lucene(N, '*OX')", "1:1 2:1 3:1 4:1");
    check(&wire, "lucene(N, 'fix~0.5')", "1:1.47 2:2.5461 3:1.47 4:1.47");
    check(&wire, "lucene(N, '(fox OR dog) AND quick') order by score()", "1:2.8097 3:1.4048 4:1.4048");
    check(&wire, "lucene(N, 'M:m3 A:4') order by score()", "3:0.84368 4:0.84368");
    check(&wire, "lucene(N, 'foxy NOT dog')", "");
    check(&wire, "lucene(N, 'the')", "");
    check(&wire, "lucene(N, '*:*') limit 1", "1:1");
    check(&wire, "exact(lucene(M, 'm3'))", "3:2.3863");
    let wrong = r#"{"Query":"from index 'I' where lucene(N, '(fox')"}"#;
    let message = "Cannot parse '(fox': ')' was expected at character 5";
    wire.check_error("POST /databases/db/queries", wrong, 400, "InvalidQueryException", message);
    let unknown = r#"{"Query":"from index 'I' where lucene(N, 'Nope:fox')"}"#;
    wire.check_error(
        "POST /databases/db/queries",
        unknown,
        400,
        "ArgumentException",
        "The field 'Nope' is not indexed",
    );
}

#[test]
fn a_query_makes_an_index_with_words() {
    let wire = with_texts(&TEXTS);
    let name = |query: &str| ask(&wire, query).get("IndexName").cloned();
    let is = |name: &str| Some(json::Value::String(name.to_owned()));
    check_query(&wire, "from Us where search(N, 'quick fox', and)", "1:2.2422 3:2.2422 4:2.2422");
    assert_eq!(name("from Us where search(N, 'fox')"), is("Auto/Us/BySearch(N)"));
    // The field itself is there as well.
    assert_eq!(name("from Us where N = 'quick fox'"), is("Auto/Us/BySearch(N)"));
    check_query(&wire, "from Us where N = 'QUICK fox'", "3:1");
    assert_eq!(name("from Us where search(M, 'm3') and A > 1"), is("Auto/Us/ByAAndSearch(M)AndSearch(N)"));
    let exact = "from Us where search(M, 'm3') and exact(M = 'm3') and N = 'x' and A = 1 and search(N, 'x')";
    assert_eq!(name(exact), is("Auto/Us/ByAAndSearch(M)AndExact(M)AndSearch(N)"));
    let terms = |field: &str| {
        let line = format!(
            "GET /databases/db/indexes/terms?name=Auto/Us/ByAAndSearch(M)AndExact(M)AndSearch(N)&field={field}&pageSize=3"
        );
        wire.call(&line, "").text()
    };
    assert!(terms("search(N)").ends_with(r#""Terms":["alpha","beta","brown"]}"#), "{}", terms("search(N)"));
}

#[test]
fn changed_and_deleted_texts_are_found_by_their_new_words() {
    let wire = with_texts(&TEXTS);
    check(&wire, "search(N, 'gamma beta', and)", "7:3.1013");
    wire.put("us/7", r#"{"N":"alpha delta delta","A":7,"@metadata":{"@collection":"Us"}}"#);
    wire.call("DELETE /databases/db/docs?id=us/2", "");
    check(&wire, "search(N, 'gamma beta', and)", "");
    check(&wire, "search(N, '\"alpha delta\"')", "7:4.10006");
    check(&wire, "search(N, '\"delta delta\"')", "7:4.5055");
    check(&wire, "search(N, 'fox')", "1:1.5596 3:1.5596 4:1.5596");
}

/// The scores of the reference, with and without weights.
#[test]
fn maps_give_weights_to_fields_and_entries() {
    let wire = with_texts(&["one two", "one two three four five six", "three", "one one"]);
    let fields = r#"{"N":{"Indexing":"Search"}}"#;
    define(&wire, "F", "from u in docs.Us select new { N = u.N.Boost(10), u.A, u.M }", fields);
    define(&wire, "E", "from u in docs.Us select new { u.N, u.A, u.M }.Boost(u.A)", fields);
    let of = |index: &str, condition: &str, expected: &str| {
        check_query(&wire, &format!("from index '{index}' where {condition}"), expected);
    };
    of("F", "search(N, 'one')", "4:9.8995 1:7 2:4");
    of("F", "search(N, 'one two')", "1:11.4126 2:6.5215 4:3.03595");
    of("F", "search(N, 'one') or A = 3", "4:3.5 1:2.47487 2:1.41421 3:0.35355");
    of("F", "search(N, 'three')", "3:12.8768 2:5.15073");
    of("F", "search(N, '\"one two\"')", "1:16.0138 2:9.15073");
    of("F", "search(N, 'one') order by A as long desc", "4:9.8995 2:4 1:7");
    of("F", "M = 'm2' or M = 'm1'", "1:0.59862 2:0.59862");
    of("E", "search(N, 'one')", "4:3.53553 2:0.75 1:0.625");
    of("E", "M = 'm2' or M = 'm1'", "2:1.19724 1:0.59862");
    of("E", "N in ('one', 'three')", "4:3.53553 3:3 2:1.5 1:0.625");
    of("E", "search(N, 'o*')", "1:1 2:1 4:1");
    check_query(&wire, "from index 'E'", "1:1 2:1 3:1 4:1");
}

#[test]
fn an_unknown_analyzer_is_named() {
    let wire = Wire::with_database();
    let body = r#"{"Indexes":[{"Name":"X","Maps":["from u in docs.Us select new { u.N }"],"Fields":{"N":{"Analyzer":"My.Own"}}}]}"#;
    let message = "Failed to compile index 'X': Cannot find analyzer type 'My.Own' for field: N";
    wire.check_error("PUT /databases/db/admin/indexes", body, 400, "IndexCompilationException", message);
}

/// Users with these names, and an index `I` that suggests whole names of `Name` and words of `W`.
fn with_names(names: &[&str]) -> Wire {
    let wire = Wire::with_database();
    for (number, name) in names.iter().enumerate() {
        wire.put(&format!("us/{number}"), &format!(r#"{{"Name":"{name}","@metadata":{{"@collection":"Us"}}}}"#));
    }
    let fields =
        r#"{"Name":{"Suggestions":true},"W":{"Indexing":"Search","Suggestions":true},"P":{"Indexing":"Search"}}"#;
    define(&wire, "I", "from u in docs.Us select new { u.Name, W = u.Name, P = u.Name }", fields);
    wire
}

fn ask_with(wire: &Wire, text: &str, parameters: &str) -> super::support::Answer {
    let body = format!(r#"{{"Query":"{text}","QueryParameters":{parameters},"WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

#[track_caller]
fn check_suggestions(wire: &Wire, select: &str, parameters: &str, expected: &str) {
    let answer = ask_with(wire, &format!("from index 'I' select {select}"), parameters);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    let word = |word: &json::Value| word.as_str().unwrap().to_owned();
    let result = |result: &json::Value| {
        let Some(json::Value::Array(words)) = result.get("Suggestions") else { panic!("{result:?}") };
        let name = result.get("Name").unwrap().as_str().unwrap();
        format!("{name}: {}", words.iter().map(word).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(results(&answer).iter().map(result).collect::<Vec<_>>().join("; "), expected, "{select} {parameters}");
}

#[test]
fn like_words_are_suggested() {
    let names = ["Oren", "Ayende", "John", "Johnny", "Jon", "orin", "ayendo", "john steinbeck", "oren eini"];
    let wire = with_names(&names);
    for (select, parameters, expected) in [
        ("suggest(Name, 'oren')", "null", "Name: orin"),
        ("suggest(Name, 'jhn')", "null", "Name: john jon"),
        ("suggest(W, 'johny')", "null", "W: johnny john jon"),
        ("suggest(W, 'johny', $o)", r#"{"o":{"PageSize":2}}"#, "W: johnny john"),
        ("suggest(W, 'johny', $o)", r#"{"o":{"Accuracy":0.9}}"#, "W: "),
        ("suggest(W, 'johny', $o)", r#"{"o":{"Accuracy":0.4,"Distance":"JaroWinkler"}}"#, "W: johnny john jon"),
        ("suggest(W, 'johny', $o)", r#"{"o":{"Accuracy":0.4,"Distance":"NGram"}}"#, "W: johnny john jon"),
        ("suggest(W, $t)", r#"{"t":["orn","ayend"]}"#, "W: ayendo ayende oren orin john"),
        ("suggest(W, $t, $o)", r#"{"t":["orn","ayend"],"o":{"SortMode":"None"}}"#, "W: oren orin john ayendo ayende"),
        ("suggest(W, $t, $o)", r#"{"t":["orn","ayend"],"o":{"PageSize":2}}"#, "W: oren orin"),
        ("suggest(W, $t)", r#"{"t":["johny","ayend"]}"#, "W: johnny ayendo ayende john jon"),
        ("suggest(W, 'orn') as x, suggest(Name, 'orn') as y", "null", "x: oren orin john; y: orin oren john"),
        ("suggest(W, 'or')", "null", "W: oren orin"),
        ("suggest(W, 'o')", "null", "W: "),
        ("suggest(W, 'JOHN')", "null", "W: "),
        ("suggest(Name, 'Oren')", "null", "Name: orin"),
        ("suggest(W, 'johny', $o)", r#"{"o":{"pageSize":1}}"#, "W: johnny"),
        ("suggest(W, 'john')", "null", "W: jon"),
        ("suggest(W, 'oren eini')", "null", "W: "),
    ] {
        check_suggestions(&wire, select, parameters, expected);
    }
    let answer = ask_with(&wire, "from Us select suggest(Name, 'orn')", "null");
    let text = answer.text();
    assert!(text.starts_with(r#"{"TotalResults":1,"DurationInMs":"#), "{text}");
    let middle = r#","IndexName":"Auto/Us/BySuggest(Name)","Results":[{"Name":"Name","Suggestions":["orin","oren","john"]}],"Includes":{},"IndexTimestamp":""#;
    assert!(text.contains(middle), "{text}");
    let fields = wire.call("GET /databases/db/indexes?name=Auto/Us/BySuggest(Name)", "").text();
    assert!(fields.contains(r#""Storage":"No","Suggestions":true"#), "{fields}");
}

/// What is as good for another term stands behind what is for the first.
#[test]
fn words_for_several_terms_keep_the_order_of_the_terms() {
    let wire = with_names(&["green", "apple"]);
    check_suggestions(&wire, "suggest(Name, $t)", r#"{"t":["aple","gren"]}"#, "Name: apple green");
    check_suggestions(&wire, "suggest(W, $t)", r#"{"t":["gren","aple"]}"#, "W: green apple");
    check_suggestions(&wire, "suggest(W, $t)", r#"{"t":["gren","apple1"]}"#, "W: apple green");
}

#[test]
fn what_cannot_be_suggested_is_refused() {
    let wire = with_names(&["Oren"]);
    for (text, parameters, exception, message) in [
        (
            "from index 'I' select suggest(Nope, 'x')",
            "null",
            "InvalidOperationException",
            "Index 'I' does not have a field 'Nope'.",
        ),
        (
            "from index 'I' select suggest(P, 'x')",
            "null",
            "InvalidOperationException",
            "Index 'I' does not have suggestions configured for field 'P'.",
        ),
        ("from index 'I' select suggest(W)", "null", "InvalidQueryException", "Method suggest() needs"),
        ("from index 'I' select suggest(W, 5)", "null", "InvalidQueryException", "Term can only be passed as string"),
        ("from index 'I' select suggest(W, '')", "null", "InvalidQueryException", "a term of suggest() has 1 to"),
        ("from index 'I' select suggest(W, 'x'), W", "null", "InvalidQueryException", "Unsupported expression"),
        (
            "from index 'I' select distinct suggest(W, 'x')",
            "null",
            "InvalidQueryException",
            "Cannot use SELECT DISTINCT",
        ),
        (
            "from index 'I' select suggest(W, 'x', $o)",
            r#"{"o":{"Distance":"Far"}}"#,
            "InvalidQueryException",
            "'Distance' of",
        ),
        (
            "from index 'I' select suggest(W, 'x', $o)",
            r#"{"o":{"PageSize":0}}"#,
            "InvalidQueryException",
            "'PageSize' of",
        ),
        (
            "from index 'I' select suggest(W, 'x', $o)",
            r#"{"o":5}"#,
            "InvalidQueryException",
            "The options of suggest() must be an object",
        ),
    ] {
        ask_with(&wire, text, parameters).check_error(400, exception, message);
    }
    let body = r#"{"Query":"from index 'I' select suggest(W, 'x')"}"#;
    let stream = wire.call("POST /databases/db/streams/queries", body);
    assert_eq!(stream.status, 501, "{}", stream.text());
    assert_eq!(wire.call("DELETE /databases/db/queries", body).status, 501);
}

/// Scores and order are those of the reference.
#[test]
fn entries_like_another_one_are_found() {
    let wire = Wire::with_database();
    let texts = [
        "This is a test. Isn't it great? I hope I pass my test!",
        "I have a test tomorrow. I hate having a test",
        "Cake is great.",
        "This document has the word test only once",
        "test",
        "test",
        "test",
        "test",
    ];
    for (number, text) in texts.iter().enumerate() {
        wire.put(
            &format!("d/{number}"),
            &format!(r#"{{"B":"{text}","A":{number},"@metadata":{{"@collection":"Ds"}}}}"#),
        );
    }
    wire.put("stop/1", r#"{"StopWords":["I","A","great"],"@metadata":{"@collection":"Stops"}}"#);
    let map = "from u in docs.Ds select new { u.B, u.A }";
    define(&wire, "I", map, r#"{"B":{"Indexing":"Search","TermVector":"Yes"}}"#);
    define(&wire, "N", map, r#"{"B":{"Indexing":"Search"}}"#);
    define(&wire, "C", r#"from u in docs.Ds select new { X = u.B + \" \", u.A }"#, r#"{"X":{"Indexing":"Search"}}"#);
    define(&wire, "E", map, "{}");
    let of = |condition: &str, parameters: &str, expected: &str| {
        let answer = ask_with(&wire, &format!("from index 'I' where {condition}"), parameters);
        assert_eq!(answer.status, 200, "{condition}: {}", answer.text());
        check_answer(&answer.json(), condition, expected);
    };
    let by_id = "moreLikeThis(id() = 'd/0', $o)";
    let tests = "3:0.025403 4:0.025403 5:0.025403 6:0.025403 7:0.025403";
    of("moreLikeThis(id() = 'd/0')", "null", &format!("1:0.35377 2:0.099674 {tests}"));
    of("moreLikeThis(A = 0)", "null", &format!("1:0.35377 2:0.099674 {tests}"));
    of(by_id, r#"{"o":{"Fields":["B"]}}"#, &format!("1:0.35377 2:0.099674 {tests}"));
    of(by_id, r#"{"o":{"Fields":["Nope"]}}"#, "");
    let few = "1:0.058004 3:0.041015 4:0.041015 5:0.041015 6:0.041015 7:0.041015";
    of(by_id, r#"{"o":{"StopWordsDocumentId":"stop/1"}}"#, few);
    let boosted = "1:0.48839 2:0.076494 3:0.019684 4:0.019684 5:0.019684 6:0.019684 7:0.019684";
    of(by_id, r#"{"o":{"Boost":true}}"#, boosted);
    of(by_id, r#"{"o":{"MinimumWordLength":5}}"#, "2:0.632586");
    of(by_id, r#"{"o":{"MaximumQueryTerms":1}}"#, "1:2.801316");
    of(by_id, r#"{"o":{"MaximumDocumentFrequency":2}}"#, "1:0.167117 2:0.118169");
    of(by_id, r#"{"o":{"MaximumDocumentFrequencyPercentage":30}}"#, "1:0.167117 2:0.118169");
    let often = "1:3.138052 3:0.225333 4:0.225333 5:0.225333 6:0.225333 7:0.225333";
    of(by_id, r#"{"o":{"MinimumTermFrequency":2}}"#, often);
    of("moreLikeThis($d)", r#"{"d":"{\"b\":\"cake\"}"}"#, "2:2.386294");
    of("moreLikeThis($d)", r#"{"d":"{\"X\":[{\"B\":\"cake\"}]}"}"#, "2:2.386294");
    // Of the reference the same ones, with other scores.
    of("A > 2 and moreLikeThis(id() = 'd/0')", "null", "3:0.200086 4:0.200086 5:0.200086 6:0.200086 7:0.200086");
    // A field in words need not be stored, nor be a property of the document.
    for index in ["N", "C"] {
        let answer = ask(&wire, &format!("from index '{index}' where moreLikeThis(id() = 'd/0')"));
        check_answer(&answer, index, &format!("1:0.35377 2:0.099674 {tests}"));
    }
    let exact = ask(&wire, "from index 'E' where moreLikeThis(id() = 'd/0')");
    assert!(results(&exact).is_empty(), "words are compared only of fields in words, or stored ones");
    for (condition, parameters, exception, message) in [
        (
            "moreLikeThis(id() = 'nope')",
            "null",
            "InvalidOperationException",
            "the condition of moreLikeThis() did not yield any documents",
        ),
        (
            by_id,
            r#"{"o":{"StopWordsDocumentId":"nope"}}"#,
            "InvalidOperationException",
            "Stop words document nope could not be found",
        ),
        ("moreLikeThis()", "null", "InvalidQueryException", "Method moreLikeThis() needs"),
        ("moreLikeThis($d)", r#"{"d":"xx"}"#, "InvalidQueryException", "the document of moreLikeThis() is no JSON"),
        (by_id, r#"{"o":{"MinimumWordLength":-1}}"#, "InvalidQueryException", "'MinimumWordLength' of"),
    ] {
        let answer = ask_with(&wire, &format!("from index 'I' where {condition}"), parameters);
        answer.check_error(400, exception, message);
    }
    let message = "Method moreLikeThis() cannot be used in dynamic queries";
    ask_with(&wire, "from Ds where moreLikeThis(id() = 'd/0')", "null").check_error(
        400,
        "InvalidQueryException",
        message,
    );
}

/// Answers belong to the stop words as they are in their document, and patches use them, too.
#[test]
fn stop_words_are_those_of_their_document_as_it_is() {
    let wire = Wire::with_database();
    for (number, text) in ["a cake and a test", "a test", "a cake"].iter().enumerate() {
        wire.put(&format!("d/{number}"), &format!(r#"{{"B":"{text}","@metadata":{{"@collection":"Ds"}}}}"#));
    }
    wire.put("stop/1", r#"{"StopWords":["cake"],"@metadata":{"@collection":"Stops"}}"#);
    define(&wire, "I", "from u in docs.Ds select new { u.B }", r#"{"B":{"Indexing":"Search","TermVector":"Yes"}}"#);
    let condition = r#"moreLikeThis(id() = 'd/0', $o)"#;
    let options = r#"{"o":{"StopWordsDocumentId":"stop/1","MinimumTermFrequency":1,"MinimumDocumentFrequency":1}}"#;
    let ask = |etag: &str| {
        let body = format!(
            r#"{{"Query":"from index 'I' where {condition} select id() as Id","QueryParameters":{options},"WaitForNonStaleResults":true}}"#
        );
        wire.call_with("POST /databases/db/queries", &[&format!("If-None-Match: {etag}")], body.as_bytes())
    };
    let first = ask("\"0\"");
    assert!(first.text().contains("d/1") && !first.text().contains("d/2"), "{}", first.text());
    let etag = first.header("etag").unwrap().to_owned();
    assert_eq!(ask(&etag).status, 304);
    wire.put("stop/1", r#"{"StopWords":["test"],"@metadata":{"@collection":"Stops"}}"#);
    let second = ask(&etag);
    assert_eq!(second.status, 200, "{}", second.text());
    assert!(second.text().contains("d/2") && !second.text().contains("d/1"), "{}", second.text());
    let patch = format!(
        r#"{{"Query":{{"Query":"from index 'I' where {condition} update {{ this.Like = 1; }}","QueryParameters":{options}}}}}"#
    );
    super::patches::by_query(&wire, "", &patch);
    for (id, is_like) in [("d/1", false), ("d/2", true)] {
        let document = wire.call(&format!("GET /databases/db/docs?id={id}"), "").text();
        assert_eq!(document.contains(r#""Like":1"#), is_like, "{document}");
    }
}

/// A long phrase over a text that has its words everywhere is answered quickly, and one that is longer is refused.
#[test]
fn phrases_have_a_bound() {
    let wire = Wire::with_database();
    let text = "x ".repeat(50_000);
    wire.put("a", &format!(r#"{{"T":"{text}","@metadata":{{"@collection":"Texts"}}}}"#));
    let ask = |count: usize, wrap: &str| {
        let phrase = format!("\\\"{}\\\"", "x ".repeat(count).trim_end());
        let condition = format!("search(T, '{phrase}')");
        let condition = if wrap.is_empty() { condition } else { format!("proximity({condition}, {wrap})") };
        wire.call(
            "POST /databases/db/queries",
            &format!(r#"{{"Query":"from Texts where {condition} select id()","WaitForNonStaleResults":true}}"#),
        )
    };
    for wrap in ["", "1000000"] {
        let answer = ask(128, wrap);
        assert!(answer.text().contains(r#""TotalResults":1"#), "{}", answer.text());
        let message = "a phrase of 129 words exceeds the limit PHRASE_WORDS_MAX = 128";
        ask(129, wrap).check_error(400, "ArgumentException", message);
    }
}

#[test]
fn options_of_more_like_this_are_checked() {
    let wire = Wire::with_database();
    let body = r#"{"Indexes":[{"Name":"I","Maps":["from a in docs.Texts select new { a.T }"],"Fields":{"T":{"Indexing":"Search"}}}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", body).status, 201);
    let ask = |options: &str| {
        let query = "from index 'I' where moreLikeThis(id() = 'a', $o)";
        wire.call(
            "POST /databases/db/queries",
            &format!(r#"{{"Query":"{query}","QueryParameters":{{"o":{options}}}}}"#),
        )
    };
    for (options, message) in [
        (r#"{"Boost":"yes"}"#, "'Boost' of moreLikeThis() must be true or false"),
        (r#"{"Fields":["T",5]}"#, "'Fields' of moreLikeThis() must be texts"),
    ] {
        ask(options).check_error(400, "InvalidQueryException", message);
    }
    let nothing = "the condition of moreLikeThis() did not yield any documents";
    ask(r#"{"Boost":null,"Fields":["T"]}"#).check_error(400, "InvalidOperationException", nothing);
}

/// How many words a text has is what the analyzer of its field says. These are the answers of the reference.
#[test]
fn words_near_each_other_are_more_than_one() {
    let wire = with_texts(&["fluent api", "the fluent interface", "wi-fi network"]);
    let map = "from u in docs.Us select new { u.N, u.A }";
    define(&wire, "W", map, r#"{"N":{"Indexing":"Search","Analyzer":"WhitespaceAnalyzer"}}"#);
    for (index, text, expected) in [
        ("I", "fluent", None),
        ("I", "the fluent", None),
        ("I", "fluent, ", None),
        ("I", "the", Some(0)),
        ("I", "", Some(0)),
        ("I", "fluent fluent", Some(0)),
        ("I", "wi-fi", Some(1)),
        ("W", "the", None),
        ("W", "wi-fi", None),
        ("W", "the fluent", Some(1)),
    ] {
        let query = format!("from index '{index}' where proximity(search(N, '{text}'), 1)");
        let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
        let answer = wire.call("POST /databases/db/queries", &body);
        match expected {
            Some(count) => assert_eq!(results(&answer.json()).len(), count, "{query}: {}", answer.text()),
            None => {
                let message = "Proximity search works only on multiple search terms";
                answer.check_error(400, "InvalidQueryException", message);
            }
        }
    }
}
