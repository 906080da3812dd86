//! `/databases/{name}/collections`

use super::support::Wire;

#[test]
fn collections_are_counted() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"@metadata":{"@collection":"Users"}}"#);
    wire.put("x", "{}");
    let expected = r#"{"CountOfDocuments":3,"CountOfDocumentsConflicts":0,"CountOfConflicts":0,"CountOfRevisionDocuments":0,"CountOfTombstones":0,"CountOfTimeSeriesDeletedRanges":0,"CountOfAttachments":0,"CountOfCounterEntries":0,"CountOfTimeSeriesSegments":0,"Collections":{"@empty":1,"Users":2}}"#;
    wire.check("GET /databases/db/collections/stats", "", 200, expected);
    let detailed = wire.call("GET /databases/db/collections/stats/detailed", "").json();
    let users = detailed.get("Collections").and_then(|collections| collections.get("Users")).unwrap();
    assert_eq!(users.get("CountOfDocuments").and_then(json::Value::as_i64), Some(2));
    for key in ["Name", "Size", "DocumentsSize", "TombstonesSize", "RevisionsSize"] {
        assert!(users.get(key).is_some(), "{key}");
    }
}
