//! Many threads on one database: transfers between accounts, a bulk insert beside them, and readers that check the sum.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use json::Raw;
use rookery_database::documents::{self, Batch, Document, Expected, PrefixQuery};
use rookery_database::*;
use testing::effort;
use testing::random::Random;
use testing::seeds::{self, Case};

const ACCOUNTS: u64 = 10;
const START: i64 = 1000;

fn balance(document: &Document<'_>) -> i64 {
    document.body().get("Balance").and_then(Raw::as_i64).unwrap()
}

fn put(batch: &mut Batch, account: u64, balance: i64, expected: Expected) {
    let json = format!(r#"{{"Balance":{balance},"@metadata":{{"@collection":"Accounts"}}}}"#);
    batch.put(&format!("accounts/{account}"), json.as_bytes(), expected).unwrap();
}

/// Moves an amount under the condition that both accounts are as they were read; false if somebody was quicker.
fn transfer(database: &Database, from: u64, to: u64, amount: i64) -> bool {
    let mut batch = Batch::new();
    {
        let snapshot = database.read();
        for (account, change) in [(from, -amount), (to, amount)] {
            let document = snapshot.get(&format!("ACCOUNTS/{account}")).unwrap().unwrap();
            put(&mut batch, account, balance(&document) + change, Expected::Vector(document.change_vector()));
        }
    }
    match database.execute(batch) {
        Ok(_) => true,
        Err(Error::Documents(documents::Error::Conflict { .. })) => false,
        Err(error) => panic!("{error}"),
    }
}

fn sums(database: &Database) -> (i64, i64) {
    let snapshot = database.read();
    let query = PrefixQuery { prefix: "accounts/".into(), count_max: 100, ..PrefixQuery::default() };
    let by_id = snapshot.by_prefix(query).unwrap().map(|document| balance(&document.unwrap())).sum();
    let by_etag = snapshot.collection_after("Accounts", 0).unwrap().map(|document| balance(&document.unwrap())).sum();
    (by_id, by_etag)
}

#[test]
fn readers_see_whole_transfers_and_nothing_is_lost() {
    let rounds = effort::choose(150, 20_000);
    let seed = seeds::one();
    let _case = Case::of(seed);
    let folder = tempfile::tempdir().unwrap();
    let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
    let database = databases.find_or_create("bank").unwrap();
    let mut batch = Batch::new();
    (0..ACCOUNTS).for_each(|account| put(&mut batch, account, START, Expected::Missing));
    database.execute(batch).unwrap();

    let (is_done, moved) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let expected = (START * ACCOUNTS as i64, START * ACCOUNTS as i64);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    while !is_done.load(Relaxed) {
                        assert_eq!(sums(&database), expected);
                    }
                })
            })
            .collect();
        let bulk = scope.spawn(|| {
            let mut bulk = database.bulk_insert(None, false).unwrap();
            bulk.feed(b"[").unwrap();
            for n in 0..20_000 {
                let comma = if n == 0 { "" } else { "," };
                bulk.feed(format!(r#"{comma}{{"Id":"other/{n}","Type":"PUT","Document":{{"N":{n}}}}}"#).as_bytes())
                    .unwrap();
            }
            assert!(bulk.feed(b"]").unwrap());
            assert_eq!(bulk.finish().unwrap().documents, 20_000);
        });
        let writers: Vec<_> = (0..4u64)
            .map(|writer| {
                let (database, moved) = (&database, &moved);
                scope.spawn(move || {
                    let mut random = Random::new(seed ^ writer << 40);
                    for _ in 0..rounds {
                        let (from, to, amount) = (random.below(ACCOUNTS), random.below(ACCOUNTS), random.below(50));
                        if from != to && transfer(database, from, to, amount as i64) {
                            moved.fetch_add(1, Relaxed);
                        }
                    }
                })
            })
            .collect();
        bulk.join().unwrap();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_done.store(true, Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(sums(&database), expected);
    assert!(moved.load(Relaxed) > 0);
    // Each transfer took two etags, each other document one, and none was taken twice.
    assert_eq!(database.read().last_etag().unwrap(), ACCOUNTS + 2 * moved.load(Relaxed) + 20_000);
    assert_eq!(database.read().verify().unwrap().problems, Vec::<String>::new());
    assert_eq!(database.queued_count(), 0);
    drop((database, databases));
    let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
    assert_eq!(sums(&databases.find("Bank").unwrap()), expected);
}
