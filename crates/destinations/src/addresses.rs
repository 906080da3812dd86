//! Addresses that a store may not have whose settings are not an operator's: those of this machine and of its link, where services listen
//! that trust everybody who reaches them, such as the metadata of clouds.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use database::Result;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::settings::Settings;

/// What the error of such an address says.
pub(crate) const REFUSED_ADDRESS: &str = "the address is of this machine or of its link";

/// The metadata of machines at Amazon, by IPv6.
const AMAZON_METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

fn is_refused(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local() || address.is_unspecified(),
        IpAddr::V6(address) => {
            let is_link_local = address.segments()[0] & 0xffc0 == 0xfe80;
            address.is_loopback() || address.is_unspecified() || is_link_local || address == AMAZON_METADATA
        }
    }
}

/// The setting `CustomServerUrl`, if it is given.
///
/// * `is_restricted`: the address must not be of this machine. Names are looked at when they are resolved.
/// * `example`: such an address.
///
/// # Errors
///
/// [`database::Error::BadBackup`]
pub(crate) fn custom_server(settings: &Settings<'_>, is_restricted: bool, example: &str) -> Result<Option<Url>> {
    const NAME: &str = "CustomServerUrl";
    let Some(text) = settings.text(NAME)? else { return Ok(None) };
    // The text is not repeated: it may have a password.
    let Some(server) = parse(text) else {
        return Err(settings.bad(
            NAME,
            &format!("must be an address of a server such as '{example}', without user, password or query"),
        ));
    };
    if is_restricted && is_of_this_machine(&server) {
        return Err(
            settings.bad(NAME, "must not be an address of this machine or of its link: only operators may use those")
        );
    }
    Ok(Some(server))
}

/// An address of a server, and nothing that could hide another one or a secret.
pub(crate) fn parse(text: &str) -> Option<Url> {
    let is_plain = |url: &Url| {
        ["http", "https"].contains(&url.scheme())
            && url.host().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    Url::parse(text).ok().filter(is_plain)
}

/// Whether an address is one of this machine or its link, and is written as a number, or `localhost`.
fn is_of_this_machine(server: &Url) -> bool {
    let host = server.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.parse().is_ok_and(is_refused) || host.eq_ignore_ascii_case("localhost")
}

/// Resolves names, but not to such addresses, so that no name can lead there after it was looked at.
#[derive(Debug)]
pub(crate) struct CheckedResolver;

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> = found.into_iter().filter(|address| !is_refused(address.ip())).collect();
            if allowed.is_empty() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, REFUSED_ADDRESS).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_link_are_refused() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "::ffff:127.0.0.1",
            "169.254.169.254",
            "fe80::1",
            "0.0.0.0",
            "::",
            "fd00:ec2::254",
        ] {
            assert!(is_refused(address.parse().unwrap()), "{address}");
        }
        for address in ["10.0.0.1", "192.168.1.1", "8.8.8.8", "2001:db8::1", "fd00::1"] {
            assert!(!is_refused(address.parse().unwrap()), "{address}");
        }
    }
}
