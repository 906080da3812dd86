//! Rows as CSV (RFC 4180), as the studio writes it.

use std::io::{Result, Write};

use json::Value;

use super::columns::{Columns, cell};

/// Writes the names of the columns; nothing where there are none.
pub(crate) fn write_head(out: &mut impl Write, columns: &Columns) -> Result<()> {
    let names: Vec<String> = columns.names().iter().map(|name| escaped(name)).collect();
    if names.is_empty() { Ok(()) } else { write!(out, "{}\r\n", names.join(",")) }
}

/// Writes a row.
pub(crate) fn write_line(out: &mut impl Write, columns: &Columns, row: &Value) -> Result<()> {
    let cells: Vec<String> = columns.paths.iter().map(|path| escaped(&cell(row, path))).collect();
    write!(out, "{}\r\n", cells.join(","))
}

/// A field with the quotes that it needs. One that a spreadsheet would take for a formula begins with an apostrophe.
fn escaped(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let harmless = if is_formula { format!("'{text}") } else { text.to_owned() };
    match harmless.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", harmless.replace('"', "\"\"")),
        false => harmless,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_are_no_formulas() {
        let check = |text: &str, expected: &str| assert_eq!(escaped(text), expected, "{text}");
        check("plain", "plain");
        check("a,b", "\"a,b\"");
        check("say \"x\"\n", "\"say \"\"x\"\"\n\"");
        check("-1.5e3", "-1.5e3");
        check("=1+1", "'=1+1");
        check("@x", "'@x");
        check("-x,y", "\"'-x,y\"");
    }
}
