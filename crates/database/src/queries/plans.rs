//! `explain from ..`: the operators of a query, with the rows and the time of each.

use query::execute::Operator;
use query::plan::{CollectionQuery, Filter, Find, Plan, Source};

use super::counts::Counts;
use super::run::QueryRun;
use super::timings::{Stage, Timings};
use crate::{Error, Result};

/// Runs the rest of a query, dropping its results, and returns how all of it ran.
///
/// # Errors
///
/// Those of its results.
pub fn explain(running: &QueryRun<'_>, timings: &Timings) -> Result<(Counts, Operator)> {
    let mut row = Vec::new();
    let mut taken = 0;
    let total = running.each::<Error>(&mut |hit| {
        taken += 1;
        row.clear();
        if running.script_rows(&hit, false)?.is_none() {
            running.write_row(&hit, false, &mut row)?;
        }
        Ok(())
    })?;
    let plan = running.plan;
    let found = match (&running.explained, &plan.find) {
        (Some(operator), _) => load(operator.clone(), taken, timings),
        (None, Find::Collection(query)) => collection(query, running, taken, timings)?,
        (None, Find::Index(_)) => Operator::default(),
    };
    Ok((Counts { total, taken }, made(plan, found, taken, timings)))
}

/// The documents of entries.
fn load(found: Operator, rows: u64, timings: &Timings) -> Operator {
    Operator {
        name: "load",
        rows: Some(rows),
        time: found.time + timings.of(Stage::Load),
        children: vec![found],
        ..Operator::default()
    }
}

/// What needs no index: its documents are found and loaded in one.
fn collection(query: &CollectionQuery, running: &QueryRun<'_>, rows: u64, timings: &Timings) -> Result<Operator> {
    let source = match &query.source {
        Source::All => "@all_docs",
        Source::Collection(name) => name,
    };
    let (name, argument, estimate) = match &query.filter {
        Filter::All => ("collection", source.to_owned(), Some(running.counts()?.total.unsigned_abs())),
        Filter::Ids(ids) => ("ids", shown(ids), Some(ids.len() as u64)),
        Filter::IdPrefix(prefix) => ("idPrefix", shown(&[format!("{prefix}*")]), None),
    };
    let (argument, time) = (Some(argument), timings.of(Stage::Load));
    Ok(Operator { name, argument, estimate, rows: Some(rows), time, ..Operator::default() })
}

/// What is made of documents, if it is not they themselves that are wanted.
fn made(plan: &Plan, found: Operator, rows: u64, timings: &Timings) -> Operator {
    let (name, argument, own) = match (&plan.projection, &plan.script) {
        (_, Some(_)) => ("script", None, timings.of(Stage::Script)),
        (Some(projection), None) => {
            let names: Vec<String> = projection.columns.iter().map(|column| column.name.clone()).collect();
            ("project", Some(shown(&names)), timings.of(Stage::Project))
        }
        (None, None) => return found,
    };
    let (time, rows) = (found.time + own, Some(rows));
    Operator { name, argument, rows, time, children: vec![found], ..Operator::default() }
}

/// Texts one behind the other, as far as they are shown.
fn shown(texts: &[String]) -> String {
    query::execute::short(|text| {
        texts.iter().enumerate().try_for_each(|(at, one)| {
            text.write_str(if at == 0 { "" } else { ", " })?;
            text.write_str(one)
        })
    })
}
