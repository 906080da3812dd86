//! The syntax tree of a definition's text, and its places.
//!
//! A definition is an expression, which alone is no C# program: it is parsed as the value of a variable, on lines of its own
//! between what makes it one ([`Frame`]). A file of C# is parsed as it is.

use super::super::error::CompileError;
use super::super::limits::{
    DEFINITION_SIZE_MAX, PARSER_ERROR_COUNT_MAX, PARSER_FORK_COUNT_MAX, PARSER_REPORT_COUNT_MAX,
};
use super::null_conditional::without_null_conditional;
use documents::MissingFeature;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

const BEFORE: &str = "var _ =\n";
const AFTER: &str = "\n;";
/// Characters of the text that an error quotes.
const FOUND_CHARACTERS_MAX: usize = 60;

/// What a compiler gives.
pub(crate) type Result<T> = std::result::Result<T, CompileError>;

/// A parsed text.
pub(crate) struct Parsed {
    text: String,
    tree: Tree,
    frame: Frame,
}

/// A node of the tree, with the text that it is of.
#[derive(Clone, Copy)]
pub(crate) struct Syntax<'t> {
    node: Node<'t>,
    text: &'t str,
    frame: Frame,
}

/// Bytes of the parsed text before and behind the definition, which make a program of it.
#[derive(Clone, Copy)]
struct Frame {
    before: usize,
    after: usize,
}

impl Parsed {
    /// Parses a definition.
    ///
    /// # Errors
    ///
    /// If it is too long, or no expression of C#: at the first place that does not fit.
    pub fn of(definition: &str) -> Result<Parsed> {
        check_size(definition)?;
        let text = format!("{BEFORE}{}{AFTER}", without_null_conditional(without_end(definition)));
        Self::parse(definition, text, Frame { before: BEFORE.len(), after: AFTER.len() })
    }

    /// Parses a file of C#.
    ///
    /// # Errors
    ///
    /// If it is too long, or no C#: at the first place that does not fit.
    pub fn of_file(file: &str) -> Result<Parsed> {
        check_size(file)?;
        let parsed = Self::parse(file, file.to_owned(), Frame { before: 0, after: 0 })?;
        parsed.checked_root()?;
        Ok(parsed)
    }

    /// * `text`: the definition in its frame.
    fn parse(definition: &str, text: String, frame: Frame) -> Result<Parsed> {
        let not_parsed = || CompileError::at(definition, 0, "The definition cannot be parsed");
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c_sharp::LANGUAGE.into()).map_err(|_| not_parsed())?;
        // The parser tells of errors in its log alone.
        let error_count = Arc::new(AtomicUsize::new(0));
        let count_error = Arc::clone(&error_count);
        parser.set_logger(Some(Box::new(move |_, message| {
            count_error.fetch_add(usize::from(message.starts_with("resume ")), Ordering::Relaxed);
        })));
        let (mut report_count, mut error_at) = (0, 0);
        let mut progress = |state: &tree_sitter::ParseState| {
            report_count += 1;
            let error_count = error_count.load(Ordering::Relaxed);
            if error_count == 0 {
                error_at = state.current_byte_offset();
            }
            let goes_on = report_count <= PARSER_REPORT_COUNT_MAX && error_count <= PARSER_ERROR_COUNT_MAX;
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        drop(parser);
        let Some(tree) = tree else {
            return Err(if error_at == 0 {
                not_parsed()
            } else {
                error_at_place(&text, frame, error_at, "Syntax error".to_owned())
            });
        };
        Ok(Parsed { text, tree, frame })
    }

    /// The tree of a file.
    pub fn root(&self) -> Syntax<'_> {
        Syntax { node: self.tree.root_node(), text: &self.text, frame: self.frame }
    }

    /// The tree, if all of it could be parsed.
    fn checked_root(&self) -> Result<Syntax<'_>> {
        let root = self.root();
        let Some(wrong) = first_error(root) else { return Ok(root) };
        let found = wrong.quoted();
        Err(wrong.error(if wrong.node.is_missing() {
            format!("Syntax error: '{}' expected", wrong.kind())
        } else if found.is_empty() {
            "Syntax error: the definition ends where more is expected".to_owned()
        } else {
            format!("Syntax error near '{found}'")
        }))
    }

    /// The expression that the definition is.
    ///
    /// # Errors
    ///
    /// If it is not exactly one.
    pub fn expression(&self) -> Result<Syntax<'_>> {
        let root = self.checked_root()?;
        let not_one = || root.error("Syntax error: the definition has to be one expression".to_owned());
        let mut statements = root.children().into_iter().filter(|child| child.only().kind() != "empty_statement");
        let (Some(statement), None) = (statements.next(), statements.next()) else { return Err(not_one()) };
        let declaration = statement.only().only();
        let declarator = declaration.children().into_iter().find(|child| child.kind() == "variable_declarator");
        match declarator.map(|declarator| declarator.children()) {
            Some(children) if children.len() == 2 => Ok(children[1]),
            _ => Err(not_one()),
        }
    }
}

fn check_size(definition: &str) -> Result<()> {
    let message = if definition.len() > DEFINITION_SIZE_MAX {
        format!("The definition is too long, over {DEFINITION_SIZE_MAX} bytes are not allowed")
    } else if fork_count(definition) > PARSER_FORK_COUNT_MAX {
        format!("Over {PARSER_FORK_COUNT_MAX} times '<' or 'is' are not allowed in a definition")
    } else {
        return Ok(());
    };
    Err(CompileError { message, line: 1, column: 1, feature: None })
}

/// How often the parser has to follow several readings at once.
fn fork_count(definition: &str) -> usize {
    let words = definition.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| *word == "is").count() + definition.bytes().filter(|byte| *byte == b'<').count()
}

/// An error at a place of the text that is parsed.
fn error_at_place(text: &str, frame: Frame, at: usize, message: String) -> CompileError {
    let at = text.floor_char_boundary(at.clamp(frame.before, text.len() - frame.after));
    let before = text.get(frame.before..at).unwrap_or_default();
    let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
    let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
    CompileError { message, line, column, feature: None }
}

/// Without blanks and semicolons at its end.
fn without_end(definition: &str) -> &str {
    definition.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

/// The first node, as it is read, that the parser could not fit in. Walks without recursion: an erroneous tree may be deep.
fn first_error(root: Syntax<'_>) -> Option<Syntax<'_>> {
    if !root.node.has_error() {
        return None;
    }
    let mut node = root.node;
    loop {
        if node.is_error() || node.is_missing() {
            return Some(Syntax { node, ..root });
        }
        let mut cursor = node.walk();
        let inner = node.children(&mut cursor).find(|child| child.has_error() || child.is_missing());
        match inner {
            Some(inner) => node = inner,
            None => return Some(Syntax { node, ..root }),
        }
    }
}

impl<'t> Syntax<'t> {
    /// What it is, as the grammar calls it.
    pub fn kind(self) -> &'t str {
        self.node.kind()
    }

    /// Its text.
    pub fn source(self) -> &'t str {
        self.text.get(self.node.byte_range()).unwrap_or_default()
    }

    /// Its named children, but for comments.
    pub fn children(self) -> Vec<Syntax<'t>> {
        let mut cursor = self.node.walk();
        let children = self.node.named_children(&mut cursor).filter(|child| !child.is_extra());
        children.map(|node| Syntax { node, ..self }).collect()
    }

    /// All of its children, those without a name too, but for comments.
    pub fn tokens(self) -> Vec<Syntax<'t>> {
        let mut cursor = self.node.walk();
        let children = self.node.children(&mut cursor).filter(|child| !child.is_extra());
        children.map(|node| Syntax { node, ..self }).collect()
    }

    /// Its one child; itself if there are none or several.
    pub fn only(self) -> Syntax<'t> {
        match *self.children() {
            [child] => child,
            _ => self,
        }
    }

    /// The child that the grammar calls so.
    pub fn field(self, name: &str) -> Option<Syntax<'t>> {
        self.node.child_by_field_name(name).map(|node| Syntax { node, ..self })
    }

    /// The child that the grammar calls so, and never leaves out.
    pub fn part(self, name: &str) -> Result<Syntax<'t>> {
        self.field(name).ok_or_else(|| self.unsupported())
    }

    /// The first and the second of its named children, which are all.
    pub fn pair(self) -> Result<(Syntax<'t>, Syntax<'t>)> {
        match *self.children() {
            [first, second] => Ok((first, second)),
            _ => Err(self.unsupported()),
        }
    }

    /// Without the parentheses around it.
    pub fn bare(self) -> Syntax<'t> {
        let mut bare = self;
        while bare.kind() == "parenthesized_expression" {
            match *bare.children() {
                [inner] => bare = inner,
                // `(this)`, `(base)`: no named child.
                _ => return bare,
            }
        }
        bare
    }

    /// Its text as a name: without `@`, and without type arguments.
    pub fn name(self) -> &'t str {
        let name = if self.kind() == "generic_name" {
            self.children().first().map_or("", |name| name.source())
        } else {
            self.source()
        };
        name.strip_prefix('@').unwrap_or(name)
    }

    /// An error at its place.
    pub fn error(self, message: String) -> CompileError {
        error_at_place(self.text, self.frame, self.node.start_byte(), message)
    }

    /// An error at its place: it needs a feature that is missing.
    pub fn lacks(self, missing: MissingFeature, message: &str) -> CompileError {
        CompileError { feature: Some(Box::new(missing)), ..self.error(message.to_owned()) }
    }

    /// The error that this is not supported.
    pub fn unsupported(self) -> CompileError {
        let kind = match self.kind() {
            kind @ ("identifier" | "this" | "base") => format!("'{kind}'"),
            kind => format!("{} '{}'", kind.replace('_', " "), self.quoted()),
        };
        self.error(format!("{kind} is not supported in an index definition"))
    }

    /// The beginning of its text, in one line.
    pub fn quoted(self) -> String {
        let inner = self.text.get(..self.text.len() - self.frame.after).unwrap_or_default();
        let range = self.node.byte_range();
        let text = inner.get(range.start.max(self.frame.before)..range.end.min(inner.len())).unwrap_or_default();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().take(FOUND_CHARACTERS_MAX).collect()
    }
}
