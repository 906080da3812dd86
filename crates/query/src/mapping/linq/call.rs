//! Calls: whose function it is, with which arguments.

use super::super::evaluate::{check_format, compile_pattern};
use super::super::expression::{Constant, Conversion, Expression, Lambda, Matching, Type};
use super::super::function::{Function, Owner, Signature};
use super::Compiler;
use super::scope::Bound;
use super::syntax::{Result, Syntax};
use super::types::{named, short_name};

/// A call as it is written.
pub(super) struct Call<'t> {
    pub syntax: Syntax<'t>,
    /// What the method is of; none for functions of the definition, with or without `this`.
    pub receiver: Option<Syntax<'t>>,
    pub name: &'t str,
    /// The place of the name.
    pub name_syntax: Syntax<'t>,
    pub arguments: Vec<Syntax<'t>>,
}

/// A lambda as it is written.
pub(super) struct LambdaSyntax<'t> {
    pub parameters: Vec<&'t str>,
    pub body: Syntax<'t>,
}

impl<'t> Call<'t> {
    /// The parts of an invocation.
    pub fn of(syntax: Syntax<'t>) -> Result<Call<'t>> {
        let function = syntax.part("function")?.bare();
        let mut arguments = Vec::new();
        for argument in syntax.part("arguments")?.children() {
            arguments.push(argument.children().last().copied().ok_or_else(|| argument.unsupported())?);
        }
        let (receiver, name_syntax) = match function.kind() {
            "identifier" | "generic_name" => (None, function),
            "member_access_expression" => {
                let receiver = function.part("expression")?;
                (Some(receiver).filter(|receiver| receiver.kind() != "this"), function.part("name")?)
            }
            _ => return Err(function.unsupported()),
        };
        Ok(Call { syntax, receiver, name: name_syntax.name(), name_syntax, arguments })
    }

    /// The argument at this place.
    pub fn argument(&self, index: usize) -> Result<Syntax<'t>> {
        self.arguments.get(index).copied().ok_or_else(|| self.wrong_count())
    }

    /// The lambda at this place.
    pub fn lambda(&self, index: usize) -> Result<LambdaSyntax<'t>> {
        let argument = self.argument(index)?;
        match lambda(argument)? {
            Some(lambda) => Ok(lambda),
            None => Err(argument.error(format!("'{}' needs a lambda here", self.name))),
        }
    }

    pub fn wrong_count(&self) -> super::CompileError {
        self.name_syntax.error(format!("'{}' does not take {} arguments", self.name, self.arguments.len()))
    }
}

/// The lambda that this is, perhaps behind a cast.
pub(super) fn lambda(syntax: Syntax<'_>) -> Result<Option<LambdaSyntax<'_>>> {
    let mut syntax = syntax.bare();
    while syntax.kind() == "cast_expression" {
        syntax = syntax.part("value")?.bare();
    }
    if syntax.kind() != "lambda_expression" {
        return Ok(None);
    }
    let (parameters, body) = (syntax.part("parameters")?, syntax.part("body")?);
    if body.kind() == "block" {
        return Err(body.error("A lambda with statements is not supported".to_owned()));
    }
    let parameters = match parameters.kind() {
        "implicit_parameter" => vec![parameters.name()],
        _ => {
            let parameters = parameters.children();
            parameters.into_iter().map(|parameter| parameter.field("name").map_or("", Syntax::name)).collect()
        }
    };
    Ok(Some(LambdaSyntax { parameters, body }))
}

impl Compiler {
    /// A call that is no step of a chain.
    pub(super) fn call(&mut self, call: &Call<'_>) -> Result<Expression> {
        let Some(receiver) = call.receiver else { return self.call_definition(call) };
        if let Some(class) = self.class(receiver) {
            return self.call_class(call, &class);
        }
        match call.name {
            // `MetadataFor(x).Value<string>("name")`
            "Value" if call.arguments.len() == 1 => {
                let parts = [self.expression(receiver)?, self.expression(call.arguments[0])?];
                return Ok(Expression::Index(Box::new(parts)));
            }
            "GetValueOrDefault" if call.arguments.len() == 1 => {
                let parts = [self.expression(receiver)?, self.expression(call.arguments[0])?];
                return Ok(Expression::Coalesce(Box::new(parts)));
            }
            _ => {}
        }
        let Some(signature) = Function::find(Owner::Value, call.name) else {
            return Err(call.name_syntax.error(format!("'{}' is not a known method", call.name)));
        };
        let mut arguments = vec![self.expression(receiver)?];
        self.arguments(call, &mut arguments)?;
        self.checked(call, signature, arguments)
    }

    fn arguments(&mut self, call: &Call<'_>, into: &mut Vec<Expression>) -> Result<()> {
        for argument in &call.arguments {
            into.push(self.expression(*argument)?);
        }
        Ok(())
    }

    fn call_definition(&mut self, call: &Call<'_>) -> Result<Expression> {
        match call.name {
            "Recurse" => return self.recurse(call),
            "nameof" if call.arguments.len() == 1 => {
                let name = call.arguments[0].source().rsplit('.').next().unwrap_or_default().trim();
                return Ok(Expression::Constant(Constant::Text(name.into())));
            }
            "TryConvert" => return self.try_convert(call),
            "LoadVector" => {
                let message = "Embeddings that a task generates are not supported in an index: 'LoadVector'";
                return Err(call.name_syntax.error(message.to_owned()));
            }
            _ => {}
        }
        let Some(signature) = Function::find(Owner::Definition, call.name) else {
            return Err(call.name_syntax.error(format!("'{}' is not a known function", call.name)));
        };
        let mut arguments = Vec::new();
        self.arguments(call, &mut arguments)?;
        self.checked(call, signature, arguments)
    }

    fn call_class(&mut self, call: &Call<'_>, class: &str) -> Result<Expression> {
        if let Some(conversion) = conversion(class, call.name) {
            let [argument] = *call.arguments else { return Err(call.wrong_count()) };
            return Ok(Expression::Convert(conversion, Box::new(self.expression(argument)?)));
        }
        let owner = Function::class(class);
        let Some(signature) = owner.and_then(|owner| Function::find(owner, call.name)) else {
            return Err(call.name_syntax.error(format!("'{class}.{}' is not a known function", call.name)));
        };
        let mut arguments = Vec::new();
        self.arguments(call, &mut arguments)?;
        self.checked(call, signature, arguments)
    }

    /// `TryConvert<int>(x)`
    fn try_convert(&mut self, call: &Call<'_>) -> Result<Expression> {
        let [argument] = *call.arguments else { return Err(call.wrong_count()) };
        let types = call.name_syntax.children();
        let of = types.get(1).and_then(|types| types.children().first().copied());
        let to = of.and_then(|of| named(short_name(of)));
        match to {
            Some(to @ (Type::Whole(..) | Type::Float | Type::Double | Type::Decimal)) => {
                Ok(Expression::TryConvert(to, Box::new(self.expression(argument)?)))
            }
            _ => Err(call.name_syntax.error("'TryConvert' needs a type of numbers: TryConvert<int>(x)".to_owned())),
        }
    }

    /// A call with as many arguments as the function takes.
    pub(super) fn checked(
        &mut self,
        call: &Call<'_>,
        signature: Signature,
        mut arguments: Vec<Expression>,
    ) -> Result<Expression> {
        let Signature { function, count_min, count_max } = signature;
        if self.root == super::Root::Results && is_of_the_database(function) {
            return Err(call.name_syntax.error(format!("'{}' is not allowed in a reduce", call.name)));
        }
        if !(count_min..=count_max).contains(&arguments.len()) {
            return Err(call.wrong_count());
        }
        if let (Function::Format, Some(Expression::Constant(Constant::Text(pattern)))) = (function, arguments.first()) {
            check_format(pattern, arguments.len() - 1).map_err(|error| call.syntax.error(error.to_string()))?;
        }
        self.reads_metadata |= matches!(
            function,
            Function::MetadataFor
                | Function::AsJson
                | Function::AttachmentsFor
                | Function::CounterNamesFor
                | Function::TimeSeriesNamesFor
                | Function::LoadAttachments
        );
        self.reads_compare_exchange |= function == Function::LoadCompareExchangeValue;
        if let (Some(feature), None) = (function.missing_feature(), &self.missing) {
            self.missing = Some(feature.missing_for(format!("'{}' in an index", function.name())));
        }
        self.makes.fields |= function == Function::CreateField;
        self.makes.spatial |= function == Function::CreateSpatialField;
        self.makes.vectors |= function == Function::CreateVector;
        self.makes.boosts |= function == Function::Boost;
        if function == Function::LoadDocument {
            // What an index depends on has to be known before it runs.
            match arguments.get(1) {
                Some(Expression::Constant(Constant::Text(name)))
                    if self.referenced.iter().any(|known| **known == **name) => {}
                Some(Expression::Constant(Constant::Text(name))) => self.referenced.push(name.to_string()),
                _ => {
                    return Err(call
                        .syntax
                        .error("'LoadDocument' needs the name of the collection as a text literal".to_owned()));
                }
            }
        }
        if let Some(Expression::Constant(Constant::Text(pattern))) = arguments.get(1)
            && matches!(
                function,
                Function::IsMatch
                    | Function::Match
                    | Function::Matches
                    | Function::ReplaceMatches
                    | Function::SplitMatches
            )
        {
            let pattern = compile_pattern(pattern).map_err(|error| call.arguments[1].error(error.to_string()))?;
            arguments.remove(1);
            return Ok(Expression::Matching(Box::new(Matching { function, pattern, arguments })));
        }
        Ok(Expression::Call(function, arguments))
    }

    /// `Recurse(x, y => y.Children)`
    fn recurse(&mut self, call: &Call<'_>) -> Result<Expression> {
        let start = self.expression(call.argument(0)?)?;
        let lambda = self.lambda_of_one(call, 1)?;
        Ok(Expression::Recurse(Box::new(start), Box::new(lambda)))
    }

    /// A lambda of one parameter, at this place among the arguments.
    pub(super) fn lambda_of_one(&mut self, call: &Call<'_>, index: usize) -> Result<Lambda> {
        let lambda = call.lambda(index)?;
        let [parameter] = *lambda.parameters else { return Err(call.arguments[index].unsupported()) };
        let slot = self.new_slot(call.syntax)?;
        let body = self.with_names(|compiler| {
            compiler.name(parameter, Bound::Slot(slot));
            compiler.expression(lambda.body)
        })?;
        Ok(Lambda { slot, body })
    }
}

fn is_of_the_database(function: Function) -> bool {
    matches!(
        function,
        Function::LoadDocument
            | Function::LoadDocumentUnfollowed
            | Function::LoadCompareExchangeValue
            | Function::LoadAttachment
            | Function::LoadAttachments
            | Function::AttachmentsFor
            | Function::CounterNamesFor
            | Function::TimeSeriesNamesFor
            | Function::MetadataFor
    )
}

/// `int.Parse`, `Convert.ToInt32` and their like.
fn conversion(class: &str, name: &str) -> Option<Conversion> {
    let to = match (class, name) {
        ("int" | "Int32", "Parse") | ("Convert", "ToInt32") => Type::INT,
        ("long" | "Int64", "Parse") | ("Convert", "ToInt64") => Type::LONG,
        ("short" | "Int16", "Parse") | ("Convert", "ToInt16") => Type::Whole(i16::MIN as i64, i16::MAX as i64),
        ("float" | "Single", "Parse") | ("Convert", "ToSingle") => Type::Float,
        ("double" | "Double", "Parse") | ("Convert", "ToDouble") => Type::Double,
        ("decimal" | "Decimal", "Parse") | ("Convert", "ToDecimal") => Type::Decimal,
        ("bool" | "Boolean", "Parse") | ("Convert", "ToBoolean") => Type::Bool,
        ("DateTime" | "DateTimeOffset", "Parse") | ("Convert", "ToDateTime") => Type::Date,
        ("TimeSpan", "Parse") => Type::Span,
        ("Convert", "ToString") => Type::Text,
        _ => return None,
    };
    Some(Conversion { to, is_nullable: false, parses: true })
}
