//! The class of an analyzer: what it derives from, its constructor, and the statements of its `TokenStream`.

use super::super::{Chain, StopWords, Tokenizer};
use super::values::{Evaluation, Value, not_served, unknown_type};
use crate::csharp::{Class, File, has_modifier, type_name};
use crate::limits::ANALYZER_FILTERS_MAX;
use crate::mapping::{CompileError, Syntax};
use std::sync::Arc;

type Result<T> = std::result::Result<T, CompileError>;

/// What a class derives from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Analyzer,
    Standard,
    Keyword,
}

/// The chain that an analyzer makes.
pub(super) fn chain<'f>(name: &'f str, file: &'f File, class: &Class<'f>) -> Result<Chain> {
    if let Some(part) = file.other_parts().first() {
        return Err(match part.kind() {
            "global_statement" => part.error("An analyzer has no statements outside of its class".to_owned()),
            _ => not_served(name, *part),
        });
    }
    for modifier in ["abstract", "partial", "static"] {
        if class.has(modifier) {
            return Err(not_served(name, class.syntax));
        }
    }
    if let Some(part) = class.part("type_parameter_list").or_else(|| class.part("parameter_list")) {
        return Err(not_served(name, part));
    }
    let classes = file.classes();
    let base = base(name, &classes, class)?;
    let mut evaluation = Evaluation::new(name, class, classes);
    let (mut constructor, mut method) = (None, None);
    for member in class.members() {
        let member_name = member.field("name").map_or("", Syntax::name);
        match member.kind() {
            "field_declaration" => evaluation.add_fields(member)?,
            "class_declaration" | "enum_declaration" => {}
            "constructor_declaration" if constructor.is_none() && has_modifier(member, "public") => {
                constructor = Some(member);
            }
            // A method that hides that of the base is never called.
            "method_declaration"
                if member_name == "TokenStream" && method.is_none() && has_modifier(member, "override") =>
            {
                method = Some(member);
            }
            _ => return Err(not_served(name, member)),
        }
    }
    let arguments = match constructor {
        Some(constructor) => base_arguments(name, constructor)?,
        None => Vec::new(),
    };
    let base_chain = base_chain(base, &mut evaluation, &arguments, constructor.unwrap_or(class.syntax))?;
    let Some(method) = method else {
        return base_chain.ok_or_else(|| {
            let message = format!(
                "'{name}' does not implement inherited abstract member 'Analyzer.TokenStream(string, TextReader)'"
            );
            class.syntax.error(message)
        });
    };
    evaluation.set_base(base_chain);
    stream(name, &mut evaluation, method)
}

fn base(name: &str, classes: &[Class<'_>], class: &Class<'_>) -> Result<Base> {
    let bases = class.bases();
    let Some(first) = bases.first() else {
        return Err(class.syntax.error(format!("'{name}' does not derive from 'Lucene.Net.Analysis.Analyzer'")));
    };
    if let Some(second) = bases.get(1) {
        return Err(not_served(name, *second));
    }
    match type_name(*first) {
        "Analyzer" => Ok(Base::Analyzer),
        "StandardAnalyzer" => Ok(Base::Standard),
        "KeywordAnalyzer" => Ok(Base::Keyword),
        sealed @ ("SimpleAnalyzer" | "StopAnalyzer" | "WhitespaceAnalyzer") => {
            Err(first.error(format!("'{name}': cannot derive from sealed type '{sealed}'")))
        }
        _ => Err(unknown_type(name, classes, *first)),
    }
}

/// What a constructor gives to that of the base.
fn base_arguments<'f>(name: &str, constructor: Syntax<'f>) -> Result<Vec<Syntax<'f>>> {
    let parameters = constructor.field("parameters").map(Syntax::children).unwrap_or_default();
    if let Some(parameter) = parameters.first() {
        return Err(not_served(name, *parameter));
    }
    match constructor.field("body") {
        Some(body) if body.kind() == "block" && body.children().is_empty() => {}
        body => return Err(not_served(name, body.unwrap_or(constructor))),
    }
    let initializer = constructor.children().into_iter().find(|part| part.kind() == "constructor_initializer");
    let Some(initializer) = initializer else { return Ok(Vec::new()) };
    if initializer.tokens().iter().any(|token| token.kind() == "this") {
        return Err(not_served(name, initializer));
    }
    Ok(initializer.children())
}

/// `None`: the base makes none.
fn base_chain<'f>(
    base: Base,
    evaluation: &mut Evaluation<'f>,
    arguments: &[Syntax<'f>],
    at: Syntax<'f>,
) -> Result<Option<Chain>> {
    let arguments = match arguments {
        [list] => evaluation.arguments(*list)?,
        _ => Vec::new(),
    };
    match (base, &*arguments) {
        (Base::Analyzer, []) => Ok(None),
        (Base::Keyword, []) => Ok(Some(Chain::of(Tokenizer::Keyword, []))),
        (Base::Standard, [Value::Version]) => Ok(Some(Chain::standard(Arc::new(StopWords::english())))),
        (Base::Standard, [Value::Version, Value::Words(words)]) => Ok(Some(Chain::standard(words.words.clone()))),
        (Base::Standard, []) => Err(
            at.error("There is no argument given that corresponds to the required parameter 'matchVersion'".to_owned())
        ),
        _ => Err(evaluation.not_served(at)),
    }
}

/// Reads the statements of the method.
fn stream<'f>(name: &'f str, evaluation: &mut Evaluation<'f>, method: Syntax<'f>) -> Result<Chain> {
    let parameters = method.field("parameters").map(Syntax::children).unwrap_or_default();
    let [field_name, reader] = &*parameters else { return Err(not_served(name, method)) };
    evaluation.add_parameters(*field_name, *reader)?;
    let Some(body) = method.field("body") else { return Err(not_served(name, method)) };
    let made = match (body.kind(), &*body.children()) {
        ("arrow_expression_clause", [expression]) => Some((evaluation.value(*expression)?, *expression)),
        ("block", statements) => {
            let mut made = None;
            for statement in statements {
                match statement.kind() {
                    "empty_statement" => {}
                    "local_declaration_statement" => evaluation.declare(*statement)?,
                    "expression_statement" => evaluation.assign(*statement)?,
                    "return_statement" => {
                        let [expression] = &*statement.children() else { return Err(not_served(name, *statement)) };
                        made = Some((evaluation.value(*expression)?, *expression));
                        break;
                    }
                    _ => return Err(not_served(name, *statement)),
                }
            }
            made
        }
        _ => return Err(not_served(name, body)),
    };
    let Some((made, at)) = made else {
        let message = format!("'{name}.TokenStream(string, TextReader)': not all code paths return a value");
        return Err(method.error(message));
    };
    let chain = made.stream();
    let chain = chain.ok_or_else(|| {
        at.error("Cannot implicitly convert this to type 'Lucene.Net.Analysis.TokenStream'".to_owned())
    })?;
    let count = chain.filters.len();
    if count > ANALYZER_FILTERS_MAX {
        let message = format!("{count} filters exceed the limit ANALYZER_FILTERS_MAX = {ANALYZER_FILTERS_MAX}");
        return Err(at.error(message));
    }
    Ok(chain)
}
