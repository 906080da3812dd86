//! The values of settings: URLs, networks, truth, log levels.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use database::backups::DestinationKind;
use server::{LogLevel, LogThreshold, Scheme, TrustedThumbprint};

/// What is left of a URL that may name scheme, host and port only.
struct Url<'a> {
    scheme: &'a str,
    /// An IPv6 address is in brackets.
    host: &'a str,
    port: Option<u16>,
}

impl Url<'_> {
    fn parse(url: &str) -> anyhow::Result<Url<'_>> {
        // RavenDB wants the scheme, we do not.
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let authority = rest.trim_end_matches('/');
        let is_plain = |c: char| c.is_alphanumeric() || "-_.:[]%".contains(c);
        ensure!(authority.chars().all(is_plain), "expected scheme, host and port: http://host:port");
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, Some(port.parse().ok().context("a port is a number from 0 to 65535")?))
            }
            _ => (authority, None),
        };
        let is_ip_v6 = host.starts_with('[') && host.ends_with(']');
        ensure!(!host.is_empty(), "there is no host in it");
        // The system would take 5 for the address 0.0.0.5.
        ensure!(
            !host.bytes().all(|byte| byte.is_ascii_digit()),
            "'{host}' has no host; to listen on that port, write http://127.0.0.1:{host}"
        );
        ensure!(
            is_ip_v6 || !host.contains([':', '[', ']']),
            "an IPv6 address is written in brackets: http://[::1]:8080"
        );
        Ok(Url { scheme, host, port })
    }
}

/// The scheme and the addresses of one or more URLs, separated by `;`.
pub(super) fn addresses(urls: &str) -> anyhow::Result<(Scheme, Vec<SocketAddr>)> {
    let (mut schemes, mut addresses) = (Vec::new(), Vec::new());
    for url in urls.split(';').map(str::trim).filter(|url| !url.is_empty()) {
        let Url { scheme, host, port } = Url::parse(url)?;
        let (scheme, default_port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Scheme::Http, 8080),
            "https" => (Scheme::Https, 443),
            _ => bail!("the scheme is http or https"),
        };
        schemes.push(scheme);
        addresses.extend(resolve(host, port.unwrap_or(default_port))?);
    }
    let scheme = *schemes.first().context("no address")?;
    ensure!(schemes.iter().all(|other| *other == scheme), "all addresses begin with http://, or all with https://");
    Ok((scheme, addresses))
}

/// The address of a host.
fn resolve(host: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    let mut found: Vec<SocketAddr> = format!("{host}:{port}").to_socket_addrs()?.collect();
    // `localhost` is both 127.0.0.1 and ::1; the first family is enough, and every machine has it.
    found.sort_by_key(SocketAddr::is_ipv6);
    found.dedup_by_key(|address| address.port());
    Ok(found)
}

/// Refuses hosts and ports that no client can connect to.
fn check_public(host: &str, port: Option<u16>) -> anyhow::Result<()> {
    ensure!(port != Some(0), "clients cannot connect to port 0");
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    ensure!(!address.is_ok_and(|address| address.is_unspecified()), "clients cannot connect to {host}");
    Ok(())
}

/// A file; `None` if nothing is given.
pub(super) fn file(value: &str) -> Option<PathBuf> {
    (!value.trim().is_empty()).then(|| PathBuf::from(value))
}

/// Thumbprints of certificates, separated by `;`.
pub(super) fn thumbprints(value: &str) -> anyhow::Result<Vec<TrustedThumbprint>> {
    let thumbprints = value.split(';').map(str::trim).filter(|thumbprint| !thumbprint.is_empty());
    let parse = |text| {
        TrustedThumbprint::parse(text).with_context(|| {
            format!("'{text}' is no thumbprint: 40 or 64 hexadecimal digits, SHA-1 or SHA-256 of a certificate")
        })
    };
    thumbprints.map(parse).collect()
}

/// The hosts of URLs, or of names alone, separated by `;`, without ports.
pub(super) fn hosts(urls: &str) -> anyhow::Result<Vec<String>> {
    let urls = urls.split(';').map(str::trim).filter(|url| !url.is_empty());
    urls.map(|url| Ok(Url::parse(url)?.host.to_owned())).collect()
}

/// Kinds of places for backups by RavenDB's names, separated by `;`; `None`: all.
pub(super) fn destinations(names: &str) -> anyhow::Result<Option<Vec<DestinationKind>>> {
    // Of these two there are none here, which a list that RavenDB has may allow all the same.
    const KNOWN: [(&str, Option<DestinationKind>); 7] = [
        ("Local", Some(DestinationKind::Local)),
        ("AmazonS3", Some(DestinationKind::S3)),
        ("Azure", Some(DestinationKind::Azure)),
        ("GoogleCloud", Some(DestinationKind::GoogleCloud)),
        ("AmazonGlacier", None),
        ("FTP", None),
        ("None", None),
    ];
    let mut allowed = Vec::new();
    let mut names = names.split(';').map(str::trim).filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none_or(|first| first.eq_ignore_ascii_case("All")) {
        return Ok(None);
    }
    for name in names {
        let known = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let (_, kind) = known.with_context(|| format!("expected All, None, or some of Local, AmazonS3, Azure and GoogleCloud with ';' between them, not '{name}'"))?;
        allowed.extend(*kind);
    }
    Ok(Some(allowed))
}

/// Origins of pages, separated by `;`, each with scheme, host and port.
pub(super) fn origins(urls: &str) -> anyhow::Result<Vec<String>> {
    let urls = urls.split(';').map(str::trim).filter(|url| !url.is_empty());
    urls.map(|url| {
        let Url { scheme, .. } = Url::parse(url)?;
        let has_scheme =
            url.contains("://") && ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        ensure!(has_scheme, "expected origins such as http://localhost:5173");
        Ok(url.to_owned())
    })
    .collect()
}

/// A URL that clients are told, without a slash at its end; `None` if nothing is given. It may be `https`: something in
/// front of the server can have a certificate.
pub(super) fn public_url(url: &str) -> anyhow::Result<Option<String>> {
    if url.trim().is_empty() {
        return Ok(None);
    }
    let Url { scheme, host, port } = Url::parse(url.trim())?;
    let has_scheme = url.contains("://") && ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    ensure!(has_scheme, "expected a URL that begins with http:// or https://");
    check_public(host, port)?;
    Ok(Some(url.trim().trim_end_matches('/').to_owned()))
}

/// Where RavenDB listens for TCP connections unless a port is given.
const TCP_PORT: u16 = 38_888;

/// The addresses of one or more URLs such as `tcp://127.0.0.1:38888`, separated by `;`.
pub(super) fn tcp_addresses(urls: &str) -> anyhow::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for url in urls.split(';').map(str::trim).filter(|url| !url.is_empty()) {
        let Url { scheme, host, port } = tcp_url(url)?;
        ensure!(scheme.eq_ignore_ascii_case("tcp"), "{TCP_URL_EXPECTED}");
        addresses.extend(resolve(host, port.unwrap_or(TCP_PORT))?);
    }
    ensure!(!addresses.is_empty(), "{TCP_URL_EXPECTED}");
    Ok(addresses)
}

const TCP_URL_EXPECTED: &str = "expected tcp://host:port";

fn tcp_url(url: &str) -> anyhow::Result<Url<'_>> {
    ensure!(url.contains("://"), "{TCP_URL_EXPECTED}");
    Url::parse(url)
}

/// The URL by which clients reach the port for TCP connections; `None` if nothing is given.
pub(super) fn public_tcp_url(url: &str) -> anyhow::Result<Option<String>> {
    if url.trim().is_empty() {
        return Ok(None);
    }
    let Url { scheme, host, port } = tcp_url(url.trim())?;
    ensure!(scheme.eq_ignore_ascii_case("tcp"), "{TCP_URL_EXPECTED}");
    check_public(host, port)?;
    Ok(Some(format!("tcp://{host}:{}", port.unwrap_or(TCP_PORT))))
}

/// The networks from which access without a certificate is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Network {
    Local,
    Private,
    Public,
}

impl Network {
    /// The widest of one or more names, separated by commas.
    pub(super) fn parse(names: &str) -> Option<Network> {
        let parse = |name: &str| match name.trim().to_ascii_lowercase().as_str() {
            "none" | "local" => Some(Network::Local),
            "privatenetwork" => Some(Network::Private),
            "publicnetwork" => Some(Network::Public),
            _ => None,
        };
        names.split(',').map(parse).try_fold(Network::Local, |most, network| network.map(|network| network.max(most)))
    }

    pub(super) fn contains(self, address: IpAddr) -> bool {
        match self {
            Network::Public => true,
            Network::Private => is_private(address),
            Network::Local => address.is_loopback(),
        }
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local() || address.is_loopback(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local() || address.is_loopback(),
    }
}

pub(super) fn truth(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Some(true),
        "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

pub(super) fn level(value: &str) -> Option<LogThreshold> {
    Some(match value.trim().to_ascii_lowercase().as_str() {
        "trace" => Some(LogLevel::Trace),
        "debug" => Some(LogLevel::Debug),
        "info" | "information" => Some(LogLevel::Info),
        "warn" | "warning" => Some(LogLevel::Warn),
        "error" | "fatal" => Some(LogLevel::Error),
        "off" | "none" => None,
        _ => return None,
    })
}

/// The URL of a collector of traces.
///
/// # Errors
///
/// It is no `http://` URL with a host and without a query string.
pub(super) fn collector(value: &str) -> anyhow::Result<hyper::Uri> {
    let url: hyper::Uri = value.trim().parse().ok().context("expected a URL such as http://127.0.0.1:4318")?;
    if url.scheme_str() == Some("https") {
        bail!("spans are sent over http:// only; run a collector on this machine or in a network that you trust");
    }
    let is_whole =
        url.scheme_str() == Some("http") && url.host().is_some_and(|host| !host.is_empty()) && url.query().is_none();
    if is_whole { Ok(url) } else { bail!("expected a URL such as http://127.0.0.1:4318") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_tcp_have_that_scheme_and_a_port() {
        let text =
            |url: &str| tcp_addresses(url).map(|found| format!("{found:?}")).unwrap_or_else(|error| error.to_string());
        assert_eq!(text("tcp://127.0.0.1:38881"), "[127.0.0.1:38881]");
        assert_eq!(text("tcp://127.0.0.1; tcp://[::1]:1"), "[127.0.0.1:38888, [::1]:1]");
        for wrong in ["", ";", "127.0.0.1:1", "http://127.0.0.1:1"] {
            assert_eq!(text(wrong), TCP_URL_EXPECTED, "{wrong}");
        }
        let public = |url: &str| public_tcp_url(url).map_err(|error| error.to_string());
        assert_eq!(public("tcp://db.example.com").unwrap().as_deref(), Some("tcp://db.example.com:38888"));
        assert_eq!(public("").unwrap(), None);
        for wrong in ["db.example.com:1", "https://db.example.com", "tcp://0.0.0.0:1", "tcp://db.example.com:0"] {
            assert!(public(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn where_to_listen_is_scheme_host_and_port() {
        let check = |url: &str, expected: &str| {
            let outcome =
                addresses(url).map(|addresses| format!("{addresses:?}")).unwrap_or_else(|error| error.to_string());
            assert!(outcome.contains(expected), "{url}: {outcome}");
        };
        check("http://127.0.0.1:1", "(Http, [127.0.0.1:1])");
        check("https://127.0.0.1:1;HTTPS://[::1]", "(Https, [127.0.0.1:1, [::1]:443])");
        check("https://127.0.0.1;http://[::1]", "all with https://");
        check("127.0.0.1:1/", "[127.0.0.1:1]");
        check("HTTP://127.0.0.1; http://[::1]:2", "[127.0.0.1:8080, [::1]:2]");
        check("http://[::1]", "[[::1]:8080]");
        check("http://127.0.0.1:0/foo", "expected scheme, host and port");
        check("http://user@127.0.0.1:0", "expected scheme, host and port");
        check("127.0.0.1:99999", "a port is a number");
        check("http://:80", "no host");
        check("8080", "to listen on that port, write http://127.0.0.1:8080");
        check("http://::1", "in brackets");
        check("tcp://127.0.0.1:0", "the scheme is http or https");
        check(" ; ", "no address");
    }

    #[test]
    fn what_clients_are_told_is_a_url_that_they_can_use() {
        assert_eq!(public_url("https://db.example:8443/").unwrap().as_deref(), Some("https://db.example:8443"));
        assert_eq!(public_url("").unwrap(), None);
        for url in
            ["nonsense", "db.example:80", "tcp://db", "http://x/y", "http://x:0", "http://0.0.0.0", "http://[::]:80"]
        {
            public_url(url).expect_err(url);
        }
    }
}
