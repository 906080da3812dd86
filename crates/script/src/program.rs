//! A script that is ready to be compiled by the engine of any thread.

use std::cell::RefCell;
use std::sync::Arc;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::host::{Document, Host};
use crate::limits::{ENGINES_KEPT_MAX, Limits, QUESTIONS_MAX, SCRIPT_SIZE_MAX};
use crate::outcome::Outcome;
use crate::propagate::propagate;

thread_local! {
    /// Those of the last scripts, the last one at the end.
    static ENGINES: RefCell<Vec<Engine>> = const { RefCell::new(Vec::new()) };
}

/// A function: its parameters and its body, with what it may call.
#[derive(Clone, Debug)]
pub struct Program {
    /// What the engine compiles.
    text: Arc<str>,
    /// What the user wrote, for errors.
    written: Arc<str>,
    limits: Limits,
}

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'b> {
    /// Statements, as between the braces of a function.
    Statements(&'b str),
    /// An expression, which it returns.
    Expression(&'b str),
}

/// An argument of a run.
#[derive(Clone, Copy, Debug)]
pub enum Input<'i> {
    /// Checked JSON.
    Json(&'i [u8]),
    /// A document.
    Document(&'i Document),
    /// A document, and values that are read in place of its own properties: checked JSON, an object. Those that a script leaves as they are
    /// are written as the document has them.
    Overlaid(&'i Document, &'i [u8]),
    /// Documents, in an array.
    Documents(&'i [Document]),
    /// `null`
    Null,
}

/// What is run.
#[derive(Debug, Default)]
pub struct Run<'r> {
    /// `this`. Its state after the run is the result, instead of what is returned.
    pub this: Option<Input<'r>>,
    /// The arguments.
    pub arguments: &'r [Input<'r>],
    /// Whether it may put and delete.
    pub may_write: bool,
    /// Whether properties of the result that are not defined are left out, rather than being null.
    pub omits_undefined: bool,
    /// Whether documents inside of the result have their ids in their metadata.
    pub names_documents: bool,
    /// Steps beyond those of the limits, for what takes more the more it is given.
    pub steps_more: u64,
}

impl Program {
    /// A function.
    ///
    /// * `declarations`: statements before it, such as functions that it calls.
    /// * `parameters`: names, as [`is_name`] knows them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if it is too large. Whether it is JavaScript is known when it is first run, or [checked](Self::check).
    pub fn new(declarations: &str, parameters: &[&str], body: Body<'_>, limits: Limits) -> Result<Program> {
        let (Body::Statements(text) | Body::Expression(text)) = body;
        let size = declarations.len() + text.len();
        if size > SCRIPT_SIZE_MAX {
            let message = format!("A script of {size} bytes is over the limit of {SCRIPT_SIZE_MAX} bytes");
            return Err(Error::Limit { message });
        }
        // On one line with the script, so that the lines of errors are its lines.
        let [begin, end] = match body {
            Body::Statements(_) => ["{", "\n}"],
            Body::Expression(_) => ["{return (", "\n)}"],
        };
        let compiled = format!(
            "(function(__n,__c){{\"use strict\";{}{}return function({}){begin}{}{end}}})",
            propagate(declarations),
            if declarations.is_empty() { "" } else { "\n" },
            parameters.join(","),
            propagate(text)
        );
        let written = if declarations.is_empty() { text.to_owned() } else { format!("{declarations}\n{text}") };
        Ok(Program { text: compiled.into(), written: written.into(), limits })
    }

    /// Compiles it.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`], or a limit is exceeded.
    pub fn check(&self) -> Result<()> {
        let engine = self.engine()?;
        keep(engine);
        Ok(())
    }

    /// Runs it. Takes as long as the limits say, and should have a thread that may.
    ///
    /// # Errors
    ///
    /// [`Error`]
    pub fn run(&self, run: &Run<'_>, host: &mut dyn Host) -> Result<Outcome> {
        let limits = Limits { steps: self.limits.steps.saturating_add(run.steps_more), ..self.limits };
        let mut engine = self.engine()?;
        for round in 0..QUESTIONS_MAX {
            let outcome = engine.run(run, host.key(), &limits, round > 0);
            match outcome {
                Ok(Some(outcome)) => {
                    keep(engine);
                    return Ok(outcome);
                }
                Ok(None) => engine.answer(host)?,
                Err(error) => {
                    // After a limit not even the simplest may work in it.
                    if !matches!(error, Error::Limit { .. } | Error::OverMemory { .. } | Error::Stopped) {
                        keep(engine);
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::Limit { message: format!("The script loads over {QUESTIONS_MAX} documents") })
    }

    fn engine(&self) -> Result<Engine> {
        let kept = ENGINES.with_borrow_mut(|engines| {
            let place = engines.iter().position(|engine| *engine.text == *self.text && engine.limits == self.limits)?;
            Some(engines.remove(place))
        });
        match kept {
            Some(engine) => Ok(engine),
            None => Engine::new(self.text.clone(), &self.written, &self.limits),
        }
    }
}

/// Keeps an engine for the next run of its script, unless it has grown.
fn keep(mut engine: Engine) {
    if !engine.rest() {
        return;
    }
    ENGINES.with_borrow_mut(|engines| {
        if engines.len() == ENGINES_KEPT_MAX {
            engines.remove(0);
        }
        engines.push(engine);
    });
}

/// Whether a text can be the name of a parameter.
pub fn is_name(text: &str) -> bool {
    const RESERVED: [&str; 50] = [
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
        "__n",
        "__c",
    ];
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$')
        && !RESERVED.contains(&text)
}
