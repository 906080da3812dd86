//! `Configuration` of index definitions: what is unknown, malformed or without an effect is refused by name, in the words of the reference.

use super::support::{Answer, Wire};

fn put(wire: &Wire, configuration: &str) -> Answer {
    let map = "from u in docs.Users select new { u.A }";
    let body = format!(r#"{{"Indexes":[{{"Name":"F","Maps":["{map}"],"Configuration":{configuration}}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &body)
}

#[test]
fn what_is_no_setting_of_an_index_is_refused() {
    let wire = Wire::with_database();
    for (name, value) in [
        ("Indexing.Nonsense", "1"),
        ("indexing.mapbatchsize", "5"),
        ("Databases.MaxIdleTimeInSec", "1"),
        ("Patching.MaxStepsForScript", "1"),
        ("", "1"),
    ] {
        let message =
            format!("Could not create index 'F' because the configuration option key '{name}' is not recognized");
        let answer = put(&wire, &format!(r#"{{"{name}":"{value}"}}"#));
        answer.check_error(400, "Indexes.IndexCreationException", &message);
    }
    for (name, value) in [
        ("Indexing.MapTimeoutInSec", r#""x""#),
        ("Indexing.MapTimeoutInSec", r#""""#),
        ("Indexing.MapBatchSize", "null"),
        ("Indexing.IndexMissingFieldsAsNull", r#""1""#),
        ("Indexing.Static.SearchEngineType", r#""Nope""#),
    ] {
        let message = format!("Could not set '{name}' configuration setting value.");
        put(&wire, &format!(r#"{{"{name}":{value}}}"#)).check_error(400, "InvalidOperationException", &message);
    }
    let message = "Configuration 'Indexing.CleanupIntervalInMin' can only be set at server level.";
    put(&wire, r#"{"Indexing.CleanupIntervalInMin":"1"}"#).check_error(400, "InvalidOperationException", message);
    put(&wire, "[]").check_error(400, "System.ArgumentException", "'Configuration' of an index must be an object");
    assert!(wire.call("GET /databases/db/indexes", "").text().ends_with(r#""Results":[]}"#));
}

#[test]
fn what_has_no_effect_here_is_not_passed_over() {
    let wire = Wire::with_database();
    for (name, value) in [
        ("Indexing.MaxStepsForScript", "1"),
        ("Indexing.Analyzers.Search.Default", "StandardAnalyzer"),
        ("Indexing.Analyzers.NGram.MinGram", "3"),
        ("Indexing.OrderByScoreAutomaticallyWhenBoostingIsInvolved", "false"),
        ("Indexing.Disable", "true"),
    ] {
        let answer = put(&wire, &format!(r#"{{"{name}":"{value}"}}"#));
        assert_eq!(answer.status, 501, "{name}: {}", answer.text());
        assert!(answer.text().contains(&format!("the setting '{name}'")), "{}", answer.text());
    }
    let usual = r#"{"Indexing.MaxStepsForScript":"10000","Indexing.Disable":"False","Indexing.MapBatchSize":5}"#;
    assert_eq!(put(&wire, usual).status, 201);
    let sample =
        r#"{"IndexDefinition":{"Maps":["from u in docs.Users select new { u.A }"],"Configuration":{"X":"1"}}}"#;
    assert_eq!(wire.call("POST /databases/db/indexes/test", sample).status, 400);
}

/// A switch may be one of JSON, too.
#[test]
fn what_is_heeded_is_heeded_in_each_way_to_write_it() {
    let wire = Wire::with_database();
    wire.put("u/1", r#"{"B":1,"@metadata":{"@collection":"Users"}}"#);
    for value in ["true", r#""TRUE""#, r#"" true ""#] {
        assert_eq!(put(&wire, &format!(r#"{{"Indexing.IndexMissingFieldsAsNull":{value}}}"#)).status, 201);
        let body = r#"{"Query":"from index 'F' where A = null","WaitForNonStaleResults":true}"#;
        let answer = wire.call("POST /databases/db/queries", body).json();
        assert_eq!(answer.get("TotalResults").and_then(json::Value::as_i64), Some(1), "{value}");
        assert_eq!(wire.call("DELETE /databases/db/indexes?name=F", "").status, 204);
    }
}
