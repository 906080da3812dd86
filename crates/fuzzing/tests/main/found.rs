//! What fuzzing found, by name: inputs on which a target failed once.

use fuzzing::TARGETS;

#[track_caller]
fn survives(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    (target.run)(input);
}

/// A header that fits its hash and names transaction 2^48: the next write waited for ever to become visible.
#[test]
fn a_header_that_counts_too_far_is_refused() {
    survives("pages", b"\x01\x6e\x00\x01\x03\x01\x6e\x00\x01\x03\x01\x6e\x00\x01\x03\x01");
}

/// A bitmap that fits its hash and has a page as free that a tree uses: freeing it was a panic in the writer.
#[test]
fn a_page_in_use_that_is_marked_as_free_is_damage() {
    survives("pages", b"\x3d\x01\x61\x02\x01\x03\x01");
}

/// A record that fits its hash and makes a reference to the last page there can be: verifying added to its number.
#[test]
fn verifying_survives_a_reference_past_the_last_page() {
    let input = b"\x05\x26\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\x25\xa7\xa7\xa7\x2e\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\x00\x00\xa7\xa7\x00\x00\x3a\x28\x03";
    survives("journal", input);
}

/// A record that fits its hash and makes of a page what no page of its kind is: nobody looked at it again after the replay.
#[test]
fn a_replayed_page_that_is_none_of_its_kind_is_damage() {
    survives("journal", b"\x05\x82\x93\x00\x05\x82\x93\x00\x00\x2d\x43");
}

/// A record that fits its hash and changes a page that no data file has: making room for it overflowed.
#[test]
fn a_record_of_a_page_past_the_largest_file_is_damage() {
    survives(
        "journal",
        b"\x13\x00\x00\x00\x40\xa7\x2e\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7\x00\x00\x00\x00\x00\x01\x01\x04",
    );
}
