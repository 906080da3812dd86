//! Settings and options of queries: automatic indexes that are refused or never widened, and reads that are never stale.

use super::support::Wire;

const DISABLE: &str = "Indexing.DisableQueryOptimizerGeneratedIndexes";

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    wire.put("orders/1", r#"{"Freight":1,"Company":"c","@metadata":{"@collection":"Orders"}}"#);
    wire
}

fn set(wire: &Wire, settings: &str) {
    let answer = wire.call("PUT /databases/db/admin/configuration/settings", settings);
    assert_eq!(answer.status, 204, "{}", answer.text());
}

fn query(text: &str) -> String {
    format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#)
}

/// `"Results":[names]}`
fn index_names(wire: &Wire) -> String {
    let text = wire.call("GET /databases/db/indexes?namesOnly=true", "").text();
    text[text.find("\"Results\"").unwrap()..].to_owned()
}

/// The name of the index that answers a query, and the number of its results.
#[track_caller]
fn check(wire: &Wire, parameters: &str, text: &str, index: &str, count: i64) {
    let answer = wire.call(&format!("POST /databases/db/queries{parameters}"), &query(text));
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    let answer = answer.json();
    assert_eq!(answer.get("IndexName").and_then(|name| name.as_str()), Some(index), "{text}");
    assert_eq!(answer.get("TotalResults").and_then(|total| total.as_i64()), Some(count), "{text}");
}

#[track_caller]
fn check_refused(wire: &Wire, parameters: &str, text: &str, exception: &str, message: &str) {
    let line = format!("POST /databases/db/queries{parameters}");
    wire.check_error(&line, &query(text), 400, exception, message);
}

#[test]
fn a_query_may_refuse_to_create_an_index() {
    let wire = with_orders();
    let parameters = "?disableAutoIndexCreation=true";
    let message = "Creation of Auto Indexes was disabled and no Auto Index matching the given query was found. Leave out \
        'disableAutoIndexCreation' once, or define an index of Orders with the fields Freight and query it by its name";
    check_refused(&wire, parameters, "from Orders where Freight = 1", "InvalidOperationException", message);
    check_refused(
        &wire,
        parameters,
        "from Oders where Freight = 1",
        "InvalidOperationException",
        "Creation of Auto Indexes",
    );
    assert_eq!(index_names(&wire), r#""Results":[]}"#);
    // What needs no index, or has one.
    check(&wire, parameters, "from Orders", "collection/Orders", 1);
    check(&wire, parameters, "from Orders where id() = 'orders/1'", "collection/Orders", 1);
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    check(&wire, parameters, "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    check_refused(
        &wire,
        parameters,
        "from Orders where Freight = 1 order by Company",
        "InvalidOperationException",
        "Creation of",
    );
    let address = "GET /databases/db/queries?query=from+Orders+where+Company='c'&disableAutoIndexCreation=true";
    assert_eq!(wire.call(&address.replace('\'', "%27"), "").status, 400);
    let delete = wire
        .call("DELETE /databases/db/queries?disableAutoIndexCreation=true", &query("from Orders where Company = 'c'"));
    assert_eq!(delete.status, 400, "{}", delete.text());
    let stream = wire.call(
        "POST /databases/db/streams/queries?disableAutoIndexCreation=true",
        &query("from Orders where Company = 'c'"),
    );
    assert_eq!(stream.status, 400, "{}", stream.text());
    assert_eq!(wire.call("POST /databases/db/queries?disableAutoIndexCreation=x", &query("from Orders")).status, 400);
    assert_eq!(index_names(&wire), r#""Results":["Auto/Orders/ByFreight"]}"#);
}

#[test]
fn a_database_may_refuse_automatic_indexes() {
    let wire = with_orders();
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    set(&wire, &format!(r#"{{"{DISABLE}":"true"}}"#));
    let message = format!(
        "Dynamic queries are not supported by this database because the configuration '{DISABLE}' is set to true and the query \
         optimizer needs an index for this query. Set {DISABLE} to false, or define an index of Orders"
    );
    check_refused(&wire, "", "from Orders where Company = 'c'", "NotSupportedException", &message);
    check_refused(&wire, "", "from Orders where Freight = 1", "NotSupportedException", &message);
    check_refused(&wire, "", "from Orders group by Company select count()", "NotSupportedException", &message);
    check(&wire, "", "from index 'Auto/Orders/ByFreight' where Freight = 1", "Auto/Orders/ByFreight", 1);
    check(&wire, "", "from Orders", "collection/Orders", 1);
    let index = r#"{"Indexes":[{"Name":"I","Maps":["from o in docs.Orders select new { o.Company }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    check(&wire, "", "from index 'I' where Company = 'c'", "I", 1);
    // At once, and again after the setting is gone.
    set(&wire, "{}");
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
}

#[test]
fn the_setting_of_a_database_is_over_that_of_the_server() {
    let wire = Wire::start_with(|options| options.limits.queries.refuses_automatic = true);
    wire.create("db");
    wire.put("orders/1", r#"{"Freight":1,"@metadata":{"@collection":"Orders"}}"#);
    check_refused(
        &wire,
        "",
        "from Orders where Freight = 1",
        "NotSupportedException",
        "Dynamic queries are not supported",
    );
    set(&wire, &format!(r#"{{"{DISABLE}":"false"}}"#));
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    let malformed = wire.call("PUT /databases/db/admin/configuration/settings", &format!(r#"{{"{DISABLE}":"x"}}"#));
    assert_eq!(malformed.status, 400, "{}", malformed.text());
}

#[test]
fn automatic_indexes_are_never_widened_where_that_is_set() {
    let wire = with_orders();
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    check(&wire, "?neverWidenAutoIndexes=true", "from Orders where Company = 'c'", "Auto/Orders/ByCompany", 1);
    set(&wire, r#"{"Indexing.Auto.NeverWiden":true}"#);
    check(&wire, "", "from Orders order by Place", "Auto/Orders/ByPlace", 1);
    assert_eq!(
        index_names(&wire),
        r#""Results":["Auto/Orders/ByCompany","Auto/Orders/ByFreight","Auto/Orders/ByPlace"]}"#
    );
    let explained = wire.call("POST /databases/db/queries?debug=explain", &query("from Orders order by Next")).text();
    assert!(explained.starts_with(r#"{"IndexName":"Auto/Orders/ByNext""#), "{explained}");
    set(&wire, "{}");
    check(&wire, "", "from Orders where Next = 1", "Auto/Orders/ByNextAndPlace", 0);
}

/// Each query directly after a write has it; without the setting most of them come too early.
#[test]
fn reads_are_fresh_where_that_is_set() {
    let wire = with_orders();
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    let count = |parameters: &str| {
        let body = r#"{"Query":"from Orders where Freight = 1"}"#;
        let answer = wire.call(&format!("POST /databases/db/queries{parameters}"), body).json();
        let is_stale = answer.get("IsStale").and_then(|stale| stale.as_bool()).unwrap();
        (answer.get("TotalResults").and_then(|total| total.as_i64()).unwrap(), is_stale)
    };
    let put = |number: i64| {
        wire.put(&format!("orders/{number}"), r#"{"Freight":1,"@metadata":{"@collection":"Orders"}}"#);
        wire.put(&format!("others/{number}"), r#"{"@metadata":{"@collection":"Others"}}"#);
    };
    for number in 2..20 {
        put(number);
        assert_eq!(count("?freshReads=true"), (number, false));
    }
    set(&wire, r#"{"Query.FreshReads":"true"}"#);
    for number in 20..40 {
        put(number);
        assert_eq!(count(""), (number, false));
    }
    // An index that is stopped does not get there, and says so at once.
    assert_eq!(wire.call("POST /databases/db/admin/indexes/stop", "").status, 204);
    put(40);
    assert_eq!(count(""), (39, true));
    assert_eq!(count("?freshReads=false"), (39, true));
    assert_eq!(wire.call("POST /databases/db/queries?freshReads=x", r#"{"Query":"from Orders"}"#).status, 400);
}

/// An index that has all of its own collection does not wait for the writes of others.
#[test]
fn a_fresh_read_does_not_wait_for_writes_to_other_collections() {
    let wire = with_orders();
    check(&wire, "", "from Orders where Freight = 1", "Auto/Orders/ByFreight", 1);
    assert_eq!(wire.call("POST /databases/db/admin/indexes/stop", "").status, 204);
    wire.put("others/1", r#"{"@metadata":{"@collection":"Others"}}"#);
    let answer =
        wire.call("POST /databases/db/queries?freshReads=true", r#"{"Query":"from Orders where Freight = 1"}"#);
    assert!(answer.text().contains(r#""IsStale":false"#), "{}", answer.text());
}

/// Whoever may read asks for them, and each has descriptors and costs each write.
#[test]
fn the_number_of_automatic_indexes_is_bounded() {
    const SEPARATE_MAX: usize = 64;
    const MAX: usize = 256;
    let wire = with_orders();
    let ask = |text: &str| wire.call("POST /databases/db/queries?neverWidenAutoIndexes=true", &query(text));
    for number in 0..SEPARATE_MAX {
        let text = format!("from Orders where F{number} = 1");
        check(&wire, "?neverWidenAutoIndexes=true", &text, &format!("Auto/Orders/ByF{number}"), 0);
    }
    let widened = ask("from Orders where Another = 1").json();
    let name = widened.get("IndexName").and_then(|name| name.as_str()).unwrap();
    assert!(name.starts_with("Auto/Orders/ByAnotherAndF"), "{name}");
    let refused = (0..MAX).find_map(|number| {
        wire.put(&format!("c/{number}"), &format!(r#"{{"@metadata":{{"@collection":"C{number}"}}}}"#));
        let answer = ask(&format!("from C{number} where F = 1"));
        (answer.status != 200).then_some((number, answer))
    });
    let (count, answer) = refused.unwrap();
    assert!(count + SEPARATE_MAX <= MAX && count + SEPARATE_MAX + 2 >= MAX, "{count}");
    answer.check_error(
        400,
        "Raven.Client.Exceptions.Documents.Indexes.IndexCreationException",
        "database 'db' has as many automatic indexes as the limit AUTOMATIC_INDEX_COUNT_MAX allows",
    );
    // Definitions have room.
    let index = r#"{"Indexes":[{"Name":"Own","Maps":["from d in docs select new { d.Name }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
}
