//! How much a test does. The quick set of `make test` takes seconds for each test; with the environment variable `SLOW`
//! the same tests run at the size of the nightly set (`docs/testing.md`).

/// True for the nightly set: `SLOW` is set, to whatever.
pub fn is_slow() -> bool {
    std::env::var_os("SLOW").is_some()
}

/// The size of a test in the quick set, or in the nightly set.
pub fn choose<T>(quick: T, slow: T) -> T {
    if is_slow() { slow } else { quick }
}

/// The number in an environment variable, if it is set.
///
/// # Panics
///
/// If it is set to anything else, rather than that the test runs with another number.
pub fn number(variable: &str) -> Option<u64> {
    let value = std::env::var_os(variable)?;
    let number = value.to_str().and_then(|text| text.parse().ok());
    Some(number.unwrap_or_else(|| panic!("{variable}={} is not a number: set it to one", value.to_string_lossy())))
}
