//! `explain from ..`: the operators of a query, and what each came to. The reference has no such thing.

use super::support::Wire;

fn with_documents() -> Wire {
    let wire = Wire::with_database();
    for number in 0..20 {
        let city = if number % 4 == 0 { "Oslo" } else { "Rome" };
        let document = format!(
            r#"{{"City":"{city}","Total":{number},"T":"red fox {number}","@metadata":{{"@collection":"Orders"}}}}"#
        );
        wire.put(&format!("orders/{number}"), &document);
    }
    wire
}

fn ask(wire: &Wire, query: &str) -> super::support::Answer {
    let body =
        format!(r#"{{"Query":"{query}","QueryParameters":{{"p":["Oslo","Rome"]}},"WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

/// `name field [argument] estimate/rows`, children indented.
fn outline(operator: &json::Value, depth: usize, out: &mut String) {
    let text = |name: &str| operator.get(name).and_then(json::Value::as_str).map(str::to_owned);
    let number = |name: &str| operator.get(name).and_then(json::Value::as_i64);
    let count = |name: &str| number(name).map_or("-".to_owned(), |number| number.to_string());
    out.push_str(&"  ".repeat(depth));
    out.push_str(&text("Operator").unwrap());
    if let Some(field) = text("Field") {
        out.push_str(&format!(" {field}"));
    }
    if let Some(argument) = text("Argument") {
        out.push_str(&format!(" [{argument}]"));
    }
    out.push_str(&format!(" {}/{}\n", count("Estimate"), count("Rows")));
    let Some(json::Value::Array(children)) = operator.get("Children") else { panic!("{operator:?}") };
    let time = number("Microseconds").unwrap();
    let is_within = |child: &json::Value| child.get("Microseconds").and_then(json::Value::as_i64).unwrap() <= time;
    assert!(number("Rows").is_none() || children.iter().all(is_within), "{operator:?}");
    children.iter().for_each(|child| outline(child, depth + 1, out));
}

#[track_caller]
fn plan(wire: &Wire, query: &str) -> (json::Value, String) {
    let answer = ask(wire, query);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let [result] = results.as_slice() else { panic!("{answer:?}") };
    let mut text = String::new();
    outline(result.get("Plan").unwrap(), 0, &mut text);
    (result.clone(), text)
}

#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str) {
    assert_eq!(plan(wire, query).1, expected, "{query}");
}

#[test]
fn operators_are_told_with_their_rows() {
    let wire = with_documents();
    check(&wire, "explain from Orders where City = 'Oslo'", "load -/5\n  term City [Oslo] 5/5\n");
    check(
        &wire,
        "explain from Orders where City = 'Oslo' and Total > 10 order by Total as long desc select Total limit 1",
        "project [Total] -/1
  load -/1
    sort [Total as double desc] 5/1
      and 5/2
        term City [Oslo] 5/3
        range Total [{10 TO *]] 9/3
",
    );
    check(
        &wire,
        "explain from Orders where search(T, 'fox') and (City in ($p) or exists(City)) and not startsWith(City, 'R')",
        "load -/5
  and 5/5
    search T [fox] -/20
    or 40/20
      in City [Oslo, Rome] 20/20
      exists City [*] 20/20
    not 5/-
      startsWith City [R*] 15/15
",
    );
    let (result, text) = plan(
        &wire,
        "explain declare function f(x) { return { c: x.City } } from Orders as o where o.City = 'Oslo' select f(o)",
    );
    assert_eq!(text, "script -/5\n  load -/5\n    term City [Oslo] 5/5\n");
    assert_eq!(result.get("TotalResults").and_then(json::Value::as_i64), Some(5));
    let index = result.get("Index").and_then(json::Value::as_str).unwrap();
    assert!(index.starts_with("Auto/Orders/By"), "{index}");
    assert!(result.get("@metadata").unwrap().get("@projection").is_some());
}

#[test]
fn queries_without_index_are_told() {
    let wire = with_documents();
    check(&wire, "EXPLAIN from Orders limit 3", "collection [Orders] 20/3\n");
    check(&wire, "explain from @all_docs select City", "project [City] -/20\n  collection [@all_docs] 20/20\n");
    check(&wire, "explain from Orders where id() in ('orders/1', 'x')", "ids [orders/1, x] 2/1\n");
    check(&wire, "explain from Orders where startsWith(id(), 'orders/1')", "idPrefix [orders/1*] -/11\n");
}

#[test]
fn plans_are_bounded() {
    let wire = with_documents();
    let many: Vec<String> = (0..400).map(|number| format!("Total = {number}")).collect();
    let (result, text) = plan(&wire, &format!("explain from Orders where {}", many.join(" or ")));
    // 256 operators, with 'load' besides.
    assert_eq!(text.lines().count(), 257);
    let omitted = |value: &json::Value| value.get("Omitted").and_then(json::Value::as_i64);
    let Some(json::Value::Array(children)) = result.get("Plan").unwrap().get("Children") else { panic!() };
    assert_eq!(omitted(&children[0]), Some(400 - 255));
    let long = "x".repeat(300);
    let (_, text) = plan(&wire, &format!("explain from Orders where City = '{long}'"));
    assert_eq!(text, format!("load -/0\n  term City [{}\u{2026}] 0/0\n", "x".repeat(256)));
}

#[test]
fn what_cannot_be_told_is_refused() {
    let wire = with_documents();
    for query in [
        "explain from Orders include City",
        "explain from Orders where City = 'x' include timings()",
        "explain from Orders select distinct City",
        "explain from Orders select suggest(City, 'oslo')",
    ] {
        let answer = ask(&wire, query);
        assert_eq!(answer.status, 501, "{query}: {}", answer.text());
        assert!(answer.text().contains("'explain'"), "{query}: {}", answer.text());
    }
    let query = r#"{"Query":"explain from Orders where City = 'x'"}"#;
    let update = r#"{"Query":{"Query":"explain from Orders update { this.a = 1 }"}}"#;
    for (call, body) in [
        ("POST /databases/db/streams/queries", query),
        ("DELETE /databases/db/queries", query),
        ("PATCH /databases/db/queries", update),
    ] {
        let answer = wire.call(call, body);
        assert_eq!(answer.status, 501, "{call}: {}", answer.text());
        assert!(answer.text().contains("'explain'"), "{call}: {}", answer.text());
    }
}
