//! A database, its clients, and what they know: put under load, hurt by a test, then held against what was promised.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;

use crate::client::Client;
use crate::creator::Creator;
use crate::ledger::{ACCOUNTS, Ledger, Stored, account_id, account_ids, first_account_text};
use crate::process::Server;
use crate::writer::{Habit, Writer, with_metadata};
use testing::random::Random;

/// Documents that are loaded by their ids in one request.
const LOAD_COUNT: usize = 500;

/// The database `db` as its clients know it.
pub struct World {
    pub writers: Vec<Writer>,
    creator: Creator,
    ledger: Ledger,
    /// Snapshots whose accounts were added up under load.
    snapshots: AtomicU64,
    /// Reads under load that were not answered with 200.
    pub refused_reads: AtomicU64,
    /// Documents and deletions that were held against what was acknowledged.
    verified: u64,
}

/// What worlds went through, added up.
#[derive(Default)]
pub struct Figures {
    acknowledged: u64,
    verified: u64,
    snapshots: u64,
    etags: usize,
    databases: u64,
}

impl World {
    /// Makes the database with its accounts.
    pub fn create(server: &Server, writers: u64, habit: Habit, random: &mut Random) -> World {
        let writers = (0..writers).map(|number| Writer::new(number + 1, habit, random.split())).collect();
        let creator = Creator::new(random.split());
        let (ledger, snapshots, refused_reads) = Default::default();
        let world = World { writers, creator, ledger, snapshots, refused_reads, verified: 0 };
        let mut client = server.client();
        let answer = client.call("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.text());
        for id in (0..ACCOUNTS).map(account_id) {
            let text = first_account_text();
            let target = format!("/databases/db/docs?id={id}");
            let answer = client.call("PUT", &target, &with_metadata(&text)).unwrap();
            let vector = answer.json()["ChangeVector"].as_str().expect("it is stored").to_owned();
            world.ledger.transferred(&id, Stored { text, vector });
        }
        world
    }

    /// All clients work until `during` has returned; somebody reads the accounts, and somebody makes and deletes databases.
    pub fn load(&mut self, server: &Server, during: impl FnOnce()) {
        let is_over = AtomicBool::new(false);
        let World { writers, creator, ledger, snapshots, refused_reads, .. } = self;
        std::thread::scope(|scope| {
            for writer in writers {
                let (ledger, is_over) = (&*ledger, &is_over);
                let mut client = server.client();
                scope.spawn(move || while !is_over.load(Ordering::Relaxed) && writer.step(&mut client, ledger) {});
            }
            scope.spawn(|| {
                let mut client = server.client();
                let mut is_up = true;
                while is_up && !is_over.load(Ordering::Relaxed) {
                    is_up = creator.step(&mut client);
                }
            });
            scope.spawn(|| {
                let mut client = server.client();
                while !is_over.load(Ordering::Relaxed) {
                    match read_accounts(&mut client, ledger) {
                        Ok(true) => snapshots.fetch_add(1, Ordering::Relaxed),
                        Ok(false) => refused_reads.fetch_add(1, Ordering::Relaxed),
                        Err(_) => break,
                    };
                }
            });
            during();
            is_over.store(true, Ordering::Relaxed);
        });
    }

    /// All clients work until each has enough.
    pub fn load_until(&mut self, server: &Server, is_enough: impl Fn(&Writer) -> bool + Sync) {
        let ledger = &self.ledger;
        std::thread::scope(|scope| {
            for writer in &mut self.writers {
                let is_enough = &is_enough;
                scope.spawn(move || work_until(writer, server, ledger, is_enough));
            }
        });
    }

    /// One client works until it has enough.
    pub fn load_one(&mut self, number: usize, server: &Server, is_enough: impl Fn(&Writer) -> bool) {
        work_until(&mut self.writers[number], server, &self.ledger, is_enough);
    }

    /// The server is about to start anew: what it writes from now on lies above what it has written.
    pub fn restart(&self) {
        self.ledger.restart();
    }

    /// Everything that was acknowledged is there exactly, nothing else is, and it is found by id too.
    pub fn verify(&mut self, server: &Server) {
        let mut client = server.client();
        let mut found = BTreeMap::new();
        let all = client.call("GET", "/databases/db/streams/docs", "").unwrap();
        assert_eq!(all.status, 200, "{}", all.text());
        for document in all.json()["Results"].as_array().unwrap() {
            let (id, stored) = Stored::read(document);
            self.ledger.read(&id, &stored);
            assert!(found.insert(id.clone(), stored).is_none(), "{id} occurs twice");
        }
        let count =
            client.call("GET", "/databases/db/collections/stats", "").unwrap().json()["CountOfDocuments"].clone();
        assert_eq!(count, found.len(), "the collections count other documents than there are");
        self.ledger.check_accounts(&found);
        let mut rest = found.clone();
        rest.retain(|id, _| !id.starts_with("accounts/"));
        for writer in &mut self.writers {
            writer.check(&mut rest);
            self.verified += writer.kept.len() as u64;
        }
        assert!(rest.is_empty(), "nobody was told of these: {rest:?}");
        self.verified += ACCOUNTS;
        self.look_up(&mut client, &found);
        self.creator.check(&mut client);
    }

    /// Every id leads to its document, or to none.
    fn look_up(&self, client: &mut Client, found: &BTreeMap<String, Stored>) {
        let ids: Vec<&String> = self.writers.iter().flat_map(|writer| writer.kept.keys()).collect();
        for ids in ids.chunks(LOAD_COUNT) {
            let answer = client.load("db", ids.iter().map(|id| id.as_str())).unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
            let answer = answer.json();
            let results = answer["Results"].as_array().unwrap();
            assert_eq!(results.len(), ids.len());
            for (id, document) in ids.iter().zip(results) {
                let stored = (!document.is_null()).then(|| Stored::read(document).1);
                assert_eq!(
                    stored.as_ref(),
                    found.get(*id),
                    "{id}: left is what its id leads to, right what a stream has"
                );
            }
        }
    }

    /// Adds what this world went through.
    pub fn add_to(&self, figures: &mut Figures) {
        figures.acknowledged += self.writers.iter().map(|writer| writer.acknowledged).sum::<u64>();
        figures.verified += self.verified;
        figures.snapshots += self.snapshots.load(Ordering::Relaxed);
        figures.etags += self.ledger.etag_count();
        figures.databases += self.creator.acknowledged;
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Figures { acknowledged, verified, snapshots, etags, databases } = self;
        write!(
            out,
            "{acknowledged} acknowledged changes, {verified} documents verified, {etags} etags, {snapshots} snapshots \
             added up, {databases} databases made or deleted, 0 violations"
        )
    }
}

/// Writes until there is enough, or the server is gone.
fn work_until(writer: &mut Writer, server: &Server, ledger: &Ledger, is_enough: impl Fn(&Writer) -> bool) {
    let mut client = server.client();
    while !is_enough(writer) && writer.step(&mut client, ledger) {}
}

/// Adds up all accounts of one request. False: it was refused.
fn read_accounts(client: &mut Client, ledger: &Ledger) -> std::io::Result<bool> {
    let answer = client.call("GET", &format!("/databases/db/docs?{}", account_ids()), "")?;
    if answer.status != 200 {
        return Ok(false);
    }
    let answer = answer.json();
    let accounts: Vec<_> =
        answer["Results"].as_array().map_or(&[][..], |all: &Vec<Value>| all).iter().map(Stored::read).collect();
    ledger.add_up(accounts.iter().map(|(id, stored)| (id.as_str(), stored)));
    Ok(true)
}
