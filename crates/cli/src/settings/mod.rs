//! Settings of the server, from a file, the environment and flags, under RavenDB's names and ours.
//!
//! A later source beats an earlier one: defaults, `settings.json`, environment (`RAVEN_ServerUrl`, `ROOKERY_SERVER_URL`,
//! and our flags as `ROOKERY_URL`), flags. Names compare without regard to case, and `_` stands for `.` in the environment.
//! A name that RavenDB knows and that has no meaning here is noted in the log; what it does and we do not, and an unknown
//! `Section.Key`, is a warning; a value that makes no sense, and what asks for protection that is not there, is an error.

mod comments;
mod names;
mod report;
mod sample;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use server::{AUDIT_RETENTION, AuditOptions, LogLevel, LogThreshold, Options, Password, TraceOptions};

pub use sample::{Form, sample};

use names::{Name, OWN_FLAGS, plain};
use values::Network;

/// One setting as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// As it was written.
    pub name: String,
    /// As it was written.
    pub value: String,
    /// `the flag`, `the environment`, or the file.
    pub source: String,
}

/// Takes the flags in RavenDB's style out of the command line: `--Name=value`, `--Name value`, `--Name`.
///
/// # Errors
///
/// A flag that begins large, has no section and is not one of those we know.
pub fn take_flags(arguments: Vec<OsString>) -> Result<(Vec<Given>, Vec<OsString>), String> {
    let mut given = Vec::new();
    let mut rest = Vec::new();
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next() {
        let name = argument.to_str().and_then(|text| text.strip_prefix("--")).map(str::to_owned);
        let Some(name) = name.filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase())) else {
            rest.push(argument);
            continue;
        };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => {
                let is_value = |next: &OsString| next.to_str().is_some_and(|next| !next.starts_with('-'));
                let value = arguments.next_if(is_value).and_then(|value| value.into_string().ok());
                (name, value.unwrap_or_else(|| "true".to_owned()))
            }
        };
        if !name.contains('.') && Name::find(&name).is_none() {
            let hint =
                names::similar_setting(&name).map_or_else(String::new, |known| format!("; did you mean --{known}?"));
            return Err(format!("unknown flag --{name}{hint}"));
        }
        given.push(Given { name, value, source: "the flag".to_owned() });
    }
    Ok((given, rest))
}

/// The variable that names the file of settings.
pub(crate) const CONFIG_PATH: &str = "ROOKERY_CONFIG_PATH";

/// Variables that begin like settings and are none: where the settings are, what the commands that speak to a server need, and what a
/// build was given.
const NO_SETTINGS: [&str; 7] = [
    CONFIG_PATH,
    "ROOKERY_API_KEY",
    "ROOKERY_CA",
    "ROOKERY_CERTIFICATE",
    "ROOKERY_CERT_PASSWORD",
    "ROOKERY_COMMIT",
    "ROOKERY_COMMIT_DATE",
];

/// The settings of the environment.
///
/// # Errors
///
/// One of our variables is not UTF-8.
pub fn from_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> anyhow::Result<Vec<Given>> {
    let mut given = Vec::new();
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| !NO_SETTINGS.contains(name)) else { continue };
        let after = |prefix: &str| {
            let (start, rest) = name.split_at_checked(prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then_some(rest)
        };
        let Some(short) = after("ROOKERY_").or_else(|| after("RAVEN_")) else { continue };
        let own = OWN_FLAGS.iter().find(|(flag, _)| after("ROOKERY_").is_some() && plain(flag) == plain(short));
        given.push(Given {
            name: own.map_or_else(|| short.replace("__", ".").replace('_', "."), |(_, name)| (*name).to_owned()),
            value: value.to_str().with_context(|| format!("the variable {name} is not UTF-8"))?.to_owned(),
            source: format!("the variable {name}"),
        });
    }
    given.sort_by(|left, right| left.source.cmp(&right.source));
    Ok(given)
}

/// The settings of a JSON file: one object, whose values may be objects in turn (`{"Setup":{"Mode":"None"}}`). It may have comments.
///
/// # Errors
///
/// The file cannot be read, or is not a JSON object.
pub fn from_file(path: &Path) -> anyhow::Result<Vec<Given>> {
    let text = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let text = comments::without_comments(text);
    let value = json::Value::parse(&text).with_context(|| format!("parsing {}", path.display()))?;
    ensure!(matches!(value, json::Value::Object(_)), "{} is not a JSON object", path.display());
    let mut given = Vec::new();
    flatten(String::new(), &value, &path.display().to_string(), &mut given);
    Ok(given)
}

/// The settings of the file and of the environment.
///
/// * `config_path`: the file, if a flag names one; otherwise a variable may, and without either it is `settings.json`, if that
///   exists.
///
/// # Errors
///
/// As of [`from_file`] and [`from_environment`].
pub(crate) fn gather(config_path: Option<PathBuf>) -> anyhow::Result<Vec<Given>> {
    let config_path = config_path.or_else(|| std::env::var_os(CONFIG_PATH).map(PathBuf::from));
    let mut given = match &config_path {
        Some(path) => from_file(path)?,
        None => match Path::new("settings.json") {
            path if path.is_file() => from_file(path)?,
            _ => Vec::new(),
        },
    };
    given.extend(from_environment(std::env::vars_os())?);
    Ok(given)
}

fn flatten(name: String, value: &json::Value, source: &str, given: &mut Vec<Given>) {
    let value = match value {
        json::Value::Object(members) => {
            for (key, value) in members {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(name, value, source, given);
            }
            return;
        }
        json::Value::String(text) | json::Value::Number(text) => text.clone(),
        json::Value::Bool(value) => value.to_string(),
        json::Value::Null => return,
        array @ json::Value::Array(_) => String::from_utf8_lossy(&array.to_vec()).into_owned(),
    };
    given.push(Given { name, value, source: source.to_owned() });
}

/// What `serve` needs to know.
#[derive(Debug)]
pub struct Settings {
    pub(crate) options: Options,
    pub(crate) parent_process: Option<i32>,
    pub(crate) log_level: LogThreshold,
    pub(crate) log_is_json: bool,
    /// Of traces, whether there are any or not.
    traces: TraceSettings,
    /// Of the audit log, whether there is one or not.
    audit_retention: Duration,
    /// The hosts of the URLs that the server listens on.
    server_hosts: Vec<String>,
    /// What to tell once there is a log: known names without meaning.
    pub(crate) notes: Vec<String>,
    /// The same, but worth a warning: unknown names, and known ones of which more is expected than happens.
    pub(crate) warnings: Vec<String>,
}

/// The settings `Traces.*`.
#[derive(Debug)]
struct TraceSettings {
    endpoint: Option<hyper::Uri>,
    ratio: f64,
    service: String,
}

impl Default for TraceSettings {
    fn default() -> TraceSettings {
        TraceSettings { endpoint: None, ratio: 0.0, service: "rookery".to_owned() }
    }
}

impl TraceSettings {
    /// What the server needs to know of them; `None`: there are no traces.
    fn options(&self) -> Option<TraceOptions> {
        let TraceSettings { endpoint, ratio, service } = self;
        endpoint.clone().map(|endpoint| TraceOptions {
            endpoint,
            ratio: *ratio,
            service: service.clone(),
            batch_time: TraceOptions::BATCH_TIME,
        })
    }
}

/// Puts settings together; later ones win.
///
/// # Errors
///
/// Values that make no sense, each with setting and source.
pub fn resolve(given: Vec<Given>) -> anyhow::Result<Settings> {
    let mut settings = Settings {
        options: Options::default(),
        parent_process: None,
        log_level: Some(LogLevel::Info),
        log_is_json: false,
        traces: TraceSettings::default(),
        audit_retention: AUDIT_RETENTION,
        server_hosts: Vec::new(),
        notes: Vec::new(),
        warnings: Vec::new(),
    };
    let mut network = Network::Local;
    let wrong: Vec<String> = given
        .iter()
        .filter_map(|Given { name, value, source }| {
            let taken = settings.take(name, value, source, &mut network);
            taken.err().map(|error| match Name::find(name) {
                // It may be a password.
                Some(known) if known.is_secret() => format!("{name} (from {source}): {error:#}"),
                _ => format!("{name} = '{value}' (from {source}): {error:#}"),
            })
        })
        .collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("\nerror: "));
    settings.warnings.extend(overridden_url(&given));
    settings.options.settings = report::settings(&given);
    settings.options.traces = settings.traces.options();
    settings.options.allowed_hosts.append(&mut settings.server_hosts);
    // Which addresses others can reach is checked by the server; here only what was allowed is found out.
    let mut addresses = settings.options.addresses.iter().chain(&settings.options.tcp_addresses);
    settings.options.unsecured_access = addresses.all(|address| network.contains(address.ip()));
    Ok(settings)
}

/// The variable that the commands which speak to a server read, and `serve` as well.
const URL_VARIABLE: &str = "the variable ROOKERY_URL";

/// A warning if a variable that is meant for other commands overrides where the file has the server listen.
fn overridden_url(given: &[Given]) -> Option<String> {
    let mut urls = given.iter().filter(|given| matches!(Name::find(&given.name), Some(Name::ServerUrl))).rev();
    let of_variable = urls.next().filter(|last| last.source == URL_VARIABLE)?;
    let of_file = urls.find(|before| !before.source.starts_with("the variable "))?;
    (of_variable.value != of_file.value).then(|| {
        format!(
            "{URL_VARIABLE} = '{}' overrides {} = '{}' of {}. Commands such as 'rookery status' read the variable, too; unset it for the \
             server if it is meant for them alone",
            of_variable.value, of_file.name, of_file.value, of_file.source
        )
    })
}

impl Settings {
    fn take(&mut self, name: &str, value: &str, source: &str, network: &mut Network) -> anyhow::Result<()> {
        match Name::find(name) {
            Some(Name::ServerUrl) => {
                (self.options.scheme, self.options.addresses) = values::addresses(value)?;
                self.server_hosts = values::hosts(value)?;
            }
            Some(Name::PublicServerUrl) => self.options.public_url = values::public_url(value)?,
            Some(Name::ServerUrlTcp) => self.options.tcp_addresses = values::tcp_addresses(value)?,
            Some(Name::PublicServerUrlTcp) => self.options.public_tcp_url = values::public_tcp_url(value)?,
            Some(Name::DataDir) => {
                ensure!(!value.trim().is_empty(), "expected a folder");
                self.options.data_directory = PathBuf::from(value);
            }
            Some(Name::RunInMemory) => {
                self.options.in_memory = values::truth(value).context("expected true or false")?
            }
            Some(Name::UnsecuredAccess) => {
                *network = Network::parse(value).context("expected None, Local, PrivateNetwork or PublicNetwork")?;
            }
            Some(Name::AllowedHosts) => self.options.allowed_hosts = values::hosts(value)?,
            Some(Name::AllowedOrigins) => self.options.allowed_origins = values::origins(value)?,
            Some(Name::CertificatePfx) => self.options.certificate.pfx = values::file(value),
            Some(Name::CertificatePassword) => {
                self.options.certificate.password = (!value.is_empty()).then(|| Password(value.to_owned()));
            }
            Some(Name::CertificatePem) => self.options.certificate.pem = values::file(value),
            Some(Name::CertificateKey) => self.options.certificate.key = values::file(value),
            Some(Name::Operators) => self.options.admins = values::thumbprints(value)?,
            Some(Name::AuditFolder) => {
                let retention = self.audit_retention;
                self.options.audit = values::file(value).map(|folder| AuditOptions { folder, retention });
            }
            Some(Name::AuditRetention) => {
                let hours = value.trim().parse().ok().filter(|hours| (1..=AUDIT_RETENTION_HOURS_MAX).contains(hours));
                let hours = hours.with_context(|| format!("expected hours, from 1 to {AUDIT_RETENTION_HOURS_MAX}"))?;
                self.audit_retention = Duration::from_secs(hours * 60 * 60);
                if let Some(audit) = &mut self.options.audit {
                    audit.retention = self.audit_retention;
                }
            }
            Some(Name::BackupRoot) => {
                self.options.backup_root = values::file(value).map(std::path::absolute).transpose()?;
            }
            Some(Name::BackupDestinations) => self.options.allowed_destinations = values::destinations(value)?,
            Some(Name::McpWrites) => {
                self.options.mcp_writes_allowed = values::truth(value).context("expected true or false")?
            }
            Some(Name::SetupMode) => match plain(value).as_str() {
                "none" | "initial" | "unsecured" => {
                    self.notes.push(format!("{name} (from {source}) has no effect here"))
                }
                "secured" | "letsencrypt" => bail!(NO_PROTECTION),
                _ => bail!("expected None, Initial, Unsecured, Secured or LetsEncrypt"),
            },
            Some(Name::Protection) => bail!(NO_PROTECTION),
            Some(Name::ParentProcess) => {
                let id = value.trim().parse().ok().filter(|id| *id > 0);
                self.parent_process = Some(id.context("expected the id of a process")?);
            }
            Some(Name::LogLevel) => {
                self.log_level = values::level(value).context("expected trace, debug, info, warn, error or off")?;
            }
            Some(Name::LogMode) => {
                self.log_level = match plain(value).as_str() {
                    "none" => Some(LogLevel::Error),
                    "operations" => Some(LogLevel::Info),
                    "information" => Some(LogLevel::Debug),
                    _ => bail!("expected None, Operations or Information"),
                }
            }
            Some(Name::LogFormat) => {
                self.log_is_json = match plain(value).as_str() {
                    "json" => true,
                    "text" => false,
                    _ => bail!("expected text or json"),
                }
            }
            Some(Name::LogAccess) => {
                self.options.access_log = values::truth(value).context("expected true or false")?;
            }
            Some(Name::TracesEndpoint) => {
                self.traces.endpoint = Some(values::collector(value)?);
            }
            Some(Name::TracesRatio) => {
                let ratio = value.trim().parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
                self.traces.ratio = ratio.context("expected a number from 0 to 1")?;
            }
            Some(Name::TracesService) => self.traces.service = value.to_owned(),
            Some(Name::ResponseCompression) => {
                if !values::truth(value).context("expected true or false")? {
                    self.warnings.push(format!(
                        "{name} = {value} (from {source}): answers to clients that ask for it are compressed"
                    ));
                }
            }
            Some(Name::Limit(limit)) => {
                let (least, most) = (limit.range.start(), limit.range.end());
                let number = value.trim().parse().ok().filter(|number| limit.range.contains(number));
                let number = number.ok_or_else(|| anyhow!("expected a whole number from {least} to {most}"))?;
                (limit.set)(&mut self.options.limits, number);
            }
            Some(Name::Query(switch)) => {
                let is_on = values::truth(value).context("expected true or false")?;
                (switch.set)(&mut self.options.limits.queries, is_on);
            }
            Some(Name::NotDone) => {
                self.warnings.push(format!("{name} (from {source}) is not implemented and is ignored"));
            }
            Some(Name::NoMeaning) => self.notes.push(format!("{name} (from {source}) has no effect here")),
            None => {
                let hint = names::did_you_mean(name, source);
                self.warnings.push(format!("unknown setting {name} (from {source}){hint}"));
            }
        }
        Ok(())
    }
}

/// A hundred years.
const AUDIT_RETENTION_HOURS_MAX: u64 = 876_600;

const NO_PROTECTION: &str = "this version does not have it, and does not start without the protection that was asked for. HTTPS is set by \
    Security.Certificate.Path, Security.Certificate.Password and Security.WellKnownCertificates.Admin";

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use server::Scheme;

    use database::backups::DestinationKind;

    use super::*;

    fn flags(arguments: &[&str]) -> Result<(Vec<Given>, Vec<OsString>), String> {
        take_flags(arguments.iter().map(OsString::from).collect())
    }

    fn settings(arguments: &[&str]) -> anyhow::Result<Settings> {
        resolve(flags(arguments).map_err(anyhow::Error::msg)?.0)
    }

    #[test]
    fn names_of_the_server_are_those_of_its_urls_and_those_that_are_allowed() {
        let check = |arguments: &[&str], expected: &[&str]| {
            assert_eq!(settings(arguments).unwrap().options.allowed_hosts, expected, "{arguments:?}");
        };
        check(&["rookery"], &[]);
        check(&["rookery", "--ServerUrl=http://localhost:1;127.0.0.1:2"], &["localhost", "127.0.0.1"]);
        check(&["rookery", "--Security.AllowedHosts=raven; db.example:80;"], &["raven", "db.example"]);
        let both = ["rookery", "--ServerUrl=http://localhost:1", "--Security.AllowedHosts=http://raven:80/"];
        check(&both, &["raven", "localhost"]);
        assert!(settings(&["rookery", "--Security.AllowedHosts=a b"]).is_err());
        let origins = |value: &str| {
            settings(&["rookery", &format!("--Security.AllowedOrigins={value}")]).map(|s| s.options.allowed_origins)
        };
        assert_eq!(
            origins("http://localhost:5173; https://db.example/").unwrap(),
            ["http://localhost:5173", "https://db.example/"]
        );
        let kinds = |value: &str| {
            settings(&["rookery", &format!("--Backup.AllowedDestinations={value}")])
                .map(|s| s.options.allowed_destinations)
        };
        assert_eq!(kinds("Local; amazons3;FTP").unwrap(), Some(vec![DestinationKind::Local, DestinationKind::S3]));
        assert_eq!((kinds("").unwrap(), kinds("All").unwrap(), kinds("None").unwrap()), (None, None, Some(Vec::new())));
        assert!(kinds("Local,Azure").is_err());
        assert!(origins("localhost:5173").is_err() && origins("*").is_err());
    }

    #[test]
    fn the_flags_of_the_client_suites_are_understood() {
        let arguments = [
            "rookery",
            "--config-path",
            "settings.json",
            "--RunInMemory",
            "--License.Eula.Accepted=true",
            "--Setup.Mode",
            "None",
            "--Logs.Mode=None",
            "--Testing.ParentProcessId=77",
            "--ServerUrl=http://127.0.0.1:0",
            "--ServerUrl.Tcp=tcp://127.0.0.1:38884",
            "--Features.Availability=Experimental",
            "-n",
            "--Cluster.ElectionTimeoutInMs=3000",
            "--DataDir=/tmp/x",
        ];
        let (_, rest) = flags(&arguments).unwrap();
        assert_eq!(rest, ["rookery", "--config-path", "settings.json", "-n"]);
        let settings = settings(&arguments).unwrap();
        assert!(settings.options.in_memory);
        assert_eq!(settings.options.addresses, [SocketAddr::from(([127, 0, 0, 1], 0))]);
        assert_eq!(settings.options.data_directory, PathBuf::from("/tmp/x"));
        assert_eq!(settings.parent_process, Some(77));
        assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
        assert_eq!(settings.notes.len(), 4, "{:?}", settings.notes);
        assert_eq!(settings.options.tcp_addresses, [SocketAddr::from(([127, 0, 0, 1], 38_884))]);
    }

    #[test]
    fn unknown_names_are_told() {
        assert_eq!(flags(&["rookery", "--Nonsense=1"]).unwrap_err(), "unknown flag --Nonsense");
        let settings = settings(&["rookery", "--Section.Key=1", "--Storage.TempPaht=/x", "--Logs.Path=/x"]).unwrap();
        let expected = [
            "unknown setting Section.Key (from the flag)",
            "unknown setting Storage.TempPaht (from the flag); did you mean Storage.TempPath?",
            "Logs.Path (from the flag) is not implemented and is ignored",
        ];
        assert_eq!(settings.warnings, expected);
    }

    #[test]
    fn a_misspelt_name_brings_the_right_one() {
        let check = |name: &str, source: &str, expected: &str| {
            let given = Given { name: name.to_owned(), value: "1".to_owned(), source: source.to_owned() };
            assert_eq!(resolve(vec![given]).unwrap().warnings, [expected], "{name}");
        };
        let from = "the variable ROOKERY_DTAA";
        check("DTAA", from, "unknown setting DTAA (from the variable ROOKERY_DTAA); did you mean ROOKERY_DATA?");
        let from = "the variable RAVEN_DataDri";
        check("DataDri", from, "unknown setting DataDri (from the variable RAVEN_DataDri); did you mean DataDir?");
        let expected = "unknown setting Limits.Conections (from x.json); did you mean Limits.Connections?";
        check("Limits.Conections", "x.json", expected);
        assert_eq!(flags(&["rookery", "--DataDri=1"]).unwrap_err(), "unknown flag --DataDri; did you mean --DataDir?");
    }

    #[test]
    fn a_variable_of_the_commands_that_overrides_the_file_is_told() {
        let warnings = |sources: &[(&str, &str)]| {
            let given = |(source, value): &(&str, &str)| Given {
                name: "ServerUrl".to_owned(),
                value: (*value).to_owned(),
                source: (*source).to_owned(),
            };
            resolve(sources.iter().map(given).collect()).unwrap().warnings
        };
        let (file, variable) = (("x.json", "http://127.0.0.1:1"), (URL_VARIABLE, "http://127.0.0.1:2"));
        let told = warnings(&[file, variable]);
        let expected =
            "the variable ROOKERY_URL = 'http://127.0.0.1:2' overrides ServerUrl = 'http://127.0.0.1:1' of x.json";
        assert!(told.len() == 1 && told[0].starts_with(expected), "{told:?}");
        assert_eq!(warnings(&[variable]), [""; 0]);
        assert_eq!(warnings(&[file, (URL_VARIABLE, file.1)]), [""; 0]);
        assert_eq!(warnings(&[file, variable, ("the flag", "http://127.0.0.1:3")]), [""; 0]);
        assert_eq!(warnings(&[file, ("the variable ROOKERY_SERVERURL", "http://127.0.0.1:2")]), [""; 0]);
    }

    #[test]
    fn a_number_is_no_address() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        std::fs::write(&file, "{\"ServerUrl\": 5}").unwrap();
        let error = resolve(from_file(&file).unwrap()).unwrap_err().to_string();
        assert!(error.contains("'5' has no host; to listen on that port, write http://127.0.0.1:5"), "{error}");
    }

    #[test]
    fn protection_that_is_not_there_stops_the_start() {
        for flag in [
            "--Security.Certificate.Exec=x",
            "--Security.Certificate.Pasword=secret",
            "--Security.MasterKey.Path=x",
            "--Security.UnsecuredAccess=Local",
            "--Setup.Mode=Secured",
        ] {
            let error = settings(&["rookery", flag]).expect_err(flag).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        let audit = settings(&["rookery", "--Security.AuditLog.Compress=true"]).unwrap();
        assert_eq!(audit.warnings.len(), 1, "{:?}", audit.warnings);
    }

    #[test]
    fn an_audit_log_has_a_folder_and_a_retention_in_any_order() {
        let (folder, hours) = ("--Security.AuditLog.FolderPath=/x", "--Security.AuditLog.RetentionTimeInHours=2");
        let expected = Some(AuditOptions { folder: "/x".into(), retention: Duration::from_secs(7200) });
        assert_eq!(settings(&["rookery", folder, hours]).unwrap().options.audit, expected);
        assert_eq!(settings(&["rookery", hours, folder]).unwrap().options.audit, expected);
        assert_eq!(settings(&["rookery", hours]).unwrap().options.audit, None);
        for hours in ["0", "-1", "x", "876601"] {
            settings(&["rookery", folder, &format!("--Security.AuditLog.RetentionTimeInHours={hours}")]).unwrap_err();
        }
    }

    #[test]
    fn a_certificate_is_a_pfx_file_or_pem_files() {
        let certificate = |arguments: &[&str]| {
            let arguments: Vec<_> = std::iter::once("rookery").chain(arguments.iter().copied()).collect();
            settings(&arguments).unwrap().options
        };
        let options = certificate(&[
            "--ServerUrl=https://127.0.0.1:0",
            "--Security.Certificate.Path=x.pfx",
            "--Security.Certificate.Password=secret",
            "--Security.WellKnownCertificates.Admin=da39a3ee5e6b4b0d3255bfef95601890afd80709; DA:39:A3:EE:5E:6B:4B:0D:32:55:BF:EF:95:60:18:90:AF:D8:07:09;",
        ]);
        assert_eq!((options.scheme, options.admins.len()), (Scheme::Https, 2));
        assert_eq!(options.certificate.pfx, Some(PathBuf::from("x.pfx")));
        assert_eq!(options.certificate.password, Some(Password("secret".to_owned())));
        assert!(!format!("{options:?}").contains("secret"), "{options:?}");
        let options = certificate(&["--Security.Certificate.PemPath=x.crt", "--Security.Certificate.KeyPath=x.key"]);
        assert_eq!((options.certificate.pem, options.certificate.key), (Some("x.crt".into()), Some("x.key".into())));
        settings(&["rookery", "--Security.WellKnownCertificates.Admin=da39"]).unwrap_err();
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let arguments = [
            "rookery",
            "--DataDir=",
            "--RunInMemory=",
            "--PublicServerUrl=nonsense",
            "--Testing.ParentProcessId=0",
            "--Log.Level=loud",
            "--Http.UseResponseCompression=perhaps",
            "--Limits.Connections=0",
            "--Limits.HeaderBlockInKb=4294967296",
            "--Http.MaxRequestLineSizeInKb=0",
        ];
        let error = settings(&arguments).unwrap_err().to_string();
        assert_eq!(error.lines().count(), arguments.len() - 1, "{error}");
        for argument in &arguments[1..] {
            let name = argument.split(['-', '=']).find(|part| !part.is_empty()).unwrap();
            assert!(error.contains(&format!("{name} = '")), "{argument}: {error}");
        }
        assert!(error.contains("Limits.Connections = '0' (from the flag): expected a whole number from 1 to 1000000"));
    }

    #[test]
    fn the_environment_spells_names_its_own_way() {
        let given = |name: &str, value: &str| {
            let given = from_environment([(name.into(), value.into())].into_iter()).unwrap();
            given.first().map_or_else(String::new, |given| format!("{}={}", given.name, given.value))
        };
        assert_eq!(given("RAVEN_Setup_Mode", "None"), "Setup.Mode=None");
        assert_eq!(given("rookery_server_url", "x"), "server.url=x");
        assert_eq!(given("ROOKERY_URL", "x"), "ServerUrl=x");
        assert_eq!(given("ROOKERY_DATA", "x"), "DataDir=x");
        assert_eq!(given("ROOKERY_IN_MEMORY", "true"), "RunInMemory=true");
        assert_eq!(given("ROOKERY_LOG_LEVEL", "warn"), "Log.Level=warn");
        assert_eq!(given("RAVEN_URL", "x"), "URL=x");
        assert_eq!(given("PATH", "x"), "");
        use std::os::unix::ffi::OsStringExt;
        let value = OsString::from_vec(vec![0xff]);
        from_environment([("ROOKERY_DATA".into(), value)].into_iter()).unwrap_err();
    }

    #[test]
    fn only_the_networks_that_were_named_are_open() {
        let check = |allowed: &str, url: &str, expected: bool| {
            let (allowed, url) = (format!("--Security.UnsecuredAccessAllowed={allowed}"), format!("--ServerUrl={url}"));
            assert_eq!(
                settings(&["rookery", &allowed, &url]).unwrap().options.unsecured_access,
                expected,
                "{allowed} {url}"
            );
        };
        check("PublicNetwork", "http://0.0.0.0:0", true);
        check("PrivateNetwork", "http://0.0.0.0:0", false);
        check("PrivateNetwork", "http://10.1.2.3:0", true);
        check("Local", "http://10.1.2.3:0", false);
        check("None", "http://127.0.0.1:0", true);
        settings(&["rookery", "--Security.UnsecuredAccessAllowed=Mars"]).unwrap_err();
    }

    #[test]
    fn settings_of_queries_are_switches() {
        let given = ["rookery", "--Query.FreshReads", "--Indexing.DisableQueryOptimizerGeneratedIndexes=true"];
        let queries = settings(&given).unwrap().options.limits.queries;
        assert!(queries.reads_fresh && queries.refuses_automatic && !queries.never_widens);
        assert!(settings(&["rookery", "--Indexing.Auto.NeverWiden=x"]).is_err());
    }

    #[test]
    fn limits_are_settings() {
        let settings = settings(&["rookery", "--Limits.HeaderCount=7", "--Databases.QueryTimeoutInSec=9"]).unwrap();
        assert_eq!(settings.options.limits.header_count, 7);
        assert_eq!(settings.options.limits.query_run_time.as_secs(), 9);
        assert!(settings.notes.is_empty() && settings.warnings.is_empty());
    }
}
