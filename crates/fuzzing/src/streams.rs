//! The streams of bulk inserts and imports, in pieces as a network brings them.

use database::smuggler::SmugglerOptions;
use database::{Database, Databases, DatabasesOptions};
use std::cell::RefCell;
use std::sync::Arc;

/// Inputs that one database in memory takes; then there is a new one.
const INPUTS_MAX: u32 = 200;

/// A database of a node of its own, and how many inputs it took.
struct CachedDatabase {
    _node: Arc<Databases>,
    database: Arc<Database>,
    inputs: u32,
}

thread_local! {
    static KEPT: RefCell<Option<CachedDatabase>> = const { RefCell::new(None) };
}

fn database() -> Arc<Database> {
    KEPT.with_borrow_mut(|kept| {
        if let Some(kept) = kept.as_mut().filter(|kept| kept.inputs < INPUTS_MAX) {
            kept.inputs += 1;
            return kept.database.clone();
        }
        let node = Databases::open(DatabasesOptions::in_memory()).expect("memory can be had");
        let database = node.find_or_create("Fuzz").expect("memory can be had");
        *kept = Some(CachedDatabase { _node: node, database: database.clone(), inputs: 0 });
        database
    })
}

/// The first byte tells the size of the pieces, the rest is the stream.
pub(crate) fn bulk_insert(input: &[u8]) {
    let Some((size, stream)) = input.split_first() else { return };
    let database = database();
    let Ok(mut insert) = database.bulk_insert(None, size & 1 == 1) else { return };
    let before = database.read().last_etag().expect("nothing is damaged");
    for piece in stream.chunks(1 + usize::from(*size)) {
        match insert.feed(piece) {
            Ok(false) => {}
            Ok(true) => {
                let counts = insert.finish();
                let after = database.read().last_etag().expect("nothing is damaged");
                if let Ok(counts) = counts {
                    assert!(after >= before && counts.documents <= counts.items, "{counts:?}");
                }
                return;
            }
            Err(error) => {
                insert.fail(error);
                return;
            }
        }
    }
    insert.finish().ok();
}

pub(crate) fn bulk_insert_seeds() -> Vec<Vec<u8>> {
    let texts = [
        r#"[{"Id":"a/1","Document":{"Name":"x","@metadata":{"@collection":"As"}},"Type":"PUT"}]"#,
        r#"[{"Id":"a/1","Document":{},"Type":"PUT"},{"Type":"HeartBeat"},{"Id":"a/","Document":{"b":[1,2]},"Type":"PUT"}]  "#,
        r#" [ {"Type":"Counters","Counters":{}},{"Id":"x","Type":"TimeSeriesBulkInsert"},{"Id":"x","Type":"AttachmentPUT"}]"#,
        r#"[]"#,
        r#"[{"Id":"a","Document":{"a":"\"]}[{"},"Type":"PUT"}"#,
        r#"{"Id":1}"#,
    ];
    let sizes = [0u8, 7, 200];
    texts.iter().flat_map(|text| sizes.map(|size| [&[size][..], text.as_bytes()].concat())).collect()
}

/// The first byte tells the size of the pieces and whether what is bad is skipped, the rest is a dump.
pub(crate) fn dump(input: &[u8]) {
    let Some((size, stream)) = input.split_first() else { return };
    let database = database();
    let options = SmugglerOptions { skips_corrupted: size & 1 == 1, ..SmugglerOptions::default() };
    let Ok(mut import) = database.import(None, options, &[]) else { return };
    for piece in stream.chunks(1 + usize::from(*size)) {
        match import.feed(piece) {
            Ok(false) => {}
            Ok(true) => {
                match import.finish() {
                    Ok(imported) => {
                        let read = imported.result.counts(database::smuggler::ItemType::Documents).read;
                        assert!(imported.document_count <= read, "{imported:?}");
                        import.end(imported.result);
                    }
                    Err(error) => _ = import.fail(error),
                }
                return;
            }
            Err(error) => {
                import.fail(error);
                return;
            }
        }
    }
    let error = import.cut_off();
    import.fail(error);
}

pub(crate) fn dump_seeds() -> Vec<Vec<u8>> {
    let texts = [
        &br#"{"BuildVersion":71028,"DatabaseRecord":{"DatabaseName":"S","LockMode":"Unlock"},"Docs":[{"Name":"x","@metadata":{"@collection":"As","@id":"a/1","@change-vector":"A:1-x","@flags":"Artificial, FromIndex","@last-modified":"2026-11-27T06:22:49.2791733Z"}}]}"#[..],
        b"{\"Docs\":[{\"@metadata\":{\"@export-type\":\"Attachment\"},\"Size\":4,\"Tag\":\"a/1\x1ed\"}]}\"[,{\"@metadata\":{\"@id\":\"a/1\"}}]}",
        br#"{"Indexes":[{"Type":"AutoMapReduce","IndexDefinition":{"Name":"Auto/Orders/ByCountReducedByCompany","Version":62006,"Collections":["Orders"],"LockMode":0,"MapFields":[{"Name":"Count","Indexing":"Default","Aggregation":1,}],"GroupByFields":[{"Name":"Company","Indexing":"Default","GroupByArrayBehavior":"NotApplicable",}],"GroupByFieldNames":["Company"]}}]}"#,
        br#"{"Identities":[{"Key":"users|","Value":"17"},{"Key":"b|","Value":3}],"CompareExchange":[{"Key":"a","Value":"{}"}],"Subscriptions":[]}"#,
        br#"{"Tombstones":[{"Key":"a/1","Type":"Document","Collection":"As","Etag":7}],"TimeSeries":[{"@raven-data":{},"@raven-blob-size":3}abc]}"#,
        br#"{"Docs":[{"Max":32,"@metadata":{"@collection":"@hilo","@id":"Raven/Hilo/as"}},{"b":tru},{"@metadata":{}}]} more"#,
    ];
    let sizes = [0u8, 7, 200];
    texts.iter().flat_map(|text| sizes.map(|size| [&[size][..], text].concat())).collect()
}

/// The first byte tells the size of the pieces, the rest is a form. Its parts are the same however the pieces are cut.
pub(crate) fn form(input: &[u8]) {
    let Some((size, body)) = input.split_first() else { return };
    let pieces = server::fuzzing::read_form(body, 1 + usize::from(*size));
    if body.len() <= 4096 {
        assert_eq!(pieces, server::fuzzing::read_form(body, body.len().max(1)));
    }
}

pub(crate) fn form_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "--X\r\nContent-Disposition: form-data; name=\"importOptions\"\r\n\r\n{}\r\n--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n{\"Docs\":[]}\r\n--X--\r\n",
        "preamble\r\n--X\r\ncontent-disposition: form-data; name=a\r\n\r\n\r\n--\r\n--X--",
        "--X\r\n\r\n\r\n--X--",
        "--X--",
    ];
    let sizes = [0u8, 7, 200];
    texts.iter().flat_map(|text| sizes.map(|size| [&[size][..], text.as_bytes()].concat())).collect()
}
