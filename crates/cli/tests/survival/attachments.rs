//! `kill -9` while attachments of all sizes are stored, replaced, moved and deleted: what was acknowledged is there with its content, and
//! what was not answered is there as a whole or not at all. No content is left behind, and no piece of one that was not linked.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::client::Client;
use crate::process::{Server, check};
use crate::run::{Run, folder};
use testing::random::Random;

const DOCUMENT: &str = "files/1";
const NAMES: u64 = 12;
const ROUTE: &str = "/databases/db/attachments";

/// What each attachment may be: the numbers of contents, and `None` for "there is none".
type Expected = BTreeMap<u64, Vec<Option<u64>>>;

/// A content that is known by its number. Some come with their command, others in one piece, or in several.
fn content(number: u64) -> String {
    let size = [10, 3_000, 200_000, 1_500_000, 9_000_000][(number % 5) as usize];
    let line = format!("content {number}\n");
    line.repeat(size / line.len() + 1)
}

fn target(name: u64) -> String {
    format!("{ROUTE}?id={DOCUMENT}&name=a{name}")
}

/// Sends requests until one is not answered; what that one was about may be as before or as after.
fn write(client: &mut Client, random: &mut Random, expected: &mut Expected, next: &mut u64) {
    loop {
        let name = random.below(NAMES);
        let (method, body, after) = match random.below(5) {
            0 => ("DELETE", String::new(), None),
            _ => {
                *next += 1;
                ("PUT", content(*next), Some(*next))
            }
        };
        let is_acknowledged = match client.call(method, &target(name), &body) {
            Ok(answer) if matches!(answer.status, 201 | 204) => true,
            Ok(answer) => panic!("{method}: {} {}", answer.status, answer.text()),
            Err(_) => false,
        };
        let may_be = expected.entry(name).or_insert_with(|| vec![None]);
        if is_acknowledged {
            *may_be = vec![after];
        } else {
            may_be.push(after);
            return;
        }
    }
}

/// Compares each attachment with what it may be; from then on it is what it was found to be.
fn verify(client: &mut Client, expected: &mut Expected) {
    let mut contents = std::collections::BTreeSet::new();
    for (name, may_be) in expected.iter_mut() {
        let answer = client.call("GET", &target(*name), "").unwrap();
        let found = may_be.iter().find(|number| match number {
            None => answer.status == 404,
            Some(number) => answer.status == 200 && answer.body == content(*number).as_bytes(),
        });
        let found = *found
            .unwrap_or_else(|| panic!("a{name} is {} with {} bytes, not {may_be:?}", answer.status, answer.body.len()));
        contents.extend(found);
        *may_be = vec![found];
    }
    let stats = client.call("GET", "/databases/db/stats", "").unwrap().json();
    assert_eq!(stats["CountOfAttachments"], contents.len(), "each has a content of its own");
    assert_eq!(stats["CountOfUniqueAttachments"], contents.len());
}

#[test]
fn attachments_outlive_kills_with_their_contents() {
    let run = Run::begin("attachments_outlive_kills_with_their_contents", 6, 300);
    let (folder, mut random) = (folder(), Random::new(run.seed));
    let data = folder.path().join("data");
    let mut server = Server::start(&data);
    let mut client = server.client();
    assert_eq!(client.call("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).unwrap().status, 201);
    assert_eq!(client.call("PUT", &format!("/databases/db/docs?id={DOCUMENT}"), "{}").unwrap().status, 201);
    let (mut expected, mut next) = (Expected::new(), 0);
    for _ in 0..run.rounds {
        let moment = Duration::from_millis(random.below(800));
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| write(&mut server.client(), &mut random, &mut expected, &mut next));
            std::thread::sleep(moment);
            server.kill_now();
            writing.join().unwrap();
        });
        server.kill();
        server = Server::start(&data);
        verify(&mut server.client(), &mut expected);
    }
    server.stop();
    check(&data);
    run.end(&format!("{next} attachments"));
}
