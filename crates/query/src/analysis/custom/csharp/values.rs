//! The expressions of an analyzer in C#: tokenizers, filters, analyzers, and sets of words.

use super::super::{Chain, Filter, StopWords, Tokenizer};
use crate::csharp::{Class, type_name};
use crate::mapping::limits::{EXPRESSION_COUNT_MAX, EXPRESSION_DEPTH_MAX};
use crate::mapping::{CompileError, Constant, Syntax, constant};
use documents::Feature;
use std::sync::Arc;

type Result<T> = std::result::Result<T, CompileError>;

/// What an error says that is served.
const SERVED: &str = "A class is served that derives from Analyzer, StandardAnalyzer or KeywordAnalyzer and whose TokenStream returns \
    one of StandardTokenizer, WhitespaceTokenizer, LetterTokenizer, LowerCaseTokenizer and KeywordTokenizer, within any of \
    StandardFilter, LowerCaseFilter, StopFilter, ASCIIFoldingFilter, LengthFilter and PorterStemFilter";

/// Types of Lucene.Net that are not served, or not as they are used.
const NOT_SERVED: [&str; 21] = [
    "BaseCharFilter",
    "CachingTokenFilter",
    "CharArraySet",
    "CharFilter",
    "CharReader",
    "CharTokenizer",
    "ISOLatin1AccentFilter",
    "MappingCharFilter",
    "NormalizeCharMap",
    "NumericTokenStream",
    "PerFieldAnalyzerWrapper",
    "PorterStemmer",
    "SimpleAnalyzer",
    "StopAnalyzer",
    "TeeSinkTokenFilter",
    "TokenFilter",
    "TokenStream",
    "Tokenizer",
    "WhitespaceAnalyzer",
    "WordlistLoader",
    "Dictionary",
];

/// Types that are served, with other arguments or in other places than these.
const SERVED_OTHERWISE: [&str; 18] = [
    "Analyzer",
    "StandardAnalyzer",
    "KeywordAnalyzer",
    "StandardTokenizer",
    "WhitespaceTokenizer",
    "LetterTokenizer",
    "LowerCaseTokenizer",
    "KeywordTokenizer",
    "StandardFilter",
    "LowerCaseFilter",
    "StopFilter",
    "ASCIIFoldingFilter",
    "LengthFilter",
    "PorterStemFilter",
    "HashSet",
    "SortedSet",
    "List",
    "LinkedList",
];

/// The error that a form is not served.
///
/// * `analyzer`: its name.
pub(super) fn not_served(analyzer: &str, at: Syntax<'_>) -> CompileError {
    let line = at.error(String::new()).line;
    let subject = format!("'{}' in line {line} of the analyzer '{analyzer}' ({SERVED})", at.quoted());
    at.lacks(Feature::CustomAnalyzers.missing_for(subject), "This is not served")
}

/// The error that a type cannot be used, or is not there.
pub(super) fn unknown_type(analyzer: &str, classes: &[Class<'_>], written: Syntax<'_>) -> CompileError {
    let name = type_name(written);
    let is_known = NOT_SERVED.contains(&name) || SERVED_OTHERWISE.contains(&name);
    let is_declared = || {
        let is_nested = |class: &Class<'_>| {
            class.members().iter().any(|member| member.field("name").is_some_and(|declared| declared.name() == name))
        };
        classes.iter().any(|class| class.name == name || is_nested(class))
    };
    if is_known || is_declared() {
        return not_served(analyzer, written);
    }
    written.error(format!(
        "The type or namespace name '{name}' could not be found (are you missing a using directive or an assembly reference?)"
    ))
}

/// What an expression is.
#[derive(Clone)]
pub(super) enum Value {
    /// A tokenizer with its filters.
    Stream(Chain),
    /// An analyzer that makes such ones.
    Analyzer(Chain),
    /// A set, a list or an array of texts.
    Words(Words),
    /// The text, as the method has it.
    Reader,
    /// The name of the field, as the method has it.
    FieldName,
    /// A version of Lucene whose analyzers are these.
    Version,
    Bool(bool),
    Number(i64),
    Text(String),
}

/// Texts in a collection.
#[derive(Clone)]
pub(super) struct Words {
    pub words: Arc<StopWords>,
    /// Whether the collection itself says if case counts.
    knows_case: bool,
}

impl Value {
    /// The stream that it is.
    pub fn stream(self) -> Option<Chain> {
        match self {
            Value::Stream(chain) => Some(chain),
            _ => None,
        }
    }
}

/// A field of the class; `None`: it has no initial value.
struct Field<'f> {
    name: &'f str,
    initial: Option<Syntax<'f>>,
}

/// The values of one analyzer's expressions.
pub(super) struct Evaluation<'f> {
    analyzer: &'f str,
    class: &'f str,
    classes: Vec<Class<'f>>,
    /// What the base makes.
    base: Option<Chain>,
    fields: Vec<Field<'f>>,
    /// Parameters and local variables; `None`: not assigned yet.
    variables: Vec<(&'f str, Option<Value>)>,
    depth: usize,
    count: usize,
}

impl<'f> Evaluation<'f> {
    pub fn new(analyzer: &'f str, class: &Class<'f>, classes: Vec<Class<'f>>) -> Evaluation<'f> {
        Evaluation {
            analyzer,
            class: class.name,
            classes,
            base: None,
            fields: Vec::new(),
            variables: Vec::new(),
            depth: 0,
            count: 0,
        }
    }

    pub fn not_served(&self, at: Syntax<'_>) -> CompileError {
        not_served(self.analyzer, at)
    }

    pub fn set_base(&mut self, base: Option<Chain>) {
        self.base = base;
    }

    /// Adds the variables of a declaration in the class.
    pub fn add_fields(&mut self, declaration: Syntax<'f>) -> Result<()> {
        for (name, initial) in self.declarators(declaration)? {
            self.fields.push(Field { name, initial });
        }
        Ok(())
    }

    /// Adds the parameters of `TokenStream`.
    pub fn add_parameters(&mut self, field_name: Syntax<'f>, reader: Syntax<'f>) -> Result<()> {
        for (parameter, value) in [(field_name, Value::FieldName), (reader, Value::Reader)] {
            let name = parameter.field("name").map(Syntax::name).ok_or_else(|| self.not_served(parameter))?;
            self.variables.push((name, Some(value)));
        }
        Ok(())
    }

    /// `var a = .., b = ..;`
    pub fn declare(&mut self, statement: Syntax<'f>) -> Result<()> {
        if statement.tokens().iter().any(|token| matches!(token.kind(), "using" | "await")) {
            return Err(self.not_served(statement));
        }
        for (name, initial) in self.declarators(statement)? {
            let value = initial.map(|initial| self.value(initial)).transpose()?;
            self.variables.push((name, value));
        }
        Ok(())
    }

    /// `a = ..;`
    pub fn assign(&mut self, statement: Syntax<'f>) -> Result<()> {
        let not_served = self.not_served(statement);
        let assignment = statement.only();
        let parts = ["left", "operator", "right"].map(|part| assignment.field(part));
        let [Some(left), Some(operator), Some(right)] = parts else { return Err(not_served) };
        if assignment.kind() != "assignment_expression" || operator.source() != "=" || left.kind() != "identifier" {
            return Err(not_served);
        }
        let value = self.value(right)?;
        match self.variables.iter_mut().rev().find(|(name, _)| *name == left.name()) {
            Some((_, variable)) => {
                *variable = Some(value);
                Ok(())
            }
            None => Err(not_served),
        }
    }

    /// Names and initial values of the variables of a declaration.
    fn declarators(&self, declaration: Syntax<'f>) -> Result<Vec<(&'f str, Option<Syntax<'f>>)>> {
        let of_kind = |kind| declaration.children().into_iter().find(move |part: &Syntax<'_>| part.kind() == kind);
        let Some(list) = of_kind("variable_declaration") else { return Err(self.not_served(declaration)) };
        let declarators = list.children().into_iter().filter(|part| part.kind() == "variable_declarator");
        declarators
            .map(|declarator| match (declarator.field("name"), &*declarator.children()) {
                (Some(name), [_]) => Ok((name.name(), None)),
                (Some(name), [_, initial]) => Ok((name.name(), Some(*initial))),
                _ => Err(self.not_served(declarator)),
            })
            .collect()
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: Syntax<'f>) -> Result<Value> {
        self.count += 1;
        if self.depth >= EXPRESSION_DEPTH_MAX || self.count > EXPRESSION_COUNT_MAX {
            let message = format!(
                "Over {EXPRESSION_COUNT_MAX} expressions, or over {EXPRESSION_DEPTH_MAX} inside of one another, are not allowed"
            );
            return Err(expression.error(message));
        }
        self.depth += 1;
        let value = self.bare_value(expression.bare());
        self.depth -= 1;
        value
    }

    fn bare_value(&mut self, expression: Syntax<'f>) -> Result<Value> {
        match expression.kind() {
            "identifier" => self.variable(expression),
            "member_access_expression" => self.member(expression),
            "object_creation_expression" => self.creation(expression),
            "invocation_expression" => self.call(expression),
            "array_creation_expression" | "implicit_array_creation_expression" => {
                let elements = expression.children().into_iter().find(|part| part.kind() == "initializer_expression");
                let elements = elements.ok_or_else(|| self.not_served(expression))?;
                let words = self.texts(elements, Vec::new())?;
                Ok(Value::Words(Words { words: Arc::new(StopWords::new(words, false)), knows_case: false }))
            }
            "boolean_literal" | "integer_literal" | "string_literal" | "verbatim_string_literal" => {
                match constant(expression)? {
                    Constant::Bool(value) => Ok(Value::Bool(value)),
                    Constant::Long(value) => Ok(Value::Number(value)),
                    Constant::Text(value) => Ok(Value::Text(value.into())),
                    _ => Err(self.not_served(expression)),
                }
            }
            _ => Err(self.not_served(expression)),
        }
    }

    fn variable(&mut self, name: Syntax<'f>) -> Result<Value> {
        let wanted = name.name();
        if let Some((_, value)) = self.variables.iter().rev().find(|(known, _)| *known == wanted) {
            return value.clone().ok_or_else(|| name.error(format!("Use of unassigned local variable '{wanted}'")));
        }
        match self.fields.iter().find(|field| field.name == wanted).map(|field| field.initial) {
            Some(Some(initial)) => self.value(initial),
            Some(None) => Err(self.not_served(name)),
            None => Err(name.error(format!("The name '{wanted}' does not exist in the current context"))),
        }
    }

    fn member(&mut self, access: Syntax<'f>) -> Result<Value> {
        let (Some(of), Some(name)) = (access.field("expression"), access.field("name")) else {
            return Err(self.not_served(access));
        };
        let owner = of.source().rsplit('.').next().unwrap_or_default().trim();
        match (owner, name.name()) {
            ("Version", "LUCENE_29" | "LUCENE_30" | "LUCENE_CURRENT") => Ok(Value::Version),
            ("StopAnalyzer", "ENGLISH_STOP_WORDS_SET") | ("StandardAnalyzer", "STOP_WORDS_SET") => {
                Ok(Value::Words(Words { words: Arc::new(StopWords::english()), knows_case: true }))
            }
            (owner, _) if owner == "this" || owner == self.class => self.variable(name),
            _ => Err(self.not_served(access)),
        }
    }

    /// The values of arguments.
    pub fn arguments(&mut self, list: Syntax<'f>) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for argument in list.children() {
            match (&*argument.children(), argument.tokens().len()) {
                ([expression], 1) => values.push(self.value(*expression)?),
                // `this` and `base` are no named children.
                _ => return Err(self.not_served(argument)),
            }
        }
        Ok(values)
    }

    fn creation(&mut self, creation: Syntax<'f>) -> Result<Value> {
        let Some(written) = creation.field("type") else { return Err(self.not_served(creation)) };
        let name = type_name(written);
        let arguments = match creation.field("arguments") {
            Some(list) => self.arguments(list)?,
            None => Vec::new(),
        };
        let initializer = creation.field("initializer");
        if matches!(name, "HashSet" | "SortedSet" | "List" | "LinkedList") {
            let known = match &*arguments {
                [] => Vec::new(),
                [Value::Words(known)] => known.words.words.iter().cloned().collect(),
                _ => return Err(self.not_served(creation)),
            };
            let words = match initializer {
                Some(initializer) => self.texts(initializer, known)?,
                None => known,
            };
            return Ok(Value::Words(Words { words: Arc::new(StopWords::new(words, false)), knows_case: false }));
        }
        if let Some(initializer) = initializer {
            return Err(self.not_served(initializer));
        }
        match created(name, &arguments) {
            Some(value) => Ok(value),
            None if name == "CharArraySet" || SERVED_OTHERWISE.contains(&name) => Err(self.not_served(creation)),
            None => Err(unknown_type(self.analyzer, &self.classes, written)),
        }
    }

    /// The texts between braces.
    fn texts(&mut self, initializer: Syntax<'f>, mut texts: Vec<String>) -> Result<Vec<String>> {
        for element in initializer.children() {
            match self.value(element)? {
                Value::Text(text) => texts.push(text),
                _ => return Err(self.not_served(element)),
            }
        }
        Ok(texts)
    }

    fn call(&mut self, call: Syntax<'f>) -> Result<Value> {
        let not_served = self.not_served(call);
        let (Some(function), Some(list)) = (call.field("function"), call.field("arguments")) else {
            return Err(not_served);
        };
        let (Some(of), Some(name)) = (function.field("expression"), function.field("name")) else {
            return Err(not_served);
        };
        let arguments = self.arguments(list)?;
        let is_stream = matches!(name.name(), "TokenStream" | "ReusableTokenStream");
        if is_stream && matches!(&*arguments, [Value::FieldName | Value::Text(_), Value::Reader]) {
            if of.kind() == "base" {
                let message = "Cannot call an abstract base member: 'Analyzer.TokenStream(string, TextReader)'";
                return self.base.clone().map(Value::Stream).ok_or_else(|| call.error(message.to_owned()));
            }
            return match self.value(of)? {
                Value::Analyzer(chain) => Ok(Value::Stream(chain)),
                _ => Err(not_served),
            };
        }
        if name.name() != "MakeStopSet" || type_name(of.bare()) != "StopFilter" && !of.source().ends_with(".StopFilter")
        {
            return Err(not_served);
        }
        let (words, ignores_case) = match &*arguments {
            [Value::Words(words)] => (words.words.words.iter().cloned().collect(), false),
            [Value::Words(words), Value::Bool(ignores_case)] => {
                (words.words.words.iter().cloned().collect(), *ignores_case)
            }
            texts => {
                let texts = texts.iter().map(|text| match text {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                });
                (texts.collect::<Option<Vec<String>>>().ok_or(not_served)?, false)
            }
        };
        Ok(Value::Words(Words { words: Arc::new(StopWords::new(words, ignores_case)), knows_case: true }))
    }
}

/// What a constructor makes, if it is served.
fn created(name: &str, arguments: &[Value]) -> Option<Value> {
    use Value::{Bool, Number, Reader, Version};
    let english = || Arc::new(StopWords::english());
    let filtered = |chain: &Chain, filter: Filter| {
        let mut chain = chain.clone();
        chain.filters.push(filter);
        Some(Value::Stream(chain))
    };
    let stream = |tokenizer, filters: &[Filter]| Some(Value::Stream(Chain::of(tokenizer, filters.iter().cloned())));
    let analyzer = |tokenizer, filters: Vec<Filter>| Some(Value::Analyzer(Chain::of(tokenizer, filters)));
    match (name, arguments) {
        ("StandardTokenizer", [Version, Reader]) => stream(Tokenizer::Standard, &[]),
        ("WhitespaceTokenizer", [Reader]) => stream(Tokenizer::Whitespace, &[]),
        ("LetterTokenizer", [Reader]) => stream(Tokenizer::Letter, &[]),
        ("LowerCaseTokenizer", [Reader]) => stream(Tokenizer::Letter, &[Filter::LowerCase]),
        // The second one is the size of a buffer.
        ("KeywordTokenizer", [Reader] | [Reader, Number(_)]) => stream(Tokenizer::Keyword, &[]),
        ("StandardFilter", [Value::Stream(chain)]) => filtered(chain, Filter::Standard),
        ("LowerCaseFilter", [Value::Stream(chain)]) => filtered(chain, Filter::LowerCase),
        ("ASCIIFoldingFilter", [Value::Stream(chain)]) => filtered(chain, Filter::AsciiFolding),
        ("PorterStemFilter", [Value::Stream(chain)]) => filtered(chain, Filter::PorterStem),
        ("LengthFilter", [Value::Stream(chain), Number(min), Number(max)]) => {
            let [min, max] = [min, max].map(|number| u32::try_from(*number));
            filtered(chain, Filter::Length { min: min.ok()?, max: max.ok()? })
        }
        ("StopFilter", [Bool(_), Value::Stream(chain), Value::Words(words)]) => {
            filtered(chain, Filter::Stop(words.words.clone()))
        }
        ("StopFilter", [Bool(_), Value::Stream(chain), Value::Words(words), Bool(ignores_case)]) => {
            let of_filter = || Arc::new(StopWords::new(words.words.words.iter().cloned(), *ignores_case));
            let words = if words.knows_case { words.words.clone() } else { of_filter() };
            filtered(chain, Filter::Stop(words))
        }
        ("CharArraySet", [Value::Words(words), Bool(ignores_case)]) => {
            let words = Arc::new(StopWords::new(words.words.words.iter().cloned(), *ignores_case));
            Some(Value::Words(Words { words, knows_case: true }))
        }
        ("StandardAnalyzer", [Version]) => Some(Value::Analyzer(Chain::standard(english()))),
        ("StandardAnalyzer", [Version, Value::Words(words)]) => {
            Some(Value::Analyzer(Chain::standard(words.words.clone())))
        }
        ("KeywordAnalyzer", []) => analyzer(Tokenizer::Keyword, Vec::new()),
        ("WhitespaceAnalyzer", []) => analyzer(Tokenizer::Whitespace, Vec::new()),
        ("SimpleAnalyzer", []) => analyzer(Tokenizer::Letter, vec![Filter::LowerCase]),
        ("StopAnalyzer", [Version]) => analyzer(Tokenizer::Letter, vec![Filter::LowerCase, Filter::Stop(english())]),
        ("StopAnalyzer", [Version, Value::Words(words)]) => {
            analyzer(Tokenizer::Letter, vec![Filter::LowerCase, Filter::Stop(words.words.clone())])
        }
        _ => None,
    }
}
