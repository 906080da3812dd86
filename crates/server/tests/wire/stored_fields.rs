//! Fields that an index stores, and where projections take their values from. Expected values are those of the reference, but
//! that numbers and booleans stay what they are; its first engine gives texts.

use super::support::Wire;

fn with_index() -> Wire {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","Age":1.50,"City":"Oslo","@metadata":{"@collection":"Users"}}"#);
    let definition = r#"{"Indexes":[{"Name":"I",
        "Maps":["from u in docs.Users select new { u.Name, N = u.Name + \"!\", Big = u.Age > 1, M = u.Missing, _ = CreateField(\"Made\", u.City, true, false) }"],
        "Fields":{"N":{"Storage":"Yes"},"Big":{"Storage":"Yes"},"M":{"Storage":"Yes"}}}]}"#;
    let answer = wire.call("PUT /databases/db/admin/indexes", definition);
    assert_eq!(answer.status, 201, "{}", answer.text());
    wire
}

/// The first result without what differs from run to run.
#[track_caller]
fn first(wire: &Wire, query: &str, behavior: &str) -> String {
    let body = format!(
        r#"{{"Query":"from index 'I' {query}","WaitForNonStaleResults":true,"ProjectionBehavior":"{behavior}"}}"#
    );
    let answer = wire.call("POST /databases/db/queries", &body);
    let text = answer.text();
    let (_, rest) = text.split_once("\"Results\":[").unwrap_or_else(|| panic!("{text}"));
    let (values, metadata) = rest.split_once("\"@metadata\":{").unwrap();
    let is_loaded = !metadata.contains("\"@change-vector\":null");
    format!("{values}{}", if is_loaded { "loaded" } else { "stored" })
}

#[test]
fn stored_values_are_projected_without_loading_the_document() {
    let wire = with_index();
    let check = |query: &str, expected: &str| assert_eq!(first(&wire, query, "Default"), expected, "{query}");
    check("select N", r#"{"N":"Ann!",stored"#);
    check("select N as X, Big, id()", r#"{"X":"Ann!","Big":true,"id()":"users/1",stored"#);
    check("select N, Name", r#"{"N":"Ann!","Name":"Ann",loaded"#);
    check("select Made", r#"{"Made":"Oslo",loaded"#);
    check("select M, N", r#"{"M":null,"N":"Ann!",stored"#);
    check("as i select i.M, i.N", r#"{"N":"Ann!",stored"#);
    check("select distinct Big", r#"{"Big":true,stored"#);
    wire.put("users/1", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#);
    check("select N, Name", r#"{"N":"Bob!","Name":"Bob",loaded"#);
}

#[test]
fn a_query_says_where_its_values_come_from() {
    let wire = with_index();
    let check = |behavior: &str, query: &str, expected: &str| {
        assert_eq!(first(&wire, query, behavior), expected, "{behavior}: {query}");
    };
    check("FromIndex", "select N, Name, Nope", r#"{"N":"Ann!",stored"#);
    check("FromIndexOrThrow", "select N", r#"{"N":"Ann!",stored"#);
    check("FromDocument", "select N, Name", r#"{"N":null,"Name":"Ann",loaded"#);
    check("FromDocumentOrThrow", "select Name", r#"{"Name":"Ann",loaded"#);
    let ask = |behavior: &str, query: &str| {
        let body = format!(
            r#"{{"Query":"from index 'I' {query}","WaitForNonStaleResults":true,"ProjectionBehavior":"{behavior}"}}"#
        );
        wire.call("POST /databases/db/queries", &body)
    };
    let message = "Could not extract field 'Name' from index";
    ask("FromIndexOrThrow", "select Name").check_error(500, "InvalidQueryException", message);
    let message = "Could not extract field 'N' from document";
    ask("FromDocumentOrThrow", "select N").check_error(500, "InvalidQueryException", message);
    ask("Perhaps", "select N").check_error(500, "System.ArgumentException", "'ProjectionBehavior' must be");
}
