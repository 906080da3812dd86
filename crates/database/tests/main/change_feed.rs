//! The change feed in process: deletions that are kept for cursors, that are not kept, and a mirror that follows random writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rookery_database::change_feed::{FeedPage, FeedPlace, FeedRequest, FeedSink};
use rookery_database::documents::{Batch, Date, DefinitionChange, Expected, Write};
use rookery_database::limits::{FEED_CURSOR_KEPT, FEED_CURSOR_REFRESHED};
use rookery_database::{Database, Databases, DatabasesOptions, Error, ManualClock};

use crate::backups::{Node, snapshot_of};

/// The lines of a page, as values.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    lines: Vec<json::Value>,
    size: usize,
}

impl FeedSink for Lines {
    fn begin(&mut self) {
        self.line.clear();
    }

    fn line(&mut self) -> &mut Vec<u8> {
        &mut self.line
    }

    fn end(&mut self, _: &'static str) {
        self.size += self.line.len();
        self.lines.push(json::Value::parse(&self.line).unwrap());
    }

    fn passed(&mut self, _: FeedPlace) {}

    fn size(&self) -> usize {
        self.size
    }
}

fn read(database: &Database, place: FeedPlace, count_max: usize) -> Result<(FeedPage, Vec<json::Value>), Error> {
    let mut lines = Lines::default();
    let request = FeedRequest::new(None, None, None).unwrap();
    let page = database.read_feed(&request, place, count_max, &mut lines)?;
    Ok((page, lines.lines))
}

fn put(database: &Database, id: &str, number: u32) {
    let mut batch = Batch::new();
    batch.put(id, format!(r#"{{"Number":{number}}}"#).as_bytes(), Expected::Any).unwrap();
    database.execute(batch).unwrap();
}

fn delete(database: &Database, id: &str) {
    let mut batch = Batch::new();
    batch.delete(id, Expected::Any).unwrap();
    database.execute(batch).unwrap();
}

fn shop(clock: &Arc<ManualClock>) -> (Arc<Databases>, Arc<Database>) {
    let options = DatabasesOptions { clock: clock.clone(), ..DatabasesOptions::in_memory() };
    let databases = Databases::open(options).unwrap();
    let shop = databases.find_or_create("Shop").unwrap();
    (databases, shop)
}

fn move_cursor(databases: &Databases, shop: &Database, place: FeedPlace) {
    let (_, write) = shop.move_feed_cursor("mine", place, databases.clock().now()).unwrap();
    shop.write(&write).unwrap();
}

/// Twice: a cleaning removes what the one before has seen.
fn clean(databases: &Databases) -> u64 {
    databases.maintain() + databases.maintain()
}

#[test]
fn deletions_are_kept_for_a_cursor_and_for_a_bounded_time() {
    let clock = Arc::new(ManualClock::at(Date::now()));
    let (databases, shop) = shop(&clock);
    put(&shop, "a", 1);
    let (page, _) = read(&shop, FeedPlace::default(), 10).unwrap();
    move_cursor(&databases, &shop, page.until);
    delete(&shop, "a");
    assert_eq!(clean(&databases), 0, "the cursor has not seen the deletion");
    let (_, lines) = read(&shop, page.until, 10).unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].get("Change").and_then(json::Value::as_str), Some("Delete"));
    clock.advance(FEED_CURSOR_KEPT);
    assert_eq!(clean(&databases), 1, "it has not moved for too long");
    assert!(matches!(read(&shop, page.until, 10), Err(Error::FeedGone { .. })));
    assert!(matches!(shop.move_feed_cursor("mine", page.until, Date::now()), Err(Error::FeedGone { .. })));
    let (page, lines) = read(&shop, FeedPlace::default(), 10).unwrap();
    assert!(lines.is_empty() && page.is_at_end, "from the beginning there is nothing to lack");
    assert!(read(&shop, page.until, 10).is_ok());
}

#[test]
fn a_cursor_is_refreshed_once_a_day_while_its_consumer_has_handled_everything() {
    let clock = Arc::new(ManualClock::at(Date::now()));
    let (databases, shop) = shop(&clock);
    put(&shop, "a", 1);
    let (page, _) = read(&shop, FeedPlace::default(), 10).unwrap();
    move_cursor(&databases, &shop, page.until);
    let refresh = |name: &str, told| shop.refresh_feed_cursor(name, told, databases.clock().now()).unwrap();
    assert!(refresh("mine", 0).is_none(), "it was moved just now");
    for _ in 0..14 {
        clock.advance(FEED_CURSOR_REFRESHED);
        assert!(refresh("mine", page.until.after + 1).is_none(), "the consumer has something to move it for");
        shop.write(&refresh("MINE", page.until.after).unwrap()).unwrap();
        assert!(refresh("mine", 0).is_none());
    }
    let cursor = shop.feed_cursor("mine").unwrap();
    assert_eq!((cursor.place, cursor.moved), (page.until, databases.clock().now()));
    delete(&shop, "a");
    assert_eq!(clean(&databases), 0, "two weeks later the deletion is kept for it");
    assert!(refresh("yours", 0).is_none());
}

#[test]
fn a_reader_from_the_beginning_needs_no_deletion_from_before() {
    let clock = Arc::new(ManualClock::at(Date::now()));
    let (databases, shop) = shop(&clock);
    (0..6).for_each(|number| put(&shop, &format!("d{number}"), number));
    delete(&shop, "d5");
    assert_eq!(clean(&databases), 1);
    let (page, lines) = read(&shop, FeedPlace::default(), 2).unwrap();
    assert_eq!(lines.len(), 2);
    assert!(
        matches!(read(&shop, FeedPlace::after(page.until.after), 2), Err(Error::FeedGone { .. })),
        "another reader may lack one"
    );
    let (page, lines) = read(&shop, page.until, 2).unwrap();
    assert_eq!(lines.len(), 2);
    // A cursor keeps that, too.
    move_cursor(&databases, &shop, page.until);
    assert_eq!(shop.feed_cursor("mine").unwrap().place, page.until);
    let (page, lines) = read(&shop, page.until, 2).unwrap();
    assert!(lines.len() == 1 && page.is_at_end);
    assert_eq!((page.until.after, page.until.began), (7, 0));
    // What is deleted while it reads is needed.
    let (page, _) = read(&shop, FeedPlace::default(), 2).unwrap();
    shop.delete_feed_cursor("mine").unwrap();
    delete(&shop, "d0");
    assert_eq!(clean(&databases), 1);
    assert!(matches!(read(&shop, page.until, 2), Err(Error::FeedGone { .. })));
}

#[test]
fn what_was_cleaned_is_known_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
        let shop = databases.find_or_create("Shop").unwrap();
        (databases, shop)
    };
    let until = {
        let (databases, shop) = open();
        put(&shop, "a", 1);
        let (page, _) = read(&shop, FeedPlace::default(), 10).unwrap();
        delete(&shop, "a");
        assert_eq!(clean(&databases), 1);
        databases.close();
        page.until
    };
    let (_databases, shop) = open();
    assert!(matches!(read(&shop, until, 10), Err(Error::FeedGone { .. })));
    assert!(read(&shop, FeedPlace::after(shop.read().last_etag().unwrap()), 10).is_ok());
}

/// The original goes on, so that both give the same etags out for different writes.
#[test]
fn places_and_cursors_do_not_go_over_to_a_restored_database() {
    let node = Node::open();
    let shop = node.databases.find("Shop").unwrap();
    (0..4).for_each(|number| put(&shop, &format!("d{number}"), number));
    let (page, _) = read(&shop, FeedPlace::default(), 3).unwrap();
    move_cursor(&node.databases, &shop, page.until);
    let folder = snapshot_of(&node);
    node.restore("copy", &folder, None).unwrap();
    let copy = node.databases.find("copy").unwrap();
    put(&copy, "later", 1);
    let refused = read(&copy, page.until, 10).unwrap_err();
    assert!(matches!(&refused, Error::FeedGone { rule } if rule.contains("made anew or restored")), "{refused}");
    let now = node.databases.clock().now();
    assert!(matches!(copy.move_feed_cursor("mine", page.until, now), Err(Error::FeedGone { .. })));
    // The restored cursor is of the original, and keeps nothing from being cleaned.
    let cursor = copy.feed_cursor("mine").unwrap();
    assert_eq!(cursor.place, page.until);
    assert!(matches!(read(&copy, cursor.place, 10), Err(Error::FeedGone { .. })));
    assert!(!cursor.holds_tombstones(&copy, now) && cursor.holds_tombstones(&shop, now));
    // It can be moved to where its consumer begins anew; an etag without a history is accepted.
    let (page, lines) = read(&copy, FeedPlace::default(), 10).unwrap();
    assert_eq!(lines.len(), 5);
    move_cursor(&node.databases, &copy, page.until);
    assert!(copy.feed_cursor("mine").unwrap().holds_tombstones(&copy, now));
    assert!(read(&copy, FeedPlace::after(4), 10).is_ok());
}

#[test]
fn a_cursor_that_was_stored_without_a_history_is_read_and_gets_one_when_it_moves() {
    let (databases, shop) = shop(&Arc::new(ManualClock::at(Date::now())));
    (0..3).for_each(|number| put(&shop, &format!("d{number}"), number));
    let moved = databases.clock().now();
    let definition = format!(r#"{{"Name":"mine","Etag":2,"Began":0,"Moved":{}}}"#, moved.ticks()).into_bytes();
    let (kind, name) = ("feed-cursor".to_owned(), "mine".to_owned());
    shop.write(&Write::Definitions(vec![DefinitionChange::Put { kind, name, generation: 0, definition }])).unwrap();
    let cursor = shop.feed_cursor("mine").unwrap();
    assert_eq!(cursor.place, FeedPlace::after(2));
    assert!(cursor.holds_tombstones(&shop, moved));
    let (page, lines) = read(&shop, cursor.place, 10).unwrap();
    assert_eq!(lines.len(), 1);
    move_cursor(&databases, &shop, page.until);
    let cursor = shop.feed_cursor("mine").unwrap();
    assert!(cursor.place == page.until && cursor.place.history.is_some());
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u32),
    Delete(u8),
    Read(usize),
    Acknowledge,
    Clean,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..6u8, any::<u32>()).prop_map(|(id, number)| Step::Put(id, number)),
        3 => (0..6u8).prop_map(Step::Delete),
        4 => (1..5usize).prop_map(Step::Read),
        2 => Just(Step::Acknowledge),
        1 => Just(Step::Clean),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A consumer that applies what the feed tells, and begins again at its cursor whenever it likes, ends with what the database has.
    #[test]
    fn a_mirror_that_follows_a_cursor_equals_the_database(steps in steps()) {
        let clock = Arc::new(ManualClock::at(Date::now()));
        let (databases, shop) = shop(&clock);
        let (mut mirror, mut expected) = (BTreeMap::new(), BTreeMap::new());
        let acknowledge = |place| move_cursor(&databases, &shop, place);
        acknowledge(FeedPlace::default());
        let mut after = FeedPlace::default();
        let follow = |after: FeedPlace, count: usize, mirror: &mut BTreeMap<String, i64>| -> FeedPage {
            let (page, lines) = read(&shop, after, count).unwrap();
            for line in lines {
                let id = line.get("Id").and_then(json::Value::as_str).unwrap().to_owned();
                match line.get("Item") {
                    Some(item) => _ = mirror.insert(id, item.get("Number").and_then(json::Value::as_i64).unwrap()),
                    None => _ = mirror.remove(&id),
                }
            }
            page
        };
        for step in steps {
            match step {
                Step::Put(id, number) => {
                    put(&shop, &format!("d{id}"), number);
                    expected.insert(format!("d{id}"), i64::from(number));
                }
                Step::Delete(id) => {
                    delete(&shop, &format!("d{id}"));
                    expected.remove(&format!("d{id}"));
                }
                Step::Read(count) => after = follow(after, count, &mut mirror).until,
                Step::Acknowledge => acknowledge(after),
                // The consumer is killed: what it has not acknowledged comes again.
                Step::Clean => {
                    databases.maintain();
                    after = shop.feed_cursor("mine").unwrap().place;
                }
            }
        }
        loop {
            let page = follow(after, 3, &mut mirror);
            after = page.until;
            if page.is_at_end {
                break;
            }
        }
        prop_assert_eq!(mirror, expected);
    }
}
