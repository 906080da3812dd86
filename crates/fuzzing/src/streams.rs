//! The stream of a bulk insert, in pieces as a network brings it.

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
