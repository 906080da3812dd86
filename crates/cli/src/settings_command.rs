//! `rookery settings`: the settings as `rookery serve` would find them, or a sample of all.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use server::{GivenSetting, Setting};

use crate::output::output;
use crate::settings::{self, Form, Given};

/// The flags.
#[derive(clap::Args)]
#[command(
    after_help = "Without --sample: each setting with its value and where it was set, by settings.json, the environment, or flags in \
    RavenDB's style (rookery settings --DataDir=x)."
)]
pub(crate) struct Arguments {
    /// Print a commented sample of all settings: a settings.json, or variables of the environment.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "json", value_name = "FORM")]
    sample: Option<Form>,
    /// Settings as a JSON file [default: settings.json, if it exists] [env: ROOKERY_CONFIG_PATH].
    #[arg(long, short = 'c', value_name = "FILE")]
    config_path: Option<PathBuf>,
}

/// Prints them. Invalid ones are an error.
pub(crate) fn run(arguments: Arguments, flags: Vec<Given>) -> anyhow::Result<ExitCode> {
    let mut out = output();
    if let Some(form) = arguments.sample {
        write!(out, "{}", settings::sample(form))?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut given = settings::gather(arguments.config_path)?;
    given.extend(flags);
    let settings = settings::resolve(given)?;
    for Setting { name, default, given, .. } in &settings.options.settings {
        match given {
            None => writeln!(out, "{name} = {default} (default)")?,
            Some(GivenSetting { value, source }) => {
                writeln!(out, "{name} = {} (from {source})", value.as_deref().unwrap_or("(not shown)"))?
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
