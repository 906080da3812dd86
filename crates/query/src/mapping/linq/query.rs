//! Query syntax: `from … in … from … let … where … join … group … by … into … select …`.

use super::super::expression::{Arrange, Arrangement, Constant, Expression, Lambda, Operator, Sequence, SequenceStep};

use super::Compiler;
use super::scope::{Chain, Element};
use super::syntax::{Result, Syntax};

impl Compiler {
    pub(super) fn query(&mut self, query: Syntax<'_>) -> Result<Chain> {
        self.with_names(|compiler| compiler.query_in_scope(query))
    }

    fn query_in_scope(&mut self, query: Syntax<'_>) -> Result<Chain> {
        let outer_names = self.scope.len();
        let mut clauses = query.children().into_iter();
        let Some(first) = clauses.next() else { return Err(query.unsupported()) };
        let (name, source) = from_parts(first)?;
        let mut chain = self.chain(source)?;
        let element = std::mem::replace(&mut chain.element, Element::Value(Expression::Constant(Constant::Null)));
        let bound = self.bind(element, &mut chain.steps, first)?;
        self.name(name.name(), bound);
        for clause in clauses {
            match clause.kind() {
                "from_clause" => {
                    let (name, source) = from_parts(clause)?;
                    let inner = self.chain(source)?;
                    chain.extend(inner.steps, clause)?;
                    let bound = self.bind(inner.element, &mut chain.steps, clause)?;
                    self.name(name.name(), bound);
                }
                "let_clause" => {
                    let (name, value) = clause.pair()?;
                    let element = self.element(value)?;
                    let bound = self.bind(element, &mut chain.steps, clause)?;
                    self.name(name.name(), bound);
                }
                "where_clause" => {
                    let condition = self.expression(clause.only())?;
                    chain.steps.push(SequenceStep::Where(condition));
                }
                "join_clause" => self.join(clause, &mut chain)?,
                "order_by_clause" => return Err(order_by(clause)),
                "select_clause" => chain.element = self.element(clause.only())?,
                "group_clause" => {
                    let (element, key) = clause.pair()?;
                    let (element, key) = (self.element(element)?, self.element(key)?);
                    chain = self.group(chain, key, element, clause)?;
                }
                // `into`: what was selected has a name, and all other names are gone.
                "identifier" => {
                    self.scope.truncate(outer_names);
                    let element = std::mem::replace(&mut chain.element, Element::Value(Expression::Variable(0)));
                    let bound = self.bind(element, &mut chain.steps, clause)?;
                    chain.element = bound.element();
                    self.name(clause.name(), bound);
                }
                _ => return Err(clause.unsupported()),
            }
        }
        Ok(chain)
    }

    /// A loop over the other side, with the condition that the keys are equal.
    fn join(&mut self, clause: Syntax<'_>, chain: &mut Chain) -> Result<()> {
        let mut parts = clause.children();
        if clause.field("type").is_some() {
            parts.remove(0);
        }
        let [name, source, outer_key, inner_key, ..] = *parts else { return Err(clause.unsupported()) };
        let inner = self.chain(source)?;
        let outer_key = self.expression(outer_key)?;
        if inner.is_root {
            return Err(source.unsupported());
        }
        let is_equal = |outer, inner| {
            let is_there = Expression::Binary(
                Operator::NotEqual,
                Box::new([Expression::Constant(Constant::Null), Expression::Variable(inner)]),
            );
            let is_equal = Expression::Binary(
                Operator::Equal,
                Box::new([Expression::Variable(outer), Expression::Variable(inner)]),
            );
            SequenceStep::Where(Expression::And(Box::new([is_there, is_equal])))
        };
        let outer = self.let_step(outer_key, &mut chain.steps, clause)?;
        match parts.get(4) {
            None => {
                chain.extend(inner.steps, clause)?;
                let bound = self.bind(inner.element, &mut chain.steps, clause)?;
                self.name(name.name(), bound);
                let inner_key = self.expression(inner_key)?;
                let inner_key = self.let_step(inner_key, &mut chain.steps, clause)?;
                chain.steps.push(is_equal(outer, inner_key));
            }
            Some(into) => {
                let mut steps = inner.steps;
                let bound = self.bind(inner.element, &mut steps, clause)?;
                let inner_key = self.with_names(|compiler| {
                    compiler.name(name.name(), bound.clone());
                    compiler.expression(inner_key)
                })?;
                let inner_key = self.let_step(inner_key, &mut steps, clause)?;
                steps.push(is_equal(outer, inner_key));
                let sequence = Sequence { steps, output: bound.element().expression() };
                let matches = Expression::Sequence(Box::new(sequence));
                let bound = self.bind(Element::Value(matches), &mut chain.steps, clause)?;
                self.name(into.only().name(), bound);
            }
        }
        Ok(())
    }

    /// Groups the rows of a chain: in a reduce those of the results, else those of a value.
    pub(super) fn group(&mut self, chain: Chain, key: Element, element: Element, at: Syntax<'_>) -> Result<Chain> {
        if chain.is_root {
            return self.group_results(chain, key, element, at);
        }
        let pair = Expression::Array(vec![key.expression(), element.expression()]);
        let source = Expression::Sequence(Box::new(Sequence { steps: chain.steps, output: pair }));
        let slot = self.new_slot(at)?;
        let part = |index| {
            let index = Expression::Constant(Constant::Long(index));
            Lambda { slot, body: Expression::Index(Box::new([Expression::Variable(slot), index])) }
        };
        let by = Arrangement::Group { key: part(0), element: Some(part(1)) };
        self.over(Expression::Arrange(Box::new(Arrange { source, by })), at)
    }

    /// The rows of a value.
    pub(super) fn over(&mut self, source: Expression, at: Syntax<'_>) -> Result<Chain> {
        let slot = self.new_slot(at)?;
        let element = Element::Value(Expression::Variable(slot));
        Ok(Chain { steps: vec![SequenceStep::Each { slot, source }], element, is_root: false })
    }

    fn group_results(&mut self, chain: Chain, key: Element, element: Element, at: Syntax<'_>) -> Result<Chain> {
        if self.root == super::Root::Documents {
            return Err(at.error("Grouping the documents is not supported in a map: group in a reduce".to_owned()));
        }
        if self.before.is_some() {
            return Err(at.error("Grouping twice is not supported in a reduce".to_owned()));
        }
        self.has_object_key = matches!(key, Element::Record(_));
        let (mut names, mut values) = match key {
            Element::Record(fields) => fields.into_iter().map(|(name, value)| (name, value.expression())).unzip(),
            key => {
                let key = key.expression();
                let name = match &key {
                    Expression::DocumentField(index) => self.fields.get(*index).cloned(),
                    Expression::Member(member) => Some(member.name.clone()),
                    _ => None,
                };
                // A key without a name is that of a group of all results, as `group r by 1` has it.
                (vec![name.unwrap_or_default()], vec![key])
            }
        };
        names.push(Box::default());
        values.push(element.expression());
        let fields = std::mem::take(&mut self.fields);
        self.before = Some(super::Program { steps: chain.steps, names, values, boost: None, slot_count: 0, fields });
        // The group takes the place of the result.
        Ok(Chain { steps: Vec::new(), element: Element::Value(Expression::Variable(0)), is_root: true })
    }
}

/// The name and the source of `from name in source`, whose type says nothing.
fn from_parts(clause: Syntax<'_>) -> Result<(Syntax<'_>, Syntax<'_>)> {
    let name = clause.part("name")?;
    match clause.children().last() {
        Some(source) => Ok((name, *source)),
        None => Err(clause.unsupported()),
    }
}

/// The error for an order, in the words of the reference.
pub(super) fn order_by(at: Syntax<'_>) -> super::CompileError {
    at.error(format!(
        "OrderBy calls are not valid during map or reduce phase, but the following was found:\n'{}'\n\
         OrderBy calls modify the indexing output, but doesn't actually impact the order of results returned from the \
         database.\nYou should be calling OrderBy on the QUERY, not on the index, if you want to specify ordering.",
        at.quoted()
    ))
}
