//! Compiles the engine.

use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=quickjs");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let name = format!("macro_rules! bindings_env {{ (\"TARGET\") => {{ \"{target}\" }}; }}");
    fs::write(format!("{out}/bindings.rs"), name).expect("OUT_DIR can be written to");

    let mut build = cc::Build::new();
    build.warnings(false).extra_warnings(false).define("_GNU_SOURCE", None);
    if cfg!(feature = "disable-assertions") {
        build.define("NDEBUG", None);
    }
    for file in ["libregexp.c", "libunicode.c", "quickjs.c", "dtoa.c"] {
        build.file(format!("quickjs/{file}"));
    }
    build.compile("libquickjs.a");
}
