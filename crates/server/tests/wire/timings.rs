//! `include timings()`: how long each step of a query takes.

use super::support::Wire;

/// The names of a tree: `Query(Lucene Retriever(Storage))`.
fn names(timings: &json::Value) -> String {
    let Some(json::Value::Object(steps)) = timings.get("Timings") else { return String::new() };
    let step = |(name, step): &(String, json::Value)| {
        assert!(matches!(step.get("DurationInMs"), Some(json::Value::Number(_))), "{step:?}");
        let inner = names(step);
        if inner.is_empty() { name.clone() } else { format!("{name}({inner})") }
    };
    steps.iter().map(step).collect::<Vec<_>>().join(" ")
}

fn ask(wire: &Wire, query: &str) -> super::support::Answer {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

#[test]
fn the_steps_that_a_query_takes_are_told() {
    let wire = Wire::with_database();
    wire.put("docs/1", r#"{"T":"red fox","F":"docs/1","@metadata":{"@collection":"Docs"}}"#);
    let check = |query: &str, expected: &str| {
        let answer = ask(&wire, query);
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let answer = answer.json();
        let timings = answer.get("Timings").unwrap_or_else(|| panic!("{query}: {answer:?}"));
        assert_eq!(names(timings), expected, "{query}");
        // Clients take nothing for not measured.
        assert!(timings.get("DurationInMs").and_then(json::Value::as_i64).unwrap() > 0, "{query}");
    };
    // The reference has loading as a part of projections, and does not tell it of collections.
    check("from Docs include timings()", "Query(Retriever(Storage))");
    check("from Docs where search(T, 'fox') include timings()", "Optimizer Query(Lucene Retriever(Storage)) Staleness");
    check(
        "from Docs where search(T, 'fox') select T include timings(), F",
        "Optimizer Query(Includes Lucene Retriever(Projection Storage)) Staleness",
    );
    check(
        "from Docs as d where search(d.T, 'fox') select { a: d.T } include timings()",
        "Optimizer Query(Lucene Retriever(Projection(JavaScript) Storage)) Staleness",
    );
    check(
        "from Docs where search(T, 'fox') include highlight(T, 18, 1), timings()",
        "Optimizer Query(Highlightings(Setup) Lucene Retriever(Storage)) Staleness",
    );
}

#[test]
fn nothing_is_told_unless_it_is_asked_for() {
    let wire = Wire::with_database();
    assert!(ask(&wire, "from Docs where T = 'x'").json().get("Timings").is_none());
    let refused = ask(&wire, "from Docs include timings(1)");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("Method 'timings()' expects zero arguments"), "{}", refused.text());
}
