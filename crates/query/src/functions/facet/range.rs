//! A range of a facet: comparisons of one field with values, which have one range of its terms in common.

use super::{Context, FacetRange};
use crate::definition::AnalysisKind;
use crate::definition::terms;
use crate::plan::{Condition, FieldUse, Refused, Scalar, TermValue, end, range};
use crate::rql::{Expression, Operator};
use std::cmp::Ordering;
use std::ops::Bound;

/// A range and the field that it is of.
pub(super) struct RangeOf {
    pub field: FieldUse,
    pub range: FacetRange,
}

/// What an argument of `facet(..)` says.
pub(super) fn of(expression: &Expression<'_>, context: Context<'_>) -> Result<RangeOf, Refused> {
    let mut interval = Interval { field: None, low: Bound::Unbounded, high: Bound::Unbounded, others: Vec::new() };
    let mut texts = Vec::new();
    match expression {
        Expression::And(operands) => {
            for operand in operands {
                texts.push(interval.narrow(operand, context)?);
            }
        }
        operand => texts.push(interval.narrow(operand, context)?),
    }
    let Interval { field: Some(field), low, high, others } = interval else {
        return Err(Refused::Invalid("A range of a facet needs a comparison".to_owned()));
    };
    let mut conditions = vec![range(field.clone(), low, high)?];
    for (low, high) in others {
        conditions.push(range(field.clone(), low, high)?);
    }
    let condition = match conditions.len() {
        1 => conditions.remove(0),
        _ => Condition::And(conditions),
    };
    Ok(RangeOf { field, range: FacetRange { text: texts.join(" and "), condition } })
}

/// Why ranges of two fields are no facet.
pub(super) fn of_several(one: &FieldUse, other: &FieldUse) -> Refused {
    let (one, other) = (&one.name.path, &other.name.path);
    let rule = "Facet ranges must be defined on the same field";
    Refused::Invalid(format!("{rule} while we got '{one}' and '{other}' used in the same facet"))
}

/// What is left after some comparisons.
struct Interval {
    field: Option<FieldUse>,
    low: Bound<Scalar>,
    high: Bound<Scalar>,
    /// Bounds of texts of which only the analysis of the field says how they lie to those.
    others: Vec<(Bound<Scalar>, Bound<Scalar>)>,
}

impl Interval {
    /// Keeps what is in this comparison too, and gives its text.
    fn narrow(&mut self, expression: &Expression<'_>, context: Context<'_>) -> Result<String, Refused> {
        let value = |expression: &Expression<'_>| match expression {
            Expression::Value(value) => match context.parameters.scalar(value)? {
                Scalar::Null | Scalar::Boolean(_) | Scalar::Object(_) => {
                    Err(Refused::Invalid(format!("A range of a facet needs numbers or texts, but got {expression}")))
                }
                scalar => Ok(scalar),
            },
            other => Err(Refused::Invalid(format!("A range of a facet needs a value, but got {other}"))),
        };
        match expression {
            Expression::Compare(comparison) => {
                let field = self.field(&comparison.left, context)?;
                let value = value(&comparison.right)?;
                let text = format!("{field} {} {}", comparison.operator.sign(), value.text().unwrap_or_default());
                match comparison.operator {
                    Operator::Less => self.below(Bound::Excluded(value))?,
                    Operator::LessOrEqual => self.below(Bound::Included(value))?,
                    Operator::Greater => self.above(Bound::Excluded(value))?,
                    Operator::GreaterOrEqual => self.above(Bound::Included(value))?,
                    Operator::Equal | Operator::NotEqual => {
                        let sign = comparison.operator.sign();
                        return Err(Refused::Invalid(format!(
                            "Unsupported operator in a range of a facet query: {sign}"
                        )));
                    }
                }
                Ok(text)
            }
            Expression::Between(between) => {
                let field = self.field(&between.operand, context)?;
                let (low, high) = (value(&between.low)?, value(&between.high)?);
                let text = |value: &Scalar| value.text().unwrap_or_default();
                let text = format!("{field} between {} and {}", text(&low), text(&high));
                self.above(Bound::Included(low))?;
                self.below(Bound::Included(high))?;
                Ok(text)
            }
            other => Err(Refused::Invalid(format!("Unsupported operator in a range of a facet query: {other}"))),
        }
    }

    /// The path of the field, which must be that of the comparisons before.
    fn field(&mut self, expression: &Expression<'_>, context: Context<'_>) -> Result<String, Refused> {
        let field = context.field(expression)?;
        let path = field.name.path.clone();
        match &self.field {
            Some(known) if *known != field => return Err(of_several(known, &field)),
            Some(_) => {}
            None => self.field = Some(field),
        }
        Ok(path)
    }

    fn above(&mut self, bound: Bound<Scalar>) -> Result<(), Refused> {
        match tightens(&bound, &self.low, Ordering::Greater)? {
            Some(true) => self.low = bound,
            Some(false) => {}
            None => self.others.push((bound, Bound::Unbounded)),
        }
        Ok(())
    }

    fn below(&mut self, bound: Bound<Scalar>) -> Result<(), Refused> {
        match tightens(&bound, &self.high, Ordering::Less)? {
            Some(true) => self.high = bound,
            Some(false) => {}
            None => self.others.push((Bound::Unbounded, bound)),
        }
        Ok(())
    }
}

/// Whether a bound leaves less than another one: it lies on that side of it, or beside it without it. `None`: they are texts, and how they
/// lie depends on whether the field has them as they are, lower-cased, or as dates.
fn tightens(bound: &Bound<Scalar>, other: &Bound<Scalar>, side: Ordering) -> Result<Option<bool>, Refused> {
    let (Bound::Included(value) | Bound::Excluded(value), Bound::Included(known) | Bound::Excluded(known)) =
        (bound, other)
    else {
        return Ok(Some(true));
    };
    let order = match (end(value.clone()), end(known.clone())) {
        (TermValue::Number(value), TermValue::Number(known)) => value.cmp(&known),
        (TermValue::Text(value), TermValue::Text(known)) => {
            let as_is = value.cmp(&known);
            let is_sure = |analysis| match (terms::time(&value, analysis), terms::time(&known, analysis)) {
                (Some(value), Some(known)) => value.cmp(&known) == as_is,
                // One that is a date has none of the others beside it.
                (Some(_), None) | (None, Some(_)) => false,
                (None, None) => terms::analyzed(&value, analysis).cmp(&terms::analyzed(&known, analysis)) == as_is,
            };
            if ![AnalysisKind::Exact, AnalysisKind::LowerCase].into_iter().all(is_sure) {
                return Ok(None);
            }
            as_is
        }
        _ => {
            let message = "A range of a facet needs values of the same type";
            return Err(Refused::Invalid(message.to_owned()));
        }
    };
    Ok(Some(order == side || (order == Ordering::Equal && matches!(bound, Bound::Excluded(_)))))
}
