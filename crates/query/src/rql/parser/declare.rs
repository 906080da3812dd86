//! Declared functions.
//!
//! ```text
//! declare   := "declare" "function" word signature "{" JavaScript "}"
//!            | "declare" "timeseries" word signature "{" time series query "}"
//! signature := "(" [parameter {"," parameter}] ")"
//! parameter := word | "$" word
//! ```

use super::cursor::Cursor;
use crate::limits::FUNCTION_COUNT_MAX;
use crate::rql::ast::{Function, Language};
use crate::rql::error::{Error, Reason};
use crate::rql::lexer::{Sign, Token};

impl<'q> Cursor<'q> {
    pub(super) fn functions(&mut self) -> Result<Vec<Function<'q>>, Error> {
        let mut functions: Vec<Function<'q>> = Vec::new();
        while self.take_word("declare") {
            if functions.len() == FUNCTION_COUNT_MAX {
                return Err(self.failed(Reason::TooManyFunctions));
            }
            let function = self.function()?;
            if functions.iter().any(|other| other.name == function.name) {
                return Err(self.expected(format!("{} function was declared multiple times", function.name)));
            }
            functions.push(function);
        }
        Ok(functions)
    }

    fn function(&mut self) -> Result<Function<'q>, Error> {
        let language = if self.take_word("function") {
            Language::JavaScript
        } else if self.take_word("timeseries") {
            Language::TimeSeries
        } else {
            return Err(self.expected("DECLARE clause found but missing 'function' keyword"));
        };
        let Token::Word(name) = self.token() else {
            return Err(self.expected("DECLARE functions require a name and cannot be anonymous"));
        };
        self.advance();
        if !self.take(Sign::OpenParenthesis) {
            return Err(self.expected(format!("Unable to parse {name} signature")));
        }
        let parameters = if self.take(Sign::CloseParenthesis) { Vec::new() } else { self.parameters()? };
        if !self.at(Sign::OpenBrace) {
            return Err(self.expected(format!("Unable to get body for {name}")));
        }
        let body = match language {
            Language::JavaScript => self.script()?,
            Language::TimeSeries => {
                self.bracketed(Sign::OpenBrace, Sign::CloseBrace, "Unable to get body of time series function")?
            }
        };
        Ok(Function { language, name, parameters, body })
    }

    fn parameters(&mut self) -> Result<Vec<&'q str>, Error> {
        let parameters = self.list(Self::parameter)?;
        self.expect(Sign::CloseParenthesis, "parsing method expression, expected ','")?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Result<&'q str, Error> {
        // In JavaScript, names may begin with `$`.
        let (Token::Word(_) | Token::Parameter(_)) = self.token() else {
            return Err(self.expected("parsing method, expected an argument"));
        };
        let span = self.span();
        self.count()?;
        self.advance();
        Ok(self.text_of(span))
    }
}
