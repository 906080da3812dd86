//! Writing values of JavaScript as JSON, as the reference server does.
//!
//! | value | JSON |
//! | --- | --- |
//! | `undefined`, functions | `null`; left out as a property of a patched document itself |
//! | `NaN`, `Infinity` | their names as text |
//! | dates | text with seven digits of a second |
//! | texts that are no Unicode | with U+FFFD |
//! | what has no end, or is too deep | an error |

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use json::Raw;
use rquickjs::{Filter, Value};

use crate::error::Error;
use crate::limits::RESULT_SIZE_MAX;
use crate::number;
use crate::origin::{self, Asking, Origin};
use crate::state::RunState;
use crate::watchdog::Watchdog;

/// After so many values the clock is looked at: some hundred microseconds.
const VALUES_PER_CHECK: u32 = 1024;

/// A text, and what a value comes from in it.
type TextOrigin = (Rc<[u8]>, Origin);

/// Why a value cannot be written.
pub(crate) enum Failure {
    /// The engine threw something, which waits there.
    Engine(rquickjs::Error),
    /// It has no JSON.
    Refused(Error),
}

impl From<rquickjs::Error> for Failure {
    fn from(error: rquickjs::Error) -> Failure {
        Failure::Engine(error)
    }
}

/// Writes values of one run.
pub(crate) struct ResultWriter<'w, 'js> {
    pub asking: &'w Asking<'js>,
    pub state: &'w RefCell<RunState>,
    pub watchdog: &'w Watchdog,
    /// Values that were written.
    pub written: Cell<u32>,
    /// Whether any text was odd.
    pub has_origins: bool,
    /// Whether documents inside of the value have their ids in their metadata.
    pub names_documents: bool,
    /// A document that is seen with other values than its own.
    pub overlay: Option<Overlay<'js>>,
}

/// A document that is seen with other values than its own. Where they were not changed, its own are written.
pub(crate) struct Overlay<'js> {
    pub seen: Value<'js>,
    /// The other values, by their names.
    pub fields: Vec<(String, Value<'js>)>,
    /// Checked JSON: the document itself.
    pub own: Rc<[u8]>,
}

/// How an object is written.
#[derive(Clone, Copy)]
struct Manner<'m> {
    /// Properties that are not defined are left out.
    omits_undefined: bool,
    /// It is the metadata of the document with this id, which is inside of something else.
    metadata_of: Option<&'m str>,
}

const PLAIN: Manner<'static> = Manner { omits_undefined: false, metadata_of: None };

impl<'js> ResultWriter<'_, 'js> {
    /// Appends a value.
    ///
    /// * `omits_undefined`: properties of the value itself, or of its elements, that are not defined are left out.
    pub fn write(&self, out: &mut Vec<u8>, value: &Value<'js>, omits_undefined: bool) -> Result<(), Failure> {
        self.value(out, value, None, Manner { omits_undefined, metadata_of: None }, 0)
    }

    fn value(
        &self,
        out: &mut Vec<u8>,
        value: &Value<'js>,
        was: Option<Raw<'_>>,
        manner: Manner<'_>,
        depth: usize,
    ) -> Result<(), Failure> {
        if out.len() > RESULT_SIZE_MAX {
            return Err(refused(format!("The result of a script is over the limit of {RESULT_SIZE_MAX} bytes")));
        }
        self.written.set(self.written.get().wrapping_add(1));
        if self.written.get().is_multiple_of(VALUES_PER_CHECK) && self.watchdog.must_end_by_clock() {
            return Err(Failure::Refused(self.watchdog.ended().unwrap_or(Error::Stopped)));
        }
        if let Some(number) = value.as_number() {
            match origin::unchanged(was, number) {
                Some(text) => out.extend_from_slice(text),
                None if number.is_nan() => out.extend_from_slice(b"\"NaN\""),
                None if number.is_infinite() => {
                    out.extend_from_slice(if number > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
                }
                None => number::write(out, number),
            }
            return Ok(());
        }
        if let Some(text) = value.as_string() {
            return self.text(out, text);
        }
        if let Some(is_true) = value.as_bool() {
            out.extend_from_slice(if is_true { b"true" } else { b"false" });
            return Ok(());
        }
        if value.is_symbol() || value.type_of() == rquickjs::Type::BigInt {
            return Err(refused(format!("A value of type '{}' cannot be stored", value.type_name())));
        }
        let Some(object) = value.as_object().filter(|object| !object.is_function()) else {
            out.extend_from_slice(b"null");
            return Ok(());
        };
        if depth == json::DEPTH_MAX {
            return Err(refused(format!("An object is inside of itself, or over {} deep", json::DEPTH_MAX)));
        }
        // The text that the object comes from is held while it is looked at.
        let origin = self.origin(value)?;
        let (text, place) = match &origin {
            Some((text, origin)) => (&text[..], Some(origin)),
            None => (&[][..], None),
        };
        let was = place.and_then(|origin| text.get(origin.start..origin.end)).map(Raw::new);
        if let Some(array) = value.as_array() {
            let mut elements = was.into_iter().flat_map(Raw::elements);
            out.push(b'[');
            for at in 0..array.len() {
                if at > 0 {
                    out.push(b',');
                }
                // A map may give several values at once.
                let manner = Manner { omits_undefined: manner.omits_undefined && depth == 0, ..PLAIN };
                self.value(out, &array.get(at)?, elements.next(), manner, depth + 1)?;
            }
            out.push(b']');
            return Ok(());
        }
        if object.is_instance_of(&self.asking.date) {
            return self.value(out, &self.asking.date_text.call((object.clone(),))?, None, PLAIN, depth + 1);
        }
        let mut properties = Vec::new();
        for property in object.own_props::<rquickjs::String<'js>, Value<'js>>(Filter::new().string().enum_only()) {
            let (name, value) = property?;
            let name = self.to_text(&name)?;
            let is_left_out = manner.omits_undefined && value.is_undefined()
                || manner.metadata_of.is_some() && matches!(&*name, "@id" | "@change-vector" | "@last-modified");
            if !is_left_out {
                properties.push((name, value));
            }
        }
        if let Some(was) = was {
            properties = origin::in_order(was, properties);
        }
        let overlay = self.overlay.as_ref().filter(|overlay| overlay.seen == *value);
        let mut members = was.map(Raw::members);
        let start = out.len() + 1;
        out.push(b'{');
        for (name, value) in &properties {
            // Mostly the properties are those of the text, in its order.
            let was = match members.as_mut().and_then(Iterator::next) {
                Some((key, member)) if key.is(name) => Some(member),
                _ => was.and_then(|was| was.get(name)),
            };
            let own = overlay.and_then(|overlay| overlay.unchanged(name, value));
            if own == Some(None) {
                continue;
            }
            out.extend_from_slice(if out.len() == start { b"\"" } else { b",\"" });
            json::escape_into(out, name);
            out.extend_from_slice(b"\":");
            match own.flatten() {
                Some(own) => out.extend_from_slice(own.bytes()),
                None if depth > 0 && name == "@metadata" => {
                    let id = self.id(object)?;
                    self.value(out, value, was, Manner { metadata_of: id.as_deref(), ..PLAIN }, depth + 1)?;
                }
                None => self.value(out, value, was, PLAIN, depth + 1)?,
            }
        }
        if let Some(id) = manner.metadata_of.filter(|_| self.names_documents) {
            out.extend_from_slice(if out.len() == start { b"\"@id\":\"" } else { b",\"@id\":\"" });
            json::escape_into(out, id);
            out.push(b'"');
        }
        out.push(b'}');
        Ok(())
    }

    /// The id of a document that is stored.
    fn id(&self, object: &rquickjs::Object<'js>) -> Result<Option<String>, Failure> {
        let place: Option<usize> = self.asking.place.call((object.clone(),))?;
        let state = self.state.borrow();
        let document = place.and_then(|place| state.documents.get(place)).filter(|document| document.stored.is_some());
        Ok(document.map(|document| document.id.clone()))
    }

    fn origin(&self, value: &Value<'js>) -> Result<Option<TextOrigin>, Failure> {
        if !self.has_origins {
            return Ok(None);
        }
        let place: Option<usize> = self.asking.origin.call((value.clone(),))?;
        let state = self.state.borrow();
        let origin = place.and_then(|place| state.origins.get(place)).copied();
        Ok(origin.and_then(|origin| Some((state.texts.get(origin.text)?.clone(), origin))))
    }

    fn text(&self, out: &mut Vec<u8>, text: &rquickjs::String<'js>) -> Result<(), Failure> {
        let text = self.to_text(text)?;
        out.push(b'"');
        json::escape_into(out, &text);
        out.push(b'"');
        Ok(())
    }

    /// A text of JavaScript may be no Unicode.
    pub fn to_text(&self, text: &rquickjs::String<'js>) -> Result<String, Failure> {
        match text.to_string() {
            Ok(text) => Ok(text),
            Err(rquickjs::Error::Utf8(_)) => {
                let well_formed: rquickjs::String<'js> = self.asking.well_formed.call((text.clone(),))?;
                Ok(well_formed.to_string()?)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl<'js> Overlay<'js> {
    /// If a property is one of the other values still: what the document has there itself.
    fn unchanged(&self, name: &str, value: &Value<'js>) -> Option<Option<Raw<'_>>> {
        let (_, stored) = self.fields.iter().find(|(field, _)| field == name)?;
        (stored == value).then(|| Raw::new(&self.own).get(name))
    }
}

fn refused(message: String) -> Failure {
    Failure::Refused(Error::Thrown { message, line: 0 })
}
