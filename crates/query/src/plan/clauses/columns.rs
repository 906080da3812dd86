//! Names of columns in `where` and `order by`: they mean what the columns hold.
//!
//! As in the reference, `from Books where Title = 'x' select Author as Title` compares `Author`. A name behind the query's alias,
//! `b.Title`, is always a field of the document.

use crate::functions;
use crate::plan::{Refused, is_id};
use crate::rql::{Call, ColumnValue, Expression, Output, Path, Projection, Query, Select};
use std::borrow::Cow;

/// The query with the values of columns in place of their names.
///
/// # Errors
///
/// [`Refused`]: the name of a column with a path behind it.
pub(in crate::plan) fn resolved<'r, 'q>(query: &'r Query<'q>) -> Result<Cow<'r, Query<'q>>, Refused> {
    let Output::Select(Select { projection: Projection::Columns(columns), .. }) = &query.output else {
        return Ok(Cow::Borrowed(query));
    };
    // Groups know their columns themselves.
    let is_read = query.condition.is_some() || !query.order_by.is_empty();
    if !is_read || !query.group_by.is_empty() {
        return Ok(Cow::Borrowed(query));
    }
    let alias = query.from.alias.as_deref();
    let is_loaded = |path: &Path<'_>| query.load.iter().any(|load| load.alias == path.first.text);
    let columns: Vec<(&str, Expression<'q>)> = columns
        .iter()
        .filter_map(|column| {
            let value = match &column.value {
                // A text alone.
                ColumnValue::Field(path) if path.first.is_quoted && path.rest.is_empty() => return None,
                ColumnValue::Field(path) if !is_loaded(path) => Expression::Field(path.clone()),
                ColumnValue::Call(call) => {
                    let call = Expression::Call(call.clone());
                    is_id(&call, alias).then_some(call)?
                }
                ColumnValue::Field(_) | ColumnValue::Value(_) | ColumnValue::TimeSeries(_) => return None,
            };
            let name = column.alias.as_deref()?;
            (Some(name) != alias).then_some((name, value))
        })
        .collect();
    if columns.is_empty() {
        return Ok(Cow::Borrowed(query));
    }
    let mut query = query.clone();
    query.condition.iter_mut().try_for_each(|condition| resolve(condition, &columns))?;
    query.order_by.iter_mut().try_for_each(|key| resolve(&mut key.key, &columns))?;
    Ok(Cow::Owned(query))
}

/// The recursion is as deep as the query, which is bounded. What a column holds is not resolved again.
fn resolve<'q>(expression: &mut Expression<'q>, columns: &[(&str, Expression<'q>)]) -> Result<(), Refused> {
    match expression {
        Expression::Value(_) => Ok(()),
        Expression::Field(path) => {
            let Some((_, value)) = columns.iter().find(|(name, _)| *name == path.first.text) else { return Ok(()) };
            if !path.rest.is_empty() {
                return Err(Refused::Invalid(format!(
                    "Field alias {} cannot be used in a compound field, but got: {}",
                    path.first.text,
                    path.text()
                )));
            }
            *expression = value.clone();
            Ok(())
        }
        Expression::And(operands) | Expression::Or(operands) => {
            operands.iter_mut().try_for_each(|operand| resolve(operand, columns))
        }
        Expression::Not(operand) => resolve(operand, columns),
        Expression::Compare(comparison) => resolve(&mut comparison.left, columns),
        Expression::Between(between) => resolve(&mut between.operand, columns),
        Expression::In(choice) => resolve(&mut choice.operand, columns),
        Expression::Call(call) => resolve_arguments(call, columns),
    }
}

fn resolve_arguments<'q>(call: &mut Call<'q>, columns: &[(&str, Expression<'q>)]) -> Result<(), Refused> {
    // Behind the first one a name is a field only where the function takes one: `and` of search() is a word.
    let function = functions::find(&call.name);
    let takes_field = |at| at == 0 || function.is_some_and(|function| function.takes_field(at));
    let arguments = call.arguments.iter_mut().enumerate();
    arguments
        .filter(|(at, argument)| !matches!(argument, Expression::Field(_)) || takes_field(*at))
        .try_for_each(|(_, argument)| resolve(argument, columns))
}
