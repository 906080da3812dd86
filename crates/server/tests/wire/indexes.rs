//! `/databases/{name}/indexes`: there are none, and that is what is said.

use super::support::Wire;

#[test]
fn there_are_no_indexes() {
    let wire = Wire::with_database();
    for line in ["GET /databases/db/indexes", "GET /databases/db/indexes/stats", "GET /databases/db/indexes/errors"] {
        let answer = wire.call(line, "");
        assert!(answer.text().ends_with(r#""Results":[]}"#), "{}", answer.text());
        wire.check(&format!("{line}?name=x"), "", 404, "");
    }
    wire.check("GET /databases/db/indexes/status", "", 200, r#"{"Status":"Running","Indexes":[]}"#);
    wire.check("GET /databases/db/indexes/staleness?name=x", "", 404, "");
    wire.check("GET /databases/db/indexes/terms?name=x&field=y", "", 404, "");
    wire.check("DELETE /databases/db/indexes?name=x", "", 404, "");
    wire.check_error("PUT /databases/db/admin/indexes", "{}", 501, "RavenException", "Rookery");
    wire.check_error("RESET /databases/db/indexes?name=x", "", 501, "RavenException", "Rookery");
}
