//! Vector search over HTTP. Expected values are those of the reference, but where a comment says otherwise.

use super::support::{Answer, Wire};

/// Vectors as documents have them; those of `e` are several, `i` has none.
const VECTORS: [(&str, &str); 9] = [
    ("a", "[1, 0, 0]"),
    ("b", "[0.9, 0.1, 0]"),
    ("c", "[0, 1, 0]"),
    ("d", "[-1, 0, 0]"),
    ("e", "[[0, 0, 1], [1, 0, 0.5]]"),
    ("f", "[1, 0, 0]"),
    ("g", r#""AAAAPwAAgD8AAAAA""#),
    ("h", r#"{"@vector": [0, 1, 1]}"#),
    ("i", "null"),
];

const ASKED: &str = r#"{"p":[1,0,0]}"#;

fn with_vectors() -> Wire {
    let wire = Wire::with_database();
    for (name, vector) in VECTORS {
        let group = if name < "e" { name } else { "x" };
        let document = format!(r#"{{"V":{vector},"N":"{group}","@metadata":{{"@collection":"Ds"}}}}"#);
        wire.put(&format!("d/{name}"), &document);
    }
    wire
}

fn define(wire: &Wire, name: &str, map: &str, more: &str) -> Answer {
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"]{more}}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &body)
}

fn ask(wire: &Wire, text: &str, parameters: &str) -> Answer {
    let body = format!(r#"{{"Query":"{text}","QueryParameters":{parameters},"WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

/// The ids of what is found without the name of the collection, and the scores.
#[track_caller]
fn found(wire: &Wire, text: &str, parameters: &str) -> Vec<(String, Option<f64>)> {
    let answer = ask(wire, text, parameters);
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{text}") };
    let result = |result: &json::Value| {
        let metadata = result.get("@metadata").unwrap();
        let id = metadata.get("@id").and_then(json::Value::as_str).unwrap().trim_start_matches("d/").to_owned();
        let score = match metadata.get("@index-score") {
            Some(json::Value::Number(score)) => score.parse::<f64>().ok(),
            _ => None,
        };
        (id, score)
    };
    results.iter().map(result).collect()
}

/// What is found, with its score in thousandths: `a 1000 | b 994`.
#[track_caller]
fn check(wire: &Wire, text: &str, parameters: &str, expected: &str) {
    let found: Vec<String> = found(wire, text, parameters)
        .into_iter()
        .map(|(id, score)| format!("{id} {}", (score.unwrap() * 1000.0).round()))
        .collect();
    assert_eq!(found.join(" | "), expected, "{text}");
}

#[track_caller]
fn check_refused(wire: &Wire, text: &str, parameters: &str, status: u16, message: &str) {
    let answer = ask(wire, text, parameters);
    assert_eq!(answer.status, status, "{text}: {}", answer.text());
    assert!(answer.text().contains(message), "{text}: {}", answer.text());
}

#[test]
fn near_vectors_are_found_by_queries_alone() {
    let wire = with_vectors();
    let check = |condition: &str, expected: &str| check(&wire, &format!("from Ds where {condition}"), ASKED, expected);
    // An entry with several vectors comes once; the reference gives it for each of them where it is not exact.
    let all = "a 1000 | f 1000 | b 994 | e 894 | g 447 | c 0 | h 0 | d -1000";
    check("vector.search(V, $p)", all);
    check("exact(vector.search(V, $p))", all);
    check("vector.search(embedding.f32(V), $p)", all);
    check("vector.search(V, 'AACAPwAAAAAAAAAA')", all);
    check("vector.search(V, $p, 0.9)", "a 1000 | f 1000 | b 994 | e 894");
    // Two vectors, the first of which two documents have.
    check("vector.search(V, $p, 0.5, 2)", "a 1000 | f 1000 | b 994");
    check("exact(vector.search(V, $p, null, 2))", "a 1000 | f 1000 | b 994");
    check("vector.search(embedding.f32_i8(V), $p, 0.7)", "a 1000 | f 1000 | b 994 | e 893 | g 450");
    let bits = "a 1000 | b 1000 | c 1000 | e 1000 | f 1000 | g 1000 | h 1000";
    check("exact(vector.search(embedding.f32_i1(V), $p, 0.9))", bits);
    check("vector.search(V, embedding.forDoc('d/c'), 0.8)", "c 1000 | g 894 | h 707");
    check(
        "vector.search(V, $p, 0.9) or vector.search(V, embedding.forDoc('d/d'), 0.9)",
        "a 1000 | d 1000 | f 1000 | b 994 | e 894",
    );
    check("vector.search(V, $p, 0.9) order by N desc, score()", "f 1000 | e 894 | b 994 | a 1000");
    check("vector.search(V, $p, 0.9) order by score() desc", "e 894 | b 994 | a 1000 | f 1000");
    // The reference refuses these two.
    check("vector.search(V, $p, 0.9) filter N != 'x'", "a 1000 | b 994");
    check("boost(vector.search(V, $p, 0.9), 2)", "a 2000 | f 2000 | b 1988 | e 1789");
    let several = r#"{"p":[[0,1,0],[0,0,1]]}"#;
    super::vectors::check(&wire, "from Ds where vector.search(V, $p, 0.95)", several, "c 1000 | e 1000");
    super::vectors::check(
        &wire,
        "from Ds as d where vector.search(d.V, $p, 1)",
        r#"{"p":{"@vector":[3,0,0]}}"#,
        "a 1000 | f 1000",
    );
}

#[test]
fn conditions_beside_vectors_narrow_what_these_find() {
    let wire = with_vectors();
    let ids = |condition: &str| {
        let found = found(&wire, &format!("from Ds where {condition}"), ASKED);
        found.into_iter().map(|(id, _)| id).collect::<Vec<String>>().join(" ")
    };
    assert_eq!(ids("vector.search(V, $p, 0.6) and N = 'x'"), "f e g");
    assert_eq!(ids("true and not vector.search(V, $p, 0.3)"), "d i");
    // The nearest vector is found first, and what has it not asked for then.
    check(&wire, "from Ds where vector.search(V, $p, null, 1) and N = 'd'", ASKED, "");
}

#[test]
fn an_automatic_index_is_called_as_the_reference_calls_it_and_tells_of_its_vectors() {
    let wire = with_vectors();
    ask(&wire, "from Ds where vector.search(embedding.f32_i8(V), $p) and N = 'x'", ASKED);
    let index = wire.call("GET /databases/db/indexes", "").text();
    assert!(index.contains(r#""Name":"Auto/Ds/ByNAndVector.search(embedding.f32_i8(V))""#), "{index}");
    assert!(index.contains(r#""Maps":["Ds:[<Name:N>;<Name:vector.search(embedding.f32_i8(V))>]"]"#), "{index}");
    let vector = r#""Vector":{"Dimensions":null,"SourceEmbeddingType":"Single","DestinationEmbeddingType":"Int8","NumberOfEdges":null,"NumberOfCandidatesForIndexing":null}"#;
    assert!(index.contains(vector), "{index}");
    let record = wire.call("GET /admin/databases?name=db", "").text();
    assert!(record.contains(r#""Vector":{"SourceFieldName":"V","#), "{record}");
}

#[test]
fn changes_of_documents_are_followed() {
    let wire = with_vectors();
    let nearest = |expected: &str| check(&wire, "from Ds where vector.search(V, $p, 0.95)", ASKED, expected);
    nearest("a 1000 | f 1000 | b 994");
    wire.call("DELETE /databases/db/docs?id=d/a", "");
    nearest("f 1000 | b 994");
    wire.put("d/f", r#"{"V":[0,0,5],"@metadata":{"@collection":"Ds"}}"#);
    nearest("b 994");
    wire.put("d/new", r#"{"V":[2,0,0],"@metadata":{"@collection":"Ds"}}"#);
    nearest("new 1000 | b 994");
}

#[test]
fn static_indexes_make_vectors_in_both_languages() {
    let wire = with_vectors();
    let csharp = "from d in docs.Ds select new { E = CreateVector(d.V), d.N }";
    let script = "map('Ds', d => { return { E: createVector(d.V), N: d.N }; })";
    let options = r#","Fields":{"E":{"Vector":{"SourceEmbeddingType":"Single","DestinationEmbeddingType":"Single","Dimensions":3,"NumberOfEdges":20,"NumberOfCandidatesForIndexing":"20"}}}"#;
    for (name, map, more) in [("A", csharp, options), ("B", script, options), ("C", csharp, ""), ("D", script, "")] {
        assert_eq!(define(&wire, name, map, more).status, 201, "{name}");
        check(
            &wire,
            &format!("from index '{name}' where vector.search(E, $p, 0.7)"),
            ASKED,
            "a 1000 | f 1000 | b 994 | e 894 | g 447",
        );
        check(
            &wire,
            &format!("from index '{name}' where exact(vector.search(E, embedding.forDoc('d/c'), 1.0))"),
            "{}",
            "c 1000",
        );
    }
    let shown = wire.call("GET /databases/db/indexes?name=A", "").text();
    assert!(shown.contains(r#""Vector":{"Dimensions":3,"SourceEmbeddingType":"Single""#), "{shown}");
    let int8 = r#","Fields":{"E":{"Vector":{"DestinationEmbeddingType":"Int8"}}}"#;
    assert_eq!(define(&wire, "I", csharp, int8).status, 201);
    check(&wire, "from index 'I' where vector.search(E, $p, 0.9)", ASKED, "a 1000 | f 1000 | b 994 | e 893");
    // A value that is no vector is none, and a field without one finds nothing.
    assert_eq!(define(&wire, "P", "from d in docs.Ds select new { E = d.V, d.N }", options).status, 201);
    check(&wire, "from index 'P' where vector.search(E, $p)", ASKED, "");
    check(&wire, "from index 'A' where vector.search(N, $p)", ASKED, "");
    check_refused(
        &wire,
        "from index 'A' where vector.search(Z, $p)",
        ASKED,
        400,
        "The field 'Z' is not indexed in 'A'",
    );
    let message = "first argument will be a field name when static index is queried";
    check_refused(&wire, "from index 'A' where vector.search(embedding.f32_i8(E), $p)", ASKED, 400, message);
}

/// Components as they are kept, as clients give them: of Int8 with four bytes behind them.
#[test]
fn vectors_that_are_whole_numbers_or_bits_are_taken_as_they_are() {
    let wire = Wire::with_database();
    let one = "0,0,-128,63";
    for (id, vector) in [
        ("1", format!("[127,0,{one}]")),
        ("2", format!("[90,90,{one}]")),
        ("3", "[90,90,0,0,-32,64]".to_owned()),
        ("4", format!("[0,-127,{one}]")),
        ("5", r#""fwEAAIA/""#.to_owned()),
        ("6", format!("[[127,0,{one}],[0,-127,{one}]]")),
        ("7", format!("[-127,0,{one}]")),
    ] {
        wire.put(&format!("i/{id}"), &format!(r#"{{"V":{vector},"@metadata":{{"@collection":"I8"}}}}"#));
    }
    let asked = format!(r#"{{"p":[127,0,{one}]}}"#);
    let expected = "i/1 1000 | i/6 1000 | i/5 1000 | i/2 707 | i/3 707 | i/4 0 | i/7 -1000";
    check(&wire, "from I8 where exact(vector.search(embedding.i8(V), $p))", &asked, expected);
    check(&wire, "from I8 where vector.search(embedding.i8(V), $p, 0.9)", &asked, "i/1 1000 | i/6 1000 | i/5 1000");
    for (id, vector) in [
        ("1", "[255,0]"),
        ("2", "[254,0]"),
        ("3", "[0,255]"),
        ("4", r#""/wE=""#),
        ("5", "[[255,0],[0,255]]"),
        ("6", "[240,240]"),
    ] {
        wire.put(&format!("b/{id}"), &format!(r#"{{"V":{vector},"@metadata":{{"@collection":"I1"}}}}"#));
    }
    let asked = r#"{"p":[255,0]}"#;
    let expected = "b/1 1000 | b/5 1000 | b/2 938 | b/4 938 | b/6 500 | b/3 0";
    check(&wire, "from I1 where exact(vector.search(embedding.i1(V), $p))", asked, expected);
    check(
        &wire,
        "from I1 where vector.search(embedding.i1(V), $p, 0.51)",
        asked,
        "b/1 1000 | b/5 1000 | b/2 938 | b/4 938",
    );
    let message = "`vector.search(embedding.i1(V))` has 2 dimensions, but the vector passed to vector.search() has 1";
    check_refused(&wire, "from I1 where vector.search(embedding.i1(V), $p)", r#"{"p":[255]}"#, 400, message);
}

#[test]
fn what_is_no_vector_search_is_refused() {
    let wire = with_vectors();
    let refused = |condition: &str, parameters: &str, status: u16, message: &str| {
        check_refused(&wire, &format!("from Ds where {condition}"), parameters, status, message);
    };
    let dimensions = "Vector field `vector.search(V)` has 3 dimensions, but the vector passed to vector.search() has 2";
    refused("vector.search(V, $p)", r#"{"p":[1,0]}"#, 400, dimensions);
    refused("vector.search(V, $p)", r#"{"p":[]}"#, 400, "needs a vector");
    refused("vector.search(V, $p)", r#"{"p":null}"#, 400, "needs a vector");
    refused("vector.search(V, $p)", r#"{"p":5}"#, 400, "not a single value");
    refused("vector.search(V, $p)", r#"{"p":"text"}"#, 400, "3 bytes are not numbers of four bytes each");
    refused("vector.search(V, $p)", r#"{"p":"no base64"}"#, 400, "Expected array encoded with base64");
    refused("vector.search(V, $p)", r#"{"p":[1,0,"x"]}"#, 400, "must be a number of 32 bits");
    refused("vector.search(V, $p)", r#"{"p":[1,0,1e300]}"#, 400, "must be a number of 32 bits");
    refused("vector.search(V)", ASKED, 400, "expects 2-4 arguments");
    refused("vector.search(V, $p, 'x')", ASKED, 400, "minimumMatch must be a float");
    refused("vector.search(V, $p, 0.5, 0)", ASKED, 400, "numberOfCandidates must be a whole number from 1");
    refused("vector.search(V, $p, 0.5, 100000)", ASKED, 400, "VECTOR_CANDIDATES_MAX");
    refused("vector.search(embedding.foo(V), $p)", ASKED, 400, "Method 'embedding.foo' is not supported.");
    refused("vector.search(id(), $p)", ASKED, 400, "Method 'id' is not supported.");
    refused("vector.search(V, embedding.forDoc(5))", ASKED, 400, "expects the id of a document");
    refused("vector.search(embedding.text(V), $p)", ASKED, 501, "does not support embedding.text() in vector.search()");
    refused("vector.search(embedding.text_i8(V, ai.task('t')), $p)", ASKED, 501, "embedding.text_i8()");
    refused("vector.search(V, embedding.text($p, ai.task('t')))", ASKED, 501, "embedding.text()");
    let map = "from d in docs.Ds select new { E = CreateVector(d.V), d.N }";
    for (options, status, message) in [
        (r#"{"Dimensions":0}"#, 400, "'Dimensions' must be from 1 to"),
        (r#"{"NumberOfEdges":10000}"#, 400, "'NumberOfEdges' must be from 1 to"),
        (r#"{"SourceEmbeddingType":"Foo"}"#, 400, "must be Single, Int8 or Binary"),
        (r#"{"SourceEmbeddingType":"Int8"}"#, 400, "vectors of Int8 cannot be kept as Single"),
        (r#"{"Foo":1}"#, 400, "there is no option 'Foo'"),
        (r#"{"SourceEmbeddingType":"Text"}"#, 501, "which needs a model"),
    ] {
        let answer = define(&wire, "X", map, &format!(r#","Fields":{{"E":{{"Vector":{options}}}}}"#));
        assert!(answer.text().contains(message), "{options}: {}", answer.text());
        assert_eq!(answer.status == 501, status == 501, "{options}: {}", answer.text());
        assert!(answer.status >= 400, "{options}");
    }
    let reduce = r#","Reduce":"from r in results group r by r.N into g select new { N = g.Key, E = g.Key }""#;
    let answer = define(&wire, "R", map, reduce);
    assert!(
        answer.status == 501 && answer.text().contains("'CreateVector' in an index with a reduce"),
        "{}",
        answer.text()
    );
    let load = r#"from d in docs.Ds select new { E = LoadVector(\"N\", \"task\") }"#;
    assert!(define(&wire, "L", load, "").text().contains("'LoadVector'"));
}

/// A document that has no vector, or one of another size, is an error of the index, and the others are there.
#[test]
fn documents_with_something_else_are_errors_of_the_index() {
    let wire = with_vectors();
    wire.put("d/two", r#"{"V":[1,2],"@metadata":{"@collection":"Ds"}}"#);
    wire.put("d/text", r#"{"V":"some text","@metadata":{"@collection":"Ds"}}"#);
    for more in 0..10 {
        wire.put(&format!("d/more{more}"), r#"{"V":[0,0,-1],"@metadata":{"@collection":"Ds"}}"#);
    }
    check(&wire, "from Ds where vector.search(V, $p, 0.99)", ASKED, "a 1000 | f 1000 | b 994");
    let errors = wire.call("GET /databases/db/indexes/errors", "").text();
    let size = "Attempted to index embedding with 2 dimensions, but field vector.search(V) already contains indexed embedding with 3 dimensions";
    assert!(errors.contains(size), "{errors}");
    assert!(errors.contains("Expected array encoded with base64, however got: 'some text'"), "{errors}");
}
