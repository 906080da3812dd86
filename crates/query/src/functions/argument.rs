//! Arguments of a function: what signatures and errors call them, and how many there may be.

/// An argument of a function.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name in signatures.
    pub name: &'static str,
    /// What it must be.
    pub kind: Kind,
    /// Whether it may be left out, with all behind it.
    pub is_optional: bool,
}

/// What an argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole condition.
    Condition,
    /// Two or more conditions.
    Conditions,
    /// A path in the document, or a field of the index.
    Field,
    /// A text, or a parameter that holds one.
    Text,
    /// One text, or an array of them.
    Texts,
    /// A number.
    Number,
    /// A whole number.
    WholeNumber,
    /// A number from 0 to below 1.
    Similarity,
    /// `field = text`
    Equality,
    /// A call of `search()`.
    Search,
    /// `and` or `or`
    Operator,
    /// A document's JSON, or a condition.
    Base,
    /// An object of options, or its text.
    Options,
    /// The id of a document.
    Id,
    /// The alias of the query.
    Alias,
    /// The name of a sorter.
    Sorter,
    /// `spatial.point(..)`, `spatial.wkt(..)`, or a field of an index.
    Places,
    /// `spatial.circle(..)`, `spatial.wkt(..)` or `spatial.point(..)`.
    Shape,
    /// `'Kilometers'` or `'Miles'`
    Units,
    /// A field, or `embedding.*(field)`.
    VectorField,
    /// An array of numbers, its bytes in base64, several of these, or `embedding.forDoc(id)`.
    Vector,
    /// A field, comparisons of a field, or `id(document)`.
    FacetBy,
    /// `sum(field)` and other aggregations, and an object of options.
    Aggregations,
    /// Anything: the function is not supported yet.
    Any,
}

impl Argument {
    /// An argument that must be given.
    pub(super) const fn required(name: &'static str, kind: Kind) -> Argument {
        Argument { name, kind, is_optional: false }
    }

    /// An argument that may be left out.
    pub(super) const fn optional(name: &'static str, kind: Kind) -> Argument {
        Argument { name, kind, is_optional: true }
    }
}

impl Kind {
    /// What errors call it.
    fn phrase(self) -> &'static str {
        match self {
            Kind::Condition => "a condition",
            Kind::Conditions => "at least two conditions",
            Kind::Field => "a field",
            Kind::Text => "a text",
            Kind::Texts => "a term or several",
            Kind::Number => "a number",
            Kind::WholeNumber => "a whole number from 0 on",
            Kind::Similarity => "a number from 0 to below 1",
            Kind::Equality => "a field that equals a text",
            Kind::Search => "search() of several words",
            Kind::Operator => "'and' or 'or'",
            Kind::Base => "a document or a condition",
            Kind::Options => "options",
            Kind::Id => "the id of a document",
            Kind::Alias => "the alias of the query",
            Kind::Sorter => "the name of a sorter",
            Kind::Places => "a field of places",
            Kind::Shape => "a shape",
            Kind::Units => "'Kilometers' or 'Miles'",
            Kind::VectorField => "a field of vectors",
            Kind::Vector => "a vector",
            Kind::FacetBy => "a field or ranges of it",
            Kind::Aggregations => "aggregations",
            Kind::Any => "a value",
        }
    }

    /// Whether a name in its place is a field.
    pub(crate) fn is_field(self) -> bool {
        match self {
            Kind::Condition
            | Kind::Conditions
            | Kind::Field
            | Kind::Equality
            | Kind::Base
            | Kind::Places
            | Kind::VectorField
            | Kind::FacetBy
            | Kind::Aggregations => true,
            Kind::Text
            | Kind::Texts
            | Kind::Number
            | Kind::WholeNumber
            | Kind::Similarity
            | Kind::Search
            | Kind::Operator
            | Kind::Options
            | Kind::Id
            | Kind::Alias
            | Kind::Sorter
            | Kind::Shape
            | Kind::Units
            | Kind::Vector
            | Kind::Any => false,
        }
    }
}

/// `field, text[, operator]`
pub(super) fn signature(arguments: &[Argument]) -> String {
    let mut text = String::new();
    for (at, argument) in arguments.iter().enumerate() {
        text.push_str(if argument.is_optional { "[" } else { "" });
        text.push_str(if at > 0 { ", " } else { "" });
        text.push_str(argument.name);
    }
    let count = arguments.iter().filter(|argument| argument.is_optional).count();
    text.push_str(&"]".repeat(count));
    text
}

/// `a field, a text and perhaps 'and' or 'or'`
pub(super) fn needs(arguments: &[Argument]) -> String {
    let count = arguments.len();
    let may_be_none = arguments.iter().all(|argument| argument.is_optional);
    let mut text = if may_be_none { "no arguments".to_owned() } else { String::new() };
    for (at, Argument { kind, is_optional, .. }) in arguments.iter().enumerate() {
        text.push_str(match (at, at + 1 == count) {
            (0, _) if may_be_none => " or ",
            (0, _) => "",
            (_, true) => " and ",
            (_, false) => ", ",
        });
        text.push_str(if *is_optional && !(may_be_none && at == 0) { "perhaps " } else { "" });
        text.push_str(kind.phrase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Argument = Argument::required("field", Kind::Field);
    const TEXT: Argument = Argument::required("text", Kind::Text);
    const OPERATOR: Argument = Argument::optional("operator", Kind::Operator);

    #[test]
    fn signatures_have_optional_arguments_in_brackets() {
        let options = Argument::optional("options", Kind::Options);
        assert_eq!(signature(&[FIELD, TEXT, OPERATOR, options]), "field, text[, operator[, options]]");
        assert_eq!(signature(&[OPERATOR]), "[operator]");
        assert_eq!(signature(&[]), "");
    }

    #[test]
    fn errors_name_what_is_needed() {
        assert_eq!(needs(&[FIELD, TEXT]), "a field and a text");
        assert_eq!(needs(&[FIELD, TEXT, OPERATOR]), "a field, a text and perhaps 'and' or 'or'");
        assert_eq!(needs(&[]), "no arguments");
        assert_eq!(needs(&[Argument::optional("seed", Kind::Text)]), "no arguments or a text");
    }
}
