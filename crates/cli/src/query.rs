//! `rookery query`: runs RQL on a database of a running server and prints the results.

use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use json::Value;

use crate::client::{Client, ServerArguments};
use crate::counted::counted;
use crate::output::{complain, output};
use crate::remote::{self, Asked, Found, Remote};
use crate::results::{self, Form, width_of_terminal};

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The query, such as "from Orders where Freight > 100"; without it, or as `-`, it is read from standard input.
    rql: Option<String>,
    #[command(flatten)]
    server: ServerArguments,
    /// The database.
    #[arg(long, short)]
    database: String,
    /// How results are printed [default: table on a terminal, jsonl elsewhere].
    #[arg(long, short, value_enum)]
    format: Option<Form>,
    /// Rows that are printed at most.
    #[arg(long, short, default_value_t = 100)]
    limit: u64,
    /// A parameter of the query: city=Oslo is the text for $city; 5, true, null, ["a"] and "5" are JSON. May be repeated.
    #[arg(long = "parameter", short, value_name = "NAME=VALUE", value_parser = remote::parameter)]
    parameters: Vec<(String, Value)>,
    /// Wait until the index has everything that was stored before, for 15 seconds at most.
    #[arg(long)]
    wait: bool,
}

/// Prints the results on standard output, and what there is to say of them on standard error.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let rql = match arguments.rql {
        Some(rql) if rql != "-" => rql,
        _ => {
            let mut rql = String::new();
            std::io::stdin().read_to_string(&mut rql).context("reading the query from standard input")?;
            rql
        }
    };
    ensure!(!rql.trim().is_empty(), "the query is empty; RQL begins with from: rookery query -d Shop \"from Orders\"");
    let client = Client::new(&arguments.server)?;
    let remote = Remote { client: &client, database: &arguments.database };
    let form = arguments.format.unwrap_or(match std::io::stdout().is_terminal() {
        true => Form::Table,
        false => Form::Jsonl,
    });
    let (parameters, count_max) = (arguments.parameters, Some(arguments.limit));
    let found = remote.query(&Asked { rql, parameters, count_max, waits: arguments.wait })?;
    let mut out = output();
    results::write(&mut out, form, &found.rows, width_of_terminal())?;
    out.flush()?;
    remarks(&found).iter().for_each(complain);
    if form == Form::Table || found.rows.is_empty() {
        complain(summary(&found));
    } else if is_cut(&found) {
        complain(format_args!("{}; --limit prints more", summary(&found)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Warnings of the server, and staleness.
pub(crate) fn remarks(found: &Found) -> Vec<String> {
    let mut remarks: Vec<String> = found.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    if found.is_stale {
        remarks.push("warning: the index has not yet processed the last changes; the results may lack them".to_owned());
    }
    remarks
}

/// Whether more was found than came.
pub(crate) fn is_cut(found: &Found) -> bool {
    found.total.is_some_and(|total| total > found.rows.len() as i64)
}

/// `100 of 830 rows in 3 ms, by index Auto/Orders/ByFreight`
pub(crate) fn summary(found: &Found) -> String {
    let count = found.rows.len() as u64;
    let rows = match found.total {
        Some(total) if is_cut(found) => format!("{count} of {}", counted(total.unsigned_abs(), "row")),
        _ => counted(count, "row"),
    };
    let index = match found.index.as_str() {
        "" => String::new(),
        index => format!(", by {index}"),
    };
    format!("{rows} in {} ms{index}", found.duration_ms)
}
