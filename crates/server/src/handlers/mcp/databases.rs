//! Tools about the whole server: its databases, its slow requests.

use json::Raw;

use super::arguments::Arguments;
use super::inner::{Caller, Target};
use super::outcome::{Outcome, Output};
use super::rows::{cut_list, write_members};

pub(super) async fn list(caller: Caller, arguments: Arguments) -> Outcome {
    let (start, limit) = (arguments.number("start"), arguments.number("limit"));
    let target = Target::new("/databases").with("start", &start.to_string()).with("pageSize", &(limit + 1).to_string());
    let answered = caller.get(target).await?.success(String::new)?;
    let found: Vec<Raw<'_>> = answered.json().get("Databases").map(|all| all.elements().collect()).unwrap_or_default();
    let is_cut = found.len() as u64 > limit;
    let output = Output::object(|json| {
        json.name("databases").array(|json| {
            for database in found.iter().take(limit as usize) {
                json.object(|json| write_members(json, *database, &[("Name", "name"), ("Disabled", "disabled")]));
            }
        });
    });
    Ok(output.with_note(is_cut.then(|| format!("cut at {limit} databases; go on with start={}", start + limit))))
}

pub(super) async fn slow_requests(caller: Caller, arguments: Arguments) -> Outcome {
    let mut target = Target::new("/admin/slow-requests");
    if let Some(database) = arguments.optional_text("database") {
        target = target.with("database", database);
    }
    let answered = caller.get(target).await?.success(String::new)?;
    let answer = answered.json();
    let found: Vec<Raw<'_>> = answer.get("Results").map(|all| all.elements().collect()).unwrap_or_default();
    let (count, note) = cut_list(&found, arguments.number("limit"), "requests");
    let output = Output::object(|json| {
        write_members(json, answer, &[("ThresholdInMs", "threshold_ms")]);
        json.name("requests").array(|json| found[..count].iter().for_each(|request| _ = json.raw(request.bytes())));
    });
    Ok(output.with_note(note))
}
