//! The change feed: what was stored and deleted after an etag, for consumers that speak nothing but HTTP.
//!
//! A reader asks for a page after an etag, and goes on from the etag that the page ends with ([`FeedPage::until`]). An item that was
//! written several times comes once, with its latest state. Nothing is kept in memory between two pages. A deletion is known by its
//! tombstone; tombstones are cleaned once no consumer needs them, so that a reader who comes too late is refused ([`Error::FeedGone`])
//! and begins anew. A stored cursor ([`cursors`]) makes the database keep them.

mod cursors;
mod place;

use std::time::Instant;

pub use cursors::FeedCursor;
use documents::{CounterIncludes, Document, Item, ItemKind, Snapshot};
use json::Writer;
pub use place::{FeedHistory, FeedPlace};

use crate::limits::{FEED_LOOK_TIME, FEED_PAGE_COUNT_MAX, FEED_PAGE_SIZE_MAX};
use crate::queries::{BatchSink, Deadline, OfferedQuery, Query, RunContext};
use crate::{Database, Error, Result};

/// What a reader of the change feed wants to know of.
#[derive(Debug)]
pub struct FeedRequest {
    kinds: Vec<ItemKind>,
    collection: Option<String>,
    query: Option<Query>,
}

/// Takes the lines of a page: each is a JSON object, appended to the sink's buffer.
pub trait FeedSink {
    /// Begins a line.
    fn begin(&mut self);

    /// The buffer that the JSON of the line is appended to.
    fn line(&mut self) -> &mut Vec<u8>;

    /// The line is complete.
    ///
    /// * `change`: what it tells: [`PUT`], [`DELETE`] or [`INCLUDE`].
    fn end(&mut self, change: &'static str);

    /// All lines up to this place have come, and what they include.
    fn passed(&mut self, place: FeedPlace);

    /// Bytes so far.
    fn size(&self) -> usize;
}

/// How far a page came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedPage {
    /// Where the next page begins.
    pub until: FeedPlace,
    /// Nothing more was there when the page was made.
    pub is_at_end: bool,
}

/// Values of `Change`.
pub const PUT: &str = "Put";
/// See [`PUT`].
pub const DELETE: &str = "Delete";
/// See [`PUT`]: a document that others of the page refer to, or counters of a document.
pub const INCLUDE: &str = "Include";

impl FeedRequest {
    /// * `kinds`: names of kinds with commas between them; `None`: documents.
    /// * `collection`: `None`: all.
    /// * `query`: RQL as a subscription has it, which chooses documents and shapes them. It names the collection itself.
    ///
    /// # Errors
    ///
    /// [`Error::BadFeed`], [`Error::Query`].
    pub fn new(kinds: Option<&str>, collection: Option<String>, query: Option<&str>) -> Result<FeedRequest> {
        let kinds = match kinds {
            None => vec![ItemKind::Document],
            Some(names) => {
                let mut kinds = names.split(',').map(|name| kind_of(name.trim())).collect::<Result<Vec<_>>>()?;
                kinds.sort_unstable();
                kinds.dedup();
                kinds
            }
        };
        let query = query.map(Query::parse_subscription).transpose()?;
        if query.as_ref().is_some_and(|query| query.plan.is_of_revisions) {
            return Err(bad(
                "the feed has no pairs of revisions. Remove '(Revisions = true)' from the query, or use a subscription"
                    .to_owned(),
            ));
        }
        let of_query = query.as_ref().and_then(|query| query.plan.subscribed_collection().map(str::to_owned));
        match &query {
            Some(_) if collection.is_some() => {
                Err(bad("'collection' and 'query' both name a collection. Leave 'collection' out".to_owned()))
            }
            Some(_) if !kinds.contains(&ItemKind::Document) => Err(bad(
                "'query' chooses documents, and 'kinds' leaves documents out. Leave one of the two out".to_owned(),
            )),
            Some(_) => Ok(FeedRequest { kinds, collection: of_query, query }),
            None => Ok(FeedRequest { kinds, collection, query }),
        }
    }

    /// The kinds of items whose changes the reader wants.
    pub fn kinds(&self) -> &[ItemKind] {
        &self.kinds
    }

    /// The collection whose changes the reader wants; `None`: all collections.
    pub fn collection(&self) -> Option<&str> {
        self.collection.as_deref()
    }
}

fn kind_of(name: &str) -> Result<ItemKind> {
    ItemKind::all().find(|kind| kind.name() == name).ok_or_else(|| {
        let known: Vec<_> = ItemKind::all().map(ItemKind::name).collect();
        let given: String = name.chars().take(100).collect();
        bad(format!(
            "'{given}' is no kind of items. Give some of these, with commas between them: {}",
            known.join(", ")
        ))
    })
}

fn bad(rule: String) -> Error {
    Error::BadFeed { rule }
}

impl Database {
    /// Writes a page of the change feed. Does not wait for changes.
    ///
    /// * `place`: where it begins. At the beginning it does not tell what was deleted before.
    /// * `count_max`: changes; [`FEED_PAGE_COUNT_MAX`] at most.
    ///
    /// # Errors
    ///
    /// [`Error::FeedGone`]; a script of the query cannot be compiled; storage fails.
    pub fn read_feed(
        &self,
        request: &FeedRequest,
        place: FeedPlace,
        count_max: usize,
        sink: &mut dyn FeedSink,
    ) -> Result<FeedPage> {
        let snapshot = self.read();
        self.check_feed(&snapshot, place)?;
        let place = match place.after {
            0 => FeedPlace { began: snapshot.last_etag()?, ..place },
            _ => place,
        };
        let place = FeedPlace { history: Some(self.feed_history()), ..place };
        // It ends after `FEED_LOOK_TIME`.
        let deadline = Deadline::new(None, || false);
        let (memory, script_limits) = (self.limits().memory.clone(), self.limits().script);
        self.with_memory(|| {
            let offered = |query| {
                let context = RunContext { memory, deadline: &deadline, script_limits, timings: None };
                OfferedQuery::new(query, &snapshot, context)
            };
            let mut page = Page {
                snapshot: &snapshot,
                offered: request.query.as_ref().map(offered).transpose()?,
                count_max: count_max.min(FEED_PAGE_COUNT_MAX),
                sink,
                held_back: None,
            };
            let read = page.read(request, place)?;
            page.write_includes()?;
            Ok(read)
        })
    }

    /// The history that the etags of this database belong to.
    fn feed_history(&self) -> FeedHistory {
        FeedHistory::new(self.documents().database_id())
    }

    /// Refuses a reader who may lack a deletion, or who has seen what this database never had.
    fn check_feed(&self, snapshot: &Snapshot<'_>, place: FeedPlace) -> Result<()> {
        let (last, cleaned) = (snapshot.last_etag()?, snapshot.tombstones_cleaned()?);
        let name = self.name();
        if place.is_of_other(self.feed_history()) {
            return Err(Error::FeedGone {
                rule: format!(
                    "the change feed of database '{name}' was asked for what comes after {place}, which is a place in another history: the \
                     database was made anew or restored since. Read it from the beginning: after=0"
                ),
            });
        }
        if place.needs_after() > last {
            return Err(Error::FeedGone {
                rule: format!(
                    "the last etag of database '{name}' is {last}, and the change feed was asked for what comes after {place}: the database was \
                     made anew or restored since. Read it from the beginning: after=0"
                ),
            });
        }
        if place.after != 0 && place.needs_after() < cleaned {
            return Err(Error::FeedGone {
                rule: format!(
                    "deletions of database '{name}' are known from etag {cleaned} on, and the change feed was asked for what comes after {place}: \
                     deletions may be missing. Read it from the beginning (after=0), and keep a cursor so that deletions are kept for it"
                ),
            });
        }
        Ok(())
    }
}

/// A page on its way.
struct Page<'a, 's> {
    snapshot: &'a Snapshot<'a>,
    offered: Option<OfferedQuery<'a>>,
    count_max: usize,
    sink: &'s mut dyn FeedSink,
    /// The place up to which all changes were written, but not what they include.
    held_back: Option<FeedPlace>,
}

impl<'a> Page<'a, '_> {
    fn read(&mut self, request: &FeedRequest, place: FeedPlace) -> Result<FeedPage> {
        let (begin, last) = (Instant::now(), self.snapshot.last_etag()?);
        let (mut count, mut until) = (0, place);
        for item in self.snapshot.changes(&request.kinds, request.collection(), place.after)? {
            let item = item?;
            let size = self.sink.size() + self.offered.as_ref().map_or(0, OfferedQuery::counters_size);
            let is_late = begin.elapsed() >= FEED_LOOK_TIME && until.after > place.after;
            if count >= self.count_max || size >= FEED_PAGE_SIZE_MAX || is_late {
                return Ok(FeedPage { until, is_at_end: false });
            }
            until = place.moved_to(item.etag());
            if self.tell(item)? {
                count += 1;
            }
            self.pass(until);
        }
        Ok(FeedPage { until: place.moved_to(last.max(until.after)), is_at_end: true })
    }

    /// All changes up to a place are written. From the first change on that includes something the reader learns of no place before the
    /// includes, which come behind all changes: a reader who resumes after a place would not get them.
    fn pass(&mut self, place: FeedPlace) {
        if self.offered.as_ref().is_some_and(OfferedQuery::has_includes) {
            self.held_back = Some(place);
        } else {
            self.sink.passed(place);
        }
    }

    /// Writes the lines of an item; false: it does not fit the query.
    fn tell(&mut self, item: Item<'a>) -> Result<bool> {
        let change = if item.is_deleted() { DELETE } else { PUT };
        let mut head = Vec::with_capacity(192);
        let document = item.document().filter(|_| !item.is_deleted());
        self.write_head(&mut head, change, &item)?;
        match (&mut self.offered, document) {
            (Some(offered), Some(document)) => {
                let mut rows = Rows { head: &head, sink: self.sink };
                offered.offer(document, &mut rows)
            }
            _ => {
                self.sink.begin();
                let line = self.sink.line();
                line.extend_from_slice(&head);
                if !item.is_deleted() {
                    line.extend_from_slice(b",\"Item\":");
                    item.dump(line);
                }
                line.push(b'}');
                self.sink.end(change);
                Ok(true)
            }
        }
    }

    /// A line up to its item, without the closing brace.
    fn write_head(&self, head: &mut Vec<u8>, change: &str, item: &Item<'_>) -> Result<()> {
        let of_document = item.document_id();
        let (id, name) = match item.id().strip_prefix(of_document) {
            Some(rest) if !of_document.is_empty() => (of_document, rest.strip_prefix('\0')),
            _ => (item.id(), None),
        };
        let collection = self.snapshot.collection_of(item)?;
        Writer::new(head).object(|json| {
            json.name("Etag").unsigned(item.etag()).name("Kind").string(item.kind().name());
            json.name("Change").string(change).name("Id").string(id);
            if let Some(name) = name {
                json.name("Name").string(name);
            }
            if !collection.is_empty() {
                json.name("Collection").string(&collection);
            }
            json.name("ChangeVector")
                .string(&item.change_vector())
                .name("At")
                .string(&item.last_modified().to_string());
        });
        head.pop();
        Ok(())
    }

    fn write_includes(&mut self) -> Result<()> {
        let Some(offered) = &self.offered else { return Ok(()) };
        for document in offered.includes()? {
            if self.sink.size() >= FEED_PAGE_SIZE_MAX {
                // Its client loads it when it needs it.
                break;
            }
            self.sink.begin();
            let line = self.sink.line();
            Writer::new(line).object(|json| {
                json.name("Kind").string(ItemKind::Document.name()).name("Change").string(INCLUDE);
                json.name("Id").string(document.id());
            });
            line.pop();
            line.extend_from_slice(b",\"Item\":");
            document.write_to(line);
            line.push(b'}');
            self.sink.end(INCLUDE);
        }
        if let Some(counters) = offered.counters() {
            write_counters(counters, self.sink);
        }
        if let Some(place) = self.held_back.take() {
            self.sink.passed(place);
        }
        Ok(())
    }
}

/// Writes the counters that a query includes: a line for each document that they belong to.
fn write_counters(counters: &CounterIncludes, sink: &mut dyn FeedSink) {
    for included in counters.documents() {
        sink.begin();
        Writer::new(sink.line()).object(|json| {
            json.name("Kind").string(ItemKind::Counter.name()).name("Change").string(INCLUDE);
            included.write(json.name("Id").string(included.document_id()).name("Item"));
        });
        sink.end(INCLUDE);
    }
}

/// What a query makes of a document: a line for each row.
struct Rows<'r> {
    head: &'r [u8],
    sink: &'r mut dyn FeedSink,
}

impl BatchSink for Rows<'_> {
    fn begin(&mut self) -> &mut Vec<u8> {
        self.sink.begin();
        let line = self.sink.line();
        line.extend_from_slice(self.head);
        line.extend_from_slice(b",\"Item\":");
        line
    }

    fn end(&mut self, failure: Option<&str>) {
        let line = self.sink.line();
        if let Some(failure) = failure {
            line.extend_from_slice(br#","Exception":""#);
            json::escape_into(line, failure);
            line.push(b'"');
        }
        line.push(b'}');
        self.sink.end(PUT);
    }

    fn include(&mut self, _: &Document<'_>) {}

    fn include_counters(&mut self, _: &CounterIncludes) {}

    fn size(&self) -> usize {
        self.sink.size()
    }
}
