//! What a crate's manifest says about its dependencies.

/// One line of a section of dependencies.
pub struct Dependency {
    /// The name that the crate uses.
    pub name: String,
    /// Counted from 1.
    pub line: usize,
    /// Whether only its tests, examples and benchmarks see it.
    pub is_for_tests: bool,
    /// Whether its version stands in the manifest of the workspace.
    pub is_of_workspace: bool,
}

/// The dependencies in the text of a manifest, those for some platforms included.
pub fn dependencies(text: &str) -> Vec<Dependency> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            continue;
        }
        let kind = section.rsplit('.').next().unwrap_or_default();
        let Some((key, value)) = line.split_once('=') else { continue };
        if !kind.ends_with("dependencies") {
            continue;
        }
        let (name, attribute) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
        found.push(Dependency {
            name: name.trim_matches('"').trim_start_matches("rookery-").to_string(),
            line: index + 1,
            is_for_tests: kind == "dev-dependencies",
            is_of_workspace: attribute == "workspace" || value.replace(' ', "").contains("workspace=true"),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_forms_are_told_apart() {
        let text = "[package]\nname = \"x\"\n[dependencies]\n# why\njson.workspace = true\nserde = { workspace = true }\n\
                    [target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n[dev-dependencies]\ntesting.workspace = true\n";
        let seen = dependencies(text);
        let seen: Vec<_> = seen.iter().map(|d| (&*d.name, d.line, d.is_for_tests, d.is_of_workspace)).collect();
        let expected = [
            ("json", 5, false, true),
            ("serde", 6, false, true),
            ("libc", 8, false, false),
            ("testing", 10, true, true),
        ];
        assert_eq!(seen, expected);
    }
}
