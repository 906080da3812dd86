//! `kill -9` while documents with revisions are stored and deleted: their revisions are the list of the states that were acknowledged, in
//! order, and what was not answered is there with its revision or not at all.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::client::Client;
use crate::process::{Server, check};
use crate::run::{Run, folder};
use testing::random::Random;

const DOCUMENTS: u64 = 6;

/// Revisions that the configuration keeps of each document.
const KEPT: usize = 20;

/// A state of a document: its number; `None`: deleted.
type State = Option<u64>;

/// The states of each document, the oldest first, and the one that was perhaps written.
#[derive(Default)]
struct History {
    states: Vec<State>,
    unanswered: Option<State>,
}

impl History {
    /// What a write leaves of the list.
    fn push(&mut self, state: State) {
        if state.is_none() && self.states.last().is_none_or(Option::is_none) {
            // There was no document.
            return;
        }
        self.states.push(state);
        self.states.drain(..self.states.len().saturating_sub(KEPT));
    }
}

fn target(name: u64) -> String {
    format!("/databases/db/docs?id=users/{name}")
}

/// Most states differ from those before by some bytes, some wholly.
fn document(number: u64, random: &mut Random) -> String {
    let filler = if random.chance(4) { random.letters(2_000) } else { "the same text as before ".repeat(80) };
    format!(r#"{{"Number":{number},"Text":"{filler}","@metadata":{{"@collection":"Users"}}}}"#)
}

/// Sends requests until one is not answered.
fn write(client: &mut Client, random: &mut Random, histories: &mut BTreeMap<u64, History>, next: &mut u64) {
    loop {
        let name = random.below(DOCUMENTS);
        let (method, body, state) = match random.below(8) {
            0 => ("DELETE", String::new(), None),
            _ => {
                *next += 1;
                ("PUT", document(*next, random), Some(*next))
            }
        };
        let history = histories.entry(name).or_default();
        match client.call(method, &target(name), &body) {
            Ok(answer) if matches!(answer.status, 201 | 204) => history.push(state),
            Ok(answer) => panic!("{method}: {} {}", answer.status, answer.text()),
            Err(_) => {
                history.unanswered = Some(state);
                return;
            }
        }
    }
}

/// Compares the revisions of each document, and the document itself, with its list; from then on the list is what was found.
fn verify(client: &mut Client, histories: &mut BTreeMap<u64, History>) -> u64 {
    let mut count = 0;
    for (name, history) in histories.iter_mut() {
        let target = format!("/databases/db/revisions?id=users/{name}&pageSize=1000");
        let answer = client.call("GET", &target, "").unwrap().json();
        let state = |revision: &Value| -> State {
            let is_deletion = revision["@metadata"]["@flags"].as_str().unwrap().contains("DeleteRevision");
            (!is_deletion).then(|| revision["Number"].as_u64().unwrap())
        };
        let found: Vec<State> = answer["Results"].as_array().unwrap().iter().rev().map(state).collect();
        if let Some(unanswered) = history.unanswered.take()
            && found != history.states
        {
            history.push(unanswered);
        }
        assert_eq!(
            found, history.states,
            "users/{name}: left are its revisions, right the states that were acknowledged"
        );
        let answer = client.call("GET", &self::target(*name), "").unwrap();
        let now = (answer.status == 200).then(|| answer.json()["Results"][0]["Number"].as_u64().unwrap());
        assert_eq!(
            now,
            history.states.last().copied().flatten(),
            "users/{name}: left is the document, right its last revision"
        );
        count += found.len() as u64;
    }
    count
}

#[test]
fn revisions_outlive_kills() {
    let run = Run::begin("revisions_outlive_kills", 6, 300);
    let (folder, mut random) = (folder(), Random::new(run.seed));
    let data = folder.path().join("data");
    let mut server = Server::start(&data);
    let mut client = server.client();
    assert_eq!(client.call("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).unwrap().status, 201);
    let configuration = format!(r#"{{"Collections":{{"Users":{{"MinimumRevisionsToKeep":{KEPT}}}}}}}"#);
    let configured = client.call("POST", "/databases/db/admin/revisions/config", &configuration).unwrap();
    assert_eq!(configured.status, 200, "{}", configured.text());
    let (mut histories, mut next, mut verified) = (BTreeMap::new(), 0, 0);
    for _ in 0..run.rounds {
        let moment = Duration::from_millis(random.below(800));
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| write(&mut server.client(), &mut random, &mut histories, &mut next));
            std::thread::sleep(moment);
            server.kill_now();
            writing.join().unwrap();
        });
        server.kill();
        server = Server::start(&data);
        verified += verify(&mut server.client(), &mut histories);
    }
    server.stop();
    check(&data);
    run.end(&format!("{next} states, {verified} revisions verified"));
}
