//! The flags of `rookery import`.

use std::path::PathBuf;

use crate::client::ServerArguments;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file: .ravendbdump (a dump of a database), .jsonl or .json (one document a line, or an array of documents) or .csv,
    /// as UTF-8 or UTF-16, also compressed (gzip, zstd); `-` is standard input.
    pub(super) file: PathBuf,
    /// The database; it is created if it does not exist.
    #[arg(long, short)]
    pub(super) database: String,
    #[command(flatten)]
    pub(super) server: ServerArguments,
    /// The field that holds the id; without one the id is @id of @metadata, or the server makes one.
    #[arg(long)]
    pub(super) id_field: Option<String>,
    /// What precedes the value of the id field, `cities/` for example. Without an id field: what ids of the server begin with
    /// [default: the collection].
    #[arg(long)]
    pub(super) id_prefix: Option<String>,
    /// The collection of documents whose @metadata names none; `@empty` puts them into no collection [default: the name of
    /// the file]. Of a dump: only the documents of this collection.
    #[arg(long)]
    pub(super) collection: Option<String>,
    /// What the file holds [default: by its name].
    #[arg(long, value_enum)]
    pub(super) format: Option<FileFormat>,
    /// The types of items that are taken from a dump, such as `Documents,Indexes` [default: all that are supported].
    #[arg(long, value_name = "TYPES")]
    pub(super) types: Option<String>,
    /// A JavaScript that changes each document of a dump, or throws 'skip' to leave it out.
    #[arg(long, value_name = "FILE")]
    pub(super) transform: Option<PathBuf>,
    /// Skip items of a dump that cannot be read or stored.
    #[arg(long)]
    pub(super) skip_corrupted: bool,
    /// The character between the fields of CSV [default: the one of , ; tab | that the first line has most often].
    #[arg(long)]
    pub(super) separator: Option<char>,
    /// Skip everything up to this line, to resume an import that was interrupted after it.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(super) after_line: u64,
    /// Show no progress.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FileFormat {
    /// JSON: one object a line, or an array of objects.
    #[value(alias = "json")]
    Jsonl,
    /// A line of names, then lines of values.
    Csv,
    /// A dump of a database.
    Ravendbdump,
}
