//! The clauses `select` and `update`.
//!
//! ```text
//! select := "select" ["distinct"] ("*" | "{" JavaScript "}" | column {"," column})
//! column := (path | value | call | "timeseries" "(" time series query ")") ["as" alias]
//! update := "update" "{" JavaScript "}"
//! ```

use super::cursor::Cursor;
use crate::rql::ast::{Column, ColumnValue, Output, Projection, Select};
use crate::rql::error::Error;
use crate::rql::lexer::{Sign, Token};

const EXPECTED: &str = "Unable to get field for SELECT";
const TIME_SERIES_EXPECTED: &str = "Unable to parse time series query for time series select function, missing FROM";

impl<'q> Cursor<'q> {
    pub(super) fn output(&mut self) -> Result<Output<'q>, Error> {
        if self.take_word("select") {
            return Ok(Output::Select(self.select()?));
        }
        if !self.take_word("update") {
            return Ok(Output::Documents);
        }
        if !self.at(Sign::OpenBrace) {
            return Err(self.expected("Update clause must have a single function body"));
        }
        self.script().map(Output::Update)
    }

    fn select(&mut self) -> Result<Select<'q>, Error> {
        let is_distinct = self.take_word("distinct");
        let projection = if self.take(Sign::Star) {
            Projection::All
        } else if self.at(Sign::OpenBrace) {
            Projection::Object(self.script()?)
        } else {
            Projection::Columns(self.list(Self::column)?)
        };
        Ok(Select { is_distinct, projection })
    }

    fn column(&mut self) -> Result<Column<'q>, Error> {
        let is_time_series = self.at_word("timeseries") && self.next_token() == Token::Sign(Sign::OpenParenthesis);
        let value = if is_time_series { self.time_series()? } else { self.column_value()? };
        Ok(Column { value, alias: self.explicit_alias()? })
    }

    fn column_value(&mut self) -> Result<ColumnValue<'q>, Error> {
        // A string is a field here.
        if !matches!(self.token(), Token::Text(_))
            && let Some(value) = self.optional_value()?
        {
            return Ok(ColumnValue::Value(value));
        }
        let path = self.path(EXPECTED)?;
        if !self.at(Sign::OpenParenthesis) {
            return Ok(ColumnValue::Field(path));
        }
        let call = self.call(&path)?;
        // In quotes it would be the name of a function that cannot exist.
        if call.name.eq_ignore_ascii_case("timeseries") {
            return Err(self.expected_at(TIME_SERIES_EXPECTED, call.span));
        }
        Ok(ColumnValue::Call(call))
    }

    /// The current token is `timeseries`, an opening parenthesis follows.
    fn time_series(&mut self) -> Result<ColumnValue<'q>, Error> {
        self.advance();
        if !matches!(self.next_token(), Token::Word(word) if word.eq_ignore_ascii_case("from")) {
            self.advance();
            return Err(self.expected(TIME_SERIES_EXPECTED));
        }
        let expected = "Unable to parse time series query for time series select function, expected ')'";
        self.bracketed(Sign::OpenParenthesis, Sign::CloseParenthesis, expected).map(ColumnValue::TimeSeries)
    }
}
