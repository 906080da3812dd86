//! `rookery safety`: what is not safe about the set-up of a running server, and what to do about it.

use std::io::Write;
use std::process::ExitCode;

use json::Value;

use crate::client::{Client, ServerArguments};
use crate::output::output;
use crate::remote::elements;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print the answer of the server as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArguments,
}

/// Prints the findings. The exit code is 1 if there is one that is more than a notice.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let answer = Client::new(&arguments.server)?.get("/admin/safety")?;
    let findings = answer.get("Results").and_then(elements).unwrap_or_default();
    let mut out = output();
    if arguments.json {
        out.write_all(&answer.to_vec())?;
        writeln!(out)?;
    } else {
        write(&mut out, findings)?;
    }
    out.flush()?;
    let is_grave = findings.iter().any(|finding| text(finding, "Severity") != "Notice");
    Ok(if is_grave { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn write(out: &mut impl Write, findings: &[Value]) -> anyhow::Result<()> {
    if findings.is_empty() {
        writeln!(out, "Nothing was found that is not safe.")?;
    }
    for (at, finding) in findings.iter().enumerate() {
        let space = if at > 0 { "\n" } else { "" };
        let severity = text(finding, "Severity").to_lowercase();
        writeln!(out, "{space}{severity}: {}", text(finding, "Title"))?;
        writeln!(out, "  {}", text(finding, "Advice"))?;
        writeln!(out, "  See docs/{}", text(finding, "Page"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: &str) {
        let answer = Value::parse(answer.as_bytes()).unwrap();
        let mut written = Vec::new();
        write(&mut written, elements(&answer).unwrap()).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn findings_are_printed_with_their_advice() {
        check("[]", "Nothing was found that is not safe.\n");
        let one = r#"{"Severity":"Danger","Title":"It is open","Advice":"Close it.","Page":"security.md#https"}"#;
        let other = r#"{"Severity":"Notice","Title":"It is old","Advice":"Look.","Page":"operate.md"}"#;
        check(
            &format!("[{one},{other}]"),
            "danger: It is open\n  Close it.\n  See docs/security.md#https\n\n\
             notice: It is old\n  Look.\n  See docs/operate.md\n",
        );
    }
}
