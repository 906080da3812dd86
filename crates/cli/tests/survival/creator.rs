//! One client that makes databases and deletes them, and remembers what it was answered: whole folders come and go.

use std::collections::BTreeMap;

use serde_json::json;

use crate::client::Client;
use testing::random::Random;

const NAMES: u64 = 4;

pub struct Creator {
    random: Random,
    /// Whether each is there; nothing if the last request about it was not answered.
    databases: BTreeMap<String, Option<bool>>,
    pub acknowledged: u64,
}

impl Creator {
    pub fn new(random: Random) -> Creator {
        let databases = (0..NAMES).map(|number| (format!("more-{number}"), Some(false))).collect();
        Creator { random, databases, acknowledged: 0 }
    }

    /// Makes a database that is not there, or deletes one that is. False: the server is gone.
    pub fn step(&mut self, client: &mut Client) -> bool {
        let name = format!("more-{}", self.random.below(NAMES));
        let is_there = self.databases[&name] == Some(true);
        if client.connect().is_err() {
            return false;
        }
        self.databases.insert(name.clone(), None);
        let answer = match is_there {
            true => client.call(
                "DELETE",
                "/admin/databases",
                &json!({"DatabaseNames": [name], "HardDelete": true}).to_string(),
            ),
            false => {
                client.call("PUT", &format!("/admin/databases?name={name}"), &json!({"DatabaseName": name}).to_string())
            }
        };
        match answer {
            Ok(answer) if answer.status < 300 => {
                self.acknowledged += 1;
                self.databases.insert(name, Some(!is_there));
                true
            }
            Ok(answer) if answer.status >= 500 => false,
            Ok(answer) => panic!("{name}, there {is_there}: {} {}", answer.status, answer.text()),
            Err(_) => false,
        }
    }

    /// What was made is there and works; what was deleted is not; what was not answered is either.
    pub fn check(&mut self, client: &mut Client) {
        let list = client.call("GET", "/databases?namesOnly=true", "").unwrap().json();
        let names = list["Databases"].as_array().expect("a list of names");
        for (name, known) in &mut self.databases {
            let is_there = names.iter().any(|listed| listed == name);
            assert_eq!(
                is_there,
                known.unwrap_or(is_there),
                "{name}: left is what is there, right what was acknowledged"
            );
            *known = Some(is_there);
            let stats = client.call("GET", &format!("/databases/{name}/stats"), "").unwrap();
            assert_eq!(stats.status == 200, is_there, "{name}: {}", stats.text());
        }
    }
}
