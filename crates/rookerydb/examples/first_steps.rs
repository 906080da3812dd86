//! First steps: store, load, query, change, follow changes.
//!
//! `cargo run -p rookerydb --example first_steps [FOLDER]`, in memory without a folder. It prints:
//!
//! ```text
//! stored users/1
//! Ann is 31
//! 2 users are over 30: Ann, Cid
//! index Auto/Users/ByageAndname answered
//! one year later Ann is 32
//! somebody else changed users/1 first
//! Put users/1
//! Delete users/2
//! ```

use std::time::Duration;

use rookerydb::{Error, Expected, Result, Store};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct User {
    name: String,
    age: u32,
}

fn main() -> Result<()> {
    let store = match std::env::args().nth(1) {
        Some(folder) => Store::open(folder)?,
        None => Store::in_memory()?,
    };
    let shop = store.database("Shop")?;
    let users = shop.collection("Users");
    for (id, name, age) in [("users/1", "Ann", 31), ("users/2", "Bob", 25), ("users/3", "Cid", 47)] {
        users.put(id, &User { name: name.to_owned(), age })?;
    }
    println!("stored users/1");

    let ann: User = shop.get_as("users/1")?.expect("it was just stored");
    println!("{} is {}", ann.name, ann.age);

    // The query creates the index that it needs. Others with these fields use it, too.
    let rows = shop
        .query("from Users where age > $age order by name select name")
        .parameter("age", 30)
        .wait_for_indexing(Duration::from_secs(15))
        .run()?;
    let names: Vec<String> = rows
        .values::<serde_json::Value>()?
        .iter()
        .map(|row| row["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    println!("{} users are over 30: {}", rows.len(), names.join(", "));
    println!("index {} answered", rows.index().unwrap_or("none"));

    // A script changes all documents that a query finds.
    shop.query("from Users update { this.age++ }").patch()?;
    let before = shop.get("users/1")?.expect("it is still there");
    println!("one year later Ann is {}", before.to::<User>()?.age);

    // Optimistic concurrency: a write that expects a version fails if the document has another.
    let mut changes = shop.changes()?;
    users.put("users/1", &User { name: "Ann".to_owned(), age: 33 })?;
    let version = Expected::Version(before.change_vector().to_owned());
    match shop.batch().delete("users/1", version)?.execute() {
        Err(Error::Conflict { id, .. }) => println!("somebody else changed {id} first"),
        outcome => drop(outcome?),
    }

    // What was written meanwhile.
    shop.delete("users/2")?;
    while let Some(change) = changes.next_within(Duration::from_millis(10))? {
        println!("{:?} {}", change.kind, change.id);
    }
    Ok(())
}
