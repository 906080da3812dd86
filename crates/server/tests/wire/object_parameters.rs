//! Objects as parameters of comparisons: an index compares their compact JSON text with its terms, `filter` compares as JavaScript does.

use super::support::Wire;

fn with_users() -> Wire {
    let wire = Wire::with_database();
    for (id, value) in [
        ("u/1", r#"{ "x": 1.50, "y": "T\u00e9xt\n" }"#),
        ("u/2", r#"{"y":"Téxt\n","x":1.50}"#),
        ("u/3", r#""{\"x\":1.50,\"y\":\"Téxt\\n\"}""#),
        ("u/4", r#"{"x":2}"#),
        ("u/5", "null"),
        ("u/6", "7"),
        ("u/7", r#"[{"x":2},{"x":3}]"#),
    ] {
        wire.put(id, &format!(r#"{{"A":{value},"@metadata":{{"@collection":"Users"}}}}"#));
    }
    wire
}

/// The ids of what is found, where the parameter `$p` is an object, and `$q` an array with it and another one.
#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str) {
    let object = r#"{"x" : 1.50, "y": "T\u00e9xt\n"}"#;
    let parameters = format!(r#"{{"p":{object},"q":[{object},{{"x":2}}],"low":{{"x":1.6}},"high":{{"x":3}}}}"#);
    let body = format!(r#"{{"Query":"{query}","QueryParameters":{parameters},"WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{query}") };
    let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
    assert_eq!(results.iter().filter_map(id).collect::<Vec<_>>().join(" "), expected, "{query}");
}

#[test]
fn an_index_compares_the_compact_text() {
    let wire = with_users();
    let check = |query: &str, expected: &str| check(&wire, query, expected);
    check("from Users where A = $p", "u/1 u/3");
    check("from Users where exact(A = $p)", "u/1 u/3");
    check("from Users where A != $p", "u/2 u/4 u/5 u/6 u/7");
    check("from Users where A in ($p)", "u/1 u/3");
    check("from Users where A in ($q)", "u/1 u/3 u/4 u/7");
    check("from Users where A[] in ($high, $q)", "u/1 u/3 u/4 u/7");
    check("from Users where A[] all in ($high)", "u/7");
    check("from Users where A between $low and $high", "u/4 u/7");
    check("from Users where A >= $low", "u/2 u/4 u/7");
    check("from Users where A < $low", "u/1 u/3 u/6");
    check("from Users where id() = $p or id() in ($q)", "");
}

/// These are the answers of the reference, but that `in` asks the elements of an array here.
#[test]
fn a_filter_compares_as_javascript_does() {
    let wire = with_users();
    let check = |query: &str, expected: &str| check(&wire, query, expected);
    check("from Users filter A = $p", "");
    check("from Users filter A != $p", "u/1 u/2 u/3 u/4 u/5 u/6 u/7");
    check("from Users filter A in ($q)", "");
    check("from Users filter A > $p", "u/3");
    check("from Users filter A >= $p", "u/1 u/2 u/3 u/4");
    check("from Users filter A < $p", "");
}

#[test]
fn an_array_is_no_object() {
    let wire = with_users();
    let body = r#"{"Query":"from Users where A = $p","QueryParameters":{"p":[{"x":1}]}}"#;
    let message = "An array is not supported where one value is compared";
    wire.check_error("POST /databases/db/queries", body, 400, "InvalidQueryException", message);
    let body = r#"{"Query":"from Users where startsWith(A, $p)","QueryParameters":{"p":{"x":1}}}"#;
    let message = "Method startsWith() needs a field and a text";
    wire.check_error("POST /databases/db/queries", body, 400, "InvalidQueryException", message);
}
