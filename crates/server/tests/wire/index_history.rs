//! `GET /databases/{name}/indexes/history`: the definitions that an index had. Expected answers are those of the reference.

use super::support::Wire;

#[test]
fn the_history_of_an_index_has_its_definitions_the_newest_first() {
    let wire = Wire::with_database();
    wire.put("ds/1", r#"{"N":1,"@metadata":{"@collection":"Ds"}}"#);
    for field in ["A", "B", "B", "C"] {
        let map = format!("from d in docs.Ds select new {{ d.{field} }}");
        let body = format!(r#"{{"Indexes":[{{"Name":"I/x","Maps":["{map}"]}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
    }
    let answer = wire.call("GET /databases/db/indexes/history?name=i/X", "");
    assert_eq!(answer.status, 200);
    let (text, json) = (answer.masked(), answer.json());
    assert!(text.starts_with(r#"{"Index":"I/x","History":[{"Definition":{"#), "{text}");
    assert!(text.ends_with(r#""Source":null,"CreatedAt":"DATE","RollingDeployment":{}}]}"#), "{text}");
    let Some(json::Value::Array(entries)) = json.get("History") else { panic!("{text}") };
    let maps = entries
        .iter()
        .map(|entry| String::from_utf8(entry.get("Definition").unwrap().get("Maps").unwrap().to_vec()).unwrap());
    let expected = ["C", "B", "A"].map(|field| format!(r#"["from d in docs.Ds select new {{ d.{field} }}"]"#));
    assert_eq!(maps.collect::<Vec<_>>(), expected);
    wire.check("GET /databases/db/indexes/history?name=none", "", 404, "");
    wire.call("POST /databases/db/queries", r#"{"Query":"from Ds where N = 1","WaitForNonStaleResults":true}"#);
    wire.check("GET /databases/db/indexes/history?name=Auto/Ds/ByN", "", 404, "");
    let message = "Query string value 'name' must have a non empty value";
    wire.check_error("GET /databases/db/indexes/history", "", 400, "ArgumentException", message);
}
