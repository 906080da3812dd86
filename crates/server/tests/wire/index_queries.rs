//! `/databases/{name}/queries` and `streams/queries`: what indexes answer, as the reference does unless said otherwise.

use std::collections::BTreeSet;

use super::support::Wire;

/// One document for each value of `V`, in this order; `-` has none. Their ids are `ts/0` and so on.
fn with_values(values: &[&str]) -> Wire {
    let wire = Wire::with_database();
    for (number, value) in values.iter().enumerate() {
        let property = if *value == "-" { String::new() } else { format!("\"V\":{value},") };
        wire.put(&format!("ts/{number}"), &format!("{{{property}\"@metadata\":{{\"@collection\":\"Ts\"}}}}"));
    }
    wire.put("others/1", r#"{"V":"ann","@metadata":{"@collection":"Others"}}"#);
    wire
}

fn body(text: &str, parameters: &str) -> String {
    let text = text.replace('"', "\\\"");
    format!("{{\"Query\":\"{text}\",\"QueryParameters\":{parameters},\"WaitForNonStaleResults\":true}}")
}

#[track_caller]
fn query(wire: &Wire, text: &str, parameters: &str) -> json::Value {
    let answer = wire.call("POST /databases/db/queries", &body(text, parameters));
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    let answer = answer.json();
    assert_eq!(answer.get("IsStale"), Some(&json::Value::Bool(false)), "{text}");
    answer
}

/// The values of `V` that are found, in their order, as JSON; `-` where there is none.
#[track_caller]
fn check(wire: &Wire, text: &str, expected: &str) {
    check_with(wire, text, r#"{"nine":9,"text":"ANN","list":["bob",10],"none":null,"yes":true}"#, expected);
}

#[track_caller]
fn check_with(wire: &Wire, text: &str, parameters: &str, expected: &str) {
    let answer = query(wire, text, parameters);
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let value = |document: &json::Value| match document.get("V") {
        Some(value) => String::from_utf8(value.to_vec()).unwrap(),
        None => "-".to_owned(),
    };
    assert_eq!(results.iter().map(value).collect::<Vec<_>>().join(" "), expected, "{text}");
}

const MIXED: [&str; 18] = [
    "\"Ann\"",
    "\"bob\"",
    "\"10\"",
    "10",
    "10.0",
    "10.5",
    "9",
    "null",
    "-",
    "\"\"",
    "true",
    "false",
    "[\"x\",\"Y\",3,null]",
    "[]",
    "{\"P\":\"Q\",\"N\":1.50}",
    "[{\"P\":1},{\"P\":\"two\"}]",
    "-3",
    "\"Zed\"",
];

#[test]
fn equality_is_that_of_terms() {
    let wire = with_values(&MIXED);
    check(&wire, "from Ts where V = 'ANN'", r#""Ann""#);
    check(&wire, "from ts where V = $text", r#""Ann""#);
    check(&wire, "from @all_docs where V = $text", r#""Ann" "ann""#);
    check(&wire, "from Ts where V = '10'", r#""10" 10 10.0"#);
    // The reference finds 10.5 as well, whose whole part it compares.
    check(&wire, "from Ts where V = 10", "10 10.0");
    check(&wire, "from Ts where V = 10.0", "10 10.0");
    check(&wire, "from Ts where V = '10.0'", "");
    check(&wire, "from Ts where V = null", r#"null ["x","Y",3,null]"#);
    check(&wire, "from Ts where V = $none", r#"null ["x","Y",3,null]"#);
    check(&wire, "from Ts where V = ''", r#""""#);
    check(&wire, "from Ts where V = 'TRUE'", "true");
    check(&wire, "from Ts where V = $yes", "true");
    check(&wire, "from Ts where V = 3", r#"["x","Y",3,null]"#);
    check(&wire, "from Ts where V != 'bob' and V < 10", r#"9 ["x","Y",3,null] -3"#);
    check(&wire, "from Ts where V != null and not exists(V)", "- []");
    check(&wire, "from Ts where V in ($list, false)", r#""bob" 10 10.0 false"#);
    check(&wire, "from Ts where V in ()", "");
    check(&wire, "from Ts where V all in ('x', 'y', 3)", r#"["x","Y",3,null]"#);
    check(&wire, "from Ts where exact(V = 'zed')", "");
    check(&wire, "from Ts where exact(V = 'Zed')", r#""Zed""#);
    check(&wire, "from Ts where exact(V in ('Zed', 'ann'))", r#""Zed""#);
}

#[test]
fn paths_lead_into_objects_and_arrays() {
    let wire = with_values(&MIXED);
    check(&wire, "from Ts where V.P = 'q'", r#"{"P":"Q","N":1.50}"#);
    check(&wire, "from Ts where V.N = '1.5'", r#"{"P":"Q","N":1.50}"#);
    for path in ["V.P", "V[].P"] {
        check(&wire, &format!("from Ts as t where t.{path} = 1"), r#"[{"P":1},{"P":"two"}]"#);
    }
    // Both spellings in one index, each with all values.
    check(&wire, "from Ts where V[].P = 'two' and V.P = 'two'", r#"[{"P":1},{"P":"two"}]"#);
    check(&wire, "from Ts where V.Length = 4", r#"["x","Y",3,null]"#);
    check(&wire, "from Ts where '@metadata'.'@id' = 'TS/3'", "10");
    check(&wire, "from Ts where '@metadata'.'@last-modified' > '2020' and V = 9", "9");
}

#[test]
fn ranges_are_of_numbers_or_of_texts() {
    let wire = with_values(&MIXED);
    check(&wire, "from Ts where V > $nine", "10 10.0 10.5");
    check(&wire, "from Ts where V >= 9.0 and V < 10.5", "10 10.0 9");
    check(&wire, "from Ts where V between -3 and 9", r#"9 ["x","Y",3,null] -3"#);
    check(&wire, "from Ts where V between 'a' and 'c'", r#""Ann" "bob""#);
    check(&wire, "from Ts where startsWith(V, 'ZE')", r#""Zed""#);
    check(&wire, "from Ts where endsWith(V, '0')", r#""10" 10 10.0"#);
    check(&wire, "from Ts where regex(V, '^[AZ]')", r#""Ann" "Zed""#);
    check(&wire, "from Ts where exact(startsWith(V, 'z'))", "");
    check(&wire, "from Ts where startsWith(id(), 'ts/1') and V = false", "false");
    check(&wire, "from Ts where id() = 'ts/0' or V = 'bob'", r#""Ann" "bob""#);
}

#[test]
fn results_come_in_every_order() {
    let wire = with_values(&["\"b\"", "\"a10\"", "null", "\"A9\"", "-", "\"é\"", "\"c\""]);
    check(&wire, "from Ts order by V", r#"- null "a10" "A9" "b" "c" "é""#);
    check(&wire, "from Ts order by V desc", r#""é" "c" "b" "A9" "a10" null -"#);
    check(&wire, "from Ts order by V as alphaNumeric", r#"- null "A9" "a10" "b" "c" "é""#);
    check(&wire, "from Ts order by V limit 2, 2", r#""a10" "A9""#);
    check(&wire, "from Ts order by score(), id() desc limit 2", r#""c" "é""#);
    let wire = with_values(&["30", "7", "null", "7.5", "-", "1e2"]);
    check(&wire, "from Ts order by V as long", "- null 7 7.5 30 1e2");
    check(&wire, "from Ts order by V as double desc", "1e2 30 7.5 7 null -");
    check(&wire, "from Ts where exists(V) order by V as double desc, id()", "1e2 30 7.5 7 null");
    // Without a word numbers are texts, as with the reference.
    check(&wire, "from Ts where V != null and exists(V) order by V", "1e2 30 7 7.5");
    let shuffled =
        |seed: u32| query(&wire, &format!("from Ts order by random('{seed}')"), "null").get("Results").cloned();
    assert_eq!(shuffled(1), shuffled(1));
    assert!((0..9).any(|seed| shuffled(seed) != shuffled(9)), "another seed is another order");
}

#[test]
fn chance_without_a_seed_is_another_one_with_each_request() {
    let values: Vec<String> = (0..20).map(|value| value.to_string()).collect();
    let wire = with_values(&values.iter().map(String::as_str).collect::<Vec<_>>());
    let asked = body("from Ts order by random()", "null");
    let orders: BTreeSet<String> = (0..5)
        .map(|_| {
            let answer = wire.call("POST /databases/db/queries", &asked).json();
            format!("{:?}", answer.get("Results").unwrap())
        })
        .collect();
    assert!(orders.len() > 1, "five times the same order of twenty");
    let etag = wire.call("POST /databases/db/queries", &asked).header("etag").unwrap().to_owned();
    let header = format!("If-None-Match: \"{etag}\"");
    assert_eq!(
        wire.call_with("POST /databases/db/queries", &[&header], asked.as_bytes()).status,
        200,
        "it has changed"
    );
    let page = wire.call("POST /databases/db/queries", &body("from Ts order by random() limit 7, 5", "null")).json();
    let Some(json::Value::Array(page)) = page.get("Results") else { panic!("{page:?}") };
    assert_eq!(page.iter().map(|result| result.to_vec()).collect::<BTreeSet<_>>().len(), 5);
    let stream = wire.call("POST /databases/db/streams/queries", r#"{"Query":"from Ts order by random()"}"#).text();
    assert!((0..20).all(|number| stream.contains(&format!("\"@id\":\"ts/{number}\""))), "{stream}");
}

#[test]
fn statistics_and_pages_are_those_of_all_that_is_found() {
    let wire = with_values(&MIXED);
    let text = "from Ts where exists(V) order by V limit 3, 2";
    let answer = wire.call("POST /databases/db/queries", &body(text, "null"));
    let etag = answer.header("etag").unwrap().to_owned();
    // Making the index takes what it takes.
    let (before, after) =
        answer.masked().split_once("\"DurationInMs\":").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let text = before + after.split_once(',').unwrap().1;
    let expected = format!(
        concat!(
            r#"{{"TotalResults":16,"CappedMaxResults":2,"ScannedResults":0,"SkippedResults":0,"IncludedPaths":null,"IndexName":"Auto/Ts/ByV","#,
            r#""Results":[{{"V":"10","@metadata":{{"@collection":"Ts","@change-vector":"A:3-ID","@id":"ts/2","@index-score":1,"@last-modified":"DATE"}}}},"#,
            r#"{{"V":10,"@metadata":{{"@collection":"Ts","@change-vector":"A:4-ID","@id":"ts/3","@index-score":1,"@last-modified":"DATE"}}}}],"#,
            r#""Includes":{{}},"IndexTimestamp":"DATE","LastQueryTime":"DATE","IsStale":false,"ResultEtag":{},"NodeTag":"A"}}"#
        ),
        etag
    );
    assert_eq!(text, expected);
    let header = format!("If-None-Match: \"{etag}\"");
    let again = |wire: &Wire| {
        let text = body("from Ts where exists(V) order by V limit 3, 2", "null");
        wire.call_with("POST /databases/db/queries", &[&header], text.as_bytes()).status
    };
    assert_eq!(again(&wire), 304);
    wire.put("others/2", r#"{"V":1,"@metadata":{"@collection":"Others"}}"#);
    assert_eq!(again(&wire), 304, "another collection");
    wire.call("DELETE /databases/db/docs?id=ts/0", "");
    assert_eq!(again(&wire), 200);
}

#[test]
fn includes_come_with_what_an_index_finds() {
    let wire = with_values(&["\"others/1\""]);
    let answer = query(&wire, "from Ts where V = 'others/1' include V", "null");
    assert!(answer.get("Includes").unwrap().get("others/1").is_some(), "{answer:?}");
}

#[test]
fn writes_and_deletions_are_seen_by_who_waits() {
    let wire = with_values(&["1", "2"]);
    for round in 3..40 {
        wire.put("ts/x", &format!(r#"{{"V":{round},"@metadata":{{"@collection":"Ts"}}}}"#));
        check(&wire, "from Ts where V > 2", &round.to_string());
        check(&wire, "from Ts where V < 3", "1 2");
    }
    wire.call("DELETE /databases/db/docs?id=ts/x", "");
    check(&wire, "from Ts where V > 2", "");
    wire.put("ts/x", r#"{"V":7,"@metadata":{"@collection":"Ts"}}"#);
    check(&wire, "from Ts where V > 2", "7");
}

#[test]
fn streams_give_what_an_index_finds() {
    let wire = with_values(&MIXED);
    check(&wire, "from Ts where V = 10", "10 10.0");
    let line = "POST /databases/db/streams/queries";
    let text = wire.call(line, &body("from Ts where V = 10 order by id() desc", "null")).masked();
    let start =
        r#""IsStale":false,"IndexName":"Auto/Ts/ByV","TotalResults":2,"IndexTimestamp":"DATE","Results":[{"V":10.0,"#;
    assert!(text.contains(start), "{text}");
    let lines = wire.call(&format!("{line}?format=jsonl"), &body("from Ts where V = 10", "null")).text();
    assert_eq!(lines.matches("{\"Item\":{\"V\":10").count(), 2, "{lines}");
}

#[test]
fn a_deletion_deletes_what_an_index_finds() {
    let wire = with_values(&MIXED);
    let id = wire.call("DELETE /databases/db/queries", &body("from Ts where V > 5", "null"));
    assert!(id.text().starts_with(r#"{"OperationId":"#), "{}", id.text());
    let state = wire.ended(1).text();
    let message = r#""Total":4,"Message":"Processed 4 items.""#;
    assert!(state.contains("Completed") && state.contains(message), "{state}");
    check(&wire, "from Ts where V > -100", r#"["x","Y",3,null] -3"#);
}

#[test]
fn what_an_index_cannot_answer_is_refused() {
    let wire = with_values(&MIXED);
    let post = "POST /databases/db/queries";
    check(&wire, "from Ts where V = 10", "10 10.0");
    check(&wire, "from index 'Auto/Ts/ByV' where V = 10", "10 10.0");
    check(&wire, "from index 'auto/ts/byv'  where V = 9", "9");
    let message = "The field 'W' is not indexed in 'Auto/Ts/ByV', cannot query/sort on fields that are not indexed in query: from index";
    wire.check_error(
        post,
        &body("from index 'Auto/Ts/ByV' where W = 1", "null"),
        400,
        "System.ArgumentException",
        message,
    );
    wire.check(post, &body("from index 'Nope' where W = 1", "null"), 404, "");
    wire.put("ts/long", &format!(r#"{{"V":"{}","@metadata":{{"@collection":"Ts"}}}}"#, "x".repeat(600)));
    wire.check_error(
        post,
        &body("from Ts where endsWith(V, 'x')", "null"),
        400,
        "ArgumentException",
        "the field 'V' has texts over",
    );
    let message = "There is no sorter with 'Mine' name.";
    wire.check_error(
        post,
        &body("from Ts order by custom(V, 'Mine')", "null"),
        400,
        "SorterDoesNotExistException",
        message,
    );
    check(&wire, "from Ts where startsWith(V, 'xxx') and V > 'y'", "");
    for milliseconds in ["15000", "1500.5", "-5"] {
        let wait = format!(r#""WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":{milliseconds}"#);
        let answer = wire.call(post, &format!(r#"{{"Query":"from Ts where V = 9",{wait}}}"#));
        assert!(answer.status == 200 && answer.text().contains(r#""TotalResults":1,"#), "{}", answer.text());
    }
    for (option, message) in [
        (r#""WaitForNonStaleResults":7"#, "'WaitForNonStaleResults' must be true or false"),
        (r#""WaitForNonStaleResultsTimeout":"abc""#, "'WaitForNonStaleResultsTimeout' must be a time span"),
        (
            r#""WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"soon""#,
            "'WaitForNonStaleResultsTimeout' must be a time span",
        ),
        (
            r#""WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":1e300"#,
            "'WaitForNonStaleResultsTimeout' must be a time span",
        ),
    ] {
        wire.check_error(
            post,
            &format!(r#"{{"Query":"from Ts where V = 1",{option}}}"#),
            400,
            "ArgumentException",
            message,
        );
    }
}

/// As the reference with its first engine.
#[test]
fn entries_are_given_in_place_of_results() {
    let wire = Wire::with_database();
    let user = r#"{"Name":"Ann Bee","Age":33,"H":1.50,"Nul":null,"T":true,"Tags":["B","a"],"E":[],"@metadata":{"@collection":"Users"}}"#;
    wire.put("users/1", user);
    wire.put("users/2", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#);
    let map = "from u in docs.Users select new { u.Name, u.Age, u.H, u.Nul, u.T, u.Tags, u.E }";
    let words = r#"{"Name":{"Indexing":"Search"}}"#;
    let reduce = "from r in results group r by r.Name into g select new { Name = g.Key, C = g.Sum(x => x.C) }";
    let grouped =
        format!(r#"{{"Name":"R","Maps":["from u in docs.Users select new {{ u.Name, C = 1 }}"],"Reduce":"{reduce}"}}"#);
    let body = format!(r#"{{"Indexes":[{{"Name":"I","Maps":["{map}"],"Fields":{words}}},{grouped}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
    let post = "POST /databases/db/queries?debug=entries";
    let check = |query: &str, expected: &str| {
        let answer = wire.call(post, &format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#)).text();
        let (_, results) = answer.split_once("\"Results\":").unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(results.split_once(",\"Includes\":{}").unwrap().0, expected, "{query}");
    };
    let ann = r#"{"Age":"33","H":"1.5","Name":["ann","bee"],"Nul":"NULL_VALUE","T":"true","Tags":["a","b"],"id()":"users/1"}"#;
    let bob = r#"{"Name":"bob","id()":"users/2"}"#;
    check("from index 'I'", &format!("[{ann},{bob}]"));
    check("from index 'I' where Name = 'bob' select Age", &format!("[{bob}]"));
    check("from index 'I' limit 1", &format!("[{ann}]"));
    check("from index 'R'", r#"[{"C":"1","Name":"ann bee"},{"C":"1","Name":"bob"}]"#);
    check("from Users where Age = 33", r#"[{"Age":"33","id()":"users/1"}]"#);
    let none = "A query over a collection asks no index, so that there are no entries";
    wire.check_error(post, r#"{"Query":"from Users"}"#, 400, "InvalidOperationException", none);
    let message = format!("Rookery {} does not support debug=entries with facet() yet", env!("CARGO_PKG_VERSION"));
    let facet = r#"{"Query":"from index 'I' select facet(Age)"}"#;
    wire.check_error(post, facet, 501, "RavenException", &message);
}

/// The reference takes such numbers in parameters only, where they are refused here as in all JSON.
#[test]
fn a_number_beyond_all_numbers_has_them_on_one_side() {
    let wire = with_values(&["0", "10.5", "-7", "1e300", "\"2\"", "null"]);
    let all = "-7 0 10.5 1e300";
    for (condition, expected) in [
        ("V >= 1e400", ""),
        ("V <= 1e400", all),
        ("V < 1e400", all),
        ("V >= -1e400", all),
        ("V < -1e400", ""),
        ("V between -1e400 and 0", "-7 0"),
        ("V between 1 and 1e400", "10.5 1e300"),
        ("V = 1e400", ""),
    ] {
        check(&wire, &format!("from Ts where {condition} order by V as double"), expected);
    }
}

#[test]
fn pages_are_whole_numbers_from_0_on() {
    let wire = with_values(&["1", "2", "3"]);
    let post = "POST /databases/db/queries";
    for query in ["from Ts", "from Ts where V > 0 order by V"] {
        check_with(&wire, &format!("{query} limit $p"), r#"{"p":2}"#, "1 2");
        check_with(&wire, &format!("{query} limit 9223372036854775807 offset $p"), r#"{"p":1}"#, "2 3");
        check_with(&wire, &format!("{query} limit $p, 99999999999999999999"), r#"{"p":null}"#, "1 2 3");
        check_with(&wire, &format!("{query} limit 0"), "{}", "");
        for (page, parameters, message) in [
            ("limit -1", "{}", "Limit (PageSize) cannot be negative, but was -1."),
            ("offset -1", "{}", "Offset (Start) cannot be negative, but was -1."),
            ("limit 1, -1", "{}", "Limit (PageSize) cannot be negative, but was -1."),
            ("limit -1, 1", "{}", "Offset (Start) cannot be negative, but was -1."),
            ("limit $p", r#"{"p":-7}"#, "Limit (PageSize) cannot be negative, but was -7."),
            ("limit 2 offset $p", r#"{"p":-1}"#, "Offset (Start) cannot be negative, but was -1."),
            ("limit 1.5", "{}", "Limit (PageSize) should be a whole number, but was 1.5."),
            ("limit $p", r#"{"p":1.5}"#, "Limit (PageSize) should be a whole number, but was 1.5."),
            ("offset $p", r#"{"p":"2"}"#, "Offset (Start) should be a whole number, but was '2'."),
            ("limit $p", r#"{"p":true}"#, "The parameter 'p' must be a number"),
        ] {
            let body = body(&format!("{query} {page}"), parameters);
            wire.check_error(post, &body, 400, "InvalidQueryException", message);
        }
    }
    let filtered = body("from Ts filter V > 0 filter_limit -1", "{}");
    wire.check_error(post, &filtered, 400, "InvalidQueryException", "FILTER_LIMIT cannot be negative, but was -1.");
}

#[test]
fn a_query_that_waits_for_a_stopped_index_is_told_what_there_is() {
    let wire = with_values(&["1"]);
    check(&wire, "from Ts where V > 0", "1");
    for (stop, start) in
        [("stop?name=Auto/Ts/ByV", "start?name=Auto/Ts/ByV"), ("disable?name=Auto/Ts/ByV", "enable?name=Auto/Ts/ByV")]
    {
        let stopped = wire.call(&format!("POST /databases/db/admin/indexes/{stop}"), "");
        assert!(stopped.status < 300, "{}", stopped.text());
        wire.put("ts/new", r#"{"V":2,"@metadata":{"@collection":"Ts"}}"#);
        // As long as a query may wait at most.
        let body = r#"{"Query":"from Ts where V > 0","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"1.00:00:00"}"#;
        let answer = wire.call("POST /databases/db/queries", body).json();
        assert_eq!(answer.get("IsStale"), Some(&json::Value::Bool(true)));
        assert_eq!(answer.get("TotalResults").and_then(json::Value::as_i64), Some(1));
        assert!(wire.call(&format!("POST /databases/db/admin/indexes/{start}"), "").status < 300);
        check(&wire, "from Ts where V > 0", "1 2");
        wire.call("DELETE /databases/db/docs?id=ts/new", "");
        check(&wire, "from Ts where V > 0", "1");
    }
}
