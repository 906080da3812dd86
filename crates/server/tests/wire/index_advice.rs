//! The index adviser: `indexes/advice`.

use super::support::{Answer, Wire};

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    for number in 0..20 {
        wire.put(&format!("orders/{number}"), r#"{"Freight":1,"Company":"c","@metadata":{"@collection":"Orders"}}"#);
    }
    wire
}

fn query(wire: &Wire, parameters: &str, text: &str) -> Answer {
    let body = format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call(&format!("POST /databases/db/queries{parameters}"), &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer
}

fn advice(wire: &Wire, parameters: &str) -> String {
    let answer = wire.call(&format!("GET /databases/db/indexes/advice{parameters}"), "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

/// `"Results":[names]}`
fn index_names(wire: &Wire) -> String {
    let text = wire.call("GET /databases/db/indexes?namesOnly=true", "").text();
    text[text.find("\"Results\"").unwrap()..].to_owned()
}

#[test]
fn an_index_for_a_misspelt_field_is_proposed_for_deletion() {
    let wire = with_orders();
    assert_eq!(advice(&wire, ""), r#"{"Results":[]}"#);
    query(&wire, "", "from Orders where Freight = 1");
    assert_eq!(advice(&wire, ""), r#"{"Results":[]}"#);
    query(&wire, "?neverWidenAutoIndexes=true", "from Orders where Freigth = 1");
    let found = advice(&wire, "");
    let expected = r#"{"Index":"Auto/Orders/ByFreigth","Problem":"FieldsWithoutValues","Message":"No indexed document has a value in Freigth.","Action":"Delete","Effect":"The next query creates the index again with the fields that it needs.","Merge":null,"Request":{"Method":"DELETE","Path":"/databases/db/indexes?name=Auto%2FOrders%2FByFreigth","Body":null}}"#;
    assert!(found.contains(expected), "{found}");
    assert_eq!(wire.call("DELETE /databases/db/indexes?name=Auto%2FOrders%2FByFreigth", "").status, 204);
    assert_eq!(advice(&wire, ""), r#"{"Results":[]}"#);
}

#[test]
fn two_narrow_indexes_are_proposed_as_one() {
    let wire = with_orders();
    query(&wire, "", "from Orders where Freight = 1");
    query(&wire, "?neverWidenAutoIndexes=true", "from Orders where Company = 'c'");
    let found = advice(&wire, "");
    let expected = r#""Merge":{"Index":"Auto/Orders/ByCompanyAndFreight","Fields":["Company","Freight"],"Replaced":["Auto/Orders/ByCompany","Auto/Orders/ByFreight"]},"Request":{"Method":"POST","Path":"/databases/db/queries","Body":{"Query":"from 'Orders' where exists(Company) and exists(Freight) limit 0"}}"#;
    assert!(found.contains(expected), "{found}");
    query(&wire, "", "from 'Orders' where exists(Company) and exists(Freight) limit 0");
    assert!(index_names(&wire).contains("Auto/Orders/ByCompanyAndFreight"), "{}", index_names(&wire));
    // The two go once it is complete, and are superfluous until then.
    let found = advice(&wire, "");
    assert!(!found.contains("Mergeable"), "{found}");
}

#[test]
fn an_index_without_queries_is_proposed_for_deletion() {
    let wire = with_orders();
    let index = r#"{"Indexes":[{"Name":"I","Maps":["from o in docs.Orders select new { o.Company }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    assert_eq!(advice(&wire, ""), r#"{"Results":[]}"#);
    let found = advice(&wire, "?unusedAfter=00:00:00");
    let expected = r#""Problem":"Unused","Message":"No query used the index since it was created or the database was opened.","Action":"Delete""#;
    assert!(found.contains(expected), "{found}");
    assert!(found.contains("writes to Orders update one index less"), "{found}");
    assert_eq!(wire.call("GET /databases/db/indexes/advice?unusedAfter=x", "").status, 400);
}

#[test]
fn a_failed_index_is_proposed_for_a_reset() {
    let wire = Wire::with_database();
    let index = r#"{"Indexes":[{"Name":"F","Maps":["map('Users', u => ({ A: u.Name.Nope.Nope }))"]}]}"#;
    let put = wire.call("PUT /databases/db/admin/indexes", index);
    assert_eq!(put.status, 201, "{}", put.text());
    let commands: Vec<String> = (0..200)
        .map(|number| {
            let document = r#"{"Name":"x","@metadata":{"@collection":"Users"}}"#;
            format!(r#"{{"Id":"users/{number}","Type":"PUT","Document":{document}}}"#)
        })
        .collect();
    let body = format!(r#"{{"Commands":[{}]}}"#, commands.join(","));
    assert_eq!(wire.call("POST /databases/db/bulk_docs", &body).status, 201);
    // It fails, and so does the query.
    let failed = wire.call("POST /databases/db/queries", r#"{"Query":"from index 'F'","WaitForNonStaleResults":true}"#);
    assert_eq!(failed.status, 400, "{}", failed.text());
    let found = advice(&wire, "");
    assert!(
        found.starts_with(r#"{"Results":[{"Index":"F","Problem":"Failed","Message":"The index has failed,"#),
        "{found}"
    );
    assert!(
        found.contains(r#""Request":{"Method":"RESET","Path":"/databases/db/indexes?name=F","Body":null}"#),
        "{found}"
    );
}
