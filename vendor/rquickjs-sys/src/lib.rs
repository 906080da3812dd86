#![allow(non_upper_case_globals)]
#![allow(non_camel_case_types)]
#![allow(non_snake_case)]
#![allow(clippy::unreadable_literal)]
#![allow(clippy::missing_safety_doc)]
#![allow(clippy::upper_case_acronyms)]
#![allow(clippy::uninlined_format_args)]
#![no_std]

use ::core::ptr;

/// Common error message for converting between C `size_t` and Rust `usize`;
pub const SIZE_T_ERROR: &str =
    "conversion between C type 'size_t' and Rust type 'usize' overflowed.";

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));

include!(concat!("bindings/", bindings_env!("TARGET"), ".rs"));

include!("inlines/ptr_64.rs");

include!("inlines/common.rs");

extern "C" {
    fn JS_Tick();
    fn JS_IsAskingForTick() -> bool;
    fn JS_SetMemoryHook(hook: extern "C" fn(wanted: usize) -> usize);
}

/// Has each runtime of the process ask its interrupt handler once, the next time that it does something which may take long.
pub fn tick() {
    // SAFETY: it advances an atomic counter.
    unsafe { JS_Tick() }
}

/// Whether the interrupt handler that is running on this thread was asked because of a [`tick`], and not because the script has made
/// another 10,000 turns of loops and calls of functions.
pub fn is_asking_for_tick() -> bool {
    // SAFETY: it reads a variable of this thread.
    unsafe { JS_IsAskingForTick() }
}

/// Has a runtime that needs more memory than its limit ask `hook`, on the thread that it runs on. `hook` gives the new limit, which is more
/// than `wanted`, or 0 if there is no more memory.
///
/// To be called before the first runtime is made.
pub fn set_memory_hook(hook: extern "C" fn(wanted: usize) -> usize) {
    // SAFETY: it sets a variable, which runtimes read only.
    unsafe { JS_SetMemoryHook(hook) }
}
