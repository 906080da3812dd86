//! Vectors: what documents and queries give, how they are kept, and how near two are to each other.
//!
//! Reading JSON: [`source`]; the kept bytes and what is compared: [`stored`]; how a field keeps them: [`options`]. The graph that finds
//! near ones is [`crate::index`]'s. `docs/design/vectors.md` tells why it is so.

mod options;
mod source;
mod stored;

pub use options::{Embedding, VectorOptions};
pub use source::{Take, VectorError, read};
pub use stored::{is_near, similarity};
