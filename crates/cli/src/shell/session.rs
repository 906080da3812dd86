//! A session of the shell: the database that was chosen, and what each entry does.

use std::io::Write;

use anyhow::{Context, bail};
use clap::ValueEnum;

use super::complete::{COMMANDS, Names};
use super::fields::{SAMPLE_COUNT, fields};
use crate::client::Client;
use crate::counted::counted;
use crate::output::{complain, output};
use crate::query::{is_cut, remarks, summary};
use crate::remote::{Asked, Remote, database_names, quoted};
use crate::results::{self, Form, Table, width_of_terminal};
use crate::similar::similar;
use crate::status::{index_cells, index_names};

/// What follows an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Leave,
}

/// The state between entries.
pub(super) struct Session {
    client: Client,
    database: Option<String>,
    form: Form,
    count_max: u64,
}

impl Session {
    pub fn new(client: Client, form: Form, count_max: u64) -> Session {
        Session { client, database: None, form, count_max }
    }

    /// Chooses the database to begin with: the one that is named, or the only one there is.
    pub fn begin(&mut self, database: Option<&str>) -> anyhow::Result<()> {
        match database {
            Some(name) => self.choose(name),
            None => {
                if let [only] = &database_names(&self.client)?[..] {
                    self.database = Some(only.clone());
                }
                Ok(())
            }
        }
    }

    /// The prompt: the database that is chosen.
    pub fn prompt(&self) -> String {
        format!("{}> ", self.database.as_deref().unwrap_or("(no database)"))
    }

    /// Does what an entry says.
    pub fn execute(&mut self, entry: &str) -> anyhow::Result<Next> {
        // As in SQL shells a semicolon may end a query.
        let entry = entry.trim().trim_end_matches(';').trim_end();
        let (name, rest) = entry.split_once(char::is_whitespace).unwrap_or((entry, ""));
        match (name, rest.trim()) {
            ("", _) => {}
            ("\\q", _) | ("exit" | "quit", "") => return Ok(Next::Leave),
            ("\\?" | "help", "") => help()?,
            ("\\l", "") => self.list_databases()?,
            ("\\c", "") => bail!("\\c needs the name of a database; \\l lists them"),
            ("\\c", database) => self.choose(database)?,
            ("\\d", "") => self.list_collections()?,
            ("\\d", collection) => self.list_fields(collection)?,
            ("\\di", "") => self.list_indexes()?,
            ("\\running", "") => self.list_running()?,
            ("\\kill", number) => {
                let number = number.parse().ok().context("\\kill needs the number of a query; \\running lists them")?;
                self.remote()?.end_query(number)?;
            }
            ("\\f", form) => match Form::from_str(form, true) {
                Ok(form) => self.form = form,
                Err(_) => bail!("\\f needs one of table, json, jsonl, csv"),
            },
            ("\\limit", count) => {
                self.count_max = count.parse().ok().context("\\limit needs a number of rows")?;
            }
            (name, _) if name.starts_with('\\') => {
                let known = similar(name, COMMANDS.iter().map(|(known, ..)| *known));
                let hint =
                    known.map_or_else(|| "\\? lists the commands".to_owned(), |known| format!("did you mean {known}?"));
                bail!("unknown command {name}; {hint}");
            }
            _ => self.query(entry)?,
        }
        Ok(Next::Read)
    }

    fn remote(&self) -> anyhow::Result<Remote<'_>> {
        let database =
            self.database.as_deref().context("no database is chosen; \\l lists them, \\c NAME chooses one")?;
        Ok(Remote { client: &self.client, database })
    }

    fn choose(&mut self, name: &str) -> anyhow::Result<()> {
        let names = database_names(&self.client)?;
        let Some(known) = names.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            match similar(name, names.iter().map(String::as_str)) {
                Some(known) => bail!("there is no database '{name}'; did you mean '{known}'?"),
                None => bail!("there is no database '{name}'; the databases are: {}", names.join(", ")),
            }
        };
        self.database = Some(known.clone());
        Ok(())
    }

    fn list_databases(&self) -> anyhow::Result<()> {
        let mut table = Table::new(vec!["database".to_owned()]);
        database_names(&self.client)?.into_iter().for_each(|name| table.add(vec![name]));
        print(&table)
    }

    fn list_collections(&self) -> anyhow::Result<()> {
        let mut table = Table::new(vec!["collection".to_owned(), "documents".to_owned()]);
        self.remote()?.collections()?.into_iter().for_each(|(name, count)| table.add(vec![name, count.to_string()]));
        print(&table)
    }

    fn list_fields(&self, collection: &str) -> anyhow::Result<()> {
        let remote = self.remote()?;
        let collections = remote.collections()?;
        let Some((name, count)) = collections.iter().find(|(name, _)| name.eq_ignore_ascii_case(collection)) else {
            match similar(collection, collections.iter().map(|(name, _)| name.as_str())) {
                Some(known) => bail!("there is no collection '{collection}'; did you mean '{known}'?"),
                None => bail!("there is no collection '{collection}'; \\d lists them"),
            }
        };
        let found = remote.query(&sample(name))?;
        let names = ["field", "type", "documents", "example"];
        let mut table = Table::new(names.map(str::to_owned).to_vec());
        for field in fields(&found.rows) {
            let types: Vec<&str> = field.types.into_iter().collect();
            table.add(vec![field.path, types.join(", "), field.count.to_string(), field.example]);
        }
        print(&table)?;
        let sampled = found.rows.len();
        complain(format_args!("from a sample of {sampled} of {}", counted(count.unsigned_abs(), "document")));
        Ok(())
    }

    fn list_indexes(&self) -> anyhow::Result<()> {
        let mut table = Table::new(index_names());
        self.remote()?.indexes()?.iter().for_each(|index| table.add(index_cells(index)));
        print(&table)
    }

    fn list_running(&self) -> anyhow::Result<()> {
        let mut table = Table::new(["number", "index", "seconds", "query"].map(str::to_owned).to_vec());
        for query in self.remote()?.running_queries()? {
            let seconds = format!("{:.1}", query.duration.as_secs_f64());
            table.add(vec![query.number.to_string(), query.index, seconds, query.text]);
        }
        print(&table)
    }

    fn query(&self, rql: &str) -> anyhow::Result<()> {
        let asked = Asked { rql: rql.to_owned(), count_max: Some(self.count_max), ..Asked::default() };
        let found = self.remote()?.query(&asked)?;
        let mut out = output();
        results::write(&mut out, self.form, &found.rows, width_of_terminal())?;
        out.flush()?;
        remarks(&found).iter().for_each(complain);
        let more = if is_cut(&found) { "; \\limit N prints more" } else { "" };
        complain(format_args!("({}{more})", summary(&found)));
        Ok(())
    }
}

/// Asks for the documents in which fields are looked for.
fn sample(collection: &str) -> Asked {
    Asked { rql: format!("from {}", quoted(collection)), count_max: Some(SAMPLE_COUNT), ..Asked::default() }
}

fn print(table: &Table) -> anyhow::Result<()> {
    let mut out = output();
    table.write(&mut out, width_of_terminal())?;
    out.flush()?;
    Ok(())
}

fn help() -> anyhow::Result<()> {
    let mut out = output();
    for (name, parameter, meaning) in COMMANDS {
        writeln!(out, "{:<16} {meaning}", format!("{name} {parameter}"))?;
    }
    writeln!(out, "Anything else is RQL, such as: from Orders where Freight > 100 order by Freight as double desc")?;
    out.flush()?;
    Ok(())
}

impl Names for Session {
    fn databases(&self) -> Vec<String> {
        database_names(&self.client).unwrap_or_default()
    }

    fn collections(&self) -> Vec<String> {
        let collections = self.remote().and_then(|remote| remote.collections()).unwrap_or_default();
        collections.into_iter().map(|(name, _)| name).filter(|name| !name.starts_with('@')).collect()
    }

    fn indexes(&self) -> Vec<String> {
        let indexes = self.remote().and_then(|remote| remote.indexes()).unwrap_or_default();
        indexes.iter().filter_map(|index| index.get("Name")?.as_str()).map(str::to_owned).collect()
    }

    fn running(&self) -> Vec<String> {
        let queries = self.remote().and_then(|remote| remote.running_queries()).unwrap_or_default();
        queries.iter().map(|query| query.number.to_string()).collect()
    }

    fn fields(&self, collection: &str) -> Vec<String> {
        let found = self.remote().and_then(|remote| remote.query(&sample(collection)));
        found.map(|found| fields(&found.rows).into_iter().map(|field| field.path).collect()).unwrap_or_default()
    }
}
