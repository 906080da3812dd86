//! Which names users may give indexes: those that RavenDB takes, so that they can be in addresses, names of files and queries.

use super::DefinitionError;
use crate::limits::INDEX_NAME_LENGTH_MAX;

/// Checks the name of an index that a user defines.
///
/// # Errors
///
/// [`DefinitionError::Invalid`] with the rule that it breaks.
pub fn check_index_name(name: &str) -> Result<(), DefinitionError> {
    let shown: String = name.chars().take(INDEX_NAME_LENGTH_MAX).collect();
    let refused = |rule: &str| {
        Err(DefinitionError::Invalid(format!("Index name '{}' is not permitted. {rule}", shown.escape_debug())))
    };
    if name.chars().count() > INDEX_NAME_LENGTH_MAX {
        return refused(&format!(
            "Index name cannot exceed {INDEX_NAME_LENGTH_MAX} characters (INDEX_NAME_LENGTH_MAX)."
        ));
    }
    let is_allowed = |character: char| character.is_alphanumeric() || "_-./".contains(character);
    if !name.chars().all(is_allowed) {
        return refused("Only letters, digits and characters ('_', '-', '.', '/') are allowed.");
    }
    if name.contains("//") {
        return refused("Index name cannot contain // (double slashes)");
    }
    if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        return refused("If a name contains '.' character then it must be surrounded by other allowed characters.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference takes and refuses them.
    #[test]
    fn names_are_letters_digits_and_some_signs() {
        for name in ["a", "a.b", "a/", "/a", "-", "_", "ü/ö", "日本", "a/./b", "dynamic/x", &"x".repeat(206)] {
            assert!(check_index_name(name).is_ok(), "{name}");
        }
        for name in [
            "I\0b",
            "I/../y",
            "a\"b",
            "a'b",
            "a b",
            "a\\b",
            "a\tb",
            "a(b)",
            "@x",
            "a..b",
            ".",
            "..",
            "a/.",
            "a//b",
            "a%b",
            &"x".repeat(207),
        ] {
            assert!(matches!(check_index_name(name), Err(DefinitionError::Invalid(_))), "{name}");
        }
    }
}
