//! Tools that search and read the manual, whose pages are in the binary: those that `docs/SUMMARY.md` lists, in its order.

use std::sync::OnceLock;

use super::arguments::Arguments;
use super::inner::{Caller, of_error};
use super::outcome::{Outcome, Output, ToolError};
use crate::bridge::Pool;
use crate::limits::{MCP_ANSWER_SIZE_MAX, MCP_SEARCH_WORDS_MAX, MCP_SECTION_SIZE_MAX};

/// A page by its path in the repository.
struct Page {
    path: &'static str,
    text: &'static str,
}

macro_rules! page {
    ($path:literal) => {
        Page { path: $path, text: include_str!(concat!("../../../../../", $path)) }
    };
}

static PAGES: &[Page] = &[
    page!("README.md"),
    page!("docs/README.md"),
    page!("docs/install.md"),
    page!("docs/concepts.md"),
    page!("docs/first-application.md"),
    page!("docs/first-node.md"),
    page!("docs/first-python.md"),
    page!("docs/first-java.md"),
    page!("docs/first-go.md"),
    page!("docs/first-csharp.md"),
    page!("docs/studio.md"),
    page!("docs/modelling.md"),
    page!("docs/rql.md"),
    page!("docs/indexes.md"),
    page!("docs/search.md"),
    page!("docs/transactions.md"),
    page!("docs/compare-exchange.md"),
    page!("docs/attachments.md"),
    page!("docs/counters.md"),
    page!("docs/revisions.md"),
    page!("docs/unique-constraints.md"),
    page!("docs/subscriptions.md"),
    page!("docs/change-feed.md"),
    page!("docs/lifetimes.md"),
    page!("docs/backup.md"),
    page!("docs/cli.md"),
    page!("docs/http.md"),
    page!("docs/library.md"),
    page!("docs/mcp.md"),
    page!("docs/errors.md"),
    page!("docs/deploying.md"),
    page!("docs/settings.md"),
    page!("docs/security.md"),
    page!("docs/monitoring.md"),
    page!("docs/operate.md"),
    page!("docs/sizing.md"),
    page!("docs/upgrading.md"),
    page!("docs/troubleshooting.md"),
    page!("docs/ravendb.md"),
    page!("docs/missing-features.md"),
    page!("ROADMAP.md"),
    page!("RELIABILITY.md"),
    page!("BENCHMARKS.md"),
    page!("CHANGELOG.md"),
    page!("ARCHITECTURE.md"),
    page!("CONTRIBUTING.md"),
    page!("SECURITY.md"),
    page!("docs/glossary.md"),
    page!("docs/testing.md"),
    page!("conformance/README.md"),
    page!("data-sets/README.md"),
    page!("docs/format.md"),
    page!("docs/format-documents.md"),
    page!("docs/design/layers.md"),
    page!("docs/design/access.md"),
    page!("docs/design/command-line.md"),
    page!("docs/design/compaction.md"),
    page!("docs/design/documentation.md"),
    page!("docs/design/due.md"),
    page!("docs/design/dumps.md"),
    page!("docs/design/backups.md"),
    page!("docs/design/destinations.md"),
    page!("docs/design/embedded.md"),
    page!("docs/design/explain.md"),
    page!("docs/design/facets.md"),
    page!("docs/design/features.md"),
    page!("docs/design/full-text.md"),
    page!("docs/design/functions.md"),
    page!("docs/design/indexes.md"),
    page!("docs/design/kinds.md"),
    page!("docs/design/attachments.md"),
    page!("docs/design/counters.md"),
    page!("docs/design/revisions.md"),
    page!("docs/design/constraints.md"),
    page!("docs/design/subscriptions.md"),
    page!("docs/design/change-feed.md"),
    page!("docs/design/compare-exchange.md"),
    page!("docs/design/map-reduce.md"),
    page!("docs/design/mapping.md"),
    page!("docs/design/mcp.md"),
    page!("docs/design/memory.md"),
    page!("docs/design/monitoring.md"),
    page!("docs/design/open-points.md"),
    page!("docs/design/queries.md"),
    page!("docs/design/queries-that-help.md"),
    page!("docs/design/scripts.md"),
    page!("docs/design/spatial.md"),
    page!("docs/design/studio.md"),
    page!("docs/design/vectors.md"),
    page!("docs/design/writes.md"),
    page!("docs/design/images.md"),
    page!("docs/design/staged-values.md"),
];

/// What stands below one heading, up to the next.
struct Section {
    page: &'static str,
    heading: &'static str,
    text: &'static str,
    /// The text as it is searched.
    lower: String,
}

/// All sections of all pages, made when they are first searched.
fn sections() -> &'static [Section] {
    static SECTIONS: OnceLock<Vec<Section>> = OnceLock::new();
    SECTIONS.get_or_init(|| PAGES.iter().flat_map(sections_of).collect())
}

fn sections_of(page: &Page) -> Vec<Section> {
    let (mut starts, mut at, mut is_code) = (vec![0], 0, false);
    for line in page.text.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code && line.starts_with('#') && at > 0 {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([at]);
    let section = |(start, end): (usize, usize)| {
        let text = page.text[start..end].trim();
        let heading = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        Section { page: page.path, heading, text, lower: text.to_lowercase() }
    };
    starts.iter().copied().zip(ends).map(section).collect()
}

/// Sections with the words, the best first, by BM25: each word counts by how rare it is, in a heading more, and in a long section less.
fn find(words: &[String], limit: usize) -> Vec<&'static Section> {
    let sections = sections();
    let mean = sections.iter().map(|section| section.text.len()).sum::<usize>() as f64 / sections.len() as f64;
    let mut scores = vec![0.0; sections.len()];
    for word in words {
        let counts: Vec<usize> = sections.iter().map(|section| count_of(&section.lower, word)).collect();
        let having = counts.iter().filter(|count| **count > 0).count();
        let rarity = (1.0 + sections.len() as f64 / (having as f64 + 0.5)).ln();
        for ((score, count), section) in scores.iter_mut().zip(counts).zip(sections) {
            let in_heading = count_of(&section.heading.to_lowercase(), word) > 0;
            let count = count as f64 + if in_heading { HEADING_WEIGHT } else { 0.0 };
            *score += rarity * count / (count + 0.5 + section.text.len() as f64 / mean);
        }
    }
    let mut found: Vec<(f64, usize)> = scores.into_iter().zip(0..).filter(|(score, _)| *score > 0.0).collect();
    found.sort_by(|one, other| {
        (other.0 * weight_of(sections[other.1].page)).total_cmp(&(one.0 * weight_of(sections[one.1].page)))
    });
    found.iter().take(limit).map(|(_, place)| &sections[*place]).collect()
}

/// How much a page counts: the manual more than histories, figures and the design of the server, which name the same things, and
/// more than the list of what is missing, which names what the manual gives other ways to.
fn weight_of(page: &str) -> f64 {
    let is_manual = page == "README.md" || (page.starts_with("docs/") && !page.starts_with("docs/design/"));
    if is_manual && page != "docs/missing-features.md" { 1.0 } else { OTHER_PAGES_WEIGHT }
}

/// See [`weight_of`].
const OTHER_PAGES_WEIGHT: f64 = 0.6;

/// A word in a heading counts as this many in the text.
const HEADING_WEIGHT: f64 = 5.0;

/// How often words of `text` begin with `word`.
fn count_of(text: &str, word: &str) -> usize {
    let begins = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
    text.match_indices(word).filter(|(at, _)| begins(*at)).count()
}

/// The words of a query, in lower case.
fn words_of(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in query.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).map(str::to_lowercase) {
        if words.len() < MCP_SEARCH_WORDS_MAX && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

pub(super) async fn search(caller: Caller, arguments: Arguments) -> Outcome {
    let words = words_of(arguments.text("query"));
    if words.is_empty() {
        return Err(ToolError::new("The argument 'query' has no word of two letters".to_owned()));
    }
    let limit = arguments.number("limit") as usize;
    let found = caller.node().bridge.run(Pool::Short, move || Ok(find(&words, limit))).await.map_err(of_error)?;
    Ok(Output::object(|json| {
        json.name("sections").array(|json| {
            for Section { page, heading, text, .. } in found {
                let cut = &text[..text.floor_char_boundary(MCP_SECTION_SIZE_MAX)];
                json.object(|json| {
                    json.name("page").string(page).name("heading").string(heading).name("text").string(cut);
                    if cut.len() < text.len() {
                        json.name("cut").string(&format!(
                            "cut at {} of {} bytes; read_documentation goes on",
                            cut.len(),
                            text.len()
                        ));
                    }
                });
            }
        });
    }))
}

pub(super) async fn read(_: Caller, arguments: Arguments) -> Outcome {
    let Some(path) = arguments.optional_text("page") else {
        return Ok(Output::object(|json| {
            json.name("pages").array(|json| PAGES.iter().for_each(|page| _ = json.string(page.path)));
        }));
    };
    let Some(Page { text, .. }) = PAGES.iter().find(|page| page.path == path) else {
        return Err(ToolError::new("There is no such page; read_documentation without 'page' lists them".to_owned()));
    };
    let size = text.len();
    let start = text.floor_char_boundary(usize::try_from(arguments.number("start")).unwrap_or(size));
    let end = text.floor_char_boundary(start.saturating_add(MCP_ANSWER_SIZE_MAX));
    let note = (end < size).then(|| format!("cut at {end} of {size} bytes; go on with start={end}"));
    Ok(Output { text: text[start..end].to_owned(), notes: Vec::new() }.with_note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_book() {
        let summary = PAGES.iter().map(|page| page.path);
        let of_link = |link: &str| link.strip_prefix("../").map_or_else(|| format!("docs/{link}"), str::to_owned);
        let listed = include_str!("../../../../../docs/SUMMARY.md")
            .lines()
            .filter_map(|line| Some(of_link(line.split_once("](")?.1.strip_suffix(')')?)));
        assert_eq!(summary.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
    }

    #[test]
    fn sections_are_found_by_their_words() {
        let first = |query: &str| {
            let found = find(&words_of(query), 1);
            found.first().map(|section| (section.page, section.heading))
        };
        assert_eq!(first("LINGER_SIZE_MAX limit").map(|(page, _)| page), Some("docs/settings.md"));
        assert_eq!(first("What loopback means"), Some(("docs/security.md", "What loopback means")));
        assert_eq!(first("backup retention").map(|(page, _)| page), Some("docs/backup.md"));
        assert_eq!(first("xyzzyplugh"), None);
        assert_eq!(words_of("a RQL, rql limit!"), ["rql", "limit"]);
    }

    #[test]
    fn sections_are_the_whole_page_and_code_has_no_headings() {
        let page = Page { path: "x", text: "# A\n\ntext\n```sh\n# no heading\n```\n## B\nmore\n" };
        let sections = sections_of(&page);
        let found: Vec<_> = sections.iter().map(|section| (section.heading, section.text.len())).collect();
        assert_eq!(found, [("A", 32), ("B", 9)]);
    }
}
