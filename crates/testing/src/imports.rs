//! Which file of a crate imports which, and the cycles among them (strongly connected components).
//!
//! The graph is read from the text: paths of `use` and paths elsewhere that begin with `crate`, `super`, `self` or the name of a child
//! module. A name that a module only re-exports leads to the file that defines it, and a `pub use` itself counts as no import, so
//! that a `mod.rs` which only lists its children is in no cycle. Code for tests (`#[cfg(test)]`) is left out. Macros are not expanded.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::code_only;
use crate::tree::TextFile;

/// The path of a module in its crate: `["index", "key"]`; that of `lib.rs` is empty.
type ModulePath = Vec<String>;

/// The imports of one crate. Files are indices into [`Imports::files`].
pub struct Imports {
    /// Paths below the folder of the sources: `index/dictionary/key.rs`.
    pub files: Vec<String>,
    edges: Vec<BTreeSet<usize>>,
}

/// An import whose removal makes a cycle smaller.
pub struct Cut {
    /// Files of the largest cycle that remains; 1 if none does.
    pub remaining: usize,
    /// The file that imports, and the file that it imports from.
    pub import: (usize, usize),
}

impl Imports {
    /// Reads the imports of a crate.
    ///
    /// * `files`: among others, those of the crate.
    /// * `folder`: where its sources are, with a `/` at the end: `crates/query/src/`.
    pub fn of(files: &[TextFile], folder: &str) -> Imports {
        let modules = Modules::read(files, folder);
        let numbers: BTreeMap<&ModulePath, usize> = modules.0.keys().zip(0..).collect();
        let edges = modules.0.iter().map(|(path, module)| {
            let used = module.uses.iter().filter(|used| !used.is_public).map(|used| &used.path);
            let targets = used.chain(&module.paths).filter_map(|used| modules.file_of(path, used));
            targets.filter(|target| target != path).map(|target| numbers[&target]).collect()
        });
        let edges = edges.collect();
        Imports { files: modules.0.into_values().map(|module| module.file).collect(), edges }
    }

    /// The cycles, the largest first: sorted lists of files, each of which reaches all others of its list.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let all: BTreeSet<usize> = (0..self.files.len()).collect();
        self.cycles_without(&all, None)
    }

    /// The imports in a cycle, those first that make it smallest if they are removed alone.
    pub fn cuts(&self, cycle: &[usize]) -> Vec<Cut> {
        let within: BTreeSet<usize> = cycle.iter().copied().collect();
        let imports = cycle.iter().flat_map(|from| self.edges[*from].intersection(&within).map(|to| (*from, *to)));
        let cut = |import| {
            let remaining = self.cycles_without(&within, Some(import)).first().map_or(1, Vec::len);
            Cut { remaining, import }
        };
        let mut cuts: Vec<Cut> = imports.map(cut).collect();
        cuts.sort_by_key(|cut| (cut.remaining, cut.import));
        cuts
    }

    fn cycles_without(&self, within: &BTreeSet<usize>, removed: Option<(usize, usize)>) -> Vec<Vec<usize>> {
        let reached: BTreeMap<usize, BTreeSet<usize>> = within
            .iter()
            .map(|from| {
                let (mut reached, mut next) = (BTreeSet::new(), vec![*from]);
                while let Some(at) = next.pop() {
                    let targets = self.edges[at].intersection(within).filter(|to| removed != Some((at, **to)));
                    next.extend(targets.filter(|to| reached.insert(**to)));
                }
                (*from, reached)
            })
            .collect();
        let mut cycles: Vec<Vec<usize>> = Vec::new();
        for file in within.iter().filter(|file| reached[*file].contains(*file)) {
            if !cycles.iter().any(|cycle| cycle.contains(file)) {
                cycles.push(reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect());
            }
        }
        cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
        cycles
    }
}

/// The modules of a crate that have a file of their own.
struct Modules(BTreeMap<ModulePath, Module>);

struct Module {
    file: String,
    uses: Vec<Use>,
    /// Paths outside of `use`.
    paths: Vec<ModulePath>,
    /// Names of items that are defined here.
    defined: BTreeSet<String>,
}

/// One name that a `use` brings in.
#[derive(Debug, PartialEq)]
struct Use {
    path: ModulePath,
    name: String,
    is_public: bool,
}

impl Modules {
    fn read(files: &[TextFile], folder: &str) -> Modules {
        let mut modules = BTreeMap::new();
        let mut for_tests = BTreeSet::new();
        for file in files {
            let Some(name) = file.path.strip_prefix(folder).and_then(|name| name.strip_suffix(".rs")) else { continue };
            let mut path: ModulePath = name.split('/').map(str::to_owned).collect();
            if path.last().is_some_and(|last| last == "mod") || name == "lib" {
                path.pop();
            }
            let code = code_only(&file.text);
            let (tokens, test_modules) = without_tests(&tokens(&code));
            for_tests.extend(test_modules.into_iter().map(|module| [&path[..], &[module]].concat()));
            let (uses, rest) = take_uses(&tokens);
            let module = Module { file: format!("{name}.rs"), uses, paths: paths(&rest), defined: defined(&rest) };
            modules.insert(path, module);
        }
        let is_for_tests = |path: &ModulePath| {
            (1..=path.len()).any(|length| for_tests.contains(&path[..length]))
                || path.last().is_some_and(|last| last.ends_with("_tests"))
        };
        modules.retain(|path, _| !is_for_tests(path));
        Modules(modules)
    }

    /// The file that defines what `used` names in module `from`. `None`: it is of another crate, or a name in scope.
    fn file_of(&self, from: &ModulePath, used: &[String]) -> Option<ModulePath> {
        self.defining(&self.absolute(from, used)?, 0)
    }

    /// A path from the root of the crate.
    fn absolute(&self, from: &ModulePath, used: &[String]) -> Option<ModulePath> {
        // `main.rs` is a crate of its own beside `lib.rs`; its modules are where those of `lib.rs` would be.
        let mut base = if from == &["main"] { Vec::new() } else { from.clone() };
        let mut rest = used;
        match used.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &used[1..]),
            "self" => rest = &used[1..],
            "super" => {
                while let Some(("super", further)) =
                    rest.split_first().map(|(first, further)| (first.as_str(), further))
                {
                    base.pop();
                    rest = further;
                }
            }
            first => {
                if !self.0.contains_key(&[&base[..], &[first.to_owned()]].concat()) {
                    return None;
                }
            }
        }
        Some([&base, rest].concat())
    }

    /// Follows a path to the module that defines its item, through re-exports.
    fn defining(&self, path: &[String], depth: usize) -> Option<ModulePath> {
        const REEXPORTS_MAX: usize = 10;
        let is_module = |length: &usize| *length == 0 || self.0.contains_key(&path[..*length]);
        let length = (0..=path.len()).take_while(is_module).last()?;
        let module = &path[..length];
        let Some(item) = path.get(length).filter(|_| depth < REEXPORTS_MAX) else { return Some(module.to_vec()) };
        let Module { uses, defined, .. } = self.0.get(module)?;
        let module = module.to_vec();
        if let Some(reexport) = uses.iter().find(|used| used.name == *item) {
            let origin = self.absolute(&module, &reexport.path)?;
            return self.defining(&[&origin, &path[length + 1..]].concat(), depth + 1);
        }
        if !defined.contains(item) {
            for glob in uses.iter().filter(|used| used.name == "*" && used.is_public) {
                let origin = self.absolute(&module, &glob.path[..glob.path.len() - 1]);
                let origin = origin.and_then(|origin| self.defining(&origin, depth + 1));
                if let Some(origin) = origin.filter(|origin| self.0[origin].defined.contains(item)) {
                    return Some(origin);
                }
            }
        }
        Some(module)
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Words, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("::") {
            2
        } else if is_word(rest) {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The tokens without items for tests, and the names of modules for tests that have files of their own.
fn without_tests<'t>(tokens: &[&'t str]) -> (Vec<&'t str>, Vec<String>) {
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        let rest = &tokens[at..];
        let is_for_tests = match rest {
            ["#", "[", "cfg", "(", "test", ")", ..] => true,
            ["#", "[", "cfg", "(", "all", ..] => rest[..end_of_group(rest, 1)].contains(&"test"),
            _ => false,
        };
        if !is_for_tests {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        let mut item = rest;
        while let ["#", ..] = item {
            item = &item[end_of_group(item, 1)..];
        }
        let end = end_of_item(item);
        if let ["mod", name, ";"] | ["pub", "mod", name, ";"] | ["pub", "(", _, ")", "mod", name, ";"] = item[..end] {
            modules.push(name.to_owned());
        }
        at += rest.len() - item.len() + end;
    }
    (kept, modules)
}

/// Where the group that is opened at `open` ends, behind its closing token.
fn end_of_group(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Where an item, a field or an arm ends: behind its `;`, its body or its `,`, or before the end of what it stands in.
fn end_of_item(tokens: &[&str]) -> usize {
    const OF_ITEMS: &[&str] = &[
        "pub", "fn", "mod", "use", "impl", "struct", "enum", "const", "static", "type", "trait", "unsafe", "async",
        "let",
    ];
    let is_item = tokens.first().is_some_and(|first| OF_ITEMS.contains(first));
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "{" if !tokens[..at].contains(&"use") => return end_of_group(tokens, at),
            "(" | "[" | "{" => at = end_of_group(tokens, at),
            ")" | "]" | "}" => return at,
            _ => at += 1,
        }
    }
    tokens.len()
}

/// What all `use` bring in, and the tokens without them.
fn take_uses<'t>(tokens: &[&'t str]) -> (Vec<Use>, Vec<&'t str>) {
    let (mut uses, mut rest, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        // `impl Trait + use<'a>` has a `use` too.
        if tokens[at] != "use" || tokens.get(at + 1).is_some_and(|next| *next == "<") {
            rest.push(tokens[at]);
            at += 1;
            continue;
        }
        let is_public = match tokens[..at] {
            [.., "pub"] => true,
            [.., ")"] => tokens[..at]
                .iter()
                .rposition(|token| *token == "(")
                .is_some_and(|open| open > 0 && tokens[open - 1] == "pub"),
            _ => false,
        };
        let end = at + tokens[at..].iter().position(|token| *token == ";").unwrap_or(tokens.len() - at);
        add_uses(&tokens[at + 1..end], &[], is_public, &mut uses);
        at = end;
    }
    (uses, rest)
}

/// The names of one tree of a `use`: `a::{b, c::D as E}`.
fn add_uses(tree: &[&str], prefix: &[String], is_public: bool, uses: &mut Vec<Use>) {
    let open = tree.iter().position(|token| *token == "{").unwrap_or(tree.len());
    let (names, alias) = match tree[..open] {
        [ref names @ .., "as", alias] => (names, Some(alias)),
        _ => (&tree[..open], None),
    };
    let mut path = prefix.to_vec();
    path.extend(names.iter().filter(|token| **token != "::").map(|token| (*token).to_owned()));
    if open < tree.len() {
        let mut inner = &tree[open + 1..end_of_group(tree, open) - 1];
        while !inner.is_empty() {
            let mut end = 0;
            while end < inner.len() && inner[end] != "," {
                end = if inner[end] == "{" { end_of_group(inner, end) } else { end + 1 };
            }
            add_uses(&inner[..end], &path, is_public, uses);
            inner = inner.get(end + 1..).unwrap_or_default();
        }
        return;
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last() {
        let name = alias.unwrap_or(last).to_owned();
        uses.push(Use { path, name, is_public });
    }
}

/// Paths of at least two names.
fn paths(tokens: &[&str]) -> Vec<ModulePath> {
    let mut paths = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if !is_word(token) || index > 0 && tokens[index - 1] == "::" {
            continue;
        }
        let mut path = vec![(*token).to_owned()];
        let mut rest = &tokens[index + 1..];
        while let ["::", name, further @ ..] = rest
            && is_word(name)
        {
            path.push((*name).to_owned());
            rest = further;
        }
        if path.len() > 1 {
            paths.push(path);
        }
    }
    paths
}

/// The names of items.
fn defined(tokens: &[&str]) -> BTreeSet<String> {
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod", "macro_rules"];
    let name = |pair: &[&str]| (kinds.contains(&pair[0]) && is_word(pair[1])).then(|| pair[1].to_owned());
    tokens.windows(2).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// * `files`: name and text of each.
    /// * `expected`: `from > to` of each import, sorted.
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(imports(&read(files)), expected);
    }

    fn read(files: &[(&str, &str)]) -> Imports {
        let file = |(name, text): &(&str, &str)| TextFile { path: format!("src/{name}"), text: (*text).to_owned() };
        Imports::of(&files.iter().map(file).collect::<Vec<_>>(), "src/")
    }

    fn imports(imports: &Imports) -> Vec<String> {
        let of = |from: usize| imports.edges[from].iter().map(move |to| (from, *to));
        let text = |(from, to): (usize, usize)| format!("{} > {}", imports.files[from], imports.files[to]);
        let mut all: Vec<String> = (0..imports.files.len()).flat_map(of).map(text).collect();
        all.sort();
        all
    }

    #[test]
    fn paths_of_uses_and_of_expressions_are_imports() {
        let a = "use crate::b::{B, c::{self, C as D}};\nuse std::fmt;\nfn f() { super::e::g(); d::h() }";
        let files = [("a.rs", a), ("b/mod.rs", "struct B;"), ("b/c.rs", ""), ("e.rs", ""), ("a/d.rs", "use super::f;")];
        check(&files, &["a.rs > a/d.rs", "a.rs > b/c.rs", "a.rs > b/mod.rs", "a.rs > e.rs", "a/d.rs > a.rs"]);
    }

    #[test]
    fn what_is_re_exported_is_imported_from_where_it_is_defined() {
        let list = "mod c;\nmod d;\npub(crate) use self::c::C;\npub use d::*;";
        let files = [("lib.rs", "mod a; mod b; pub use b::C;"), ("a.rs", "use crate::{C, b::D};"), ("b/mod.rs", list)];
        let files = [&files[..], &[("b/c.rs", "pub struct C;"), ("b/d.rs", "pub struct D;")]].concat();
        check(&files, &["a.rs > b/c.rs", "a.rs > b/d.rs"]);
    }

    #[test]
    fn comments_strings_and_code_for_tests_import_nothing() {
        let a = "// use crate::b;\nconst A: &str = \"crate::b\";\n#[cfg(test)]\nuse crate::b::B;\n#[cfg(test)]\n#[path = \"t.rs\"]\n\
                 mod t;\n#[cfg(all(test, not(loom)))]\nmod tests { use crate::b; }\nfn f() -> impl Sized + use<> { crate::c::f() }";
        let files =
            [("a.rs", a), ("a/t.rs", "use crate::b;"), ("b.rs", ""), ("b_tests.rs", "use crate::c;"), ("c.rs", "")];
        check(&files, &["a.rs > c.rs"]);
    }

    #[test]
    fn cycles_are_found_with_the_imports_that_make_them() {
        let files = [
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::{a, c};"),
            ("c.rs", "use crate::a;"),
            ("d.rs", "use crate::e;"),
            ("e.rs", "use crate::d::{self, D};"),
            ("f.rs", "use crate::a;"),
        ];
        let imports = read(&files);
        assert_eq!(imports.cycles(), [vec![0, 1, 2], vec![3, 4]]);
        let cuts = imports.cuts(&[0, 1, 2]);
        assert_eq!((cuts[0].remaining, cuts[0].import), (1, (0, 1)));
        assert_eq!(cuts.iter().map(|cut| cut.remaining).collect::<Vec<_>>(), [1, 2, 2, 3]);
    }
}
