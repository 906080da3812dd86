//! Bodies of `multipart/form-data` (RFC 7578), taken apart while they arrive.
//!
//! ```text
//! --boundary CRLF
//! Content-Disposition: form-data; name="file"; filename="x" CRLF CRLF
//! content CRLF
//! --boundary--
//! ```
//!
//! The content of a part is handed on as it comes; what is kept is the head of a part ([`FORM_HEAD_SIZE_MAX`]) and the bytes that may be
//! the beginning of a boundary.

use bytes::{Bytes, BytesMut};
use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;
use memchr::memmem::Finder;

use crate::error::{Error, Result};
use crate::limits::{FORM_HEAD_SIZE_MAX, FORM_PARTS_MAX};

/// What comes next in a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FormEvent {
    /// A part of this name begins.
    Part(String),
    /// Some of its content, never empty.
    Content(Bytes),
    /// The part ends.
    PartEnd,
    /// The form ends. What follows is not looked at.
    End,
    /// More bytes are needed.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first boundary.
    Preamble,
    /// After a boundary: the end of its line, or `--`.
    AfterBoundary,
    InHead,
    InContent,
    Over,
}

/// See the module's comment.
#[derive(Debug)]
pub(crate) struct Form {
    /// `CRLF--boundary`
    delimiter: Finder<'static>,
    state: State,
    /// Bytes that are not done with.
    buffer: BytesMut,
    part_count: usize,
    part_count_max: usize,
    /// Whether parts may have no name.
    is_of_batch: bool,
    /// The `Content-Encoding` of the part.
    part_encoding: Option<String>,
}

/// Bytes of a boundary (RFC 2046).
const BOUNDARY_SIZE_MAX: usize = 70;

fn bad(rule: &str) -> Error {
    Error::BadRequest(format!("The form is not acceptable: {rule}"))
}

impl Form {
    /// The form of a request.
    ///
    /// # Errors
    ///
    /// The body is none.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Form> {
        Form::of_type(headers, &["multipart/form-data"])
    }

    /// The form of a batch: also `multipart/mixed`, and its parts may have no name.
    ///
    /// * `part_count_max`: parts at most.
    ///
    /// # Errors
    ///
    /// The body is none.
    pub(crate) fn of_batch(headers: &HeaderMap, part_count_max: usize) -> Result<Form> {
        let form = Form::of_type(headers, &["multipart/form-data", "multipart/mixed"])?;
        Ok(Form { part_count_max, is_of_batch: true, ..form })
    }

    fn of_type(headers: &HeaderMap, types: &[&str]) -> Result<Form> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut parameters = content_type.split(';').map(str::trim);
        let found = parameters.next().unwrap_or_default();
        if !types.iter().any(|name| found.eq_ignore_ascii_case(name)) {
            return Err(bad(&format!("the Content-Type of the request must be {}", types.join(" or "))));
        }
        let boundary = parameters.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
        });
        match boundary {
            Some(boundary) if (1..=BOUNDARY_SIZE_MAX).contains(&boundary.len()) => Ok(Form::new(boundary)),
            _ => Err(bad("the Content-Type of the request must have a 'boundary' of 1 to 70 characters")),
        }
    }

    pub(crate) fn new(boundary: &str) -> Form {
        let delimiter = Finder::new(format!("\r\n--{boundary}").as_bytes()).into_owned();
        // The first boundary may stand at the beginning, without the end of a line before it.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        Form {
            delimiter,
            state: State::Preamble,
            buffer,
            part_count: 0,
            part_count_max: FORM_PARTS_MAX,
            is_of_batch: false,
            part_encoding: None,
        }
    }

    /// Adds the next bytes of the body.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.state != State::Over {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The `Content-Encoding` of the part that began last.
    pub(crate) fn part_encoding(&self) -> Option<&str> {
        self.part_encoding.as_deref()
    }

    /// Bytes that wait.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn held_size(&self) -> usize {
        self.buffer.len()
    }

    fn limit_name(&self) -> &'static str {
        if self.is_of_batch { "BATCH_PARTS_MAX" } else { "FORM_PARTS_MAX" }
    }

    /// What comes next.
    ///
    /// # Errors
    ///
    /// The body is no form.
    pub(crate) fn next(&mut self) -> Result<FormEvent> {
        loop {
            match self.state {
                State::Over => return Ok(FormEvent::End),
                State::Preamble => {
                    let Some(at) = self.delimiter.find(&self.buffer) else {
                        let kept = self.buffer.len().min(self.delimiter.needle().len() - 1);
                        let _ = self.buffer.split_to(self.buffer.len() - kept);
                        return Ok(FormEvent::More);
                    };
                    let _ = self.buffer.split_to(at + self.delimiter.needle().len());
                    self.state = State::AfterBoundary;
                }
                State::AfterBoundary => match self.buffer.get(..2) {
                    None => return Ok(FormEvent::More),
                    Some(b"--") => self.state = State::Over,
                    Some(b"\r\n") => {
                        self.part_count += 1;
                        if self.part_count > self.part_count_max {
                            let (name, max) = (self.limit_name(), self.part_count_max);
                            return Err(bad(&format!("it has more parts than the limit {name} = {max}")));
                        }
                        // The end of the line stays: a head without a line ends with it.
                        self.state = State::InHead;
                    }
                    Some(_) => return Err(bad("a boundary is followed by neither the end of its line nor '--'")),
                },
                State::InHead => {
                    let Some(size) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") else {
                        if self.buffer.len() > FORM_HEAD_SIZE_MAX {
                            return Err(bad(&format!(
                                "the head of a part is over the limit FORM_HEAD_SIZE_MAX = {FORM_HEAD_SIZE_MAX}"
                            )));
                        }
                        return Ok(FormEvent::More);
                    };
                    let head = self.buffer.split_to(size + 2);
                    // The end of the empty line stays: content that is empty ends before it.
                    self.state = State::InContent;
                    let name = match self.is_of_batch {
                        true => String::new(),
                        false => name_of(&head)?,
                    };
                    self.part_encoding = header(&head, "Content-Encoding")?.map(str::to_owned);
                    let _ = self.buffer.split_to(2);
                    return Ok(FormEvent::Part(name));
                }
                State::InContent => {
                    let found = self.delimiter.find(&self.buffer);
                    let kept = self.delimiter.needle().len() - 1;
                    let size = found.unwrap_or(self.buffer.len().saturating_sub(kept));
                    if size > 0 {
                        return Ok(FormEvent::Content(self.buffer.split_to(size).freeze()));
                    }
                    if found.is_none() {
                        return Ok(FormEvent::More);
                    }
                    let _ = self.buffer.split_to(self.delimiter.needle().len());
                    self.state = State::AfterBoundary;
                    return Ok(FormEvent::PartEnd);
                }
            }
        }
    }
}

/// The value of a header of a part.
fn header<'h>(head: &'h [u8], header: &str) -> Result<Option<&'h str>> {
    let head = std::str::from_utf8(head).map_err(|_| bad("the head of a part is not UTF-8"))?;
    Ok(head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case(header).then(|| value.trim())
    }))
}

/// The name of a part, from its head.
fn name_of(head: &[u8]) -> Result<String> {
    let disposition = header(head, "Content-Disposition")?.ok_or_else(|| bad("a part has no Content-Disposition"))?;
    let name = disposition.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("name").then(|| value.trim().trim_matches('"').to_owned())
    });
    name.ok_or_else(|| bad("the Content-Disposition of a part has no 'name'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"preamble\r\n--X\r\nContent-Disposition: form-data; name=\"importOptions\"\r\n\r\n{\"a\":1}\r\n--X\r\n\
        content-disposition: form-data; name=file; filename=\"a;b\"\r\nContent-Type: x/y\r\n\r\n\r\n--\r\n--Z\r\n\r\n--X\r\n\
        Content-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--X--\r\nand more";

    fn read(body: &[u8], size: usize) -> Result<Vec<(String, Vec<u8>)>> {
        let (mut form, mut parts) = (Form::new("X"), Vec::<(String, Vec<u8>)>::new());
        for piece in body.chunks(size) {
            form.push(piece);
            loop {
                match form.next()? {
                    FormEvent::More => break,
                    FormEvent::End => return Ok(parts),
                    FormEvent::Part(name) => parts.push((name, Vec::new())),
                    FormEvent::Content(content) => parts.last_mut().unwrap().1.extend_from_slice(&content),
                    FormEvent::PartEnd => {}
                }
            }
            assert!(form.held_size() <= size + FORM_HEAD_SIZE_MAX);
        }
        Err(Error::BodyCutOff("the form has no end".to_owned()))
    }

    #[test]
    fn parts_are_the_same_however_the_pieces_are_cut() {
        let expected = [
            ("importOptions".to_owned(), b"{\"a\":1}".to_vec()),
            ("file".to_owned(), b"\r\n--\r\n--Z\r\n".to_vec()),
            ("empty".to_owned(), Vec::new()),
        ];
        for size in 1..=BODY.len() {
            assert_eq!(read(BODY, size).unwrap(), expected, "{size}");
        }
        // Without a preamble.
        assert_eq!(read(&BODY[10..], 3).unwrap(), expected);
    }

    #[test]
    fn a_form_that_is_cut_off_or_malformed_is_refused() {
        let end = BODY.len() - "\r\nand more".len();
        for size in 0..end {
            assert!(read(&BODY[..size], 5).is_err(), "{size}");
        }
        let check = |body: &[u8], expected: &str| {
            let message = read(body, 4).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        check(b"--Xyz", "neither the end of its line");
        check(b"--X\r\nContent-Type: x\r\n\r\n", "no Content-Disposition");
        check(b"--X\r\nContent-Disposition: form-data\r\n\r\n", "no 'name'");
        check(b"--X\r\nContent-Disposition: \xff\r\n\r\n", "UTF-8");
        check(&[b"--X\r\nA: ".as_slice(), &[b'x'; FORM_HEAD_SIZE_MAX]].concat(), "FORM_HEAD_SIZE_MAX");
        let part = b"--X\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n";
        check(&part.repeat(FORM_PARTS_MAX + 1), "FORM_PARTS_MAX");
    }

    #[test]
    fn the_boundary_is_in_the_content_type() {
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(text));
            Form::of(&headers).map(|form| String::from_utf8_lossy(form.delimiter.needle()).into_owned())
        };
        assert_eq!(of("Multipart/Form-Data; charset=x; Boundary=\"a b\"").unwrap(), "\r\n--a b");
        assert!(of("multipart/mixed; boundary=a").is_err() && of("multipart/form-data").is_err());
        assert!(of("multipart/form-data; boundary=").is_err());
    }
}
