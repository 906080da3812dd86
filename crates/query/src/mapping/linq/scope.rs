//! Names in scope, and what a row is made of while a definition is compiled.
//!
//! Compilers of C# turn `let` into objects that carry all variables on: `.Select(x => new { x, y = … }).Select(this0 => …)`.
//! Such an object is never made here. It stays a [`Element::Record`] of expressions, its parts become variables where a parameter
//! binds them, and `this0.y` is that variable.

use super::super::expression::{Expression, ObjectExpression, SequenceStep, Slot};
use super::super::limits::{LOOP_COUNT_MAX, VARIABLE_COUNT_MAX};
use super::Compiler;
use super::syntax::{Result, Syntax};

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Slot(Slot),
    Record(Vec<(Box<str>, Bound)>),
}

/// The properties of an object that is being compiled.
pub(super) type Fields = Vec<(Box<str>, Element)>;

/// A value that is being compiled.
#[derive(Debug)]
pub(super) enum Element {
    Value(Expression),
    /// An object by its properties.
    Record(Fields),
    /// A row that counts more in scores.
    Boosted(Box<Element>, Expression),
}

/// Rows that are being compiled.
#[derive(Debug)]
pub(super) struct Chain {
    pub steps: Vec<SequenceStep>,
    pub element: Element,
    /// Whether its rows are those of the definition's source, not of a value.
    pub is_root: bool,
}

impl Element {
    /// As a value: a record becomes an object.
    pub fn expression(self) -> Expression {
        match self {
            Element::Value(expression) => expression,
            Element::Record(fields) => {
                let (names, elements): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
                let values = elements.into_iter().map(Element::expression).collect();
                Expression::Object(Box::new(ObjectExpression { names, values }))
            }
            Element::Boosted(element, boost) => {
                let arguments = vec![element.expression(), boost];
                Expression::Call(super::super::function::Function::Boost, arguments)
            }
        }
    }
}

impl Bound {
    /// What is bound, as an element again.
    pub fn element(&self) -> Element {
        match self {
            Bound::Slot(slot) => Element::Value(Expression::Variable(*slot)),
            Bound::Record(fields) => {
                Element::Record(fields.iter().map(|(name, bound)| (name.clone(), bound.element())).collect())
            }
        }
    }

    /// What a property of it is bound to.
    pub fn get(&self, name: &str) -> Option<&Bound> {
        match self {
            Bound::Slot(_) => None,
            Bound::Record(fields) => fields.iter().find(|(key, _)| **key == *name).map(|(_, bound)| bound),
        }
    }
}

impl Chain {
    /// As a value: an array, or what it came from if nothing was done with it.
    pub fn expression(mut self) -> Expression {
        let output = self.element.expression();
        if let (&[SequenceStep::Each { slot, .. }], Expression::Variable(variable)) = (&*self.steps, &output)
            && slot == *variable
            && let Some(SequenceStep::Each { source, .. }) = self.steps.pop()
        {
            return source;
        }
        let sequence = super::super::expression::Sequence { steps: self.steps, output };
        Expression::Sequence(Box::new(sequence))
    }

    /// Appends the loops of another one.
    pub fn extend(&mut self, steps: Vec<SequenceStep>, at: Syntax<'_>) -> Result<()> {
        self.steps.extend(steps);
        let loops = self.steps.iter().filter(|step| matches!(step, SequenceStep::Each { .. })).count();
        if loops > LOOP_COUNT_MAX {
            return Err(at.error(format!("Over {LOOP_COUNT_MAX} loops inside of one another are not allowed")));
        }
        Ok(())
    }
}

impl Compiler {
    /// A new variable.
    pub(super) fn new_slot(&mut self, at: Syntax<'_>) -> Result<Slot> {
        if self.slot_count == VARIABLE_COUNT_MAX {
            return Err(at.error(format!("Over {VARIABLE_COUNT_MAX} variables are not allowed")));
        }
        self.slot_count += 1;
        Ok(self.slot_count - 1)
    }

    /// Makes variables of an element: what is not one already is computed by a step.
    pub(super) fn bind(&mut self, element: Element, steps: &mut Vec<SequenceStep>, at: Syntax<'_>) -> Result<Bound> {
        match element {
            Element::Value(Expression::Variable(slot)) => Ok(Bound::Slot(slot)),
            Element::Record(fields) => {
                let mut bound = Vec::with_capacity(fields.len());
                for (name, element) in fields {
                    bound.push((name, self.bind(element, steps, at)?));
                }
                Ok(Bound::Record(bound))
            }
            element => {
                let slot = self.new_slot(at)?;
                steps.push(SequenceStep::Let { slot, value: element.expression() });
                Ok(Bound::Slot(slot))
            }
        }
    }

    /// What a name is bound to, the innermost first.
    pub(super) fn bound(&self, name: &str) -> Option<&Bound> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, bound)| bound)
    }

    /// What a name or a path through records is bound to.
    pub(super) fn bound_path(&self, syntax: Syntax<'_>) -> Option<&Bound> {
        // Paths are as deep as expressions may be; deeper ones were refused before.
        let mut names = Vec::new();
        let mut at = syntax.bare();
        while at.kind() == "member_access_expression" {
            names.push(at.field("name")?.name());
            at = at.field("expression")?.bare();
        }
        if at.kind() != "identifier" {
            return None;
        }
        let mut bound = self.bound(at.name())?;
        while let Some(name) = names.pop() {
            bound = bound.get(name)?;
        }
        Some(bound)
    }
}
