//! Places and shapes over HTTP. Expected values are those of the reference, but where a comment says otherwise.

use super::support::{Answer, Wire};

/// Names, latitudes and longitudes; then some that have none, or none that is one.
const PLACES: [(&str, &str, &str); 12] = [
    ("ber", "52.52", "13.405"),
    ("par", "48.8566", "2.3522"),
    ("lon", "51.5074", "-0.1278"),
    ("ny", "40.7128", "-74.006"),
    ("syd", "-33.8688", "151.2093"),
    ("fiji", "-17.7", "178.0"),
    ("fiji2", "-17.7", "-178.0"),
    ("np", "90", "0"),
    ("nil", "null", "null"),
    ("str", "\"52.0\"", "\"13\""),
    ("half", "10", "null"),
    ("bad", "91", "500"),
];

fn with_places() -> Wire {
    let wire = Wire::with_database();
    for (name, latitude, longitude) in PLACES {
        let shape = if name == "bad" || latitude == "null" || longitude == "null" {
            "null".to_owned()
        } else {
            format!(r#""POINT({} {})""#, longitude.trim_matches('"'), latitude.trim_matches('"'))
        };
        let document = format!(
            r#"{{"Name":"{name}","Lat":{latitude},"Lng":{longitude},"W":{shape},"@metadata":{{"@collection":"Cs"}}}}"#
        );
        wire.put(&format!("c/{name}"), &document);
    }
    for (name, shape) in [("pol", "POLYGON((0 40, 20 40, 20 55, 0 55, 0 40))"), ("cir", "CIRCLE(13 52 d=50)")] {
        wire.put(
            &format!("c/{name}"),
            &format!(r#"{{"Name":"{name}","W":"{shape}","@metadata":{{"@collection":"Cs"}}}}"#),
        );
    }
    wire
}

fn define(wire: &Wire, name: &str, map: &str, fields: &str) -> Answer {
    let map = json::Value::String(map.to_owned()).to_vec();
    let map = String::from_utf8(map).unwrap();
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":[{map}],"Fields":{{{fields}}}}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &body)
}

fn ask(wire: &Wire, text: &str, parameters: &str) -> Answer {
    let body = format!(r#"{{"Query":"{text}","QueryParameters":{parameters},"WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

/// What is found, with the distance of each where there is one: `ber 0 | par 877.421`.
#[track_caller]
fn check(wire: &Wire, text: &str, parameters: &str, expected: &str) {
    let answer = ask(wire, text, parameters);
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{text}") };
    let result = |result: &json::Value| {
        let metadata = result.get("@metadata").unwrap();
        let id = metadata.get("@id").and_then(json::Value::as_str).unwrap().trim_start_matches("c/").to_owned();
        match metadata.get("@spatial").and_then(|spatial| spatial.get("Distance")) {
            None => id,
            Some(json::Value::Number(number)) => {
                let number: f64 = number.parse().unwrap();
                format!("{id} {}", (number * 1000.0).round() / 1000.0)
            }
            Some(other) => format!("{id} {}", other.as_str().unwrap()),
        }
    };
    assert_eq!(results.iter().map(result).collect::<Vec<_>>().join(" | "), expected, "{text}");
}

#[test]
fn points_are_found_and_sorted_by_queries_alone() {
    let wire = with_places();
    let check = |text: &str, expected: &str| check(&wire, text, "{}", expected);
    let near =
        |radius: &str| format!("from Cs where spatial.within(spatial.point(Lat, Lng), spatial.circle({radius}))");
    // In the order of ids; that of the reference is its own.
    check(&near("1000, 52.52, 13.405"), "ber | par | lon | str");
    check(&near("500, 52.52, 13.405, 'miles'"), "ber | str");
    check(&near("30000, 52.52, 10"), "ber | par | lon | ny | syd | fiji | fiji2 | np | str");
    // What has no place is last, either way; the reference mixes it in, without the one whose place is none.
    let by = "from Cs order by spatial.distance(spatial.point(Lat, Lng), spatial.point(52.52, 13.405)";
    let last = "nil NaN | half NaN | bad NaN | pol NaN | cir NaN";
    let rising = "ber 0 | str 64.052 | par 877.421 | lon 931.525 | np 4167.385 | ny 6384.696 | fiji 15915.885 | fiji2 16016.576 | syd 16093.726";
    check(&format!("{by})"), &format!("{rising} | {last}"));
    let falling: Vec<&str> = rising.rsplit(" | ").collect();
    check(&format!("{by}) desc"), &format!("{} | {last}", falling.join(" | ")));
    // Two that are as many steps of 500 km away come in the order of their ids.
    let rounded = rising.replace("fiji2 16016.576 | syd 16093.726", "syd 16093.726 | fiji2 16016.576");
    check(&format!("{by}, 500)"), &format!("{rounded} | {last}"));
    check(
        "from Cs order by spatial.distance('spatial.point(Lat, Lng)', spatial.point(52.52, 13.405)) limit 1",
        "ber 0",
    );
    check(&format!("{by}) limit 1, 2"), "str 64.052 | par 877.421");
    check(
        "from Cs order by spatial.distance(spatial.point(Lat, Lng), spatial.wkt('POLYGON((0 40, 20 40, 20 55, 0 55, 0 40))')) limit 2",
        "str 544.679 | par 586.463",
    );
    let index = wire.call("GET /databases/db/indexes", "").text();
    assert!(index.contains(r#""Name":"Auto/Cs/BySpatial.point(Lat|Lng)""#), "{index}");
    let spatial = r#""Spatial":{"Type":"Geography","MaxTreeLevel":9,"MaxX":180,"MaxY":90,"MinX":-180,"MinY":-90,"Strategy":"GeohashPrefixTree","Units":"Kilometers"}"#;
    assert!(index.contains(spatial), "{index}");
    let record = wire.call("GET /admin/databases?name=db", "").text();
    let places = r#""Spatial":{"MethodType":"Point","MethodArguments":["Lat","Lng"],"Type":"Geography""#;
    assert!(record.contains(places), "{record}");
    let errors = wire.call("GET /databases/db/indexes/errors", "").text();
    assert!(
        errors.contains("Bad X value 500 is not in boundary Rect(minX=-180,maxX=180,minY=-90,maxY=90)"),
        "{errors}"
    );
}

#[test]
fn shapes_are_compared() {
    let wire = with_places();
    let of_wkt = |operation: &str, shape: &str, expected: &str| {
        let text = format!("from Cs where spatial.{operation}(spatial.wkt(W), spatial.{shape})");
        check(&wire, &text, "{}", expected);
    };
    let polygon = "wkt('POLYGON((0 40, 20 40, 20 55, 0 55, 0 40))')";
    of_wkt("within", polygon, "ber | par | str | pol | cir");
    of_wkt("intersects", "circle(100, 52.52, 13.405)", "ber | str | pol | cir");
    of_wkt("intersects", "wkt('LINESTRING(-5 45, 5 45, 30 50)')", "pol");
    of_wkt("intersects", "wkt('ENVELOPE(-5, 5, 50, 45)')", "par | pol");
    // The reference has these two in its newer engine only.
    of_wkt("contains", "wkt('POINT(13.405 52.52)')", "ber | pol");
    of_wkt("disjoint", "circle(100, 52.52, 13.405)", "par | lon | ny | syd | fiji | fiji2 | np");
    for (shape, expected) in [
        ("CIRCLE(13.405 52.52 d=1000)", "ber | par | lon | str"),
        ("GEOMETRYCOLLECTION(POINT(13.405 52.52))", "ber"),
        ("MULTIPOINT((13.405 52.52),(2.3522 48.8566))", "ber | par"),
        ("MULTIPOLYGON(((0 40, 20 40, 20 55, 0 55, 0 40)),((-1 50,1 50,1 55,-1 55,-1 50)))", "ber | par | lon | str"),
        ("POLYGON((0 40, 20 40, 20 55, 0 55, 0 40),(12 50,14 50,14 54,12 54,12 50))", "par"),
        ("ENVELOPE(170,-170,0,-40)", "fiji | fiji2"),
        ("POLYGON((170 -40, -170 -40, -170 0, 170 0, 170 -40))", "fiji | fiji2"),
        ("0 40 20 55", "ber | par | str"),
        ("13.405 52.52", "ber"),
        ("POINT EMPTY", ""),
    ] {
        let text = "from Cs where spatial.within(spatial.point(Lat, Lng), spatial.wkt($w))";
        check(&wire, text, &format!(r#"{{"w":"{shape}"}}"#), expected);
    }
}

#[test]
fn defined_indexes_keep_places_as_they_say() {
    let wire = with_places();
    let csharp = |given: &str| format!("from c in docs.Cs select new {{ c.Name, Loc = CreateSpatialField({given}) }}");
    let spatial = |options: &str| format!(r#""Loc":{{"Spatial":{{{options}}}}}"#);
    let script = "map('Cs', c => ({ Name: c.Name, Loc: createSpatialField(c.Lat, c.Lng) }))";
    for (name, map, fields) in [
        ("A", &csharp("c.Lat, c.Lng"), String::new()),
        ("W", &csharp("c.W"), spatial(r#""Strategy":"QuadPrefixTree","MaxTreeLevel":12,"Units":"Miles""#)),
        ("B", &csharp("c.W"), spatial(r#""Strategy":"BoundingBox""#)),
        ("C", &csharp("c.W"), spatial(r#""Type":"Cartesian","MinX":-1000,"MaxX":1000,"MinY":-1000,"MaxY":1000"#)),
        (
            "M",
            &"docs.Cs.Select(c => new { Loc = this.CreateSpatialField((double?) c.Lat, (double?) c.Lng) })".to_owned(),
            String::new(),
        ),
        ("J", &script.to_owned(), String::new()),
    ] {
        let answer = define(&wire, name, map, &fields);
        assert_eq!(answer.status, 201, "{name}: {}", answer.text());
    }
    let check = |text: &str, expected: &str| check(&wire, text, "{}", expected);
    let near = "where spatial.within(Loc, spatial.circle(100, 52.52, 13.405))";
    let by = "order by spatial.distance(Loc, spatial.point(52.52, 13.405)) limit 3";
    check(&format!("from index 'A' {near}"), "ber | str");
    check(&format!("from index 'A' {by}"), "ber 0 | str 64.052 | par 877.421");
    check(
        "from index 'A' where exists(Loc) and spatial.disjoint(Loc, spatial.circle(5000, 52.52, 13.405))",
        "ny | syd | fiji | fiji2",
    );
    check("from index 'A' where spatial.within(Name, spatial.circle(100, 52.52, 13.405))", "");
    // Texts are converted in C# where the map does not say a type; it does here, so that they are errors.
    check(&format!("from index 'M' {near}"), "ber");
    check(&format!("from index 'J' {near}"), "ber");
    check(&format!("from index 'J' {by}"), "ber 0 | par 877.421 | lon 931.525");
    // 500 miles, and distances in miles.
    check("from index 'W' where spatial.within(Loc, spatial.circle(500, 52.52, 13.405))", "ber | str | cir");
    check(
        "from index 'W' where spatial.within(Loc, spatial.circle(500, 52.52, 13.405, 'kilometers'))",
        "ber | str | cir",
    );
    check(
        "from index 'W' where Name = 'par' order by spatial.distance(Loc, spatial.point(52.52, 13.405))",
        "par 545.204",
    );
    // In a plane the radius is one of degrees here.
    check("from index 'C' where spatial.within(Loc, spatial.circle(12, 52.52, 13.405))", "ber | par | str");
    check(
        "from index 'C' where Name = 'par' order by spatial.distance(Loc, spatial.point(52.52, 13.405))",
        "par 11.644",
    );
    // The box of the circle is asked for, and those of shapes are kept.
    check("from index 'B' where spatial.intersects(Loc, spatial.circle(600, 52.52, 13.405))", "ber | str | pol | cir");
    let definition = wire.call("GET /databases/db/indexes?name=W", "").text();
    let options = r#""Spatial":{"Type":"Geography","MaxTreeLevel":12,"MaxX":180,"MaxY":90,"MinX":-180,"MinY":-90,"Strategy":"QuadPrefixTree","Units":"Miles"}"#;
    assert!(definition.contains(options), "{definition}");
}

#[test]
fn what_is_wrong_is_told() {
    let wire = with_places();
    define(&wire, "A", "from c in docs.Cs select new { c.Name, Loc = CreateSpatialField(c.Lat, c.Lng) }", "");
    for (text, status, message) in [
        ("where spatial.within(Loc, spatial.circle(1, 152.52, 1))", 400, "Bad Y value 152.52 is not in boundary"),
        ("where spatial.within(Loc, spatial.circle(-1, 52.52, 1))", 400, "distance must be >= 0; got -1"),
        ("where spatial.within(Loc, spatial.wkt('POINT(500 10)'))", 400, "Bad X value 500 is not in boundary"),
        ("where spatial.within(Loc, spatial.wkt('nonsense'))", 400, "Value 'nonsense' is not a valid WKT value."),
        ("where spatial.within(Foo, spatial.circle(1, 52.52, 1))", 400, "The field 'Foo' is not indexed in 'A'"),
        ("order by spatial.distance(Loc, spatial.point(100, 1))", 400, "Bad Y value 100 is not in boundary"),
    ] {
        let answer = ask(&wire, &format!("from index 'A' {text}"), "{}");
        assert!(
            answer.status == status && answer.text().contains(message),
            "{text}: {} {}",
            answer.status,
            answer.text()
        );
    }
    for (options, message) in [
        (r#""Type":"Foo""#, "'Type' cannot be 'Foo'"),
        (r#""Strategy":"Foo""#, "'Strategy' cannot be 'Foo'"),
        (r#""Units":"Feet""#, "'Units' cannot be 'Feet'"),
        (r#""MaxTreeLevel":99"#, "'MaxTreeLevel' must be a whole number from 1 to 50"),
        (r#""Type":"Cartesian","MinX":10,"MaxX":5"#, "'MinX' must be below 'MaxX'"),
    ] {
        let map = "from c in docs.Cs select new { Loc = CreateSpatialField(c.W) }";
        let answer = define(&wire, "Bad", map, &format!(r#""Loc":{{"Spatial":{{{options}}}}}"#));
        assert!(answer.status == 400 && answer.text().contains(message), "{options}: {}", answer.text());
    }
    let reduced = r#"{"Indexes":[{"Name":"R","Maps":["from c in docs.Cs select new { c.Name, Loc = CreateSpatialField(c.W) }"],
        "Reduce":"from r in results group r by new { r.Name, r.Loc } into g select new { g.Key.Name, g.Key.Loc }"}]}"#;
    let answer = wire.call("PUT /databases/db/admin/indexes", reduced);
    assert_eq!(answer.status, 501, "{}", answer.text());
}
