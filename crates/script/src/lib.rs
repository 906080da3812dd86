//! Running JavaScript: patches, projections, maps.
//!
//! ```text
//! text ─► propagate ─► Program ─► engine (one for a thread and program) ─► Outcome: JSON, what is to be put and deleted
//!                                    ▲                      │
//!                     documents as JSON, arguments          └─► questions to the Host; then the run begins anew
//! ```
//!
//! A run is a function of what it is given: it changes nothing outside, and what it wants to be changed is in its [`Outcome`]. A document
//! that it asks for and was not given is a *question*: the run is given up, the [`Host`] asked, and the run begun
//! anew with the answer. So the host may hold what borrows from elsewhere, and is never called from inside of the engine.
//!
//! Every run is bounded in steps, time and memory ([`Limits`]), and ends when its caller says so ([`stoppable`]); an engine that met a
//! limit is thrown away. What an engine holds beyond a small size is reserved in the memory of its caller ([`reserving`]). The
//! engine's operators and functions look at a clock as well as its loops and calls do (`ticker`, and
//! `vendor/rquickjs-sys/README.md`).
//!
//! A part of the database Rookery. Programs use it through the crate `rookerydb`, which is the public face; this crate carries no promise
//! of stability.
#![forbid(unsafe_code)]

mod engine;
mod error;
mod host;
mod limits;
mod memory;
mod native;
mod number;
mod origin;
mod outcome;
mod program;
mod propagate;
mod result;
mod state;
mod stop;
mod syntax;
mod ticker;
mod token;
mod watchdog;

pub use error::{Error, Result};
pub use host::{Counter, Document, Host, Key, NoHost, Stored};
pub use limits::{Limits, SCRIPT_SIZE_MAX};
pub use memory::{Reservation, Reserve, reserving};
pub use outcome::{Effect, Outcome};
pub use program::{Body, Input, Program, Run, is_name};
pub use stop::{Stop, is_stopped, stoppable};
pub use syntax::{SyntaxError, syntax_error};
pub use token::{Token, TokenKind, tokens};
