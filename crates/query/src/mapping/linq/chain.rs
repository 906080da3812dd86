//! Method syntax: `source.Where(…).Select(…)`, step by step.

use super::super::expression::{Arrange, Arrangement, Expression, Lambda, SequenceStep};
use super::Compiler;
use super::call::{Call, LambdaSyntax};
use super::query::order_by;
use super::scope::{Bound, Chain, Element};
use super::syntax::{Result, Syntax};

/// Methods that give rows again.
pub(super) fn is_step(name: &str) -> bool {
    matches!(
        name,
        "Where"
            | "Select"
            | "SelectMany"
            | "GroupBy"
            | "Distinct"
            | "Reverse"
            | "OrderBy"
            | "OrderByDescending"
            | "ThenBy"
            | "ThenByDescending"
            | "Skip"
            | "Take"
            | "Concat"
            | "Union"
            | "Intersect"
            | "Except"
            | "DefaultIfEmpty"
            | "Join"
            | "Zip"
            | "ToArray"
            | "ToList"
            | "ToHashSet"
            | "AsEnumerable"
            | "Cast"
            | "OfType"
    )
}

impl Compiler {
    /// The rows that an expression gives.
    pub(super) fn chain(&mut self, syntax: Syntax<'_>) -> Result<Chain> {
        self.inside(syntax, |compiler| {
            let syntax = syntax.bare();
            if let Some(chain) = compiler.root(syntax)? {
                return Ok(chain);
            }
            match syntax.kind() {
                "query_expression" => return compiler.query(syntax),
                "invocation_expression" => {
                    let call = Call::of(syntax)?;
                    if let Some((receiver, call)) = compiler.method(call)
                        && is_step(call.name)
                    {
                        let chain = compiler.chain(receiver)?;
                        return compiler.step(chain, &call);
                    }
                }
                _ => {}
            }
            let value = compiler.expression(syntax)?;
            compiler.over(value, syntax)
        })
    }

    /// A method with its receiver: `x.F(y)`, or `Enumerable.F(x, y)`. The C# client writes `DynamicEnumerable` where it adds casts. None if
    /// it is a function of a class or of the definition.
    pub(super) fn method<'t>(&self, mut call: Call<'t>) -> Option<(Syntax<'t>, Call<'t>)> {
        let receiver = call.receiver?;
        match self.class(receiver).as_deref() {
            None => Some((receiver, call)),
            Some("Enumerable" | "DynamicEnumerable") if !call.arguments.is_empty() => {
                let receiver = call.arguments.remove(0);
                call.receiver = Some(receiver);
                Some((receiver, call))
            }
            Some(_) => None,
        }
    }

    fn step(&mut self, mut chain: Chain, call: &Call<'_>) -> Result<Chain> {
        match (call.name, call.arguments.len()) {
            ("Where", 1) => {
                let lambda = call.lambda(0)?;
                let condition = self.apply(&mut chain, &lambda, call, Self::expression)?;
                chain.steps.push(SequenceStep::Where(condition));
                Ok(chain)
            }
            ("Select", 1) => {
                let lambda = call.lambda(0)?;
                chain.element = self.apply(&mut chain, &lambda, call, Self::element)?;
                Ok(chain)
            }
            ("SelectMany", 1 | 2) => self.select_many(chain, call),
            ("GroupBy", 1..=3) => self.group_by(chain, call),
            ("ToArray" | "ToList" | "ToHashSet" | "AsEnumerable" | "Cast" | "OfType", 0) => Ok(chain),
            ("OrderBy" | "OrderByDescending" | "ThenBy" | "ThenByDescending", _) if chain.is_root => {
                Err(order_by(call.syntax))
            }
            (name, _) if chain.is_root => {
                Err(call.name_syntax.error(format!("'{name}' is not supported on the rows of a definition's source")))
            }
            _ => {
                let by = self.arrangement(call)?;
                let source = chain.expression();
                match (source, by) {
                    // `ThenBy` adds to the order before it.
                    (Expression::Arrange(mut before), Arrangement::Order(mut keys))
                        if call.name.starts_with("ThenBy") && matches!(before.by, Arrangement::Order(_)) =>
                    {
                        if let Arrangement::Order(first) = &mut before.by {
                            first.append(&mut keys);
                        }
                        self.over(Expression::Arrange(before), call.syntax)
                    }
                    _ if call.name.starts_with("ThenBy") => {
                        Err(call.name_syntax.error("'ThenBy' has to follow an 'OrderBy'".to_owned()))
                    }
                    (source, by) => self.over(Expression::Arrange(Box::new(Arrange { source, by })), call.syntax),
                }
            }
        }
    }

    /// Compiles the body of a lambda with its parameter bound to the row.
    pub(super) fn apply<T>(
        &mut self,
        chain: &mut Chain,
        lambda: &LambdaSyntax<'_>,
        call: &Call<'_>,
        compile: impl FnOnce(&mut Self, Syntax<'_>) -> Result<T>,
    ) -> Result<T> {
        let [parameter] = *lambda.parameters else {
            return Err(call
                .name_syntax
                .error(format!("'{}' with a lambda of several parameters is not supported", call.name)));
        };
        let bound = self.bind_row(chain, call.syntax)?;
        self.with_names(|compiler| {
            compiler.name(parameter, bound);
            compiler.inside(lambda.body, |compiler| compile(compiler, lambda.body))
        })
    }

    /// Makes variables of the row.
    fn bind_row(&mut self, chain: &mut Chain, at: Syntax<'_>) -> Result<Bound> {
        let element = std::mem::replace(&mut chain.element, Element::Record(Vec::new()));
        let bound = self.bind(element, &mut chain.steps, at)?;
        chain.element = bound.element();
        Ok(bound)
    }

    fn select_many(&mut self, mut chain: Chain, call: &Call<'_>) -> Result<Chain> {
        let lambda = call.lambda(0)?;
        let inner = self.apply(&mut chain, &lambda, call, Self::chain)?;
        let outer = self.bind_row(&mut chain, call.syntax)?;
        chain.extend(inner.steps, call.syntax)?;
        chain.element = inner.element;
        if call.arguments.len() == 1 {
            return Ok(chain);
        }
        let result = call.lambda(1)?;
        let [first, second] = *result.parameters else { return Err(call.arguments[1].unsupported()) };
        let inner = self.bind_row(&mut chain, call.syntax)?;
        chain.element = self.with_names(|compiler| {
            compiler.name(first, outer);
            compiler.name(second, inner);
            compiler.element(result.body)
        })?;
        Ok(chain)
    }

    /// `GroupBy(key)`, `GroupBy(key, element)`, `GroupBy(key, (key, group) => result)`, and both.
    fn group_by(&mut self, mut chain: Chain, call: &Call<'_>) -> Result<Chain> {
        let key = call.lambda(0)?;
        let key = self.apply(&mut chain, &key, call, Self::element)?;
        let (mut element, mut result) = (None, None);
        for index in 1..call.arguments.len() {
            let lambda = call.lambda(index)?;
            match lambda.parameters.len() {
                1 if element.is_none() && result.is_none() => element = Some(lambda),
                2 if result.is_none() => result = Some(lambda),
                _ => return Err(call.arguments[index].unsupported()),
            }
        }
        let element = match element {
            Some(element) => self.apply(&mut chain, &element, call, Self::element)?,
            None => self.bind_row(&mut chain, call.syntax)?.element(),
        };
        let mut groups = self.group(chain, key, element, call.syntax)?;
        let Some(result) = result else { return Ok(groups) };
        let [key, group] = *result.parameters else { return Err(call.syntax.unsupported()) };
        let bound = self.bind_row(&mut groups, call.syntax)?;
        let of_key = Expression::Member(Box::new(super::super::expression::Member {
            object: bound.element().expression(),
            name: "Key".into(),
            property: Some(super::super::property::Property::Key),
        }));
        let of_key = self.bind(Element::Value(of_key), &mut groups.steps, call.syntax)?;
        groups.element = self.with_names(|compiler| {
            compiler.name(key, of_key);
            compiler.name(group, bound);
            compiler.element(result.body)
        })?;
        Ok(groups)
    }

    /// What needs all rows at once.
    fn arrangement(&mut self, call: &Call<'_>) -> Result<Arrangement> {
        let wrong_count = call.wrong_count();
        let count = call.arguments.len();
        Ok(match (call.name, count) {
            ("Distinct", 0) => Arrangement::Distinct,
            ("Reverse", 0) => Arrangement::Reverse,
            ("OrderBy" | "ThenBy", 1) => Arrangement::Order(vec![(self.lambda_of_one(call, 0)?, false)]),
            ("OrderByDescending" | "ThenByDescending", 1) => {
                Arrangement::Order(vec![(self.lambda_of_one(call, 0)?, true)])
            }
            ("Skip", 1) => Arrangement::Skip(self.expression(call.arguments[0])?),
            ("Take", 1) => Arrangement::Take(self.expression(call.arguments[0])?),
            ("Concat", 1) => Arrangement::Concat(self.rows_of(call.arguments[0])?),
            ("Union", 1) => Arrangement::Union(self.rows_of(call.arguments[0])?),
            ("Intersect", 1) => Arrangement::Intersect(self.rows_of(call.arguments[0])?),
            ("Except", 1) => Arrangement::Except(self.rows_of(call.arguments[0])?),
            ("DefaultIfEmpty", 0) => {
                Arrangement::DefaultIfEmpty(Expression::Constant(super::super::expression::Constant::Null))
            }
            ("DefaultIfEmpty", 1) => Arrangement::DefaultIfEmpty(self.expression(call.arguments[0])?),
            ("Join", 4) => {
                let inner = self.rows_of(call.arguments[0])?;
                let (outer_key, inner_key) = (self.lambda_of_one(call, 1)?, self.lambda_of_one(call, 2)?);
                let (outer, inner_slot, output) = self.lambda_of_two(call, 3)?;
                Arrangement::Join { inner, outer_key, inner_key, outer, inner_slot, output }
            }
            ("Zip", 2) => {
                let other = self.rows_of(call.arguments[0])?;
                let (left, right, output) = self.lambda_of_two(call, 1)?;
                Arrangement::Zip { other, left, right, output }
            }
            _ => return Err(wrong_count),
        })
    }

    fn lambda_of_two(&mut self, call: &Call<'_>, index: usize) -> Result<(usize, usize, Expression)> {
        let lambda = call.lambda(index)?;
        let [first, second] = *lambda.parameters else { return Err(call.arguments[index].unsupported()) };
        let (left, right) = (self.new_slot(call.syntax)?, self.new_slot(call.syntax)?);
        let output = self.with_names(|compiler| {
            compiler.name(first, Bound::Slot(left));
            compiler.name(second, Bound::Slot(right));
            compiler.expression(lambda.body)
        })?;
        Ok((left, right, output))
    }

    /// The rows of an expression as a value, which may not be those of the source.
    pub(super) fn rows_of(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        let chain = self.chain(syntax)?;
        if chain.is_root { Err(syntax.unsupported()) } else { Ok(chain.expression()) }
    }

    /// `ToDictionary(key)` and `ToDictionary(key, value)`.
    pub(super) fn dictionary_of(&mut self, source: Expression, call: &Call<'_>) -> Result<Expression> {
        let key = self.lambda_of_one(call, 0)?;
        let value = match call.arguments.len() {
            1 => {
                let slot = self.new_slot(call.syntax)?;
                Lambda { slot, body: Expression::Variable(slot) }
            }
            2 => self.lambda_of_one(call, 1)?,
            _ => return Err(call.wrong_count()),
        };
        Ok(Expression::Arrange(Box::new(Arrange { source, by: Arrangement::Dictionary { key, value } })))
    }
}
