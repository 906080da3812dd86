//! The program as others start it: flags, the line that says it is ready, the ways it stops, the tools.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod access;
mod backup;
mod cert;
mod compact;
mod formats;
mod import;
mod log;
mod manual;
mod mcp;
mod remote;
mod serve;
mod stop;
mod support;
mod tools;
