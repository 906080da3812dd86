//! The body of a revision's record: the state that it keeps, whole or as a difference.
//!
//! ```text
//!  form 1 byte · server size · metadata size · body size          LEB128 each
//!  form 1: server metadata, metadata, body
//!  form 2: LEB128 of the number of the base, operations of `delta`
//! ```
//!
//! The record itself has neither metadata nor server metadata, so that they are part of the difference too. A base is such a content,
//! whole; it is never changed, and goes when no revision needs it. So each revision is read with one base, none has to be written again
//! when others go, and a base that is damaged concerns [`BASE_USERS_MAX`] revisions at most.

use super::delta;
use crate::limits::DOCUMENT_SIZE_MAX;
use crate::{Error, Etag, Result};

/// States that are shorter are kept whole in their records.
pub(super) const DELTA_SIZE_MIN: usize = 256;

/// A state gets a base of its own if its difference is longer than this part of it.
pub(super) const DELTA_PART_MAX: usize = 8;

/// Revisions that share a base.
pub(super) const BASE_USERS_MAX: u64 = 256;

/// Bytes of a content at most: a document, and what the server maintains in its metadata.
const CONTENT_SIZE_MAX: usize = 2 * DOCUMENT_SIZE_MAX;

const WHOLE: u8 = 1;
const DIFFERENCE: u8 = 2;

/// The sizes of the parts of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub server: u32,
    pub metadata: u32,
    pub body: u32,
}

impl Sizes {
    pub fn total(&self) -> usize {
        self.server as usize + self.metadata as usize + self.body as usize
    }
}

/// The decoded body of a revision's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored<'r> {
    pub sizes: Sizes,
    pub form: Form<'r>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form<'r> {
    Whole(&'r [u8]),
    Difference { base: Etag, operations: &'r [u8] },
}

impl<'r> Stored<'r> {
    pub fn decode(mut body: &'r [u8]) -> Result<Stored<'r>> {
        let corrupt = || Error::Corrupt { rule: "a revision has a state in one of two forms" };
        let form = *body.split_off_first().ok_or_else(corrupt)?;
        let size = |body: &mut &'r [u8]| {
            let size = delta::number(body).and_then(|size| u32::try_from(size).ok());
            size.ok_or_else(corrupt)
        };
        let sizes = Sizes { server: size(&mut body)?, metadata: size(&mut body)?, body: size(&mut body)? };
        if sizes.total() > CONTENT_SIZE_MAX {
            return Err(corrupt());
        }
        let form = match form {
            WHOLE if body.len() == sizes.total() => Form::Whole(body),
            DIFFERENCE => {
                let base = delta::number(&mut body).ok_or_else(corrupt)?;
                Form::Difference { base, operations: body }
            }
            _ => return Err(corrupt()),
        };
        Ok(Stored { sizes, form })
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.push(if matches!(self.form, Form::Whole(_)) { WHOLE } else { DIFFERENCE });
        for size in [self.sizes.server, self.sizes.metadata, self.sizes.body] {
            delta::put_number(&mut out, size.into());
        }
        match self.form {
            Form::Whole(content) => out.extend_from_slice(content),
            Form::Difference { base, operations } => {
                delta::put_number(&mut out, base);
                out.extend_from_slice(operations);
            }
        }
        out
    }

    /// The base that it needs.
    pub fn base(&self) -> Option<Etag> {
        match self.form {
            Form::Whole(_) => None,
            Form::Difference { base, .. } => Some(base),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_body_goes_there_and_back() {
        let sizes = Sizes { server: 1, metadata: 2, body: 300 };
        let content = [7; 303];
        for form in [Form::Whole(&content), Form::Difference { base: 1 << 40, operations: &[7, 0] }] {
            let bytes = Stored { sizes, form }.encode();
            assert_eq!(Stored::decode(&bytes).unwrap(), Stored { sizes, form });
        }
        assert!(Stored::decode(&Stored { sizes, form: Form::Whole(&content[1..]) }.encode()).is_err());
        assert!(Stored::decode(&[]).is_err());
    }

    proptest! {
        #[test]
        fn noise_never_panics(body in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Stored::decode(&body);
        }
    }
}
