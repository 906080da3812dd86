//! `new`: objects, dictionaries, arrays, dates.

use super::super::expression::{Constant, Expression, ObjectExpression};
use super::super::function::Function;
use super::Compiler;
use super::call::Call;
use super::scope::{Element, Fields};
use super::syntax::{Result, Syntax};
use super::types::{conversion, short_name};

impl Compiler {
    /// `new { a.B, C = d }`: names stand beside values, told apart by the `=` between them.
    pub(super) fn anonymous_object(&mut self, syntax: Syntax<'_>) -> Result<Element> {
        let tokens = syntax.tokens();
        let mut fields: Fields = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let is_named = tokens.get(at + 1).is_some_and(|next| next.kind() == "=");
            let (name, value) = match (token.kind(), is_named) {
                ("new" | "{" | "}" | ",", _) => {
                    at += 1;
                    continue;
                }
                (_, true) => {
                    let Some(value) = tokens.get(at + 2) else { return Err(syntax.unsupported()) };
                    at += 3;
                    (token.name(), *value)
                }
                ("identifier", false) => {
                    at += 1;
                    (token.name(), *token)
                }
                ("member_access_expression", false) => {
                    at += 1;
                    (token.part("name")?.name(), *token)
                }
                _ => return Err(token.error(format!("The property for '{}' needs a name: 'Name = …'", token.quoted()))),
            };
            if fields.iter().any(|(known, _)| **known == *name) {
                return Err(token.error(format!("An object cannot have '{name}' twice")));
            }
            let element = self.element(value)?;
            fields.push((name.into(), element));
        }
        Ok(Element::Record(fields))
    }

    /// `new T(…)`, `new T { … }`
    pub(super) fn object_creation(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        let of = syntax.part("type")?;
        let name = short_name(of);
        let arguments = syntax.field("arguments").map(Syntax::children).unwrap_or_default();
        let initializer = syntax.field("initializer");
        if let (Some(signature), None) =
            (Function::class(name).and_then(|class| Function::find(class, "new")), initializer)
            && !arguments.is_empty()
        {
            let call = Call {
                syntax,
                receiver: None,
                name,
                name_syntax: of,
                arguments: arguments.iter().map(|argument| argument.only()).collect(),
            };
            let mut values = Vec::new();
            for argument in &call.arguments {
                values.push(self.expression(*argument)?);
            }
            return self.checked(&call, signature, values);
        }
        let is_known = Function::class(name).is_some_and(|class| Function::find(class, "new").is_some());
        match name {
            _ if is_known && initializer.is_none() => self.default_of(of),
            "string" | "String" if arguments.len() == 1 => {
                // `new string(characters)`
                let value = self.expression(arguments[0].only())?;
                Ok(Expression::Call(Function::ConcatTexts, vec![value]))
            }
            "List" | "HashSet" if arguments.len() == 1 && initializer.is_none() => self.rows_of(arguments[0].only()),
            _ if !arguments.is_empty() => {
                Err(of.error(format!("'new {}' with arguments is not supported", of.quoted())))
            }
            "List" | "HashSet" => match initializer {
                Some(initializer) => self.all(&initializer.children()).map(Expression::Array),
                None => Ok(Expression::Array(Vec::new())),
            },
            "Dictionary" | "DynamicDictionary" => {
                let mut pairs = Vec::new();
                for (name, value) in dictionary_pairs(initializer)? {
                    pairs.push([self.expression(name)?, self.expression(value)?]);
                }
                Ok(Expression::Dictionary(pairs))
            }
            _ => self.typed_object(syntax, initializer),
        }
    }

    /// `new T { A = b }`: an object like any other.
    fn typed_object(&mut self, syntax: Syntax<'_>, initializer: Option<Syntax<'_>>) -> Result<Expression> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for assignment in initializer.ok_or_else(|| syntax.unsupported())?.children() {
            if assignment.kind() != "assignment_expression" {
                return Err(assignment.unsupported());
            }
            names.push(assignment.part("left")?.name().into());
            values.push(self.expression(assignment.part("right")?)?);
        }
        Ok(Expression::Object(Box::new(ObjectExpression { names, values })))
    }

    /// The properties of a dictionary whose names are written out; none if this is no such dictionary.
    pub(super) fn constant_dictionary(&mut self, syntax: Syntax<'_>) -> Result<Option<Fields>> {
        if !matches!(short_name(syntax.part("type")?), "Dictionary" | "DynamicDictionary") {
            return Ok(None);
        }
        let pairs = dictionary_pairs(syntax.field("initializer"))?;
        if pairs
            .iter()
            .any(|(name, _)| name.bare().only().kind() != "string_literal" && name.kind() != "string_literal")
        {
            return Ok(None);
        }
        let mut fields: Fields = Vec::new();
        for (name, value) in pairs {
            let text = self.text_literal(name)?;
            if fields.iter().any(|(known, _)| **known == *text) {
                return Err(name.error(format!("An object cannot have '{text}' twice")));
            }
            let element = self.element(value)?;
            fields.push((text.into(), element));
        }
        Ok(Some(fields))
    }

    /// `new[] { … }`, `new T[] { … }`, `[…]`
    pub(super) fn array_creation(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        if syntax.kind() == "collection_expression" {
            let mut values = Vec::new();
            for element in syntax.children() {
                let element = element.only();
                match element.kind() {
                    "expression_element" => values.push(self.expression(element.only())?),
                    "spread_element" => return Err(element.unsupported()),
                    _ => values.push(self.expression(element)?),
                }
            }
            return Ok(Expression::Array(values));
        }
        let initializer = syntax.children().into_iter().find(|child| child.kind() == "initializer_expression");
        match initializer {
            Some(initializer) => self.all(&initializer.children()).map(Expression::Array),
            None if syntax.quoted().ends_with("[0]") => Ok(Expression::Array(Vec::new())),
            None => Err(syntax.unsupported()),
        }
    }

    fn all(&mut self, syntaxes: &[Syntax<'_>]) -> Result<Vec<Expression>> {
        syntaxes.iter().map(|syntax| self.expression(*syntax)).collect()
    }

    /// `default` and `default(T)`
    pub(super) fn default_value(&mut self, syntax: Syntax<'_>) -> Result<Expression> {
        match syntax.field("type") {
            Some(of) => self.default_of(of),
            None => Ok(Expression::Constant(Constant::Null)),
        }
    }

    fn default_of(&mut self, of: Syntax<'_>) -> Result<Expression> {
        let null = Box::new(Expression::Constant(Constant::Null));
        Ok(conversion(of).map_or(Expression::Constant(Constant::Null), |to| Expression::Convert(to, null)))
    }
}

/// Names and values of `{ { "a", b }, ["c"] = d }`.
fn dictionary_pairs<'t>(initializer: Option<Syntax<'t>>) -> Result<Vec<(Syntax<'t>, Syntax<'t>)>> {
    let mut pairs = Vec::new();
    for pair in initializer.map(Syntax::children).unwrap_or_default() {
        pairs.push(match pair.kind() {
            "initializer_expression" => pair.pair()?,
            "assignment_expression" => (pair.part("left")?.only().only(), pair.part("right")?),
            _ => return Err(pair.unsupported()),
        });
    }
    Ok(pairs)
}
