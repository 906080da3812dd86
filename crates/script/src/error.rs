//! Why a script was refused, or failed.

/// Why a script was refused, or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no JavaScript. Line and column from 1; 0: unknown.
    #[error("Failed to parse: {message} (line {line}) in\n{text}")]
    Syntax {
        /// What the parser says.
        message: String,
        /// The line in the text that was given.
        line: u32,
        /// The column in the text that was compiled.
        column: u32,
        /// The text.
        text: String,
    },
    /// It threw something, or did what has no meaning. Line from 1; 0: unknown.
    #[error("{message}")]
    Thrown {
        /// What it threw, as text.
        message: String,
        /// Where, in the text that was given.
        line: u32,
    },
    /// It took more than it may: which limit, by its name.
    #[error("{message}")]
    Limit {
        /// Which limit, and how much it is.
        message: String,
    },
    /// The memory of its caller ([`reserving`](crate::reserving)) has no more for it now.
    #[error(
        "A script needs more memory than the limit {limit} = {max_mb} (MB) leaves to it beside others. Try again later"
    )]
    OverMemory {
        /// The setting that names the limit.
        limit: &'static str,
        /// The limit in MiB.
        max_mb: usize,
    },
    /// It was stopped from outside ([`stoppable`](crate::stoppable)).
    #[error("The script was stopped")]
    Stopped,
    /// It called a function of RavenDB that does not exist here, or asked for a member of one.
    #[error("'{function}' in scripts is not supported yet")]
    NotSupported {
        /// The function.
        function: String,
    },
    /// A call of a host function that means nothing, or is not allowed here.
    #[error("{0}")]
    Misuse(String),
    /// The host failed.
    #[error("{0}")]
    Host(String),
}

/// What running a script gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;
