//! Where a server is, by its URL.

use anyhow::ensure;

/// Scheme, host and port of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub is_https: bool,
    /// `db.example:443`, `[::1]:8080`.
    pub authority: String,
}

impl Address {
    /// * `url`: `http://host:port` or `https://host:port`; the scheme may be omitted, as in the settings of the server, and is http then.
    ///   The port is 80 or 443 if there is a scheme, as everywhere, and 8080 if there is none.
    pub fn parse(url: &str) -> anyhow::Result<Address> {
        let (scheme, authority) = url.split_once("://").unwrap_or(("", url));
        let is_https = scheme.eq_ignore_ascii_case("https");
        ensure!(
            scheme.is_empty() || is_https || scheme.eq_ignore_ascii_case("http"),
            "'{url}' begins with {scheme}://; write http://host:port or https://host:port"
        );
        let authority = authority.trim_end_matches('/');
        let is_port = authority.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(
            !is_port && !authority.contains(['/', '?', '#', ' ']),
            "'{url}' is not the address of a server; write http://host:port or https://host:port"
        );
        let port = match scheme {
            "" => 8080,
            _ if is_https => 443,
            _ => 80,
        };
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:{port}") };
        Ok(Address { is_https, authority })
    }

    /// The host without port and brackets, as certificates have it.
    pub fn host(&self) -> &str {
        let host = self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']')
    }

    /// As a URL.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.is_https { "https" } else { "http" }, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server_may_lack_scheme_and_port() {
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(Address::parse(url).ok().map(|address| address.url()).as_deref(), expected, "{url}");
        };
        check("http://127.0.0.1:8081/", Some("http://127.0.0.1:8081"));
        check("127.0.0.1:8081", Some("http://127.0.0.1:8081"));
        check("db.example", Some("http://db.example:8080"));
        check("HTTP://db.example", Some("http://db.example:80"));
        check("http://[::1]", Some("http://[::1]:80"));
        check("[::1]:9000", Some("http://[::1]:9000"));
        check("https://db.example", Some("https://db.example:443"));
        check("HTTPS://db.example:8443/", Some("https://db.example:8443"));
        check("ftp://db.example", None);
        check("http://", None);
        check("8080", None);
        check("http://a;http://b", None);
        check("http://127.0.0.1:1/path", None);
    }

    #[test]
    fn the_host_has_neither_port_nor_brackets() {
        let host = |url: &str| Address::parse(url).unwrap().host().to_owned();
        assert_eq!(host("https://db.example:1"), "db.example");
        assert_eq!(host("https://[::1]:1"), "::1");
        assert_eq!(host("10.0.0.1"), "10.0.0.1");
    }
}
