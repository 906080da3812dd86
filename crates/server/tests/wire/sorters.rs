//! `/databases/{name}/admin/sorters` and `/admin/sorters`: custom sorters. None is served.

use super::support::Wire;

const SORTER: &str = r"using Lucene.Net.Search;\nnamespace A { public class MySorter : FieldComparator { public MySorter(string f) { } } }";

#[test]
fn sorters_are_refused_by_name_once_they_are_some() {
    let wire = Wire::with_database();
    let of = |name: &str, code: &str| format!(r#"{{"Sorters":[{{"Name":"{name}","Code":"{code}"}}]}}"#);
    let compilation = "SorterCompilationException";
    let served = format!(
        "Rookery {} does not support the sorter 'class MySorter : FieldComparator' in line 2 (no sorter in C# is served",
        env!("CARGO_PKG_VERSION")
    );
    for (line, delete) in [
        ("PUT /databases/db/admin/sorters", "DELETE /databases/db/admin/sorters"),
        ("PUT /admin/sorters", "DELETE /admin/sorters"),
    ] {
        wire.check_error(line, &of("MySorter", SORTER), 501, "RavenException", &served);
        wire.check_error(
            line,
            &of("Other", SORTER),
            400,
            compilation,
            "Could not find type 'Other' in given assembly.",
        );
        wire.check_error(line, &of("X", "bad"), 400, compilation, "Failed to compile sorter 'X'\n\n(1, ");
        wire.check_error(line, &of("", SORTER), 400, "ArgumentException", "Sorter must have a 'Name' field.");
        wire.check_error(line, &of("X", ""), 400, "ArgumentException", "Sorter must have a 'Code' field.");
        wire.check_error(line, "{}", 400, "ArgumentException", "Request should have a property name 'Sorters'");
        wire.check_error(line, r#"{"Sorters":3}"#, 400, "ArgumentException", "'Sorters' must be an array");
        wire.check(line, r#"{"Sorters":[]}"#, 201, "");
        wire.check(&format!("{delete}?name=MySorter"), "", 204, "");
        wire.check_error(delete, "", 400, "ArgumentException", "Query string value 'name' must have a non empty value");
    }
    let query = r#"{"Query":"from Companies order by custom(name, 'MySorter')"}"#;
    let message = "There is no sorter with 'MySorter' name.";
    wire.check_error("POST /databases/db/queries", query, 400, "SorterDoesNotExistException", message);
    let record = wire.call("GET /admin/databases?name=db", "").text();
    assert!(record.contains(r#""Sorters":{}"#), "{record}");
    let record = r#"{"DatabaseName":"x","Sorters":{"A":{"Name":"A","Code":"x"}}}"#;
    wire.check_error("PUT /admin/databases?name=x", record, 501, "RavenException", "");
}
