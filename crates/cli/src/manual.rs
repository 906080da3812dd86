//! `rookery completion` and `rookery man`: completion scripts for shells, and manual pages, both made from the flags' own help.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::output::output;

/// The flags of `rookery completion`.
#[derive(clap::Args)]
pub(crate) struct CompletionArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion script of a shell.
pub(crate) fn completion(arguments: CompletionArguments, mut program: Command) -> anyhow::Result<ExitCode> {
    // The generator panics where its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "rookery", &mut script);
    write_out(&script)
}

/// The flags of `rookery man`.
#[derive(clap::Args)]
pub(crate) struct ManArguments {
    /// Print the page of this command [default: the page of rookery itself].
    command: Option<String>,
    /// Write the pages of all commands into this folder instead, such as /usr/local/share/man/man1.
    #[arg(long, conflicts_with = "command", value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Prints a page, or writes all.
pub(crate) fn man(arguments: ManArguments, program: Command) -> anyhow::Result<ExitCode> {
    let pages = pages(program)?;
    if let Some(folder) = arguments.output {
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        for (name, page) in &pages {
            let path = folder.join(format!("{name}.1"));
            std::fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = arguments.command.map_or_else(|| "rookery".to_owned(), |command| format!("rookery-{command}"));
    match pages.iter().find(|(known, _)| *known == name) {
        Some((_, page)) => write_out(page),
        None => bail!("there is no command '{}'", name.trim_start_matches("rookery-")),
    }
}

/// Each page with its name: `rookery`, `rookery-import`.
fn pages(mut program: Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    program = program.disable_help_subcommand(true);
    program.build();
    let commands: Vec<Command> = program.get_subcommands().cloned().collect();
    let mut pages = Vec::new();
    let mut add = |name: String, command: Command| -> anyhow::Result<()> {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        pages.push((name, page));
        Ok(())
    };
    for command in commands {
        add(format!("rookery-{}", command.get_name()), command)?;
    }
    add("rookery".to_owned(), program)?;
    Ok(pages)
}

fn write_out(text: &[u8]) -> anyhow::Result<ExitCode> {
    let mut out = output();
    out.write_all(text)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
