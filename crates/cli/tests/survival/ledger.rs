//! What the clients of a server were told, and hold it to: etags that belong to one write for ever, and balances that add up.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use parking_lot::Mutex;
use serde_json::Value;

/// How many accounts there are; transfers keep their sum.
pub const ACCOUNTS: u64 = 16;
const BALANCE: i64 = 1000;

/// A document as a client knows it: its text without metadata, and its change vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub text: String,
    pub vector: String,
}

impl Stored {
    /// Id and content of a document in an answer.
    pub fn read(document: &Value) -> (String, Stored) {
        let mut document = document.clone();
        let metadata =
            document.as_object_mut().and_then(|all| all.remove("@metadata")).expect("documents have metadata");
        let text = |name: &str| metadata[name].as_str().unwrap_or_else(|| panic!("no {name}: {metadata}")).to_owned();
        (text("@id"), Stored { vector: text("@change-vector"), text: document.to_string() })
    }

    pub fn etag(&self) -> u64 {
        etag(&self.vector).0
    }
}

/// Etag and database of a change vector, which are one here: no other node writes.
fn etag(vector: &str) -> (u64, &str) {
    let parts = vector.strip_prefix("A:").and_then(|rest| rest.split_once('-'));
    let (etag, database) = parts.unwrap_or_else(|| panic!("'{vector}' is no change vector of one node"));
    (etag.parse().unwrap(), database)
}

/// What all clients share. Its promises are checked whenever it is told something.
#[derive(Default)]
pub struct Ledger(Mutex<Told>);

#[derive(Default)]
struct Told {
    /// What each etag that anybody was shown belongs to.
    etags: HashMap<u64, u64>,
    database: String,
    highest: u64,
    /// What was known when the server started: all that is written now lies above.
    floor: u64,
    accounts: BTreeMap<String, Stored>,
    /// Transfers that were not answered: the texts that their accounts have if they were made.
    unanswered: Vec<(String, String)>,
}

impl Told {
    fn see(&mut self, id: &str, stored: &Stored) -> u64 {
        let (etag, database) = etag(&stored.vector);
        if self.database.is_empty() {
            self.database = database.to_owned();
        }
        assert_eq!(self.database, database, "the id of the database changed");
        let mut hasher = DefaultHasher::new();
        (id, &stored.text).hash(&mut hasher);
        let content = hasher.finish();
        let known = *self.etags.entry(etag).or_insert(content);
        assert_eq!(known, content, "etag {etag} was shown for something else; now it belongs to {id}: {stored:?}");
        self.highest = self.highest.max(etag);
        etag
    }
}

impl Ledger {
    /// A document was read.
    pub fn read(&self, id: &str, stored: &Stored) {
        self.0.lock().see(id, stored);
    }

    /// A write was acknowledged.
    pub fn written(&self, id: &str, stored: &Stored) {
        let mut told = self.0.lock();
        let etag = told.see(id, stored);
        assert!(etag > told.floor, "{id} got etag {etag}; {} was given before the server started", told.floor);
    }

    /// The server starts anew.
    pub fn restart(&self) {
        let mut told = self.0.lock();
        told.floor = told.highest;
    }

    /// A transfer was acknowledged.
    pub fn transferred(&self, id: &str, stored: Stored) {
        self.written(id, &stored);
        let mut told = self.0.lock();
        let is_newer = told.accounts.get(id).is_none_or(|known| known.etag() < stored.etag());
        if is_newer {
            told.accounts.insert(id.to_owned(), stored);
        }
    }

    /// A transfer was not answered.
    pub fn perhaps_transferred(&self, changes: impl Iterator<Item = (String, String)>) {
        self.0.lock().unanswered.extend(changes);
    }

    /// The accounts of one snapshot add up.
    pub fn add_up<'a>(&self, accounts: impl Iterator<Item = (&'a str, &'a Stored)>) {
        let (mut sum, mut count) = (0, 0);
        for (id, stored) in accounts {
            self.read(id, stored);
            (sum, count) = (sum + balance(stored), count + 1);
        }
        assert_eq!((sum, count), (ACCOUNTS as i64 * BALANCE, ACCOUNTS), "one snapshot with a part of a transfer");
    }

    /// All accounts after a start: each as it was last acknowledged, or as an unanswered transfer left it.
    pub fn check_accounts(&self, found: &BTreeMap<String, Stored>) {
        let accounts = || found.iter().filter(|(id, _)| id.starts_with("accounts/"));
        self.add_up(accounts().map(|(id, stored)| (id.as_str(), stored)));
        let mut told = self.0.lock();
        for (id, stored) in accounts() {
            let known = &told.accounts[id];
            let is_unanswered = || told.unanswered.iter().any(|(other, text)| other == id && *text == stored.text);
            let fits = stored == known || stored.etag() > known.etag() && is_unanswered();
            assert!(fits, "{id} was acknowledged as {known:?}, and is {stored:?}");
        }
        told.accounts = accounts().map(|(id, stored)| (id.clone(), stored.clone())).collect();
        told.unanswered.clear();
    }

    pub fn etag_count(&self) -> usize {
        self.0.lock().etags.len()
    }
}

pub fn account_id(number: u64) -> String {
    format!("accounts/{number:02}")
}

/// The ids of all accounts as parameters of one request.
pub fn account_ids() -> String {
    (0..ACCOUNTS).map(|number| format!("id={}", account_id(number))).collect::<Vec<_>>().join("&")
}

/// * `number`: no other transfer has it.
pub fn account_text(balance: i64, number: u64) -> String {
    format!(r#"{{"Balance":{balance},"Transfer":{number}}}"#)
}

pub fn first_account_text() -> String {
    account_text(BALANCE, 0)
}

pub fn balance(stored: &Stored) -> i64 {
    serde_json::from_str::<Value>(&stored.text).unwrap()["Balance"].as_i64().expect("accounts have a balance")
}
