//! The database in process, without a server: opens a folder, writes, reads, closes.
//!
//! `cargo run -p rookery-database --example embedded -- ./example-data`

use rookery_database::documents::{Batch, Expected, PrefixQuery};
use rookery_database::{Databases, DatabasesOptions, Error};

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "./example-data".to_owned());
    let databases = Databases::open(DatabasesOptions::folder(&folder))?;
    let shop = databases.find_or_create("Shop")?;

    // A batch is one transaction, durable when `execute` returns.
    let mut batch = Batch::new();
    batch.put("users/1", br#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#, Expected::Any)?;
    batch.put("users/", br#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#, Expected::Any)?;
    let outcome = shop.execute(batch)?;
    println!("{:?}", outcome.results);

    // A snapshot is one state; ids are found in any case.
    let snapshot = shop.read();
    let mut json = Vec::new();
    if let Some(ann) = snapshot.get("USERS/1")? {
        ann.write_to(&mut json);
        println!("{}", String::from_utf8_lossy(&json));
    }
    let query = PrefixQuery { prefix: "users/".to_owned(), count_max: 10, ..PrefixQuery::default() };
    for document in snapshot.by_prefix(query)? {
        println!("{}", document?.id());
    }
    Ok(())
}
