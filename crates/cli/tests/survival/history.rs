//! A database that one client writes step by step, so that its state after each step is known.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::Client;
use crate::writer::with_metadata;
use testing::random::Random;

/// What every document is, after some step.
pub type State = BTreeMap<String, String>;

/// The states of a database, from the empty one to the last that was acknowledged.
pub struct History {
    pub states: Vec<State>,
    /// Every id that was ever written.
    pub ids: Vec<String>,
}

impl History {
    pub fn new() -> History {
        History { states: vec![State::new()], ids: Vec::new() }
    }

    pub fn last(&self) -> &State {
        self.states.last().expect("the empty state is there")
    }

    /// Makes so many steps, each one request and one transaction.
    pub fn go_on(&mut self, client: &mut Client, steps: u64, random: &mut Random) {
        for _ in 0..steps {
            let mut state = self.last().clone();
            let mut commands = Vec::new();
            for _ in 0..1 + random.below(4) {
                let id = format!("things/{}", random.below(400));
                if !self.ids.contains(&id) {
                    self.ids.push(id.clone());
                }
                if commands.iter().any(|command: &Value| command["Id"] == id) {
                    continue;
                }
                commands.push(match random.chance(6) {
                    true => {
                        state.remove(&id);
                        json!({"Type": "DELETE", "Id": id})
                    }
                    false => {
                        let text = text(random);
                        let document: Value = serde_json::from_str(&with_metadata(&text)).unwrap();
                        state.insert(id.clone(), text);
                        json!({"Type": "PUT", "Id": id, "Document": document})
                    }
                });
            }
            let body = json!({ "Commands": commands }).to_string();
            let answer = client.call("POST", "/databases/db/bulk_docs", &body).unwrap();
            assert_eq!(answer.status, 201, "{}", answer.text());
            self.states.push(state);
        }
    }
}

/// Some documents share a page, some have pages of their own.
fn text(random: &mut Random) -> String {
    let size = match random.below(20) {
        0 => 10_000 + random.below(90_000),
        1..4 => 1000 + random.below(9000),
        _ => random.below(500),
    };
    format!(r#"{{"Number":{},"Text":"{}"}}"#, random.next() >> 12, random.letters(size as usize))
}
