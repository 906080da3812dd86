//! Doors to parsers that no caller outside of this crate has, for `crates/fuzzing`.

use crate::certificates::certificate::Certificate;
use crate::certificates::files;
use crate::limits::FORM_HEAD_SIZE_MAX;
use crate::messages::form::{Form, FormEvent};
use crate::messages::query_string::{QueryString, decode, decode_segment};
use crate::network::framing::Framing;

/// Parses a query; any answer is one.
pub fn parse_query(text: &str, parameters: Option<&json::Value>) {
    let Ok(tree) = query::rql::parse(text) else { return };
    let plan = query::plan::Plan::new(&tree, query::plan::Parameters::new(parameters));
    if let Ok(query::plan::Plan { find: query::plan::Find::Index(query), .. }) = plan
        && let query::plan::IndexChoice::Covering(index) = query.index
    {
        assert_eq!(query::definition::AutomaticIndex::from_json(&index.to_json()), Some(index));
    }
}

/// Reads the query string of a URL in every way that handlers do.
pub fn parse_query_string(text: &str) {
    let query = QueryString::new(text);
    query.check_ids().ok();
    query.page_start().ok();
    query.page_size().ok();
    for (key, _) in query.pairs().take(64) {
        query.get_nonempty(key);
        query.all(key).for_each(drop);
        query.is_true(key).ok();
        query.signed(key).ok();
        query.number(key).ok();
    }
    query.count();
    decode(text);
    decode_segment(text);
}

/// The names and contents of the parts of a form, until it ends, or is refused (`None`), in pieces of `size`.
pub fn read_form(body: &[u8], size: usize) -> Option<Vec<(String, Vec<u8>)>> {
    let (mut form, mut parts) = (Form::new("X"), Vec::<(String, Vec<u8>)>::new());
    for piece in body.chunks(size) {
        form.push(piece);
        loop {
            match form.next().ok()? {
                FormEvent::More => break,
                FormEvent::End => return Some(parts),
                FormEvent::Part(name) => parts.push((name, Vec::new())),
                FormEvent::Content(content) => {
                    assert!(!content.is_empty());
                    parts.last_mut().expect("content belongs to a part").1.extend_from_slice(&content);
                }
                FormEvent::PartEnd => {}
            }
        }
        assert!(form.held_size() <= size + FORM_HEAD_SIZE_MAX);
    }
    Some(parts)
}

/// Heads that ended, the first that is refused, and whether one has begun, after bytes that came in pieces of `size`.
pub fn framing(bytes: &[u8], size: usize) -> (u64, Option<u64>, bool) {
    let mut framing = Framing::default();
    bytes.chunks(size).for_each(|piece| framing.read(piece));
    (framing.head_count(), framing.refused_from(), framing.is_in_head())
}

/// Reads a certificate in DER, which a client may send, and whatever the files of a server's certificate may be.
pub fn read_certificates(bytes: &[u8]) {
    if let Some(certificate) = Certificate::parse(bytes) {
        // What is shown of a certificate that a client sent.
        let shown = certificate.to_string();
        assert!(!shown.contains(char::is_control), "{shown:?}");
        certificate.period();
    }
    files::read_bytes(bytes);
}
