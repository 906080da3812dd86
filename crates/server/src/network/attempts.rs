//! Requests whose certificate or key the server refused, or that came without one, counted by address.
//!
//! 256 random bits cannot be guessed. What is held back is the work and the log of an attacker who tries, or of a program that asks
//! without end with an old key. A key that is known is never refused here, so that no client locks out another one behind the same
//! address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

use parking_lot::Mutex;

use crate::limits::{FAILED_ATTEMPT_WINDOW, FAILED_ATTEMPTS_ADDRESSES_MAX};

/// How many failures an address has in the current window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Not more than are allowed.
    Allowed,
    /// One too many, the first of them.
    FirstOver,
    /// More than that.
    Over,
}

/// The failures of the current window.
#[derive(Debug)]
pub(crate) struct Attempts {
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    start: Instant,
    counts: HashMap<IpAddr, usize>,
    /// Those of addresses for which there was no room.
    of_others: usize,
}

impl Attempts {
    pub(crate) fn new(now: Instant) -> Attempts {
        Attempts { window: Mutex::new(Window { start: now, counts: HashMap::new(), of_others: 0 }) }
    }

    /// Counts a failure of an address that may have `allowed` of them in this window.
    pub(crate) fn failed(&self, address: IpAddr, allowed: usize, now: Instant) -> Attempt {
        let mut window = self.window.lock();
        if now.saturating_duration_since(window.start) >= FAILED_ATTEMPT_WINDOW {
            *window = Window { start: now, counts: HashMap::new(), of_others: 0 };
        }
        let has_room = window.counts.len() < FAILED_ATTEMPTS_ADDRESSES_MAX;
        let Window { counts, of_others, .. } = &mut *window;
        let network = network(address);
        let count = match counts.get_mut(&network) {
            Some(count) => count,
            None if has_room => counts.entry(network).or_insert(0),
            None => of_others,
        };
        *count += 1;
        match *count {
            count if count <= allowed => Attempt::Allowed,
            count if count == allowed + 1 => Attempt::FirstOver,
            _ => Attempt::Over,
        }
    }
}

/// What one customer of a provider has: an address of IPv4, 64 bits of IPv6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn failures_are_counted_by_network_and_forgotten_with_their_window() {
        let start = Instant::now();
        let attempts = Attempts::new(start);
        let failed = |text: &str, now| attempts.failed(address(text), 2, now) != Attempt::Allowed;
        assert!(!failed("10.0.0.1", start) && !failed("::ffff:10.0.0.1", start) && failed("10.0.0.1", start));
        assert!(!failed("10.0.0.2", start));
        assert!(!failed("2001:db8::1", start) && !failed("2001:db8::2", start) && failed("2001:db8::3", start));
        assert!(!failed("2001:db8:0:1::1", start));
        assert!(!failed("10.0.0.1", start + FAILED_ATTEMPT_WINDOW));
    }

    #[test]
    fn the_number_of_addresses_is_bounded() {
        let start = Instant::now();
        let attempts = Attempts::new(start);
        for number in 0..u32::try_from(FAILED_ATTEMPTS_ADDRESSES_MAX).unwrap() {
            assert_eq!(attempts.failed(IpAddr::V4(number.into()), 1, start), Attempt::Allowed);
        }
        // Those that come after them are counted together.
        let others = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|other| attempts.failed(address(other), 1, start));
        assert_eq!(others, [Attempt::Allowed, Attempt::FirstOver, Attempt::Over]);
        assert_eq!(attempts.window.lock().counts.len(), FAILED_ATTEMPTS_ADDRESSES_MAX);
    }
}
