//! Tools about indexes.

use json::{Raw, Writer};

use super::arguments::Arguments;
use super::inner::{Caller, Target};
use super::outcome::{Outcome, Output};
use super::queries::bounded;
use super::rows::{cut_list, write_members};

/// What a list has of each index.
const SUMMARY: [(&str, &str); 6] = [
    ("Name", "name"),
    ("Type", "type"),
    ("State", "state"),
    ("IsStale", "stale"),
    ("Priority", "priority"),
    ("LastIndexingTime", "last_indexed"),
];

pub(super) async fn list(caller: Caller, arguments: Arguments) -> Outcome {
    let target = Target::of_database(arguments.text("database"), "/stats/essential")?;
    let answered = caller.get(target).await?.success(String::new)?;
    let found: Vec<Raw<'_>> = answered.json().get("Indexes").map(|all| all.elements().collect()).unwrap_or_default();
    let (count, note) = cut_list(&found, u64::MAX, "indexes");
    let output = Output::object(|json| {
        json.name("indexes").array(|json| {
            for index in &found[..count] {
                json.object(|json| write_members(json, *index, &SUMMARY));
            }
        });
    });
    Ok(output.with_note(note))
}

pub(super) async fn get(caller: Caller, arguments: Arguments) -> Outcome {
    let (database, name) = (arguments.text("database"), arguments.text("index"));
    let absent = || format!("The database '{database}' has no index '{name}'; list_indexes lists them");
    if name.is_empty() {
        return Err(super::outcome::ToolError::new(absent()));
    }
    let of = |path| Ok(Target::of_database(database, path)?.with("name", name));
    let definition = caller.get(of("/indexes")?).await?.success(absent)?;
    // It may be gone meanwhile.
    let statistics = caller.get(of("/indexes/stats")?).await?.success(absent)?;
    let first = |json: &mut Writer<'_>, name: &str, answer: Raw<'_>| {
        if let Some(found) = answer.get("Results").and_then(|results| results.elements().next()) {
            json.name(name).raw(found.bytes());
        }
    };
    Ok(bounded(Output::object(|json| {
        first(json, "definition", definition.json());
        first(json, "statistics", statistics.json());
    })))
}

pub(super) async fn errors(caller: Caller, arguments: Arguments) -> Outcome {
    let mut target = Target::of_database(arguments.text("database"), "/indexes/errors")?;
    if let Some(name) = arguments.optional_text("index") {
        target = target.with("name", name);
    }
    let answered = caller.get(target).await?.success(String::new)?;
    // Errors of each index, of which some have none; they are counted over all.
    let mut left = arguments.number("limit");
    let indexes: Vec<Raw<'_>> = answered.json().get("Results").map(|all| all.elements().collect()).unwrap_or_default();
    let mut notes = Vec::new();
    let mut output = Output::object(|json| {
        json.name("indexes").array(|json| {
            for index in indexes {
                let errors: Vec<Raw<'_>> = index.get("Errors").map(|all| all.elements().collect()).unwrap_or_default();
                if errors.is_empty() {
                    continue;
                }
                let (count, note) = cut_list(&errors, left, "errors");
                left -= count as u64;
                let name = index.get("Name").and_then(Raw::as_str).unwrap_or_default();
                notes.extend(note.map(|note| format!("'{name}': {note}")));
                json.object(|json| {
                    json.name("name").string(&name);
                    json.name("errors")
                        .array(|json| errors[..count].iter().for_each(|error| _ = json.raw(error.bytes())));
                });
            }
        });
    });
    output.notes.append(&mut notes);
    Ok(bounded(output))
}
