//! The program as others start it: flags, the line that says it is ready, the ways it stops, the tools.

mod import;
mod serve;
mod stop;
mod support;
mod tools;
