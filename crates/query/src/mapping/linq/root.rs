//! What a definition begins from: `docs`, `docs.Users`, `docs["Users"]`, `docs.WhereEntityIs("Users", "Dogs")`, `results`.

use super::super::expression::Expression;
use super::super::source::Source;
use super::scope::{Chain, Element};
use super::syntax::{Result, Syntax};
use super::{Compiler, Root};
use documents::Feature;

const ALL_DOCUMENTS: &str = "@all_docs";

impl Compiler {
    /// The rows of the definition's source, if this names it.
    ///
    /// # Errors
    ///
    /// If it is named twice, or is one that cannot be indexed.
    pub(super) fn root(&mut self, syntax: Syntax<'_>) -> Result<Option<Chain>> {
        let syntax = syntax.bare();
        let found = match self.root {
            Root::Documents => self.documents(syntax)?,
            Root::Results if self.is_name(syntax, "results") => Some(Source::AllDocuments),
            Root::Results => None,
        };
        let Some(source) = found else { return Ok(None) };
        if self.source.replace(source).is_some() {
            return Err(syntax.error(format!("'{}' is not supported a second time in one definition", syntax.quoted())));
        }
        Ok(Some(Chain { steps: Vec::new(), element: Element::Value(Expression::Variable(0)), is_root: true }))
    }

    fn is_name(&self, syntax: Syntax<'_>, name: &str) -> bool {
        syntax.kind() == "identifier" && syntax.source() == name && self.bound(name).is_none()
    }

    fn documents(&self, syntax: Syntax<'_>) -> Result<Option<Source>> {
        if self.is_name(syntax, "docs") {
            return Ok(Some(Source::AllDocuments));
        }
        let named = |name: &str| {
            if name == ALL_DOCUMENTS { Source::AllDocuments } else { Source::Collections(vec![name.to_owned()]) }
        };
        match syntax.kind() {
            _ if let Some(source) = self.counters(syntax)? => Ok(Some(source)),
            "member_access_expression" => {
                let (of, name) = (syntax.part("expression")?.bare(), syntax.part("name")?);
                if self.is_name(of, "docs") {
                    // Of names with `@` only those of collections keep it.
                    let is_special = matches!(name.source(), "@all_docs" | "@empty" | "@hilo");
                    return Ok(Some(named(if is_special { name.source() } else { name.name() })));
                }
                self.refuse_other_sources(of)
            }
            "element_access_expression" => {
                let of = syntax.part("expression")?.bare();
                if !self.is_name(of, "docs") {
                    return self.refuse_other_sources(of);
                }
                match syntax.part("subscript")?.children().first().map(|argument| argument.only()) {
                    Some(name) => Ok(Some(named(&self.text_literal(name)?))),
                    None => Err(syntax.unsupported()),
                }
            }
            "invocation_expression" => {
                let function = syntax.part("function")?;
                let is_filter = function.kind() == "member_access_expression"
                    && function.field("name").is_some_and(|name| name.name() == "WhereEntityIs");
                if !is_filter || !self.is_name(function.part("expression")?.bare(), "docs") {
                    return Ok(None);
                }
                let mut names = Vec::new();
                for argument in syntax.part("arguments")?.children() {
                    let argument = argument.only();
                    match argument.kind() {
                        "implicit_array_creation_expression" | "array_creation_expression" => {
                            let initializer =
                                argument.children().into_iter().find(|child| child.kind() == "initializer_expression");
                            for name in initializer.map(Syntax::children).unwrap_or_default() {
                                names.push(self.text_literal(name)?);
                            }
                        }
                        _ => names.push(self.text_literal(argument)?),
                    }
                }
                if names.is_empty() {
                    return Err(syntax.error("'WhereEntityIs' needs the name of a collection".to_owned()));
                }
                Ok(Some(Source::Collections(names)))
            }
            _ => self.refuse_other_sources(syntax),
        }
    }

    /// `counters`, `counters.Users`, `counters.Users.Likes`, and the same with names in brackets.
    fn counters(&self, syntax: Syntax<'_>) -> Result<Option<Source>> {
        let mut names = Vec::new();
        let mut at = syntax.bare();
        while !self.is_name(at, "counters") {
            match at.kind() {
                "member_access_expression" => names.push(at.part("name")?.name().to_owned()),
                "element_access_expression" => {
                    let subscript = at.part("subscript")?.children();
                    let name = subscript.first().map(|argument| argument.only());
                    match name.filter(|name| name.kind() == "string_literal") {
                        Some(name) => names.push(self.text_literal(name)?),
                        None => return Ok(None),
                    }
                }
                _ => return Ok(None),
            }
            match at.field("expression") {
                Some(inner) if names.len() <= 2 => at = inner.bare(),
                _ => return Ok(None),
            }
        }
        // The last one is the first of the path.
        let collection = names.pop().filter(|name| name != ALL_DOCUMENTS);
        Ok(Some(Source::Counters { collection, name: names.pop() }))
    }

    /// Refuses what RavenDB indexes besides documents, wherever the path to it begins.
    fn refuse_other_sources(&self, syntax: Syntax<'_>) -> Result<Option<Source>> {
        let mut at = syntax.bare();
        loop {
            if self.is_name(at, "timeSeries") {
                let message = "Time series are not supported as the source of an index";
                return Err(at.lacks(Feature::IndexSources.missing_for("indexes over timeSeries"), message));
            }
            match at.field("expression") {
                Some(inner) => at = inner.bare(),
                None => return Ok(None),
            }
        }
    }
}
