//! Imports a CSV file: a document for each line, then questions about them.
//!
//! `cargo run -p rookerydb --example csv_import [FILE]`; without a file it imports some rivers. With those it prints:
//!
//! ```text
//! imported 6 documents
//! longest: Nile (6650 km)
//! Africa: 2 rivers, 11350 km
//! Asia: 2 rivers, 11838 km
//! South America: 2 rivers, 11280 km
//! a river with a comma in its name: Amazon, the great
//! ```

use std::time::Duration;

use rookerydb::{Result, Store};
use serde_json::{Map, Value};

const RIVERS: &str = "\
name,continent,length
Nile,Africa,6650
\"Amazon, the great\",South America,6400
Yangtze,Asia,6300
Yenisei,Asia,5538
Paraná,South America,4880
Congo,Africa,4700
";

const WAIT: Duration = Duration::from_secs(15);

fn main() -> Result<()> {
    let text = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file).map_err(|error| rookerydb::Error::Storage(Box::new(error)))?,
        None => RIVERS.to_owned(),
    };
    let store = Store::in_memory()?;
    let atlas = store.database("Atlas")?;

    let mut lines = text.lines();
    let names: Vec<String> = fields(lines.next().unwrap_or_default());
    let mut insert = atlas.bulk_insert()?;
    for (number, line) in lines.enumerate() {
        let values = fields(line).into_iter().map(value);
        let document: Map<String, Value> = names.iter().cloned().zip(values).collect();
        insert.put("Rivers", &format!("rivers/{}", number + 1), &document)?;
    }
    println!("imported {} documents", insert.finish()?);

    let longest = atlas.query("from Rivers order by length as long desc").wait_for_indexing(WAIT).first::<Value>()?;
    if let Some(river) = longest {
        println!("longest: {} ({} km)", river["name"].as_str().unwrap_or_default(), river["length"]);
    }

    let by_continent =
        "from Rivers group by continent order by continent select continent, count() as rivers, sum(length) as km";
    for row in atlas.query(by_continent).wait_for_indexing(WAIT).values::<Value>()? {
        println!("{}: {} rivers, {} km", row["continent"].as_str().unwrap_or_default(), row["rivers"], row["km"]);
    }

    let with_comma = atlas.query("from Rivers where regex(name, ',')").wait_for_indexing(WAIT).first::<Value>()?;
    if let Some(river) = with_comma {
        println!("a river with a comma in its name: {}", river["name"].as_str().unwrap_or_default());
    }
    Ok(())
}

/// The fields of a line (RFC 4180): a field in quotes may contain commas, and quotes that are doubled. A field of several lines is not
/// supported here.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            character => field.push(character),
        }
    }
    fields.push(field);
    fields
}

/// A number where the field is one.
fn value(field: String) -> Value {
    match field.parse::<f64>() {
        Ok(_) => serde_json::from_str(&field).unwrap_or(Value::String(field)),
        Err(_) => Value::String(field),
    }
}
