//! Writes as bytes, as a log has them.

use documents::{
    Batch, Date, DefinitionChange, DocumentStore, Expected, HiLoRequest, OutputWrite, OutputWrites, Stamp,
    StoreOptions, Write,
};
use storage::{Environment, Options};

fn encoded(write: &Write) -> Vec<u8> {
    let mut bytes = Vec::new();
    write.encode(&mut bytes).expect("no patch is in it");
    bytes
}

/// A write that can be read is written as it is read, and can be applied or is refused.
pub(crate) fn writes(input: &[u8]) {
    let Ok(write) = Write::decode(input) else { return };
    let bytes = encoded(&write);
    let again = Write::decode(&bytes).expect("what was encoded can be decoded");
    assert!(encoded(&again) == bytes, "{write:?}");
    let environment = Environment::in_memory(Options::default()).expect("memory");
    let store = DocumentStore::open(environment, StoreOptions::default()).expect("an empty environment");
    store
        .apply(&write, Stamp { time: Date::from_ticks(1 << 59), id_separator: '-', revisions: Default::default() })
        .ok();
    store.read().verify().expect("the documents can be read");
}

/// A write of each kind.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let batch = || {
        let mut batch = Batch::new();
        let document = br#"{"Name":"a","@metadata":{"@collection":"Users","x":[1]}}"#;
        batch.put("users/1", document, Expected::Missing).expect("a good document");
        batch.put("users/", b"{}", Expected::Any).expect("a good document");
        batch.put("users|", b"{}", Expected::Vector("A:1-x".to_owned())).expect("a good document");
        batch.delete("users/2", Expected::Any).expect("a good id");
        batch.delete_prefixed("u").expect("a good id");
        batch
    };
    let definition = |name: &str| DefinitionChange::Put {
        kind: "index".to_owned(),
        name: name.to_owned(),
        generation: 1,
        definition: b"{}".to_vec(),
    };
    let deletion = DefinitionChange::Delete { kind: "index".to_owned(), name: "b".to_owned() };
    let outputs = OutputWrites {
        only_if: ("index".to_owned(), "a".to_owned(), 1),
        writes: vec![OutputWrite { batch: batch(), surplus: Some(("users".to_owned(), 1)) }],
    };
    let writes = [
        Write::batch(batch()),
        Write::silent_batch(batch()),
        Write::NextHiLo(HiLoRequest { tag: "users".to_owned(), separator: Some('/'), ..HiLoRequest::default() }),
        Write::ReturnHiLo { tag: "users".to_owned(), end: 32, last: 7 },
        Write::NextIdentity { name: "users|".to_owned() },
        Write::SeedIdentity { name: "users|".to_owned(), value: -7, is_forced: true },
        Write::NewId { prefix: "users/".to_owned() },
        Write::DeleteUntil { ids: vec!["users/1".to_owned()], etag: 300 },
        Write::DeleteCollection { name: "Users".to_owned(), etag: 7, count_max: 10 },
        Write::CleanTombstones { etag: 7, count_max: 10 },
        Write::Definitions(vec![definition("a"), deletion]),
        Write::Outputs(outputs),
    ];
    writes.iter().map(encoded).collect()
}
