//! What the tools print. Output that is closed or full is an error like any other, where `println!` would panic.

use std::io::{self, StdoutLock, Write};

/// Standard output, whose errors say that they are its.
pub(crate) struct Output(StdoutLock<'static>);

/// Standard output.
pub(crate) fn output() -> Output {
    Output(io::stdout().lock())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(named)
    }
}

fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("writing to standard output: {error}"))
}

/// Prints a line to standard error, where there may be nobody to tell of a failure.
pub(crate) fn complain(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// An error with its causes. Some errors end with the text of their cause; that is not repeated.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match () {
        () if text.is_empty() => cause,
        () if text.ends_with(&cause) => text,
        () => format!("{text}: {cause}"),
    })
}
