//! Archives of the journal: databases are restored to any second and transaction, over crashes, gaps, damage and slow places.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use query::definition::IndexSettings;
use rookery_database::backups::{Archive, FolderDestination, RestoreRequest, Until};
use rookery_database::documents::Date;
use rookery_database::{Clock, Error, LockMode, OperationStatus, Result};

use crate::backups::{MINUTE, Node, request, value};
use crate::indexes;

const SECOND: Duration = Duration::from_secs(1);
const TASK: &str = r#""FullBackupFrequency":"0 2 * * *","BackupType":"Snapshot","PointInTime":true"#;

/// A node whose database is archived: its first snapshot is made.
fn archived() -> (Node, u64) {
    archived_with("")
}

fn archived_with(more: &str) -> (Node, u64) {
    let node = Node::open();
    node.put("users/0", "before");
    let task = node.add_task(&format!("{TASK}{more}"));
    // Asks for the snapshot, and waits for it.
    node.clock.advance(SECOND);
    assert_eq!(archives(&node).len(), 1, "{:?}", files_of(&node.place));
    (node, task)
}

fn archives(node: &Node) -> Vec<Archive> {
    Archive::all(&FolderDestination::new(&node.place)).unwrap()
}

/// All files of a place.
fn files_of(place: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![place.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn segments(node: &Node) -> Vec<PathBuf> {
    files_of(&node.place).into_iter().filter(|file| file.to_string_lossy().contains("journal")).collect()
}

fn until(node: &Node, name: &str, until: Until) -> RestoreRequest {
    // Its archive would go to the same place.
    RestoreRequest { until: Some(until), disables_tasks: true, ..request(name, &node.place, None) }
}

fn restore(node: &Node, name: &str, state: Until) -> Result<Vec<String>> {
    node.databases.restore(None, until(node, name, state))?.run()?;
    let documents = node.documents(name);
    let database = node.databases.find(name).unwrap();
    let found = database.read().verify().unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    drop(database);
    node.databases.delete(&[name], true, None).unwrap();
    Ok(documents)
}

fn last_transaction(node: &Node) -> u64 {
    node.databases.find("shop").unwrap().documents().environment().last_transaction().0
}

/// Has everything archived that is there.
fn catch_up(node: &Node) {
    node.clock.advance(5 * SECOND);
    node.clock.advance(5 * SECOND);
}

#[test]
fn each_second_and_each_transaction_since_the_first_snapshot_comes_back() {
    let (node, task) = archived();
    let mut states = Vec::new();
    for number in 1..=20 {
        node.clock.advance(SECOND);
        node.put(&format!("users/{number}"), "text");
        if number % 3 == 0 {
            node.delete(&format!("users/{}", number - 2));
        }
        // The next round notes it.
        node.clock.advance(SECOND);
        states.push((node.clock.now(), last_transaction(&node), node.documents("shop")));
    }
    catch_up(&node);
    let status = node.databases.archive_status("shop", task).unwrap().unwrap();
    assert_eq!((status.transaction, status.is_behind, status.error), (last_transaction(&node), false, None));
    assert!(segments(&node).len() > 2, "{:?}", segments(&node));
    for (time, transaction, documents) in &states {
        assert_eq!(restore(&node, "copy", Until::Time(*time)).unwrap(), *documents, "{time}");
        assert_eq!(restore(&node, "copy", Until::Transaction(*transaction)).unwrap(), *documents, "{transaction}");
    }
    // Between two seconds the earlier one counts; after the last one, that.
    let (first, _, documents) = &states[4];
    let between = Date::from_ticks(first.ticks() + 9_000_000);
    assert_eq!(restore(&node, "copy", Until::Time(between)).unwrap(), *documents);
    let later = Date::parse("2027-01-01T00:00:00").unwrap();
    assert_eq!(restore(&node, "copy", Until::Time(later)).unwrap(), states.last().unwrap().2);
}

#[test]
fn definitions_of_indexes_and_settings_are_those_of_the_time() {
    let (node, _) = archived();
    let shop = node.databases.find("shop").unwrap();
    let put = |name: &str| {
        let map = "from user in docs.Users select new { user.Text }";
        shop.indexes().put(indexes::defined(name, map), IndexSettings::default()).unwrap();
    };
    let lock = |mode| node.databases.set_lock_mode(&["shop"], mode, None).unwrap();
    let step = |change: &dyn Fn()| {
        change();
        node.put("users/1", "text");
        node.clock.advance(SECOND);
        let time = node.clock.now();
        catch_up(&node);
        time
    };
    let before = step(&|| ());
    let with_index = step(&|| put("First"));
    let locked = step(&|| lock(LockMode::PreventDeletesIgnore));
    let with_others = step(&|| {
        put("Second");
        shop.indexes().remove("First").unwrap();
        lock(LockMode::Unlock);
    });
    for (number, (time, expected, mode)) in [
        (before, vec![], None),
        (with_index, vec!["First"], None),
        (locked, vec!["First"], Some("PreventDeletesIgnore")),
        (with_others, vec!["Second"], Some("Unlock")),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("copy{number}");
        node.databases.restore(None, until(&node, &name, Until::Time(time))).unwrap().run().unwrap();
        let restored = node.databases.find(&name).unwrap();
        let mut names: Vec<String> =
            restored.indexes().all().iter().map(|index| index.definition().name().to_owned()).collect();
        names.sort();
        assert_eq!(names, expected, "{number}");
        let record = node.databases.record(&name).unwrap();
        let found = record.value.get("LockMode").and_then(|mode| mode.as_str()).map(str::to_owned);
        assert_eq!(found.as_deref(), mode, "{number}");
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let (node, _) = archived();
    node.put("users/1", "one");
    catch_up(&node);
    let refused = |state: Until, text: &str| {
        let error = restore(&node, "copy", state).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    let first = archives(&node)[0].from;
    let before = Date::from_ticks(first.ticks() - 1_000_000);
    refused(Until::Time(before), "The first that can be is that of 2026-11-27T01:00:0");
    refused(Until::Transaction(0), "The first that can be");
    refused(Until::Transaction(last_transaction(&node) + 1), "the archive ends with transaction");
    let of_database =
        RestoreRequest { of_database: Some("zoo".to_owned()), ..until(&node, "copy", Until::Time(first)) };
    let error = node.databases.restore(None, of_database).unwrap_err().to_string();
    assert!(error.contains("none of 'zoo'") && error.contains("Shop"), "{error}");
    let folder = node.files()[0].split_once('/').unwrap().0.to_owned();
    let inner = request("copy", &node.place.join(folder), None);
    let error = node.databases.restore(None, RestoreRequest { until: Some(Until::Time(first)), ..inner }).unwrap_err();
    assert!(error.to_string().contains("it has no archive"), "{error}");
    let single = r#"{"BackupType":"Snapshot","PointInTime":true,"LocalSettings":{"FolderPath":"/b"}}"#;
    assert!(rookery_database::backups::BackupConfiguration::from_json(&value(single)).is_err());
    let dumps = TASK.replace("Snapshot", "Backup");
    let text = format!(r#"{{"Name":"x","LocalSettings":{{"FolderPath":"/b"}},{dumps}}}"#);
    let error = node.databases.put_backup_task("shop", &value(&text), None).unwrap_err().to_string();
    assert!(error.contains("needs the 'BackupType' Snapshot"), "{error}");
    let second = format!(r#"{{"Name":"x","LocalSettings":{{"FolderPath":"/b"}},{TASK}}}"#);
    let error = node.databases.put_backup_task("shop", &value(&second), None).unwrap_err().to_string();
    assert!(error.contains("is archived by the task 'nightly'"), "{error}");
}

#[test]
fn a_node_that_ends_and_starts_goes_on_where_it_was() {
    let (mut node, _) = archived();
    for round in 0..4 {
        node.clock.advance(SECOND);
        node.put(&format!("users/{round}"), "text");
        // Not archived when the node ends.
        node = node.restart();
        node.clock.advance(SECOND);
        node.put(&format!("users/{round}-later"), "text");
    }
    catch_up(&node);
    assert_eq!(archives(&node).len(), 1);
    assert_eq!(node.files().len(), 1, "one snapshot is enough");
    let transaction = last_transaction(&node);
    assert_eq!(archives(&node)[0].last, transaction);
    let all = node.documents("shop");
    assert_eq!(restore(&node, "copy", Until::Transaction(transaction)).unwrap(), all);
    assert_eq!(restore(&node, "copy", Until::Transaction(transaction - 1)).unwrap().len(), all.len() - 1);
}

#[test]
fn a_task_that_was_disabled_begins_a_history_and_the_time_between_is_refused() {
    let (node, task) = archived();
    node.put("users/1", "one");
    catch_up(&node);
    let ended = node.clock.now();
    node.databases.set_backup_task_disabled("shop", task, true, None).unwrap();
    node.put("users/2", "two");
    // A clean end removes the journal that is not needed.
    let node = node.restart();
    node.clock.advance(10 * MINUTE);
    let between = node.clock.now();
    node.databases.set_backup_task_disabled("shop", task, false, None).unwrap();
    node.put("users/3", "three");
    for _ in 0..3 {
        node.clock.advance(MINUTE);
    }
    assert_eq!(archives(&node).len(), 2, "{:?}", files_of(&node.place));
    node.put("users/4", "four");
    catch_up(&node);
    assert_eq!(restore(&node, "copy", Until::Time(archives(&node)[1].until)).unwrap().len(), 2, "{ended}");
    let error = restore(&node, "copy", Until::Time(between)).unwrap_err().to_string();
    assert!(error.contains("nothing is known of the time between"), "{error}");
    assert_eq!(restore(&node, "copy", Until::Time(node.clock.now())).unwrap().len(), 5);
}

#[test]
fn segments_that_are_damaged_missing_or_exchanged_are_refused_by_name() {
    let (node, _) = archived();
    for number in 0..4 {
        node.put(&format!("users/{number}"), &"text ".repeat(50));
        catch_up(&node);
    }
    let all = segments(&node);
    assert_eq!(all.len(), 4);
    let end = Until::Transaction(last_transaction(&node));
    let whole = fs::read(&all[1]).unwrap();
    let contents = zstd::decode_all(&whole[..]).unwrap();
    let name = all[1].file_name().unwrap().to_string_lossy().into_owned();
    for at in (0..whole.len()).step_by(7) {
        for damaged in [whole[..at].to_vec(), flipped(&whole, at)] {
            fs::write(&all[1], &damaged).unwrap();
            match restore(&node, "copy", end) {
                // Compression may describe the same contents in two ways.
                Ok(_) => {
                    let decoded = zstd::decode_all(&damaged[..]);
                    assert!(decoded.is_ok_and(|decoded| decoded == contents), "byte {at} of {}", whole.len());
                }
                Err(error) => assert!(error.to_string().contains(&name), "{error}"),
            }
        }
    }
    // Another segment under its name.
    fs::copy(&all[2], &all[1]).unwrap();
    let error = restore(&node, "copy", end).unwrap_err().to_string();
    assert!(error.contains(&name), "{error}");
    fs::remove_file(&all[1]).unwrap();
    let error = restore(&node, "copy", end).unwrap_err().to_string();
    assert!(error.contains("is missing"), "{error}");
    // What lies before the hole can be restored.
    let before = Until::Transaction(archives(&node)[0].last);
    assert_eq!(restore(&node, "copy", before).unwrap().len(), 1);
    assert!(matches!(node.databases.find("copy"), Err(Error::Missing { .. })));
    fs::write(&all[1], &whole).unwrap();
    assert_eq!(restore(&node, "copy", end).unwrap().len(), 4);
}

fn flipped(whole: &[u8], at: usize) -> Vec<u8> {
    let mut damaged = whole.to_vec();
    damaged[at] ^= 0x10;
    damaged
}

#[test]
fn a_place_that_cannot_be_reached_is_tried_again_and_nothing_is_lost() {
    let (node, task) = archived();
    node.put("users/1", "one");
    // A file stands where the folder of the archive would be.
    let folder = node.place.join(&archives(&node)[0].folder);
    let away = node.place.with_extension("away");
    fs::rename(&folder, &away).unwrap();
    fs::write(&folder, "x").unwrap();
    catch_up(&node);
    let status = node.databases.archive_status("shop", task).unwrap().unwrap();
    assert!(status.is_behind && status.error.is_some(), "{status:?}");
    node.put("users/2", "two");
    fs::remove_file(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    node.clock.advance(15 * MINUTE);
    let status = node.databases.archive_status("shop", task).unwrap().unwrap();
    assert!(!status.is_behind && status.error.is_none(), "{status:?}");
    let end = Until::Transaction(last_transaction(&node));
    assert_eq!(restore(&node, "copy", end).unwrap().len(), 3);

    // A snapshot that reaches the places says that they are there again, before the time of the next try.
    fs::rename(&folder, &away).unwrap();
    fs::write(&folder, "x").unwrap();
    node.put("users/3", "three");
    catch_up(&node);
    assert!(node.databases.archive_status("shop", task).unwrap().unwrap().is_behind);
    fs::remove_file(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    node.clock.advance(SECOND);
    let status = node.databases.archive_status("shop", task).unwrap().unwrap();
    assert!(!status.is_behind && status.error.is_none(), "{status:?}");
}

#[test]
fn an_archive_with_a_key_needs_it_and_a_new_key_begins_anew() {
    let key = |byte: u8| {
        let key = rookery_database::documents::base64::encode(&[byte; 32]);
        format!(r#"{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}}"#)
    };
    let (node, task) = archived_with(&format!(r#","BackupEncryptionSettings":{}"#, key(1)));
    node.put("users/1", "hush-hush");
    catch_up(&node);
    let end = Until::Transaction(last_transaction(&node));
    for file in files_of(&node.place) {
        let bytes = fs::read(&file).unwrap();
        let is_plain = zstd::decode_all(&bytes[..]).is_ok_and(|text| text.windows(9).any(|part| part == b"hush-hush"));
        assert!(!is_plain, "{file:?}");
    }
    let error = node.databases.restore(None, until(&node, "copy", end)).unwrap_err().to_string();
    assert!(error.contains("encrypted"), "{error}");
    let with = |byte: u8| {
        let request = RestoreRequest { encryption: Some(value(&key(byte))), ..until(&node, "copy", end) };
        node.databases.restore(None, request).unwrap().run()
    };
    assert!(with(2).is_err());
    with(1).unwrap();
    assert_eq!(node.documents("copy").len(), 2);
    let place = node.place.display();
    let text = format!(
        r#"{{"Name":"nightly","TaskId":{task},"LocalSettings":{{"FolderPath":"{place}"}},"BackupEncryptionSettings":{},{TASK}}}"#,
        key(2)
    );
    node.databases.put_backup_task("shop", &value(&text), None).unwrap();
    catch_up(&node);
    let of_shop = archives(&node).into_iter().filter(|archive| archive.database == "Shop");
    assert_eq!(of_shop.count(), 2);
}

#[test]
fn snapshots_go_with_retention_and_the_journal_before_them_too() {
    let (node, task) = archived_with(r#","RetentionPolicy":{"MinimumBackupAgeToKeep":"1.00:00:00"}"#);
    for day in 0..4 {
        node.put(&format!("users/{day}"), "text");
        catch_up(&node);
        node.clock.advance(24 * 60 * MINUTE);
        catch_up(&node);
    }
    let kept = node.files();
    assert!(kept.len() < 4, "{kept:?}");
    let archive = &archives(&node)[0];
    let bases = files_of(&node.place).into_iter().filter(|file| file.to_string_lossy().ends_with(".rookery-base"));
    assert_eq!(bases.count(), kept.len());
    assert!(segments(&node).len() < 4, "{:?}", segments(&node));
    assert!(restore(&node, "copy", Until::Transaction(archive.first)).is_ok());
    assert!(restore(&node, "copy", Until::Transaction(archive.first - 1)).is_err());
    assert_eq!(restore(&node, "copy", Until::Transaction(archive.last)).unwrap().len(), 4);
    // A task that goes takes what is remembered with it, and leaves the files.
    node.databases.delete_backup_task("shop", task, None).unwrap();
    assert!(node.databases.archive_status("shop", task).is_err());
    assert_eq!(archives(&node).len(), 1);
}

#[test]
fn a_restored_database_goes_on_by_itself_and_its_archive_is_another() {
    let (node, _) = archived();
    node.put("users/1", "one");
    catch_up(&node);
    let end = Until::Transaction(last_transaction(&node));
    let with_tasks = RestoreRequest { disables_tasks: false, ..until(&node, "Copy", end) };
    node.databases.restore(None, with_tasks).unwrap().run().unwrap();
    node.clock.advance(SECOND);
    node.put("users/2", "two");
    catch_up(&node);
    let names: Vec<String> = archives(&node).into_iter().map(|archive| archive.database).collect();
    assert!(names.contains(&"Copy".to_owned()) && names.contains(&"Shop".to_owned()), "{names:?}");
    // Which one is meant has to be said now.
    let error = node.databases.restore(None, until(&node, "third", end)).unwrap_err().to_string();
    assert!(error.contains("archives of the databases Copy, Shop"), "{error}");
    let request = RestoreRequest { of_database: Some("shop".to_owned()), ..until(&node, "third", end) };
    node.databases.restore(None, request).unwrap().run().unwrap();
    assert_eq!(node.documents("third").len(), 2);
}

#[test]
fn a_trial_follows_an_archive_too_and_keeps_nothing() {
    let (node, _) = archived();
    node.put("users/1", "one");
    catch_up(&node);
    let end = Until::Transaction(last_transaction(&node));
    let trial = RestoreRequest { is_trial: true, ..until(&node, "verify", end) };
    let restore = node.databases.restore(None, trial).unwrap();
    let operation = Arc::clone(restore.operation());
    restore.run().unwrap();
    let OperationStatus::Completed(result) = operation.status() else { panic!("{:?}", operation.status()) };
    let messages = result.transfer.as_ref().unwrap().messages().join("\n");
    assert!(messages.contains(&format!("transaction {}", last_transaction(&node))), "{messages}");
    assert!(matches!(node.databases.find("verify"), Err(Error::Missing { .. })));
}

#[test]
fn a_clock_that_goes_back_begins_a_history_and_stops_no_archive() {
    let (node, task) = archived();
    let right = node.clock.now();
    node.clock.advance(300 * 24 * 60 * MINUTE);
    node.put("users/1", "one");
    catch_up(&node);
    node.clock.set(right);
    node.put("users/2", "two");
    // What is new is seen, a snapshot is made, and what follows it is archived.
    for _ in 0..3 {
        node.clock.advance(5 * SECOND);
    }
    node.put("users/3", "three");
    catch_up(&node);
    let status = node.databases.archive_status("shop", task).unwrap().unwrap();
    let expected = (last_transaction(&node), false, None);
    assert_eq!((status.transaction, status.is_behind, status.error), expected);
    assert!(archives(&node).len() >= 2, "{:?}", archives(&node));
    let now = node.clock.now();
    assert_eq!(restore(&node, "copy", Until::Time(now)).unwrap(), node.documents("shop"));
    assert_eq!(restore(&node, "copy", Until::Time(right)).unwrap(), ["users/0=before"]);
}

#[test]
fn small_steps_of_the_clock_back_begin_no_history() {
    let (node, task) = archived();
    node.put("users/1", "one");
    catch_up(&node);
    node.clock.set(Date::from_ticks(node.clock.now().ticks() - 300_000_000));
    node.put("users/2", "two");
    catch_up(&node);
    let status = node.databases.archive_status("shop", task).unwrap().unwrap();
    assert_eq!((status.transaction, status.is_behind), (last_transaction(&node), false));
    assert_eq!(archives(&node).len(), 1, "{:?}", archives(&node));
    let end = Until::Transaction(last_transaction(&node));
    assert_eq!(restore(&node, "copy", end).unwrap(), node.documents("shop"));
}

#[test]
fn a_restore_goes_on_from_the_snapshot_before_a_damaged_base() {
    let (node, task) = archived();
    for number in 1..=2 {
        node.clock.advance(MINUTE);
        node.put(&format!("users/{number}"), "text");
        catch_up(&node);
        assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    }
    node.put("users/3", "text");
    catch_up(&node);
    let bases: Vec<PathBuf> = files_of(&node.place)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|end| end == "rookery-base"))
        .collect();
    assert_eq!(bases.len(), 3);
    let end = Until::Transaction(last_transaction(&node));
    for damaged in bases.iter().rev() {
        assert_eq!(restore(&node, "copy", end).unwrap(), node.documents("shop"));
        fs::write(damaged, "no JSON").unwrap();
    }
    let error = restore(&node, "copy", end).unwrap_err().to_string();
    assert!(error.contains("is damaged") && error.contains(bases[2].file_name().unwrap().to_str().unwrap()), "{error}");
}

#[test]
fn what_follows_a_snapshot_may_stand_in_the_days_before_it() {
    let (node, task) = archived();
    let restores_all = || {
        let end = Until::Transaction(last_transaction(&node));
        assert_eq!(restore(&node, "copy", end).unwrap(), node.documents("shop"));
        assert_eq!(archives(&node).len(), 1, "{:?}", archives(&node));
        assert_eq!(archives(&node)[0].last, last_transaction(&node));
    };
    // A step back over midnight.
    node.clock.set(Date::parse("2026-11-28T00:00:20").unwrap());
    node.put("users/1", "one");
    catch_up(&node);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    node.clock.set(Date::parse("2026-11-27T23:59:45").unwrap());
    node.put("users/2", "two");
    catch_up(&node);
    restores_all();
    // Days that a clock is ahead while nothing is written, but for a snapshot.
    let right = node.clock.now();
    node.clock.advance(3 * 24 * 60 * MINUTE);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    node.clock.set(right);
    node.put("users/3", "three");
    catch_up(&node);
    restores_all();
    assert!(files_of(&node.place).iter().all(|file| !file.to_string_lossy().contains("/2026-11-30/")));
}
