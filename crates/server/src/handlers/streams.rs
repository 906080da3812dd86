//! `/databases/{name}/streams`: documents as they are read, from one snapshot, however many there are.
//!
//! GET `docs`: `startsWith`, `matches`, `exclude`, `startAfter`, `start`, `pageSize`, `format`. POST (and GET) `queries`: as
//! `queries`. `format=jsonl` gives a JSON value a line; without it one object, whose properties old clients read by their
//! position. A failure on the way cuts the answer off.

use std::sync::Arc;
use std::time::Duration;

use database::Database;
use database::documents::Document;
use hyper::{Method, StatusCode};

use super::docs::prefix_query;
use super::queries::{Deadline, execute, parse_address, parse_body, result_etag};
use crate::bridge::PartWriter;
use crate::collection_query::{CollectionQuery, Filter, Order, Source};
use crate::date::NEVER;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

/// The media type of both forms: who asked for lines knows that they are.
const JSON: &str = "application/json; charset=utf-8";

/// How a stream looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Lines,
    Object,
}

impl Format {
    fn of(exchange: &Exchange) -> Result<Format> {
        match exchange.query().get_nonempty("format") {
            None => Ok(Format::Object),
            Some(format) if format.eq_ignore_ascii_case("jsonl") => Ok(Format::Lines),
            Some(format) => Err(Error::not_supported(format!("the stream format '{format}'"))),
        }
    }
}

pub(crate) async fn docs(exchange: Exchange) -> Result<Reply> {
    let format = Format::of(&exchange)?;
    let database = exchange.database().clone();
    let query = exchange.query();
    let prefix = query.get("startsWith").is_some().then(|| prefix_query(query)).transpose()?;
    let (start, count) = (query.page_start()?, usize::try_from(query.page_size()?).unwrap_or(usize::MAX));
    let parts = exchange
        .node
        .bridge
        .stream(move |out| {
            let snapshot = database.read();
            let mut documents = Documents::begin(out, format, b"{\"Results\":[");
            match prefix {
                Some(prefix) => {
                    for document in snapshot.by_prefix(prefix)? {
                        documents.write(out, &document?)?;
                    }
                }
                None => {
                    let mut latest = snapshot.latest();
                    latest.skip_documents(start)?;
                    for document in latest.take(count) {
                        documents.write(out, &document?)?;
                    }
                }
            }
            documents.end(out);
            Ok(())
        })
        .await?;
    Ok(reply::streamed(parts, JSON))
}

pub(crate) async fn queries(mut exchange: Exchange) -> Result<Reply> {
    let format = Format::of(&exchange)?;
    let parsed = if exchange.method == Method::GET {
        parse_address(&exchange)
    } else {
        let body = exchange.read_body().await?;
        parse_body(&exchange.node, &body)
    };
    let query = match parsed {
        Err(Error::NoSuchIndex) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        parsed => parsed?,
    };
    if !query.includes.is_empty() {
        return Err(Error::InvalidOperation("Includes are not supported by this type of query.".to_owned()));
    }
    let database = exchange.database().clone();
    let parts = exchange.node.bridge.stream(move |out| stream_query(out, &database, &query, format)).await?;
    Ok(reply::streamed(parts, JSON))
}

fn stream_query(out: &mut PartWriter, database: &Arc<Database>, query: &CollectionQuery, format: Format) -> Result<()> {
    // A stream lasts as long as its reader does; what bounds it is the reader's pace, not the time of a query.
    let deadline = Deadline::new(Duration::from_secs(7 * 24 * 3600));
    let snapshot = database.read();
    let etag = result_etag(&snapshot, query)?;
    let total = total_before(&snapshot, query)?;
    let mut head = Vec::new();
    json::Writer::new(&mut head).object(|json| {
        json.name("ResultEtag").signed(etag).name("IsStale").bool(false);
        json.name("IndexName").string(&query.source.index_name());
        json.name("TotalResults").signed(total).name("IndexTimestamp").string(&format!("{NEVER}Z"));
    });
    let before = match format {
        Format::Lines => [b"{\"Stats\":".as_slice(), &head, b"}\r\n"].concat(),
        Format::Object => [head.strip_suffix(b"}").unwrap_or(&head), b",\"Results\":["].concat(),
    };
    let mut documents = Documents::begin(out, Format::Object, &before);
    documents.form = if format == Format::Lines { Form::Items } else { Form::Elements };
    execute(&snapshot, query, &deadline, &mut |document| documents.write(out, &document))?;
    documents.end(out);
    Ok(())
}

/// The total has to be said before the results: known without reading for whole collections, else counted or -1.
fn total_before(snapshot: &database::documents::Snapshot<'_>, query: &CollectionQuery) -> Result<i64> {
    Ok(match (&query.filter, &query.source) {
        (Filter::All, Source::All) => snapshot.statistics()?.document_count.cast_signed(),
        (Filter::All, Source::Collection(name)) => {
            snapshot.collection(name)?.map_or(0, |collection| collection.document_count.cast_signed())
        }
        (Filter::Ids(_), _) => {
            let unpaged = CollectionQuery { skip: 0, take: None, order: Order::Etag, ..query.clone() };
            execute(snapshot, &unpaged, &Deadline::new(Duration::from_secs(60)), &mut |_| Ok(()))?
        }
        (Filter::IdPrefix(_), _) => -1,
    })
}

/// How one document stands in a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A line each.
    Lines,
    /// A line each, as `{"Item":..}`.
    Items,
    /// The elements of an array that ends with an object.
    Elements,
}

struct Documents {
    form: Form,
    is_first: bool,
}

impl Documents {
    /// * `before`: what comes before the documents, unless they are lines.
    fn begin(out: &mut PartWriter, format: Format, before: &[u8]) -> Documents {
        let form = if format == Format::Lines { Form::Lines } else { Form::Elements };
        if form == Form::Elements {
            out.buffer().extend_from_slice(before);
        }
        Documents { form, is_first: true }
    }

    fn write(&mut self, out: &mut PartWriter, document: &Document<'_>) -> Result<()> {
        let buffer = out.buffer();
        match self.form {
            Form::Elements if !self.is_first => buffer.push(b','),
            Form::Items => buffer.extend_from_slice(b"{\"Item\":"),
            Form::Elements | Form::Lines => {}
        }
        self.is_first = false;
        document.write_to(buffer);
        match self.form {
            Form::Elements => {}
            Form::Items => buffer.extend_from_slice(b"}\r\n"),
            Form::Lines => buffer.extend_from_slice(b"\r\n"),
        }
        out.part_done()
    }

    fn end(self, out: &mut PartWriter) {
        if self.form == Form::Elements {
            out.buffer().extend_from_slice(b"]}");
        }
    }
}
