//! Cycles of imports inside of the crates: those that exist are listed with their size, so that none grows and none appears.

use std::collections::BTreeSet;

use crate::tidy::Findings;
use testing::imports::Imports;
use testing::tree;

/// Cycles that are accepted: crate, one file of the cycle, count of its files.
///
/// The aim is a shorter list with smaller numbers. Whoever cuts a cycle lowers its number here.
const CYCLES: &[(&str, &str, usize)] = &[
    ("cli", "settings/mod.rs", 2),
    // The node owns its tasks, and a task finds its database by the node.
    ("database", "backups/tasks.rs", 2),
    ("database", "database.rs", 10),
    ("database", "queries/run.rs", 5),
    // Uploads and downloads are work of the store.
    ("destinations", "store.rs", 3),
    // Each kind of items writes through the store, which asks the table of kinds.
    ("documents", "store.rs", 28),
    ("documents", "commands/batch.rs", 2),
    ("documents", "commands/command.rs", 2),
    ("json", "minify.rs", 2),
    // The planner asks the table of functions, and functions plan their calls.
    ("query", "functions/mod.rs", 41),
    // Each condition implements the trait of the table that lists it.
    ("query", "execute/conditions/mod.rs", 16),
    ("query", "index/snapshot.rs", 15),
    ("query", "execute/mod.rs", 10),
    ("query", "indexing/indexer.rs", 10),
    ("query", "spatial/shape.rs", 8),
    ("query", "mapping/evaluate/mod.rs", 6),
    ("query", "mapping/javascript/mod.rs", 5),
    ("query", "mapping/date.rs", 4),
    ("query", "analysis/mod.rs", 3),
    ("query", "mapping/convert.rs", 2),
    ("query", "mapping/javascript/values.rs", 2),
    ("query", "mapping/linq/mod.rs", 2),
    ("rookerydb", "store.rs", 7),
    ("script", "engine.rs", 3),
    // `Node` holds everything, and everything takes it.
    ("server", "routing/exchange.rs", 7),
    ("server", "traces/mod.rs", 2),
    // `environment::Inner` is taken by the parts that it owns; `limits.rs` and `page.rs` take constants of each other.
    ("storage", "environment/mod.rs", 42),
    ("storage", "contents/mod.rs", 2),
];

const LIST: &str = "crates/testing/tests/main/cycles.rs";
/// Imports that a finding names, those first whose removal alone helps most.
const CUTS_SHOWN: usize = 5;

#[test]
fn cycles_of_imports_neither_appear_nor_grow() {
    let files = tree::files();
    let crates: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("crates/")?.split_once("/src/"))
        .map(|(name, _)| name)
        .collect();
    let mut findings = Findings::default();
    let mut rows: Vec<&(&str, &str, usize)> = CYCLES.iter().filter(|_| !files.is_empty()).collect();
    for name in crates {
        let folder = format!("crates/{name}/src/");
        let imports = Imports::of(&files, &folder);
        for cycle in imports.cycles() {
            let has = |file: &str| cycle.iter().any(|number| imports.files[*number] == file);
            let accepted = rows.iter().position(|(of, file, _)| *of == name && has(file)).map(|row| rows.remove(row).2);
            let size = cycle.len();
            let path = format!("{folder}{}", imports.files[cycle[0]]);
            match accepted {
                Some(accepted) if accepted == size => {}
                Some(accepted) if accepted > size => {
                    let rule = format!(
                        "this cycle of imports has shrunk from {accepted} files to {size}: lower its number in {LIST}"
                    );
                    findings.add(&path, 1, &rule);
                }
                accepted => {
                    let before = accepted.map_or("a new one".to_owned(), |accepted| format!("it had {accepted}"));
                    let rule =
                        format!("a cycle of imports has {size} files, {before}; {}", description(&imports, &cycle));
                    findings.add(&path, 1, &rule);
                }
            }
        }
    }
    for (name, file, _) in rows {
        findings.add(LIST, 1, &format!("no cycle of its own has {name} {file} any more: remove this row"));
    }
    findings.none();
}

/// The files of a cycle, and the imports whose removal makes it smallest.
fn description(imports: &Imports, cycle: &[usize]) -> String {
    let names = |numbers: &[usize]| numbers.iter().map(|number| imports.files[*number].as_str()).collect::<Vec<_>>();
    let cuts = imports.cuts(cycle).into_iter().take(CUTS_SHOWN).map(|cut| {
        let import = names(&[cut.import.0, cut.import.1]).join(" -> ");
        format!("{import} (then {} files)", cut.remaining)
    });
    format!("files: {}; cut one of: {}", names(cycle).join(", "), cuts.collect::<Vec<_>>().join(", "))
}
