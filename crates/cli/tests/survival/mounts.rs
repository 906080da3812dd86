//! File systems made for one test: in memory, or in a file. Only root may mount, so a test asks first and skips visibly.
//!
//! They are unmounted when dropped, also by a test that fails. What a run that was killed has left behind, the next one
//! finds by its name and removes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// What mount points are called, before the number of their process.
const NAME: &str = "rookery-survival-";

/// Of file systems of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Ext4,
    Xfs,
}

/// How an instant end treats what the file system has in its own log (its shutdown ioctl).
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    FlushLog = 1,
    DropLog = 2,
}

/// A file system that is mounted, but between [`Mount::unmount`] and [`Mount::mount`].
pub struct Mount {
    kind: Kind,
    pub path: PathBuf,
    image: PathBuf,
    size: u64,
}

impl Mount {
    /// * `folder`: where the file that holds it is made.
    /// * `size`: of the file system.
    ///
    /// # Errors
    ///
    /// What is missing to do this here.
    pub fn make(kind: Kind, size: u64, folder: &Path) -> Result<Mount, String> {
        if !rustix::process::getuid().is_root() {
            return Err("only root may mount file systems".to_owned());
        }
        remove_left_behind();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("{NAME}{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let mount = Mount { kind, path, image: folder.join(format!("image-{number}")), size };
        match kind {
            Kind::Memory => {}
            Kind::Ext4 => mount.format("mkfs.ext4", &["-q", "-F"])?,
            Kind::Xfs => mount.format("mkfs.xfs", &["-q", "-f"])?,
        }
        mount.mount()?;
        Ok(mount)
    }

    fn format(&self, tool: &str, flags: &[&str]) -> Result<(), String> {
        let file = std::fs::File::create(&self.image).map_err(|error| error.to_string())?;
        file.set_len(self.size).map_err(|error| error.to_string())?;
        run(Command::new(tool).args(flags).arg(&self.image))
    }

    /// # Errors
    ///
    /// What `mount` said.
    pub fn mount(&self) -> Result<(), String> {
        let mut command = Command::new("mount");
        match self.kind {
            Kind::Memory => command.args(["-t", "tmpfs", "-o", &format!("size={}", self.size), "tmpfs"]),
            Kind::Ext4 | Kind::Xfs => command.args(["-o", "loop"]).arg(&self.image),
        };
        run(command.arg(&self.path))
    }

    /// Where a server on it logs to: outside of what befalls it.
    pub fn log(&self) -> PathBuf {
        self.image.with_extension("log")
    }

    pub fn unmount(&self) {
        run(Command::new("umount").arg(&self.path)).unwrap();
    }

    /// Somebody who waits for the moment to cut the power: the call takes no time then.
    ///
    /// # Errors
    ///
    /// If Python is missing, which makes the system call: our own tests have no unsafe code.
    pub fn cutter(&self, cut: Cut) -> Result<Cutter, String> {
        const SHUTDOWN: &str = "import fcntl, os, struct, sys\n\
            folder = os.open(sys.argv[1], os.O_RDONLY)\n\
            print(flush=True)\n\
            sys.stdin.readline()\n\
            fcntl.ioctl(folder, 0x8004587D, struct.pack('I', int(sys.argv[2])))\n";
        let mut command = Command::new("python3");
        command.args(["-c", SHUTDOWN]).arg(&self.path).arg((cut as u32).to_string());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("python3 cannot be run: {error}"))?;
        let mut ready = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).map_err(|error| error.to_string())?;
        Ok(Cutter(child))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Also while a server that failed has files open.
        let _ = Command::new("umount").args(["-q", "-l"]).arg(&self.path).stderr(Stdio::null()).status();
        let _ = std::fs::remove_dir(&self.path);
        let _ = std::fs::remove_file(&self.image);
    }
}

/// Ends a file system at a word.
pub struct Cutter(Child);

impl Cutter {
    /// From now on, nothing reaches the device.
    pub fn cut(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success(), "the file system was not shut down");
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} cannot be run: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Unmounts what processes that are gone have mounted.
fn remove_left_behind() {
    let prefix = std::env::temp_dir().join(NAME).to_string_lossy().into_owned();
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    for path in mounts.lines().filter_map(|line| line.split(' ').nth(1)) {
        let process = path.strip_prefix(&prefix).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = Command::new("umount").args(["-q", "-l", path]).stderr(Stdio::null()).status();
            let _ = std::fs::remove_dir(path);
        }
    }
}
