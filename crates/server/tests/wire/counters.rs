//! `/databases/{name}/counters`, the command `Counters` and `counter=` of loads. Expected answers are those of the reference.

use super::support::Wire;

fn wire() -> Wire {
    let wire = Wire::with_database();
    for number in 1..=2 {
        wire.put(&format!("users/{number}"), r#"{"Name":"A","@metadata":{"@collection":"Users"}}"#);
    }
    wire
}

fn increment(name: &str, delta: i64) -> String {
    format!(r#"{{"Type":"Increment","CounterName":"{name}","Delta":{delta}}}"#)
}

fn body(document: &str, operations: &[String]) -> String {
    let operations = operations.join(",");
    format!(r#"{{"Documents":[{{"DocumentId":"{document}","Operations":[{operations}]}}]}}"#)
}

fn raise(wire: &Wire, document: &str, counters: &[(&str, i64)]) -> String {
    let operations: Vec<String> = counters.iter().map(|(name, delta)| increment(name, *delta)).collect();
    let answer = wire.call("POST /databases/db/counters", &body(document, &operations));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

/// An element of an answer.
fn detail(document: &str, name: &str, total: i64) -> String {
    format!(r#"{{"DocumentId":"{document}","CounterName":"{name}","TotalValue":{total},"CounterValues":null}}"#)
}

fn list(details: &[String]) -> String {
    format!(r#"{{"Counters":[{}]}}"#, details.join(","))
}

#[test]
fn counters_are_raised_and_read_without_regard_to_case() {
    let wire = wire();
    let answer = raise(&wire, "users/1", &[("likes", 3), ("Zed", 1), ("alpha", 1), ("Beta", 1)]);
    let expected = [("likes", 3), ("Zed", 1), ("alpha", 1), ("Beta", 1)].map(|(name, n)| detail("users/1", name, n));
    assert_eq!(answer, list(&expected));
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(document.contains(r#""@counters":["alpha","Beta","likes","Zed"]"#), "{document}");
    assert!(document.contains(r#""@flags":"HasCounters""#), "{document}");
    let all = [("Beta", 1), ("Zed", 1), ("alpha", 1), ("likes", 3)].map(|(name, n)| detail("users/1", name, n));
    wire.check("GET /databases/db/counters?docId=users/1", "", 200, &list(&all));
    let asked = [detail("USERS/1", "LIKES", 3), "null".to_owned()];
    wire.check("GET /databases/db/counters?docId=USERS/1&counter=LIKES&counter=none", "", 200, &list(&asked));
    let full = wire.call("GET /databases/db/counters?docId=users/1&counter=likes&full=true", "").json();
    let Some(json::Value::Array(counters)) = full.get("Counters") else { panic!("no counters") };
    let values = counters[0].get("CounterValues").unwrap().members();
    assert_eq!((values.len(), values[0].1.as_i64()), (1, Some(3)));
    assert!(values[0].0.starts_with("A-") && values[0].0.len() == 24, "{}", values[0].0);
    assert_eq!(raise(&wire, "users/1", &[("LIKES", 3)]), list(&[detail("users/1", "LIKES", 6)]));
    assert_eq!(wire.call("GET /databases/db/docs?id=users/1", "").text(), document, "the document stays as it is");
}

#[test]
fn a_request_reads_raises_and_deletes_in_one_transaction() {
    let wire = wire();
    raise(&wire, "users/1", &[("a", 1), ("b", 2)]);
    let operations = [
        r#"{"Type":"Get","CounterName":"a"}"#.to_owned(),
        r#"{"Type":"Get","CounterName":"none"}"#.to_owned(),
        r#"{"Type":"Delete","CounterName":"none"}"#.to_owned(),
        r#"{"Type":"Delete","CounterName":"A"}"#.to_owned(),
        r#"{"Type":"Increment","CounterName":"b"}"#.to_owned(),
        r#"{"Type":"GetAll"}"#.to_owned(),
    ];
    let b = detail("users/1", "b", 3);
    let expected = [detail("users/1", "a", 1), "null".to_owned(), b.clone(), b.clone()];
    wire.check("POST /databases/db/counters", &body("users/1", &operations), 200, &list(&expected));
    wire.check("POST /databases/db/counters", &body("users/1", &operations[5..]), 200, &list(&[b]));
    for body in ["{}", r#"{"Documents":[]}"#, r#"{"Documents":[{"DocumentId":"users/1"}]}"#] {
        wire.check("POST /databases/db/counters", body, 200, r#"{"Counters":[]}"#);
    }
    let deletion = [r#"{"Type":"Delete","CounterName":"b"}"#.to_owned()];
    wire.check("POST /databases/db/counters", &body("users/1", &deletion), 200, r#"{"Counters":[]}"#);
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(!document.contains("ounters"), "{document}");
}

#[test]
fn what_is_missing_or_cannot_be_is_answered_as_by_the_reference() {
    let wire = wire();
    wire.check("GET /databases/db/counters?docId=users/9&counter=a", "", 200, r#"{"Counters":[null]}"#);
    wire.check("GET /databases/db/counters?docId=users/9", "", 200, r#"{"Counters":[]}"#);
    let url = "POST /databases/db/counters";
    let missing = "Document 'users/9' does not exist. Cannot operate on counters of a missing document.";
    let delete = r#"{"Type":"Delete","CounterName":"a"}"#.to_owned();
    for operation in [increment("a", 1), delete] {
        wire.check_error(url, &body("users/9", &[operation]), 400, "DocumentDoesNotExistException", missing);
    }
    raise(&wire, "users/1", &[("big", i64::MAX)]);
    let overflow = "Could not increment counter 'big' from document 'users/1' with value '9223372036854775807' by '1'.";
    let twice = [increment("other", 1), increment("big", 1)];
    wire.check_error(url, &body("users/1", &twice), 400, "CounterOverflowException", overflow);
    let big = list(&[detail("users/1", "big", i64::MAX)]);
    wire.check("GET /databases/db/counters?docId=users/1", "", 200, &big);
    wire.check_error(
        "GET /databases/db/counters?counter=a",
        "",
        400,
        "ArgumentException",
        "Query string value 'docId' must have a non empty value",
    );
    wire.check_error(
        url,
        &body("users/1", &[increment("", 1)]),
        400,
        "ArgumentException",
        "the counter name '' is not valid: it is empty",
    );
    // Lists of names in clients may have nulls, and no counter has such a name.
    let unnamed = |kind: &str| format!(r#"{{"Type":"{kind}","CounterName":null}}"#);
    let reads = [unnamed("Get"), r#"{"Type":"Get"}"#.to_owned(), r#"{"Type":"Get","CounterName":"big"}"#.to_owned()];
    let expected = list(&["null".to_owned(), "null".to_owned(), detail("users/1", "big", i64::MAX)]);
    wire.check(url, &body("users/1", &reads), 200, &expected);
    for operation in [unnamed("Increment"), unnamed("Delete"), r#"{"Type":"Get","CounterName":1}"#.to_owned()] {
        let rule = "an operation on a counter must have a text 'CounterName'";
        wire.check_error(url, &body("users/1", &[operation]), 400, "InvalidOperationException", rule);
    }
    wire.check_error(url, r#"{"FromEtl":true}"#, 501, "RavenException", "Rookery ");
}

#[test]
fn a_batch_has_commands_on_counters() {
    let wire = wire();
    let command = |document: &str, operations: &str| {
        format!(
            r#"{{"Type":"Counters","Id":"{document}","Counters":{{"DocumentId":"{document}","Operations":[{operations}]}}}}"#
        )
    };
    let batch = |commands: &[String]| format!(r#"{{"Commands":[{}]}}"#, commands.join(","));
    let put = r#"{"Type":"PUT","Id":"users/3","Document":{"@metadata":{"@collection":"Users"}}}"#.to_owned();
    let raised = command("users/3", &increment("a", 5));
    let answer = wire.call("POST /databases/db/bulk_docs", &batch(&[put.clone(), raised.clone()])).masked();
    let detail = detail("users/3", "a", 5);
    let expected = format!(
        r#"{{"Id":"users/3","ChangeVector":"A:5-ID","Type":"Counters","CountersDetail":{{"Counters":[{detail}]}},"DocumentChangeVector":"A:5-ID"}}]}}"#
    );
    assert!(answer.contains(r#""@change-vector""#), "{answer}");
    let vector = |text: &str| text.matches("ChangeVector\":\"A:5-").count();
    assert_eq!(vector(&answer), vector(&expected), "{answer}");
    assert!(answer.contains(&format!(r#""CountersDetail":{{"Counters":[{detail}]}}"#)), "{answer}");
    let again = wire.call("POST /databases/db/bulk_docs", &batch(std::slice::from_ref(&raised))).text();
    assert!(again.contains(r#""TotalValue":10"#) && again.contains(r#""DocumentChangeVector":null"#), "{again}");
    // A document that is stored again tells its flags.
    let again = wire.call("POST /databases/db/bulk_docs", &batch(std::slice::from_ref(&put))).text();
    assert!(again.contains(r#""@flags":"HasCounters""#), "{again}");
    // All or nothing.
    let failing = batch(&[raised, command("users/9", &increment("a", 1))]);
    assert_eq!(wire.call("POST /databases/db/bulk_docs", &failing).status, 400);
    let value = wire.call("GET /databases/db/counters?docId=users/3", "").text();
    assert!(value.contains(r#""TotalValue":10"#), "{value}");
    let deleted = batch(&[command("users/3", r#"{"Type":"Delete","CounterName":"A"}"#)]);
    let answer = wire.call("POST /databases/db/bulk_docs", &deleted).text();
    assert!(answer.contains(r#""CountersDetail":{"Counters":[]}"#), "{answer}");
    for bad in [r#"{"Type":"Counters","Id":"users/3"}"#, r#"{"Type":"Counters","Id":"x","Counters":{"Operations":[]}}"#]
    {
        assert_eq!(wire.call("POST /databases/db/bulk_docs", &batch(&[bad.to_owned()])).status, 400, "{bad}");
    }
}

#[test]
fn loads_bring_counters_along() {
    let wire = wire();
    raise(&wire, "users/1", &[("likes", 9), ("Beta", 1)]);
    let included = |line: &str| {
        let answer = wire.call(line, "").text();
        answer.split_once(r#","CounterIncludes":"#).map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    };
    let value =
        |name: &str, total: i64| format!(r#"{{"DocumentId":"users/1","CounterName":"{name}","TotalValue":{total}}}"#);
    let load = "GET /databases/db/docs?id=users/1";
    let expected = format!(r#"{{"users/1":[{},null]}}}}"#, value("likes", 9));
    assert_eq!(included(&format!("{load}&counter=likes&counter=none")), expected);
    let all = format!(r#"{{"users/1":[{},{}]}}}}"#, value("Beta", 1), value("likes", 9));
    assert_eq!(included(&format!("{load}&counter=@all_counters")), all);
    let both = format!(r#"{{"users/1":[{}],"users/2":[null]}}}}"#, value("likes", 9));
    assert_eq!(included(&format!("{load}&id=users/2&id=users/9&counter=likes")), both);
    assert_eq!(wire.call("GET /databases/db/docs?id=users/9&counter=likes", "").status, 404);
    // The document stays as it is when a counter is raised, and the answer does not.
    let line = format!("{load}&counter=likes");
    let etag = wire.call(&line, "").header("etag").unwrap().to_owned();
    let is_current = format!("If-None-Match: {etag}");
    assert_eq!(wire.call_with(&line, &[&is_current], b"").status, 304);
    raise(&wire, "users/1", &[("likes", 1)]);
    let answer = wire.call_with(&line, &[&is_current], b"");
    assert!(answer.status == 200 && answer.text().contains(r#""TotalValue":10"#), "{}", answer.text());
    assert_eq!(wire.call("GET /databases/db/docs?startsWith=users/&counter=likes", "").status, 400);
}

#[test]
fn a_bulk_insert_raises_counters() {
    let wire = wire();
    let command = |document: &str| {
        let operations = [increment("likes", 1), increment("other", 2)].join(",");
        format!(
            r#"{{"Id":"{document}","Type":"Counters","Counters":{{"DocumentId":"{document}","Operations":[{operations}]}}}}"#
        )
    };
    let put = r#"{"Id":"users/3","Type":"PUT","Document":{"@metadata":{"@collection":"Users"}}}"#;
    let stream = format!("[{put},{},{},{}]", command("users/3"), command("users/3"), command("users/1"));
    wire.check("POST /databases/db/bulk_insert?id=1", &stream, 201, "");
    let state = wire.call("GET /databases/db/operations/state?id=1", "").text();
    assert!(state.contains(r#""CountersProcessed":6"#), "{state}");
    let values = wire.call("GET /databases/db/counters?docId=users/3", "").text();
    assert_eq!(values, list(&[detail("users/3", "likes", 2), detail("users/3", "other", 4)]));
    let statistics = wire.call("GET /databases/db/stats", "").json();
    assert_eq!(statistics.get("CountOfCounterEntries").unwrap().as_i64(), Some(4));
    let collections = wire.call("GET /databases/db/collections/stats/detailed", "").text();
    assert!(collections.contains(r#""CountOfCounterEntries":4,"CounterEntriesSize":{"#), "{collections}");
}

fn query(wire: &Wire, query: &str) -> json::Value {
    let body = format!(
        r#"{{"Query":{},"QueryParameters":{{"names":["likes","x"]}},"WaitForNonStaleResults":true}}"#,
        quoted(query)
    );
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.json()
}

fn quoted(text: &str) -> String {
    String::from_utf8(json::Value::from(text).to_vec()).unwrap()
}

/// Users with companies, and counters of both.
fn with_companies() -> Wire {
    let wire = Wire::with_database();
    for number in 1..=2 {
        let user =
            format!(r#"{{"Name":"{number}","Company":"companies/{number}","@metadata":{{"@collection":"Users"}}}}"#);
        wire.put(&format!("users/{number}"), &user);
        wire.put(&format!("companies/{number}"), r#"{"@metadata":{"@collection":"Companies"}}"#);
    }
    raise(&wire, "users/1", &[("likes", 3), ("Dislikes", 1)]);
    raise(&wire, "companies/1", &[("Views", 7)]);
    wire
}

#[test]
fn queries_include_counters() {
    let wire = with_companies();
    let check = |rql: &str, counters: &str, names: &str| {
        let answer = query(&wire, rql);
        let text = |name: &str| String::from_utf8(answer.get(name).expect(name).to_vec()).unwrap();
        assert_eq!(
            (text("CounterIncludes"), text("IncludedCounterNames")),
            (counters.to_owned(), names.to_owned()),
            "{rql}"
        );
    };
    let one = |document: &str, name: &str, total: i64| {
        format!(r#"{{"DocumentId":"{document}","CounterName":"{name}","TotalValue":{total}}}"#)
    };
    let likes = one("users/1", "likes", 3);
    let both = format!("[{},{likes}]", one("users/1", "Dislikes", 1));
    check(
        "from Users include counters('likes')",
        &format!(r#"{{"users/2":[null],"users/1":[{likes}]}}"#),
        r#"{"users/2":["likes"],"users/1":["likes"]}"#,
    );
    check(
        "from Users include counters()",
        &format!(r#"{{"users/2":[],"users/1":{both}}}"#),
        r#"{"users/2":[],"users/1":[]}"#,
    );
    check(
        "from Users as u include counters(u)",
        &format!(r#"{{"users/2":[],"users/1":{both}}}"#),
        r#"{"users/2":[],"users/1":[]}"#,
    );
    check(
        "from Users include counters($names)",
        &format!(r#"{{"users/2":[null,null],"users/1":[{likes},null]}}"#),
        r#"{"users/2":["likes","x"],"users/1":["likes","x"]}"#,
    );
    check(
        "from Users include counters('likes'), counters('x')",
        &format!(r#"{{"users/2":[null,null],"users/1":[{likes},null]}}"#),
        r#"{"users/2":["likes","x"],"users/1":["likes","x"]}"#,
    );
    let views = format!(r#"{{"companies/2":[null],"companies/1":[{}]}}"#, one("companies/1", "Views", 7));
    check(
        "from Users include counters(Company, 'Views')",
        &views,
        r#"{"companies/2":["Views"],"companies/1":["Views"]}"#,
    );
    check(
        "from Users as u include counters(u.Company, 'Views')",
        &views,
        r#"{"companies/2":["Views"],"companies/1":["Views"]}"#,
    );
    check(
        "from Users where Name = '1' select Name include counters('likes')",
        &format!(r#"{{"users/1":[{likes}]}}"#),
        r#"{"users/1":["likes"]}"#,
    );
    assert!(query(&wire, "from Users").get("CounterIncludes").is_none());
    // What is included belongs to the ETag.
    let rql = r#"{"Query":"from Users include counters('likes')"}"#;
    let etag = |wire: &Wire| wire.call("POST /databases/db/queries", rql).header("etag").unwrap().to_owned();
    let before = etag(&wire);
    assert_eq!(etag(&wire), before);
    raise(&wire, "users/1", &[("likes", 1)]);
    assert_ne!(etag(&wire), before);
    let refused = wire.call("POST /databases/db/queries", r#"{"Query":"from Users include counters(1)"}"#);
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[test]
fn queries_select_counters() {
    let wire = with_companies();
    let check = |rql: &str, expected: &[&str]| {
        let answer = query(&wire, rql);
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("no results") };
        let database =
            wire.call("GET /databases/db/stats", "").json().get("DatabaseId").unwrap().as_str().unwrap().to_owned();
        let shown: Vec<String> = results
            .iter()
            .map(|result| {
                let text = String::from_utf8(result.to_vec()).unwrap().replace(&database, "DB");
                text.split(r#","@metadata""#).next().unwrap().to_owned()
            })
            .collect();
        assert_eq!(shown, expected, "{rql}");
    };
    check("from Users select counter('likes')", &[r#"{"likes":null"#, r#"{"likes":3"#]);
    check("from Users select counter('LIKES') as l, Name", &[r#"{"l":null,"Name":"2""#, r#"{"l":3,"Name":"1""#]);
    check("from Users as u select counter(u, 'likes') as l", &[r#"{"l":null"#, r#"{"l":3"#]);
    check("from Users as u select counter(u.likes)", &[r#"{"likes":null"#, r#"{"likes":3"#]);
    check("from Users select counterRaw('likes')", &[r#"{"likes":{}"#, r#"{"likes":{"A-DB":3}"#]);
    check(
        "from Users as u load u.Company as c select counter(c, 'views') as v, counterRaw(c, 'Views') as r",
        &[r#"{"v":null,"r":{}"#, r#"{"v":7,"r":{"A-DB":7}"#],
    );
    check(
        "from Users as u select { L: counter(u, 'likes'), R: counterRaw(u, 'likes'), I: counter('users/1', 'likes'), M: getMetadata(u)['@counters'] }",
        &[r#"{"L":null,"R":{},"I":3,"M":null"#, r#"{"L":3,"R":{"A-DB":3},"I":3,"M":["Dislikes","likes"]"#],
    );
    let written = r#"{"Query":"from Users as u select { L: incrementCounter(u, 'likes') }"}"#;
    assert_eq!(wire.call("POST /databases/db/queries", written).status, 400);
}

#[test]
fn patches_raise_read_and_delete_counters() {
    let wire = with_companies();
    let patch = |script: &str| {
        let body = format!(r#"{{"Patch":{{"Script":{},"Values":{{"n":5}}}}}}"#, quoted(script));
        wire.call("PATCH /databases/db/docs?id=users/1&debug=true", &body)
    };
    let info = |script: &str| {
        let answer = patch(script);
        assert_eq!(answer.status, 200, "{script}: {}", answer.text());
        let debug = answer.json().get("Debug").cloned().unwrap();
        String::from_utf8(debug.get("Info").unwrap().to_vec()).unwrap()
    };
    let total = |name: &str| {
        let answer = wire.call(&format!("GET /databases/db/counters?docId=users/1&counter={name}"), "").text();
        answer.split_once(r#""TotalValue":"#).map(|(_, rest)| rest.split(',').next().unwrap().to_owned())
    };
    assert_eq!(info("incrementCounter(this, 'likes')"), "[]");
    assert_eq!(total("likes").as_deref(), Some("4"));
    let script =
        "incrementCounter(this, 'LIKES', args.n); output(counter(this, 'likes')); output(counter('users/1', 'LIKES'))";
    assert_eq!(info(script), r#"["9","9"]"#);
    assert_eq!(info("output(incrementCounter(this, 'new', 5)); output(counter(this, 'new'))"), r#"["true","5"]"#);
    assert_eq!(info("deleteCounter(this, 'new'); output(counter(this, 'new'))"), r#"["null"]"#);
    assert_eq!(total("new"), None);
    assert_eq!(info("this.L = counter(this, 'likes'); incrementCounter('users/2', 'p', 2)"), "[]");
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(document.contains(r#""L":9"#) && document.contains(r#""@counters":["Dislikes","likes"]"#), "{document}");
    let missing = patch("incrementCounter('nope/1', 'a')");
    assert!(missing.status == 400 && missing.text().contains("DocumentDoesNotExistException"), "{}", missing.text());
    let overflow = patch("incrementCounter(this, 'likes', 9223372036854775807)");
    assert!(overflow.text().contains("CounterOverflowException"), "{}", overflow.text());
    for script in [
        "incrementCounter(this)",
        "incrementCounter(null, 'a')",
        "incrementCounter(this, '')",
        "counter(this)",
        "incrementCounter(this, 'a', 'x')",
    ] {
        assert_eq!(patch(script).status, 400, "{script}");
    }
    assert_eq!(total("likes").as_deref(), Some("9"));
    // A put before it in the same script, and commands before it in the same batch.
    info("put('users/9', { a: 1 }); incrementCounter('users/9', 'z', 3)");
    let raised = wire.call("GET /databases/db/counters?docId=users/9", "").text();
    assert_eq!(raised, list(&[detail("users/9", "z", 3)]));
    let commands = [
        r#"{"Type":"PATCH","Id":"users/2","Patch":{"Script":"incrementCounter(this,'q',1)"}}"#,
        r#"{"Type":"Counters","Id":"users/2","Counters":{"DocumentId":"users/2","Operations":[{"Type":"Increment","CounterName":"q","Delta":1}]}}"#,
        r#"{"Type":"PATCH","Id":"users/2","Patch":{"Script":"this.Q = counter(this, 'q')"}}"#,
    ];
    let answer = wire.call("POST /databases/db/bulk_docs", &format!(r#"{{"Commands":[{}]}}"#, commands.join(",")));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let document = wire.call("GET /databases/db/docs?id=users/2", "").text();
    assert!(document.contains(r#""Q":2"#), "{document}");
}

/// Companies with counters, and indexes over them: name, maps, reduce.
fn with_indexes(indexes: &[(&str, &[&str], &str)]) -> Wire {
    let wire = Wire::with_database();
    for number in 1..=2 {
        wire.put(
            &format!("companies/{number}"),
            &format!(r#"{{"Name":"C{number}","@metadata":{{"@collection":"Companies"}}}}"#),
        );
    }
    wire.put("users/1", r#"{"Name":"U1","@metadata":{"@collection":"Users"}}"#);
    raise(&wire, "companies/1", &[("Likes", 3), ("Views", 1)]);
    raise(&wire, "companies/2", &[("likes", 5)]);
    raise(&wire, "users/1", &[("Likes", 9)]);
    for (name, maps, reduce) in indexes {
        let maps: Vec<String> = maps.iter().map(|map| quoted(map)).collect();
        let reduce = if reduce.is_empty() { "null".to_owned() } else { quoted(reduce) };
        let definition =
            format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":[{}],"Reduce":{reduce}}}]}}"#, maps.join(","));
        let answer = wire.call("PUT /databases/db/admin/indexes", &definition);
        assert_eq!(answer.status, 201, "{name}: {}", answer.text());
    }
    wire
}

/// The results of a query, without their metadata.
fn results(wire: &Wire, rql: &str) -> Vec<String> {
    let answer = query(wire, rql);
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("no results") };
    let without = |result: &json::Value| {
        let text = String::from_utf8(result.to_vec()).unwrap();
        text.split(r#","@metadata""#).next().unwrap().to_owned()
    };
    results.iter().map(without).collect()
}

#[test]
fn indexes_map_counters_in_both_languages() {
    let wire = with_indexes(&[
        ("A", &["from c in counters.Companies.Likes select new { c.Value, c.Name, User = c.DocumentId }"], ""),
        (
            "B",
            &["counters.Companies.Likes.Select(c => new { Value = c.Value, Name = c.Name, User = c.DocumentId })"],
            "",
        ),
        ("J", &["counters.map('Companies', 'Likes', c => ({ Value: c.Value, Name: c.Name, User: c.DocumentId }))"], ""),
        ("All", &["from c in counters select new { c.Value, c.Name, User = c.DocumentId }"], ""),
        ("JAll", &["counters.map(function (c) { return { Value: c.Value, Name: c.Name, User: c.DocumentId }; })"], ""),
        (
            "Two",
            &[
                "from c in counters.Companies.Views select new { c.Value }",
                "from c in counters[\"Users\"] select new { c.Value }",
            ],
            "",
        ),
    ]);
    let one = r#"{"Value":3,"Name":"Likes","User":"companies/1""#;
    let two = r#"{"Value":5,"Name":"likes","User":"companies/2""#;
    let views = r#"{"Value":1,"Name":"Views","User":"companies/1""#;
    let user = r#"{"Value":9,"Name":"Likes","User":"users/1""#;
    for index in ["A", "B", "J"] {
        assert_eq!(results(&wire, &format!("from index '{index}'")), [one, two], "{index}");
        assert_eq!(results(&wire, &format!("from index '{index}' where Value > 4")), [two], "{index}");
        assert_eq!(
            results(&wire, &format!("from index '{index}' where User = 'companies/1' select Value")),
            [r#"{"Value":3"#]
        );
        assert_eq!(results(&wire, &format!("from index '{index}' order by Value as long desc")), [two, one], "{index}");
    }
    for index in ["All", "JAll"] {
        assert_eq!(results(&wire, &format!("from index '{index}'")), [one, views, two, user], "{index}");
    }
    assert_eq!(results(&wire, "from index 'Two'"), [r#"{"Value":1"#, r#"{"Value":9"#]);
    // Results are no documents, but may name some.
    let answer = wire.call("POST /databases/db/queries", r#"{"Query":"from index 'A' include User"}"#).text();
    assert!(answer.contains(r#""@metadata":{"@change-vector":null}}"#), "{answer}");
    assert!(answer.contains(r#""Includes":{"companies/1":{"Name":"C1""#), "{answer}");
    let definition = wire.call("GET /databases/db/indexes?name=A", "").text();
    assert!(definition.contains(r#""SourceType":"Counters""#), "{definition}");
    // They follow their counters.
    raise(&wire, "companies/1", &[("Likes", 10)]);
    let body = r#"{"Documents":[{"DocumentId":"companies/2","Operations":[{"Type":"Delete","CounterName":"LIKES"}]}]}"#;
    assert_eq!(wire.call("POST /databases/db/counters", body).status, 200);
    let raised = r#"{"Value":13,"Name":"Likes","User":"companies/1""#;
    for index in ["A", "B", "J"] {
        assert_eq!(results(&wire, &format!("from index '{index}'")), [raised], "{index}");
    }
    assert_eq!(wire.call("DELETE /databases/db/docs?id=companies/1", "").status, 204);
    for index in ["A", "B", "J"] {
        assert_eq!(results(&wire, &format!("from index '{index}'")), [""; 0], "{index}");
    }
    assert_eq!(results(&wire, "from index 'All'"), [user]);
}

#[test]
fn indexes_reduce_counters_and_load_documents_for_them() {
    let sum = "from r in results group r by r.Name into g select new { Name = g.Key, Sum = g.Sum(x => x.Sum), Count = g.Sum(x => x.Count) }";
    let wire = with_indexes(&[
        ("R", &["from c in counters.Companies select new { c.Name, Sum = c.Value, Count = 1 }"], sum),
        (
            "RJ",
            &["counters.map('Companies', c => ({ Name: c.Name, Sum: c.Value }))"],
            "groupBy(x => x.Name).aggregate(g => ({ Name: g.key, Sum: g.values.reduce((s, v) => s + v.Sum, 0) }))",
        ),
        (
            "L",
            &[
                "from c in counters.Companies.Likes let d = LoadDocument(c.DocumentId, \"Companies\") select new { c.Value, d.Name }",
            ],
            "",
        ),
        (
            "LJ",
            &[
                "counters.map('Companies', 'Likes', c => { var d = load(c.DocumentId, 'Companies'); return { Value: c.Value, Name: d.Name }; })",
            ],
            "",
        ),
    ]);
    assert_eq!(
        results(&wire, "from index 'R' order by Sum as long"),
        [
            r#"{"Name":"Views","Sum":1,"Count":1"#,
            r#"{"Name":"Likes","Sum":3,"Count":1"#,
            r#"{"Name":"likes","Sum":5,"Count":1"#
        ]
    );
    let loaded = [r#"{"Value":3,"Name":"C1""#, r#"{"Value":5,"Name":"C2""#];
    assert_eq!(results(&wire, "from index 'L'"), loaded);
    assert_eq!(results(&wire, "from index 'LJ'"), loaded);
    raise(&wire, "companies/1", &[("Likes", 10)]);
    assert_eq!(results(&wire, "from index 'R' where Name = 'Views' select Sum"), [r#"{"Sum":1"#]);
    assert_eq!(results(&wire, "from index 'RJ' order by Sum as long desc limit 1"), [r#"{"Name":"Likes","Sum":13"#]);
    // A document that is loaded for a counter changes.
    wire.put("companies/2", r#"{"Name":"Other","@metadata":{"@collection":"Companies"}}"#);
    for index in ["L", "LJ"] {
        assert_eq!(
            results(&wire, &format!("from index '{index}' where Name = 'Other'")),
            [r#"{"Value":5,"Name":"Other""#],
            "{index}"
        );
    }
}

#[test]
fn maps_of_documents_read_the_names_of_counters() {
    let wire = with_indexes(&[
        ("N", &["from c in docs.Companies select new { Names = CounterNamesFor(c) }"], ""),
        ("NJ", &["map('Companies', c => ({ Names: counterNamesFor(c) }))"], ""),
        ("M", &["from c in docs.Companies select new { Names = MetadataFor(c)[\"@counters\"] }"], ""),
    ]);
    for index in ["N", "NJ", "M"] {
        let views = format!("from index '{index}' where Names = 'views' select id() as Id");
        assert_eq!(results(&wire, &views), [r#"{"Id":"companies/1""#], "{index}");
        assert_eq!(results(&wire, &format!("from index '{index}' where Names = 'likes'")).len(), 2, "{index}");
    }
    // A new name is a new version of the document.
    raise(&wire, "companies/2", &[("Views", 1)]);
    for index in ["N", "NJ", "M"] {
        assert_eq!(results(&wire, &format!("from index '{index}' where Names = 'views'")).len(), 2, "{index}");
    }
}

#[test]
fn sources_are_not_mixed() {
    let wire = Wire::with_database();
    let maps = r#""from c in counters.Users.Likes select new { c.Name }","from u in docs.Users select new { u.Name }""#;
    let body = format!(r#"{{"Indexes":[{{"Name":"Mix","Maps":[{maps}]}}]}}"#);
    let answer = wire.call("PUT /databases/db/admin/indexes", &body);
    assert!(answer.status == 400 && answer.text().contains("different source types"), "{}", answer.text());
}
