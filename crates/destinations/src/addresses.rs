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

/// Refuses an address that is written as a number; names are looked at when they are resolved.
///
/// # Errors
///
/// [`database::Error::BadBackup`]
pub(crate) fn check(settings: &Settings<'_>, property: &str, server: &Url) -> Result<()> {
    let host = server.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_refused = host.parse().is_ok_and(is_refused) || host.eq_ignore_ascii_case("localhost");
    match is_refused {
        false => Ok(()),
        true => Err(settings
            .bad(property, "must not be an address of this machine or of its link: only operators may use those")),
    }
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
