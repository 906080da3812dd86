//! Map-reduce: totals that are kept up to date while orders come in, and a change of all orders of a company.
//!
//! `cargo run -p rookerydb --example map_reduce`. It prints:
//!
//! ```text
//! orders:
//!   Alfa: 2 orders, 15.00
//!   Beta: 2 orders, 22.00
//! 1 order changed
//! after the change:
//!   Alfa: 2 orders, 15.00
//!   Beta: 2 orders, 20.50
//! ```

use std::time::Duration;

use rookerydb::{Expected, IndexDefinition, Result, Store};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct Order {
    company: &'static str,
    month: &'static str,
    total: f64,
}

#[derive(Deserialize)]
struct Total {
    company: String,
    orders: u64,
    total: f64,
}

const WAIT: Duration = Duration::from_secs(15);

fn main() -> Result<()> {
    let store = Store::in_memory()?;
    let shop = store.database("Shop")?;
    let totals = IndexDefinition::new("Orders/Totals")
        .map("map('Orders', order => ({ company: order.company, orders: 1, total: order.total }))")
        .reduce(
            "groupBy(x => x.company).aggregate(g => ({ company: g.key, \
             orders: g.values.reduce((sum, x) => sum + x.orders, 0), \
             total: g.values.reduce((sum, x) => sum + x.total, 0) }))",
        );
    shop.put_index(&totals)?;

    // One transaction: all orders, or none.
    let mut batch = shop.batch();
    for (number, (company, month, total)) in
        [("Alfa", "May", 10.0), ("Beta", "May", 20.5), ("Alfa", "June", 5.0), ("Beta", "July", 1.5)]
            .into_iter()
            .enumerate()
    {
        let id = format!("orders/{}", number + 1);
        batch = batch.put_in("Orders", &id, &Order { company, month, total }, Expected::Missing)?;
    }
    batch.execute()?;
    print("orders", &shop)?;

    // Beta sends back what it ordered in July.
    let count = shop
        .query("from Orders where company = $company and month = 'July' update { this.total = 0 }")
        .parameter("company", "Beta")
        .patch()?;
    println!("{count} order changed");
    print("after the change", &shop)
}

fn print(what: &str, shop: &rookerydb::Database) -> Result<()> {
    println!("{what}:");
    let query = shop.query("from index 'Orders/Totals' order by company").wait_for_indexing(WAIT);
    for Total { company, orders, total } in query.values()? {
        println!("  {company}: {orders} orders, {total:.2}");
    }
    Ok(())
}
