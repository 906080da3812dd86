//! CPU time, which neighbours hardly disturb, and how busy the machine is.

fn seconds(clock: libc::clockid_t) -> f64 {
    // SAFETY: the call fills the one structure that it is given.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(clock, &mut time);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
}

/// Of the calling thread.
pub fn thread_seconds() -> f64 {
    seconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Of the whole process.
pub fn process_seconds() -> f64 {
    seconds(libc::CLOCK_PROCESS_CPUTIME_ID)
}

pub fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}
