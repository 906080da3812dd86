//! Definitions of indexes: any text is refused with a place in it, or compiled and run over a document.

use json::{Properties, Raw};
use query::mapping::{DocumentView, Map, NoHost, Reduce};

const DOCUMENT: &[u8] =
    br#"{"Name":"Bob","N":7,"D":1.5,"Dt":"2024-01-02T03:04:05.1Z","Arr":[3,null,{"A":2}],"Null":null,"Ts":"02:03:04"}"#;

/// A map, a reduce, and an expression of a map.
pub(crate) fn linq(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    map(text);
    map(&format!("from d in docs from x in d.Arr select new {{ V = {text} }}"));
    match Reduce::compile(text) {
        Ok(reduce) => drop(reduce.run(&[Raw::new(DOCUMENT), Raw::new(b"{}")], &|_| true, &mut |_| Ok(()))),
        Err(error) => assert!(error.line >= 1 && error.column >= 1, "{error}"),
    }
}

fn map(text: &str) {
    let map = match Map::compile(text) {
        Ok(map) => map,
        Err(error) => return assert!(error.line >= 1 && error.column >= 1, "{error}"),
    };
    let document = DocumentView {
        is_archived: text.len().is_multiple_of(2),
        id: "things/1",
        body: Raw::new(DOCUMENT),
        metadata: Properties::new(b""),
        collection: "Things".into(),
        change_vector: "".into(),
        last_modified: documents::Date::default(),
        server_metadata: Properties::new(b""),
    };
    let result = map.run(document, &mut NoHost, &mut |output| {
        output.fields().for_each(|(_, value)| drop(value.to_json()));
        Ok(())
    });
    drop(result);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "from d in docs.Users where d.N > 1 let y = d.Dt.Year from z in d.Arr select new { d.Name, y, z.A }",
        "docs.Users.SelectMany(d => d.Arr, (d, x) => new { d, x }).Select(this0 => new { A = this0.x.A ?? 0, this0.d.Name })",
        "from r in results group r by new { r.Name, r.N } into g select new { g.Key.Name, g.Key.N, S = g.Sum(x => x.D) }",
        "results.GroupBy(r => r.Name).Select(g => new { Name = g.Key, S = Enumerable.Sum(g, x => ((decimal?) x.D)) })",
        "string.Format(\"{0:0.00}|{1,5}\", d.D, $\"{d.Name}{x?.A:D3}\") + d.Dt.AddDays(1).ToString(\"yyyy-MM\")",
        "d.Arr.OrderByDescending(y => y.A).Skip(1).Select(y => new { y.A, B = new[] { 1, 2L, 3M } }).FirstOrDefault()",
        "(from y in d.Arr where y != null group y by y.A into h select new { h.Key, C = h.Count() }).ToArray()",
        "new Dictionary<string, object> { { \"a\", d.N / 0 }, [@\"b\"\"c\"] = (d.N is not null) ? 'x' : \"\\u00e9\" }",
        "LoadDocument(d.Name, \"Users\").Name ?? Regex.Match(d.Name, \"(B)o\").Groups[1].Value.PadLeft(5, '-') // end",
        "CreateField(\"f\", d.Ts.TotalHours, new CreateFieldOptions { Storage = FieldStorage.Yes }).Boost(2)",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
