//! `/databases/{name}/streams`: documents as they are read, from one snapshot, however many there are.
//!
//! GET `docs`: `startsWith`, `matches`, `exclude`, `startAfter`, `start`, `pageSize`, `format`. POST (and GET) `queries`: as
//! `queries`. `format=jsonl` gives a JSON value a line; without it one object, whose properties old clients read by their
//! position. A failure on the way cuts the answer off.

use std::time::Instant;

use bytes::Bytes;
use database::Index;
use database::queries::{Deadline, Included, QueryRun, RowSink};
use hyper::{Method, StatusCode};

use super::docs::prefix_query;
use super::queries::{Request, context, deadline_of_query, description, ready, with_snapshots};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::date::NEVER;
use crate::messages::reply::{self, Reply};
use crate::monitoring::running::Running;
use crate::routing::exchange::Exchange;

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
            Some(format) if format.eq_ignore_ascii_case("json") => Ok(Format::Object),
            Some(format) if format.eq_ignore_ascii_case("jsonl") => Ok(Format::Lines),
            Some(format) => Err(Error::not_supported(format!("the stream format '{format}'"))),
        }
    }
}

pub(crate) async fn docs(exchange: Exchange) -> Result<Reply> {
    let format = Format::of(&exchange)?;
    answers::produce(exchange, Pool::Streams, move |exchange, out| {
        let query = exchange.query();
        let prefix = query.get("startsWith").is_some().then(|| prefix_query(query)).transpose()?;
        let (start, count) = (query.page_start()?, query.page_size()?);
        let deadline = deadline(out);
        let snapshot = exchange.database().read();
        out.begin(reply::ok(Bytes::new()), &snapshot)?;
        let mut documents = Documents::begin(out, format, b"{\"Results\":[");
        match prefix {
            Some(prefix) => {
                for document in deadline.by_prefix(&snapshot, prefix)? {
                    let document = document?;
                    documents.write(out, |out| document.write_to(out))?;
                }
            }
            None => {
                for document in deadline.by_etag(snapshot.latest(), start, count)? {
                    let document = document?;
                    documents.write(out, |out| document.write_to(out))?;
                }
            }
        }
        documents.end(out);
        Ok(None)
    })
    .await
}

/// A stream lasts as long as its reader does; what bounds it is the reader's pace, not the time of a query.
fn deadline(out: &AnswerWriter) -> Deadline {
    let caller = out.caller();
    Deadline::new(None, move || caller.is_gone())
}

pub(crate) async fn queries(mut exchange: Exchange) -> Result<Reply> {
    let start = Instant::now();
    let format = Format::of(&exchange)?;
    let request = if exchange.method == Method::GET {
        Request::of_address(&exchange)?
    } else {
        let (node, database) = (exchange.node.clone(), exchange.database().clone());
        exchange.parse_tree(move |body| Request::of_body(&node, &database, body)).await?
    };
    let plan = &request.query.plan;
    if plan.has_includes() {
        return Err(Error::InvalidOperation("Includes are not supported by this type of query.".to_owned()));
    }
    if let Some(function) = plan.gives_in_place_of_results() {
        return Err(Error::not_supported(format!("{function} in a stream")));
    }
    if plan.is_explained {
        return Err(Error::not_supported("'explain' in a stream"));
    }
    let ready = match ready(&exchange, &request).await {
        Err(Error::Database(database::Error::NoSuchIndex { .. })) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        ready => ready?,
    };
    answers::produce(exchange, Pool::Streams, move |exchange, out| {
        let description = description(exchange, &request, ready.as_ref(), start, true);
        let caller = out.caller();
        let running = Running::begin(&exchange.node.running, description, move || caller.cut_off());
        let outcome = with_snapshots(exchange, ready.as_ref(), |index, documents| {
            let deadline = deadline_of_query(exchange, out);
            let context = context(exchange, &deadline, None);
            stream_query(out, &QueryRun::new(&request.query.plan, index, documents, context)?, format)
        });
        running.finish(outcome)
    })
    .await
}

fn stream_query(out: &mut AnswerWriter, running: &QueryRun<'_>, format: Format) -> Result<Option<Reply>> {
    let etag = running.etag()?;
    // The total has to be said before the results: -1 where it is not known without reading them.
    let total = running.quick_total()?;
    let index = running.index().inspect(|index| _ = index.note_query());
    let last_indexed = index.and_then(Index::last_indexed);
    let timestamp = last_indexed.map_or_else(|| format!("{NEVER}Z"), |date| date.to_string());
    let mut head = Vec::new();
    json::Writer::new(&mut head).object(|json| {
        json.name("ResultEtag").signed(etag).name("IsStale").bool(running.is_stale());
        json.name("IndexName").string(&running.index_name());
        json.name("TotalResults").signed(total).name("IndexTimestamp").string(&timestamp);
    });
    let before = match format {
        Format::Lines => [b"{\"Stats\":".as_slice(), &head, b"}\r\n"].concat(),
        Format::Object => [head.strip_suffix(b"}").unwrap_or(&head), b",\"Results\":["].concat(),
    };
    // From here on it goes at the pace of its reader.
    running.deadline().lift();
    out.begin(reply::ok(Bytes::new()), running.documents())?;
    let mut documents = Documents::begin(out, Format::Object, &before);
    documents.form = if format == Format::Lines { Form::Items } else { Form::Elements };
    running.write_rows(false, &mut Included::new(running, false), &mut Rows { documents: &mut documents, out })?;
    documents.end(out);
    Ok(None)
}

/// The results of a query in a stream.
struct Rows<'s> {
    documents: &'s mut Documents,
    out: &'s mut AnswerWriter,
}

impl RowSink for Rows<'_> {
    type Error = Error;

    fn begin_row(&mut self) -> &mut Vec<u8> {
        self.documents.begin_one(self.out)
    }

    fn end_row(&mut self) -> Result<()> {
        self.documents.end_one(self.out)
    }
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
    fn begin(out: &mut AnswerWriter, format: Format, before: &[u8]) -> Documents {
        let form = if format == Format::Lines { Form::Lines } else { Form::Elements };
        if form == Form::Elements {
            out.buffer().extend_from_slice(before);
        }
        Documents { form, is_first: true }
    }

    fn write(&mut self, out: &mut AnswerWriter, document: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        document(self.begin_one(out));
        self.end_one(out)
    }

    /// Begins a document in the buffer.
    fn begin_one<'o>(&mut self, out: &'o mut AnswerWriter) -> &'o mut Vec<u8> {
        let buffer = out.buffer();
        match self.form {
            Form::Elements if !self.is_first => buffer.push(b','),
            Form::Items => buffer.extend_from_slice(b"{\"Item\":"),
            Form::Elements | Form::Lines => {}
        }
        self.is_first = false;
        buffer
    }

    fn end_one(&self, out: &mut AnswerWriter) -> Result<()> {
        let buffer = out.buffer();
        match self.form {
            Form::Elements => {}
            Form::Items => buffer.extend_from_slice(b"}\r\n"),
            Form::Lines => buffer.extend_from_slice(b"\r\n"),
        }
        out.part_done()
    }

    fn end(self, out: &mut AnswerWriter) {
        if self.form == Form::Elements {
            out.buffer().extend_from_slice(b"]}");
        }
    }
}
