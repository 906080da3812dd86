//! One client that writes, and remembers what it was answered. Its documents are its own, so it knows what each must be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::ledger::{ACCOUNTS, Ledger, Stored, account_id, account_text, balance};
use testing::random::Random;

/// What a writer does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// Puts, deletes, batches, conflicts and transfers, over so many documents of its own.
    Mixed { documents: u64 },
    /// Nothing but new documents, large ones too, until there is no room.
    Fill,
}

pub struct Writer {
    number: u64,
    habit: Habit,
    random: Random,
    /// Of the next text, so that no two are equal.
    next: u64,
    /// What was acknowledged: a document, or that there is none.
    pub kept: BTreeMap<String, Option<Stored>>,
    /// The request without an answer: whole or not at all.
    unanswered: Vec<Change>,
    pub acknowledged: u64,
    /// Answers that refused a write on the server's side, and said that it was not applied.
    pub refusals: Vec<Answer>,
}

/// A document that is put, or deleted if there is no text.
struct Change {
    id: String,
    text: Option<String>,
}

/// What came of a request.
enum Outcome {
    Answered(Answer),
    Unknown,
    /// There was nobody to send it to.
    NotSent,
}

impl Writer {
    pub fn new(number: u64, habit: Habit, random: Random) -> Writer {
        let (kept, unanswered, refusals) = Default::default();
        Writer { number, habit, random, next: 1, kept, unanswered, acknowledged: 0, refusals }
    }

    /// Sends one request. False: the server is gone, or left this writer in doubt.
    pub fn step(&mut self, client: &mut Client, ledger: &Ledger) -> bool {
        match (self.habit, self.random.below(100)) {
            (Habit::Mixed { .. }, 0..40) | (Habit::Fill, 0..80) => self.put(client, ledger),
            (Habit::Mixed { .. }, 40..65) | (Habit::Fill, _) => self.batch(client, ledger),
            (Habit::Mixed { .. }, 65..75) => self.delete(client, ledger),
            (Habit::Mixed { .. }, 75..85) => self.conflict(client),
            (Habit::Mixed { .. }, _) => self.transfer(client, ledger),
        }
    }

    fn put(&mut self, client: &mut Client, ledger: &Ledger) -> bool {
        let (id, text) = (self.id(), self.text());
        let target = format!("/databases/db/docs?id={id}");
        let outcome = send(client, "PUT", &target, &with_metadata(&text));
        let change = Change { id, text: Some(text) };
        self.conclude(outcome, vec![change], ledger, |answer| vec![answer["ChangeVector"].clone()])
    }

    fn delete(&mut self, client: &mut Client, ledger: &Ledger) -> bool {
        let id = self.id();
        let outcome = send(client, "DELETE", &format!("/databases/db/docs?id={id}"), "");
        self.conclude(outcome, vec![Change { id, text: None }], ledger, |_| vec![Value::Null])
    }

    /// Some documents in one transaction, with the change vectors that they have, or without.
    fn batch(&mut self, client: &mut Client, ledger: &Ledger) -> bool {
        let changes = self.changes(12);
        let mut commands = Vec::new();
        for change in &changes {
            let known = self.kept.get(&change.id).and_then(Option::as_ref).map(|stored| stored.vector.clone());
            commands.push(command(change, known.filter(|_| self.random.chance(2))));
        }
        let outcome = send_batch(client, commands);
        self.conclude(outcome, changes, ledger, vectors)
    }

    /// A batch in which one document is expected to be what it is not: refused, and nothing of it is applied.
    fn conflict(&mut self, client: &mut Client) -> bool {
        let changes = self.changes(6);
        let mut commands: Vec<Value> = changes.iter().map(|change| command(change, None)).collect();
        let place = self.random.below(changes.len() as u64) as usize;
        let wrong = match self.kept.get(&changes[place].id).and_then(Option::as_ref) {
            Some(_) if self.random.chance(2) => String::new(),
            Some(stored) => stored.vector.replacen("A:", "A:9", 1),
            None => "A:1-AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        };
        commands[place]["ChangeVector"] = json!(wrong);
        match send_batch(client, commands) {
            Outcome::Answered(answer) if answer.status >= 500 => {
                self.refusals.push(answer);
                true
            }
            Outcome::Answered(answer) => {
                assert_eq!(answer.status, 409, "a change vector that is not so: {}", answer.text());
                true
            }
            // Were it applied, the documents would not be what they were acknowledged to be.
            Outcome::Unknown | Outcome::NotSent => false,
        }
    }

    /// Takes from one account and gives to another in one transaction, unless somebody else did meanwhile.
    fn transfer(&mut self, client: &mut Client, ledger: &Ledger) -> bool {
        let from = self.random.below(ACCOUNTS);
        let to = (from + 1 + self.random.below(ACCOUNTS - 1)) % ACCOUNTS;
        let target = format!("/databases/db/docs?id={}&id={}", account_id(from), account_id(to));
        let Outcome::Answered(answer) = send(client, "GET", &target, "") else { return false };
        if answer.status != 200 {
            return answer.status < 500;
        }
        let amount = self.random.below(100) as i64;
        let mut changes = Vec::new();
        let mut commands = Vec::new();
        for (document, amount) in answer.json()["Results"].as_array().unwrap().iter().zip([-amount, amount]) {
            let (id, stored) = Stored::read(document);
            ledger.read(&id, &stored);
            let number = self.number();
            let change = Change { id, text: Some(account_text(balance(&stored) + amount, number)) };
            commands.push(command(&change, Some(stored.vector)));
            changes.push(change);
        }
        match send_batch(client, commands) {
            Outcome::Answered(answer) if answer.status == 201 => {
                for (change, vector) in changes.into_iter().zip(vectors(&answer.json())) {
                    let vector = vector.as_str().expect("a put has a change vector").to_owned();
                    ledger.transferred(&change.id, Stored { text: change.text.unwrap_or_default(), vector });
                }
                self.acknowledged += 2;
                true
            }
            Outcome::Answered(answer) if answer.status >= 500 => {
                self.refusals.push(answer);
                true
            }
            Outcome::Answered(answer) => {
                assert_eq!(answer.status, 409, "{}", answer.text());
                true
            }
            Outcome::Unknown => {
                ledger.perhaps_transferred(changes.into_iter().map(|c| (c.id, c.text.unwrap_or_default())));
                false
            }
            Outcome::NotSent => false,
        }
    }

    /// Remembers what a request did. Whether the writer goes on.
    ///
    /// * `vectors`: finds the change vector of each change in the answer.
    fn conclude(
        &mut self,
        outcome: Outcome,
        changes: Vec<Change>,
        ledger: &Ledger,
        vectors: impl Fn(&Value) -> Vec<Value>,
    ) -> bool {
        let answer = match outcome {
            Outcome::Answered(answer) => answer,
            Outcome::NotSent => return false,
            Outcome::Unknown => {
                self.unanswered = changes;
                return false;
            }
        };
        if answer.status >= 500 {
            self.refusals.push(answer);
            return true;
        }
        assert!(matches!(answer.status, 201 | 204), "{}: {}", answer.status, answer.text());
        let vectors = vectors(&answer.json());
        assert_eq!(vectors.len(), changes.len(), "{}", answer.text());
        self.acknowledged += changes.len() as u64;
        for (change, vector) in changes.into_iter().zip(vectors) {
            let stored = change.text.map(|text| {
                let stored = Stored { text, vector: vector.as_str().expect("a put has a change vector").to_owned() };
                ledger.written(&change.id, &stored);
                stored
            });
            self.kept.insert(change.id, stored);
        }
        true
    }

    /// Holds what a server has against what this writer was told, and takes its documents out of `found`.
    ///
    /// Each document is as it was acknowledged. The request that was not answered is there whole or not at all.
    pub fn check(&mut self, found: &mut BTreeMap<String, Stored>) {
        let unanswered = std::mem::take(&mut self.unanswered);
        let is_applied = |change: &Change| found.get(&change.id).map(|stored| &stored.text) == change.text.as_ref();
        // A deletion of what was not there looks the same both ways.
        let (applied, not): (Vec<_>, Vec<_>) = unanswered
            .iter()
            .filter(|change| change.text.is_some() || self.kept.get(&change.id).is_some_and(Option::is_some))
            .partition(|change| is_applied(change));
        assert!(
            applied.is_empty() || not.is_empty(),
            "a part of a batch: {:?} of it is there, {:?} is not",
            applied.iter().map(|change| &change.id).collect::<Vec<_>>(),
            not.iter().map(|change| &change.id).collect::<Vec<_>>()
        );
        for change in applied {
            self.kept.insert(change.id.clone(), found.get(&change.id).cloned());
        }
        for (id, kept) in &self.kept {
            let stored = found.remove(id);
            assert_eq!(stored.as_ref(), kept.as_ref(), "{id}: left is what is there, right what was acknowledged");
        }
    }

    fn changes(&mut self, count_max: u64) -> Vec<Change> {
        let ids: BTreeSet<String> = (0..2 + self.random.below(count_max - 1)).map(|_| self.id()).collect();
        let mut changes = Vec::new();
        for id in ids {
            let is_deletion = self.habit != Habit::Fill && self.random.chance(4);
            changes.push(Change { id, text: (!is_deletion).then(|| self.text()) });
        }
        changes
    }

    fn id(&mut self) -> String {
        let name = match self.habit {
            Habit::Mixed { documents } => self.random.below(documents),
            Habit::Fill => self.number(),
        };
        format!("w{}/{name}", self.number)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.number << 32 | self.next
    }

    /// A text as serde_json writes it, like no other.
    fn text(&mut self) -> String {
        let size = match (self.habit, self.random.below(100)) {
            (Habit::Mixed { .. }, 0..90) => 20..400,
            (Habit::Mixed { .. }, 90..98) => 400..4000,
            (Habit::Mixed { .. }, _) => 4000..60_000,
            (Habit::Fill, 0..20) => 20..1000,
            (Habit::Fill, _) => 1000..30_000,
        };
        let size = size.start + self.random.below(size.end - size.start);
        let number = self.number();
        format!(r#"{{"Number":{number},"Text":"{}"}}"#, self.random.letters(size as usize))
    }
}

/// In a collection; what is compared later is the text without this.
pub fn with_metadata(text: &str) -> String {
    format!(r#"{},"@metadata":{{"@collection":"Things"}}}}"#, text.strip_suffix('}').expect("an object"))
}

fn command(change: &Change, vector: Option<String>) -> Value {
    match &change.text {
        Some(text) => {
            let document: Value = serde_json::from_str(&with_metadata(text)).unwrap();
            json!({"Type": "PUT", "Id": change.id, "ChangeVector": vector, "Document": document})
        }
        None => json!({"Type": "DELETE", "Id": change.id, "ChangeVector": vector}),
    }
}

/// The change vector of each command in the answer to a batch.
fn vectors(answer: &Value) -> Vec<Value> {
    answer["Results"].as_array().into_iter().flatten().map(|result| result["@change-vector"].clone()).collect()
}

fn send_batch(client: &mut Client, commands: Vec<Value>) -> Outcome {
    send(client, "POST", "/databases/db/bulk_docs", &json!({ "Commands": commands }).to_string())
}

fn send(client: &mut Client, method: &str, target: &str, body: &str) -> Outcome {
    if client.connect().is_err() {
        return Outcome::NotSent;
    }
    match client.call(method, target, body) {
        Ok(answer) if answer.leaves_doubt() => Outcome::Unknown,
        Ok(answer) => Outcome::Answered(answer),
        Err(_) => Outcome::Unknown,
    }
}
