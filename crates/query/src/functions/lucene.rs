//! `lucene(field, query)`; `plan/conditions/lucene.rs` parses the query.

use super::{Argument, Function, Kind, Use};
use crate::analysis::Analyzer;
use crate::definition::{Analysis, Field, FieldName, FieldNeeds};
use crate::plan::conditions::lucene;
use crate::plan::{Condition, FieldUse, Planner, Refused, Scalar, TermValue, TextQuery};
use crate::rql::{Call, Expression};

pub(super) static LUCENE: Function = Function {
    name: "lucene",
    aliases: &[],
    arguments: &[Argument::required("field", Kind::Field), Argument::required("query", Kind::Text)],
    about: "Finds what a query in Lucene's syntax finds: words, phrases, wildcards, ranges, `AND`, `OR`, `NOT`, and other fields by name.",
    example: "from Products where lucene(Name, 'choc* OR \"outback lager\"')",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    let [operand, Expression::Value(value)] = call.arguments.as_slice() else {
        return Err(LUCENE.wrong_arguments());
    };
    let analysis = if analysis == Analysis::Exact { analysis } else { Analysis::Words(Analyzer::Standard) };
    let field = planner.field(operand, analysis.clone())?;
    let text = match planner.parameters.scalar(value)? {
        Scalar::Text(text) => text,
        Scalar::Null => return Ok(Condition::AnyOf(field, vec![TermValue::Null])),
        _ => return Err(Refused::Invalid("Method lucene() expects to get an argument of type String".to_owned())),
    };
    let lucene::Parsed { query, fields } = lucene::parse(&text)?;
    let mut named = |path: String| -> FieldUse {
        let name = FieldName { path, is_quoted: false };
        planner.need(Field { name, needs: FieldNeeds::of(analysis.kind()) }, analysis.clone())
    };
    let fields = fields.into_iter().map(&mut named).collect();
    Ok(Condition::Words(field, TextQuery::Lucene { query, fields }))
}
