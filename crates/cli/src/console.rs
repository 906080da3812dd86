//! Commands on standard input: `shutdown no-confirmation`, as RavenDB's test drivers send it.

use std::io::Read;

/// Ends when the command has been read. Does not end when standard input does: a server without one goes on.
pub(crate) async fn shutdown_command() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let started = std::thread::Builder::new().name("console".to_owned()).spawn(move || {
        if read_until_shutdown(std::io::stdin().lock()) {
            let _ = sender.send(());
        } else {
            // Keep the channel open: its end would look like the command.
            std::mem::forget(sender);
        }
    });
    match started {
        Ok(_) if receiver.await.is_ok() => {}
        _ => std::future::pending().await,
    }
}

/// True once the command was read; one driver sends it without the end of a line.
fn read_until_shutdown(mut input: impl Read) -> bool {
    let mut line = Vec::new();
    let mut bytes = [0; 256];
    loop {
        match input.read(&mut bytes) {
            Ok(0) => return false,
            Ok(size) => line.extend_from_slice(&bytes[..size]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return false,
        }
        let is_shutdown = |line: &[u8]| line.trim_ascii().eq_ignore_ascii_case(b"shutdown no-confirmation");
        if line.split(|byte| *byte == b'\n').any(is_shutdown) {
            return true;
        }
        // Only the line in work is kept, and no more of it than a command can have.
        let start = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        line.drain(..start);
        if line.len() > 4096 {
            line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_found_with_and_without_a_line_end() {
        assert!(read_until_shutdown(&b"help\nshutdown no-confirmation\n"[..]));
        assert!(read_until_shutdown(&b"shutdown no-confirmation"[..]));
        assert!(!read_until_shutdown(&b"shutdown\n"[..]));
        assert!(!read_until_shutdown(&b""[..]));
    }
}
