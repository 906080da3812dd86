//! Tests of the reader of dumps.

use super::*;

const DUMP: &[u8] = br#" {"BuildVersion": 71028 ,"Docs":[{"a":"]}\"","@metadata":{"@id":"x/1"}} , {"@metadata":{"@export-type":"Attachment"},"Size":5}]}"{,,{"b":[1,{}]}],
    "Empty":[],"Record":{"x":[1,"}"]},"Indexes":[{"Name":"I",}],"Last":null} and more"#;

/// The events of a dump in pieces of some size, as text; elements with a `Size` of 5 are followed by 5 raw bytes, which are passed over.
fn read(dump: &[u8], size: usize) -> Result<Vec<String>, DumpError> {
    read_with(dump, size, |reader, size| reader.skip(size))
}

/// The same.
///
/// * `blob`: what is done with raw bytes.
fn read_with(dump: &[u8], size: usize, blob: impl Fn(&mut DumpReader, u64)) -> Result<Vec<String>, DumpError> {
    let (mut reader, mut events) = (DumpReader::new(), Vec::new());
    for piece in dump.chunks(size) {
        reader.push(piece);
        loop {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (event, skipped) = match reader.next()? {
                Event::More => break,
                Event::Closed => return Ok(events),
                Event::Begin => ("[".to_owned(), 0),
                Event::End => ("]".to_owned(), 0),
                Event::Value(value) => (text(value.bytes), 0),
                Event::Raw(bytes) => {
                    let more = text(bytes);
                    let last: &mut String = events.last_mut().unwrap();
                    last.push_str(&more);
                    continue;
                }
                Event::Element(element) => {
                    let has_blob = element.bytes.windows(8).any(|window| window == b"\"Size\":5");
                    (text(element.bytes), if has_blob { 5 } else { 0 })
                }
            };
            let section = reader.section().to_owned();
            if skipped > 0 {
                blob(&mut reader, skipped);
            }
            events.push(format!("{section} {event}"));
        }
    }
    Err(reader.cut_off())
}

#[test]
fn events_are_the_same_however_the_pieces_are_cut() {
    let expected = [
        "BuildVersion 71028",
        "Docs [",
        r#"Docs {"a":"]}\"","@metadata":{"@id":"x/1"}}"#,
        r#"Docs {"@metadata":{"@export-type":"Attachment"},"Size":5}"#,
        r#"Docs {"b":[1,{}]}"#,
        "Docs ]",
        "Empty [",
        "Empty ]",
        r#"Record {"x":[1,"}"]}"#,
        "Indexes [",
        r#"Indexes {"Name":"I",}"#,
        "Indexes ]",
        "Last null",
    ];
    for size in 1..=DUMP.len() {
        assert_eq!(read(DUMP, size).unwrap(), expected, "{size}");
    }
}

#[test]
fn raw_bytes_are_lent_as_they_come() {
    let lent = r#"Docs {"@metadata":{"@export-type":"Attachment"},"Size":5}]}"{,"#;
    for size in 1..=DUMP.len() {
        let events = read_with(DUMP, size, DumpReader::lend).unwrap();
        let expected = read(DUMP, size).unwrap();
        assert_eq!((events[3].as_str(), &events[..3], &events[4..]), (lent, &expected[..3], &expected[4..]), "{size}");
    }
}

/// Where the bytes behind a dump begin, and how many they are.
fn behind(dump: &[u8], size: usize) -> Option<(u64, u64)> {
    let mut reader = DumpReader::new();
    let mut is_closed = false;
    for piece in dump.chunks(size) {
        reader.push(piece);
        is_closed = loop {
            match reader.next().unwrap() {
                Event::More => break false,
                Event::Closed => break true,
                _ => {}
            }
        };
        assert!(!is_closed || reader.held_size() == 0);
    }
    assert!(is_closed);
    reader.behind().map(|behind| (behind.place.at, behind.size))
}

#[test]
fn what_follows_a_dump_is_counted_however_the_pieces_are_cut() {
    for size in 1..40 {
        let check = |dump: &str, expected| assert_eq!(behind(dump.as_bytes(), size), expected, "{dump} by {size}");
        check(r#"{"Docs":[]}"#, None);
        check("{\"Docs\":[]} \r\n\t \n", None);
        check(r#"{"Docs":[]},"Indexes":[{}]}"#, Some((11, 16)));
        check("{\"Docs\":[]}\n {} ", Some((13, 3)));
    }
}

#[test]
fn a_dump_that_is_cut_off_anywhere_is_an_error_with_its_place() {
    let end = DUMP.len() - " and more".len();
    for size in 0..end {
        let error = read(&DUMP[..size], 7).unwrap_err();
        assert!(error.place.at <= size as u64, "{size}: {error:?}");
        assert!(error.rule.contains("cut off") || error.rule.contains("empty"), "{size}: {error:?}");
    }
    assert!(read(&DUMP[..end], 7).is_ok());
}

/// A flipped bit may change values, but never makes the reader panic, go on for ever or hold more than was pushed.
#[test]
fn flipped_bits_are_errors_or_other_values() {
    let (mut refused, mut accepted) = (0, 0);
    for at in 0..DUMP.len() {
        for bit in 0..8 {
            let mut dump = DUMP.to_vec();
            dump[at] ^= 1 << bit;
            match read(&dump, 16) {
                Ok(events) => accepted += usize::from(events.len() < 100),
                Err(error) => refused += usize::from(error.place.at <= DUMP.len() as u64),
            }
        }
    }
    assert_eq!(refused + accepted, DUMP.len() * 8);
    assert!(refused > 100, "{refused}");
}

#[test]
fn what_is_no_dump_is_refused_with_place_and_reason() {
    let check = |dump: &str, expected: &str| {
        let error = read(dump.as_bytes(), 3).unwrap_err();
        let text = format!("{}: {}", error.place, error.rule);
        assert!(text.contains(expected), "{dump}: {text}");
    };
    check("", "byte 0: the file is empty");
    check("[1]", "byte 0: a JSON object is expected, and '[' is there");
    check("\u{1f}x", "the byte 0x1f");
    check("{1", "byte 1: the name of a property is expected");
    check(r#"{"a" 1"#, "byte 5 in 'a': ':' is expected");
    check(r#"{"a":}"#, "a value is expected");
    check(r#"{"a":1 2}"#, "',' or '}' is expected");
    check(r#"{"Docs":[{} {}]}"#, "byte 12, element 1 of 'Docs': ',' or ']' is expected");
    check(r#"{"Docs":[,]}"#, "a value is expected");
    check(&format!("{{\"Docs\":[{}", "[".repeat(100_000)), "element 1 of 'Docs'");
    check(&format!("{{\"{}\":1}}", "n".repeat(DUMP_SECTION_NAME_SIZE_MAX)), "DUMP_SECTION_NAME_SIZE_MAX");
}

/// Streams without end, in bounded memory: documents, white space, raw bytes, and one element that goes on.
#[test]
fn streams_without_end_are_read_in_bounded_memory() {
    const PIECE_SIZE: usize = 1 << 20;
    let mut reader = DumpReader::new();
    reader.push(br#"{"Docs":["#);
    let piece = br#"{"Name":"x"}      ,"#.repeat(PIECE_SIZE / 19);
    let mut count = 0;
    for _ in 0..64 {
        reader.push(&piece);
        loop {
            match reader.next().unwrap() {
                Event::More => break,
                Event::Element(_) => count += 1,
                Event::Begin => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(reader.held_size() <= 4 * PIECE_SIZE, "{}", reader.held_size());
    }
    assert_eq!(count, 64 * (PIECE_SIZE / 19) as u64);
    reader.push(b"{}");
    assert!(matches!(reader.next(), Ok(Event::Element(_))));
    reader.skip(u64::MAX);
    for _ in 0..64 {
        reader.push(&piece);
        assert!(matches!(reader.next(), Ok(Event::More)));
        assert!(reader.held_size() <= 4 * PIECE_SIZE);
    }
    let mut reader = DumpReader::new();
    reader.push(br#"{"Docs":[""#);
    let text = vec![b'x'; PIECE_SIZE];
    let error = (0..1000).find_map(|_| {
        reader.push(&text);
        reader.next().err()
    });
    assert!(error.unwrap().rule.contains("DUMP_ELEMENT_SIZE_MAX"));
    assert!(reader.held_size() <= 2 * (DUMP_ELEMENT_SIZE_MAX + PIECE_SIZE), "{}", reader.held_size());
}
