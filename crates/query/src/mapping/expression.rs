//! Expressions: what a definition is compiled to, whatever language it was written in.
//!
//! Names are resolved before: a variable is a slot of the frame, a function an enum, a property of the document that is mapped a
//! place in [`Program::fields`], all of which are found in one pass over the document. Null spreads: a member, an element,
//! a sum of what is not there is not there.

use super::date::{DateTime, TimeSpan};
use super::function::Function;
use super::property::Property;
use regex::Regex;
use rust_decimal::Decimal;

/// A variable's place in the frame.
pub(crate) type Slot = usize;

/// What is computed for one document or group: steps that give any number of rows, and an object for each row.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub steps: Vec<SequenceStep>,
    /// The names of the object's properties.
    pub names: Vec<Box<str>>,
    /// Their values, as many.
    pub values: Vec<Expression>,
    /// How much more each row counts in scores.
    pub boost: Option<Expression>,
    /// Variables, that of the document or group included, which is the first.
    pub slot_count: usize,
    /// Names of the properties of the document that the expressions read: [`Expression::DocumentField`].
    pub fields: Vec<Box<str>>,
}

/// Rows: nested loops with conditions and variables between them, and a value for each row. But for the one of a [`Program`],
/// it begins with [`SequenceStep::Each`].
#[derive(Debug)]
pub(crate) struct Sequence {
    pub steps: Vec<SequenceStep>,
    pub output: Expression,
}

/// One step of a [`Sequence`].
#[derive(Debug)]
pub(crate) enum SequenceStep {
    /// For each element of `source`.
    Each { slot: Slot, source: Expression },
    /// A variable.
    Let { slot: Slot, value: Expression },
    /// Goes on only if this is true.
    Where(Expression),
}

/// A function of one element.
#[derive(Debug)]
pub(crate) struct Lambda {
    pub slot: Slot,
    pub body: Expression,
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expression {
    Constant(Constant),
    Variable(Slot),
    /// A property of the document that is mapped, by its place in [`Program::fields`].
    DocumentField(usize),
    Member(Box<Member>),
    /// An element by its number, a property by its name, a character.
    Index(Box<[Expression; 2]>),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    /// The first, unless it is null.
    Coalesce(Box<[Expression; 2]>),
    /// Condition, then, else.
    Conditional(Box<[Expression; 3]>),
    Convert(Conversion, Box<Expression>),
    /// `TryConvert<T>(x)`: missing where a cast or `Parse` would fail.
    TryConvert(Type, Box<Expression>),
    Object(Box<ObjectExpression>),
    /// An object with names that are computed.
    Dictionary(Vec<[Expression; 2]>),
    Array(Vec<Expression>),
    Call(Function, Vec<Expression>),
    /// A call of a function of regular expressions whose pattern was compiled with the definition.
    Matching(Box<Matching>),
    /// An array of what the rows give.
    Sequence(Box<Sequence>),
    /// One value made of what the rows give.
    Fold(Fold, Box<Sequence>),
    Arrange(Box<Arrange>),
    /// A value, and again and again what the lambda gives for it.
    Recurse(Box<Expression>, Box<Lambda>),
}

#[derive(Debug)]
pub(crate) struct Member {
    pub object: Expression,
    pub name: Box<str>,
    /// What the name means for a value that is no object.
    pub property: Option<Property>,
}

/// As many names as values.
#[derive(Debug)]
pub(crate) struct ObjectExpression {
    pub names: Vec<Box<str>>,
    pub values: Vec<Expression>,
}

#[derive(Debug)]
pub(crate) struct Matching {
    pub function: Function,
    pub pattern: Regex,
    /// The text, and what else the function takes but the pattern.
    pub arguments: Vec<Expression>,
}

/// A value that is written in the definition.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Long(i64),
    Double(f64),
    Decimal(Decimal),
    Text(Box<str>),
    Date(DateTime),
    Span(TimeSpan),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
            Operator::BitAnd => "&",
            Operator::BitOr => "|",
            Operator::BitXor => "^",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }
}

/// A change of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub to: Type,
    /// Null stays null; else it becomes the type's zero.
    pub is_nullable: bool,
    /// Texts are read, as `int.Parse` does; a cast of one is an error.
    pub parses: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    /// Whole numbers from the first to the second.
    Whole(i64, i64),
    Float,
    Double,
    Decimal,
    Text,
    Date,
    Span,
}

impl Type {
    pub const INT: Type = Type::Whole(i32::MIN as i64, i32::MAX as i64);
    pub const LONG: Type = Type::Whole(i64::MIN, i64::MAX);

    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::LONG => "long",
            Type::Whole(..) => "int",
            Type::Float => "float",
            Type::Double => "double",
            Type::Decimal => "decimal",
            Type::Text => "string",
            Type::Date => "DateTime",
            Type::Span => "TimeSpan",
        }
    }
}

/// What is made of all rows of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// In the type of what is summed if it was cast to one; else in decimals, as the reference does with numbers of documents.
    Sum {
        is_typed: bool,
    },
    Min,
    Max,
    /// Likewise. Nulls count unless there was a cast.
    Average {
        is_typed: bool,
    },
    Count,
    /// Whether there is one; the conditions stand in the steps.
    Any,
    /// Whether what is given is true for all.
    All,
    First,
    FirstOrDefault,
    Last,
    LastOrDefault,
    Single,
    SingleOrDefault,
}

/// What needs all elements before it gives the first.
#[derive(Debug)]
pub(crate) struct Arrange {
    pub source: Expression,
    pub by: Arrangement,
}

#[derive(Debug)]
pub(crate) enum Arrangement {
    Distinct,
    Reverse,
    /// By keys, each with whether it falls.
    Order(Vec<(Lambda, bool)>),
    /// Without the first elements; the expression is their number.
    Skip(Expression),
    /// The first elements; the expression is their maximum number.
    Take(Expression),
    /// Followed by these.
    Concat(Expression),
    /// Followed by these, each once.
    Union(Expression),
    /// Those that are also among these, each once.
    Intersect(Expression),
    /// Those that are not among these, each once.
    Except(Expression),
    /// These, if there are none.
    DefaultIfEmpty(Expression),
    /// Groups of the elements with one key.
    Group {
        key: Lambda,
        element: Option<Lambda>,
    },
    /// An object with a property for each.
    Dictionary {
        key: Lambda,
        value: Lambda,
    },
    /// Rows of two sequences with equal keys; `output` is of both variables.
    Join {
        inner: Expression,
        outer_key: Lambda,
        inner_key: Lambda,
        outer: Slot,
        inner_slot: Slot,
        output: Expression,
    },
    /// Pairs by position.
    Zip {
        other: Expression,
        left: Slot,
        right: Slot,
        output: Expression,
    },
}
