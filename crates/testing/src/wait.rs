//! Waits for the work of other threads and of servers: a test looks at the state until it is as expected. All waits share one limit,
//! and a pause between two looks leaves the core to the threads that do the work.

use std::fmt::{Debug, Display};
use std::time::{Duration, Instant};

/// How long a test waits before it fails, also for a message of a channel or an answer on a socket. Healthy code needs milliseconds to
/// seconds; a machine that runs several test suites at once can need ten times as long. The limit is below the minutes after which
/// `scripts/test` stops a gate, so that a hang fails with the name of its test.
pub const LONG: Duration = Duration::from_secs(120);

/// The pause between two looks: too short to make a test slower, and long enough that a wait takes a small part of a core.
pub const PAUSE: Duration = Duration::from_millis(1);

/// Looks until the result is `Ok`, and returns its value.
///
/// # Panics
///
/// If that takes longer than [`LONG`], with the error of the last look.
#[track_caller]
pub fn until<T, E: Display>(look: impl FnMut() -> Result<T, E>) -> T {
    until_within(LONG, look)
}

/// Looks until the value equals `expected`.
///
/// # Panics
///
/// If that takes longer than [`LONG`], with both values.
#[track_caller]
pub fn until_equal<T: PartialEq<U> + Debug, U: Debug>(mut look: impl FnMut() -> T, expected: U) {
    until(|| {
        let found = look();
        if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
    });
}

/// Looks until a condition is true.
///
/// * `what`: the condition in words, such as `the thread waits for the lock`.
///
/// # Panics
///
/// If that takes longer than [`LONG`], with `what`.
#[track_caller]
pub fn until_true(what: impl Display, mut look: impl FnMut() -> bool) {
    until(|| if look() { Ok(()) } else { Err(format!("never: {what}")) });
}

#[track_caller]
fn until_within<T, E: Display>(limit: Duration, mut look: impl FnMut() -> Result<T, E>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Ok(value) => return value,
            Err(last) => assert!(start.elapsed() < limit, "the wait ended after {limit:?}: {last}"),
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_until_the_value_is_there() {
        let mut looks = 0..;
        assert_eq!(until(|| looks.next().filter(|look| *look == 3).ok_or("too early")), 3);
        until_equal(|| looks.next(), Some(7));
        until_true("the tenth look", || looks.next() == Some(10));
        assert_eq!(looks.next(), Some(11));
    }

    #[test]
    #[should_panic(expected = "the wait ended after 3ms: look ")]
    fn a_wait_without_success_fails_with_the_last_look() {
        let mut looks = 0..;
        until_within(Duration::from_millis(3), || -> Result<(), String> { Err(format!("look {:?}", looks.next())) });
    }
}
