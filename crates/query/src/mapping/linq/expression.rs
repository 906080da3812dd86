//! Expressions of C#, one kind of node after the other.

use super::super::expression::{Constant, Expression, Member, Operator};
use super::super::property::Property;
use super::Compiler;
use super::call::{Call, lambda};
use super::chain::is_step;
use super::chain_call::is_fold;
use super::scope::{Bound, Element};
use super::syntax::{Result, Syntax};
use super::types::{conversion, is_any};

impl Compiler {
    /// The value of an expression.
    pub(super) fn expression(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        self.inside(syntax, |compiler| compiler.expression_inside(syntax.bare()))
    }

    fn expression_inside(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        match syntax.kind() {
            "identifier" => self.identifier(syntax),
            "member_access_expression" => self.member_access(syntax),
            "element_access_expression" => {
                let object = syntax.part("expression")?;
                let arguments = syntax.part("subscript")?;
                let [index] = *arguments.children() else { return Err(arguments.unsupported()) };
                let index = self.expression(index.only())?;
                if let Expression::Constant(Constant::Text(name)) = &index {
                    return self.member_of(object, name, None);
                }
                Ok(Expression::Index(Box::new([self.expression(object)?, index])))
            }
            "invocation_expression" => self.invocation(syntax),
            "query_expression" => {
                let chain = self.query(syntax)?;
                if chain.is_root { Err(syntax.unsupported()) } else { Ok(chain.expression()) }
            }
            "binary_expression" => self.binary(syntax),
            "prefix_unary_expression" => {
                let operator = syntax.tokens().first().map_or("", |token| token.kind());
                let operand = self.expression(syntax.only())?;
                match (operator, operand) {
                    ("!", operand) => Ok(Expression::Not(Box::new(operand))),
                    ("+", operand) => Ok(operand),
                    ("-", Expression::Constant(Constant::Long(long))) => {
                        Ok(Expression::Constant(Constant::Long(long.wrapping_neg())))
                    }
                    ("-", operand) => Ok(Expression::Negate(Box::new(operand))),
                    _ => Err(syntax.unsupported()),
                }
            }
            // `x!` says that x is not null.
            "postfix_unary_expression" if syntax.source().ends_with('!') => self.expression(syntax.only()),
            "conditional_expression" => {
                let condition = self.expression(syntax.part("condition")?)?;
                let then = self.expression(syntax.part("consequence")?)?;
                let otherwise = self.expression(syntax.part("alternative")?)?;
                Ok(Expression::Conditional(Box::new([condition, then, otherwise])))
            }
            "cast_expression" => {
                let (to, value) = (syntax.part("type")?, syntax.part("value")?);
                let value = self.expression(value)?;
                match conversion(to) {
                    Some(conversion) => Ok(Expression::Convert(conversion, Box::new(value))),
                    None if is_any(to) => Ok(value),
                    None => Err(to.error(format!("A cast to '{}' is not supported", to.quoted()))),
                }
            }
            "as_expression" => {
                let to = syntax.part("right")?;
                if is_any(to) {
                    return self.expression(syntax.part("left")?);
                }
                Err(to.error(format!("'as {}' is not supported", to.quoted())))
            }
            "is_pattern_expression" => self.is_pattern(syntax),
            "literal" => self.expression(syntax.only()),
            "anonymous_object_creation_expression" => Ok(self.element(syntax)?.expression()),
            "object_creation_expression" => self.object_creation(syntax),
            "implicit_array_creation_expression" | "array_creation_expression" | "collection_expression" => {
                self.array_creation(syntax)
            }
            "default_expression" => self.default_value(syntax),
            "interpolated_string_expression" => self.interpolated(syntax),
            "checked_expression" if syntax.source().starts_with("checked") => self.expression(syntax.only()),
            "lambda_expression" => Err(syntax.error("A lambda is not expected here".to_owned())),
            kind if kind.ends_with("literal") => self.literal(syntax),
            _ => Err(syntax.unsupported()),
        }
    }

    fn identifier(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        match self.bound(syntax.name()) {
            Some(bound) => Ok(bound.element().expression()),
            None if matches!(syntax.name(), "docs" | "results" | "timeSeries" | "counters") => {
                // Refused with what can be said of it.
                match self.root(syntax)? {
                    Some(_) | None => Err(syntax.error(format!("'{}' is not supported as a value", syntax.name()))),
                }
            }
            None => {
                let message = format!("The name '{}' does not exist in the current context", syntax.name());
                Err(syntax.error(message))
            }
        }
    }

    fn member_access(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        if let Some(bound) = self.bound_path(syntax) {
            return Ok(bound.element().expression());
        }
        let (object, name) = (syntax.part("expression")?, syntax.part("name")?);
        if object.bare().kind() == "typeof_expression" {
            return self.member_of_type(object.bare(), name);
        }
        if let Some(class) = self.class(object) {
            return self.static_member(&class, name);
        }
        if syntax.tokens().iter().any(|token| token.kind() == "->") {
            return Err(syntax.unsupported());
        }
        self.member_of(object, name.name(), Property::of(name.name()))
    }

    /// A property by its name, of the document that is mapped by its place.
    fn member_of(&mut self, object: Syntax<'_>, name: &str, property: Option<Property>) -> Result<Expression> {
        let is_input = matches!(self.bound_path(object), Some(Bound::Slot(0))) && self.before.is_none();
        self.reads_metadata |= name == "@metadata";
        if !is_input || matches!(name, "@metadata" | "Id") || (name == "Count" && property.is_some()) {
            let object = self.expression(object)?;
            return Ok(Expression::Member(Box::new(Member { object, name: name.into(), property })));
        }
        if property == Some(Property::HasValue) {
            return Err(object.error("'HasValue' of a document is not supported".to_owned()));
        }
        let known = self.fields.iter().position(|field| **field == *name);
        let index = known.unwrap_or_else(|| {
            self.fields.push(name.into());
            self.fields.len() - 1
        });
        Ok(Expression::DocumentField(index))
    }

    fn invocation(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        let call = Call::of(syntax)?;
        if self.root(syntax)?.is_some() {
            return Err(syntax.unsupported());
        }
        match self.method(Call::of(syntax)?) {
            Some((_, method)) if is_fold(method.name) => self.fold(&method),
            Some((_, method)) if is_step(method.name) => {
                let chain = self.chain(syntax)?;
                if chain.is_root { Err(syntax.unsupported()) } else { Ok(chain.expression()) }
            }
            _ => self.call(&call),
        }
    }

    fn binary(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        let (left, right) = (syntax.part("left")?, syntax.part("right")?);
        let operator = syntax.part("operator")?.source();
        let parts = Box::new([self.expression(left)?, self.expression(right)?]);
        let operator = match operator {
            "&&" => return Ok(Expression::And(parts)),
            "||" => return Ok(Expression::Or(parts)),
            "??" => return Ok(Expression::Coalesce(parts)),
            "+" => Operator::Add,
            "-" => Operator::Subtract,
            "*" => Operator::Multiply,
            "/" => Operator::Divide,
            "%" => Operator::Remainder,
            "&" => Operator::BitAnd,
            "|" => Operator::BitOr,
            "^" => Operator::BitXor,
            "<<" => Operator::ShiftLeft,
            ">>" => Operator::ShiftRight,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            _ => return Err(syntax.unsupported()),
        };
        Ok(Expression::Binary(operator, parts))
    }

    /// `x is null`, `x is not null`, `x is 5`
    fn is_pattern(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        let value = self.expression(syntax.part("expression")?)?;
        let mut pattern = syntax.part("pattern")?;
        let mut operator = Operator::Equal;
        if pattern.kind() == "negated_pattern" {
            operator = Operator::NotEqual;
            pattern = pattern.only();
        }
        if pattern.kind() != "constant_pattern" {
            return Err(pattern.unsupported());
        }
        let Expression::Constant(constant) = self.expression(pattern.only())? else {
            return Err(pattern.unsupported());
        };
        Ok(Expression::Binary(operator, Box::new([value, Expression::Constant(constant)])))
    }

    /// An expression that may stay an object of expressions.
    pub(super) fn element(&mut self, syntax: Syntax<'_>) -> Result<Element> {
        self.inside(syntax, |compiler| compiler.element_inside(syntax.bare()))
    }

    fn element_inside(&mut self, syntax: Syntax<'_>) -> Result<Element> {
        if let Some(bound) = self.bound_path(syntax) {
            return Ok(bound.element());
        }
        match syntax.kind() {
            "anonymous_object_creation_expression" => self.anonymous_object(syntax),
            "object_creation_expression" => {
                if let Some(fields) = self.constant_dictionary(syntax)? {
                    return Ok(Element::Record(fields));
                }
                Ok(Element::Value(self.expression(syntax)?))
            }
            "invocation_expression" => {
                let call = Call::of(syntax)?;
                if let (Some(receiver), "Boost", [boost]) = (call.receiver, call.name, &*call.arguments)
                    && lambda(*boost)?.is_none()
                    && receiver.bare().kind() == "anonymous_object_creation_expression"
                {
                    let element = self.element(receiver)?;
                    let boost = self.expression(*boost)?;
                    self.makes.boosts = true;
                    return Ok(Element::Boosted(Box::new(element), boost));
                }
                Ok(Element::Value(self.expression(syntax)?))
            }
            _ => Ok(Element::Value(self.expression(syntax)?)),
        }
    }
}
