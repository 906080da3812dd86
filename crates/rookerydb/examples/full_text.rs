//! Full-text search: an index of words with ranking, highlights, suggestions and facets.
//!
//! `cargo run -p rookerydb --example full_text`. It prints:
//!
//! ```text
//! The lighthouse: A keeper of a [lighthouse] watches the [sea]
//! Sailing at night: Lights of the [sea] at night: buoys,
//! did you mean harbour?
//! 2 guide
//! 2 novel
//! ```

use std::time::Duration;

use rookerydb::{Analysis, IndexDefinition, Result, Store};
use serde_json::{Value, json};

const WAIT: Duration = Duration::from_secs(15);

fn main() -> Result<()> {
    let store = Store::in_memory()?;
    let library = store.database("Library")?;
    let mut insert = library.bulk_insert()?;
    for (number, (title, kind, text)) in [
        ("The lighthouse", "novel", "A keeper of a lighthouse watches the sea, and the sea watches the keeper."),
        ("Harbours", "guide", "Every harbour of the coast, with its depth, its lights and its inns."),
        ("Sailing at night", "guide", "Lights of the sea at night: buoys, lighthouses, and other ships."),
        ("The orchard", "novel", "Apples, a wedding, and a long summer far away from the coast."),
    ]
    .into_iter()
    .enumerate()
    {
        let book = json!({ "title": title, "kind": kind, "text": text });
        insert.put("Books", &format!("books/{}", number + 1), &book)?;
    }
    insert.finish()?;

    let definition = IndexDefinition::new("Books/ByText")
        .map("map('Books', book => ({ text: book.text, title: book.title, kind: book.kind }))")
        .analysis("text", Analysis::Words)
        .option("text", "TermVector", json!("WithPositionsAndOffsets"))
        .store("text")
        .suggestions("text");
    library.put_index(&definition)?;
    library.wait_for_indexing(WAIT)?;

    let found = library
        .query("from index 'Books/ByText' where search(text, $words) order by score() include highlight(text, 40, 1, $tags)")
        .parameter("words", "sea lighthouse")
        .parameter("tags", json!({ "PreTags": ["["], "PostTags": ["]"] }))
        .run()?;
    for row in &found {
        let id = row.id().unwrap_or_default();
        let fragments = found.highlights().get("text").and_then(|of_field| of_field.get(&id));
        let fragment = fragments.and_then(|fragments| fragments.first()).cloned().unwrap_or_default();
        println!("{}: {}", row.to::<Value>()?["title"].as_str().unwrap_or_default(), fragment.trim());
    }

    for suggestions in library.query("from index 'Books/ByText' select suggest(text, 'harbor')").suggestions()? {
        println!("did you mean {}?", suggestions.words.join(", "));
    }

    for facet in
        library.query("from index 'Books/ByText' where search(text, 'coast sea') select facet(kind)").facets()?
    {
        for value in facet.values {
            println!("{} {}", value.count, value.name);
        }
    }
    Ok(())
}
