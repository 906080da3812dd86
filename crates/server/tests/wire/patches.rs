//! `PATCH /databases/{name}/docs`, patches in `bulk_docs`, `PATCH /databases/{name}/queries` and
//! `queries/test`. Expected answers are those of the reference.

use super::support::Wire;

const DOCS: &str = "PATCH /databases/db/docs?id=users/1";

fn wire() -> Wire {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"}}"#);
    wire
}

#[test]
fn a_patch_changes_a_document() {
    let wire = wire();
    let patch = r#"{"Patch":{"Script":"this.Age = args.n; this.Seen = $n + 1","Values":{"n":1}}}"#;
    let expected = r#"{"Status":"Patched","ModifiedDocument":{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"},"Age":1,"Seen":2},"LastModified":"DATE","ChangeVector":"A:2-ID","Collection":"Users"}"#;
    wire.check(DOCS, patch, 200, expected);
    let expected = r#"{"Status":"NotModified","ModifiedDocument":{"Name":"Ann","D":1.50,"Age":1,"Seen":2,"@metadata":{"@collection":"Users"}}}"#;
    wire.check(DOCS, patch, 200, expected);
    wire.check("PATCH /databases/db/docs?id=users/none", patch, 404, "");
    wire.check_error("PATCH /databases/db/docs", patch, 400, "ArgumentException", "Query string value 'id'");
    wire.check_error(DOCS, "{}", 400, "ArgumentException", "The 'Patch' field in the body request is mandatory");
}

#[test]
fn a_patch_may_make_a_document() {
    let wire = wire();
    let patch = r#"{"Patch":{"Script":"this.x = 1"},"PatchIfMissing":{"Script":"this.y = args.v","Values":{"v":3}}}"#;
    let expected = r#"{"Status":"Created","ModifiedDocument":{"y":3},"LastModified":"DATE","ChangeVector":"A:2-ID","Collection":"@empty"}"#;
    wire.check("PATCH /databases/db/docs?id=users/2", patch, 201, expected);
}

#[test]
fn what_a_script_did_is_told_to_who_debugs_it() {
    let wire = wire();
    let test =
        r#"{"Patch":{"Script":"this.a = 1; load('users/2'); del('x/1'); put('users/77', {b: 1}); output({a: 1})"}}"#;
    let debug = r#""Debug":{"Info":["{\"a\":1}"],"Actions":{"LoadDocument":[{"Id":"users/2","Exists":false}],"PutDocument":[{"Id":"users/77","Data":{"b":1}}],"DeleteDocument":["x/1"],"GetCounter":[],"IncrementCounter":[],"DeleteCounter":[],"GetTimeSeries":[],"AppendTimeSeries":[],"IncrementTimeSeries":[],"DeleteTimeSeries":[]}}"#;
    let modified = r#"{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"},"a":1}"#;
    let expected = format!(
        r#"{{"Status":"Patched","ModifiedDocument":{modified},"OriginalDocument":{{"Name":"Ann","D":1.50,"@metadata":{{"@collection":"Users"}}}},{debug},"LastModified":"0001-01-01T00:00:00.0000000","ChangeVector":null,"Collection":null}}"#
    );
    wire.check(&format!("{DOCS}&test=true"), test, 200, &expected);
    wire.check("GET /databases/db/docs?id=users/77", "", 404, "");
    let expected = format!(
        r#"{{"Status":"Patched","ModifiedDocument":{modified},"OriginalDocument":null,{debug},"LastModified":"DATE","ChangeVector":"A:3-ID","Collection":"Users"}}"#
    );
    wire.check(&format!("{DOCS}&debug=true"), test, 200, &expected);
    assert_eq!(wire.call("GET /databases/db/docs?id=users/77", "").status, 200);
}

#[test]
fn mistakes_in_scripts_have_their_exceptions() {
    let wire = wire();
    let check = |script: &str, status, exception: &str, message: &str| {
        let body = format!(r#"{{"Patch":{{"Script":"{script}"}}}}"#);
        wire.check_error(DOCS, &body, status, exception, message);
    };
    check("this.Age += ", 400, ".Documents.Patching.JavaScriptParseException", "Failed to parse");
    check(
        "throw 'no'",
        400,
        ".Documents.Patching.JavaScriptException",
        "At 0:0 Script failed for document ID 'users/1'. no",
    );
    check("for (;;) {}", 400, ".Documents.Patching.JavaScriptException", "The maximum number of statements");
    check("id()", 400, "InvalidOperationException", "id(doc) must be called with a single argument");
    let message = concat!("Rookery ", env!("CARGO_PKG_VERSION"), " does not support 'timeseries' in scripts yet");
    check("timeseries(this, 'x')", 501, "RavenException", message);
    check(
        "this['@metadata']['@collection'] = 'Dogs'",
        400,
        "DocumentCollectionMismatchException",
        "Changing 'users/1' from 'Users' to 'Dogs' via update is not supported",
    );
    check("put('users/3', {}, 'bogus')", 409, "ConcurrencyException", "Document users/3 does not exist");
}

#[test]
fn a_patch_heeds_the_change_vector_that_is_expected() {
    let wire = wire();
    let batch = |vector: &str| {
        format!(
            r#"{{"Commands":[{{"Type":"PATCH","Id":"users/1","ChangeVector":"{vector}","Patch":{{"Script":"this.a = 1"}}}}]}}"#
        )
    };
    let message = "Could not patch document 'users/1' because non current change vector was used";
    wire.check_error("POST /databases/db/bulk_docs", &batch("A:9-x"), 409, "ConcurrencyException", message);
    wire.check_error("POST /databases/db/bulk_docs", &batch(""), 409, "ConcurrencyException", message);
}

#[test]
fn patches_in_a_batch_see_the_commands_before_them() {
    let wire = wire();
    let commands = r#"{"Commands":[
        {"Type":"PUT","Id":"users/5","Document":{"a":1}},
        {"Type":"PATCH","Id":"users/5","Patch":{"Script":"this.b = this.a + load('users/5').a"},"ReturnDocument":true},
        {"Type":"PATCH","Id":"users/5","Patch":{"Script":"this.b = 2"}},
        {"Type":"DELETE","Id":"users/5"},
        {"Type":"PATCH","Id":"users/5","Patch":{"Script":"this.b = 1"}},
        {"Type":"PATCH","Id":"users/y","Patch":{"Script":""},"CreateIfMissing":{"Q":1,"@metadata":{"@collection":"Users"}}},
        {"Type":"BatchPATCH","Ids":[{"Id":"users/1"},{"Id":"users/none"}],"Patch":{"Script":"this.n = args.v","Values":{"v":4}}}]}"#;
    let expected = concat!(
        r#"{"Results":[{"Type":"PUT","@id":"users/5","@collection":"@empty","@change-vector":"A:2-ID","@last-modified":"DATE"},"#,
        r#"{"Id":"users/5","ChangeVector":"A:3-ID","LastModified":"DATE","Type":"PATCH","PatchStatus":"Patched","Debug":null,"ModifiedDocument":{"a":1,"b":2}},"#,
        r#"{"Id":"users/5","ChangeVector":null,"LastModified":"0001-01-01T00:00:00.0000000","Type":"PATCH","PatchStatus":"NotModified","Debug":null},"#,
        r#"{"Id":"users/5","Type":"DELETE","Deleted":true,"ChangeVector":null},"#,
        r#"{"Id":"users/5","ChangeVector":null,"LastModified":"0001-01-01T00:00:00.0000000","Type":"PATCH","PatchStatus":"DocumentDoesNotExist","Debug":null},"#,
        r#"{"Id":"users/y","ChangeVector":"A:5-ID","LastModified":"DATE","Type":"PATCH","PatchStatus":"Created","Debug":null},"#,
        r#"{"Type":"BatchPATCH"}]}"#
    );
    wire.check("POST /databases/db/bulk_docs", commands, 201, expected);
}

#[test]
fn a_batch_with_a_patch_that_fails_changes_nothing() {
    let wire = wire();
    let commands = r#"{"Commands":[{"Type":"PUT","Id":"users/5","Document":{}},
        {"Type":"PATCH","Id":"users/1","Patch":{"Script":"put('users/6', {}); throw 'x'"}}]}"#;
    wire.check_error(
        "POST /databases/db/bulk_docs",
        commands,
        400,
        "JavaScriptException",
        "At 0:0 Script failed for document ID 'users/1'. x",
    );
    wire.check("GET /databases/db/docs?id=users/5", "", 404, "");
    wire.check("GET /databases/db/docs?id=users/6", "", 404, "");
}

/// Each reads, adds one and writes; none may be lost.
#[test]
fn patches_of_one_document_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    const PATCHES: usize = 25;
    let wire = wire();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..PATCHES {
                    let patch = r#"{"Patch":{"Script":"this.n = (this.n || 0) + 1"}}"#;
                    assert_eq!(wire.call(DOCS, patch).status, 200);
                }
            });
        }
    });
    let body = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(body.contains(&format!(r#""n":{}"#, WRITERS * PATCHES)), "{body}");
}

/// Starts a patch by query and gives how its operation ended.
pub(super) fn by_query(wire: &Wire, options: &str, query: &str) -> String {
    let reply = wire.call(&format!("PATCH /databases/db/queries?{options}"), query);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let id = reply.text().trim_start_matches(r#"{"OperationId":"#).split(',').next().unwrap().to_owned();
    wire.ended_at(&format!("GET /databases/db/operations/state?id={id}")).text()
}

#[test]
fn what_a_query_finds_is_patched() {
    let wire = wire();
    wire.put("users/2", r#"{"Name":"Bob","Friend":"users/1","@metadata":{"@collection":"Users"}}"#);
    wire.put("dogs/1", r#"{"Name":"Rex","@metadata":{"@collection":"Dogs"}}"#);
    let query = r#"{"Query":{"Query":"declare function f(x) { return x.Name + '!' } from Users as u load u.Friend as g update { u.a = f(g); u.p = $p }","QueryParameters":{"p":7}}}"#;
    let state = by_query(&wire, "details=true", query);
    for expected in
        [r#""Total":2,"Message":"Processed 2 items.""#, r#""Id":"users/1","ChangeVector":"A:"#, r#""Status":"Patched""#]
    {
        assert!(state.contains(expected), "{state}");
    }
    let check = |id: &str, expected: &str| {
        let body = wire.call(&format!("GET /databases/db/docs?id={id}"), "").text();
        assert!(body.contains(expected), "{id}: {body}");
    };
    check("users/2", r#""a":"Ann!","p":7"#);
    check("users/1", r#""a":"null!","p":7"#);
    check("dogs/1", r#"{"Name":"Rex","@metadata""#);
    by_query(
        &wire,
        "",
        r#"{"Query":{"Query":"from Users where Name = 'Bob' update { this.Name = 'Rob'; put('log/' + id(this), {}) }"}}"#,
    );
    check("users/2", r#""Name":"Rob""#);
    check("log/users/2", "@id");
    let state = by_query(&wire, "maxOpsPerSec=1000", r#"{"Query":{"Query":"from Users update { throw 'x' }"}}"#);
    assert!(state.contains("JavaScriptException") && state.contains(r#""Status":"Faulted""#), "{state}");
}

#[test]
fn a_patch_by_query_has_to_be_one() {
    let wire = wire();
    let call = "PATCH /databases/db/queries";
    wire.check_error(call, "{}", 400, "BadRequestException", "Missing 'Query' property.");
    wire.check_error(
        call,
        r#"{"Query":{"Query":"from Users"}}"#,
        400,
        "ParseException",
        "Update operations must end with UPDATE clause",
    );
    let wrong = r#"{"Query":{"Query":"from Users update { this. }"}}"#;
    wire.check_error(call, wrong, 400, "InvalidQueryException", "Update clause contains invalid script");
    let query = r#"{"Query":"from Users update { this.a = 1 }"}"#;
    wire.check_error("POST /databases/db/queries", query, 400, "InvalidQueryException", "`update` changes documents");
    wire.check_error("DELETE /databases/db/queries", query, 400, "InvalidQueryException", "`update` changes documents");
}

#[test]
fn a_patch_by_query_is_tried_on_a_document() {
    let wire = wire();
    wire.put("users/2", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#);
    let call = "PATCH /databases/db/queries/test?id=users/1";
    // Whether the query finds the document makes no difference.
    let query = r#"{"Query":{"Query":"from Users as u where u.Name = 'Zoe' load u.Friend as f update { u.a = $n; put('x/1', {b: 1}); output('hello'); del('users/2') }","QueryParameters":{"n":7}}}"#;
    let original = r#"{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"}}"#;
    let modified = r#"{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"},"a":7}"#;
    let others = r#""GetCounter":[],"IncrementCounter":[],"DeleteCounter":[],"GetTimeSeries":[],"AppendTimeSeries":[],"IncrementTimeSeries":[],"DeleteTimeSeries":[]}}}"#;
    let expected = format!(
        r#"{{"Status":"Patched","ModifiedDocument":{modified},"OriginalDocument":{original},"Debug":{{"Output":["hello"],"Actions":{{"LoadDocument":[],"PutDocument":[{{"Id":"x/1","Data":{{"b":1}}}}],"DeleteDocument":["users/2"],{others}"#
    );
    wire.check(call, query, 200, &expected);
    let same = r#"{"Query":{"Query":"from Users update { this.Name = 'Ann' }"}}"#;
    let expected = format!(
        r#"{{"Status":"NotModified","ModifiedDocument":{original},"OriginalDocument":{original},"Debug":{{"Output":[],"Actions":{{"LoadDocument":[],"PutDocument":[],"DeleteDocument":[],{others}"#
    );
    wire.check(call, same, 200, &expected);
    // Nothing was stored.
    assert!(!wire.call("GET /databases/db/docs?id=users/1", "").text().contains(r#""a":7"#));
    assert_eq!(wire.call("GET /databases/db/docs?id=users/2", "").status, 200);
    wire.check("GET /databases/db/docs?id=x/1", "", 404, "");

    wire.check("PATCH /databases/db/queries/test?id=users/none", same, 404, "");
    wire.check_error("PATCH /databases/db/queries/test", same, 400, "ArgumentException", "Query string value 'id'");
    wire.check_error(call, "{}", 400, "BadRequestException", "Missing 'Query' property.");
    let no_patch = r#"{"Query":{"Query":"from Users"}}"#;
    wire.check_error(call, no_patch, 400, "ParseException", "Update operations must end with UPDATE clause");
    let wrong = r#"{"Query":{"Query":"from Users update { this. }"}}"#;
    wire.check_error(call, wrong, 400, "InvalidQueryException", "Update clause contains invalid script");
    // Also where there is no document to try it on.
    let nowhere = "PATCH /databases/db/queries/test?id=users/none";
    wire.check_error(nowhere, wrong, 400, "InvalidQueryException", "Update clause contains invalid script");
    let throwing = r#"{"Query":{"Query":"from Users update { throw 'x' }"}}"#;
    wire.check_error(call, throwing, 400, "JavaScriptException", "At 0:0 Script failed for document ID 'users/1'. x");
}

/// A slow one is stopped on its way: its state keeps how far it came, and the list says which query it was.
#[test]
fn a_killed_patch_tells_what_it_did() {
    let wire = wire();
    // At one a second it takes far longer than stopping it does.
    for id in 2..=30 {
        wire.put(&format!("users/{id}"), r#"{"@metadata":{"@collection":"Users"}}"#);
    }
    let query = "from Users update { this.a = 1 }";
    let body = format!(r#"{{"Query":{{"Query":"{query}"}}}}"#);
    assert_eq!(wire.call("PATCH /databases/db/queries?maxOpsPerSec=1", &body).status, 200);
    let until = |text: &str| wire.until("GET /databases/db/operations/state?id=1", |state| state.text().contains(text));
    until(r#""Total":30"#);
    wire.check("POST /databases/db/operations/kill?id=1", "", 204, "");
    let ended = until(r#""Status":"Canceled""#).text();
    assert!(ended.contains(r#""Total":30"#) && !ended.contains(r#""Processed":0"#), "{ended}");
    let list = wire.call("GET /databases/db/operations", "").text();
    assert!(list.contains(&format!(r#""Description":"Patch by query","Query":"{query}""#)), "{list}");
}

/// As documents are found: letter by letter, so that `Σ` at the end of a name is no other letter than within.
#[test]
fn a_script_sees_what_it_put_under_the_same_id() {
    let wire = wire();
    let script =
        "put('ΑΣ', {a: 1}); this.put = load('ασ').a; this.other = !load('ας'); del('ασ'); this.gone = !load('ΑΣ')";
    let modified = r#"{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"},"put":1,"other":true,"gone":true}"#;
    let expected = format!(
        r#"{{"Status":"Patched","ModifiedDocument":{modified},"LastModified":"DATE","ChangeVector":"A:4-ID","Collection":"Users"}}"#
    );
    wire.check(DOCS, &format!(r#"{{"Patch":{{"Script":"{script}"}}}}"#), 200, &expected);
}

/// A document inside of another one keeps its own metadata alone, whatever the script was told of it.
#[test]
fn what_is_told_of_a_document_is_not_stored_inside_of_another_one() {
    let wire = wire();
    let patch = r#"{"Patch":{"Script":"this.Twin = load('users/1'); this.Seen = this.Twin['@metadata']['@id']; put('copy/1', { Of: this })"}}"#;
    let answer = wire.call("PATCH /databases/db/docs?id=users/1", patch);
    assert_eq!(answer.status, 200, "{}", answer.text());
    for id in ["users/1", "copy/1"] {
        let text = wire.call(&format!("GET /databases/db/docs?id={id}"), "").text();
        assert!(text.contains(r#""Twin":{"#) && text.contains(r#""Seen":"users/1""#), "{text}");
        assert_eq!(text.matches("@change-vector").count(), 1, "{text}");
        assert_eq!(text.matches("@id").count(), 1, "{text}");
    }
}

const JSON_PATCH: &str = "PATCH /databases/db/json-patch?id=users/1";

fn operations(operations: &str) -> String {
    format!(r#"{{"Operations":[{operations}]}}"#)
}

#[test]
fn a_json_patch_changes_a_document_by_paths() {
    let wire = wire();
    let body = operations(
        r#"{"op":"test","path":"/Name","value":"Ann"},{"op":"add","path":"/Tags","value":["a"]},{"op":"add","path":"/Tags/-","value":"b"},{"op":"move","from":"/D","path":"/E"}"#,
    );
    let expected = r#"{"Status":"Patched","ModifiedDocument":{"Name":"Ann","@metadata":{"@collection":"Users"},"Tags":["a","b"],"E":1.50},"LastModified":"DATE","ChangeVector":"A:2-ID","Collection":"Users"}"#;
    wire.check(JSON_PATCH, &body, 200, expected);
    wire.check(JSON_PATCH, &operations(r#"{"op":"test","path":"/E","value":1.5}"#), 200, r#"{"Status":"NotModified"}"#);
    wire.check(JSON_PATCH, &operations(""), 200, r#"{"Status":"NotModified"}"#);
    let stored = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(stored.contains(r#"{"Name":"Ann","Tags":["a","b"],"E":1.50,"@metadata""#), "{stored}");
    let metadata = operations(r#"{"op":"add","path":"/@metadata/Extra","value":5}"#);
    assert!(wire.call(JSON_PATCH, &metadata).text().contains(r#""@metadata":{"@collection":"Users","Extra":5}"#));
}

#[test]
fn a_json_patch_is_applied_whole_or_not_at_all() {
    let wire = wire();
    for (body, message) in [
        (
            operations(r#"{"op":"add","path":"/N","value":1},{"op":"remove","path":"/none"}"#),
            "operation 2 of the JSON Patch names '/none'",
        ),
        (operations(r#"{"op":"test","path":"/Name","value":"Bob"}"#), "operation 1 of the JSON Patch fails"),
        (operations(r#"{"op":"replace","path":"","value":5}"#), "object"),
        (operations(r#"{"op":"frob","path":"/x"}"#), "unknown 'op' 'frob'"),
        ("{}".to_owned(), "an array 'Operations'"),
    ] {
        let answer = wire.call(JSON_PATCH, &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert!(answer.text().contains(message), "{body}: {}", answer.text());
    }
    let none =
        wire.call("PATCH /databases/db/json-patch?id=users/9", &operations(r#"{"op":"add","path":"/N","value":1}"#));
    assert_eq!(none.status, 400);
    assert!(none.text().contains("there is no such document"), "{}", none.text());
    // Deeper than a client may send.
    let deeper = r#"{"op":"add","path":"/N","value":{}},{"op":"copy","from":"","path":"/N/c"}"#;
    let deep = operations(
        &vec![deeper; 1]
            .into_iter()
            .chain(vec![r#"{"op":"copy","from":"","path":"/N/c"}"#; 300])
            .collect::<Vec<_>>()
            .join(","),
    );
    assert_eq!(wire.call(JSON_PATCH, &deep).status, 400);
    let stored = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(stored.contains(r#"{"Name":"Ann","D":1.50,"@metadata""#), "{stored}");
}

#[test]
fn json_patches_stand_in_batches_and_check_change_vectors() {
    let wire = wire();
    let vector = wire.call("GET /databases/db/docs?id=users/1", "").json();
    let vector = vector.get("Results").and_then(|results| match results {
        json::Value::Array(documents) => {
            documents[0].get("@metadata")?.get("@change-vector")?.as_str().map(str::to_owned)
        }
        _ => None,
    });
    let command = |vector: &str, value: u32| {
        format!(
            r#"{{"Commands":[{{"Type":"PUT","Id":"users/2","Document":{{"N":1}}}},{{"Type":"JsonPatch","Id":"users/1","ChangeVector":"{vector}","ReturnDocument":true,"JsonPatch":{{"Operations":[{{"op":"add","path":"/N","value":{value}}}]}}}}]}}"#
        )
    };
    let answer = wire.call("POST /databases/db/bulk_docs", &command(&vector.unwrap(), 1));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let expected = r#"{"Id":"users/1","ChangeVector":"A:3-ID","LastModified":"DATE","Type":"JsonPatch","PatchStatus":"Patched","ModifiedDocument":{"Name":"Ann","D":1.50,"@metadata":{"@collection":"Users"},"N":1}}"#;
    assert!(answer.masked().contains(expected), "{}", answer.masked());
    let answer = wire.call("POST /databases/db/bulk_docs", &command("A:1-x", 2));
    assert_eq!(answer.status, 409, "{}", answer.text());
}
