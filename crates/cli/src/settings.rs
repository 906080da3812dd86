//! Settings of the server, from a file, the environment and flags, under RavenDB's names and ours.
//!
//! A later source beats an earlier one: defaults, `settings.json`, environment (`RAVEN_ServerUrl`,
//! `ROOKERY_SERVER_URL`), flags. Names compare without regard to case, and `_` stands for `.` in the environment.
//! A name that RavenDB knows and that has no meaning here is noted in the log; an unknown `Section.Key` is a warning.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use server::{Limits, Options};

/// One setting as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) value: String,
    /// `the flag`, `the environment`, or the file.
    pub(crate) source: String,
}

/// Takes the flags in RavenDB's style out of the command line: `--Name=value`, `--Name value`, `--Name`.
///
/// # Errors
///
/// A flag that begins large, has no section and is not one of those we know.
pub(crate) fn take_flags(arguments: Vec<OsString>) -> Result<(Vec<Given>, Vec<OsString>), String> {
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
            return Err(format!("unknown flag --{name}"));
        }
        given.push(Given { name, value, source: "the flag".to_owned() });
    }
    Ok((given, rest))
}

/// The settings of the environment.
pub(crate) fn from_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<Given> {
    let mut given: Vec<Given> = variables
        .filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            let short = ["ROOKERY_", "RAVEN_"].iter().find_map(|prefix| {
                let start = name.get(..prefix.len())?;
                if start.eq_ignore_ascii_case(prefix) { name.get(prefix.len()..) } else { None }
            })?;
            Some(Given {
                name: short.replace("__", ".").replace('_', "."),
                value,
                source: format!("the variable {name}"),
            })
        })
        .collect();
    given.sort_by(|left, right| left.source.cmp(&right.source));
    given
}

/// The settings of a JSON file: one object, whose values may be objects in turn (`{"Setup":{"Mode":"None"}}`).
///
/// # Errors
///
/// The file cannot be read, or is not a JSON object.
pub(crate) fn from_file(path: &Path) -> anyhow::Result<Vec<Given>> {
    use anyhow::Context;
    let text = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let value = json::Value::parse(text).with_context(|| format!("parsing {}", path.display()))?;
    anyhow::ensure!(matches!(value, json::Value::Object(_)), "{} is not a JSON object", path.display());
    let mut given = Vec::new();
    flatten(String::new(), &value, &path.display().to_string(), &mut given);
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

/// What the names that have a meaning mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    ServerUrl,
    PublicServerUrl,
    DataDir,
    RunInMemory,
    UnsecuredAccess,
    AllowedHosts,
    Certificate,
    ParentProcess,
    LogLevel,
    LogMode,
    LogFormat,
    Limit,
    /// RavenDB has it; here it changes nothing.
    NoMeaning,
}

const NAMES: [(&str, Name); 18] = [
    ("ServerUrl", Name::ServerUrl),
    ("PublicServerUrl", Name::PublicServerUrl),
    ("DataDir", Name::DataDir),
    ("RunInMemory", Name::RunInMemory),
    ("Security.UnsecuredAccessAllowed", Name::UnsecuredAccess),
    ("Security.AllowedHosts", Name::AllowedHosts),
    ("Security.Certificate.Path", Name::Certificate),
    ("Security.Certificate.Load.Exec", Name::Certificate),
    ("Security.Certificate.Exec", Name::Certificate),
    ("Security.Certificate.Change.Exec", Name::Certificate),
    ("Security.Certificate.LetsEncrypt.Email", Name::Certificate),
    ("Testing.ParentProcessId", Name::ParentProcess),
    ("Embedded.ParentProcessId", Name::ParentProcess),
    ("Logs.MinLevel", Name::LogLevel),
    ("Log.Level", Name::LogLevel),
    ("Logs.Mode", Name::LogMode),
    ("Log.Format", Name::LogFormat),
    ("Server.Url", Name::ServerUrl),
];

/// Names of RavenDB that are noted and change nothing: what they switch does not exist here, or is always on.
const WITHOUT_MEANING: [&str; 73] = [
    "AcmeUrl",
    "AI.*",
    "Backup.*",
    "Cluster.ElectionTimeoutInMs",
    "Cluster.OperationTimeoutInSec",
    "Cluster.StatsStabilizationTimeInSec",
    "Cluster.TcpSendBufferSizeInBytes",
    "Cluster.TcpTimeoutInMs",
    "Cluster.TimeBeforeAddingReplicaInSec",
    "Cluster.TimeBeforeMovingToRehabInSec",
    "Cluster.WorkerSamplePeriodInMs",
    "Databases.CollectionOperationTimeoutInSec",
    "Databases.ConcurrentLoadTimeoutInSec",
    "Databases.FrequencyToCheckForIdleInSec",
    "Databases.MaxConcurrentLoads",
    "Databases.MaxIdleTimeInSec",
    "Databases.OperationTimeoutInSec",
    "Databases.QueryOperationTimeoutInSec",
    "Databases.QueryTimeoutInSec",
    "Embedded.*",
    "ETL.*",
    "Features.Availability",
    "Http.AllowResponseCompressionOverHttps",
    "Http.GzipResponseCompressionLevel",
    "Http.MaxRequestBufferSizeInKb",
    "Http.MaxRequestLineSizeInKb",
    "Http.MinDataRateBytesPerSec",
    "Http.MinDataRateGracePeriodInSec",
    "Http.Protocols",
    "Http.UseLibuv",
    "Http.UseResponseCompression",
    "Http.ZstdResponseCompressionLevel",
    "Indexing.*",
    "Integrations.*",
    "License",
    "License.CanActivate",
    "License.CanForceUpdate",
    "License.CanRenew",
    "License.DisableAutoUpdate",
    "License.DisableAutoUpdateFromApi",
    "License.DisableLicenseSupportCheck",
    "License.Eula.Accepted",
    "License.Path",
    "License.SkipLeasingErrorsLogging",
    "License.ThrowOnInvalidOrMissingLicense",
    "Logs.Compress",
    "Logs.ArchiveAboveSizeInMb",
    "Logs.ConfigPath",
    "Logs.EnableArchiveFileCompression",
    "Logs.MaxArchiveDays",
    "Logs.MaxArchiveFiles",
    "Logs.MaxFileSizeInMb",
    "Logs.Path",
    "Logs.RetentionSizeInMb",
    "Logs.RetentionTimeInHrs",
    "Logs.UseUtcTime",
    "Memory.*",
    "Migration.*",
    "Monitoring.*",
    "PerformanceHints.*",
    "PublicServerUrl.Cluster",
    "PublicServerUrl.Tcp",
    "Query.*",
    "Replication.*",
    "Security.AuditLog.*",
    "Security.WellKnownCertificates.Admin",
    "Server.*",
    "ServerUrl.Cluster",
    "ServerUrl.Tcp",
    "Setup.Mode",
    "Storage.*",
    "Studio.*",
    "Updates.*",
];

impl Name {
    fn find(name: &str) -> Option<Name> {
        let plain = plain(name);
        if Limits::NAMES.iter().any(|limit| self::plain(limit) == plain) {
            return Some(Name::Limit);
        }
        if let Some((_, meaning)) = NAMES.iter().find(|(known, _)| self::plain(known) == plain) {
            return Some(*meaning);
        }
        let is_known = WITHOUT_MEANING.iter().any(|known| match known.strip_suffix('*') {
            // The dot is kept, so that `Query.*` does not take `QueryX` in.
            Some(section) => name.get(..section.len()).is_some_and(|start| start.eq_ignore_ascii_case(section)),
            None => self::plain(known) == plain,
        });
        is_known.then_some(Name::NoMeaning)
    }
}

/// A name without what is written differently in different places: `Server.Url`, `SERVER_URL`, `ServerUrl`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// What `serve` needs to know.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) options: Options,
    pub(crate) parent_process: Option<i32>,
    pub(crate) log_level: String,
    pub(crate) log_is_json: bool,
    /// What to tell once there is a log: known names without meaning.
    pub(crate) notes: Vec<String>,
    /// The same, but worth a warning: unknown names.
    pub(crate) warnings: Vec<String>,
}

/// The networks from which access without a certificate is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Network {
    Local,
    Private,
    Public,
}

/// Puts settings together; later ones win.
///
/// # Errors
///
/// A value that makes no sense, naming setting and source.
pub(crate) fn resolve(given: Vec<Given>) -> anyhow::Result<Settings> {
    let mut settings = Settings {
        options: Options::default(),
        parent_process: None,
        log_level: "info".to_owned(),
        log_is_json: false,
        notes: Vec::new(),
        warnings: Vec::new(),
    };
    let mut network = Network::Local;
    let (mut server_hosts, mut allowed_hosts) = (Vec::new(), Vec::new());
    for Given { name, value, source } in given {
        let wrong = |expected: &str| anyhow::anyhow!("{name} = '{value}' (from {source}): expected {expected}");
        match Name::find(&name) {
            Some(Name::ServerUrl) => {
                settings.options.addresses = addresses(&value)
                    .map_err(|error| anyhow::anyhow!("{name} = '{value}' (from {source}): {error}"))?;
                server_hosts = hosts(&value);
            }
            Some(Name::PublicServerUrl) => {
                settings.options.public_url =
                    Some(value.trim_end_matches('/').to_owned()).filter(|url| !url.is_empty());
            }
            Some(Name::DataDir) => settings.options.data_directory = PathBuf::from(&value),
            Some(Name::RunInMemory) => {
                settings.options.in_memory = truth(&value).ok_or_else(|| wrong("true or false"))?
            }
            Some(Name::UnsecuredAccess) => {
                network = value
                    .split(',')
                    .map(|part| match plain(part).as_str() {
                        "none" | "local" | "" => Ok(Network::Local),
                        "privatenetwork" => Ok(Network::Private),
                        "publicnetwork" => Ok(Network::Public),
                        _ => Err(wrong("None, Local, PrivateNetwork or PublicNetwork")),
                    })
                    .try_fold(Network::Local, |most, part| part.map(|part| if part > most { part } else { most }))?;
            }
            Some(Name::AllowedHosts) => allowed_hosts = hosts(&value),
            Some(Name::Certificate) => anyhow::bail!(
                "{name} is set (from {source}), but this version cannot use certificates yet; it does not start without \
                 the protection that was asked for"
            ),
            Some(Name::ParentProcess) => {
                let id: i32 = value.trim().parse().map_err(|_| wrong("the id of a process"))?;
                settings.parent_process = Some(id);
            }
            Some(Name::LogLevel) => settings.log_level = level(&value).ok_or_else(|| wrong("a log level"))?.to_owned(),
            Some(Name::LogMode) => match plain(&value).as_str() {
                "none" => settings.log_level = "error".to_owned(),
                "operations" => {}
                "information" => settings.log_level = "debug".to_owned(),
                _ => return Err(wrong("None, Operations or Information")),
            },
            Some(Name::LogFormat) => match plain(&value).as_str() {
                "json" => settings.log_is_json = true,
                "text" => settings.log_is_json = false,
                _ => return Err(wrong("text or json")),
            },
            Some(Name::Limit) => {
                let number = value.trim().parse().map_err(|_| wrong("a whole number"))?;
                let plain_name = plain(&name);
                let limit = Limits::NAMES.iter().find(|limit| plain(limit) == plain_name).copied().unwrap_or_default();
                settings.options.limits.set(limit, number);
            }
            Some(Name::NoMeaning) => settings.notes.push(format!("{name} (from {source}) has no meaning here")),
            None => settings.warnings.push(format!("unknown setting {name} (from {source})")),
        }
    }
    settings.options.allowed_hosts = [server_hosts, allowed_hosts].concat();
    // Which addresses others can reach is checked by the server; here only what was allowed is found out.
    settings.options.unsecured_access = settings.options.addresses.iter().all(|address| match network {
        Network::Public => true,
        Network::Private => is_private(address.ip()),
        Network::Local => address.ip().is_loopback(),
    });
    Ok(settings)
}

/// The hosts of URLs, or of names alone, separated by `;`, without ports.
fn hosts(urls: &str) -> Vec<String> {
    let host = |url: &str| {
        let authority = url.trim().split_once("://").map_or(url.trim(), |(_, rest)| rest).split('/').next()?;
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        Some(host.to_owned()).filter(|host| !host.is_empty())
    };
    urls.split(';').filter_map(host).collect()
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local() || address.is_loopback(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local() || address.is_loopback(),
    }
}

/// The addresses of one or more URLs, separated by `;`.
fn addresses(urls: &str) -> anyhow::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for url in urls.split(';').map(str::trim).filter(|url| !url.is_empty()) {
        if url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
            anyhow::bail!("https needs a certificate, which this version cannot use yet");
        }
        let is_http = url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
        let authority = if is_http { &url[7..] } else { url };
        let authority = authority.split('/').next().unwrap_or_default();
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:8080") };
        let mut found: Vec<SocketAddr> = authority.to_socket_addrs()?.collect();
        // `localhost` is both 127.0.0.1 and ::1; the first family is enough, and every machine has it.
        found.sort_by_key(SocketAddr::is_ipv6);
        found.dedup_by_key(|address| address.port());
        addresses.extend(found);
    }
    anyhow::ensure!(!addresses.is_empty(), "no address");
    Ok(addresses)
}

fn truth(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "" => Some(true),
        "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

fn level(value: &str) -> Option<&'static str> {
    Some(match value.trim().to_ascii_lowercase().as_str() {
        "trace" => "trace",
        "debug" => "debug",
        "info" | "information" => "info",
        "warn" | "warning" => "warn",
        "error" | "fatal" => "error",
        "off" | "none" => "off",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &[&str]) -> Result<(Vec<Given>, Vec<OsString>), String> {
        take_flags(arguments.iter().map(OsString::from).collect())
    }

    fn settings(arguments: &[&str]) -> anyhow::Result<Settings> {
        resolve(flags(arguments).map_err(anyhow::Error::msg)?.0)
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
        assert_eq!(settings.notes.len(), 5, "{:?}", settings.notes);
    }

    #[test]
    fn unknown_names_are_told() {
        assert_eq!(flags(&["rookery", "--Nonsense=1"]).unwrap_err(), "unknown flag --Nonsense");
        let settings = settings(&["rookery", "--Section.Key=1"]).unwrap();
        assert_eq!(settings.warnings, ["unknown setting Section.Key (from the flag)"]);
    }

    #[test]
    fn a_certificate_that_cannot_be_used_stops_the_start() {
        settings(&["rookery", "--Security.Certificate.Path=x.pfx"]).unwrap_err();
        settings(&["rookery", "--ServerUrl=https://localhost:1"]).unwrap_err();
    }

    #[test]
    fn the_environment_spells_names_its_own_way() {
        let variables = [("RAVEN_Setup_Mode", "None"), ("ROOKERY_SERVER_URL", "http://localhost:7"), ("PATH", "x")];
        let given = from_environment(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        let settings = resolve(given).unwrap();
        assert_eq!(settings.options.addresses, [SocketAddr::from(([127, 0, 0, 1], 7))]);
        assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
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
    fn names_of_the_server_are_those_of_its_urls_and_those_that_are_allowed() {
        let check = |arguments: &[&str], expected: &[&str]| {
            assert_eq!(settings(arguments).unwrap().options.allowed_hosts, expected, "{arguments:?}");
        };
        check(&["rookery"], &[]);
        check(&["rookery", "--ServerUrl=http://localhost:1;127.0.0.1:2"], &["localhost", "127.0.0.1"]);
        check(&["rookery", "--Security.AllowedHosts=raven; db.example:80;"], &["raven", "db.example"]);
        let both = ["rookery", "--ServerUrl=http://localhost:1", "--Security.AllowedHosts=http://raven:80/"];
        check(&both, &["localhost", "raven"]);
    }

    #[test]
    fn limits_are_settings() {
        let settings = settings(&["rookery", "--Limits.HeaderCount=7"]).unwrap();
        assert_eq!(settings.options.limits.header_count, 7);
    }
}
