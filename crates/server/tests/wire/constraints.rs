//! `/databases/{name}/admin/constraints`, and writes that break a constraint.

use super::support::Wire;

const CONSTRAINTS: &str = "PUT /databases/db/admin/constraints";

fn put(wire: &Wire, id: &str, email: &str) -> u16 {
    wire.put(id, &format!(r#"{{"Email":"{email}","@metadata":{{"@collection":"Users"}}}}"#)).status
}

#[test]
fn a_constraint_is_made_listed_and_deleted() {
    let wire = Wire::with_database();
    let made = r#"{"Name":"Users/Email","Collection":"Users","Fields":["Email"],"CaseSensitive":false}"#;
    wire.check(CONSTRAINTS, r#"{"Collection":"Users","Fields":["Email"]}"#, 201, made);
    wire.check("GET /databases/db/admin/constraints", "", 200, &format!(r#"{{"Results":[{made}]}}"#));
    assert_eq!(put(&wire, "users/1", "ann@x.org"), 201);
    let same = r#"{"Email":"ANN@X.ORG","@metadata":{"@collection":"Users"}}"#;
    let refused = wire.call("PUT /databases/db/docs?id=users/2", same);
    refused.check_error(409, "ConcurrencyException", "The document 'users/2' has the same Email as 'users/1'");
    assert!(refused.text().contains(r#""ConflictingId":"users/1""#), "{}", refused.text());
    assert_eq!(wire.call("GET /databases/db/docs?id=users/2", "").status, 404);
    assert_eq!(wire.call("DELETE /databases/db/admin/constraints?name=users/email", "").status, 204);
    assert_eq!(wire.call("DELETE /databases/db/admin/constraints?name=users/email", "").status, 404);
    assert_eq!(put(&wire, "users/2", "ann@x.org"), 201);
    let broken = wire.call(CONSTRAINTS, r#"{"Collection":"Users","Fields":["Email"]}"#);
    let message = "The constraint 'Users/Email' cannot be made, because 1 document breaks it: 'users/1' and 'users/2' have \"ann@x.org\"";
    broken.check_error(409, "InvalidOperationException", message);
}

#[test]
fn mistakes_in_constraints_are_told() {
    let wire = Wire::with_database();
    for (body, message) in [
        (r#"{"Collection":"Users"}"#, "from 1 to 16 fields"),
        (r#"{"Fields":["A"]}"#, "is no collection"),
        (r#"{"Collection":"@empty","Fields":["A"]}"#, "is no collection"),
        (r#"{"Collection":"Users","Fields":[""]}"#, "has no name"),
        (r#"{"Collection":"Users","Fields":"A"}"#, "an array of strings"),
        (r#"{"Collection":"Users","Fields":["A"],"Unique":true}"#, "no property 'Unique'"),
        (r#"{"Collection":"Users","Fields":["A"],"CaseSensitive":1}"#, "true or false"),
    ] {
        let answer = wire.call(CONSTRAINTS, body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert!(answer.text().contains(message), "{body}: {}", answer.text());
    }
}
