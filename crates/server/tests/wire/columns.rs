//! Names of columns in `where` and `order by`. Expected are the reference's answers.

use super::support::Wire;

fn with_books() -> Wire {
    let wire = Wire::with_database();
    for (number, title, author, date) in
        [(0, "Tides", "b", "2021-03-01"), (1, "Aa", "c", "2020-05-09"), (2, "Zz", "a", "2023-04-30")]
    {
        let book = format!(
            r#"{{"Title":"{title}","Author":"{author}","Bought":"{date}T00:00:00Z","@metadata":{{"@collection":"Books"}}}}"#
        );
        wire.put(&format!("books/{number}"), &book);
    }
    let index = r#"{"Indexes":[{"Name":"I","Maps":["from d in docs.Books select new { d.Title, d.Author }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    wire
}

#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str) {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{}", answer.text()) };
    let id =
        |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str()?.strip_prefix("books/").map(str::to_owned);
    assert_eq!(results.iter().filter_map(id).collect::<Vec<_>>().join(" "), expected, "{query}");
}

#[test]
fn conditions_and_orders_may_name_columns() {
    let wire = with_books();
    for source in ["Books", "index 'I'", "@all_docs"] {
        check(&wire, &format!("from {source} where Title = 'b' select Author as Title"), "0");
        check(&wire, &format!("from {source} where Title = 'Tides' select Author as Title"), "");
        check(
            &wire,
            &format!("from {source} where Author > '' order by Title select Author as Title, Title as Author"),
            "2 0 1",
        );
    }
    check(&wire, "from Books where Author = 'Tides' select Author as Title, Title as Author", "0");
    check(&wire, "from Books where search(Writer, 'b') select Author as Writer", "0");
    check(&wire, "from Books order by Writer select Author as Writer", "2 0 1");
    check(&wire, "from Books order by Key desc select id() as Key", "2 1 0");
    check(&wire, "from Books order by Year as long select Bought.Year as Year", "1 0 2");
    check(&wire, "from Books where Year = 2020 select Bought.Year as Year", "1");
    // Behind an alias it is a field, and so is one that has no other name.
    check(&wire, "from Books as b where b.Title = 'Tides' select b.Author as Title", "0");
    check(&wire, "from Books as b where Title = 'b' select b.Author as Title", "0");
    check(&wire, "from Books where Year = 2020 select Bought.Year", "");
    check(&wire, "from Books filter Title = 'b' select Author as Title", "");
}

#[test]
fn nothing_follows_the_name_of_a_column() {
    let wire = with_books();
    let query = r#"{"Query":"from Books where Title.Length = 1 select Author as Title"}"#;
    let message = "Field alias Title cannot be used in a compound field, but got: Title.Length";
    wire.check_error("POST /databases/db/queries", query, 400, "InvalidQueryException", message);
}
