//! `POST /databases/{name}/studio/sample-data`

use super::support::{Answer, Wire};

#[test]
fn the_sample_goes_into_an_empty_database_once() {
    let wire = Wire::with_database();
    let line = "POST /databases/db/studio/sample-data";
    wire.check(line, "", 204, "");
    let statistics = wire.call("GET /databases/db/stats", "").json();
    let counts = [
        ("CountOfDocuments", 1059),
        ("CountOfRevisionDocuments", 5475),
        ("CountOfAttachments", 17),
        ("CountOfUniqueAttachments", 17),
        ("CountOfCounterEntries", 385),
    ];
    for (name, count) in counts {
        assert_eq!(statistics.get(name).and_then(json::Value::as_i64), Some(count), "{name}");
    }
    let values = wire.call("GET /databases/db/cmpxchg?pageSize=1000", "").text();
    assert_eq!(values.matches(r#""Key""#).count(), 77);
    // From then on a change of an order makes a revision.
    let revisions = || {
        let answer = wire.call("GET /databases/db/revisions/count?id=orders/2-A", "").json();
        answer.get("RevisionsCount").and_then(json::Value::as_i64).unwrap()
    };
    let before = revisions();
    wire.put("orders/2-A", r#"{"@metadata":{"@collection":"Orders"}}"#);
    assert_eq!((before, revisions()), (7, 8));
    assert!(wire.call("GET /databases/db/docs?id=orders/1-A", "").text().contains("companies/85-A"));
    let names = wire.call("GET /databases/db/indexes?namesOnly=true", "").text();
    let expected = r#"["Orders/ByCompany","Orders/ByShipment/Location","Orders/Totals","Product/Rating","Product/Search","Products/ByUnitOnStock"]"#;
    assert!(names.contains(expected), "{names}");
    wire.check_error(
        line,
        "",
        400,
        "InvalidOperationException",
        "You cannot create sample data in a database that already contains documents",
    );
}

#[test]
fn only_the_types_that_are_named_are_made() {
    let wire = Wire::start();
    for (number, (query, documents, indexes)) in [
        ("?operateOnTypes=Documents", 1059, 0),
        ("?operateOnTypes=indexes", 0, 6),
        ("?operateOnTypes=Documents,Indexes", 1059, 6),
        ("?operateOnTypes=Documents&operateOnTypes=Attachments&operateOnTypes=TimeSeries", 1059, 0),
        ("?operateOnTypes=CounterGroups", 0, 0),
    ]
    .into_iter()
    .enumerate()
    {
        wire.create(&format!("x{number}"));
        wire.check(&format!("POST /databases/x{number}/studio/sample-data{query}"), "", 204, "");
        let statistics = wire.call(&format!("GET /databases/x{number}/stats"), "").json();
        let count = |name: &str| statistics.get(name).and_then(json::Value::as_i64);
        let counts = (count("CountOfDocuments"), count("CountOfIndexes"));
        assert_eq!(counts, (Some(documents), Some(indexes)), "{query}");
    }
    wire.create("db");
    for (value, name) in [("Foo", "Foo"), ("Documents,Foo", "Foo"), ("", "")] {
        let line = format!("POST /databases/db/studio/sample-data?operateOnTypes={value}");
        let message = format!("'operateOnTypes' has the value '{name}', which is none of: None, Documents");
        wire.check_error(&line, "", 400, "ArgumentException", &message);
    }
}

/// The counts and values are those that RavenDB 7.1.5 gives.
#[test]
fn the_indexes_of_the_sample_find_what_those_of_the_reference_find() {
    let wire = Wire::with_database();
    wire.check("POST /databases/db/studio/sample-data", "", 204, "");
    let check = |query: &str, count: i64, part: &str| {
        let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
        let answer: Answer = wire.call("POST /databases/db/queries", &body);
        let found = answer.json().get("TotalResults").and_then(json::Value::as_i64);
        assert_eq!(found, Some(count), "{query}: {}", answer.text());
        assert!(answer.text().contains(part), "{query}: {}", answer.text());
    };
    // Products of numbers with fractions are decimals there and doubles here: 110277.305 and 110277.3049999999999.
    let first = r#"[{"Company":"companies/63-A","Count":28,"Total":110277.30"#;
    check("from index 'Orders/ByCompany' order by Total as double desc limit 2", 89, first);
    let one = r#"{"Company":"companies/85-A","Count":5,"Total":1480.0,"#;
    check("from index 'Orders/ByCompany' where Company = 'companies/85-A'", 1, one);
    check("from index 'Orders/Totals' where Total > 10000 and Employee = 'employees/4-A'", 1, "orders/170-A");
    check("from index 'Orders/Totals' where Total > 10000", 10, "orders/170-A");
    check("from index 'Orders/ByShipment/Location'", 597, "orders/");
    check("from index 'Product/Search' where search(Name, 'chocolade') select Name", 1, "Chocolade");
    let rating = r#"{"Name":"Gula Malacca","Rating":4.7805192307692"#;
    check("from index 'Product/Rating' order by Rating as double desc limit 2", 77, rating);
    let votes = r#""TotalVotes":29384,"AllRatings":[{"Rating":"⭐","Votes":6475},{"Rating":"⭐⭐","Votes":33},"#;
    check("from index 'Product/Rating' where Name = 'Chai'", 1, votes);
    check("from index 'Products/ByUnitOnStock' where UnitOnStock = 7", 5, r#""@id":"products/16-A""#);
    check("from index 'Product/Search' select suggest(Name, 'chaig')", 1, r#""chai""#);
}
