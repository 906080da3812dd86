//! `POST /databases/{name}/multi_get`

use super::support::Wire;

#[test]
fn requests_are_answered_in_order_as_if_they_came_alone() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    let document =
        r#"{"@metadata":{"@collection":"Users","@change-vector":"A:1-ID","@id":"users/1","@last-modified":"DATE"}}"#;
    let body = r#"{"Requests":[
        {"Url":"/databases/DB/docs","Query":"?&id=users/1","Method":null,"Headers":{},"Content":null},
        {"Url":"/databases/db/docs","Query":"?id=none","Method":"GET"},
        {"Url":"/databases/db/queries","Query":"?queryHash=1","Method":"POST","Content":"{\"Query\":\"from Nope\"}"},
        {"Url":"/databases/db/queries","Method":"POST","Content":{"Query":"from Users where"}},
        {"Url":"/databases/none/docs","Query":"?id=a b"},
        {"Url":"/databases/db/bulk_docs","Method":"POST"},
        {"Url":"/databases/db/docs","Method":"PUT"},
        {"Url":"/databases/db/multi_get","Method":"POST"}]}"#;
    let answer = wire.call("POST /databases/db/multi_get", body);
    assert_eq!(answer.status, 200);
    let first = format!(
        r#"{{"Results":[{{"Result":{{"Results":[{document}],"Includes":{{}}}},"StatusCode":200,"Headers":{{"ETag":"\"A:1-ID\""}}}},"#
    );
    assert!(answer.masked().starts_with(&first), "{}", answer.masked());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!() };
    let statuses: Vec<i64> = results.iter().map(|result| result.get("StatusCode").unwrap().as_i64().unwrap()).collect();
    assert_eq!(statuses, [200, 404, 200, 400, 400, 501, 501, 501]);
    assert_eq!(results[1].get("Result"), Some(&json::Value::Null));
}

#[test]
fn an_inner_etag_that_fits_is_304() {
    let wire = Wire::with_database();
    wire.put("a", "{}");
    let etag = wire.call("GET /databases/db/docs?id=a", "").header("etag").unwrap().replace('"', "\\\"");
    let body = format!(
        r#"{{"Requests":[{{"Url":"/databases/db/docs","Query":"?id=a","Headers":{{"If-None-Match":"{etag}"}}}}]}}"#
    );
    wire.check(
        "POST /databases/db/multi_get",
        &body,
        200,
        r#"{"Results":[{"Result":null,"StatusCode":304,"Headers":{}}]}"#,
    );
    wire.check_error(
        "POST /databases/db/multi_get",
        "{}",
        400,
        "ArgumentException",
        "The body must have an array 'Requests'",
    );
}

#[test]
fn writes_and_streams_are_refused_and_limits_count_inside_too() {
    let wire = Wire::start_with(|options| options.limits.query_parameter_count = 3);
    wire.create("db");
    wire.put("a", "{}");
    let status = |request: &str| {
        let answer = wire.call("POST /databases/db/multi_get", &format!("{{\"Requests\":[{request}]}}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = answer.json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!() };
        results[0].get("StatusCode").unwrap().as_i64().unwrap()
    };
    for request in [
        r#"{"Url":"/databases/db/streams/docs"}"#,
        r#"{"Url":"/databases/db/streams/queries","Query":"?query=from%20@all_docs"}"#,
        r#"{"Url":"/databases/db/streams/queries","Method":"POST","Content":{"Query":"from @all_docs"}}"#,
        r#"{"Url":"/databases/db/hilo/next","Query":"?tag=z"}"#,
        r#"{"Url":"/databases/db/changes"}"#,
        r#"{"Url":"/admin/databases","Query":"?name=db"}"#,
        r#"{"Url":"/nosuch/docs"}"#,
    ] {
        assert_eq!(status(request), 501, "{request}");
    }
    wire.check("GET /databases/db/docs?startsWith=Raven/Hilo/", "", 200, r#"{"Results":[]}"#);
    assert_eq!(status(r#"{"Url":"/databases/db/docs","Query":"?id=a&id=a&id=a"}"#), 200);
    assert_eq!(status(r#"{"Url":"/databases/db/docs","Query":"?id=a&id=a&id=a&id=a"}"#), 414);
    let long = "y".repeat(33 << 10);
    assert_eq!(status(&format!(r#"{{"Url":"/databases/db/docs","Query":"?id={long}"}}"#)), 414);
    assert_eq!(status(&format!(r#"{{"Url":"/databases/db/docs","Query":"?id=a","Headers":{{"X":"{long}"}}}}"#)), 431);
}
