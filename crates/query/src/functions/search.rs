//! `search(field, text[, operator])`

use super::{Argument, Function, Kind, Use};
use crate::analysis::Analyzer;
use crate::definition::Analysis;
use crate::limits::{BOUND_SIZE_MAX, SEARCH_CLAUSES_MAX};
use crate::plan::conditions::search_text;
use crate::plan::{Condition, FieldUse, Planner, Refused, Scalar, SearchPart, TextQuery, Wildcard, check_bound};
use crate::rql::{Call, Expression};

pub(super) static SEARCH: Function = Function {
    name: "search",
    aliases: &[],
    arguments: &[
        Argument::required("field", Kind::Field),
        Argument::required("words", Kind::Text),
        Argument::optional("operator", Kind::Operator),
    ],
    about: "Finds texts that have any of the words, or all of them where the operator is `and`. Words in double quotes are a phrase, and `*` at either end of a word is a wildcard.",
    example: "from Products where search(Name, 'choc* lager')",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, _analysis: Analysis) -> Result<Condition, Refused> {
    let Search { field, parts, is_all } = Search::of(planner, call)?;
    Ok(Condition::Words(field, TextQuery::Search { parts, is_all }))
}

/// What a call looks for.
pub(super) struct Search {
    pub field: FieldUse,
    pub parts: Vec<SearchPart>,
    /// Whether all parts must be there.
    pub is_all: bool,
}

impl Search {
    /// # Errors
    ///
    /// [`Refused`]
    pub fn of(planner: &mut Planner<'_>, call: &Call<'_>) -> Result<Search, Refused> {
        let wrong = || SEARCH.wrong_arguments();
        let (operand, text, operator) = match call.arguments.as_slice() {
            [operand, text] => (operand, text, None),
            [operand, text, Expression::Field(operator)] => (operand, text, Some(operator.text())),
            [operand, text, Expression::Value(operator)] => {
                (operand, text, Some(planner.parameters.scalar(operator)?.text().ok_or_else(wrong)?.into()))
            }
            _ => return Err(wrong()),
        };
        let is_all = match operator {
            None => false,
            Some(operator) if operator.eq_ignore_ascii_case("or") => false,
            Some(operator) if operator.eq_ignore_ascii_case("and") => true,
            Some(_) => return Err(wrong()),
        };
        let Expression::Value(value) = text else { return Err(wrong()) };
        let Scalar::Text(text) = planner.parameters.scalar(value)? else {
            return Err(Refused::Invalid("Method search() expects to get an argument of type String".to_owned()));
        };
        if planner.is_id(operand) {
            return Err(Refused::NotSupported("search() of id()".to_owned()));
        }
        let parts = search_text::parts(&text);
        if parts.len() > SEARCH_CLAUSES_MAX {
            let count = parts.len();
            let message =
                format!("a search for {count} words exceeds the limit SEARCH_CLAUSES_MAX = {SEARCH_CLAUSES_MAX}");
            return Err(Refused::Invalid(message));
        }
        if let Some(long) =
            parts.iter().find(|part| part.wildcard != Wildcard::None && part.text.len() > BOUND_SIZE_MAX)
        {
            check_bound(&long.text)?;
        }
        let field = planner.field(operand, Analysis::Words(Analyzer::Standard))?;
        Ok(Search { field, parts, is_all })
    }
}
