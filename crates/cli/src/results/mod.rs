//! Results of queries as people and programs read them: a table, JSON, JSON lines, or CSV.

mod columns;
mod csv;
mod table;

use std::io::Write;

use json::Value;

pub(crate) use columns::{Columns, cell};
pub(crate) use csv::{write_head as write_csv_head, write_line as write_csv_line};
pub(crate) use table::{Table, printable, width_of_terminal};

/// The forms of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// A table, cut to the width of the terminal.
    Table,
    /// An array of JSON objects.
    Json,
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values with a line of names; fields of objects have columns of their own.
    Csv,
}

/// Writes all rows.
///
/// * `width`: columns of the terminal; `None`: a table is as wide as it needs.
pub(crate) fn write(out: &mut impl Write, form: Form, rows: &[Value], width: Option<usize>) -> std::io::Result<()> {
    match form {
        Form::Table => {
            let columns = Columns::of(rows);
            let mut table = Table::new(columns.names());
            for row in rows {
                table.add(columns.paths.iter().map(|path| cell(row, path)).collect());
            }
            table.write(out, width)
        }
        Form::Json => {
            out.write_all(b"[")?;
            for (at, row) in rows.iter().enumerate() {
                out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
                out.write_all(&row.to_vec())?;
            }
            out.write_all(b"\n]\n")
        }
        Form::Jsonl => rows.iter().try_for_each(|row| {
            out.write_all(&row.to_vec())?;
            out.write_all(b"\n")
        }),
        Form::Csv => {
            let columns = Columns::of(rows);
            write_csv_head(out, &columns)?;
            rows.iter().try_for_each(|row| write_csv_line(out, &columns, row))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Value> {
        let text = br#"[{"Name":"Ann","Address":{"City":"Oslo"},"@metadata":{"@id":"users/1"}},{"Name":"B, \"x\"","Tags":[1,2]}]"#;
        match Value::parse(text).unwrap() {
            Value::Array(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check(form: Form, expected: &str) {
        let mut out = Vec::new();
        write(&mut out, form, &rows(), None).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn each_form_has_all_rows() {
        check(
            Form::Table,
            concat!(
                "id      | Name   | Address.City | Tags\n",
                "--------+--------+--------------+------\n",
                "users/1 | Ann    | Oslo         |\n",
                "        | B, \"x\" |              | [1,2]\n"
            ),
        );
        let first = r#"{"Name":"Ann","Address":{"City":"Oslo"},"@metadata":{"@id":"users/1"}}"#;
        let second = r#"{"Name":"B, \"x\"","Tags":[1,2]}"#;
        check(Form::Json, &format!("[\n{first},\n{second}\n]\n"));
        check(Form::Jsonl, &format!("{first}\n{second}\n"));
        check(Form::Csv, "id,Name,Address.City,Tags\r\nusers/1,Ann,Oslo,\r\n,\"B, \"\"x\"\"\",,\"[1,2]\"\r\n");
    }

    #[test]
    fn no_rows_are_a_result_too() {
        let written = |form| {
            let mut out = Vec::new();
            write(&mut out, form, &[], None).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(Form::Json), "[\n]\n");
        assert_eq!(written(Form::Table), "");
        assert_eq!(written(Form::Csv), "");
    }
}
