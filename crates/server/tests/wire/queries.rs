//! `/databases/{name}/queries`: collections and ids.

use super::support::Wire;

fn with_users() -> Wire {
    let wire = Wire::with_database();
    for (id, friend) in [("users/1", "pets/1"), ("users/2", "users/1"), ("users/3", "none")] {
        wire.put(id, &format!(r#"{{"F":"{friend}","@metadata":{{"@collection":"Users"}}}}"#));
    }
    wire.put("pets/1", r#"{"@metadata":{"@collection":"Pets"}}"#);
    wire
}

fn query(wire: &Wire, text: &str) -> json::Value {
    let answer = wire.call("POST /databases/db/queries", &format!("{{\"Query\":\"{text}\"}}"));
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    answer.json()
}

/// Ids in order, `TotalResults`, `CappedMaxResults`.
#[track_caller]
fn check(wire: &Wire, text: &str, ids: &[&str], total: i64, capped: Option<i64>) {
    let answer = query(wire, text);
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let id = |document: &json::Value| document.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
    let found: Vec<String> = results.iter().map(|document| id(document).unwrap()).collect();
    assert_eq!(found, ids, "{text}");
    let number = |name: &str| answer.get(name).and_then(json::Value::as_i64);
    assert_eq!((number("TotalResults"), number("CappedMaxResults")), (Some(total), capped), "{text}");
}

#[test]
fn the_answer_has_the_shape_and_order_that_clients_know() {
    let wire = with_users();
    let answer = wire.call("POST /databases/db/queries", r#"{"Query":"from users as u include u.F limit 1"}"#);
    let text = answer.masked();
    let (before, duration) = text.split_once(r#""DurationInMs":"#).unwrap();
    // On a busy machine it takes longer.
    let text =
        format!(r#"{before}"DurationInMs":0{}"#, duration.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let etag = answer.header("etag").unwrap().to_owned();
    let expected = format!(
        concat!(
            r#"{{"TotalResults":3,"CappedMaxResults":1,"ScannedResults":0,"SkippedResults":0,"DurationInMs":0,"IncludedPaths":["F"],"IndexName":"collection/users","#,
            r#""Results":[{{"F":"pets/1","@metadata":{{"@collection":"Users","@change-vector":"A:1-ID","@id":"users/1","@last-modified":"DATE"}}}}],"#,
            r#""Includes":{{"pets/1":{{"@metadata":{{"@collection":"Pets","@change-vector":"A:4-ID","@id":"pets/1","@last-modified":"DATE"}}}}}},"#,
            r#""IndexTimestamp":"0001-01-01T00:00:00.0000000","LastQueryTime":"0001-01-01T00:00:00.0000000","IsStale":false,"ResultEtag":{},"NodeTag":"A"}}"#
        ),
        etag
    );
    assert_eq!(text, expected);
    assert!(answer.header("request-time").is_some());
    let header = format!("If-None-Match: \"{etag}\"");
    let again =
        wire.call_with("POST /databases/db/queries", &[&header], br#"{"Query":"from users as u include u.F limit 1"}"#);
    assert_eq!((again.status, again.body.len()), (304, 0));
    wire.put("pets/1", r#"{"New":1,"@metadata":{"@collection":"Pets"}}"#);
    let changed =
        wire.call_with("POST /databases/db/queries", &[&header], br#"{"Query":"from users as u include u.F limit 1"}"#);
    assert_eq!(changed.status, 200, "what is included changed");
}

/// Results are those of the reference.
#[test]
fn a_parameter_may_be_beyond_a_double() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"N":1,"@metadata":{"@collection":"Users"}}"#);
    let ask = |query: &str, value: &str| {
        let query = format!(
            r#"{{"Query":"from Users {query}","QueryParameters":{{"p":{value}}},"WaitForNonStaleResults":true}}"#
        );
        let answer = wire.call("POST /databases/db/queries", &query);
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.text()
    };
    for (query, value, count) in [
        ("where N = $p", "1e400", 0),
        ("where N < $p", "1e400", 1),
        ("where N < $p", "-1E+400", 0),
        ("where N in ($p)", "[1e400]", 0),
        ("filter N < $p", "1e400", 1),
        ("filter N < $p", "-1e400", 0),
    ] {
        let text = ask(query, value);
        assert!(text.starts_with(&format!("{{\"TotalResults\":{count},")), "{query} {value}: {text}");
    }
    assert!(ask("select $p as X", "1e400").contains(r#""Results":[{"X":1e400,"#));
    assert!(ask("as u select { X: $p, Y: $p > 5 }", "1e400").contains(r#""Results":[{"X":"Infinity","Y":true,"#));
    // It would become part of a document.
    let patch = r#"{"Query":{"Query":"from Users update { this.X = $p }","QueryParameters":{"p":[1e400]}}}"#;
    let (exception, message) =
        ("BadRequestException", "the number is out of the range of a double (line 1, column 79)");
    wire.check_error("PATCH /databases/db/queries", patch, 400, exception, message);
}

#[test]
fn collections_and_ids_are_found_as_the_reference_finds_them() {
    let wire = with_users();
    check(&wire, "from Users", &["users/1", "users/2", "users/3"], 3, None);
    check(&wire, "from @all_docs", &["users/1", "users/2", "users/3", "pets/1"], 4, None);
    check(&wire, "from Users limit 10", &["users/1", "users/2", "users/3"], 3, Some(3));
    check(&wire, "from Users limit 1, 1", &["users/2"], 3, Some(1));
    check(&wire, "from Users offset 1", &["users/2", "users/3"], 3, Some(2));
    check(&wire, "from Users limit 0", &[], 3, Some(0));
    check(&wire, "from Nope", &[], 0, None);
    check(&wire, "from Users where id() in ('users/3', 'users/1', 'nope', 'pets/1')", &["users/1", "users/3"], 2, None);
    check(&wire, "from @all_docs where id() = 'PETS/1'", &["pets/1"], 1, None);
    check(&wire, "from Users where startsWith(id(), 'u')", &["users/1", "users/2", "users/3"], 3, None);
    check(&wire, "from Users where startsWith(id(), 'u') limit 1", &["users/1"], -1, Some(1));
    check(&wire, "from Users order by id() desc", &["users/3", "users/2", "users/1"], 3, None);
    check(&wire, "from @all_docs order by id()", &["pets/1", "users/1", "users/2", "users/3"], 4, None);
    check(&wire, "from @all_docs order by id() limit 1", &["pets/1"], 4, Some(1));
}

#[test]
fn results_follow_the_order_of_writing() {
    let wire = with_users();
    wire.put("users/1", r#"{"New":1,"@metadata":{"@collection":"Users"}}"#);
    check(&wire, "from Users", &["users/2", "users/3", "users/1"], 3, None);
}

#[test]
fn parameters_and_pages_of_the_request_count() {
    let wire = with_users();
    let body = r#"{"Query":"from Users where id() in ($ids) limit $skip, $take","QueryParameters":{"ids":["users/1","users/2"],"skip":null,"take":1}}"#;
    assert!(wire.call("POST /databases/db/queries", body).text().contains("users/1"));
    let page = wire.call("GET /databases/db/queries?query=from%20Users&start=1&pageSize=1", "").text();
    assert!(page.contains("users/2") && !page.contains("users/3"), "{page}");
    let page = wire.call("POST /databases/db/queries", r#"{"Query":"from Users","Start":0,"PageSize":1}"#).text();
    assert!(page.contains("users/1") && !page.contains("users/2"), "{page}");
    assert!(!page.contains("CappedMaxResults"), "only a limit in the text says so: {page}");
    for (limit, page, expected) in [
        ("limit 1, 2", r#""Start":0,"PageSize":1"#, "users/2"),
        ("limit 2", r#""Start":2,"PageSize":9"#, "users/3"),
        ("offset 1", r#""Start":1,"PageSize":1"#, "users/2"),
    ] {
        let body = format!(r#"{{"Query":"from Users {limit}",{page}}}"#);
        let answer = wire.call("POST /databases/db/queries", &body).text();
        let found = ["users/1", "users/2", "users/3"].map(|id| answer.contains(&format!(r#""@id":"{id}""#)));
        assert_eq!(found, ["users/1", "users/2", "users/3"].map(|id| id == expected), "{body}: {answer}");
    }
    let metadata = wire.call("POST /databases/db/queries?metadataOnly=true", r#"{"Query":"from Users"}"#).text();
    assert!(!metadata.contains("\"F\""), "{metadata}");
}

#[test]
fn the_etag_follows_writes_to_the_collection() {
    let wire = with_users();
    let etag =
        || wire.call("POST /databases/db/queries", r#"{"Query":"from Users"}"#).header("etag").unwrap().to_owned();
    let first = etag();
    wire.put("pets/2", r#"{"@metadata":{"@collection":"Pets"}}"#);
    assert_eq!(etag(), first, "another collection");
    wire.call("DELETE /databases/db/docs?id=users/1", "");
    assert_ne!(etag(), first);
}

#[test]
fn what_is_not_there_is_told_from_what_is_wrong() {
    let wire = with_users();
    let post = "POST /databases/db/queries";
    let version = env!("CARGO_PKG_VERSION");
    for (text, feature) in [
        ("from Users filter search(Name, 'x')", "search() in 'filter'"),
        ("from Users where vector.search(embedding.text(Name), 'x')", "embedding.text() in vector.search()"),
    ] {
        let message = format!("Rookery {version} does not support {feature} yet");
        wire.check_error(post, &format!("{{\"Query\":\"{text}\"}}"), 501, "RavenException", &message);
    }
    wire.check(post, r#"{"Query":"from index 'Users/ByName'"}"#, 404, "");
    wire.check_error(
        post,
        r#"{"Query":"from Users where"}"#,
        400,
        "QueryParser+ParseException",
        "1:17 Unable to parse WHERE clause but got to the end of the query\nQuery: from Users where",
    );
    let message = "1:22 Expected operator after 'Name' field, but found nothing";
    wire.check_error(post, r#"{"Query":"from Users where Name"}"#, 400, "InvalidQueryException", message);
    wire.check_error(
        post,
        r#"{"Query":"from Users where id() = $p"}"#,
        400,
        "InvalidQueryException",
        "The query is parametrized",
    );
    for body in ["{}", "", r#"{"Query":""}"#] {
        wire.check_error(post, body, 400, "InvalidOperationException", "Index query does not contain 'Query' field.");
    }
}

#[test]
fn a_query_deletes_what_it_finds_in_the_background() {
    let wire = with_users();
    wire.check(
        "DELETE /databases/db/queries",
        r#"{"Query":"from Users"}"#,
        200,
        r#"{"OperationId":1,"OperationNodeTag":"A"}"#,
    );
    let state = wire.ended(1).text();
    let message = r#""Total":3,"Message":"Processed 3 items.""#;
    assert!(state.contains("Completed") && state.contains(message), "{state}");
    check(&wire, "from @all_docs", &["pets/1"], 1, None);
}

#[test]
fn deletions_are_slowed_down_and_tell_of_each_document() {
    let wire = with_users();
    let begun = std::time::Instant::now();
    wire.call("DELETE /databases/db/queries?details=true&maxOpsPerSec=20", r#"{"Query":"from Users"}"#);
    let state = wire.ended(1).text();
    assert!(state.contains("Completed"), "{state}");
    let detail = |id: &str| {
        let kind = "Raven.Client.Documents.Operations.BulkOperationResult+DeleteDetails, Raven.Client";
        format!(r#"{{"$type":"{kind}","Id":"{id}","Etag":null}}"#)
    };
    let expected = format!(r#""Details":[{},{},{}]"#, detail("users/1"), detail("users/2"), detail("users/3"));
    assert!(state.contains(&expected), "{state}");
    assert!(begun.elapsed().as_millis() >= 140, "3 at 20 per second");
}

#[test]
fn what_a_query_asks_for_works_or_is_refused() {
    let wire = with_users();
    let version = env!("CARGO_PKG_VERSION");
    for (line, feature) in [
        ("POST /databases/db/queries?debug=graph", "the query form debug=graph"),
        ("POST /databases/db/queries?includeServerSideQuery=true", "the query option 'includeServerSideQuery'"),
    ] {
        let message = format!("Rookery {version} does not support {feature} yet");
        wire.check_error(line, r#"{"Query":"from Users"}"#, 501, "RavenException", &message);
    }
    for (body, message) in [
        (r#"{"Query":"from Users","PageSize":"x"}"#, "'PageSize' must be a whole number from 0 on"),
        (r#"{"Query":"from Users","Start":-1}"#, "'Start' must be a whole number from 0 on"),
        (r#"{"Query":"from Users","QueryParameters":5}"#, "'QueryParameters' must be an object"),
    ] {
        for line in ["POST /databases/db/queries", "POST /databases/db/streams/queries", "DELETE /databases/db/queries"]
        {
            wire.check_error(line, body, 400, "ArgumentException", message);
        }
    }
    check(&wire, "from Users", &["users/1", "users/2", "users/3"], 3, None);
    assert_eq!(
        wire.call("POST /databases/db/queries?includeServerSideQuery=false", r#"{"Query":"from Users"}"#).status,
        200
    );
}

#[test]
fn conditions_nest_256_levels_deep() {
    let wire = with_users();
    let nested = |depth: usize| format!("from Users where {}id() = 'users/1'{}", "(".repeat(depth), ")".repeat(depth));
    // The call of id() is a level too.
    check(&wire, &nested(255), &["users/1"], 1, None);
    let body = format!("{{\"Query\":\"{}\"}}", nested(256));
    let message = "1:276 Query is too complex, over 256 nested clauses are not allowed";
    wire.check_error("POST /databases/db/queries", &body, 400, "QueryParser+ParseException", message);
}

/// What `select` makes of the documents, without change vectors and dates.
#[track_caller]
fn check_projection(wire: &Wire, text: &str, rows: &[&str]) -> json::Value {
    let answer = query(wire, text);
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let row = |row: &json::Value| {
        let mut row = row.clone();
        assert_eq!(row.remove("@metadata").unwrap().get("@projection"), Some(&json::Value::Bool(true)), "{text}");
        String::from_utf8(row.to_vec()).unwrap()
    };
    assert_eq!(results.iter().map(row).collect::<Vec<_>>(), rows, "{text}");
    answer
}

/// As the reference projects.
#[test]
fn projections_have_values_by_name() {
    let wire = Wire::with_database();
    for (id, document) in [
        (
            "u/1",
            r#"{"Name":"Ann","Age":1.50,"A":{"City":"Oslo"},"L":[{"P":"x"},{"Z":1}],"D":"u/2","@metadata":{"@collection":"Us"}}"#,
        ),
        ("u/2", r#"{"Name":"Bob","@metadata":{"@collection":"Us"}}"#),
        ("u/3", r#"{"Name":"Ann","Age":1.5,"@metadata":{"@collection":"Us"}}"#),
    ] {
        wire.put(id, document);
    }
    let expected = [
        r#"{"Name":"Ann","X":1.50,"A.City":"Oslo"}"#,
        r#"{"Name":"Bob","X":null,"A.City":null}"#,
        r#"{"Name":"Ann","X":1.5,"A.City":null}"#,
    ];
    check_projection(&wire, "from Us select Name, Age as X, A.City", &expected);
    check_projection(&wire, "from Us as u select u.A.City", &[r#"{"A.City":"Oslo"}"#, "{}", "{}"]);
    check_projection(
        &wire,
        "from Us where id() = 'u/1' select L[].P, L.P as p, id()",
        &[r#"{"L[].P":["x",null],"p":["x"],"id()":"u/1"}"#],
    );
    check_projection(
        &wire,
        "from Us where Name = 'bob' select Name, 1 as one, 'it' as s",
        &[r#"{"Name":"Bob","one":1,"s":"it"}"#],
    );
    let answer = check_projection(&wire, "from Us select distinct Name", &[r#"{"Name":"Ann"}"#, r#"{"Name":"Bob"}"#]);
    let number = |answer: &json::Value, name| answer.get(name).and_then(json::Value::as_i64);
    assert_eq!((number(&answer, "TotalResults"), number(&answer, "SkippedResults")), (Some(3), Some(1)));
    let answer = check_projection(
        &wire,
        "from Us where Age > 0 order by Name select distinct Name limit 1",
        &[r#"{"Name":"Ann"}"#],
    );
    assert_eq!((number(&answer, "TotalResults"), number(&answer, "CappedMaxResults")), (Some(2), Some(1)));
    for (id, city) in
        [("a", "Rome"), ("b", "Oslo"), ("c", "Bray"), ("d", "Rome"), ("e", "Cork"), ("f", "Bray"), ("g", "Kyiv")]
    {
        wire.put(&format!("ts/{id}"), &format!(r#"{{"C":"{city}","@metadata":{{"@collection":"Towns"}}}}"#));
    }
    // As the reference: the offset counts documents, and what those before it give does not come again.
    for query in ["from Towns select distinct C", "from Towns where C != 'x' select distinct C"] {
        for (page, expected, skipped) in [
            ("limit 3 offset 2", &["Bray", "Cork", "Kyiv"][..], 2),
            ("limit 1 offset 2", &["Bray"], 0),
            ("offset 6", &["Kyiv"], 0),
            ("offset 7", &[], 0),
        ] {
            let expected: Vec<String> = expected.iter().map(|city| format!(r#"{{"C":"{city}"}}"#)).collect();
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            let answer = check_projection(&wire, &format!("{query} {page}"), &expected);
            assert_eq!(number(&answer, "SkippedResults"), Some(skipped), "{query} {page}");
        }
    }
    let answer = check_projection(&wire, "from Us where id() = 'u/1' select D include D", &[r#"{"D":"u/2"}"#]);
    assert!(answer.get("Includes").unwrap().get("u/2").is_some());
    let stream =
        wire.call("POST /databases/db/streams/queries", r#"{"Query":"from Us where id() = 'u/2' select Name"}"#);
    let metadata = r#""Results":[{"Name":"Bob","@metadata":{"@projection":true,"@change-vector":"A:2-ID","@id":"u/2","@index-score":0,"#;
    assert!(stream.masked().contains(metadata), "{}", stream.text());
}
