//! `rookery cert`: a private certificate authority, the certificates of a server and of its clients, and a look at certificates.
//!
//! ```text
//! certificates/
//!   ca.crt  ca.key            the authority; clients trust ca.crt, and ca.key belongs on no server
//!   server.pfx  server.crt    the server's certificate; the PFX file has its key
//!   admin.pfx  admin.pem      an operator's certificate, for browsers and .NET, Java and Node.js, and for curl, Python and Go
//!   settings.json             the settings of a server with these certificates
//! ```

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use server::{Authority, CertificateFiles, Issued, Password, VALIDITY_DAYS_MAX};

use crate::output::{complain, output};
use crate::replacement::replace;

/// The files of a folder of certificates.
const AUTHORITY_CERTIFICATE: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";
const SERVER_PFX: &str = "server.pfx";
const SERVER_CERTIFICATE: &str = "server.crt";
const SETTINGS: &str = "settings.json";

/// The operator's certificate that comes with a server's.
const OPERATOR: &str = "admin";

/// The default validity of certificates, in days: the longest that Apple's systems accept of a server, and five years for clients, which
/// are removed by their thumbprint.
const SERVER_DAYS: u32 = 825;
const CLIENT_DAYS: u32 = 1826;

/// By which every machine reaches itself.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make an authority, a server certificate and an operator's client certificate: all that HTTPS needs.
    Create(Create),
    /// Make a client certificate, for an application or a person.
    Client(Client),
    /// Replace the server certificate by one for the same hosts, with a new key. The files keep owner, group and mode, and a running server
    /// loads them.
    Renew(Renew),
    /// Show the certificates in a file: names, validity period and thumbprint.
    Show(Show),
}

#[derive(clap::Args)]
struct Folder {
    /// The folder of the certificates.
    #[arg(long, default_value = "certificates", value_name = "FOLDER")]
    folder: PathBuf,
    /// The password of the PFX files that are written. macOS and some browsers do not import those without one.
    #[arg(long, env = "ROOKERY_CERT_PASSWORD", hide_env_values = true, default_value = "", value_name = "PASSWORD")]
    password: String,
}

#[derive(clap::Args)]
struct Create {
    /// Host names and IP addresses by which clients reach the server, beside localhost.
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// How long the server certificate is valid.
    #[arg(long, default_value_t = SERVER_DAYS, value_parser = clap::value_parser!(u32).range(1..=i64::from(VALIDITY_DAYS_MAX)))]
    days: u32,
    #[command(flatten)]
    folder: Folder,
}

#[derive(clap::Args)]
struct Client {
    /// The name of the application or person; the files are called by it.
    name: String,
    /// How long the certificate is valid.
    #[arg(long, default_value_t = CLIENT_DAYS, value_parser = clap::value_parser!(u32).range(1..=i64::from(VALIDITY_DAYS_MAX)))]
    days: u32,
    #[command(flatten)]
    folder: Folder,
}

#[derive(clap::Args)]
struct Renew {
    /// How long the new certificate is valid.
    #[arg(long, default_value_t = SERVER_DAYS, value_parser = clap::value_parser!(u32).range(1..=i64::from(VALIDITY_DAYS_MAX)))]
    days: u32,
    #[command(flatten)]
    folder: Folder,
}

#[derive(clap::Args)]
struct Show {
    /// A PFX or PEM file.
    file: PathBuf,
    /// The password of a PFX file.
    #[arg(long, env = "ROOKERY_CERT_PASSWORD", hide_env_values = true, default_value = "", value_name = "PASSWORD")]
    password: String,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Create(arguments) => create(&arguments),
        Command::Client(arguments) => client(&arguments),
        Command::Renew(arguments) => renew(&arguments),
        Command::Show(arguments) => show(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn create(Create { hosts, days, folder }: &Create) -> anyhow::Result<()> {
    let path = |name: &str| folder.folder.join(name);
    ensure!(
        !path(SERVER_PFX).exists(),
        "{} exists; 'rookery cert renew' replaces it, and --folder names another folder",
        path(SERVER_PFX).display()
    );
    let mut hosts = hosts.clone();
    for local in LOCAL_HOSTS {
        if !hosts.iter().any(|host| host == local) {
            hosts.push(local.to_owned());
        }
    }
    let authority = authority(&folder.folder)?;
    let server = authority.server(&hosts, *days)?;
    let operator = authority.client(OPERATOR, CLIENT_DAYS)?;
    write_server(folder, &server)?;
    write_client(folder, OPERATOR, &operator)?;
    write_settings(folder, &operator)?;
    let (shown, host) = (folder.folder.display(), &hosts[0]);
    let mut out = output();
    writeln!(out, "The server's certificate is in {shown}/{SERVER_PFX}, for {}.", hosts.join(", "))?;
    writeln!(
        out,
        "The operator's certificate is in {shown}/{OPERATOR}.pfx and {shown}/{OPERATOR}.pem; it may do everything."
    )?;
    writeln!(out, "Its thumbprint, for Security.WellKnownCertificates.Admin, is {}.", operator.thumbprint())?;
    writeln!(
        out,
        "Clients trust the server by {shown}/{AUTHORITY_CERTIFICATE}. Keep {shown}/{AUTHORITY_KEY} off the server."
    )?;
    writeln!(out)?;
    writeln!(out, "Start the server:")?;
    writeln!(out, "  rookery serve --config-path {shown}/{SETTINGS} --url https://{}:8443", in_url(host))?;
    writeln!(out, "Try it:")?;
    writeln!(
        out,
        "  curl --cacert {shown}/{AUTHORITY_CERTIFICATE} --cert {shown}/{OPERATOR}.pem https://{}:8443/databases",
        in_url(host)
    )?;
    out.flush()?;
    Ok(())
}

fn client(Client { name, days, folder }: &Client) -> anyhow::Result<()> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_. @".contains(letter);
    ensure!(
        name.chars().all(is_plain) && !name.starts_with('.'),
        "'{name}' cannot be the name of a file; use letters, digits, '-', '_', '.', '@' and spaces"
    );
    ensure!(
        !["ca", "server"].contains(&name.as_str()),
        "'{name}' is the name of other files in the folder; choose another name"
    );
    let issued = authority(&folder.folder)?.client(name, *days)?;
    write_client(folder, name, &issued)?;
    let shown = folder.folder.display();
    let mut out = output();
    writeln!(out, "The certificate of '{name}' is in {shown}/{name}.pfx and {shown}/{name}.pem.")?;
    writeln!(out, "Its thumbprint is {}.", issued.thumbprint())?;
    writeln!(
        out,
        "A server lets its owner do everything with this setting, which may name several, separated by ';':"
    )?;
    writeln!(out, "  Security.WellKnownCertificates.Admin={}", issued.thumbprint())?;
    out.flush()?;
    Ok(())
}

fn renew(Renew { days, folder }: &Renew) -> anyhow::Result<()> {
    let path = folder.folder.join(SERVER_CERTIFICATE);
    let pem = CertificateFiles::Pem { certificate: path.clone(), key: path };
    let present = pem.certificates().context("reading the hosts of the present certificate")?;
    let hosts = present.first().context("there is no certificate")?.hosts();
    let server = authority_of(&folder.folder)?.server(hosts, *days)?;
    // The server watches the PFX file, so it comes last.
    let certificate = replace(&folder.folder.join(SERVER_CERTIFICATE), server.certificate_pem().as_bytes())?;
    let pfx = replace(&folder.folder.join(SERVER_PFX), &server.pfx(&folder.password)?)?;
    let mut out = output();
    writeln!(out, "The server's certificate was renewed for {}, for {days} days.", hosts.join(", "))?;
    writeln!(out, "A server that uses the file loads it within two minutes. The former files end in .old.")?;
    out.flush()?;
    certificate.iter().chain(&pfx).for_each(complain);
    Ok(())
}

fn show(Show { file, password }: &Show) -> anyhow::Result<()> {
    let files = CertificateFiles::of(file, Password(password.clone()))?;
    let mut out = output();
    for (at, certificate) in files.certificates()?.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "Subject:     {}", certificate.subject())?;
        writeln!(out, "Issuer:      {}", certificate.issuer())?;
        if !certificate.hosts().is_empty() {
            writeln!(out, "Hosts:       {}", certificate.hosts().join(", "))?;
        }
        let (begin, end) = certificate.period();
        writeln!(out, "Valid from:  {begin}")?;
        writeln!(out, "Valid until: {end}")?;
        writeln!(out, "Thumbprint:  {}", certificate.thumbprint())?;
        writeln!(out, "SHA-256:     {}", certificate.thumbprint().sha256())?;
    }
    out.flush()?;
    Ok(())
}

/// The authority of a folder; one is made if there is none.
fn authority(folder: &Path) -> anyhow::Result<Authority> {
    if folder.join(AUTHORITY_CERTIFICATE).exists() {
        return authority_of(folder);
    }
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let (authority, issued) = Authority::create("Rookery private CA")?;
    write_secret(&folder.join(AUTHORITY_KEY), issued.key_pem().as_bytes())?;
    write_public(&folder.join(AUTHORITY_CERTIFICATE), issued.certificate_pem().as_bytes())?;
    Ok(authority)
}

fn authority_of(folder: &Path) -> anyhow::Result<Authority> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    Ok(Authority::from_pem(&read(AUTHORITY_CERTIFICATE)?, &read(AUTHORITY_KEY)?)?)
}

fn write_server(folder: &Folder, server: &Issued) -> anyhow::Result<()> {
    // The server watches the PFX file, so it comes last.
    write_public(&folder.folder.join(SERVER_CERTIFICATE), server.certificate_pem().as_bytes())?;
    write_secret(&folder.folder.join(SERVER_PFX), &server.pfx(&folder.password)?)
}

fn write_client(folder: &Folder, name: &str, issued: &Issued) -> anyhow::Result<()> {
    let path = |extension: &str| folder.folder.join(format!("{name}.{extension}"));
    let pem = format!("{}{}", issued.certificate_pem(), issued.key_pem());
    write_secret(&path("pem"), pem.as_bytes())?;
    write_secret(&path("pfx"), &issued.pfx(&folder.password)?)
}

fn write_settings(folder: &Folder, operator: &Issued) -> anyhow::Result<()> {
    let path = folder.folder.canonicalize().with_context(|| format!("finding {}", folder.folder.display()))?;
    let pfx = path.join(SERVER_PFX);
    let pfx = pfx.to_str().with_context(|| format!("{} is not UTF-8", pfx.display()))?;
    let mut text = Vec::new();
    json::Writer::new(&mut text).object(|json| {
        json.name("Security.Certificate.Path").string(pfx);
        if !folder.password.is_empty() {
            json.name("Security.Certificate.Password").string(&folder.password);
        }
        json.name("Security.WellKnownCertificates.Admin").string(&operator.thumbprint().to_string());
    });
    text.push(b'\n');
    write_secret(&folder.folder.join(SETTINGS), &text)
}

/// Writes a file that only its owner may read.
fn write_secret(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_new(path, bytes, 0o600)
}

fn write_public(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_new(path, bytes, 0o644)
}

/// Writes a file that is not there yet, so that no key is lost.
fn write_new(path: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    match opened {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists; remove it, or choose another name or --folder", path.display())
        }
        opened => {
            opened.and_then(|mut file| file.write_all(bytes)).with_context(|| format!("writing {}", path.display()))
        }
    }
}

/// An IPv6 address stands in brackets in a URL.
fn in_url(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}
