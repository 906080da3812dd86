//! Methods that make one value of rows: `Sum`, `First`, `Any`, …

use super::super::expression::{Expression, Fold, Sequence, SequenceStep};
use super::Compiler;
use super::call::Call;
use super::syntax::Result;

/// The fold with this name.
fn fold(name: &str) -> Option<Fold> {
    Some(match name {
        "Sum" => Fold::Sum { is_typed: false },
        "Min" => Fold::Min,
        "Max" => Fold::Max,
        "Average" => Fold::Average { is_typed: false },
        "Count" | "LongCount" => Fold::Count,
        "Any" => Fold::Any,
        "All" => Fold::All,
        "First" => Fold::First,
        "FirstOrDefault" => Fold::FirstOrDefault,
        "Last" => Fold::Last,
        "LastOrDefault" => Fold::LastOrDefault,
        "Single" => Fold::Single,
        "SingleOrDefault" => Fold::SingleOrDefault,
        _ => return None,
    })
}

/// Whether a method makes one value of rows.
pub(super) fn is_fold(name: &str) -> bool {
    fold(name).is_some() || matches!(name, "ElementAt" | "ToDictionary")
}

impl Compiler {
    /// Such a method.
    pub(super) fn fold(&mut self, call: &Call<'_>) -> Result<Expression> {
        let Some(receiver) = call.receiver else { return Err(call.syntax.unsupported()) };
        let mut chain = self.chain(receiver)?;
        if chain.is_root {
            let message = format!("'{}' of all rows is not supported in a definition", call.name);
            return Err(call.name_syntax.error(message));
        }
        let fold = match (fold(call.name), call.name) {
            (Some(fold), _) => fold,
            (None, "ElementAt") => {
                let index = self.expression(call.argument(0)?)?;
                return Ok(Expression::Index(Box::new([chain.expression(), index])));
            }
            (None, _) => return self.dictionary_of(chain.expression(), call),
        };
        if call.arguments.len() > 1 {
            return Err(call.wrong_count());
        }
        let selects = matches!(fold, Fold::Sum { .. } | Fold::Min | Fold::Max | Fold::Average { .. } | Fold::All);
        let output = match call.arguments.first() {
            None if fold == Fold::All => return Err(call.wrong_count()),
            None => chain.element.expression(),
            Some(_) => {
                let lambda = call.lambda(0)?;
                let body = self.apply(&mut chain, &lambda, call, Self::expression)?;
                if selects {
                    body
                } else {
                    chain.steps.push(SequenceStep::Where(body));
                    chain.element.expression()
                }
            }
        };
        let is_typed = matches!(output, Expression::Convert(..) | Expression::Constant(_));
        let fold = match fold {
            Fold::Sum { .. } => Fold::Sum { is_typed },
            Fold::Average { .. } => Fold::Average { is_typed },
            fold => fold,
        };
        Ok(Expression::Fold(fold, Box::new(Sequence { steps: chain.steps, output })))
    }
}
