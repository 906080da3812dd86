//! Includes: documents that others refer to, sent along in the same answer.
//!
//! `Company`, `Lines[].Product` and so on are paths whose values are ids. `Path(prefix/)` puts a prefix before the value,
//! `Path[prefix/{0}/suffix]` puts the value into a template.

use json::{Path, Raw};

use crate::ids::id;
use crate::{Document, Result, Snapshot};

/// One include, taken apart.
#[derive(Clone, Debug)]
pub struct IncludePath {
    path: Path,
    before: String,
    after: String,
}

impl IncludePath {
    /// Takes an include apart. Every text is one; what fits no document finds nothing.
    pub fn new(text: &str) -> IncludePath {
        let plain = |path: &str, before: &str, after: &str| IncludePath {
            path: Path::new(path),
            before: before.to_owned(),
            after: after.to_owned(),
        };
        if let Some((path, prefix)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            return plain(path, prefix, "");
        }
        // `Lines[].Product` has brackets too, but never with `{0}` in them.
        let template = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        if let Some((path, (before, after))) = template.and_then(|(path, text)| Some((path, text.split_once("{0}")?))) {
            return plain(path, before, after);
        }
        plain(text, "", "")
    }

    /// The ids that a document, or what is made of it, refers to by this path, in its order.
    pub fn ids(&self, body: Raw<'_>) -> Vec<String> {
        let texts = self.path.texts(body);
        texts
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| format!("{}{text}{}", self.before, self.after))
            .collect()
    }
}

impl Snapshot<'_> {
    /// The documents that `documents` refer to, each once, without those among `documents`; missing ones are left out.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn includes<'s>(&'s self, documents: &[&Document<'_>], paths: &[IncludePath]) -> Result<Vec<Document<'s>>> {
        let mut seen: std::collections::HashSet<Vec<u8>> =
            documents.iter().map(|document| id::lower(document.id())).collect();
        let mut included = Vec::new();
        for document in documents {
            for id in paths.iter().flat_map(|path| path.ids(document.body())) {
                if seen.insert(id::lower(&id)) {
                    included.extend(self.get(&id)?);
                }
            }
        }
        Ok(included)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        let check = |text: &str, path: &str, before: &str, after: &str| {
            let include = IncludePath::new(text);
            assert_eq!((include.path, &*include.before, &*include.after), (Path::new(path), before, after), "{text}");
        };
        check("Lines[].Product", "Lines[].Product", "", "");
        check("Lines[]", "Lines[]", "", "");
        check("CustomerId(customers/)", "CustomerId", "customers/", "");
        check("Refs[].Id[items/{0}/x]", "Refs[].Id", "items/", "/x");
    }
}
