//! The trace that a request belongs to: the header `traceparent` of W3C Trace Context.
//!
//! ```text
//! 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//! version   trace: 16 bytes           span: 8 bytes    flags
//! ```
//!
//! <https://www.w3.org/TR/trace-context/>. A header that breaks its rules counts as none, as the standard demands.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Characters of a header of version 0; later versions may append to them.
const LENGTH: usize = 55;

/// The flag by which a caller says that it records the trace.
const SAMPLED: u8 = 1;

/// Names a trace, in all programs that take part in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceId([u8; 16]);

/// Names a span within a trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanId([u8; 8]);

/// What a caller says of its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) trace: TraceId,
    /// The span of the caller.
    pub(crate) parent: SpanId,
    /// Whether the caller records it.
    pub(crate) is_sampled: bool,
}

impl TraceContext {
    /// That of a request; `None` if it has none, several, or one that is malformed.
    pub(crate) fn of(headers: &HeaderMap) -> Option<TraceContext> {
        let mut values = headers.get_all(TRACEPARENT).iter();
        let value = values.next()?;
        if values.next().is_some() { None } else { TraceContext::parse(value) }
    }

    fn parse(value: &HeaderValue) -> Option<TraceContext> {
        let text = value.as_bytes();
        let [version] = hex(text.get(..2)?)?;
        let is_whole = match version {
            0 => text.len() == LENGTH,
            0xff => false,
            _ => text.get(LENGTH).is_none_or(|next| *next == b'-'),
        };
        let dashes = [2, 35, 52].into_iter().all(|place| text.get(place) == Some(&b'-'));
        if !is_whole || !dashes {
            return None;
        }
        let (trace, parent, [flags]) = (hex(text.get(3..35)?)?, hex(text.get(36..52)?)?, hex(text.get(53..55)?)?);
        if trace == [0; 16] || parent == [0; 8] {
            return None;
        }
        Some(TraceContext { trace: TraceId(trace), parent: SpanId(parent), is_sampled: flags & SAMPLED != 0 })
    }
}

/// Bytes of lower-case hexadecimal digits, as the standard has them.
fn hex<const COUNT: usize>(text: &[u8]) -> Option<[u8; COUNT]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; COUNT];
    if text.len() != 2 * COUNT {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Makes ids that differ from all others with overwhelming probability. They need not be secret.
#[derive(Debug)]
pub(crate) struct Ids {
    /// Of SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
    state: AtomicU64,
}

impl Ids {
    pub(crate) fn new() -> Ids {
        Ids { state: AtomicU64::new(RandomState::new().hash_one(std::process::id())) }
    }

    pub(crate) fn trace(&self) -> TraceId {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next().to_be_bytes());
        TraceId(bytes)
    }

    pub(crate) fn span(&self) -> SpanId {
        SpanId(self.next().to_be_bytes())
    }

    /// A number that is not 0.
    pub(crate) fn next(&self) -> u64 {
        let mut mixed = self.state.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<TraceContext> {
        let mut headers = HeaderMap::new();
        headers.append(TRACEPARENT, HeaderValue::from_str(text).unwrap());
        TraceContext::of(&headers)
    }

    #[test]
    fn a_header_is_read_as_the_standard_says() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let found = parsed(text).unwrap();
        assert_eq!(found.trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!((found.parent.to_string().as_str(), found.is_sampled), ("00f067aa0ba902b7", true));
        assert!(!parsed("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").unwrap().is_sampled);
        // Flags that are not known yet, and later versions.
        assert!(parsed("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03").unwrap().is_sampled);
        assert!(parsed("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").is_some());
        for wrong in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-001",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
        let mut twice = HeaderMap::new();
        (0..2).for_each(|_| _ = twice.append(TRACEPARENT, HeaderValue::from_str(text).unwrap()));
        assert_eq!(TraceContext::of(&twice), None);
    }

    #[test]
    fn ids_differ() {
        let ids = Ids::new();
        let found: std::collections::HashSet<_> = (0..1000).map(|_| ids.trace().to_string()).collect();
        assert_eq!(found.len(), 1000);
        assert_ne!(ids.span(), ids.span());
    }
}
