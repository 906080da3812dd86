//! Deleting and patching by query: both find the same documents, and what a query finds is what they change.

use super::support::Wire;

/// Documents `ts/0` to `ts/9` with the number `N`, and two tags each; an index of them with an entry for each tag.
fn with_numbers() -> Wire {
    let wire = Wire::with_database();
    for number in 0..10 {
        let document = format!(r#"{{"N":{number},"Tags":["a","b"],"@metadata":{{"@collection":"Ts"}}}}"#);
        wire.put(&format!("ts/{number}"), &document);
    }
    let maps = r#"["from t in docs.Ts from tag in t.Tags select new { t.N, Tag = tag }"]"#;
    let indexes = format!(r#"{{"Indexes":[{{"Name":"F","Maps":{maps}}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &indexes).status, 201);
    wire
}

/// The request that changes what a query finds. A patch sets `Done`.
fn request(method: &str, query: &str) -> String {
    match method {
        "DELETE" => format!(r#"{{"Query":"{query}"}}"#),
        _ => format!(r#"{{"Query":{{"Query":"{}"}}}}"#, with_update(query)),
    }
}

/// The clause `update` stands before `limit` and `filter_limit`.
fn with_update(query: &str) -> String {
    let update = "update { this.Done = true }";
    match [" limit ", " filter_limit "].iter().filter_map(|word| query.find(word)).min() {
        Some(at) => format!("{} {update}{}", &query[..at], &query[at..]),
        None => format!("{query} {update}"),
    }
}

/// Changes what a query finds, and waits for the end of the operation; its state.
fn change(wire: &Wire, method: &str, query: &str) -> String {
    let answer = wire.call(&format!("{method} /databases/db/queries"), &request(method, query));
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let id = answer.json().get("OperationId").and_then(json::Value::as_i64).unwrap();
    wire.ended(id).text()
}

/// The numbers of the documents that a change left as they were.
fn untouched(wire: &Wire) -> Vec<i64> {
    let answer = wire.call("GET /databases/db/docs?startsWith=ts/", "").json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let numbers = results.iter().filter(|result| result.get("Done").is_none());
    numbers.map(|result| result.get("N").and_then(json::Value::as_i64).unwrap()).collect()
}

#[track_caller]
fn check(query: &str, expected: &[i64]) {
    for method in ["DELETE", "PATCH"] {
        let wire = with_numbers();
        let state = change(&wire, method, query);
        let count = 10 - expected.len();
        assert!(state.contains(&format!(r#""Total":{count},"#)), "{method} {query}: {state}");
        assert_eq!(untouched(&wire), expected, "{method} {query}");
    }
}

#[test]
fn a_filter_chooses_what_is_changed() {
    check("from Ts filter N < 7", &[7, 8, 9]);
    check("from Ts where N > 2 filter N < 7", &[0, 1, 2, 7, 8, 9]);
    check("from index 'F' where N > 2 filter N < 7", &[0, 1, 2, 7, 8, 9]);
    check("from Ts as t load 'ts/7' as s filter t.N < s.N", &[7, 8, 9]);
}

/// An index has two entries for each document.
#[test]
fn a_document_with_several_entries_is_changed_once() {
    check("from index 'F' where N < 8", &[8, 9]);
    check("from index 'F' order by N as long limit 3", &[3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn stop_words_of_a_document_count() {
    for method in ["DELETE", "PATCH"] {
        let wire = Wire::with_database();
        for (number, text) in ["a cake and a test", "a test", "a cake"].iter().enumerate() {
            wire.put(
                &format!("ts/{number}"),
                &format!(r#"{{"N":{number},"B":"{text}","@metadata":{{"@collection":"Ts"}}}}"#),
            );
        }
        wire.put("stop/1", r#"{"StopWords":["cake"],"@metadata":{"@collection":"Stops"}}"#);
        let index = r#"{"Name":"I","Maps":["from t in docs.Ts select new { t.B }"],"Fields":{"B":{"Indexing":"Search","TermVector":"Yes"}}}"#;
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &format!(r#"{{"Indexes":[{index}]}}"#)).status, 201);
        let options =
            r#"'{\"StopWordsDocumentId\":\"stop/1\",\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1}'"#;
        let state = change(&wire, method, &format!("from index 'I' where moreLikeThis(id() = 'ts/0', {options})"));
        assert!(state.contains(r#""Total":1,"#), "{method}: {state}");
        // "cake" is no word that documents are alike by.
        assert_eq!(untouched(&wire), [0, 2], "{method}");
    }
}

#[test]
fn what_has_no_documents_is_refused_alike() {
    let wire = with_numbers();
    let version = env!("CARGO_PKG_VERSION");
    let map = r#"["from t in docs.Ts select new { t.N, Count = 1 }"]"#;
    let reduce = "from r in results group r by r.N into g select new { N = g.Key, Count = g.Sum(x => x.Count) }";
    let indexes = format!(r#"{{"Indexes":[{{"Name":"R","Maps":{map},"Reduce":"{reduce}"}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &indexes).status, 201);
    for (method, form, done) in
        [("DELETE", "'explain' in a deletion", "deleted"), ("PATCH", "'update' with 'explain'", "patched")]
    {
        let line = format!("{method} /databases/db/queries");
        let message = format!("Rookery {version} does not support {form} yet");
        wire.check_error(&line, &request(method, "explain from Ts where N > 2"), 501, "RavenException", &message);
        let message = format!("The results of an index with a reduce cannot be {done}");
        wire.check_error(&line, &request(method, "from index 'R'"), 400, "InvalidOperationException", &message);
        let message = "The field 'Nope' is not indexed in 'F'";
        wire.check_error(&line, &request(method, "from index 'F' where Nope = 1"), 400, "ArgumentException", message);
    }
    assert_eq!(untouched(&wire).len(), 10);
}
