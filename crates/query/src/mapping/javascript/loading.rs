//! `load(id, 'Collection')`, `noTracking.load(id, 'Collection')` and `loadAttachment(document, name)` in maps in JavaScript.
//!
//! The engine knows one question, a document by its id. Here the question is a text that says the collection as well, and whether the
//! document is followed ([`Following`]):
//!
//! ```text
//! + or - | collection | U+0000 | id
//! @ or # | name of an attachment | U+0000 | id
//! ```
//!
//! What an index depends on has to be known before it runs: the collections are literals, which are read from the tokens.

use super::super::error::CompileError;
use super::super::host::{Following, Host};
use super::Refusal;
use super::definition::SourceFunction;
use super::syntax::{closing, parts};
use script::{Document, TokenKind};
use std::rc::Rc;

/// The name of the function that follows what it loads.
pub(super) const LOAD: &str = "load";

/// The name of the function that reads a compare-exchange value.
const CMPXCHG: &str = "cmpxchg";

/// The name of the object whose `load` does not.
pub(super) const NO_TRACKING: &str = "noTracking";

const FOLLOWED: char = '+';
const IGNORED: char = '-';
const ATTACHMENT: char = '@';
const CONTENT: char = '#';

/// The functions of attachments.
pub(super) const OF_ATTACHMENTS: [&str; 3] = ["attachmentsFor", "loadAttachment", "loadAttachments"];

/// What [`OF_ATTACHMENTS`] are.
pub(super) const ATTACHMENTS: &str = "\
    function attachmentsFor(document) { \
        const list = document?.['@metadata']?.['@attachments']; return Array.isArray(list) ? list : []; } \
    function loadAttachment(document, name) { \
        if (typeof name !== 'string' || name === '') throw new TypeError('loadAttachment(document, name) needs the name of an attachment'); \
        const place = name + '\\u0000' + id(document); \
        const found = globalThis.load('@' + place); \
        return found ? { Name: found.Name, ContentType: found.ContentType, Hash: found.Hash, Size: found.Size, \
            getContentAsString: () => globalThis.load('#' + place)?.Content ?? null } : null; } \
    function loadAttachments(document) { \
        return attachmentsFor(document).map(one => loadAttachment(document, one.Name)).filter(one => one !== null); }";

/// The functions, for maps whose followed collections are these.
pub(super) fn declaration(collections: &[String]) -> String {
    let mut known = Vec::new();
    let mut json = json::Writer::new(&mut known);
    json.array(|json| collections.iter().for_each(|name| _ = json.string(&name.to_lowercase())));
    let known = String::from_utf8_lossy(&known);
    format!(
        "function __load(mark, id, collection) {{ \
         const told = () => `${{typeof id === 'object' ? JSON.stringify(id) : String(id)}}, ${{String(collection)}}`; \
         if (typeof collection !== 'string') throw new TypeError(`load(id, collection) needs the name of a collection, but got: load(${{told()}})`); \
         if (mark === '{FOLLOWED}' && !{known}.includes(collection.toLowerCase())) \
         throw new TypeError(`load(id, collection) needs the collection as a text literal, but got: load(${{told()}})`); \
         const one = id => {{ \
         if (id === null || id === undefined) return null; \
         if (typeof id !== 'string') throw new TypeError(`load(id, collection) needs an id or an array of ids, but got: load(${{told()}})`); \
         return globalThis.load(mark + collection + '\\u0000' + id) ?? null; }}; \
         return Array.isArray(id) ? id.map(one) : one(id); }} \
         function load(id, collection) {{ return __load('{FOLLOWED}', id, collection); }} \
         var noTracking = Object.freeze({{ load: (id, collection) => __load('{IGNORED}', id, collection) }});"
    )
}

impl SourceFunction<'_> {
    /// Whether it loads documents.
    pub fn loads(&self) -> bool {
        self.calls(LOAD) || self.calls(NO_TRACKING)
    }

    /// Whether it can read compare-exchange values.
    pub fn reads_values(&self) -> bool {
        (0..self.tokens.len()).any(|place| self.word(place) == Some(CMPXCHG))
    }

    /// Adds the collections of documents that it loads and follows, each once.
    ///
    /// # Errors
    ///
    /// [`Refusal::Wrong`] for a call without two arguments, or whose second one is no text literal.
    pub fn add_loaded(&self, collections: &mut Vec<String>) -> Result<(), Refusal> {
        let words: Vec<&str> = (0..self.tokens.len()).filter_map(|place| self.word(place)).collect();
        for (place, token) in self.tokens.iter().enumerate() {
            if token.kind != TokenKind::Word || words.get(place) != Some(&LOAD) || words.get(place + 1) != Some(&"(") {
                continue;
            }
            let wrong = |message: &str| Refusal::Wrong(CompileError::at(self.whole, token.start, message));
            let is_followed = match place.checked_sub(2).and_then(|before| words.get(before..place)) {
                Some([NO_TRACKING, "."]) => false,
                Some(["this", "."]) => return Err(wrong("'load' is called without 'this'")),
                // A member of something else.
                Some([_, "." | "?."]) => continue,
                _ => true,
            };
            let close = closing(&words, place + 1).ok_or_else(|| wrong("'load' is not closed"))?;
            let arguments: Vec<&[&str]> = parts(words.get(place + 2..close).unwrap_or_default()).collect();
            let [_, collection] = arguments.as_slice() else {
                return Err(wrong(&format!(
                    "load method is expecting two arguments, the first should be the document and the second should be the collection. \
                     e.g. load(u.Product,'Products') but was invoked with {} arguments.",
                    arguments.len()
                )));
            };
            if !is_followed {
                continue;
            }
            let [literal] = *collection else {
                return Err(wrong("'load' needs the name of the collection as a text literal"));
            };
            let name = text_of(literal).filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| wrong("'load' needs the name of the collection as a text literal"))?;
            if !collections.iter().any(|known| documents::id::is_same(known, name)) {
                collections.push(name.to_owned());
            }
        }
        Ok(())
    }
}

/// What a literal says. `None`: it is no text, or has escapes.
pub(super) fn text_of(literal: &str) -> Option<&str> {
    let quote = literal.chars().next().filter(|quote| ['\'', '"', '`'].contains(quote))?;
    let inside = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inside.contains(['\\', '\0'])).then_some(inside)
}

/// Answers the questions of a run.
pub(super) struct Loader<'h, 'd> {
    pub host: &'h mut dyn Host<'d>,
}

impl script::Host for Loader<'_, '_> {
    fn key(&self) -> script::Key {
        documents::id::lower
    }

    fn load(&mut self, question: &str) -> Result<Option<Document>, String> {
        let mut characters = question.chars();
        if let Some(mark @ (ATTACHMENT | CONTENT)) = characters.next() {
            return self.load_of_attachment(mark, characters.as_str());
        }
        let mut characters = question.chars();
        let following = match characters.next() {
            Some(FOLLOWED) => Some(Following::Followed),
            Some(IGNORED) => Some(Following::Ignored),
            _ => None,
        };
        let (Some(following), Some((collection, id))) = (following, characters.as_str().split_once('\0')) else {
            return Err("documents are loaded by load(id, collection) in an index".to_owned());
        };
        let found = self.host.load_document(id, collection, following).map_err(|error| error.to_string())?;
        Ok(found.map(|found| super::document(&found)))
    }

    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String> {
        let found = self.host.load_compare_exchange(key).map_err(|error| error.to_string())?;
        Ok(found.map(|value| value.bytes().into()))
    }

    fn new_id(&mut self, _given: &str) -> Result<String, String> {
        Err("an index puts no documents".to_owned())
    }
}

impl Loader<'_, '_> {
    /// An attachment, or its content, as if it were a document.
    fn load_of_attachment(&mut self, mark: char, question: &str) -> Result<Option<Document>, String> {
        let Some((name, id)) = question.split_once('\0') else { return Ok(None) };
        let mut json = Vec::new();
        let mut writer = json::Writer::new(&mut json);
        if mark == CONTENT {
            let content = self.host.load_content(id, name).map_err(|error| error.to_string())?;
            writer.object(|json| _ = json.name("Content").optional_string(content.as_deref()));
        } else {
            let found = self.host.load_attachment(id, name).map_err(|error| error.to_string())?;
            let Some(found) = found else { return Ok(None) };
            writer.object(|json| {
                json.name("Name").string(found.name).name("ContentType").string(found.content_type);
                json.name("Hash").string(&found.hash).name("Size").unsigned(found.size);
            });
        }
        Ok(Some(Document { id: question.to_owned(), json: json.into(), stored: None }))
    }
}

/// For reduces, which may not ask.
pub(super) struct NoLoader;

impl script::Host for NoLoader {
    fn key(&self) -> script::Key {
        documents::id::lower
    }

    fn load(&mut self, _question: &str) -> Result<Option<Document>, String> {
        Err("a reduce may not load documents".to_owned())
    }

    fn value(&mut self, _key: &str) -> Result<Option<Rc<[u8]>>, String> {
        Err("a reduce may not load compare-exchange values".to_owned())
    }

    fn new_id(&mut self, _given: &str) -> Result<String, String> {
        Err("a reduce puts no documents".to_owned())
    }
}
