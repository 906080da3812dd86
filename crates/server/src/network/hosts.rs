//! By which names a server may be called, and whose pages may call it.
//!
//! Listening on loopback keeps other machines out, but not the browser of whoever sits at this one: any page that it shows can
//! send a `POST` here, and by a name of its own that leads to 127.0.0.1 read the answer too (DNS rebinding). Both show in the
//! head. A page's origin is another host or port than ours, and a rebound name is neither an address nor a name that we were given.
//! Another port of the same host is another program, which a setting may allow (`Security.AllowedOrigins`).
//!
//! A page sends no `Origin` with an image, a script or a link, which are `GET`s all the same. Browsers mark those with
//! `Sec-Fetch-Site` (W3C Fetch Metadata): what comes from another site is refused, unless the user follows a link to the studio.
//!
//! HTTPS does not change that: a browser sends the certificate of its user with what any page asks for. A page of our own host that came in
//! clear text may have been changed on its way, and is refused too. A proxy before a server with HTTP may have HTTPS, and may send another
//! `Host` than its client did: pages of the names in `Security.AllowedHosts` may call a server with HTTP by any port.

use std::net::IpAddr;

use hyper::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Method};

use super::peer::Scheme;
use crate::error::{Error, Result};

/// The names that are ours, besides addresses and `localhost`.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: Vec<String>,
    /// `host:port` of the public URL, if it is HTTPS.
    public_authority: Option<String>,
    /// The public URL as the origin of pages.
    public_origin: Option<String>,
    /// Other origins whose pages may call: `http://localhost:5173`.
    origins: Vec<String>,
    scheme: Scheme,
}

/// What a refusal tells how to allow more.
const SETTING: &str = "Security.AllowedHosts";
/// The same for pages.
const ORIGINS_SETTING: &str = "Security.AllowedOrigins";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Characters of a name that a refusal repeats.
const NAME_LENGTH_TOLD: usize = 200;

impl Hosts {
    /// * `public_url`: its host is ours.
    /// * `origins`: of pages of others that may call, such as `http://localhost:5173`.
    /// * `scheme`: what the listeners speak.
    pub(crate) fn new(public_url: Option<&str>, allowed: &[String], origins: &[String], scheme: Scheme) -> Hosts {
        let public = public_url.and_then(authority_of).map(host_of);
        let names = public.into_iter().chain(allowed.iter().map(String::as_str)).map(str::to_owned).collect();
        let public_authority =
            public_url.filter(|url| has_scheme(url, "https")).and_then(authority_of).map(str::to_owned);
        let public_origin = public_url.map(origin_of);
        let origins = origins.iter().map(|origin| origin_of(origin)).collect();
        Hosts { names, public_authority, public_origin, origins, scheme }
    }

    /// True if a page of this server makes the request, over HTTPS: of this host and this port, since pages of other ports are another
    /// program's. Also true for what the user opens by the browser itself, as an address that is typed in.
    pub(crate) fn is_own_page(&self, method: &Method, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else {
            let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
            return match site {
                Some(b"same-origin") => true,
                Some(b"none") => *method == Method::GET || *method == Method::HEAD,
                _ => false,
            };
        };
        let of_header = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let origin = of_header(origin);
        let host = headers.get(HOST).map(of_header);
        let own = host.as_deref().into_iter().chain(self.public_authority.as_deref());
        let is_same = |own: &str| {
            let from = authority_of(&origin).unwrap_or_default();
            !from.is_empty() && without_port_443(from).eq_ignore_ascii_case(without_port_443(own))
        };
        has_scheme(&origin, "https") && own.into_iter().any(is_same)
    }

    /// Lets the request pass, or says why not. Allocates nothing if it passes and has no origin.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]
    ///
    /// * `opens_page`: it asks for a page of the studio, which other sites may link to.
    pub(crate) fn check(&self, headers: &HeaderMap, opens_page: bool) -> Result<()> {
        // Only HTTP/1.0 has no host, and no browser speaks that.
        let Some(host) = headers.get(HOST) else { return Ok(()) };
        let host = host.to_str().map(host_of).unwrap_or_default();
        if !is_address(host) && !self.is_own(host) {
            return Err(forbidden(&format!("The Host header '{}' is not allowed", told(host))));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return check_site(headers, opens_page) };
        if origins.next().is_some() {
            return Err(forbidden("The request has several Origin headers"));
        }
        let origin = origin.to_str().unwrap_or_default();
        if self.may_call(origin, headers) { Ok(()) } else { Err(foreign_page(origin)) }
    }

    /// True if pages of this origin may call the server.
    fn may_call(&self, origin: &str, headers: &HeaderMap) -> bool {
        // No browser sends a user's name with an origin, and what stands before it would be taken for a host.
        let Some(from) = authority_of(origin).filter(|authority| !authority.is_empty() && !authority.contains('@'))
        else {
            return false;
        };
        let is_https = has_scheme(origin, "https");
        // A proxy before a server with HTTP may have HTTPS.
        let is_as_safe = is_https || (self.scheme == Scheme::Http && has_scheme(origin, "http"));
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let port = if is_https { ":443" } else { ":80" };
        let without_port = |authority: &'_ str| authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
        let is_own = without_port(from) == without_port(host);
        let is_named = || {
            let is_name = |name: &String| !is_local(name) && name.eq_ignore_ascii_case(host_of(from));
            self.scheme == Scheme::Http && self.names.iter().any(is_name)
        };
        let is_allowed = || self.public_origin.iter().chain(&self.origins).any(|allowed| *allowed == origin_of(origin));
        (is_as_safe && (is_own || is_named())) || is_allowed()
    }

    /// The same for a target in absolute form, which names a host of its own.
    ///
    /// * `authority`: `host:port`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]
    pub(crate) fn check_target(&self, authority: &str) -> Result<()> {
        let host = host_of(authority);
        if !authority.contains('@') && (is_address(host) || self.is_own(host)) {
            return Ok(());
        }
        Err(forbidden(&format!("The target's host '{}' is not allowed", told(host))))
    }

    fn is_own(&self, host: &str) -> bool {
        host.eq_ignore_ascii_case("localhost") || self.names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

/// Refuses what a page of another site makes a browser ask for without telling whose page it is.
fn check_site(headers: &HeaderMap, opens_page: bool) -> Result<()> {
    let Some(site) = headers.get(SEC_FETCH_SITE) else { return Ok(()) };
    let is = |name: &HeaderName, value: &str| headers.get(name).is_some_and(|given| given == value);
    let is_own = site == "same-origin" || site == "none";
    let is_link = || opens_page && is(&SEC_FETCH_MODE, "navigate") && is(&SEC_FETCH_DEST, "document");
    match is_own || is_link() {
        true => Ok(()),
        false => Err(forbidden("The request comes from a page of another site")),
    }
}

fn forbidden(what: &str) -> Error {
    Error::Forbidden(format!("{what}. To allow it, add the host to the setting {SETTING}"))
}

fn foreign_page(origin: &str) -> Error {
    let origin = told(origin);
    Error::Forbidden(format!(
        "The request comes from a page of '{origin}', another host or port. To allow it, add the origin to the setting {ORIGINS_SETTING}"
    ))
}

/// A URL as the origin of its pages: lower-cased, without a path and the port that its scheme has anyway.
fn origin_of(url: &str) -> String {
    let url = url.trim().to_ascii_lowercase();
    let Some((scheme, _)) = url.split_once("://") else { return url };
    let authority = authority_of(&url).unwrap_or_default();
    let port = if scheme == "https" { ":443" } else { ":80" };
    format!("{scheme}://{}", authority.strip_suffix(port).unwrap_or(authority))
}

/// A name as a refusal repeats it: without what no name has.
fn told(name: &str) -> String {
    let is_usual = |c: &char| c.is_ascii_alphanumeric() || "-._:/[]".contains(*c);
    name.chars().filter(is_usual).take(NAME_LENGTH_TOLD).collect()
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.split_once("://").is_some_and(|(of_url, _)| of_url.eq_ignore_ascii_case(scheme))
}

/// `host:port` of a URL.
fn authority_of(url: &str) -> Option<&str> {
    url.split_once("://").and_then(|(_, rest)| rest.split('/').next())
}

/// The host of `host:port`, an IPv6 address without its brackets.
fn host_of(authority: &str) -> &str {
    if let Some(address) = authority.strip_prefix('[') {
        return address.split(']').next().unwrap_or_default();
    }
    authority.rsplit_once(':').map_or(authority, |(host, _)| host)
}

/// The port that HTTPS has if none is said.
fn without_port_443(authority: &str) -> &str {
    authority.strip_suffix(":443").unwrap_or(authority)
}

/// True for addresses, and for the name of this machine: no setting gives all of its ports away.
fn is_local(host: &str) -> bool {
    is_address(host) || host.eq_ignore_ascii_case("localhost")
}

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, expected: bool) {
        let origins = ["http://localhost:5173/".to_owned()];
        let hosts = Hosts::new(Some("http://db.example:8080/"), &["raven".to_owned()], &origins, Scheme::Http);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        assert_eq!(hosts.check(&headers, false).is_ok(), expected, "{host} {origin:?}");
    }

    #[test]
    fn addresses_and_own_names_are_hosts() {
        for host in ["127.0.0.1:8080", "10.1.2.3", "[::1]:80", "LocalHost:1", "DB.example", "raven:8080"] {
            check(host, None, true);
        }
        for host in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", "", "x@localhost:1"] {
            check(host, None, false);
        }
    }

    #[test]
    fn pages_of_our_own_address_and_of_allowed_origins_may_call() {
        for origin in ["http://10.1.2.3", "http://10.1.2.3:80", "HTTP://10.1.2.3", "https://10.1.2.3:80"] {
            check("10.1.2.3:80", Some(origin), true);
        }
        check("10.1.2.3", Some("https://10.1.2.3"), true);
        check("LOCALHOST:8080", Some("http://localhost:8080"), true);
        check("[::1]:8080", Some("http://[::1]:8080"), true);
        // By settings, whatever the proxy calls us: the public URL, an origin, and a name with any port.
        for origin in ["http://db.example:8080", "http://localhost:5173", "https://raven", "http://raven:81"] {
            check("10.1.2.3:80", Some(origin), true);
        }
        for origin in [
            "https://evil.example",
            "http://10.1.2.4",
            "null",
            "",
            "http://",
            "10.1.2.3",
            "file://",
            "ftp://10.1.2.3:80",
        ] {
            check("10.1.2.3:80", Some(origin), false);
        }
        check("10.1.2.3:80", Some("http://localhost:80@evil.example"), false);
    }

    #[test]
    fn pages_of_another_port_of_this_machine_may_not_call() {
        for origin in
            ["http://localhost:3000", "http://127.0.0.1:81", "http://[::1]:81", "http://localhost", "https://localhost"]
        {
            check("localhost:8080", Some(origin), false);
        }
        check("10.1.2.3:80", Some("http://10.1.2.3:81"), false);
        check("127.0.0.1:8080", Some("http://localhost:8080"), false);
        check("10.1.2.3:80", Some("https://localhost:5173"), false);
    }

    #[test]
    fn with_https_only_pages_of_our_own_address_and_of_allowed_origins_may_call() {
        let origins = ["http://localhost:5173".to_owned()];
        let hosts = Hosts::new(Some("https://db.example"), &["raven".to_owned()], &origins, Scheme::Https);
        let asked = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("raven:8443"));
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            hosts.check(&headers, false).is_ok()
        };
        assert!(asked("https://raven:8443") && asked("HTTPS://db.example:443") && asked("http://localhost:5173"));
        for origin in [
            "http://raven:8443",
            "https://raven",
            "https://raven:9000",
            "https://db.example:8443",
            "http://db.example",
            "http://localhost:3000",
            "https://127.0.0.1:9999",
        ] {
            assert!(!asked(origin), "{origin}");
        }
    }

    #[test]
    fn a_page_of_this_server_has_its_host_and_port() {
        let hosts = Hosts::new(Some("https://db.example/"), &[], &[], Scheme::Https);
        let is_own = |method: Method, host: &'static str, name: HeaderName, value: &'static str| {
            let headers =
                HeaderMap::from_iter([(HOST, HeaderValue::from_static(host)), (name, HeaderValue::from_static(value))]);
            hosts.is_own_page(&method, &headers)
        };
        let of_origin = |host, origin| is_own(Method::POST, host, ORIGIN, origin);
        for (host, origin) in [
            ("10.0.0.1:8443", "https://10.0.0.1:8443"),
            ("LocalHost:8443", "HTTPS://localhost:8443"),
            ("db.example:443", "https://db.example"),
            ("[::1]:8443", "https://[::1]:8443"),
            // Behind a proxy that passes TLS on, by the public address.
            ("10.0.0.1:8443", "https://db.example"),
        ] {
            assert!(of_origin(host, origin), "{host} {origin}");
        }
        for origin in [
            "https://10.0.0.1:9000",
            "https://10.0.0.1",
            "http://10.0.0.1:8443",
            "https://localhost:8443",
            "https://x@10.0.0.1:8443",
            "https://db.example:8443",
            "https://",
            "null",
            "",
        ] {
            assert!(!of_origin("10.0.0.1:8443", origin), "{origin}");
        }
        let of_site = |method, site| is_own(method, "10.0.0.1:8443", SEC_FETCH_SITE, site);
        assert!(of_site(Method::GET, "same-origin") && of_site(Method::POST, "same-origin"));
        assert!(of_site(Method::GET, "none") && !of_site(Method::POST, "none"));
        assert!(!of_site(Method::GET, "same-site") && !of_site(Method::GET, "cross-site"));
        assert!(!is_own(Method::GET, "10.0.0.1:8443", SEC_FETCH_MODE, "cors"), "a request that says nothing");
    }

    #[test]
    fn a_target_in_absolute_form_has_an_allowed_host() {
        let hosts = Hosts::new(Some("http://db.example:8080/"), &[], &[], Scheme::Http);
        for (authority, expected) in [
            ("localhost:8080", true),
            ("db.example", true),
            ("10.1.2.3:80", true),
            ("evil.example", false),
            ("localhost:80@evil.example", false),
        ] {
            assert_eq!(hosts.check_target(authority).is_ok(), expected, "{authority}");
        }
    }

    #[test]
    fn what_other_sites_make_a_browser_ask_for_is_refused() {
        let hosts = Hosts::new(None, &[], &["http://localhost:5173".to_owned()], Scheme::Http);
        let asked = |fetch: [Option<&'static str>; 3], origins: &[&'static str], opens_page: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("127.0.0.1:8080"));
            for (name, value) in [SEC_FETCH_SITE, SEC_FETCH_MODE, SEC_FETCH_DEST].into_iter().zip(fetch) {
                headers.extend(value.map(|value| (name, HeaderValue::from_static(value))));
            }
            origins.iter().for_each(|origin| _ = headers.append(ORIGIN, HeaderValue::from_static(origin)));
            hosts.check(&headers, opens_page).is_ok()
        };
        let (no_cors, image) = (Some("no-cors"), Some("image"));
        assert!(asked([None; 3], &[], false));
        assert!(asked([Some("none"), Some("navigate"), Some("document")], &[], false));
        assert!(asked([Some("same-origin"), no_cors, image], &[], false));
        for site in [Some("cross-site"), Some("same-site"), Some("?")] {
            assert!(!asked([site, no_cors, image], &[], false));
            assert!(!asked([site, no_cors, image], &[], true));
            let link = [site, Some("navigate"), Some("document")];
            assert_eq!([asked(link, &[], false), asked(link, &[], true)], [false, true]);
            assert!(!asked([site, Some("navigate"), Some("iframe")], &[], true));
            // A front end in development on another port says so.
            assert!(asked([site, Some("cors"), Some("empty")], &["http://localhost:5173"], false));
        }
        assert!(!asked([None; 3], &["http://localhost:5173", "http://localhost:5173"], false));
    }
}
