//! Attachments: files that belong to a document.
//!
//! An attachment is an item of the kind [`ItemKind::Attachment`](crate::ItemKind::Attachment): its record has the hash, the size and the
//! type of the content. The content lies in `storage::Contents`, once for each hash, with a reference for each attachment. Large contents
//! arrive in pieces, each in a transaction of its own ([`Upload`]); the command that refers to an upload links it, in the transaction of
//! its batch. The attachments of a document stand in the part of its metadata that the server maintains, `@attachments`, and it has the
//! flag `HasAttachments`. `docs/design/attachments.md` has the reasons.
//!
//! [`Upload`]: crate::Upload

pub(crate) mod check;
pub(crate) mod command;
pub(crate) mod content;
pub(crate) mod contents;
pub(crate) mod hash;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod value;
pub(crate) mod write;
