//! From a class in C# to an analyzer.
//!
//! The class derives from one of Lucene.Net's analyzers and overrides `TokenStream`, which makes a tokenizer and filters:
//!
//! ```csharp
//! public class Folding : StandardAnalyzer
//! {
//!     public Folding() : base(Version.LUCENE_30) { }
//!     public override TokenStream TokenStream(string fieldName, TextReader reader)
//!         => new ASCIIFoldingFilter(base.TokenStream(fieldName, reader));
//! }
//! ```
//!
//! Nothing runs: the method is read as far as it makes one chain whatever the field and the text are. What is valid and says more is
//! refused by its name and line; what no compiler would accept, as far as it is seen, as an error in the code.

mod class;
mod values;

use super::Chain;
use crate::csharp::File;
use crate::mapping::CompileError;
use documents::MissingFeature;
use json::Value;
use std::sync::Arc;

/// An analyzer that a user defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomAnalyzer {
    name: String,
    code: String,
    chain: Arc<Chain>,
}

/// Why the definition of an analyzer is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalyzerRefused {
    /// The code is wrong.
    #[error("Failed to compile analyzer '{analyzer}'\n\n({}, {}): error: {}", .error.line, .error.column, .error.message)]
    Compile {
        /// The analyzer.
        analyzer: String,
        /// What is wrong, and where.
        error: CompileError,
    },
    /// The code has no public class of the name of the analyzer.
    #[error("Could not find type '{0}' in given assembly.")]
    UnknownType(String),
    /// The code has a form that is not served: which, and in which line.
    #[error(transparent)]
    NotServed(MissingFeature),
}

impl CustomAnalyzer {
    /// Reads the class of a name.
    ///
    /// * `name`: that of the class, with or without its namespace.
    /// * `code`: a file of C#.
    ///
    /// # Errors
    ///
    /// [`AnalyzerRefused`]
    pub fn compile(name: &str, code: &str) -> Result<CustomAnalyzer, AnalyzerRefused> {
        let refused = |error: CompileError| match error.feature {
            Some(missing) => AnalyzerRefused::NotServed(*missing),
            None => AnalyzerRefused::Compile { analyzer: name.to_owned(), error },
        };
        let file = File::parse(code).map_err(refused)?;
        let class = file.public_class(name).ok_or_else(|| AnalyzerRefused::UnknownType(name.to_owned()))?;
        let chain = class::chain(name, &file, &class).map_err(refused)?;
        Ok(CustomAnalyzer { name: name.to_owned(), code: code.to_owned(), chain: Arc::new(chain) })
    }

    /// Its name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How texts become words.
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// The definition, as clients send it.
    pub fn to_json(&self) -> Value {
        let mut definition = Value::object();
        definition.set("Name", Value::String(self.name.clone()));
        definition.set("Code", Value::String(self.code.clone()));
        definition
    }
}

#[cfg(test)]
#[path = "csharp_tests.rs"]
mod tests;
