//! Ending with the process that started us, for test drivers that are killed.

use std::time::Duration;

/// Ends when there is no such process any more; never, if none is given.
pub(crate) async fn gone(process: Option<i32>) {
    let Some(process) = process.and_then(rustix::process::Pid::from_raw) else {
        return std::future::pending().await;
    };
    loop {
        let exists = rustix::process::test_kill_process(process);
        if exists == Err(rustix::io::Errno::SRCH) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
