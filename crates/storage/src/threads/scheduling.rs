//! Short scheduling slices for threads that wait for the device: when its write is done, such a thread runs soon, also
//! beside busy neighbours, and gets no more of the processor than before.

/// Nanoseconds. A durable write was four times quicker in the median beside busy neighbours, and not slower without.
#[cfg(all(target_os = "linux", not(miri)))]
const SLICE: u64 = 100_000;

/// Asks the kernel for short slices for the calling thread. Kernels before 6.12 ignore it; nothing depends on it.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn ask_for_short_slices() {
    /// `struct sched_attr` of `sched_setattr(2)`, its first version. Zeros are the ordinary policy and priority.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    let attributes = Attributes { size: size_of::<Attributes>() as u32, runtime: SLICE, ..Attributes::default() };
    // SAFETY: the kernel reads `size` bytes behind the pointer, which are there; 0 is the calling thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// Only Linux has them, and no interpreter.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn ask_for_short_slices() {}
