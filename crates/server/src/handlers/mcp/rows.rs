//! Taking answers of the server apart, and writing as much of them as the answer of a tool may have.

use json::{Element, ElementScanner, Raw, Writer};

use super::inner::Answered;
use crate::limits::MCP_ANSWER_SIZE_MAX;

/// The results of an answer, and what stands before and behind them.
pub(super) struct Rows<'a> {
    pub(super) rows: Vec<&'a [u8]>,
    /// An object with what stands before the results, as far as that is known.
    head: Vec<u8>,
    /// The whole answer; `None` if it was cut off.
    whole: Option<Raw<'a>>,
}

const RESULTS: &[u8] = b"\"Results\":";

impl<'a> Rows<'a> {
    pub(super) fn of(answered: &'a Answered) -> Rows<'a> {
        if !answered.is_cut {
            let whole = answered.json();
            let rows = whole.get("Results").map(|rows| rows.elements().map(Raw::bytes).collect());
            return Rows { rows: rows.unwrap_or_default(), head: Vec::new(), whole: Some(whole) };
        }
        // Not in a text, where the quotes would have backslashes.
        let Some(at) = memchr::memmem::find(&answered.body, RESULTS) else {
            return Rows { rows: Vec::new(), head: b"{}".to_vec(), whole: None };
        };
        let (before, results) = answered.body.split_at(at + RESULTS.len());
        let mut head = before.to_vec();
        head.extend_from_slice(b"null}");
        let mut scanner = ElementScanner::new();
        let mut rows = Vec::new();
        while let Ok(Element::Complete(place)) = scanner.next(results) {
            rows.push(&results[place]);
        }
        Rows { rows, head, whole: None }
    }

    /// A property beside the results. Those behind them are unknown if the answer was cut off.
    pub(super) fn get(&self, name: &str) -> Option<Raw<'_>> {
        self.whole.unwrap_or_else(|| Raw::new(&self.head)).get(name)
    }

    /// True if results are missing that were not read.
    pub(super) fn is_cut(&self) -> bool {
        self.whole.is_none()
    }
}

/// How many of `rows` fit into an answer that has `taken` bytes already.
pub(super) fn fitting(rows: &[&[u8]], taken: usize) -> usize {
    let mut size = taken;
    rows.iter()
        .take_while(|row| {
            size += row.len() + 1;
            size <= MCP_ANSWER_SIZE_MAX
        })
        .count()
}

/// How many elements of a list are given, at most `limit`, and a note if that is not all.
///
/// * `what`: their name, for the note.
pub(super) fn cut_list(found: &[Raw<'_>], limit: u64, what: &str) -> (usize, Option<String>) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(found.len());
    let rows: Vec<&[u8]> = found[..limit].iter().map(|row| row.bytes()).collect();
    let count = fitting(&rows, 0);
    let all = found.len();
    let note = match count {
        count if count == all => None,
        count if count == limit => Some(format!("cut at {count} {what} of {all}; 'limit' gives more")),
        count => Some(format!("cut at {count} {what} of {all}: more would exceed {MCP_ANSWER_SIZE_MAX} bytes")),
    };
    (count, note)
}

/// Copies properties under other names; those that are missing are left out.
pub(super) fn write_members(json: &mut Writer<'_>, from: Raw<'_>, names: &[(&str, &str)]) {
    for (theirs, ours) in names {
        if let Some(value) = from.get(theirs) {
            json.name(ours).raw(value.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use hyper::StatusCode;

    fn answered(body: &str, is_cut: bool) -> Answered {
        Answered { status: StatusCode::OK, body: Bytes::from(body.to_owned()), is_cut }
    }

    #[test]
    fn an_answer_that_was_cut_off_has_its_whole_rows() {
        let text = r#"{"TotalResults":9,"IndexName":"a\"Results\":[","Results":[{"a":"]}\""},[1],{"b":"#;
        let cut = answered(text, true);
        let rows = Rows::of(&cut);
        assert_eq!(rows.rows, [&br#"{"a":"]}\""}"#[..], b"[1]"]);
        assert_eq!(rows.get("TotalResults").and_then(Raw::as_i64), Some(9));
        assert!(rows.is_cut() && rows.get("IsStale").is_none());
        let whole = answered(r#"{"Results":[1,2],"IsStale":true}"#, false);
        let rows = Rows::of(&whole);
        assert_eq!((rows.rows.len(), rows.get("IsStale").and_then(Raw::as_bool)), (2, Some(true)));
        assert!(Rows::of(&answered("{\"Total", true)).rows.is_empty());
    }

    #[test]
    fn lists_are_cut_by_their_number_and_by_their_size() {
        let large = format!("[\"{}\",\"{0}\",1]", "x".repeat(MCP_ANSWER_SIZE_MAX / 2));
        let found: Vec<Raw<'_>> = Raw::new(large.as_bytes()).elements().collect();
        assert_eq!(cut_list(&found, 1, "errors").0, 1);
        let (count, note) = cut_list(&found, 9, "errors");
        assert_eq!(count, 1);
        assert!(note.unwrap().starts_with("cut at 1 errors of 3: more would exceed 131072 bytes"));
        assert_eq!(cut_list(&found[2..], 1, "errors"), (1, None));
    }
}
