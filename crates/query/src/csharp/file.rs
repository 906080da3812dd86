//! A file of C#, and the classes that it declares.

use crate::mapping::{CompileError, Parsed, Syntax};

/// A parsed file.
pub(crate) struct File(Parsed);

/// A class of a file.
#[derive(Clone)]
pub(crate) struct Class<'f> {
    /// All of it.
    pub syntax: Syntax<'f>,
    /// Its name, without its namespace.
    pub name: &'f str,
    /// With its namespace.
    pub full_name: String,
}

impl File {
    /// # Errors
    ///
    /// If it is no C#, at the first place that does not fit.
    pub fn parse(code: &str) -> Result<File, CompileError> {
        Parsed::of_file(code).map(File)
    }

    /// The classes outside of others.
    pub fn classes(&self) -> Vec<Class<'_>> {
        let mut classes = Vec::new();
        gather(self.0.root(), "", 0, &mut classes);
        classes
    }

    /// The public class of a name.
    ///
    /// * `name`: with or without the namespace.
    pub fn public_class(&self, name: &str) -> Option<Class<'_>> {
        let is_of_name = |class: &Class<'_>| class.name == name || class.full_name == name;
        self.classes().into_iter().find(is_of_name).filter(|class| class.has("public"))
    }

    /// What stands outside of classes, and declares neither those nor their namespaces, nor says by which names others are called.
    pub fn other_parts(&self) -> Vec<Syntax<'_>> {
        let mut others = Vec::new();
        gather_others(self.0.root(), 0, &mut others);
        others
    }
}

/// Namespaces inside of one another. What stands deeper is refused as a part that is no class.
const NAMESPACE_DEPTH_MAX: usize = 32;

fn gather<'f>(inside: Syntax<'f>, namespace: &str, depth: usize, classes: &mut Vec<Class<'f>>) {
    let mut namespace = namespace.to_owned();
    for part in inside.children() {
        let within = |name: Syntax<'_>| {
            let name: String = name.source().split_whitespace().collect();
            if namespace.is_empty() { name } else { format!("{namespace}.{name}") }
        };
        match (part.kind(), part.field("name"), part.field("body")) {
            ("namespace_declaration", Some(name), Some(body)) if depth < NAMESPACE_DEPTH_MAX => {
                gather(body, &within(name), depth + 1, classes);
            }
            ("file_scoped_namespace_declaration", Some(name), _) => namespace = within(name),
            ("class_declaration", Some(name), Some(_)) => {
                classes.push(Class { syntax: part, name: name.name(), full_name: within(name) });
            }
            _ => {}
        }
    }
}

fn gather_others<'f>(inside: Syntax<'f>, depth: usize, others: &mut Vec<Syntax<'f>>) {
    for part in inside.children() {
        match (part.kind(), part.field("name"), part.field("body")) {
            ("namespace_declaration", _, Some(body)) if depth < NAMESPACE_DEPTH_MAX => {
                gather_others(body, depth + 1, others);
            }
            ("file_scoped_namespace_declaration" | "class_declaration", ..) => {}
            // The name of a directive is an alias.
            ("using_directive", None, _) if !part.tokens().iter().any(|token| token.kind() == "static") => {}
            // The names of a namespace.
            ("identifier" | "qualified_name", ..) => {}
            _ => others.push(part),
        }
    }
}

impl<'f> Class<'f> {
    /// Whether it has a modifier.
    pub fn has(&self, modifier: &str) -> bool {
        has_modifier(self.syntax, modifier)
    }

    /// The types that it derives from, as they are written.
    pub fn bases(&self) -> Vec<Syntax<'f>> {
        let list = self.syntax.children().into_iter().find(|part| part.kind() == "base_list");
        list.map(Syntax::children).unwrap_or_default()
    }

    /// What it declares.
    pub fn members(&self) -> Vec<Syntax<'f>> {
        self.syntax.field("body").map(Syntax::children).unwrap_or_default()
    }

    /// The first part of its head of a kind.
    pub fn part(&self, kind: &str) -> Option<Syntax<'f>> {
        self.syntax.children().into_iter().find(|part| part.kind() == kind)
    }
}

/// Whether a declaration has a modifier.
pub(crate) fn has_modifier(declaration: Syntax<'_>, modifier: &str) -> bool {
    declaration.children().iter().any(|part| part.kind() == "modifier" && part.source() == modifier)
}

/// The name of a type, without its namespace and its arguments.
pub(crate) fn type_name<'f>(written: Syntax<'f>) -> &'f str {
    match written.kind() {
        "qualified_name" | "alias_qualified_name" => written.field("name").map_or("", type_name),
        _ => written.name(),
    }
}
