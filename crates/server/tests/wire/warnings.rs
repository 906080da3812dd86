//! Warnings in the answers of queries: names that no document has, and the automatic indexes that are not made for them.

use super::support::Wire;

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    wire.put(
        "orders/1",
        r#"{"Freight":1,"Tags":[],"Note":null,"ShipTo":{"Country":"NO"},"At":"2020-01-02T00:00:00Z",
            "Lines":[{"Product":"p","Notes":[]}],"@metadata":{"@collection":"Orders","Kind":"x"}}"#,
    );
    wire.put("orders/2", r#"{"Freight":2,"Old":1,"@metadata":{"@collection":"Orders"}}"#);
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire
}

/// The warnings of a query.
#[track_caller]
fn warnings(wire: &Wire, query: &str) -> Vec<String> {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    match answer.json().get("Warnings") {
        None => Vec::new(),
        Some(json::Value::Array(warnings)) => {
            assert!(!warnings.is_empty(), "{query}");
            warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
        }
        Some(_) => panic!("{}", answer.text()),
    }
}

#[track_caller]
fn check(wire: &Wire, query: &str, expected: &[&str]) {
    assert_eq!(warnings(wire, query), expected, "{query}");
}

/// `"Results":[names]}`
fn index_names(wire: &Wire) -> String {
    let text = wire.call("GET /databases/db/indexes?namesOnly=true", "").text();
    text[text.find("\"Results\"").unwrap()..].to_owned()
}

#[test]
fn a_field_that_no_document_has_is_warned_of() {
    let wire = with_orders();
    let freight = "No document in Orders has a value in `Freigth`. Did you mean `Freight`?";
    check(&wire, "from Orders where Freigth > 1", &[freight]);
    check(&wire, "from Orders where Freight > 1", &[]);
    check(&wire, "from Orders as o where o.Freigth > 1 or o.Freight = 1", &[freight]);
    check(
        &wire,
        "from orders order by freight",
        &["No document in orders has a value in `freight`. Did you mean `Freight`?"],
    );
    check(&wire, "from Orders where exact(Freigth = 'x') or search(Freigth, 'y')", &[freight]);
    let country = "No document in Orders has a value in `ShipTo.Contry`. Did you mean `ShipTo.Country`?";
    check(&wire, "from Orders where ShipTo.Contry = 'NO'", &[country]);
    let country = "No document in Orders has a value in `Country`. Did you mean `ShipTo.Country`?";
    check(&wire, "from Orders where Country = 'NO'", &[country]);
    let product = "No document in Orders has a value in `Lines[].Prodcut`. Did you mean `Lines[].Product`?";
    check(&wire, "from Orders where Lines[].Prodcut = 'p'", &[product]);
    check(&wire, "from Orders where Xyzzy = 1", &["No document in Orders has a value in `Xyzzy`."]);
    check(&wire, "from @all_docs where Nmae = 'Ann'", &["No document has a value in `Nmae`. Did you mean `Name`?"]);
    let two = ["No document in Orders has a value in `Xyz`.", "No document in Orders has a value in `Zyx`."];
    check(&wire, "from Orders where Zyx = 1 and Xyz = 2", &two);
}

/// What is there in another form than a text or a number, or is no field.
#[test]
fn fields_that_are_there_are_not_warned_of() {
    let wire = with_orders();
    for condition in [
        "Note = null",
        "Tags = 'x'",
        "Tags[] = 'x'",
        "Lines[].Product = 'p'",
        "Lines.Product = 'p'",
        "Lines[].Notes = 'n'",
        "Lines.Count = 1",
        "At.Year = 2020",
        "At > '2019'",
        "ShipTo = 'x'",
        "Old = 1",
        "id() = 'orders/1' and Freight = 1",
        "@metadata.Kind = 'x'",
        "@metadata.'@collection' = 'Orders'",
        "@metadata.'@last-modified' > '2000'",
        "Freight = 1 order by score()",
        "Freight = 1 order by random()",
        "spatial.within(spatial.point(Lat, Lng), spatial.circle(1, 2, 3))",
    ] {
        check(&wire, &format!("from Orders where {condition}"), &[]);
    }
    check(&wire, "from Orders as o where Name = 1 select o.Freight as Name", &[]);
    check(&wire, "from Orders where id() = 'orders/9'", &[]);
    check(&wire, "from Orders", &[]);
    check(&wire, "from @all_docs", &[]);
    check(&wire, "from @empty", &[]);
    check(&wire, "from Orders group by ShipTo.Country select count(), key()", &[]);
    check(&wire, "from Orders group by Note order by count() select count() as N, key()", &[]);
    check(&wire, "from Orders group by array(Tags) select count()", &[]);
}

#[test]
fn a_key_of_groups_that_no_document_has_is_warned_of() {
    let wire = with_orders();
    let country = "No document in Orders has `ShipTo.Contry`. Did you mean `ShipTo.Country`?";
    check(&wire, "from Orders group by ShipTo.Contry select count(), key()", &[country]);
    for number in 0..40 {
        wire.put(&format!("orders/1{number}"), r#"{"Freight":2,"@metadata":{"@collection":"Orders"}}"#);
    }
    let country = "None of the newest 32 documents in Orders, which were read, has `ShipTo.Contry`.";
    check(&wire, "from Orders group by ShipTo.Contry select count(), key()", &[country]);
}

#[test]
fn a_field_is_known_as_long_as_a_document_has_it() {
    let wire = with_orders();
    check(&wire, "from Orders where Old = 1", &[]);
    wire.put("orders/2", r#"{"Freight":2,"Young":1,"@metadata":{"@collection":"Orders"}}"#);
    check(&wire, "from Orders where Old = 1", &["No document in Orders has a value in `Old`."]);
    wire.put("orders/3", r#"{"Old":2,"@metadata":{"@collection":"Orders"}}"#);
    check(&wire, "from Orders where Old = 1", &[]);
}

/// An index that is stopped lacks documents that may have the field.
#[test]
fn a_stale_index_speaks_of_what_it_has() {
    let wire = with_orders();
    check(&wire, "from Orders where Later = 1", &["No document in Orders has a value in `Later`."]);
    assert_eq!(wire.call("POST /databases/db/admin/indexes/stop", "").status, 204);
    wire.put("orders/3", r#"{"Later":2,"@metadata":{"@collection":"Orders"}}"#);
    // The sample has it.
    check(&wire, "from Orders where Later = 1", &[]);
    wire.put("orders/3", r#"{"@metadata":{"@collection":"Orders"}}"#);
    check(
        &wire,
        "from Orders where Later = 1",
        &["No document in Orders that is indexed so far has a value in `Later`."],
    );
}

#[test]
fn fields_of_named_indexes_are_warned_of_where_the_index_makes_them() {
    let wire = with_orders();
    let index =
        r#"{"Indexes":[{"Name":"Made","Maps":["map('Orders', o => ({ _: createField('Weight', o.Freight, {}) }))"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    check(&wire, "from index 'Made' where Weight = 1", &[]);
    let weight = "No entry of the index 'Made' has a field `Wieght`. Did you mean `Weight`?";
    check(&wire, "from index 'Made' where Wieght = 1", &[weight]);
}

#[test]
fn a_collection_that_never_had_a_document_is_warned_of_and_gets_no_index() {
    let wire = with_orders();
    let oders = "There is no collection `Oders`. Did you mean `Orders`?";
    for query in ["from Oders", "from Oders where id() = 'orders/1'", "from Oders where Freight > 100 order by Name"] {
        check(&wire, query, &[oders]);
    }
    check(&wire, "from Oders group by Freight select count()", &[oders]);
    check(&wire, "from Invoices", &["There is no collection `Invoices`."]);
    assert_eq!(index_names(&wire), r#""Results":[]}"#);
}

/// As if the index were there.
#[test]
fn the_answer_for_such_a_collection_is_that_of_an_empty_index() {
    let wire = with_orders();
    let ask = |query: &str| wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}"}}"#));
    let answer = ask("from Oders where Freight > 100");
    let text = answer.masked();
    assert!(text.contains(r#""TotalResults":0"#) && text.contains(r#""Results":[],"Includes":{}"#), "{text}");
    assert!(text.contains(r#""IndexName":"Auto/Oders/ByFreight""#) && text.contains(r#""IsStale":false"#), "{text}");
    let suggestions = ask("from Oders select suggest(Name, 'x')").text();
    assert!(suggestions.contains(r#""Suggestions":[]"#), "{suggestions}");
    let deleted = wire.call("DELETE /databases/db/queries", r#"{"Query":"from Oders where Freight > 100"}"#);
    assert_eq!(deleted.status, 200, "{}", deleted.text());
    let stream = wire.call("POST /databases/db/streams/queries", r#"{"Query":"from Oders where Freight > 1"}"#).text();
    assert!(stream.contains(r#""Results":[]"#), "{stream}");
    assert_eq!(index_names(&wire), r#""Results":[]}"#);
    // The first document brings the index.
    wire.put("oders/1", r#"{"Freight":101,"@metadata":{"@collection":"Oders"}}"#);
    let answer = ask("from Oders where Freight > 100").text();
    assert!(answer.contains(r#""TotalResults":1"#) && !answer.contains("Warnings"), "{answer}");
    assert_eq!(index_names(&wire), r#""Results":["Auto/Oders/ByFreight"]}"#);
    // A collection that had a document is known.
    assert_eq!(wire.call("DELETE /databases/db/docs?id=oders/1", "").status, 204);
    check(&wire, "from Oders", &[]);
    check(&wire, "from Oders where Freight > 100", &[]);
}
