//! The syntax tree of a query: fields, values, calls and conditions.
//!
//! Conditions joined by `and` are one node with any number of operands, so that the depth of a tree is that of the
//! parentheses in its text, which is bounded, and not the count of its conditions. The same holds for `or`.

use super::span::Span;
use std::borrow::Cow;

/// A condition, or an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression<'q> {
    /// A field of the document.
    Field(Path<'q>),
    /// A literal or parameter. As a condition it is `true`.
    Value(Value<'q>),
    /// A function and its arguments.
    Call(Call<'q>),
    /// `a = b` and its like.
    Compare(Box<Comparison<'q>>),
    /// `a between b and c`
    Between(Box<Between<'q>>),
    /// `a in (b, c)`, `a all in (b, c)`
    In(Box<In<'q>>),
    /// `not a`; stands only behind the first operand of `and` or `or`.
    Not(Box<Expression<'q>>),
    /// At least two operands.
    And(Vec<Expression<'q>>),
    /// At least two operands.
    Or(Vec<Expression<'q>>),
}

/// A comparison by an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison<'q> {
    /// A field or call.
    pub left: Expression<'q>,
    /// How they are compared.
    pub operator: Operator,
    /// A value, field or call.
    pub right: Expression<'q>,
}

/// How two operands are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `=`, also written `==`
    Equal,
    /// `!=`, also written `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A range, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between<'q> {
    /// A field or call.
    pub operand: Expression<'q>,
    /// A value or call.
    pub low: Expression<'q>,
    /// A value or call.
    pub high: Expression<'q>,
}

/// A choice of values. A parameter among them may hold an array, which counts as its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct In<'q> {
    /// A field or call.
    pub operand: Expression<'q>,
    /// `all in`: a field with several values has all of these.
    pub is_all: bool,
    /// None of them: nothing is found.
    pub values: Vec<Value<'q>>,
}

/// A function and its arguments, parsed by shape: whether there is such a function, the planner knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'q> {
    /// As written, with its dots: `spatial.within`. Functions of RavenDB are known in any case.
    pub name: Cow<'q, str>,
    /// A string is a value here, not a field.
    pub arguments: Vec<Expression<'q>>,
    /// What is taken of the result: `cmpxchg('a').Name`.
    pub member: Option<Box<Path<'q>>>,
    /// The name of its result, which only calls among the arguments of `facet(..)` have: `sum(Total) as Worth`.
    pub alias: Option<Cow<'q, str>>,
    /// From the name to the end.
    pub span: Span,
}

/// A field: `Name`, `u.Address.City`, `Lines[].Product`, `'@metadata'.'@id'`. May begin with an alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path<'q> {
    /// What it begins with.
    pub first: Name<'q>,
    /// What follows.
    pub rest: Vec<Segment<'q>>,
    /// Where it stands.
    pub span: Span,
}

/// A name in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name<'q> {
    /// Without quotes. Quoted names may have any characters, also dots and brackets.
    pub text: Cow<'q, str>,
    /// Whether it was in quotes, as the names of auto indexes show.
    pub is_quoted: bool,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment<'q> {
    /// `.name`
    Name(Name<'q>),
    /// `[]`: each element of an array.
    Elements,
    /// `[3]`: one element, its number as written.
    Element(&'q str),
    /// `.$Keys`: each name of a dictionary.
    Keys,
    /// `.$Values`: each value of a dictionary.
    Values,
}

/// A literal or parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<'q> {
    /// What it is.
    pub kind: ValueKind<'q>,
    /// Where it stands.
    pub span: Span,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueKind<'q> {
    /// A string, without quotes and escapes.
    Text(Cow<'q, str>),
    /// A number as written, but without `_`; may be beyond the range of any type.
    Number(Cow<'q, str>),
    /// `true` or `false`
    Boolean(bool),
    /// `null`
    Null,
    /// `$name`, without the `$`.
    Parameter(&'q str),
}

impl Expression<'_> {
    /// Where it stands; parentheses around it do not count.
    pub fn span(&self) -> Span {
        match self {
            Expression::Field(path) => path.span,
            Expression::Value(value) => value.span,
            Expression::Call(call) => call.span,
            Expression::Compare(comparison) => comparison.left.span().to(comparison.right.span()),
            Expression::Between(between) => between.operand.span().to(between.high.span()),
            Expression::In(choice) => {
                let operand = choice.operand.span();
                choice.values.last().map_or(operand, |last| operand.to(last.span))
            }
            Expression::Not(operand) => operand.span(),
            Expression::And(operands) | Expression::Or(operands) => match operands.as_slice() {
                [first, .., last] => first.span().to(last.span()),
                _ => Span::default(),
            },
        }
    }
}

impl Path<'_> {
    /// The path as one text, without quotes: `Lines[].Product`.
    pub fn text(&self) -> Cow<'_, str> {
        if self.rest.is_empty() {
            return Cow::Borrowed(&self.first.text);
        }
        let mut text = self.first.text.to_string();
        for segment in &self.rest {
            match segment {
                Segment::Name(name) => {
                    text.push('.');
                    text.push_str(&name.text);
                }
                Segment::Elements => text.push_str("[]"),
                Segment::Element(number) => {
                    text.push('[');
                    text.push_str(number);
                    text.push(']');
                }
                Segment::Keys => text.push_str(".$Keys"),
                Segment::Values => text.push_str(".$Values"),
            }
        }
        Cow::Owned(text)
    }
}

impl Operator {
    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }
}
