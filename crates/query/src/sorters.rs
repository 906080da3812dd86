//! Custom sorters: classes in C# that compare entries. None is served.
//!
//! A sorter keeps values of entries in slots of its own and compares these, in six members that only together have a meaning. Reading the
//! order from them with certainty is possible for copies of Lucene's own comparators alone, and RQL has their orders already (`order by
//! Field as long`). So a definition is checked for the errors that the reference has, and then refused.

use crate::csharp::File;
use crate::mapping::CompileError;
use documents::{Feature, MissingFeature};

/// Why the definition of a sorter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SorterRefused {
    /// The code is no C#.
    #[error("Failed to compile sorter '{sorter}'\n\n({}, {}): error: {}", .error.line, .error.column, .error.message)]
    Compile {
        /// The sorter.
        sorter: String,
        /// What is wrong, and where.
        error: CompileError,
    },
    /// The code has no public class of the name of the sorter.
    #[error("Could not find type '{0}' in given assembly.")]
    UnknownType(String),
    /// No form is served.
    #[error(transparent)]
    NotServed(MissingFeature),
}

/// Why a sorter is refused.
///
/// * `name`: that of the class, with or without its namespace.
/// * `code`: a file of C#.
pub fn refuse_sorter(name: &str, code: &str) -> SorterRefused {
    let file = match File::parse(code) {
        Ok(file) => file,
        Err(error) => return SorterRefused::Compile { sorter: name.to_owned(), error },
    };
    let Some(class) = file.public_class(name) else { return SorterRefused::UnknownType(name.to_owned()) };
    let line = class.syntax.error(String::new()).line;
    let base = class.bases().first().map_or(String::new(), |base| format!(" : {}", base.quoted()));
    let subject = format!(
        "the sorter 'class {}{base}' in line {line} (no sorter in C# is served: use 'order by Field as long', 'as double' or 'as alphaNumeric', or let \
         a map compute a field that sorts as it should)",
        class.name
    );
    SorterRefused::NotServed(Feature::CustomSorters.missing_for(subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "using Lucene.Net.Search;\nnamespace A\n{\n    public class Mine : FieldComparator { }\n    class Hidden { }\n}";

    #[test]
    fn no_sorter_is_served_and_its_class_is_named() {
        for name in ["Mine", "A.Mine"] {
            let SorterRefused::NotServed(missing) = refuse_sorter(name, CODE) else { panic!("{name}") };
            let message = missing.to_string();
            assert!(message.contains("the sorter 'class Mine : FieldComparator' in line 4 (no sorter"), "{message}");
        }
        let SorterRefused::NotServed(_) = refuse_sorter("B", "public class B { }") else { panic!() };
    }

    #[test]
    fn what_is_no_sorter_is_an_error_of_the_code() {
        for name in ["mine", "Other", "Hidden", ""] {
            assert_eq!(refuse_sorter(name, CODE), SorterRefused::UnknownType(name.to_owned()));
        }
        let refused = refuse_sorter("Mine", "no c#").to_string();
        assert!(refused.starts_with("Failed to compile sorter 'Mine'\n\n(1, "), "{refused}");
    }
}
