//! What reviews of the document store found, each as the case that showed it.
#![allow(missing_docs)]

use rookery_documents::*;
use storage::{Environment, Options};

fn store() -> DocumentStore {
    open(Environment::in_memory(Options::default()).unwrap()).unwrap()
}

fn open(environment: Environment) -> Result<DocumentStore> {
    DocumentStore::open(environment, StoreOptions::default())
}

/// The id of such a hi-lo's document ends as one that the server completes: each range was noted under another id, and the
/// next caller was given the same numbers again.
#[test]
fn a_hilo_whose_tag_asks_for_completion_gives_no_number_twice() {
    let store = store();
    for tag in ["users/", "users|"] {
        let next = || {
            let request = HiLoRequest { tag: tag.to_owned(), ..HiLoRequest::default() };
            store.write(Date::now(), |writing| writing.next_hilo(&request)).unwrap()
        };
        let (first, second) = (next(), next());
        assert!(second.low > first.high, "{tag}: {first:?}, then {second:?}");
        assert!(store.read().get(&format!("Raven/Hilo/{tag}")).unwrap().is_some());
    }
    assert_eq!(store.read().identities().unwrap(), []);
}
