//! Scripts through the public interface of the crate: what they give, that they end, and that no text breaks the
//! engine.

mod any_text;
mod bounded;
mod run;
