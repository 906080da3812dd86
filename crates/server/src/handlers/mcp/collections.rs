//! Tools about collections, and the shape of their documents.

use std::fmt::Write;

use json::{Raw, Writer};

use super::arguments::Arguments;
use super::inner::{Caller, Target, of_error};
use super::outcome::{Outcome, Output, ToolError};
use super::queries::bounded;
use super::rows::Rows;
use super::shape::Shape;

/// The documents of each collection.
async fn counts(caller: &Caller, database: &str) -> Result<Vec<(String, u64)>, ToolError> {
    let target = Target::of_database(database, "/collections/stats")?;
    let answered = caller.get(target).await?.success(String::new)?;
    let found = answered.json().get("Collections").map(|all| {
        all.members().map(|(name, count)| (name.decode().into_owned(), count.as_u64().unwrap_or_default())).collect()
    });
    Ok(found.unwrap_or_default())
}

pub(super) async fn list(caller: Caller, arguments: Arguments) -> Outcome {
    let found = counts(&caller, arguments.text("database")).await?;
    Ok(bounded(Output::object(|json| {
        json.name("collections").array(|json| {
            for (name, count) in &found {
                json.object(|json| _ = json.name("name").string(name).name("documents").unsigned(*count));
            }
        });
    })))
}

pub(super) async fn describe(caller: Caller, arguments: Arguments) -> Outcome {
    let (database, asked) = (arguments.text("database"), arguments.text("collection"));
    let all = counts(&caller, database).await?;
    let Some((name, count)) = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(asked)) else {
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).take(NAMES_SHOWN).collect();
        let text = format!("The database '{database}' has no collection of that name. It has: {}", names.join(", "));
        return Err(ToolError::new(text));
    };
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| {
        json.name("Query")
            .string(&format!("from {}", quoted(name)))
            .name("PageSize")
            .unsigned(arguments.number("sample"));
    });
    let answered = caller.post(Target::of_database(database, "/queries")?, body).await?.success(String::new)?;
    let (name, count) = (name.clone(), *count);
    // Some megabytes are gone through.
    let size = answered.body.len();
    let describe = move || {
        let found = Rows::of(&answered);
        let mut shape = Shape::default();
        found.rows.iter().for_each(|row| shape.add(Raw::new(row)));
        let output = Output::object(|json| {
            json.name("collection").string(&name).name("documents").unsigned(count);
            shape.write(json);
        });
        let mut notes = Vec::new();
        if found.is_cut() {
            notes.push(format!("the sample was cut at {} documents: more would exceed its size", found.rows.len()));
        }
        notes.extend(shape.note());
        Ok(Output { notes, ..output })
    };
    Ok(bounded(caller.node().bridge.run_sized(size, describe).await.map_err(of_error)?))
}

/// Names of collections that a refusal lists.
const NAMES_SHOWN: usize = 50;

/// A name as a text of RQL.
fn quoted(name: &str) -> String {
    let mut quoted = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => _ = write!(quoted, "\\{c}"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(quoted(r"O'Neil\' update { }"), r"'O\'Neil\\\' update { }'");
    }
}
