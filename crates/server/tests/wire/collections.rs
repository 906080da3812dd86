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

#[test]
fn the_size_of_a_collection_is_that_of_all_its_parts() {
    let wire = Wire::with_database();
    let revisions = r#"{"Default":{"Disabled":false}}"#;
    assert_eq!(wire.call("POST /databases/db/admin/revisions/config", revisions).status, 200);
    for text in ["a", "b"] {
        wire.put("users/1", &format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"Users"}}}}"#));
        wire.put("users/2", &format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"Users"}}}}"#));
    }
    wire.check("DELETE /databases/db/docs?id=users/2", "", 204, "");
    let counter = r#"{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"a"}]}]}"#;
    assert_eq!(wire.call("POST /databases/db/counters", counter).status, 200);
    let detailed = wire.call("GET /databases/db/collections/stats/detailed", "").json();
    let users = detailed.get("Collections").and_then(|collections| collections.get("Users")).unwrap();
    let size = |name: &str| users.get(name).and_then(|size| size.get("SizeInBytes")).unwrap().as_i64().unwrap();
    let parts = ["DocumentsSize", "TombstonesSize", "RevisionsSize", "CounterEntriesSize"].map(size);
    assert!(parts.iter().all(|part| *part > 0), "{parts:?}");
    assert_eq!(size("Size"), parts.iter().sum::<i64>());
}
