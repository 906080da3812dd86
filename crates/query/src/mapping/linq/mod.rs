//! C# LINQ: from text to a program.
//!
//! ```text
//! text ─► null_conditional ─► syntax (the parser's tree) ─► chain, query, expression, call ─► Program
//! ```
//!
//! Query syntax and method syntax become the same [`Chain`] of steps. Names are looked up, functions and types
//! resolved here; what is unknown or not supported is an error with its place.

mod call;
mod chain;
mod chain_call;
mod creation;
mod expression;
mod literal;
mod null_conditional;
mod query;
mod root;
mod scope;
mod statics;
mod syntax;
mod types;

pub(crate) use literal::constant;
pub(crate) use syntax::{Parsed, Syntax};

use super::error::CompileError;
use super::expression::{Expression, Program, SequenceStep};
use super::limits::{EXPRESSION_COUNT_MAX, EXPRESSION_DEPTH_MAX};
use super::source::Source;
use documents::MissingFeature;
use scope::{Bound, Chain, Element};
use syntax::Result;

/// What a definition may begin from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// `docs`
    Documents,
    /// `results`
    Results,
}

/// A compiled map.
pub(crate) struct CompiledMap {
    pub source: Source,
    pub program: Program,
    pub reads_metadata: bool,
    pub referenced: Vec<String>,
    pub reads_compare_exchange: bool,
    pub missing: Option<MissingFeature>,
    pub makes: Makes,
}

/// What a map makes in addition to plain values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Makes {
    /// `CreateField`
    pub fields: bool,
    /// `CreateSpatialField`
    pub spatial: bool,
    /// `CreateVector`
    pub vectors: bool,
    /// `Boost`
    pub boosts: bool,
}

/// A compiled reduce.
pub(crate) struct CompiledReduce {
    /// From a mapped value to the rows that are grouped: the values are those of the key, then the element.
    pub before: Program,
    /// From a group to its results.
    pub after: Program,
    /// Whether the key is an object.
    pub has_object_key: bool,
    /// Whether it makes places or shapes.
    pub makes_spatial: bool,
}

/// Compiles one definition.
struct Compiler {
    root: Root,
    /// What the definition was found to begin from.
    source: Option<Source>,
    /// The steps before the grouping of a reduce, once it was met.
    before: Option<Program>,
    has_object_key: bool,
    scope: Vec<(String, Bound)>,
    slot_count: usize,
    /// Properties of the input that are read; the input has none once it is a group.
    fields: Vec<Box<str>>,
    depth: usize,
    expression_count: usize,
    reads_metadata: bool,
    /// Collections of documents that are loaded, each once.
    referenced: Vec<String>,
    reads_compare_exchange: bool,
    /// What the first function needs that reads from a missing feature.
    missing: Option<MissingFeature>,
    makes: Makes,
}

/// Compiles the text of a map.
pub(crate) fn compile_map(text: &str) -> std::result::Result<CompiledMap, CompileError> {
    let parsed = Parsed::of(text)?;
    let syntax = parsed.expression()?;
    let mut compiler = Compiler::new(Root::Documents);
    let chain = compiler.chain(syntax)?;
    let Some(source) = compiler.source.clone().filter(|_| chain.is_root) else {
        return Err(syntax.error("A map has to begin from 'docs'".to_owned()));
    };
    let program = compiler.finish(chain, syntax)?;
    let Compiler { reads_metadata, referenced, reads_compare_exchange, missing, makes, .. } = compiler;
    Ok(CompiledMap { source, program, reads_metadata, referenced, reads_compare_exchange, missing, makes })
}

/// Compiles the text of a reduce.
pub(crate) fn compile_reduce(text: &str) -> std::result::Result<CompiledReduce, CompileError> {
    let parsed = Parsed::of(text)?;
    let syntax = parsed.expression()?;
    let mut compiler = Compiler::new(Root::Results);
    let chain = compiler.chain(syntax)?;
    let is_grouped = compiler.before.is_some() && chain.is_root;
    if !is_grouped {
        return Err(
            syntax.error("A reduce has to begin from 'results' and to group them: 'group … by … into …'".to_owned())
        );
    }
    let after = compiler.finish(chain, syntax)?;
    let slot_count = after.slot_count;
    match compiler.before.take() {
        Some(before) => {
            let before = Program { slot_count, ..before };
            let Compiler { has_object_key, makes, .. } = compiler;
            Ok(CompiledReduce { before, after, has_object_key, makes_spatial: makes.spatial })
        }
        None => Err(syntax.unsupported()),
    }
}

impl Compiler {
    fn new(root: Root) -> Compiler {
        Compiler {
            root,
            source: None,
            before: None,
            has_object_key: false,
            scope: Vec::new(),
            // The first variable is the input.
            slot_count: 1,
            fields: Vec::new(),
            depth: 0,
            expression_count: 0,
            reads_metadata: false,
            referenced: Vec::new(),
            reads_compare_exchange: false,
            missing: None,
            makes: Makes::default(),
        }
    }

    /// The program of the rows of a chain, each of which has to be an object.
    fn finish(&mut self, chain: Chain, at: Syntax<'_>) -> Result<Program> {
        let (fields, boost) = match chain.element {
            Element::Record(fields) => (fields, None),
            Element::Boosted(element, boost) => match *element {
                Element::Record(fields) => (fields, Some(boost)),
                _ => return Err(no_object(at)),
            },
            Element::Value(Expression::Variable(0))
                if chain.steps.is_empty() && self.before.is_none() && at.kind() != "query_expression" =>
            {
                return Err(at.error(format!("Could not extract any fields from '{}'.", at.quoted())));
            }
            Element::Value(_) => return Err(no_object(at)),
        };
        let (names, elements): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        let values = elements.into_iter().map(Element::expression).collect();
        let fields = if self.before.is_some() { Vec::new() } else { std::mem::take(&mut self.fields) };
        Ok(Program { steps: chain.steps, names, values, boost, slot_count: self.slot_count, fields })
    }

    /// Goes one level deeper, and counts one expression.
    fn enter(&mut self, at: Syntax<'_>) -> Result<()> {
        self.expression_count += 1;
        if self.expression_count > EXPRESSION_COUNT_MAX {
            return Err(at.error(format!("Over {EXPRESSION_COUNT_MAX} expressions are not allowed")));
        }
        if self.depth == EXPRESSION_DEPTH_MAX {
            return Err(
                at.error(format!("Over {EXPRESSION_DEPTH_MAX} expressions inside of one another are not allowed"))
            );
        }
        self.depth += 1;
        Ok(())
    }

    /// Compiles what is inside of a level.
    fn inside<T>(&mut self, at: Syntax<'_>, compile: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter(at)?;
        let compiled = compile(self);
        self.depth -= 1;
        compiled
    }

    /// Compiles with names in scope that are not so after it.
    fn with_names<T>(&mut self, compile: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let count = self.scope.len();
        let compiled = compile(self);
        self.scope.truncate(count);
        compiled
    }

    /// Puts a name in scope.
    fn name(&mut self, name: &str, bound: Bound) {
        self.scope.push((name.to_owned(), bound));
    }

    /// Adds a step.
    fn let_step(&mut self, value: Expression, steps: &mut Vec<SequenceStep>, at: Syntax<'_>) -> Result<usize> {
        let slot = self.new_slot(at)?;
        steps.push(SequenceStep::Let { slot, value });
        Ok(slot)
    }
}

fn no_object(at: Syntax<'_>) -> CompileError {
    at.error(
        "Indexing function must return an anonymous object or Dictionary<string, object>. \
         Did you forget to add 'new' in last select clause?"
            .to_owned(),
    )
}
