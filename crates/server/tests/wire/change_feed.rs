//! `/databases/{name}/feed`: pages, waiting, event streams, cursors, and what is refused.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::ManualClock;
use database::documents::Date;
use database::limits::FEED_CURSOR_REFRESHED;
use json::Value;
use testing::wait;

use super::support::{Answer, Wire};

fn put(wire: &Wire, id: &str, collection: &str, age: u32) {
    let next = (age + 1) % 100;
    wire.put(id, &format!(r#"{{"Age":{age},"Friend":"users/{next}","@metadata":{{"@collection":"{collection}"}}}}"#));
}

/// A page as `change kind id` of each line, and the place with which it ends.
fn page(wire: &Wire, query: &str) -> (Vec<String>, String) {
    let answer = wire.call(&format!("GET /databases/db/feed?{query}"), "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let mut lines: Vec<Value> = text.lines().map(|line| Value::parse(line.as_bytes()).unwrap()).collect();
    let position = lines.pop().unwrap();
    assert_eq!(position.get("Change").and_then(Value::as_str), Some("Position"), "{text}");
    let of = |line: &Value, name: &str| line.get(name).and_then(Value::as_str).unwrap_or("-").to_owned();
    let told = lines.iter().map(|line| format!("{} {} {}", of(line, "Change"), of(line, "Kind"), of(line, "Id")));
    (told.collect(), position.get("After").and_then(Value::as_str).unwrap().to_owned())
}

#[test]
fn a_page_tells_what_was_stored_and_deleted_in_order() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    put(&wire, "dogs/1", "Dogs", 2);
    put(&wire, "users/2", "Users", 3);
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/1", "").status, 204);
    let (told, until) = page(&wire, "");
    assert_eq!(told, ["Put documents dogs/1", "Put documents users/2", "Delete documents users/1"]);
    assert_eq!(page(&wire, &format!("after={until}")), (vec![], until.clone()));
    put(&wire, "users/2", "Users", 4);
    let (told, later) = page(&wire, &format!("after={until}"));
    assert_eq!(told, ["Put documents users/2"]);
    assert_ne!(later, until);
    let (told, _) = page(&wire, "collection=USERS");
    assert_eq!(told, ["Delete documents users/1", "Put documents users/2"]);
    assert_eq!(page(&wire, "collection=Cats").0, Vec::<String>::new());
    // Page by page it is the same.
    let (mut after, mut all) = ("0".to_owned(), Vec::new());
    loop {
        let (told, until) = page(&wire, &format!("after={after}&pageSize=1"));
        if told.is_empty() {
            break;
        }
        assert_ne!(until, after);
        (after, all) = (until, [all, told].concat());
    }
    assert_eq!(all, page(&wire, "").0);
}

#[test]
fn a_line_has_the_whole_item() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    let body = r#"{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"Likes","Delta":7}]}]}"#;
    assert_eq!(wire.call("POST /databases/db/counters", body).status, 200);
    let text = wire.call("GET /databases/db/feed?kinds=documents,counters", "").text();
    let lines: Vec<Value> = text.lines().map(|line| Value::parse(line.as_bytes()).unwrap()).collect();
    let [document, counter] = ["documents", "counters"]
        .map(|kind| lines.iter().find(|line| line.get("Kind").and_then(Value::as_str) == Some(kind)).unwrap());
    let item = document.get("Item").unwrap();
    assert_eq!(item.get("Age").and_then(Value::as_i64), Some(1));
    let vector = item.get("@metadata").unwrap().get("@change-vector").unwrap();
    assert_eq!(document.get("ChangeVector"), Some(vector));
    assert_eq!(document.get("Collection").and_then(Value::as_str), Some("Users"));
    assert_eq!(counter.get("Name").and_then(Value::as_str), Some("Likes"));
    let total = counter.get("Item").unwrap().get("@counter").unwrap().get("TotalValue");
    assert_eq!(total.and_then(Value::as_i64), Some(7));
}

#[test]
fn a_query_chooses_shapes_and_includes() {
    let wire = Wire::with_database();
    (1..=4).for_each(|age| put(&wire, &format!("users/{age}"), "Users", age));
    put(&wire, "dogs/1", "Dogs", 9);
    let (told, until) = page(&wire, "query=from+Users+where+Age+%3E+3+include+Friend");
    assert_eq!(told, ["Put documents users/4"]);
    put(&wire, "users/5", "Users", 5);
    let (told, _) = page(&wire, "query=from+Users+where+Age+=+3+include+Friend");
    assert_eq!(told, ["Put documents users/3", "Include documents users/4"]);
    let text = wire.call(&format!("GET /databases/db/feed?after={until}&query=from+Users+select+Age"), "").text();
    assert!(text.contains(r#""Item":{"Age":5,"#), "{text}");
    // What does not fit any more is passed over. The feed tells every deletion.
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/1", "").status, 204);
    assert_eq!(
        page(&wire, &format!("after={until}&query=from+Users+where+Age+%3E+90")).0,
        ["Delete documents users/1"]
    );
}

#[test]
fn counters_that_a_query_includes_follow_the_changes_of_a_page() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    let body = r#"{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"Likes","Delta":7}]}]}"#;
    assert_eq!(wire.call("POST /databases/db/counters", body).status, 200);
    let text =
        wire.call("GET /databases/db/feed?query=from+Users+include+counters('likes'),counters('none')", "").text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(
        lines[1],
        r#"{"Kind":"counters","Change":"Include","Id":"users/1","Item":[{"DocumentId":"users/1","CounterName":"likes","TotalValue":7},null]}"#
    );
    wire.check_error(
        "GET /databases/db/feed?query=from+Users+include+cmpxchg('Friend')",
        "",
        501,
        "RavenException",
        concat!(
            "Rookery ",
            env!("CARGO_PKG_VERSION"),
            " does not support cmpxchg() in 'include' of a subscription or a change feed"
        ),
    );
}

#[test]
fn a_request_waits_for_the_first_change_that_concerns_it() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    let (_, until) = page(&wire, "");
    let is_written = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let told = page(&wire, &format!("after={until}&collection=Users&wait=60")).0;
            assert!(is_written.load(Ordering::SeqCst), "it answered before there was anything: {told:?}");
            told
        });
        // It wakes for nothing else.
        (0..20).for_each(|age| put(&wire, "dogs/1", "Dogs", age));
        is_written.store(true, Ordering::SeqCst);
        put(&wire, "users/2", "Users", 2);
        assert_eq!(waiting.join().unwrap(), ["Put documents users/2"]);
    });
    // Without news it answers in the end, with a place behind what does not concern it.
    let (told, later) = page(&wire, &format!("after={until}&collection=Cats&wait=1"));
    assert!(told.is_empty() && later != until);
}

#[test]
fn a_request_that_waits_for_changes_is_not_slow() {
    let wire = Wire::start_with(|options| options.limits.slow_request = Duration::ZERO);
    wire.create("db");
    put(&wire, "users/1", "Users", 1);
    page(&wire, "wait=1");
    let slow = wire.call("GET /admin/slow-requests?database=db", "").text();
    assert!(slow.contains("/databases/db/docs?id=users/1") && !slow.contains("/feed"), "{slow}");
}

/// An event stream.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(wire: &Wire, query: &str, header: &str) -> Events {
        let mut stream = wire.connect();
        write!(stream, "GET /databases/db/feed?{query} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(head.to_ascii_lowercase().contains("content-type: text/event-stream"), "{head}");
        Events(reader)
    }

    /// The fields of the next event; sizes of chunks and signs of life are passed over. `None`: the stream is over.
    fn next(&mut self) -> Option<(String, Value, String)> {
        let (mut event, mut data, mut id) = (None, None, None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            // The last chunk.
            if line == "0" {
                return None;
            }
            match line.split_once(": ") {
                Some(("event", value)) => event = Some(value.to_owned()),
                Some(("data", value)) => data = Some(Value::parse(value.as_bytes()).unwrap()),
                Some(("id", value)) => id = Some(value.to_owned()),
                _ => {}
            }
            if line.is_empty() && data.is_some() {
                return Some((event?, data?, id.unwrap_or_default()));
            }
        }
    }
}

#[test]
fn an_event_stream_goes_on_and_resumes_after_the_last_event() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    let mut events = Events::open(&wire, "format=sse", "Accept: */*");
    let (event, data, id) = events.next().unwrap();
    assert_eq!((event.as_str(), data.get("Id").and_then(Value::as_str)), ("Put", Some("users/1")));
    let (event, _, until) = events.next().unwrap();
    assert_eq!((event.as_str(), &until), ("Position", &id));
    put(&wire, "users/2", "Users", 2);
    let (event, data, second) = events.next().unwrap();
    assert_eq!((event.as_str(), data.get("Id").and_then(Value::as_str)), ("Put", Some("users/2")));
    assert_ne!(second, id);
    assert_eq!(events.next().unwrap().0, "Position");
    assert_eq!(wire.call("DELETE /databases/db/docs?id=users/1", "").status, 204);
    assert_eq!(events.next().unwrap().0, "Delete");
    // A browser connects again with the id of the last event, to the address of the first time.
    let header = format!("Accept: text/event-stream\r\nLast-Event-ID: {second}");
    let (event, data, _) = Events::open(&wire, "after=0", &header).next().unwrap();
    assert_eq!((event.as_str(), data.get("Id").and_then(Value::as_str)), ("Delete", Some("users/1")));
}

/// Who loses the connection before the included documents came must not resume behind the changes that refer to them.
#[test]
fn an_event_stream_has_no_place_between_a_change_and_what_it_includes() {
    let wire = Wire::with_database();
    ["users/1", "users/2", "users/3"].iter().for_each(|id| put(&wire, id, "Users", 3));
    put(&wire, "users/4", "Users", 4);
    for query in [
        "from+Users+where+Age+%3C+4+include+Friend",
        "declare+function+f(u)+%7Binclude(u.Friend);return+u%7D+from+Users+as+u+where+u.Age+%3C+4+select+f(u)",
    ] {
        let mut events = Events::open(&wire, &format!("format=sse&query={query}"), "Accept: */*");
        let mut told = Vec::new();
        loop {
            let (event, _, id) = events.next().unwrap();
            if event == "Position" {
                break;
            }
            told.push((event, id));
        }
        assert_eq!(
            told.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(),
            ["Put", "Put", "Put", "Include"],
            "{query}"
        );
        let (last, before) = told.split_last().unwrap();
        assert!(before.iter().all(|(_, id)| id.is_empty()), "{query}: {told:?}");
        let resumed = format!("Last-Event-ID: {}", last.1);
        let (event, _, _) = Events::open(&wire, &format!("format=sse&query={query}"), &resumed).next().unwrap();
        assert_eq!(event, "Position", "{query}");
    }
    // What includes nothing has its place at once.
    let query = "format=sse&query=from+Users+where+Age+%3C+4";
    let mut events = Events::open(&wire, query, "Accept: */*");
    (0..3).for_each(|_| assert!(!events.next().unwrap().2.is_empty()));
}

#[test]
fn an_event_stream_ends_with_its_database() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    let mut events = Events::open(&wire, "format=sse", "Accept: */*");
    assert_eq!(events.next().unwrap().0, "Put");
    assert_eq!(events.next().unwrap().0, "Position");
    wire.call("DELETE /admin/databases", r#"{"DatabaseNames":["db"],"HardDelete":true}"#);
    assert!(events.next().is_none());
}

#[test]
fn cursors_are_kept_and_hold_deletions() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    let (_, first) = page(&wire, "");
    assert_eq!(wire.call(&format!("PUT /databases/db/feed/cursors?name=mine&after={first}"), "").status, 200);
    put(&wire, "users/2", "Users", 2);
    let (told, until) = page(&wire, "cursor=MINE");
    assert_eq!(told, ["Put documents users/2"]);
    assert_eq!(page(&wire, "cursor=mine").0, told, "reading does not move it");
    assert_eq!(wire.call(&format!("PUT /databases/db/feed/cursors?name=mine&after={until}"), "").status, 200);
    assert_eq!(page(&wire, "cursor=mine").0, Vec::<String>::new());
    let all = wire.call("GET /databases/db/feed/cursors", "").json();
    assert_eq!(
        all.get("LastEtag").and_then(Value::as_i64).map(|etag| etag.to_string()).as_deref(),
        until.split('@').next()
    );
    let Some(Value::Array(cursors)) = all.get("Results") else { panic!("no cursors") };
    assert_eq!(cursors.len(), 1);
    assert_eq!(cursors[0].get("After").and_then(Value::as_str), Some(&*until));
    assert_eq!(cursors[0].get("KeepsDeletions").and_then(Value::as_bool), Some(true));
    assert_eq!(wire.call("DELETE /databases/db/feed/cursors?name=mine", "").status, 204);
    assert_eq!(wire.call("DELETE /databases/db/feed/cursors?name=mine", "").status, 404);
    assert_eq!(wire.call("GET /databases/db/feed?cursor=mine", "").status, 404);
}

#[test]
fn a_cursor_whose_consumer_stays_does_not_expire_in_a_quiet_database() {
    let clock = ManualClock::at(Date::parse("2030-01-01T00:00:00Z").unwrap());
    let of_server = clock.clone();
    let wire = Wire::start_with(|options| options.clock = Arc::new(of_server));
    wire.create("db");
    put(&wire, "users/1", "Users", 1);
    let moved_at = || {
        let all = wire.call("GET /databases/db/feed/cursors", "").json();
        let Some(Value::Array(cursors)) = all.get("Results") else { panic!("no cursors") };
        cursors[0].get("MovedAt").and_then(Value::as_str).unwrap().to_owned()
    };
    assert_eq!(wire.call("PUT /databases/db/feed/cursors?name=mine&after=0", "").status, 200);
    let made = moved_at();
    clock.advance(FEED_CURSOR_REFRESHED);
    let (told, until) = page(&wire, "cursor=mine");
    assert_eq!((told.len(), moved_at()), (1, made), "what it was told is not handled yet");
    assert_eq!(wire.call(&format!("PUT /databases/db/feed/cursors?name=mine&after={until}"), "").status, 200);
    clock.advance(FEED_CURSOR_REFRESHED);
    assert_eq!(page(&wire, "cursor=mine"), (vec![], until));
    assert!(moved_at().starts_with("2030-01-03T"), "{}", moved_at());
    // An event stream does so before it waits: its first line is sent behind that.
    clock.advance(FEED_CURSOR_REFRESHED);
    let mut events = Events::open(&wire, "format=sse&cursor=mine", "Accept: */*");
    assert_eq!(events.next().unwrap().0, "Position");
    put(&wire, "users/2", "Users", 2);
    assert_eq!(events.next().unwrap().0, "Put");
    assert!(moved_at().starts_with("2030-01-04T"), "{}", moved_at());
}

/// Readers that take nothing hold the share of consumers, and no other memory. Other readers wait, and go on when the memory is free.
#[test]
fn readers_who_stall_hold_no_more_than_their_share() {
    let wire = Wire::start_with(|options| {
        (options.limits.consumers_size, options.limits.memory_size) = (4 << 20, 32 << 20);
        options.limits.blocking_wait = Duration::from_millis(200);
    });
    wire.create("db");
    let text = "x".repeat(1 << 20);
    let large = |id: &str, collection: &str| {
        wire.put(id, &format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"{collection}"}}}}"#))
    };
    put(&wire, "dogs/1", "Dogs", 1);
    let mut events = Events::open(&wire, "format=sse&collection=Dogs", "Accept: */*");
    assert_eq!((events.next().unwrap().0, events.next().unwrap().0), ("Put".to_owned(), "Position".to_owned()));
    (0..24).for_each(|number| _ = large(&format!("users/{number}"), "Users"));
    let open = |query: &str| {
        let mut stream = wire.connect();
        write!(stream, "GET /databases/db/feed?{query} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream
    };
    // Each may get a page that the sockets take; in the end what was made stays, and there is no more.
    let mut stalled = Vec::new();
    let refused = wait::until(|| {
        stalled.push(open("format=sse&collection=Users"));
        let answer = wire.call("GET /databases/db/feed?collection=Dogs", "");
        if answer.status == 200 { Err("the pages of those who stall are not counted") } else { Ok(answer) }
    });
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert!(refused.text().contains("Limits.ConsumersInMb = 4"), "{}", refused.text());
    // Others have what is left of the memory.
    large("users/later", "Users");
    assert_eq!(wire.call("GET /databases/db/docs?id=users/1", "").status, 200);
    put(&wire, "dogs/2", "Dogs", 1);
    drop(stalled);
    // It has waited; where that took long, it was told in between that it is where it was.
    let (event, data, _) =
        std::iter::repeat_with(|| events.next().unwrap()).find(|(event, ..)| event != "Position").unwrap();
    assert_eq!((event.as_str(), data.get("Id").and_then(Value::as_str)), ("Put", Some("dogs/2")));
    wire.until("GET /databases/db/feed?collection=Dogs", |answer| answer.status == 200);
}

/// A document that is larger than all that consumers may have is sent alone.
#[test]
fn a_document_above_the_share_of_consumers_is_told() {
    let wire = Wire::start_with(|options| options.limits.consumers_size = 1 << 20);
    wire.create("db");
    let text = "x".repeat(12 << 20);
    (1..=2).for_each(|number| _ = wire.put(&format!("users/{number}"), &format!(r#"{{"Text":"{text}"}}"#)));
    let (told, until) = page(&wire, "");
    assert_eq!(told, ["Put documents users/1"]);
    assert_eq!(page(&wire, &format!("after={until}")).0, ["Put documents users/2"]);
}

/// Its etags are as high as before, and tell of other writes.
#[test]
fn a_database_that_was_made_anew_refuses_places_of_the_one_before() {
    let wire = Wire::with_database();
    (1..=5).for_each(|age| put(&wire, &format!("users/{age}"), "Users", age));
    let (_, until) = page(&wire, "");
    wire.call("DELETE /admin/databases", r#"{"DatabaseNames":["db"],"HardDelete":true}"#);
    wire.create("db");
    (1..=8).for_each(|age| put(&wire, &format!("users/{age}"), "Users", age));
    let gone = |answer: Answer| {
        assert_eq!(answer.status, 410, "{}", answer.text());
        assert!(answer.text().contains("the database was made anew or restored since"), "{}", answer.text());
    };
    gone(wire.call(&format!("GET /databases/db/feed?after={until}"), ""));
    let header = format!("Last-Event-ID: {until}");
    gone(wire.call_with("GET /databases/db/feed?format=sse", &[&header], b""));
    gone(wire.call(&format!("PUT /databases/db/feed/cursors?name=mine&after={until}"), ""));
    assert_eq!(page(&wire, "after=5").0.len(), 3, "an etag alone is taken as it is");
}

#[test]
fn mistakes_are_told() {
    let wire = Wire::with_database();
    put(&wire, "users/1", "Users", 1);
    for (query, status, part) in [
        ("after=x", 400, "after"),
        ("after=99", 410, "the last etag of database 'db' is 1"),
        ("after=1&cursor=a", 400, "'after' and 'cursor'"),
        ("kinds=documents,cats", 400, "'cats' is no kind of items"),
        ("kinds=counters&query=from+Users", 400, "'kinds' leaves documents out"),
        ("collection=Users&query=from+Users", 400, "both name a collection"),
        ("query=from+Users+order+by+Age", 400, "'order by'"),
        ("query=frm", 400, ""),
        ("format=xml", 400, "jsonl or sse"),
        ("format=sse&after=99", 410, "made anew or restored"),
        ("wait=301", 400, "FEED_WAIT_MAX"),
        ("pageSize=0", 400, "pageSize"),
    ] {
        let answer = wire.call(&format!("GET /databases/db/feed?{query}"), "");
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
        assert!(answer.text().contains(part), "{query}: {}", answer.text());
    }
    for query in ["", "name=", "name=a&after=99"] {
        let status = wire.call(&format!("PUT /databases/db/feed/cursors?{query}"), "").status;
        assert!(matches!(status, 400 | 410), "{query}: {status}");
    }
}
