//! By which names an unsecured server may be called, and whose pages may call it.
//!
//! Listening on loopback keeps other machines out, but not the browser of whoever sits at this one: any page that it shows can
//! send a `POST` here, and by a name of its own that leads to 127.0.0.1 read the answer too (DNS rebinding). Both show in the
//! head. A page's origin is another host than ours, and a rebound name is neither an address nor a name that we were given.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

use crate::error::{Error, Result};

/// The names that are ours, besides addresses and `localhost`.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: Vec<String>,
}

/// What a refusal tells how to allow more.
const SETTING: &str = "Security.AllowedHosts";

/// Characters of a name that a refusal repeats.
const NAME_LENGTH_TOLD: usize = 200;

impl Hosts {
    /// * `public_url`: its host is ours.
    pub(crate) fn new(public_url: Option<&str>, allowed: &[String]) -> Hosts {
        let public = public_url.and_then(authority_of).map(host_of);
        Hosts { names: public.into_iter().chain(allowed.iter().map(String::as_str)).map(str::to_owned).collect() }
    }

    /// Lets the request pass, or says why not. Allocates nothing if it passes.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<()> {
        // Only HTTP/1.0 has no host, and no browser speaks that.
        let Some(host) = headers.get(HOST) else { return Ok(()) };
        let host = host.to_str().map(host_of).unwrap_or_default();
        if !is_address(host) && !self.is_own(host) {
            return Err(forbidden(&format!("The server is called '{}', which is none of its names", told(host))));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        let from = authority_of(origin).map(host_of).unwrap_or_default();
        let is_own = from.eq_ignore_ascii_case(host) || self.is_own(from) || is_loopback(from);
        if from.is_empty() || !is_own {
            return Err(forbidden(&format!("The request comes from a page of '{}', another host", told(origin))));
        }
        Ok(())
    }

    fn is_own(&self, host: &str) -> bool {
        host.eq_ignore_ascii_case("localhost") || self.names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

fn forbidden(what: &str) -> Error {
    Error::Forbidden(format!("{what}. While the server has no certificate, allow it with the setting {SETTING}"))
}

/// A name as a refusal repeats it: without what no name has.
fn told(name: &str) -> String {
    let is_usual = |c: &char| c.is_ascii_alphanumeric() || "-._:/[]".contains(*c);
    name.chars().filter(is_usual).take(NAME_LENGTH_TOLD).collect()
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

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// Whose page is of this machine may come from another port of it: a front end in development.
fn is_loopback(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, expected: bool) {
        let hosts = Hosts::new(Some("http://db.example:8080/"), &["raven".to_owned()]);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        assert_eq!(hosts.check(&headers).is_ok(), expected, "{host} {origin:?}");
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
    fn pages_of_our_own_hosts_may_call() {
        for origin in ["http://10.1.2.3:81", "http://localhost:5173", "https://db.example", "http://[::1]:8080"] {
            check("10.1.2.3:80", Some(origin), true);
        }
        for origin in ["https://evil.example", "http://10.1.2.4", "null", "", "http://", "10.1.2.3", "file://"] {
            check("10.1.2.3:80", Some(origin), false);
        }
    }
}
