//! Queries: any text is refused or becomes a tree that prints as a text of the same meaning.

use query::rql::{Query, parse};

/// A query, also as the condition of one, where most of the grammar is.
pub(crate) fn rql(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Err(error) = parse(text).map(|query| check(text, &query)) {
        assert!(error.offset <= text.len() && error.line >= 1 && error.column >= 1, "{error}");
        assert!(text.is_char_boundary(error.offset), "an error inside of a character");
    }
    let condition = format!("from A as u where {text}");
    parse(&condition).map(|query| check(&condition, &query)).ok();
}

fn check(text: &str, query: &Query<'_>) {
    let printed = query.to_string();
    let again = parse(&printed).unwrap_or_else(|error| panic!("{text}\nis printed as\n{printed}\n{error}"));
    assert_eq!(&again, query, "{text}\nis printed as\n{printed}");
    assert_eq!(again.to_string(), printed);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "from Users",
        "from index 'Orders/ByCompany' as o where search(o.Name, $p0, and) and not exact(o.City = 'Oslo') or id() in ($ids)",
        "from Orders group by Lines[].Product as p, array(Tags) where count() > 1 order by count() as long desc select p, sum(Total)",
        "declare function f(a, $b) { return `}${ a.x }` + /[}/]\\/'/.test(\"}\") / 2 // }\n } from A as a load a.B as b[] select f(a)",
        "declare timeseries t(x) { from x.'}' between $a and $b group by 1h } from A as a select t(a), timeseries(from a.\")\") as s",
        "from A as a where a.'b c'[].d[3] between -1_0.5e3 and now() and spatial.within(spatial.point(x, y), $c) filter b > c.d \
         select distinct { A: a } include counters('x'), D.$Keys limit $s, null filter_limit 3",
        "from A update { this.x = '\\'}'; /* } */ }",
        "a = 'it''s \\u00e9' and (b all in (1, \"x\", null) or c.not = true and not (d <> 2))",
        "from @all_docs (Revisions = true) 'u' order by a nulls last, random('x') offset 5 // end",
        "((((f(g(h(a = 1, b), 'c' = 2), true and not d > 1))))",
        "with { from A } as a match (a)",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
