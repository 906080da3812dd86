//! `/databases/{name}/identity`

use super::support::Wire;

#[test]
fn identities_count_up_and_are_seeded() {
    let wire = Wire::with_database();
    wire.check("POST /databases/db/identity/next?name=invoices%7C", "", 200, r#"{"NewIdentityValue":1}"#);
    wire.check("POST /databases/db/identity/seed?name=invoices%7C&value=100", "", 200, r#"{"NewSeedValue":100}"#);
    wire.check("POST /databases/db/identity/seed?name=invoices%7C&value=5", "", 200, r#"{"NewSeedValue":100}"#);
    wire.check(
        "POST /databases/db/identity/seed?name=invoices%7C&value=5&force=true",
        "",
        200,
        r#"{"NewSeedValue":5}"#,
    );
    wire.check("GET /databases/db/debug/identities", "", 200, r#"{"invoices|":5}"#);
    wire.check_error("POST /databases/db/identity/next", "", 400, "ArgumentException", "Query string value 'name'");
    wire.check_error(
        "POST /databases/db/identity/seed?name=a",
        "",
        400,
        "ArgumentException",
        "Query string value 'value'",
    );
}
