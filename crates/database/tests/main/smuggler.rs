//! Dumps: what is written is read as what it was, and what cannot be read is named.

use std::sync::Arc;

use rookery_database::documents::limits::INLINE_CONTENT_SIZE_MAX;
use rookery_database::documents::{
    AttachmentAction, AttachmentCommand, Batch, BulkDocs, ConstraintChange, ContentHash, Expected, ItemKind,
    NewContent, UniqueConstraint, ValueChange, Write,
};
use rookery_database::revisions::RevisionsProperty;
use rookery_database::smuggler::{DumpSink, Imported, ItemType, SmugglerOptions};
use rookery_database::{Database, Databases, DatabasesOptions, Error, OperationStatus, Result};

/// A dump in memory.
#[derive(Default)]
struct Memory(Vec<u8>);

impl DumpSink for Memory {
    type Error = Error;

    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn part_done(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn cause(error: &Error) -> Error {
        error.clone()
    }
}

fn database() -> Arc<Database> {
    Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("x").unwrap()
}

fn options(text: &str) -> SmugglerOptions {
    SmugglerOptions::from_json(&json::Value::parse(text.as_bytes()).unwrap()).unwrap()
}

fn export(database: &Arc<Database>, given: &str) -> String {
    let mut dump = Memory::default();
    let export = database.export(None, options(given), json::Value::object()).unwrap();
    export.run(&database.read(), &mut dump).unwrap();
    String::from_utf8(dump.0).unwrap()
}

fn try_import(database: &Arc<Database>, dump: &[u8], given: &str, size: usize) -> Result<Imported> {
    let mut import = database.import(None, options(given), &[]).unwrap();
    let mut feed = || {
        let mut is_closed = false;
        for piece in dump.chunks(size) {
            is_closed = import.feed(piece)?;
        }
        if is_closed { import.finish() } else { Err(import.cut_off()) }
    };
    match feed() {
        Ok(imported) => {
            import.end(imported.result.clone());
            Ok(imported)
        }
        Err(error) => {
            import.fail(error.clone());
            Err(error)
        }
    }
}

fn import(database: &Arc<Database>, dump: &str, given: &str) -> Imported {
    try_import(database, dump.as_bytes(), given, 7).unwrap()
}

fn put(database: &Arc<Database>, id: &str, document: &str) {
    let mut batch = Batch::new();
    batch.put(id, document.as_bytes(), Expected::Any).unwrap();
    database.execute(batch).unwrap();
}

/// All documents with their dates, and the identities.
fn contents(database: &Database) -> Vec<String> {
    let snapshot = database.read();
    let mut all: Vec<String> = snapshot
        .after(0)
        .map(|document| {
            let document = document.unwrap();
            let json = String::from_utf8(document.json_of_scripts()).unwrap();
            format!("{} {} {:?} {json}", document.id(), document.last_modified(), document.flags())
        })
        .collect();
    all.sort();
    all.extend(snapshot.identities().unwrap().iter().map(|(name, value)| format!("{name} {value}")));
    all
}

#[test]
fn a_dump_is_read_as_what_it_was_written_from() {
    let from = database();
    put(&from, "users/1", r#"{"Name":"Zoë \" ]}","@metadata":{"@collection":"Users","x":[1]}}"#);
    put(&from, "plain", "{}");
    put(&from, "users/gone", r#"{"@metadata":{"@collection":"Users"}}"#);
    let mut batch = Batch::new();
    batch.delete("users/gone", Expected::Any).unwrap();
    from.execute(batch).unwrap();
    from.write(&Write::SeedIdentity { name: "users|".to_owned(), value: 17, is_forced: false }).unwrap();
    let dump = export(&from, r#"{"OperateOnTypes":"DatabaseRecord,Documents,Tombstones,Identities,Indexes"}"#);
    assert!(dump.starts_with(r#"{"BuildVersion":71028,"DatabaseRecord":{"DatabaseName":"x""#), "{dump}");
    for size in [1, 5, dump.len()] {
        let to = database();
        put(&to, "users/gone", r#"{"@metadata":{"@collection":"Users"}}"#);
        let imported =
            try_import(&to, dump.as_bytes(), r#"{"OperateOnTypes":"Documents,Tombstones,Identities"}"#, size).unwrap();
        assert_eq!(contents(&to), contents(&from), "{size}: {:?}", imported.result);
        let read = |item_type| imported.result.counts(item_type).read;
        assert_eq!((read(ItemType::Documents), read(ItemType::Tombstones), read(ItemType::Identities)), (2, 1, 1));
        assert!(imported.record.is_none() && imported.document_count == 2);
    }
}

#[test]
fn options_leave_documents_out() {
    let from = database();
    put(&from, "a/1", r#"{"n":1,"@metadata":{"@collection":"As"}}"#);
    put(&from, "a/2", r#"{"n":2,"@metadata":{"@collection":"As","@expires":"2020-01-01T00:00:00.0000000Z"}}"#);
    put(&from, "b/1", r#"{"n":3,"@metadata":{"@collection":"Bs"}}"#);
    let ids = |given: &str| {
        let dump = export(&from, given);
        let to = database();
        import(&to, &dump, "{}");
        let exported: Vec<String> = to.read().after(0).map(|document| document.unwrap().id().to_owned()).collect();
        // The same options leave the same out of an import of all.
        let to = database();
        import(&to, &export(&from, "{}"), given);
        let imported: Vec<String> = to.read().after(0).map(|document| document.unwrap().id().to_owned()).collect();
        assert_eq!(exported, imported, "{given}");
        exported.join(" ")
    };
    assert_eq!(ids("{}"), "a/1 a/2 b/1");
    assert_eq!(ids(r#"{"IncludeExpired":false}"#), "a/1 b/1");
    assert_eq!(ids(r#"{"Collections":["aS"]}"#), "a/1 a/2");
    assert_eq!(ids(r#"{"Collections":["Bs","bs"]}"#), "b/1");
    assert_eq!(ids(r#"{"TransformScript":"if (this.n == 2) throw 'skip';"}"#), "a/1 b/1");
    assert_eq!(ids(r#"{"OperateOnTypes":"Indexes"}"#), "");
}

#[test]
fn archived_documents_stay_archived_and_others_do_not_become_it() {
    let from = database();
    let dump =
        r#"{"Docs":[{"@metadata":{"@id":"a/1","@archived":true,"@flags":"Archived"}},{"@metadata":{"@id":"a/2"}}]}"#;
    import(&from, dump, "{}");
    let to = database();
    import(&to, &export(&from, "{}"), "{}");
    assert_eq!(contents(&to), contents(&from));
    let is_archived = |id: &str| to.read().get(id).unwrap().unwrap().flags().is_archived();
    assert_eq!((is_archived("a/1"), is_archived("a/2")), (true, false));
    assert!(!export(&from, r#"{"IncludeArchived":false}"#).contains("a/1"));
    import(&to, r#"{"Docs":[{"@metadata":{"@id":"a/1"}}]}"#, "{}");
    assert!(!is_archived("a/1"), "what replaces it is not archived");
}

#[test]
fn an_automatic_index_comes_with_its_dump_whether_there_are_documents_or_not() {
    let index = r#"{"Type":"AutoMap","IndexDefinition":{"Name":"Auto/Users/ByN","Collections":["Users"],"MapFields":[{"Name":"N"}]}}"#;
    let documents = r#"{"N":1,"@metadata":{"@id":"users/1","@collection":"Users"}}"#;
    for documents in ["", documents] {
        let database = database();
        import(&database, &format!(r#"{{"Docs":[{documents}],"Indexes":[{index}]}}"#), "{}");
        let names: Vec<String> = database.indexes().all().iter().map(|index| index.name().to_owned()).collect();
        assert_eq!(names, ["Auto/Users/ByN"], "{documents}");
    }
}

#[test]
fn a_script_changes_documents_on_their_way_out_and_in() {
    let from = database();
    put(&from, "a/1", r#"{"n":1.50,"@metadata":{"@collection":"As"}}"#);
    let script = r#"{"TransformScript":"this.id = id(this); this.twice = this.n * 2; this['@metadata'].seen = true;"}"#;
    let expected = r#"{"n":1.50,"id":"a/1","twice":3,"@metadata":{"@collection":"As","seen":true}}"#;
    let (out, on_import) = (database(), database());
    import(&out, &export(&from, script), "{}");
    import(&on_import, &export(&from, "{}"), script);
    for database in [out, on_import] {
        let json = database.read().get("a/1").unwrap().unwrap().json_of_scripts();
        assert_eq!(String::from_utf8(json).unwrap(), expected);
    }
    let refused = from.export(None, options(r#"{"TransformScript":"this. = "}"#), json::Value::object());
    assert!(matches!(refused, Err(Error::Script { .. })));
    let thrown = try_import(&database(), export(&from, "{}").as_bytes(), r#"{"TransformScript":"throw 'x'"}"#, 9);
    assert!(thrown.unwrap_err().to_string().contains("a/1"));
    let skipped =
        import(&database(), &export(&from, "{}"), r#"{"TransformScript":"throw 'x'","SkipCorruptedData":true}"#);
    assert_eq!(skipped.result.counts(ItemType::Documents).errored, 1);
}

const BAD: &str = r#"{"Docs":[{"@metadata":{"@id":"a/1"}},{"@metadata":{"@id":"a/2"},"b":tru},{"@metadata":{}},17,
    {"@metadata":{"@id":"old","@collection":"News"}},{"@metadata":{"@id":"a/3"}}],
    "Identities":[{"Key":7},{"Key":"a|","Value":"5"}],"Indexes":[{"Type":"Map","IndexDefinition":{"Name":"I","Maps":["from"]}}]}"#;

#[test]
fn a_bad_item_is_named_with_its_place_and_may_be_skipped() {
    let target = database();
    put(&target, "old", r#"{"@metadata":{"@collection":"Olds"}}"#);
    let error = try_import(&target, BAD.as_bytes(), "{}", 11).unwrap_err().to_string();
    assert!(error.contains("byte 37, element 2 of 'Docs'"), "{error}");
    // What stands before it is stored.
    assert!(target.read().get("a/1").unwrap().is_some() && target.read().get("a/3").unwrap().is_none());
    let operation = target.operations().all().pop().unwrap();
    assert!(matches!(operation.status(), OperationStatus::Faulted(error) if error.to_string().contains("element 2")));
    let imported = import(&target, BAD, r#"{"SkipCorruptedData":true}"#);
    let counts = |item_type| (imported.result.counts(item_type).read, imported.result.counts(item_type).errored);
    assert_eq!(counts(ItemType::Documents), (6, 4), "{:?}", imported.result.messages());
    assert_eq!((counts(ItemType::Identities), counts(ItemType::Indexes)), ((2, 1), (1, 1)));
    assert!(target.read().get("a/3").unwrap().is_some());
    assert_eq!(target.read().get("old").unwrap().unwrap().collection().as_deref(), Some("Olds"));
    let messages = imported.result.messages().join("\n");
    for text in ["element 2 of 'Docs'", "no '@id'", "element 4 of 'Docs'", "'old'", "element 1 of 'Identities'", "'I'"]
    {
        assert!(messages.contains(text), "{text}: {messages}");
    }
}

/// A bracket that was damaged has the reader believe that the dump is over.
#[test]
fn what_follows_the_last_bracket_is_refused_or_reported() {
    const DUMP: &str = r#"{"Docs":[{"@metadata":{"@id":"a/1"},"b":{"c":1}},{"@metadata":{"@id":"a/2"}}],"Identities":[{"Key":"a|","Value":"5"}]}"#;
    for size in [1, 7, 50, 1000] {
        assert!(try_import(&database(), format!("{DUMP}\r\n \t").as_bytes(), "{}", size).is_ok());
        let error = try_import(&database(), format!("{DUMP}\n{{}}").as_bytes(), "{}", size).unwrap_err().to_string();
        assert!(error.contains(&format!("byte {}", DUMP.len() + 1)), "{error}");
    }
    // `,` became `]`, and `{` became `}`.
    let damaged = DUMP.replace(r#"}},{"@m"#, r#"}}]}"@m"#);
    let end = damaged.find(r#""@metadata":{"@id":"a/2""#).unwrap();
    for size in [1, 7, 50, 1000] {
        let to = database();
        let error = try_import(&to, damaged.as_bytes(), "{}", size).unwrap_err().to_string();
        assert!(error.contains(&format!("byte {end}: the brackets of the dump end before")), "{error}");
        assert!(to.read().get("a/1").unwrap().is_some());
        let imported = try_import(&database(), damaged.as_bytes(), r#"{"SkipCorruptedData":true}"#, size).unwrap();
        let expected = format!("{} bytes from byte {end} on were not read", damaged.len() - end);
        let messages = imported.result.messages();
        assert!(
            messages.iter().any(|message| message.contains(&expected) && message.contains("WARNING")),
            "{messages:?}"
        );
    }
}

#[test]
fn what_is_not_supported_is_passed_over_and_counted() {
    let dump = b"{\"Docs\":[{\"@metadata\":{\"@export-type\":\"Attachment\"},\"Size\":4,\"Hash\":\"x\"}]}\"[,{\"@metadata\":{\"@id\":\"a/1\"}}],\
        \"Zork\":[{},[1]],\
        \"TimeSeries\":[{\"@raven-data\":{},\"@raven-blob-size\":3}\x00\xff{]}";
    for size in 1..20 {
        let to = database();
        let imported = try_import(&to, dump, "{}", size).unwrap();
        let read = |item_type| (imported.result.counts(item_type).read, imported.result.counts(item_type).is_skipped);
        assert_eq!(read(ItemType::Documents), (1, false));
        // Its content has not the hash that it names.
        assert_eq!(read(ItemType::Attachments), (1, false));
        assert_eq!(imported.result.counts(ItemType::Attachments).errored, 1);
        assert_eq!(read(ItemType::TimeSeries), (1, true));
        assert!(imported.result.messages().iter().any(|message| message.contains("'TimeSeries' were skipped")));
    }
}

fn attach(database: &Arc<Database>, id: &str, name: &str, content: &[u8]) {
    let mut batch = Batch::new();
    let command = AttachmentCommand::put(id, name, "x/y", NewContent::inline(content)).unwrap();
    batch.push_attachment(command, Expected::Any);
    database.execute(batch).unwrap();
}

fn bytes_of(database: &Arc<Database>, given: &str) -> Vec<u8> {
    let mut dump = Memory::default();
    let export = database.export(None, options(given), json::Value::object()).unwrap();
    export.run(&database.read(), &mut dump).unwrap();
    dump.0
}

/// Document, name and content of each attachment.
fn attachments(database: &Arc<Database>) -> Vec<(String, String, Vec<u8>)> {
    let snapshot = database.read();
    let mut found = Vec::new();
    for item in snapshot.items(&[ItemKind::Attachment], None, 0).unwrap() {
        let attachment = item.unwrap().attachment().unwrap().unwrap();
        assert_eq!(attachment.content_type(), "x/y");
        let mut content = Vec::new();
        let mut reading = snapshot.content(attachment.hash(), 0..u64::MAX).unwrap().unwrap();
        while let Some(piece) = reading.next().unwrap() {
            content.extend_from_slice(piece);
        }
        found.push((attachment.document_id().to_owned(), attachment.name().to_owned(), content));
    }
    found.sort();
    assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
    found
}

#[test]
fn attachments_are_written_once_for_each_content_and_read_back() {
    let from = database();
    let large: Vec<u8> = (0..6_000_000u32).map(|at| (at * 7 / 3) as u8).collect();
    for id in ["Users/1", "users/2", "users/3"] {
        put(&from, id, r#"{"@metadata":{"@collection":"Users"}}"#);
    }
    attach(&from, "users/1", "A", b"]}\"{,");
    attach(&from, "users/2", "same", b"]}\"{,");
    attach(&from, "users/2", "empty", b"");
    let mut batch = Batch::new();
    batch.delete("users/3", Expected::Any).unwrap();
    from.execute(batch).unwrap();
    let small = bytes_of(&from, "{}");
    attach(&from, "users/1", "large", &large);
    let dump = bytes_of(&from, "{}");
    let head = br#"{"@metadata":{"@export-type":"Attachment"},"Hash":""#;
    assert_eq!(dump.windows(head.len()).filter(|window| window == head).count(), 3);
    let tag = br#"","Size":5,"Tag":"users/1|d|a|"#;
    assert!(small.windows(tag.len()).any(|window| window == tag));
    for size in [1, 5, 64] {
        let to = database();
        try_import(&to, &small, "{}", size).unwrap();
        assert_eq!(attachments(&to).len(), 3, "{size}");
    }
    let to = database();
    for _ in 0..2 {
        let imported = try_import(&to, &dump, r#"{"SkipCorruptedData":true}"#, 100_000).unwrap();
        let counts = imported.result.counts(ItemType::Attachments);
        assert_eq!((counts.read, counts.errored, counts.size), (3, 0, 5 + 6_000_000));
        assert!(attachments(&to) == attachments(&from));
        assert_eq!(to.read().statistics().unwrap().content_count, 3);
    }
    // The dates are those of the dump.
    let modified = |database: &Arc<Database>| database.read().get("users/2").unwrap().unwrap().last_modified();
    assert_eq!(modified(&to), modified(&from));
    // Without the type they are passed over.
    let to = database();
    try_import(&to, &dump, r#"{"OperateOnTypes":"Documents"}"#, 100_000).unwrap();
    assert_eq!((attachments(&to).len(), to.read().statistics().unwrap().documents().count), (0, 2));
    let without = bytes_of(&from, r#"{"OperateOnTypes":"Documents"}"#);
    assert!(without.len() < 10_000);
    // A dump that lists contents it has not: the documents are stored, and each attachment is named.
    let to = database();
    let imported = try_import(&to, &without, "{}", 1000).unwrap();
    assert_eq!((attachments(&to).len(), imported.result.counts(ItemType::Attachments).errored), (0, 4));
    let messages = imported.result.messages().join("\n");
    assert!(messages.contains("The attachment 'same' of 'users/2' was skipped: its content is neither"), "{messages}");
    // A content that was changed on its way is not stored under the hash of another one.
    let at = small.windows(5).position(|window| window == b"]}\"{,").unwrap();
    let mut damaged = small.clone();
    damaged[at] = b'x';
    let to = database();
    let imported = try_import(&to, &damaged, "{}", 1000).unwrap();
    assert_eq!(imported.result.counts(ItemType::Attachments).errored, 3);
    assert_eq!(attachments(&to).len(), 1);
}

#[test]
fn a_dump_that_goes_on_deletes_attachments() {
    let to = database();
    put(&to, "users/1", "{}");
    attach(&to, "users/1", "Gone", b"1");
    attach(&to, "users/1", "stays", b"2");
    let tombstone = |key: &str| format!(r#"{{"Key":"{key}","Type":"Attachment","Collection":null}}"#);
    let dump = format!(
        r#"{{"Tombstones":[{},{},{}]}}"#,
        tombstone(r"users/1\u001Ed\u001Egone\u001Ehash\u001Ex/y"),
        tombstone(r"users/1\u001Er\u001Estays\u001E"),
        tombstone("nonsense")
    );
    import(&to, &dump, r#"{"OperateOnTypes":"Documents,Tombstones,Attachments"}"#);
    assert_eq!(attachments(&to).iter().map(|(_, name, _)| name.as_str()).collect::<Vec<_>>(), ["stays"]);
    // What was deleted is written so.
    let mut batch = Batch::new();
    batch.push_attachment(AttachmentCommand::new("users/1", "STAYS", AttachmentAction::Delete).unwrap(), Expected::Any);
    to.execute(batch).unwrap();
    let written = export(&to, r#"{"OperateOnTypes":"Tombstones"}"#);
    let hash = ContentHash::of(b"2");
    let key = format!(r#"{{"Key":"users/1\u001Ed\u001Estays\u001E{hash}\u001Ex/y","Type":"Attachment""#);
    assert!(written.contains(&key), "{written}");
}

#[test]
fn numbers_that_were_given_out_are_not_given_out_again() {
    let to = database();
    put(&to, "Raven/Hilo/users", r#"{"Max":64,"@metadata":{"@collection":"@hilo"}}"#);
    let hilo = |max: u64| {
        format!(r#"{{"Docs":[{{"Max":{max},"@metadata":{{"@collection":"@hilo","@id":"Raven/Hilo/users"}}}}]}}"#)
    };
    let max =
        || String::from_utf8(to.read().get("Raven/Hilo/users").unwrap().unwrap().body().bytes().to_vec()).unwrap();
    import(&to, &hilo(32), "{}");
    assert_eq!(max(), r#"{"Max":64}"#);
    import(&to, &hilo(96), "{}");
    assert_eq!(max(), r#"{"Max":96}"#);
    to.write(&Write::SeedIdentity { name: "a|".to_owned(), value: 5, is_forced: false }).unwrap();
    import(&to, r#"{"Identities":[{"Key":"a|","Value":"3"}]}"#, "{}");
    assert_eq!(to.read().identities().unwrap(), [("a|".to_owned(), 5)]);
}

#[test]
fn a_killed_operation_ends() {
    let to = database();
    let mut import = to.import(Some(9), SmugglerOptions::default(), &[]).unwrap();
    assert!(matches!(to.import(Some(9), SmugglerOptions::default(), &[]), Err(Error::OperationInUse { id: 9 })));
    import.feed(br#"{"Docs":[{"@metadata":{"@id":"a/1"}},"#).unwrap();
    import.operation().kill();
    let error = import.feed(b"{}").unwrap_err();
    assert!(matches!(error, Error::Canceled));
    import.fail(error);
    assert!(matches!(to.operations().get(9).unwrap().status(), OperationStatus::Canceled));
    let export = to.export(Some(10), SmugglerOptions::default(), json::Value::object()).unwrap();
    put(&to, "a/1", "{}");
    to.operations().get(10).unwrap().kill();
    assert!(matches!(export.run(&to.read(), &mut Memory::default()), Err(Error::Canceled)));
    assert!(matches!(to.operations().get(10).unwrap().status(), OperationStatus::Canceled));
}

/// A dump that is many times larger than what an import may hold.
#[test]
fn an_import_without_end_takes_bounded_memory() {
    let to = database();
    let mut import = to.import(None, options(r#"{"OperateOnTypes":"Identities"}"#), &[]).unwrap();
    import.feed(br#"{"Docs":["#).unwrap();
    let document = format!(r#"{{"Text":"{}","@metadata":{{"@id":"a/1"}}}},"#, "x".repeat(100_000));
    for _ in 0..3000 {
        import.feed(document.as_bytes()).unwrap();
        assert!(import.held_size() < 4 << 20, "{}", import.held_size());
    }
    import.feed(br#"{}],"Identities":[{"Key":"a|","Value":1}]}"#).unwrap();
    assert_eq!(import.finish().unwrap().result.counts(ItemType::Documents).read, 3001);
}

/// Values of every counter of a document.
fn counters_of(database: &Database, id: &str) -> Vec<(String, i64)> {
    let snapshot = database.read();
    snapshot.counters(id).unwrap().iter().map(|counter| (counter.name().to_owned(), counter.total())).collect()
}

fn raise(database: &Arc<Database>, id: &str, counters: &[(&str, i64)]) {
    let mut batch = rookery_database::documents::Batch::new();
    let operation = |(name, delta): &(&str, i64)| rookery_database::documents::CounterOperation {
        name: (*name).to_owned(),
        action: rookery_database::documents::CounterAction::Increment(*delta),
    };
    let operations = counters.iter().map(operation).collect();
    batch.push_counters(rookery_database::documents::CounterCommand::new(id, operations, false).unwrap());
    database.execute(batch).unwrap();
}

#[test]
fn counters_go_there_and_back() {
    let from = database();
    for id in ["users/1", "users/2"] {
        put(&from, id, r#"{"@metadata":{"@collection":"Users"}}"#);
    }
    raise(&from, "users/1", &[("Likes", 3), ("é", -4)]);
    raise(&from, "users/2", &[("zero", 0)]);
    raise(&from, "users/1", &[("likes", i64::from(u32::MAX))]);
    let dump = export(&from, "{}");
    assert!(dump.contains(r#""@names":{"é":"é"}"#) || dump.contains(r#""likes":"Likes""#), "{dump}");
    let to = database();
    import(&to, &dump, "{}");
    // Again: nothing is counted twice.
    import(&to, &dump, "{}");
    for id in ["users/1", "users/2"] {
        assert_eq!(counters_of(&to, id), counters_of(&from, id), "{id}");
    }
    assert_eq!(to.read().verify().unwrap().problems, Vec::<String>::new());
    // The values of the other database stay apart from own increments.
    raise(&to, "users/1", &[("Likes", 1)]);
    let snapshot = to.read();
    let likes = snapshot.counter("users/1", "likes").unwrap().unwrap();
    let values = likes.values();
    assert_eq!((likes.total(), values.len()), (i64::from(u32::MAX) + 4, 2));
    assert!(values.iter().any(|(database, value)| database.starts_with("A-") && *value == 1), "{values:?}");
}

#[test]
fn counters_of_a_dump_of_the_reference_are_stored_and_those_without_a_document_are_told() {
    let dump = r#"{"Docs":[{"@metadata":{"@collection":"Users","@id":"users/1","@counters":["x"]}}],"CounterGroups":[
        {"DocId":"users/1","ChangeVector":"B:5-AAAAAAAAAAAAAAAAAAAAAA","Values":{"@dbIds":["AAAAAAAAAAAAAAAAAAAAAA","BBBBBBBBBBBBBBBBBBBBBA"],
         "@names":{"likes":"Likes","gone":"Gone"},"@vals":{"likes":[5,2,7,4],"gone":"AAAAAAAAAAAAAAAAAAAAAA:16"}}},
        {"DocId":"nope/1","Values":{"@dbIds":["BBBBBBBBBBBBBBBBBBBBBA"],"@names":{},"@vals":{"likes":[5,2]}}}]}"#;
    let to = database();
    let imported = try_import(&to, dump.as_bytes(), "{}", 100).unwrap();
    assert_eq!(counters_of(&to, "users/1"), [("Likes".to_owned(), 12)]);
    let counts = imported.result.counts(ItemType::CounterGroups);
    assert_eq!((counts.read, counts.errored), (2, 1));
    assert!(imported.result.messages().iter().any(|message| message.contains("1 counters were skipped")));
    assert_eq!(to.read().verify().unwrap().problems, Vec::<String>::new());
    for group in
        ["{}", r#"{"DocId":"a","Values":{}}"#, r#"{"DocId":"a","Values":{"@dbIds":["x"],"@vals":{"a":[1,2]}}}"#]
    {
        let dump = format!(r#"{{"CounterGroups":[{group}]}}"#);
        assert!(try_import(&to, dump.as_bytes(), "{}", 100).is_err(), "{group}");
        try_import(&to, dump.as_bytes(), r#"{"SkipCorruptedData":true}"#, 100).unwrap();
    }
}

fn put_value(database: &Arc<Database>, key: &str, json: &str) {
    let change = ValueChange::put(key, json.as_bytes(), None).unwrap();
    database.write(&Write::Exchange(change)).unwrap();
}

/// All compare-exchange values.
fn values(database: &Database) -> Vec<String> {
    let snapshot = database.read();
    let values = snapshot.compare_exchange_values("").map(|value| value.unwrap());
    values.map(|value| format!("{} {}", value.key(), String::from_utf8_lossy(value.json().bytes()))).collect()
}

#[test]
fn compare_exchange_values_go_along_without_guards() {
    let from = database();
    let expired = r#"{"Object":1,"@metadata":{"@expires":"2020-01-01T00:00:00.0000000Z"}}"#;
    for (key, json) in [("K/1", r#"{"Object":{"V":"é \" ]}"}}"#), ("old", expired), ("gone", "{}")] {
        put_value(&from, key, json);
    }
    from.write(&Write::Exchange(ValueChange::delete("gone", None).unwrap())).unwrap();
    let body = br#"{"TransactionMode":"ClusterWide","Commands":[{"Type":"PUT","Id":"users/1","Document":{}}]}"#;
    let BulkDocs::ClusterWide(transaction) = BulkDocs::parse(body, true).unwrap() else { panic!("it is cluster-wide") };
    from.write(&Write::ClusterTransaction(transaction)).unwrap();
    assert_eq!(values(&from).len(), 3, "a guard is among them");
    let types = r#"{"OperateOnTypes":"Documents,CompareExchange,CompareExchangeTombstones"}"#;
    let dump = export(&from, types);
    let element = r#""CompareExchange":[{"Key":"K/1","Value":"{\"Object\":{\"V\":\"é \\\" ]}\"}}"},"#;
    assert!(dump.contains(element) && dump.contains(r#""CompareExchangeTombstones":[{"Key":"gone"}]"#), "{dump}");
    for size in [1, dump.len()] {
        let to = database();
        for key in ["k/1", "gone", "mine"] {
            put_value(&to, key, r#"{"Object":"mine"}"#);
        }
        let imported = try_import(&to, dump.as_bytes(), types, size).unwrap();
        let expected = [
            r#"K/1 {"Object":{"V":"é \" ]}"}}"#.to_owned(),
            r#"mine {"Object":"mine"}"#.to_owned(),
            format!("old {expired}"),
        ];
        assert_eq!(values(&to), expected);
        let read = |item_type| imported.result.counts(item_type).read;
        assert_eq!((read(ItemType::CompareExchange), read(ItemType::CompareExchangeTombstones)), (2, 1));
        assert!(!to.read().get("users/1").unwrap().unwrap().change_vector().contains("TRXN"));
    }
    assert!(!export(&from, r#"{"IncludeExpired":false}"#).contains("\"old\""));
    // As RavenDB writes them: guards are passed over, and what is no value has its place.
    let to = database();
    let theirs = r#"{"CompareExchange":[{"Key":"rvn-atomic/users/1","Value":"{\"Object\":1}"},{"Key":"k","Value":"{\"Object\":1}"},{"Key":"o","Value":{"Object":2}}]}"#;
    assert_eq!(import(&to, theirs, "{}").result.counts(ItemType::CompareExchange).read, 3);
    assert_eq!(values(&to), [r#"k {"Object":1}"#, r#"o {"Object":2}"#]);
    for wrong in [r#"{"Key":"k"}"#, r#"{"Value":"{}"}"#, r#"{"Key":"k","Value":5}"#, r#"{"Key":"k","Value":"[1]"}"#] {
        let dump = format!(r#"{{"CompareExchange":[{wrong}]}}"#);
        assert!(matches!(try_import(&to, dump.as_bytes(), "{}", 9), Err(Error::BadDump { .. })), "{wrong}");
    }
}

/// A database whose documents of `Users` have revisions.
fn with_revisions() -> Arc<Database> {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let configuration = json::Value::parse(br#"{"Collections":{"Users":{"Disabled":false}}}"#).unwrap();
    databases.put_revisions_configuration("x", RevisionsProperty::Collections, &configuration, None).unwrap();
    database
}

#[test]
fn revisions_of_a_dump_hold_the_contents_that_its_documents_have() {
    let from = with_revisions();
    put(&from, "users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    attach(&from, "users/1", "a", b"content");
    let dump = bytes_of(&from, "{}");
    let to = with_revisions();
    let imported = try_import(&to, &dump, "{}", 1000).unwrap();
    assert_eq!(imported.result.counts(ItemType::RevisionDocuments).errored, 0);
    let mut batch = Batch::new();
    let command = AttachmentCommand::new("users/1", "a", AttachmentAction::Delete).unwrap();
    batch.push_attachment(command, Expected::Any);
    to.execute(batch).unwrap();
    let snapshot = to.read();
    assert_eq!(snapshot.statistics().unwrap().content_count, 1, "a revision has it");
    assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn contents_that_only_revisions_have_go_along() {
    let from = with_revisions();
    put(&from, "users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    let large = vec![7; INLINE_CONTENT_SIZE_MAX + 1];
    for (name, content) in [("small", b"content".as_slice()), ("large", large.as_slice())] {
        attach(&from, "users/1", name, content);
    }
    let mut batch = Batch::new();
    for name in ["small", "large"] {
        let command = AttachmentCommand::new("users/1", name, AttachmentAction::Delete).unwrap();
        batch.push_attachment(command, Expected::Any);
    }
    from.execute(batch).unwrap();
    let dump = bytes_of(&from, "{}");
    for size in [1000, dump.len()] {
        let to = with_revisions();
        for _ in ["first", "again"] {
            try_import(&to, &dump, "{}", size).unwrap();
            let snapshot = to.read();
            assert_eq!(snapshot.statistics().unwrap().content_count, 2);
            assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
        }
        let types = r#"{"OperateOnTypes":"RevisionDocuments,Attachments"}"#;
        assert!(bytes_of(&to, types) == bytes_of(&from, types), "the revisions are the same");
    }
}

#[test]
fn unique_constraints_go_along_once_the_documents_are_stored() {
    let origin = database();
    put(&origin, "users/1", r#"{"Mail":"a@b","@metadata":{"@collection":"Users"}}"#);
    let constraint = UniqueConstraint {
        name: "mails".to_owned(),
        collection: "Users".to_owned(),
        fields: vec!["Mail".to_owned()],
        is_case_sensitive: true,
    };
    origin.write(&Write::Constraint(ConstraintChange::Put(constraint.clone()))).unwrap();
    let dump = export(&origin, "{}");
    let copy = database();
    import(&copy, &dump, "{}");
    assert_eq!(copy.read().constraints().unwrap(), [constraint]);
    // Documents that break it are stored, and the constraint is not.
    let other = database();
    put(&other, "users/9", r#"{"Mail":"a@b","@metadata":{"@collection":"Users"}}"#);
    let imported = import(&other, &dump, "{}");
    assert_eq!((contents(&other).len(), other.read().constraints().unwrap()), (2, Vec::new()));
    let warning = "The unique constraint 'mails' was not taken over: ";
    assert!(imported.result.messages().iter().any(|message| message.contains(warning)));
    // The record is left out.
    let bare = database();
    import(&bare, &dump, r#"{"OperateOnTypes":"Documents"}"#);
    assert_eq!(bare.read().constraints().unwrap(), []);
}
