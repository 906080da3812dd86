//! The data file of a database whose bytes were changed and whose hashes fit: what documents and their keys look like then.

use crate::disk::{Template, options};
use crate::edits;
use documents::{Batch, Date, DocumentStore, Expected, ItemKind, PrefixQuery, StoreOptions};
use std::sync::OnceLock;
use storage::Environment;

const FOLDER: &str = "/environment";

fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        Template::new(|io| {
            let environment = Environment::open(FOLDER, options(io)).expect("an empty disk");
            let store = DocumentStore::open(environment, StoreOptions::default()).expect("an empty environment");
            let mut batch = Batch::new();
            for number in 0..20 {
                let document =
                    format!(r#"{{"Name":"n{number}","@metadata":{{"@collection":"C{}","x":[1]}}}}"#, number % 3);
                batch.put(&format!("Docs/{number}"), document.as_bytes(), Expected::Any).expect("a good document");
            }
            store.write(Date::from_ticks(1 << 59), |writing| writing.run(&batch)).expect("a disk without faults");
            let mut batch = Batch::new();
            batch.delete("Docs/3", Expected::Any).expect("a good id");
            batch.put("orders|", b"{}", Expected::Any).expect("a good id");
            store.write(Date::from_ticks(1 << 59), |writing| writing.run(&batch)).expect("a disk without faults");
            let environment = store.into_environment();
            let id = environment.id();
            environment.close().expect("a disk without faults");
            id
        })
    })
}

/// Changes of a database's data file, as [`edits`] has them; the hashes are made to fit.
pub(crate) fn documents(input: &[u8]) {
    let template = template();
    let disk = template.disk();
    template.change(&disk, "data", |bytes| {
        edits::apply(bytes, input);
        template.fix_data(bytes);
    });
    let Ok(environment) = Environment::open(FOLDER, options(&disk)) else { return };
    let Ok(store) = DocumentStore::open(environment, StoreOptions::default()) else { return };
    read_all(&store).ok();
    let mut batch = Batch::new();
    for number in [0, 3, 7, 30] {
        batch.put(&format!("docs/{number}"), br#"{"a":1,"@metadata":{"@collection":"C1"}}"#, Expected::Any).ok();
    }
    batch.delete("docs/5", Expected::Any).ok();
    store.write(Date::from_ticks(1 << 59), |writing| writing.run(&batch)).ok();
    read_all(&store).ok();
    store.environment().flush().ok();
}

fn read_all(store: &DocumentStore) -> documents::Result<()> {
    const DOCUMENTS_MAX: usize = 2_000;
    let snapshot = store.read();
    let mut out = Vec::new();
    for number in 0..22 {
        if let Ok(Some(document)) = snapshot.get(&format!("docs/{number}")) {
            out.clear();
            document.write_to(&mut out);
            document.write_metadata_only(&mut out);
            document.change_vector();
            document.collection();
        }
    }
    let ids: Vec<(String, u64)> = (0..40).map(|number| (format!("docs/{}", number % 22), number)).collect();
    if let Ok(found) = snapshot.get_written(ids.iter().map(|(id, etag)| (id.as_str(), *etag))) {
        found.iter().flatten().for_each(|document| document.write_to(&mut out));
    }
    for document in snapshot.after(0).take(DOCUMENTS_MAX).flatten() {
        document.write_to(&mut out);
        out.clear();
    }
    snapshot.latest().take(DOCUMENTS_MAX).for_each(drop);
    for kind in ItemKind::all() {
        let Ok(changes) = snapshot.changes(&[kind], None, 0) else { continue };
        for item in changes.take(DOCUMENTS_MAX).flatten() {
            snapshot.collection_of(&item).ok();
            item.dump(&mut out);
            out.clear();
        }
    }
    for name in ["C0", "C1", "C2"] {
        if let Ok(found) = snapshot.collection_after(name, 0) {
            found.take(DOCUMENTS_MAX).for_each(drop);
        }
    }
    if let Ok(found) = snapshot.by_prefix(PrefixQuery::default()) {
        found.take(DOCUMENTS_MAX).for_each(drop);
    }
    snapshot.collections().ok();
    snapshot.statistics().ok();
    snapshot.identities().ok();
    snapshot.change_vector().ok();
    Ok(())
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for page in 2..16u16 {
        for field in [0, 33, 34, 36, 40, 60] {
            let [low, high] = (page * 64 + field).to_le_bytes();
            seeds.push(vec![low, high, 1, 3, 1]);
        }
    }
    // Words within pages: where records begin, what they say of themselves.
    for word in (2048..16_384u16).step_by(97) {
        let [low, high] = word.to_le_bytes();
        seeds.push(vec![low, high, 3, 4, 1, low, high, 2, 5, 200]);
    }
    seeds
}
