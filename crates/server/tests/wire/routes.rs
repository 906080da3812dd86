//! The table of routes and its documentation.

use rookery_server::ROUTES;

use super::support::Wire;

const DOCUMENTATION: &str = include_str!("../../../../docs/http.md");

#[test]
fn every_route_has_a_row_in_the_documentation_and_every_row_a_route() {
    let row = |method: &str, path: &str| format!("| `{method} {}` |", path.replace('*', "{name}"));
    for route in ROUTES {
        let start = row(route.method, route.path);
        let row = DOCUMENTATION.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("docs/http.md has no row for {start}"));
        if let Some(feature) = route.missing() {
            assert!(row.ends_with(&format!("| {} |", feature.name())), "{row} does not name {}", feature.name());
        }
    }
    let rows = DOCUMENTATION.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, ROUTES.len(), "docs/http.md has rows for routes that are not there");
}

#[test]
fn routes_that_are_not_there_yet_are_refused_by_the_name_of_their_feature() {
    let wire = Wire::with_database();
    for route in ROUTES {
        let Some(feature) = route.missing() else { continue };
        let line = format!("{} {}", route.method, route.path.replace('*', "db"));
        let answer = wire.call(&line, "");
        assert_eq!(answer.status, 501, "{line}");
        if route.method != "HEAD" {
            let message = format!("Rookery {} does not support {} yet", env!("CARGO_PKG_VERSION"), feature.name());
            answer.check_error(501, "RavenException", &message);
            let error = answer.json().get("Error").and_then(|text| text.as_str().map(str::to_owned)).unwrap();
            assert!(error.contains(feature.sentence()) && error.contains(feature.link()), "{line}: {error}");
        }
    }
}

#[test]
fn no_route_fails_with_a_bug_on_an_empty_request() {
    let wire = Wire::with_database();
    for route in ROUTES {
        let line = format!("{} {}", route.method, route.path.replace('*', "db"));
        for body in
            ["", "{}", "[]", "nonsense", "{\"Requests\":[null],\"Ids\":[null],\"DatabaseNames\":7,\"Commands\":{}}"]
        {
            let answer = wire.call(&line, body);
            // A dump is no text.
            let text = String::from_utf8_lossy(&answer.body);
            assert!(!text.contains("bug in Rookery"), "{line} {body}: {text}");
        }
    }
}
