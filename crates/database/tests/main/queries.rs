//! Queries in process: rows of collections and indexes, and changes of what a query finds.

use std::sync::Arc;
use std::time::Duration;

use rookery_database::documents::{Batch, Expected};
use rookery_database::queries::*;
use rookery_database::*;

/// Documents `ts/0` to `ts/4` with the number `N`.
fn with_numbers() -> (Arc<Databases>, Arc<Database>) {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("db").unwrap();
    let mut batch = Batch::new();
    for number in 0..5 {
        let document = format!(r#"{{"N":{number},"Odd":{},"@metadata":{{"@collection":"Ts"}}}}"#, number % 2 == 1);
        batch.put(&format!("ts/{number}"), document.as_bytes(), Expected::Any).unwrap();
    }
    database.execute(batch).unwrap();
    (databases, database)
}

/// Rows without their metadata, each on a line.
#[derive(Default)]
struct Rows {
    text: Vec<u8>,
    ended: RowCounts,
}

impl RowSink for Rows {
    type Error = Error;

    fn begin_row(&mut self) -> &mut Vec<u8> {
        self.text.push(b'\n');
        &mut self.text
    }

    fn end_result(&mut self, rows: RowCounts) -> Result<()> {
        self.ended = rows;
        Ok(())
    }
}

const RUN_TIME: Duration = testing::wait::LONG;

fn ask(database: &Database, text: &str) -> Result<(String, WrittenRows)> {
    let query = Query::parse(text, None)?.refuse_update()?;
    let freshness = Freshness { stale_wait: Some(RUN_TIME), ..Freshness::default() };
    let deadline = Deadline::new(Some(RUN_TIME), || false);
    let (memory, script_limits) = (database.limits().memory.clone(), database.limits().script);
    let context = RunContext { memory, deadline: &deadline, script_limits, timings: query.timings.as_ref() };
    let mut rows = Rows::default();
    let written = database.query(&query, &freshness, RUN_TIME, &context, |run| {
        run.write_rows(false, &mut Included::new(run, false), &mut rows)
    })?;
    assert_eq!(rows.ended.rows, written.counts.taken, "{text}");
    let text = String::from_utf8(rows.text).unwrap();
    let shown = text.lines().skip(1).map(|row| row.split(r#","@metadata""#).next().unwrap_or_default());
    Ok((shown.collect::<Vec<_>>().join(" "), written))
}

#[track_caller]
fn check(database: &Database, text: &str, total: i64, expected: &str) {
    let (rows, written) = ask(database, text).unwrap();
    assert_eq!((rows.as_str(), written.counts.total), (expected, total), "{text}");
}

#[test]
fn rows_come_from_collections_and_from_indexes() {
    let (_databases, database) = with_numbers();
    check(&database, "from Ts where id() = 'ts/3'", 1, r#"{"N":3,"Odd":true"#);
    check(&database, "from Ts order by id() limit 1, 2", 5, r#"{"N":1,"Odd":true {"N":2,"Odd":false"#);
    check(&database, "from Ts where N > 2 order by N desc select N", 2, r#"{"N":4 {"N":3"#);
    check(&database, "from Ts where N > 0 filter Odd = true select N", 4, r#"{"N":1 {"N":3"#);
    check(&database, "from Ts where N >= 0 order by N select distinct Odd", 5, r#"{"Odd":false {"Odd":true"#);
    check(&database, "from Ts as t where t.N > 3 select { Double: t.N * 2 }", 1, r#"{"Double":8"#);
    let refused = ask(&database, "from Ts update { this.N = 1 }").unwrap_err();
    assert!(refused.to_string().contains("`update` changes documents"), "{refused}");
    let unknown = ask(&database, "from index 'Nope' where N = 1").unwrap_err();
    assert!(matches!(unknown, Error::NoSuchIndex { name } if name == "Nope"));
}

#[test]
fn a_sink_ends_its_query() {
    struct First(Vec<u8>);
    impl RowSink for First {
        type Error = Error;

        fn begin_row(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }

        fn end_row(&mut self) -> Result<()> {
            Err(Error::Canceled)
        }
    }
    let (_databases, database) = with_numbers();
    let query = Query::parse("from Ts select N", None).unwrap();
    let deadline = Deadline::new(None, || false);
    let (memory, script_limits) = (database.limits().memory.clone(), database.limits().script);
    let context = RunContext { memory, deadline: &deadline, script_limits, timings: None };
    let mut first = First(Vec::new());
    let outcome = database.query(&query, &Freshness::default(), RUN_TIME, &context, |run| {
        run.write_rows(false, &mut Included::new(run, false), &mut first)
    });
    assert!(matches!(outcome, Err(Error::Canceled)));
    assert_eq!(String::from_utf8(first.0).unwrap().matches(r#"{"N":"#).count(), 1, "one row");
}

fn change(database: &Arc<Database>, change: ByQuery, text: &str) -> Result<OperationResult> {
    let query = change.check(Query::parse(text, None)?)?;
    let freshness = Freshness { stale_wait: Some(RUN_TIME), ..Freshness::default() };
    let ready = database.ready(&query, &freshness, RUN_TIME)?;
    let options = ByQueryOptions { keeps_details: true, ..ByQueryOptions::default() };
    PreparedChange::new(database.clone(), change, query, options, Ok(ready))?.begin()?.run()
}

/// A change in process that was killed was reported as failed.
#[test]
fn the_operation_of_a_change_ends_with_it() {
    let (_databases, database) = with_numbers();
    let begin = || {
        let query = ByQuery::Delete.check(Query::parse("from Ts", None).unwrap()).unwrap();
        let options = ByQueryOptions::default();
        let prepared = PreparedChange::new(database.clone(), ByQuery::Delete, query, options, Ok(None)).unwrap();
        assert!(prepared.awaited().is_none(), "it has no index");
        let running = prepared.begin().unwrap();
        (running.operation().clone(), running)
    };
    let (operation, running) = begin();
    operation.kill();
    assert!(matches!(running.run(), Err(Error::Canceled)));
    assert!(matches!(operation.status(), OperationStatus::Canceled));
    let (operation, running) = begin();
    drop(running);
    assert!(matches!(operation.status(), OperationStatus::Faulted(_)));
    let (operation, running) = begin();
    running.run().unwrap();
    assert!(matches!(operation.status(), OperationStatus::Completed(result) if result.total == 5));
}

#[test]
fn a_query_patches_and_deletes_what_it_finds() {
    let (_databases, database) = with_numbers();
    let patched = change(&database, ByQuery::Patch, "from Ts where N > 1 filter Odd = false update { this.N += 10 }");
    let patched = patched.unwrap();
    assert_eq!((patched.total, patched.details.len()), (2, 2), "{patched:?}");
    check(&database, "from Ts where N > 9 order by N as long select N", 2, r#"{"N":12 {"N":14"#);
    let deleted = change(&database, ByQuery::Delete, "from Ts where N > 9").unwrap();
    assert_eq!(deleted.total, 2, "{deleted:?}");
    let deleted = change(&database, ByQuery::Delete, "from Ts").unwrap();
    assert_eq!((deleted.total, database.read().statistics().unwrap().documents().count), (3, 0), "{deleted:?}");
    let refused = change(&database, ByQuery::Delete, "from Ts update { this.N = 1 }").unwrap_err();
    assert!(refused.to_string().contains("`update` changes documents"), "{refused}");
    let refused = change(&database, ByQuery::Patch, "from Ts").unwrap_err();
    assert!(refused.to_string().contains("must end with UPDATE"), "{refused}");
}

/// More than are deleted before the collection is gone through again.
#[test]
fn a_deletion_of_a_large_collection_comes_to_its_end() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("db").unwrap();
    let count = (64 << 10) + 10;
    let mut insert = database.bulk_insert(None, false).unwrap();
    for number in 0..count {
        insert.put(&format!("ts/{number}"), br#"{"@metadata":{"@collection":"Ts"}}"#).unwrap();
    }
    insert.finish().unwrap();
    let deleted = change(&database, ByQuery::Delete, "from Ts").unwrap();
    assert_eq!((deleted.total, database.read().statistics().unwrap().documents().count), (count, 0), "{deleted:?}");
}
