//! JSON text through the public interface of the crate: what the minifier makes of it, and what that costs.

mod minify;
mod speed;
