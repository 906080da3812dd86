//! `POST /databases/{name}/indexes/test`: what a definition makes of some documents, without an index of it.
//!
//! Body: `{"IndexDefinition","Query","QueryParameters","MaxDocumentsToProcess"}`; 200 with the entries, results of the query, of maps and
//! of the reduce, and errors.

use std::sync::Arc;

use database::Index;
use database::queries::{Deadline, OpenedIndex, QueryRun, ReadyIndex, check_fields};
use hyper::StatusCode;
use json::Value;
use query::definition::MapIndex;
use query::indexing::map_results;
use query::plan::{Find, IndexChoice, IndexQuery};

use super::control::write_errors;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::handlers::queries::{Request, context, write_entry};
use crate::limits::{SAMPLE_COUNT, SAMPLE_COUNT_MAX};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// What a definition is called that has no name.
const NAME: &str = "Test";

pub(crate) async fn test(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let node = exchange.node.clone();
    node.bridge.run(Pool::Reads, move || sample(&exchange, &body)).await
}

fn sample(exchange: &Exchange, body: &Value) -> Result<Reply> {
    let bad = |message: String| Error::BadRequest(message);
    let Some(given @ Value::Object(_)) = body.get("IndexDefinition") else {
        return Err(bad("Index must have an IndexDefinition field".to_owned()));
    };
    let count = match body.get("MaxDocumentsToProcess") {
        None | Some(Value::Null) => Some(SAMPLE_COUNT),
        Some(count) => count.as_i64().and_then(|count| u64::try_from(count).ok()),
    };
    let count = count.filter(|count| (1..=SAMPLE_COUNT_MAX).contains(count)).ok_or_else(|| {
        bad(format!("'MaxDocumentsToProcess' must be from 1 to the limit SAMPLE_COUNT_MAX = {SAMPLE_COUNT_MAX}"))
    })?;
    let mut given = given.clone();
    if given.get("Name").and_then(Value::as_str).is_none_or(str::is_empty) {
        given.set("Name", Value::String(NAME.to_owned()));
    }
    let definition = Arc::new(MapIndex::with_analyzers(&given, &exchange.database().analyzers())?);
    super::check_settings(definition.name(), &given)?;
    let text = match body.get("Query").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        Some(text) => text.to_owned(),
        None => format!("from index '{}'", definition.name().replace('\'', "''")),
    };
    let parsed =
        Request::parse(&exchange.node, exchange.database(), &text, body.get("QueryParameters"))?.refuse_update()?;
    let plan = &parsed.plan;
    let Find::Index(IndexQuery { index: IndexChoice::Named(_, fields), .. }) = &plan.find else {
        return Err(bad("The query must be one of the index: from index '<name>' ..".to_owned()));
    };
    if plan.gives_in_place_of_results().is_some() || plan.is_distinct() || plan.is_explained {
        return Err(Error::not_supported("facet(), suggest(), 'select distinct' and 'explain' in a test of an index"));
    }
    let deadline = Deadline::new(Some(exchange.node.limits.query_run_time), || false);
    let documents = exchange.database().read();
    let goes_on = || deadline.look().is_ok();
    let index = Arc::new(Index::sample(definition.clone(), &documents, count, &goes_on)?);
    let mapped = map_results(&definition, &documents, count, &goes_on).map_err(database::Error::from)?;
    deadline.look()?;
    check_fields(&index, fields, &text).map_err(database::Error::from)?;
    let ready = ReadyIndex { index: index.clone(), cutoff: None };
    let opened = OpenedIndex { ready: &ready, reached: 0, snapshot: index.read()? };
    let running = QueryRun::new(plan, Some(opened), &documents, context(exchange, &deadline, None))?;
    let errors = index.errors()?;
    let (entries, results) = rows(&running, &index)?;
    let reduced: &[Vec<u8>] = if definition.reduce().is_some() { &results } else { &[] };
    Ok(reply::object(StatusCode::OK, |json| {
        for (name, all) in [
            ("IndexEntries", &*entries),
            ("QueryResults", &results),
            ("MapResults", &mapped),
            ("ReduceResults", reduced),
        ] {
            json.name(name).array(|json| all.iter().for_each(|value| _ = json.raw(value)));
        }
        let makes_fields = definition.maps().iter().any(|map| map.makes_fields());
        json.name("HasDynamicFields").bool(makes_fields).name("IsStale").bool(running.is_stale());
        json.name("IndexType").string(index.wire_type());
        json.name("Errors").array(|json| write_errors(json, &errors));
    }))
}

/// JSON objects.
type Objects = Vec<Vec<u8>>;

/// What the index has of each result, and the results.
fn rows(running: &QueryRun<'_>, index: &Index) -> Result<(Objects, Objects)> {
    let fields = running.index_fields()?.unwrap_or_default();
    let has_id = !index.definition().is_grouped();
    let (mut entries, mut results) = (Vec::new(), Vec::new());
    running.each::<Error>(&mut |hit| {
        if let Some(entry) = hit.entry {
            let mut out = Vec::new();
            write_entry(&entry, &fields, has_id, &mut out)?;
            entries.push(out);
        }
        match running.script_rows(&hit, false)? {
            Some(rows) => results.extend(rows.into_iter().map(|row| row.json)),
            None => {
                let mut out = Vec::new();
                running.write_row(&hit, false, &mut out)?;
                results.push(out);
            }
        }
        Ok(())
    })?;
    Ok((entries, results))
}
