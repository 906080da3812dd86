//! A table of text for people.

use std::io::{Result, Write};

use console::{measure_text_width, truncate_str};

/// Rows of cells under names.
pub(crate) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The widest that a column gets.
const COLUMN_WIDTH_MAX: usize = 40;

/// What stands between columns.
const GAP: &str = " | ";

/// The columns of the terminal that standard output is; `None` if it is none.
pub(crate) fn width_of_terminal() -> Option<usize> {
    let terminal = console::Term::stdout();
    terminal.is_term().then(|| usize::from(terminal.size().1))
}

impl Table {
    pub fn new(names: Vec<String>) -> Table {
        Table { names, rows: Vec::new() }
    }

    /// Adds a row with a cell for each name.
    pub fn add(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|cell| printable(cell)).collect());
    }

    /// Writes the table; nothing if it has no columns.
    ///
    /// Cells of more than [`COLUMN_WIDTH_MAX`] columns are cut.
    ///
    /// * `width`: what it must fit into; columns that do not fit are left away at its right, and named below.
    pub fn write(&self, out: &mut impl Write, width: Option<usize>) -> Result<()> {
        let mut widths: Vec<usize> = self.names.iter().map(|name| measure_text_width(name)).collect();
        for row in &self.rows {
            for (cell, width) in row.iter().zip(&mut widths) {
                *width = (*width).max(measure_text_width(cell));
            }
        }
        widths.iter_mut().for_each(|width| *width = (*width).min(COLUMN_WIDTH_MAX));
        let Some(room) = width else { return self.write_columns(out, &widths) };
        let mut taken = 0;
        let fitting = widths.iter().take_while(|width| {
            taken += **width + if taken == 0 { 0 } else { GAP.len() };
            taken <= room
        });
        // The first column is shown in any case.
        let count = fitting.count().max(1).min(widths.len());
        self.write_columns(out, &widths[..count])
    }

    fn write_columns(&self, out: &mut impl Write, widths: &[usize]) -> Result<()> {
        if widths.is_empty() {
            return Ok(());
        }
        write_row(out, &self.names, widths)?;
        let lines: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        writeln!(out, "{}", lines.join("-+-"))?;
        self.rows.iter().try_for_each(|row| write_row(out, row, widths))?;
        match &self.names[widths.len()..] {
            [] => Ok(()),
            hidden => writeln!(out, "(the terminal is too narrow for {})", hidden.join(", ")),
        }
    }
}

fn write_row(out: &mut impl Write, cells: &[String], widths: &[usize]) -> Result<()> {
    let padded: Vec<String> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            let cell = truncate_str(cell, *width, "…");
            let rest = width.saturating_sub(measure_text_width(&cell));
            format!("{cell}{}", " ".repeat(rest))
        })
        .collect();
    writeln!(out, "{}", padded.join(GAP).trim_end())
}

/// A text without what would move the cursor or change the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: Option<usize>) -> String {
        let mut table = Table::new(vec!["id".to_owned(), "Name".to_owned(), "Note".to_owned()]);
        table.add(vec!["users/1".to_owned(), "Zoë".to_owned(), "x".repeat(50)]);
        table.add(vec!["users/22".to_owned(), "漢字\u{1b}[31m".to_owned(), String::new()]);
        let mut out = Vec::new();
        table.write(&mut out, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_cells_up_to_a_bound() {
        let text = table(None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "id       | Name      | Note");
        assert_eq!(lines[2], format!("users/1  | Zoë       | {}…", "x".repeat(39)));
        assert_eq!(lines[3], "users/22 | 漢字 [31m |");
    }

    #[test]
    fn a_narrow_terminal_gets_the_columns_that_fit() {
        let text = table(Some(70));
        assert!(text.contains(&format!("| {}…\n", "x".repeat(39))), "{text}");
        let text = table(Some(30));
        assert!(text.ends_with("(the terminal is too narrow for Note)\n") && !text.contains("xx"), "{text}");
        assert!(table(Some(1)).starts_with("id\n"));
    }
}
