//! `rookery access`: who may call a running server, by API key or by certificate.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow, bail, ensure};
use clap::ValueEnum;
use json::{Value, Writer};
use server::{CertificateFiles, Date, Password};

use crate::client::{Client, ServerArguments, escape};
use crate::output::output;
use crate::remote::elements;
use crate::results::Table;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make an API key and print it, or register a certificate. The server keeps no key: what is printed is the only copy.
    Grant(Grant),
    /// List the API keys and certificates with their rights.
    List(List),
    /// Take away what has this name: open connections are closed.
    Revoke(Revoke),
}

#[derive(clap::Args)]
struct Grant {
    /// What the key or certificate is called from now on: the name of an application or person.
    name: String,
    /// The rights on the server and all databases.
    #[arg(long, value_enum, default_value_t = Clearance::User)]
    clearance: Clearance,
    /// The rights on one database: read, write or admin. Repeat it for more databases.
    #[arg(long, value_name = "DATABASE=RIGHT", value_parser = permission)]
    on: Vec<(String, &'static str)>,
    /// When the key expires: in a number of days, as `90d`, or at a date, as 2027-12-31.
    #[arg(long, value_name = "TIME", conflicts_with = "for_certificate")]
    expires: Option<String>,
    /// Register the certificate in this file, PEM or PFX, in place of making a key. The key in the file is not sent.
    #[arg(long = "for", value_name = "FILE")]
    for_certificate: Option<PathBuf>,
    /// The password of that file.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "PASSWORD", requires = "for_certificate")]
    for_password: String,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(clap::Args)]
struct List {
    /// Print the answers of the server as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(clap::Args)]
struct Revoke {
    /// The name of an API key or certificate, or the thumbprint of a certificate.
    name: String,
    #[command(flatten)]
    server: ServerArguments,
}

/// The rights on the server.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Clearance {
    /// Those on single databases alone.
    User,
    /// All databases and the server, but no cluster admins.
    Operator,
    /// Everything.
    ClusterAdmin,
}

impl Clearance {
    fn wire_name(self) -> &'static str {
        match self {
            Clearance::User => "ValidUser",
            Clearance::Operator => "Operator",
            Clearance::ClusterAdmin => "ClusterAdmin",
        }
    }
}

/// The names of permissions: here, and those of the server.
const PERMISSIONS: [(&str, &str); 3] = [("read", "Read"), ("write", "ReadWrite"), ("admin", "Admin")];

fn permission(text: &str) -> Result<(String, &'static str), String> {
    let (database, right) =
        text.rsplit_once('=').ok_or("write it as DATABASE=read, DATABASE=write or DATABASE=admin")?;
    let found = PERMISSIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(right));
    let (_, wire_name) = found.ok_or_else(|| format!("'{right}' is none of read, write and admin"))?;
    Ok((database.to_owned(), wire_name))
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Grant(arguments) => grant(&arguments),
        Command::List(arguments) => list(&arguments),
        Command::Revoke(arguments) => revoke(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn grant(arguments: &Grant) -> anyhow::Result<()> {
    ensure!(
        !matches!(arguments.clearance, Clearance::User) || !arguments.on.is_empty(),
        "no rights were given: name databases with --on DATABASE=read, or a clearance with --clearance operator"
    );
    let client = Client::new(&arguments.server)?;
    let expires = arguments.expires.as_deref().map(|text| expiry(text, SystemTime::now())).transpose()?;
    let password = Password(arguments.for_password.clone());
    let certificate = arguments.for_certificate.as_ref();
    let certificate = certificate.map(|path| CertificateFiles::certificate_alone(path, &password));
    let certificate = certificate.transpose()?;
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| {
        json.name("Name").string(&arguments.name);
        json.name("SecurityClearance").string(arguments.clearance.wire_name());
        json.name("Permissions").object(|json| {
            for (database, permission) in &arguments.on {
                json.name(database).string(permission);
            }
        });
        if let Some(expires) = &expires {
            json.name("Expires").string(expires);
        }
        if let Some(der) = &certificate {
            json.name("Certificate").string(&data_encoding::BASE64.encode(der));
        }
    });
    let mut out = output();
    if certificate.is_some() {
        client.stream("PUT", "/admin/certificates", &body)?.text()?;
        writeln!(out, "The certificate is registered as '{}'.", arguments.name)?;
    } else {
        let made = client.post("/admin/api-keys", &body)?;
        let key = made
            .get("Key")
            .and_then(Value::as_str)
            .context("the server made no key: is it older than this program?")?;
        // The key alone on standard output, for scripts.
        eprintln!("The API key '{}' is made. The server keeps no copy of it:", arguments.name);
        writeln!(out, "{key}")?;
    }
    out.flush()?;
    Ok(())
}

/// A moment in the future, as the server reads it.
///
/// * `text`: `90d`, or a date with or without time.
fn expiry(text: &str, now: SystemTime) -> anyhow::Result<String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    if let Some(days) = days {
        ensure!(days > 0, "'{text}' gives the key no time to be used; give at least 1d");
        let wait = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
        let end = now.checked_add(wait).context("that is too many days")?;
        return Ok(Date::from(end).to_string());
    }
    let text = if text.contains('T') { text.to_owned() } else { format!("{text}T00:00:00.0000000Z") };
    let date = Date::parse(&text);
    date.map(|date| date.to_string())
        .ok_or_else(|| anyhow!("'{text}' is neither a number of days, as 90d, nor a date, as 2027-12-31"))
}

/// The API keys and certificates of a server.
fn all(client: &Client) -> anyhow::Result<(Value, Value)> {
    Ok((client.get("/admin/api-keys")?, client.get("/admin/certificates?metadataOnly=true")?))
}

fn rows(answer: &Value) -> &[Value] {
    answer.get("Results").and_then(elements).unwrap_or_default()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list(arguments: &List) -> anyhow::Result<()> {
    let (keys, certificates) = all(&Client::new(&arguments.server)?)?;
    let mut out = output();
    if arguments.json {
        let mut value = Value::object();
        for (name, mut answer) in [("ApiKeys", keys), ("Certificates", certificates)] {
            value.set(name, answer.remove("Results").unwrap_or(Value::Array(Vec::new())));
        }
        out.write_all(&value.to_vec())?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let names = ["name", "by", "clearance", "databases", "expires", "last used"];
    let mut table = Table::new(names.map(str::to_owned).to_vec());
    let day = |value: &Value, name: &str| text(value, name).get(..10).unwrap_or_default().to_owned();
    for key in rows(&keys) {
        let used = text(key, "LastUsed").get(..19).unwrap_or("never").replace('T', " ");
        let cells = vec![
            text(key, "Name").to_owned(),
            "key".to_owned(),
            clearance(key),
            databases(key),
            day(key, "Expires"),
            used,
        ];
        table.add(cells);
    }
    for certificate in rows(&certificates) {
        let name = text(certificate, "Name").to_owned();
        let by = format!("certificate {}", text(certificate, "Thumbprint").get(..8).unwrap_or_default());
        let day = day(certificate, "NotAfter");
        table.add(vec![name, by, clearance(certificate), databases(certificate), day, String::new()]);
    }
    table.write(&mut out, None)?;
    out.flush()?;
    Ok(())
}

fn clearance(value: &Value) -> String {
    match text(value, "SecurityClearance") {
        "ValidUser" => "user".to_owned(),
        "Operator" => "operator".to_owned(),
        "ClusterAdmin" => "cluster admin".to_owned(),
        "ClusterNode" => "the server".to_owned(),
        other => other.to_owned(),
    }
}

fn databases(value: &Value) -> String {
    let permissions = value.get("Permissions").map(Value::members).unwrap_or_default();
    let named = permissions.iter().map(|(database, permission)| {
        let permission = permission.as_str().unwrap_or_default();
        let name =
            PERMISSIONS.iter().find(|(_, wire_name)| *wire_name == permission).map_or(permission, |(name, _)| name);
        format!("{database}={name}")
    });
    named.collect::<Vec<_>>().join(", ")
}

fn revoke(arguments: &Revoke) -> anyhow::Result<()> {
    let client = Client::new(&arguments.server)?;
    let (keys, certificates) = all(&client)?;
    let is_named = |value: &&Value| text(value, "Name").eq_ignore_ascii_case(&arguments.name);
    // That of the server itself is not registered, and stays.
    let registered = rows(&certificates).iter().filter(|value| text(value, "SecurityClearance") != "ClusterNode");
    let named: Vec<&Value> = registered
        .filter(|value| is_named(value) || text(value, "Thumbprint").eq_ignore_ascii_case(&arguments.name))
        .collect();
    let key = rows(&keys).iter().find(is_named);
    let path = match (key, &named[..]) {
        (None, []) => bail!(
            "there is neither an API key nor a certificate called '{}'; see 'rookery access list'",
            arguments.name
        ),
        (Some(_), [_, ..]) | (None, [_, _, ..]) => {
            let of_named = named.iter().map(|certificate| text(certificate, "Thumbprint"));
            bail!(
                "several have the name '{}'; give the thumbprint of a certificate ({}), or rename one",
                arguments.name,
                of_named.collect::<Vec<_>>().join(", ")
            )
        }
        (Some(key), []) => format!("/admin/api-keys?name={}", escape(text(key, "Name"))),
        (None, [one]) => format!("/admin/certificates?thumbprint={}", text(one, "Thumbprint")),
    };
    client.stream("DELETE", &path, &[])?.text()?;
    let mut out = output();
    writeln!(out, "'{}' has no access any more.", arguments.name)?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn permissions_name_a_database_and_a_right() {
        assert_eq!(permission("Shop=write"), Ok(("Shop".to_owned(), "ReadWrite")));
        assert_eq!(permission("a=b=READ"), Ok(("a=b".to_owned(), "Read")));
        assert!(permission("Shop").unwrap_err().contains("DATABASE=read"));
        assert!(permission("Shop=all").unwrap_err().contains("'all' is none of"));
    }

    #[test]
    fn an_expiry_is_a_number_of_days_or_a_date() {
        let check = |text: &str, expected: &str| assert_eq!(expiry(text, UNIX_EPOCH).unwrap(), expected, "{text}");
        check("2d", "1970-01-03T00:00:00.0000000Z");
        check("2027-12-31", "2027-12-31T00:00:00.0000000Z");
        check("2027-12-31T10:00:00.0000000Z", "2027-12-31T10:00:00.0000000Z");
        for text in ["", "d", "soon", "-1d", "0d", "2027-13-01"] {
            expiry(text, UNIX_EPOCH).unwrap_err();
        }
    }
}
