//! Tools that run and explain queries. RQL that updates documents is refused by the route.

use json::{Raw, Writer};

use super::arguments::Arguments;
use super::inner::{Caller, Target};
use super::outcome::{Outcome, Output};
use super::rows::{Rows, fitting, write_members};
use crate::limits::{MCP_ANSWER_SIZE_MAX, MCP_ROWS_MAX};

/// What stands behind the results, where the query asks for it.
const BESIDE: [(&str, &str); 4] = [
    ("Includes", "includes"),
    ("Highlightings", "highlightings"),
    ("Explanations", "explanations"),
    ("Timings", "timings"),
];

/// Bytes of an answer for what is not rows.
const HEAD_SIZE: usize = 1 << 10;

pub(super) async fn query(caller: Caller, arguments: Arguments) -> Outcome {
    let limit = arguments.number("limit");
    let target = Target::of_database(arguments.text("database"), "/queries")?;
    // One more than asked for tells whether there are more.
    let body = body(arguments.text("rql"), &arguments, |json| {
        json.name("PageSize").unsigned(limit + 1);
        json.name("WaitForNonStaleResults").bool(arguments.flag("wait_until_fresh"));
    });
    let answered = caller.post(target, body).await?.success(|| no_index(&arguments))?;
    let found = Rows::of(&answered);
    let wanted = found.rows.len().min(limit as usize);
    let count = fitting(&found.rows[..wanted], HEAD_SIZE);
    let total = found.get("TotalResults").and_then(Raw::as_u64);
    let mut left = (MCP_ANSWER_SIZE_MAX - HEAD_SIZE)
        .saturating_sub(found.rows[..count].iter().map(|row| row.len() + 1).sum::<usize>());
    let mut notes = Vec::new();
    let mut output = Output::object(|json| {
        if let Some(total) = total {
            json.name("total").unsigned(total);
        }
        json.name("returned").unsigned(count as u64);
        for (theirs, ours) in [("IndexName", "index"), ("IsStale", "stale"), ("DurationInMs", "duration_ms")] {
            if let Some(value) = found.get(theirs) {
                json.name(ours).raw(value.bytes());
            }
        }
        json.name("rows").array(|json| found.rows[..count].iter().for_each(|row| _ = json.raw(row)));
        for (theirs, ours) in BESIDE {
            match found.get(theirs).filter(|value| !matches!(value.bytes(), b"{}" | b"null")) {
                Some(value) if value.bytes().len() <= left => {
                    left -= value.bytes().len();
                    json.name(ours).raw(value.bytes());
                }
                Some(value) => notes.push(format!("'{ours}' is left out: it has {} bytes", value.bytes().len())),
                None => {}
            }
        }
    });
    let of_total = total.map_or_else(String::new, |total| format!(" of {total}"));
    if count < wanted {
        let size = found.rows[count].len();
        output.notes.push(format!(
            "cut at {count} rows{of_total}: the next has {size} bytes, and an answer at most {MCP_ANSWER_SIZE_MAX}. \
             `select` fewer fields, or go on with `limit .. offset {count}` in the query"
        ));
    } else if found.rows.len() > wanted || found.is_cut() {
        output.notes.push(format!(
            "cut at {count} rows{of_total}. 'limit' gives up to {MCP_ROWS_MAX}, and `limit .. offset {count}` in the query goes on"
        ));
    }
    output.notes.append(&mut notes);
    Ok(output)
}

pub(super) async fn explain(caller: Caller, arguments: Arguments) -> Outcome {
    let mut target = Target::of_database(arguments.text("database"), "/queries")?;
    let rql = arguments.text("rql");
    if !arguments.flag("run") {
        target = target.with("debug", "explain");
        let answered = caller.post(target, body(rql, &arguments, |_| {})).await?.success(|| no_index(&arguments))?;
        let answer = answered.json();
        return Ok(bounded(Output::object(|json| {
            write_members(json, answer, &[("IndexName", "index"), ("Results", "others")]);
        })));
    }
    let is_explained = rql.trim_start().get(..EXPLAIN.len()).is_some_and(|word| word.eq_ignore_ascii_case(EXPLAIN));
    let explained = if is_explained { rql.to_owned() } else { format!("{EXPLAIN} {rql}") };
    let answered = caller.post(target, body(&explained, &arguments, |_| {})).await?.success(|| no_index(&arguments))?;
    let plan = Rows::of(&answered);
    let names = [("Index", "index"), ("TotalResults", "total"), ("Plan", "plan")];
    Ok(bounded(Output::object(|json| {
        if let Some(plan) = plan.rows.first() {
            write_members(json, Raw::new(plan), &names);
        }
    })))
}

const EXPLAIN: &str = "explain";

/// The body of a query's request.
fn body(rql: &str, arguments: &Arguments, rest: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| {
        json.name("Query").string(rql);
        if let Some(parameters) = arguments.json("parameters") {
            json.name("QueryParameters").raw(parameters.as_bytes());
        }
        rest(json);
    });
    body
}

fn no_index(arguments: &Arguments) -> String {
    let database = arguments.text("database");
    format!("The database '{database}' has no index of the name that the query asks; list_indexes lists them")
}

/// A plan as it is, or the beginning of its text.
pub(super) fn bounded(mut output: Output) -> Output {
    let size = output.text.len();
    if size > MCP_ANSWER_SIZE_MAX {
        output.text.truncate(output.text.floor_char_boundary(MCP_ANSWER_SIZE_MAX));
        output.notes.push(format!("cut at {} of {size} bytes, in the middle of the JSON", output.text.len()));
    }
    output
}
