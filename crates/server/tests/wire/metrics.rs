//! `GET /metrics`: the text form of Prometheus, and what is counted in it.

use std::collections::{HashMap, HashSet};

use super::support::Wire;

/// The samples of a scrape by series (`name{labels}`), after a check of the whole text against the rules of the format.
struct Scrape(HashMap<String, f64>);

impl Scrape {
    fn of(wire: &Wire) -> Scrape {
        let answer = wire.call("GET /metrics", "");
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Scrape(parse(&answer.text()).unwrap_or_else(|error| panic!("{error}\n{}", answer.text())))
    }

    #[track_caller]
    fn get(&self, series: &str) -> f64 {
        *self.0.get(series).unwrap_or_else(|| panic!("{series} is not in {:?}", self.0.keys()))
    }

    fn has(&self, part: &str) -> bool {
        self.0.keys().any(|series| series.contains(part))
    }
}

/// A series as `name`, its labels with `le` apart, and its value.
type Sample = (String, Vec<(String, String)>, f64);

fn parse(text: &str) -> Result<HashMap<String, f64>, String> {
    let mut families: HashMap<String, String> = HashMap::new();
    let mut helped = HashSet::new();
    let mut current = String::new();
    let mut samples: Vec<Sample> = Vec::new();
    let mut series = HashMap::new();
    if !text.ends_with('\n') {
        return Err("the last line has no end".to_owned());
    }
    for line in text.lines() {
        let failed = |rule: &str| Err(format!("{rule}: {line}"));
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or_else(|| format!("no help: {line}"))?;
            if help.trim().is_empty() || !helped.insert(name.to_owned()) {
                return failed("help is there once");
            }
            current = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or_else(|| format!("no type: {line}"))?;
            if name != current || !["counter", "gauge", "histogram"].contains(&kind) {
                return failed("the type stands behind the help of its family");
            }
            let has_total = name.ends_with("_total");
            if !is_name(name) || has_total != (kind == "counter") {
                return failed("counters end with _total");
            }
            if families.insert(name.to_owned(), kind.to_owned()).is_some() {
                return failed("a family is there once");
            }
        } else {
            let (name, labels, value) = sample(line)?;
            let kind = families.get(&current).map(String::as_str);
            let is_of_family = match kind {
                Some("histogram") => ["_bucket", "_sum", "_count"].iter().any(|end| name == format!("{current}{end}")),
                Some(_) => name == current,
                None => false,
            };
            if !is_of_family {
                return failed("a sample stands behind the head of its family");
            }
            if kind != Some("gauge") && value < 0.0 {
                return failed("counts are not negative");
            }
            let labelled = labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>().join(",");
            let key = if labels.is_empty() { name.clone() } else { format!("{name}{{{labelled}}}") };
            if series.insert(key, value).is_some() {
                return failed("a series is there once");
            }
            samples.push((name, labels, value));
        }
    }
    check_histograms(&families, &samples)?;
    Ok(series)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn sample(line: &str) -> Result<Sample, String> {
    let failed = |rule: &str| format!("{rule}: {line}");
    let (head, value) = line.rsplit_once(' ').ok_or_else(|| failed("a value follows"))?;
    let value = value.parse().map_err(|_| failed("a value is a number"))?;
    let (name, mut rest) = match head.split_once('{') {
        None => (head, ""),
        Some((name, labels)) => (name, labels.strip_suffix('}').ok_or_else(|| failed("labels are closed"))?),
    };
    if !is_name(name) {
        return Err(failed("a name has letters, digits and underlines"));
    }
    let mut labels = Vec::new();
    while !rest.is_empty() {
        let (label, quoted) = rest.split_once("=\"").ok_or_else(|| failed("a label has a value in quotes"))?;
        if !is_name(label) || labels.iter().any(|(other, _)| other == label) {
            return Err(failed("labels have names, each once"));
        }
        let mut text = String::new();
        let mut characters = quoted.char_indices();
        let end = loop {
            match characters.next().ok_or_else(|| failed("a quote is closed"))? {
                (at, '"') => break at,
                (_, '\\') => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, escaped @ ('\\' | '"'))) => text.push(escaped),
                    _ => return Err(failed("an escape is one of three")),
                },
                (_, other) => text.push(other),
            }
        };
        labels.push((label.to_owned(), text));
        rest = quoted[end + 1..].strip_prefix(',').unwrap_or(&quoted[end + 1..]);
    }
    Ok((name.to_owned(), labels, value))
}

/// The buckets of a histogram rise, and the last one has all of its values.
fn check_histograms(families: &HashMap<String, String>, samples: &[Sample]) -> Result<(), String> {
    for (family, _) in families.iter().filter(|(_, kind)| *kind == "histogram") {
        let mut last: HashMap<Vec<(String, String)>, (f64, f64)> = HashMap::new();
        for (name, labels, value) in samples {
            let mut labels = labels.clone();
            if *name == format!("{family}_bucket") {
                let at = labels.iter().position(|(name, _)| name == "le").ok_or("a bucket has an end")?;
                let (_, end) = labels.remove(at);
                let end = if end == "+Inf" { f64::INFINITY } else { end.parse().map_err(|_| "an end is a number")? };
                let before = last.insert(labels, (end, *value)).unwrap_or((f64::NEG_INFINITY, 0.0));
                if before.0 >= end || before.1 > *value {
                    return Err(format!("the buckets of {family} do not rise"));
                }
            } else if *name == format!("{family}_count") && last.get(&labels) != Some(&(f64::INFINITY, *value)) {
                return Err(format!("the last bucket of {family} is not its count"));
            }
        }
    }
    Ok(())
}

#[test]
fn the_rules_of_the_format_are_checked() {
    let head = "# HELP a_total A.\n# TYPE a_total counter\n";
    parse(&format!("{head}a_total{{b=\"c\\\\\\\"\\n\"}} 1\na_total 2\n")).unwrap();
    for wrong in [
        "a_total 1\n".to_owned(),
        format!("{head}a_total 1\na_total 2\n"),
        format!("{head}b 1\n"),
        format!("{head}a_total 1"),
        format!("{head}a_total x\n"),
        format!("{head}a_total{{1b=\"c\"}} 1\n"),
        format!("{head}a_total{{b=\"c}} 1\n"),
        format!("{head}{head}a_total 1\n"),
        "# HELP a A.\n# TYPE a counter\na 1\n".to_owned(),
        "# HELP a A.\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n".to_owned(),
    ] {
        parse(&wrong).expect_err(&wrong);
    }
}

#[test]
fn the_state_of_the_server_of_databases_and_of_indexes_is_there_and_documented() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
        options.commit = Some("0123abc".to_owned());
        options.limits.slow_request = std::time::Duration::ZERO;
    });
    wire.create("db");
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#);
    let answer = wire.call("POST /databases/db/queries", r#"{"Query":"from Users where Name = 'Ann'"}"#);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let scrape = Scrape::of(&wire);
    assert!(scrape.has(concat!("rookery_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\",commit=\"0123abc\"")));
    assert_eq!(scrape.get("rookery_databases"), 1.0);
    assert_eq!(scrape.get(r#"rookery_database_state{database="db",state="open"}"#), 1.0);
    assert_eq!(scrape.get(r#"rookery_database_documents{database="db"}"#), 2.0);
    assert_eq!(scrape.get(r#"rookery_database_indexes{database="db"}"#), 1.0);
    for family in ["disk_bytes", "mapped_bytes", "journal_bytes", "journal_write_seconds_count", "requests_total"] {
        assert!(scrape.get(&format!(r#"rookery_database_{family}{{database="db"}}"#)) > 0.0, "{family}");
    }
    let index = |family: &str| scrape.get(&format!(r#"{family}{{database="db",index="Auto/Users/ByName"}}"#));
    assert_eq!((index("rookery_index_entries"), index("rookery_index_indexed_documents_total")), (2.0, 2.0));
    assert_eq!((index("rookery_index_lag_changes"), index("rookery_index_stale")), (0.0, 0.0));
    assert_eq!(scrape.get(r#"rookery_index_state{database="db",index="Auto/Users/ByName",state="normal"}"#), 1.0);
    assert!(scrape.get("rookery_slow_requests_total") >= 4.0);
    assert!(scrape.get("rookery_disk_free_bytes") > 0.0);
    let documentation = include_str!("../../../../docs/monitoring.md");
    for line in wire.call("GET /metrics", "").text().lines() {
        if let Some((name, _)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            assert!(documentation.contains(&format!("`{name}`")), "docs/monitoring.md does not list {name}");
        }
    }
    // An index that is behind, and one that lacks nothing again.
    wire.call("POST /databases/db/admin/indexes/stop", "");
    wire.put("users/3", r#"{"Name":"Cid","@metadata":{"@collection":"Users"}}"#);
    let scrape = Scrape::of(&wire);
    let index = |family: &str| scrape.get(&format!(r#"{family}{{database="db",index="Auto/Users/ByName"}}"#));
    assert_eq!((index("rookery_index_lag_changes"), index("rookery_index_stale")), (1.0, 1.0));
    assert!(scrape.has(r#"rookery_index_state{database="db",index="Auto/Users/ByName",state="paused"}"#));
}

#[test]
fn a_scrape_opens_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Wire::start_with(|options| {
            options.in_memory = false;
            options.data_directory = folder.path().to_owned();
        })
    };
    let wire = start();
    ["db", "off"].iter().for_each(|name| wire.create(name));
    wire.call("POST /admin/databases/disable", r#"{"DatabaseNames":["off"]}"#);
    drop(wire);
    let wire = start();
    for _ in 0..2 {
        let scrape = Scrape::of(&wire);
        assert_eq!(scrape.get(r#"rookery_database_state{database="db",state="closed"}"#), 1.0);
        assert_eq!(scrape.get(r#"rookery_database_state{database="off",state="disabled"}"#), 1.0);
        assert!(!scrape.has("rookery_database_documents{"));
    }
    assert_eq!(wire.call("GET /databases/db/stats", "").status, 200);
    assert_eq!(Scrape::of(&wire).get(r#"rookery_database_documents{database="db"}"#), 0.0);
}

#[test]
fn what_a_client_does_wrong_is_no_fault_of_the_server() {
    let wire = Wire::with_database();
    wire.create("off");
    wire.call("POST /admin/databases/disable", r#"{"DatabaseNames":["off"]}"#);
    let count = |status: &str, cause: &str| {
        Scrape::of(&wire).get(&format!(r#"rookery_http_answers_total{{status="{status}",cause="{cause}"}}"#))
    };
    let server_errors = || {
        let live = wire.call("GET /admin/live", "").json();
        live.get("ServerErrors").and_then(json::Value::as_i64).unwrap()
    };
    let (wrong, unsupported) = (count("4xx", "request"), count("5xx", "request"));
    for (line, body) in [
        ("POST /databases/db/queries", r#"{"Query":"from Users wher Name = 1"}"#),
        ("POST /databases/db/queries", "{"),
        ("PUT /databases/db/docs?id=a", "nonsense"),
        ("GET /databases/nowhere/stats", ""),
    ] {
        assert_eq!(wire.call(line, body).status, 400, "{line}");
    }
    let long = format!("PUT /databases/db/docs?id={}", "x".repeat(600));
    assert_eq!(wire.call(&long, "{}").status, 400);
    assert_eq!(wire.call("GET /databases/db/timeseries?docId=a&name=b", "").status, 501);
    assert_eq!(wire.call("GET /databases/off/stats", "").status, 503);
    assert_eq!((count("4xx", "request"), count("5xx", "request")), (wrong + 5.0, unsupported + 2.0));
    assert_eq!((count("4xx", "server"), count("5xx", "server"), server_errors()), (0.0, 0.0, 0));
}

#[test]
fn series_of_databases_are_bounded_and_the_rest_is_counted() {
    let wire = Wire::start();
    for number in 0..258 {
        wire.create(&format!("db{number:03}"));
    }
    let scrape = Scrape::of(&wire);
    assert_eq!((scrape.get("rookery_databases"), scrape.get("rookery_metrics_databases_omitted")), (258.0, 2.0));
    assert!(scrape.has(r#"{database="db255","#) && !scrape.has(r#"{database="db256","#));
}

#[test]
fn backups_are_told_by_task() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::with_database();
    let task = |name: &str, place: &std::path::Path| {
        let place = place.display();
        let text = format!(
            r#"{{"Name":"{name}","FullBackupFrequency":"0 2 1 1 *","LocalSettings":{{"FolderPath":"{place}"}}}}"#
        );
        let answer = wire.call("POST /databases/db/admin/periodic-backup", &text);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = answer.json().get("TaskId").and_then(json::Value::as_i64).unwrap();
        let begin = format!("POST /databases/db/admin/backup/database?taskId={id}&isFullBackup=true");
        let begun = wire.call(&begin, "").json().get("OperationId").and_then(json::Value::as_i64).unwrap();
        wire.ended(begun);
    };
    std::fs::write(folder.path().join("file"), "").unwrap();
    task("good", &folder.path().join("backups"));
    task("bad", &folder.path().join("file/below"));
    let scrape = Scrape::of(&wire);
    let of = |family: &str, task: &str| format!(r#"{family}{{database="db",task="{task}"}}"#);
    assert_eq!(scrape.get(&of("rookery_backup_failing", "good")), 0.0);
    assert_eq!(scrape.get(&of("rookery_backup_failing", "bad")), 1.0);
    assert!(scrape.get(&of("rookery_backup_age_seconds", "good")) < 600.0);
    assert!(!scrape.has(&of("rookery_backup_age_seconds", "bad")));
}
