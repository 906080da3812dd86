//! Writing JSON text, straight into a buffer.
//!
//! Commas come by themselves: one is due before a value or name unless the last byte opened a container or ended a name.
//! That needs no state, because no JSON value ends with `{`, `[`, `:` or `,`.

use crate::escape::escape_into;

/// Appends JSON to a buffer. What was in the buffer before stays and plays no part.
///
/// ```
/// let mut out = Vec::new();
/// let mut json = rookery_json::Writer::new(&mut out);
/// json.object(|json| {
///     json.name("Id").string("users/1");
///     json.name("Etags").array(|json| (1..3).for_each(|etag| drop(json.unsigned(etag))));
/// });
/// assert_eq!(out, br#"{"Id":"users/1","Etags":[1,2]}"#);
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    /// Writes to the end of `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Writer { out, start }
    }

    /// The buffer, for writing a whole value by other means. [`separate`](Self::separate) comes first.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Writes the comma that is due before the next value or name, if one is.
    #[inline]
    pub fn separate(&mut self) -> &mut Self {
        if self.out.len() > self.start && !matches!(self.out.last(), Some(b'{' | b'[' | b':' | b',')) {
            self.out.push(b',');
        }
        self
    }

    /// A property's name; a value must follow.
    #[inline]
    pub fn name(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.out.push(b':');
        self
    }

    /// A string.
    #[inline]
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.separate();
        self.out.push(b'"');
        escape_into(self.out, text);
        self.out.push(b'"');
        self
    }

    /// A string, or `null`.
    pub fn optional_string(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.string(text),
            None => self.null(),
        }
    }

    /// An integer.
    pub fn signed(&mut self, value: i64) -> &mut Self {
        if value < 0 {
            self.separate();
            self.out.push(b'-');
            push_digits(self.out, value.unsigned_abs());
            return self;
        }
        self.unsigned(value.unsigned_abs())
    }

    /// An integer from 0 on.
    pub fn unsigned(&mut self, value: u64) -> &mut Self {
        self.separate();
        push_digits(self.out, value);
        self
    }

    /// A floating point number: the shortest text that reads back as it; `null` if it is not finite.
    pub fn double(&mut self, value: f64) -> &mut Self {
        if !value.is_finite() {
            return self.null();
        }
        let text = if value.abs() < 1e17 { format!("{value}") } else { format!("{value:e}") };
        self.raw(text.as_bytes())
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.raw(if value { b"true" } else { b"false" })
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.raw(b"null")
    }

    /// A value that is JSON text already.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) -> &mut Self {
        self.separate();
        self.out.extend_from_slice(json);
        self
    }

    /// An object whose properties `content` writes.
    #[inline]
    pub fn object(&mut self, content: impl FnOnce(&mut Writer<'_>)) -> &mut Self {
        self.open_object();
        content(self);
        self.close_object()
    }

    /// An array whose elements `content` writes.
    #[inline]
    pub fn array(&mut self, content: impl FnOnce(&mut Writer<'_>)) -> &mut Self {
        self.open_array();
        content(self);
        self.close_array()
    }

    /// `{`, where a closure does not fit.
    pub fn open_object(&mut self) -> &mut Self {
        self.separate();
        self.out.push(b'{');
        self
    }

    /// `}`
    pub fn close_object(&mut self) -> &mut Self {
        self.out.push(b'}');
        self
    }

    /// `[`, where a closure does not fit.
    pub fn open_array(&mut self) -> &mut Self {
        self.separate();
        self.out.push(b'[');
        self
    }

    /// `]`
    pub fn close_array(&mut self) -> &mut Self {
        self.out.push(b']');
        self
    }
}

/// Appends decimal digits.
#[inline]
fn push_digits(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_come_by_themselves() {
        let mut out = b"HTTP: x,".to_vec();
        Writer::new(&mut out).object(|json| {
            json.name("a").signed(i64::MIN);
            json.name("b:").array(|json| {
                json.string("[").string("{").string(",").null().bool(true).array(|_| ()).object(|_| ());
            });
            json.name("c").object(|json| {
                json.name("d").double(0.1).name("e").double(1e300).name("f").double(f64::NAN);
            });
            json.name("g").unsigned(u64::MAX).name("h").raw(b"[1]").name("i").optional_string(None);
        });
        assert_eq!(
            String::from_utf8_lossy(&out),
            "HTTP: x,{\"a\":-9223372036854775808,\"b:\":[\"[\",\"{\",\",\",null,true,[],{}],\
             \"c\":{\"d\":0.1,\"e\":1e300,\"f\":null},\"g\":18446744073709551615,\"h\":[1],\"i\":null}"
        );
    }
}
