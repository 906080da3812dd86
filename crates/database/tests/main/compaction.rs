//! A compaction beside the backups of a database and the archive of its journal.

use std::time::Duration;

use rookery_database::backups::{Archive, FolderDestination, RestoreRequest, Until};
use rookery_database::compaction::{CompactionReport, CompactionRequest};
use rookery_database::{Clock, OperationStatus};

use crate::backups::{MINUTE, Node, request};

const SECOND: Duration = Duration::from_secs(1);

/// Puts documents and deletes most of them.
fn fill(node: &Node) {
    let text = "x".repeat(6_000);
    (0..200).for_each(|number| node.put(&format!("users/{number}"), &text));
    (20..200).for_each(|number| node.delete(&format!("users/{number}")));
}

fn compact(node: &Node) -> CompactionReport {
    let request = CompactionRequest { name: "shop".to_owned(), documents: true, indexes: Vec::new() };
    let report = node.databases.compact(None, request).unwrap().run().unwrap();
    assert!(report.size_after < report.size_before, "{report:?}");
    report
}

#[test]
fn an_archive_begins_anew_after_a_compaction_and_has_what_follows() {
    let node = Node::open();
    fill(&node);
    node.add_task(r#""FullBackupFrequency":"0 2 * * *","BackupType":"Snapshot","PointInTime":true"#);
    let archives = || Archive::all(&FolderDestination::new(&node.place)).unwrap();
    node.clock.advance(SECOND);
    node.put("users/before", "before");
    node.clock.advance(10 * SECOND);
    assert_eq!(archives().len(), 1);
    // From here on the clock stands still, so only the compaction archives this.
    node.clock.advance(SECOND / 10);
    node.put("users/last", "last");
    let documents = node.documents("shop");
    compact(&node);
    let until = Some(Until::Time(node.clock.now()));
    let until = RestoreRequest { until, disables_tasks: true, ..request("last", &node.place, None) };
    node.databases.restore(None, until).unwrap().run().unwrap();
    assert_eq!(node.documents("last"), documents);
    // It looks, finds another history, and asks for a snapshot, which it goes on from.
    node.clock.advance(MINUTE);
    node.clock.advance(MINUTE);
    assert_eq!(archives().len(), 2);
    for (name, text) in [("one", "first"), ("two", "second")] {
        node.put("users/after", text);
        node.clock.advance(SECOND);
        let (now, documents) = (node.clock.now(), node.documents("shop"));
        node.clock.advance(10 * SECOND);
        node.put("users/later", text);
        node.clock.advance(10 * SECOND);
        let until =
            RestoreRequest { until: Some(Until::Time(now)), disables_tasks: true, ..request(name, &node.place, None) };
        node.databases.restore(None, until).unwrap().run().unwrap();
        assert_eq!(node.documents(name), documents);
    }
}

#[test]
fn an_incremental_backup_goes_on_over_a_compaction() {
    let node = Node::open();
    let task = node.add_task(r#""FullBackupFrequency":"0 2 * * *","IncrementalBackupFrequency":"0 * * * *""#);
    fill(&node);
    assert!(matches!(node.run_now(task, true), OperationStatus::Completed(_)));
    node.put("users/before", "b");
    compact(&node);
    node.put("users/after", "a");
    node.delete("users/3");
    assert!(matches!(node.run_now(task, false), OperationStatus::Completed(_)));
    let folder = node.files()[0].split_once('/').unwrap().0.to_owned();
    assert_eq!(node.files().len(), 2, "{:?}", node.files());
    node.restore("copy", &node.place.join(folder), None).unwrap();
    assert_eq!(node.documents("copy"), node.documents("shop"));
}
