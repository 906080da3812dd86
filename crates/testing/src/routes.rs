//! The table of routes, read from the server's source: the tests of the tree depend on none of our crates.

/// One line of the table.
pub struct Route {
    /// In upper case.
    pub method: String,
    /// With `*` for the name of a database.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// Refused by the name of its feature; one test goes over all of these.
    pub is_missing: bool,
}

/// The routes in the text of `routes.rs`: each string of capitals that a string with a path follows.
pub fn table(source: &str) -> Vec<Route> {
    let start = source.find("pub static ROUTES").unwrap_or(source.len());
    let end = source[start..].find("\n];").map_or(source.len(), |length| start + length);
    let mut routes = Vec::new();
    let mut strings = source[start..end].split('"');
    let mut before = strings.next().unwrap_or_default();
    let mut line = source[..start].matches('\n').count() + 1 + before.matches('\n').count();
    let mut method: Option<(&str, usize, bool)> = None;
    while let (Some(string), Some(after)) = (strings.next(), strings.next()) {
        if !string.is_empty() && string.bytes().all(|byte| byte.is_ascii_uppercase()) {
            let is_missing = before.trim_end().ends_with("missing(");
            method = Some((string, line, is_missing));
        } else if let Some((method, line, is_missing)) = method.take().filter(|_| string.starts_with('/')) {
            routes.push(Route { method: method.to_string(), path: string.to_string(), line, is_missing });
        }
        before = after;
        line += after.matches('\n').count();
    }
    routes
}

impl Route {
    /// Whether a test names it: method and path, with any name of a database, and then the end or the query.
    pub fn occurs_in(&self, text: &str) -> bool {
        let (start, end) = self.path.split_once('*').unwrap_or((&self.path, ""));
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "/-_".contains(c));
        text.match_indices(&format!("{} {start}", self.method)).any(|(at, found)| {
            let rest = &text[at + found.len()..];
            if end.is_empty() {
                return is_end(rest);
            }
            let name = rest.find(|c: char| "/ \"?\n".contains(c)).unwrap_or(rest.len());
            rest[name..].strip_prefix(end).is_some_and(is_end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_read_and_found_in_tests() {
        let source = "x(\"GET\", \"/no\");\npub static ROUTES: &[Route] = &[\n    now(\"GET\", \"/databases/*/docs\", Read, f),\n\
                      \x20   missing(\n        \"PUT\",\n        \"/admin/x\",\n        \"sharding\"),\n];\n";
        let routes = table(source);
        let seen: Vec<_> = routes.iter().map(|r| (&*r.method, &*r.path, r.line, r.is_missing)).collect();
        assert_eq!(seen, [("GET", "/databases/*/docs", 3, false), ("PUT", "/admin/x", 5, true)]);
        assert!(routes[0].occurs_in("call(\"GET /databases/db/docs?id=1\")"));
        assert!(!routes[0].occurs_in("call(\"GET /databases/db/docs/size\")"));
        assert!(!routes[0].occurs_in("call(\"PUT /databases/db/docs\")"));
        assert!(routes[1].occurs_in("\"PUT /admin/x\""));
    }
}
