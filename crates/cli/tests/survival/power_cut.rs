//! Power cuts under load, on real file systems: RELIABILITY.md, P1 to P6. Only this shows that what was acknowledged had
//! been flushed.
//!
//! Some dirty pages are written back in no order, then the file system's shutdown ioctl ends it at once: what it had not
//! written is lost, from its own log too if so decided. The server is killed, the file system mounted again, which
//! recovers it, and then the server's recovery has its turn.

use std::fs::File;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Advice, fadvise};

use crate::mounts::{Cut, Kind, Mount};
use crate::process::{Server, check};
use crate::run::{Run, files_below, folder_in_memory, skipped};
use crate::world::{Figures, World};
use crate::writer::Habit;
use testing::random::Random;

const WRITERS: u64 = 8;
const HABIT: Habit = Habit::Mixed { documents: 200 };

/// XFS cannot be smaller than 300 MB.
const SIZE: u64 = 320 << 20;

/// Cuts of one file system; then another is made.
const CUTS_PER_MOUNT: u64 = 25;

#[test]
fn what_was_acknowledged_outlives_power_cuts_on_ext4() {
    survive("what_was_acknowledged_outlives_power_cuts_on_ext4", Kind::Ext4);
}

#[test]
fn what_was_acknowledged_outlives_power_cuts_on_xfs() {
    survive("what_was_acknowledged_outlives_power_cuts_on_xfs", Kind::Xfs);
}

/// What shows that power cuts were such.
#[derive(Default)]
struct Losses {
    /// Ranges of files that the system was made to write, in no order.
    written_back: u64,
    /// Files beside the database that nobody flushed, and that a cut took.
    unflushed: u64,
}

fn survive(name: &'static str, kind: Kind) {
    let run = Run::begin(name, 4, 250);
    let mut random = Random::new(run.seed);
    let mut figures = Figures::default();
    let mut losses = Losses::default();
    let mut cuts_left = run.rounds;
    while cuts_left > 0 {
        let cuts = cuts_left.min(CUTS_PER_MOUNT);
        cuts_left -= cuts;
        let folder = folder_in_memory();
        let outcome = Mount::make(kind, SIZE, folder.path())
            .and_then(|mount| cut_repeatedly(&mount, cuts, &mut random, &mut figures, &mut losses));
        if let Err(reason) = outcome {
            return skipped(name, &reason);
        }
    }
    let Losses { written_back, unflushed } = losses;
    assert!(unflushed > 0, "what nobody had flushed was never lost: the power was not cut");
    run.end(&format!("{figures}, {written_back} ranges written back out of order, {unflushed} unflushed files lost"));
}

/// # Errors
///
/// What is missing to cut the power here.
fn cut_repeatedly(
    mount: &Mount,
    cuts: u64,
    random: &mut Random,
    figures: &mut Figures,
    losses: &mut Losses,
) -> Result<(), String> {
    let data = mount.path.join("data");
    let unflushed = mount.path.join("unflushed");
    let log = mount.log();
    let mut server = Server::start_logging_to(&data, &log);
    let mut world = World::create(&server, WRITERS, HABIT, random);
    for _ in 0..cuts {
        let cutter = mount.cutter(*random.of(&[Cut::FlushLog, Cut::DropLog]))?;
        let moment = Duration::from_millis(random.below(400));
        world.load(&server, || {
            std::thread::sleep(moment);
            losses.written_back += write_back_some(&data, random);
            std::fs::write(&unflushed, "x".repeat(100)).unwrap();
            cutter.cut();
            server.kill_now();
        });
        // It may have died before: a page that is read through a mapping and cannot be had ends a process.
        server.end();
        mount.unmount();
        mount.mount()?;
        losses.unflushed += u64::from(std::fs::read(&unflushed).map_or(0, |text| text.len()) < 100);
        let _ = std::fs::remove_file(&unflushed);
        world.restart();
        server = Server::start_logging_to(&data, &log);
        world.verify(&server);
    }
    server.stop();
    check(&data);
    world.add_to(figures);
    Ok(())
}

/// Has the system write some dirty pages now, wherever they are in the files; how many ranges it was told of.
///
/// Advice that pages are not needed starts their writing, and waits for nothing.
fn write_back_some(data: &Path, random: &mut Random) -> u64 {
    let mut count = 0;
    for path in files_below(data) {
        let Ok(file) = File::open(&path) else { continue };
        let size = file.metadata().map_or(0, |data| data.len());
        for _ in 0..random.below(8) {
            let pages = NonZeroU64::new(4096 * (1 + random.below(16)));
            if fadvise(&file, random.below(size) & !4095, pages, Advice::DontNeed).is_ok() {
                count += 1;
            }
        }
    }
    count
}
