//! `/databases/{name}/queries`: queries over collections, ids and indexes; deleting by such a query.
//!
//! POST: body `{"Query","QueryParameters","WaitForNonStaleResults","WaitForNonStaleResultsTimeout"}`; GET: `query`, `start`,
//! `pageSize`. Both take `metadataOnly`, POST `debug=explain`. 200 with results and statistics, 304, 404 for an index by a name that there
//! is none of, 501 for what is not there yet.
//! DELETE: body as POST; `{"OperationId","OperationNodeTag"}`, the work goes on as an operation.
//!
//! [`request`] reads the request, [`mod@ready`] waits for the index, `database::queries` executes, [`mod@answer`] writes.

mod answer;
mod by_query;
mod entries;
mod facets;
mod plans;
mod ready;
mod request;
mod running;
mod timings;

pub(crate) use by_query::{delete, patch, test};
pub(crate) use entries::write_entry;
pub(crate) use ready::{ready, wait_for, with_snapshots};
pub(crate) use request::Request;
pub(crate) use running::{kill, running, running_on_server};

use std::time::Instant;

use database::Explanation;
use database::documents::Snapshot;
use database::queries::{Deadline, OpenedIndex, QueryRun, ReadyIndex, RunContext, Timings, examined_count_max};
use hyper::{Method, StatusCode};
use query::plan::{Find, IndexChoice, IndexQuery, Source};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::{SMALL_ANSWER_ENTRIES, SMALL_ANSWER_SIZE, WHOLE_ANSWER_SIZE};
use crate::messages::answers::{self, AnswerWriter, SmallAnswer, WholeOut};
use crate::messages::reply::{self, Reply};
use crate::monitoring::running::{Description, Running};
use crate::monitoring::slow::TimedQuery;
use crate::routing::exchange::Exchange;
use answer::Answer;

/// The query form that tells which index would answer.
const EXPLAIN: &str = "explain";
/// The one that gives what the index has of each result.
const ENTRIES: &str = "entries";

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let start = Instant::now();
    refuse_missing(&exchange)?;
    let (node, database) = (exchange.node.clone(), exchange.database().clone());
    let request = exchange.parse_tree(move |body| Request::of_body(&node, &database, body)).await?;
    if exchange.query().get("debug").is_some_and(|form| form == EXPLAIN) {
        return Ok(explain(&exchange, &request));
    }
    if is_of_entries(&exchange)
        && let Some(function) = request.query.plan.gives_in_place_of_results()
    {
        return Err(Error::not_supported(format!("debug=entries with {function}")));
    }
    answer(exchange, start, request).await
}

fn is_of_entries(exchange: &Exchange) -> bool {
    exchange.query().get("debug").is_some_and(|form| form == ENTRIES)
}

/// Which index would answer, without asking it.
fn explain(exchange: &Exchange, request: &Request) -> Reply {
    let explanation = match &request.query.plan.find {
        Find::Index(IndexQuery { index: IndexChoice::Covering(needed), .. }) => {
            exchange.database().indexes().explain(needed)
        }
        Find::Index(IndexQuery { index: IndexChoice::Named(name, _), .. }) => {
            Explanation { name: name.clone(), others: Vec::new() }
        }
        Find::Collection(query) => {
            let reason = "Not asked: what the query wants are documents as they stand, by their ids".to_owned();
            let collection = match &query.source {
                Source::Collection(name) => Some(name.as_str()),
                _ => None,
            };
            let others = exchange.database().indexes().automatic_of(collection);
            let others = others.iter().map(|index| (index.name().to_owned(), reason.clone())).collect();
            Explanation { name: query.source.index_name(), others }
        }
    };
    reply::object(StatusCode::OK, |json| {
        json.name("IndexName").string(&explanation.name);
        json.name("Results").array(|json| {
            for (index, reason) in &explanation.others {
                json.object(|json| _ = json.name("Index").string(index).name("Reason").string(reason));
            }
        });
    })
}

pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let start = Instant::now();
    refuse_missing(&exchange)?;
    let request = Request::of_address(&exchange)?;
    answer(exchange, start, request).await
}

/// What a query may ask for in its address and is not there yet.
fn refuse_missing(exchange: &Exchange) -> Result<()> {
    let query = exchange.query();
    let is_known = |form: &str| exchange.method == Method::POST && [EXPLAIN, ENTRIES].contains(&form);
    if let Some(form) = query.get_nonempty("debug").filter(|form| !is_known(form)) {
        return Err(Error::not_supported(format!("the query form debug={form}")));
    }
    if query.is_true("includeServerSideQuery")? {
        return Err(Error::not_supported("the query option 'includeServerSideQuery'"));
    }
    Ok(())
}

/// Executes right here if that is quick, else on the pool: a query may touch a whole collection.
async fn answer(exchange: Exchange, start: Instant, request: Request) -> Result<Reply> {
    let ready = match ready(&exchange, &request).await {
        Err(Error::Database(database::Error::NoSuchIndex { .. })) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        ready => ready,
    };
    let at_once = ready.and_then(|ready| {
        let answered = answer_at_once(&exchange, &request, ready.as_ref(), start)?;
        Ok(answered.ok_or(ready))
    });
    let outcome = match at_once {
        Ok(Err(ready)) => {
            let timed = TimedQuery::new(&exchange, &request.query.text, start);
            let outcome = answer_on_pool(exchange, start, request, ready).await;
            timed.answered(&outcome);
            return outcome;
        }
        Ok(Ok(reply)) => Ok(reply),
        Err(error) => Err(error),
    };
    if exchange.node.slow.is_slow(start.elapsed()) {
        TimedQuery::new(&exchange, &request.query.text, start).answered(&outcome);
    }
    outcome
}

async fn answer_on_pool(
    exchange: Exchange,
    start: Instant,
    request: Request,
    ready: Option<ReadyIndex>,
) -> Result<Reply> {
    answers::produce(exchange, Pool::Reads, move |exchange, out| {
        let deadline = deadline_of_query(exchange, out);
        let asked = QueryContext { exchange, request: &request, start, whole_size: WHOLE_ANSWER_SIZE };
        let description = description(exchange, &request, ready.as_ref(), start, false);
        let caller = out.caller();
        let running = Running::begin(&exchange.node.running, description, move || caller.cut_off());
        let outcome =
            with_snapshots(exchange, ready.as_ref(), |index, documents| asked.answer(index, documents, &deadline, out));
        running.finish(outcome)
    })
    .await
}

/// What the list of running queries has of a query.
pub(crate) fn description<'r>(
    exchange: &'r Exchange,
    request: &'r Request,
    ready: Option<&ReadyIndex>,
    started: Instant,
    is_stream: bool,
) -> Description<'r> {
    let plan = &request.query.plan;
    let index = match (ready, &plan.find) {
        (Some(ready), _) => ready.index.name().to_owned(),
        (None, Find::Collection(query)) => query.source.index_name(),
        (None, Find::Index(_)) => String::new(),
    };
    let (database, text) = (exchange.database().name(), request.query.text.as_str());
    Description { database, index, text, skip: plan.page.skip, take: plan.page.take, started, is_stream }
}

/// The answer of a query that looks at few entries and gives a small one. The way to a thread of the pool and back would cost
/// several times what it does.
fn answer_at_once(
    exchange: &Exchange,
    request: &Request,
    ready: Option<&ReadyIndex>,
    start: Instant,
) -> Result<Option<Reply>> {
    // A script may take long, and so may going through texts.
    let plan = &request.query.plan;
    if plan.has_includes() || plan.runs_scripts() || plan.is_explained {
        return Ok(None);
    }
    with_snapshots(exchange, ready, |index, documents| {
        if examined_count_max(plan, index.as_ref())? > SMALL_ANSWER_ENTRIES {
            return Ok(None);
        }
        let deadline = Deadline::new(Some(exchange.node.limits.query_run_time), || false);
        let asked = QueryContext { exchange, request, start, whole_size: SMALL_ANSWER_SIZE };
        let mut out = SmallAnswer::default();
        match asked.answer(index, documents, &deadline, &mut out) {
            Err(Error::Database(database::Error::Canceled)) => Ok(None),
            Err(error) => Err(error),
            Ok(Some(reply)) => Ok(Some(reply)),
            Ok(None) => Ok(out.into_reply()),
        }
    })
}

/// The context of answering one query.
struct QueryContext<'r> {
    exchange: &'r Exchange,
    request: &'r Request,
    start: Instant,
    whole_size: usize,
}

impl QueryContext<'_> {
    fn answer<'a>(
        &'a self,
        index: Option<OpenedIndex<'a>>,
        documents: &'a Snapshot<'a>,
        deadline: &'a Deadline,
        out: &mut impl WholeOut,
    ) -> Result<Option<Reply>> {
        let QueryContext { exchange, request, start, whole_size } = *self;
        let is_metadata_only = exchange.query().is_true("metadataOnly")?;
        let context = context(exchange, deadline, request.query.timings.as_ref());
        let running = QueryRun::new(&request.query.plan, index, documents, context)?;
        let etag = running.etag()?;
        if reply::is_match(exchange.if_none_match(), etag.to_string().as_bytes()) {
            return Ok(Some(reply::empty(StatusCode::NOT_MODIFIED)));
        }
        let is_of_entries = is_of_entries(exchange);
        let warnings = running.warnings()?;
        for warning in &warnings {
            // The published clients drop them.
            tracing::debug!(database = exchange.database().name(), warning, "a query names what no document has");
        }
        let running = &running;
        Answer { running, exchange, is_metadata_only, is_of_entries, etag, warnings, start, whole_size }.write(out)?;
        Ok(None)
    }
}

/// A query may run as long as the limit says, and while somebody waits for it.
pub(crate) fn deadline_of_query(exchange: &Exchange, out: &AnswerWriter) -> Deadline {
    let caller = out.caller();
    Deadline::new(Some(exchange.node.limits.query_run_time), move || caller.is_gone())
}

/// What the run of a request's query may use.
pub(crate) fn context<'a>(exchange: &Exchange, deadline: &'a Deadline, timings: Option<&'a Timings>) -> RunContext<'a> {
    let (memory, script_limits) = (exchange.node.memory_of_request(), exchange.database().limits().script);
    RunContext { memory, deadline, script_limits, timings }
}
