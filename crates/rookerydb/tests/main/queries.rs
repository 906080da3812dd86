//! Queries and indexes.

use std::time::Duration;

use rookerydb::*;
use serde_json::{Value, json};
use testing::wait::LONG;

/// Documents `ts/0` to `ts/9` with the number `N`, half of them `Odd`.
fn with_numbers() -> Database {
    let database = Store::in_memory().unwrap().database("db").unwrap();
    let mut insert = database.bulk_insert().unwrap();
    for number in 0..10 {
        let next = format!("ts/{}", (number + 1) % 10);
        let document = json!({"N": number, "Odd": number % 2 == 1, "Next": next, "Text": format!("word{number} all")});
        insert.put("Ts", &format!("ts/{number}"), &document).unwrap();
    }
    insert.finish().unwrap();
    database
}

fn numbers(query: Query<'_>) -> Vec<i64> {
    let rows = query.wait_for_indexing(LONG).values::<Value>().unwrap();
    rows.iter().map(|row| row["N"].as_i64().unwrap()).collect()
}

#[test]
fn a_query_takes_parameters_and_pages() {
    let database = with_numbers();
    let query = || database.query("from Ts where N between $from and $to order by N as long");
    let query = || query().parameter("from", 2).parameter("to", 7);
    assert_eq!(numbers(query()), [2, 3, 4, 5, 6, 7]);
    assert_eq!(numbers(query().skip(1).take(2)), [3, 4]);
    let rows = query().take(1).run().unwrap();
    assert_eq!((rows.len(), rows.total(), rows.is_stale()), (1, Some(6), false));
    assert_eq!(rows.index(), Some("Auto/Ts/ByN"));
    assert_eq!(rows.get(0).unwrap().id().as_deref(), Some("ts/2"));
    assert_eq!(rows.get(1), None);
    let whole = database.query("from Ts").run().unwrap();
    assert_eq!((whole.len(), whole.index()), (10, None));
    assert_eq!(database.query("from Ts where N = 4").first::<Value>().unwrap().unwrap()["N"], 4);
    assert_eq!(database.query("from Ts where N = 40").first::<Value>().unwrap(), None);
}

#[test]
fn results_include_other_documents() {
    let database = with_numbers();
    let rows = database.query("from Ts where id() = 'ts/9' include Next").run().unwrap();
    assert_eq!(rows.included().iter().map(Document::id).collect::<Vec<_>>(), ["ts/0"]);
}

#[test]
fn results_are_read_one_by_one() {
    let database = with_numbers();
    let mut ids = Vec::new();
    let count = database.query("from Ts where Odd = true").wait_for_indexing(LONG).for_each(|row| {
        ids.extend(row.id());
        Ok(())
    });
    assert_eq!((count.unwrap(), ids.len()), (5, 5));
    let mut seen = 0;
    let ended = database.query("from Ts").for_each(|_| {
        seen += 1;
        if seen < 3 { Ok(()) } else { Err(Error::Invalid("enough".to_owned())) }
    });
    assert!(matches!(ended, Err(Error::Invalid(message)) if message == "enough"));
    assert_eq!(seen, 3);
}

#[test]
fn wrong_queries_are_refused_by_kind() {
    let database = with_numbers();
    let refused = |text: &str| database.query(text).run().unwrap_err();
    assert!(matches!(refused("from"), Error::Invalid(message) if message.contains("Query: from")));
    assert!(matches!(refused("from Ts where N = $missing"), Error::Invalid(_)));
    assert!(matches!(refused("from index 'Nope' where N = 1"), Error::NoSuchIndex(name) if name == "Nope"));
    assert!(matches!(refused("from Ts update { this.N = 1 }"), Error::Invalid(_)));
    let facet = refused("from index 'Nope' select facet(N)").to_string();
    assert!(facet.contains("facets()"), "{facet}");
    assert!(matches!(refused("explain from Ts where N = 1"), Error::NotSupported(_)));
    assert!(matches!(refused("from Ts where N = 1 include timings()"), Error::NotSupported(_)));
    let endless = database.query("from Ts as t select { N: (() => { while (true) {} })() }").run();
    assert!(matches!(endless, Err(Error::Invalid(_))), "the limit of steps: {endless:?}");
}

#[test]
fn a_query_changes_and_deletes_what_it_finds() {
    let database = with_numbers();
    let patched = database.query("from Ts where N > $n update { this.N += $more }");
    assert_eq!(patched.parameter("n", 6).parameter("more", 100).patch().unwrap(), 3);
    assert_eq!(numbers(database.query("from Ts where N > 6 order by N as long")), [107, 108, 109]);
    assert_eq!(database.query("from Ts where Odd = true filter N < 100").delete().unwrap(), 3);
    assert_eq!(database.statistics().unwrap().document_count, 7);
    assert!(matches!(database.query("from Ts").patch(), Err(Error::Invalid(_))));
    assert_eq!(database.query("from Ts").delete().unwrap(), 7);
}

/// Both panicked: the time was added to the clock.
#[test]
fn a_wait_may_be_without_end() {
    let database = with_numbers();
    assert_eq!(database.query("from Ts where N = 4").timeout(Duration::MAX).run().unwrap().len(), 1);
    database.wait_for_indexing(Duration::MAX).unwrap();
}

/// Changes ignored the limit, and a limit below a second was reported as 0 s.
#[test]
fn a_time_limit_ends_queries_and_changes() {
    let database = with_numbers();
    let limit = Duration::from_nanos(1);
    let query = |text: &str| database.query(text).timeout(limit);
    for ended in
        [query("from Ts").run().map(|_| 0), query("from Ts update { this.N = 100 }").patch(), query("from Ts").delete()]
    {
        assert!(matches!(ended, Err(Error::Timeout(after)) if after == limit), "{ended:?}");
    }
    assert_eq!(database.query("from Ts where N < 100").delete().unwrap(), 10, "nothing was changed");
}

#[test]
fn indexes_are_defined_asked_and_deleted() {
    let database = with_numbers();
    let definition = IndexDefinition::new("ByText")
        .map("map('Ts', t => ({ Text: t.Text, Double: t.N * 2, Odd: t.Odd }))")
        .analysis("Text", Analysis::Words)
        .suggestions("Text")
        .store("Double");
    database.put_index(&definition).unwrap();
    database.wait_for_indexing(LONG).unwrap();
    let found =
        database.query("from index 'ByText' where search(Text, 'word3') select Double").values::<Value>().unwrap();
    assert_eq!(found[0]["Double"], "6", "an index stores texts");
    let facets = database.query("from index 'ByText' select facet(Odd, sum(Double))").facets().unwrap();
    let counts: Vec<_> = facets[0].values.iter().map(|value| (value.name.as_str(), value.count)).collect();
    assert_eq!(counts, [("false", 5), ("true", 5)]);
    assert_eq!(facets[0].values[1].aggregates[0].sum, 50.0);
    let suggested = database.query("from index 'ByText' select suggest(Text, 'wrod3')").suggestions().unwrap();
    assert!(suggested[0].words.contains(&"word3".to_owned()), "{suggested:?}");
    let indexes = database.indexes().unwrap();
    assert_eq!((indexes[0].name.as_str(), indexes[0].entry_count, indexes[0].is_automatic), ("ByText", 10, false));
    assert!(database.delete_index("ByText").unwrap() && !database.delete_index("ByText").unwrap());
    assert!(matches!(database.put_index(&IndexDefinition::new("X").map("nonsense(")), Err(Error::Invalid(_))));
}
