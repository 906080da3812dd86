//! Shapes: any text is refused or becomes a shape, and any two shapes lie to each other in one way.

use json::Value;
use query::spatial::{Operation, Shape, SpatialOptions};

/// Options of the fields that shapes are kept in.
const OPTIONS: [&str; 4] = [
    r#"{"Type":"Geography","Strategy":"GeohashPrefixTree","MaxTreeLevel":9}"#,
    r#"{"Type":"Geography","Strategy":"QuadPrefixTree","MaxTreeLevel":23,"Units":"Miles"}"#,
    r#"{"Type":"Geography","Strategy":"BoundingBox"}"#,
    r#"{"Type":"Cartesian","Strategy":"QuadPrefixTree","MinX":-100,"MaxX":100,"MinY":-100,"MaxY":100}"#,
];

/// Terms, and ranges of cells, that one shape may have.
const CELLS_MAX: usize = 1024;

/// Two shapes, a line each; and the bytes as they would stand in an index.
pub(crate) fn shapes(input: &[u8]) {
    for options in OPTIONS {
        let options = Value::parse(options.as_bytes()).expect("it is JSON");
        let options = SpatialOptions::from_json(&options).expect("they are options");
        // Damage is found by the hashes of pages; this is what is behind them.
        let _ = Shape::decode(input, &options.space);
        let Ok(text) = std::str::from_utf8(input) else { continue };
        let shapes: Vec<Shape> = text.lines().take(2).filter_map(|line| checked(line, &options)).collect();
        let (Some(one), Some(other)) = (shapes.first(), shapes.last()) else { continue };
        let holds = |operation: Operation, indexed, asked| operation.holds(indexed, asked, &options.space);
        assert_eq!(holds(Operation::Within, one, other), holds(Operation::Contains, other, one), "{text}");
        assert_ne!(holds(Operation::Intersects, one, other), holds(Operation::Disjoint, one, other), "{text}");
    }
}

/// A shape that is kept and read again, with its cells.
fn checked(text: &str, options: &SpatialOptions) -> Option<Shape> {
    let shape = options.shape_of_text(text).ok()?;
    let (mut kept, mut again) = (Vec::new(), Vec::new());
    shape.encode(&mut kept);
    if shape.is_empty() {
        assert!(kept.is_empty(), "{text}");
        return None;
    }
    let read = Shape::decode(&kept, &options.space).expect("what was written is read");
    read.encode(&mut again);
    assert_eq!(kept, again, "{text}");
    let grid = options.grid();
    let mut terms = 0;
    let Ok(()) = grid.terms::<std::convert::Infallible>(&shape, &mut |term| {
        assert!(!term.is_empty());
        terms += 1;
        Ok(())
    });
    let ranges = grid.ranges(&shape);
    assert!((1..=CELLS_MAX).contains(&terms) && (1..=CELLS_MAX).contains(&ranges.len()), "{text}: {terms} terms");
    assert!(ranges.is_sorted_by(|one, next| grid.points(one) < grid.points(next)), "{text}");
    Some(read)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "POINT (1.5 -2)\nCIRCLE(1.5 -2 d=10)",
        "Circle(24.1 -60.0000 d=100.0000)\nPOINT(24 -60)",
        "POLYGON ((30 10, 40 40, 20 40, 10 20, 30 10),(20 30, 35 35, 30 20, 20 30))\nLINESTRING (30 10, 10 30, 40 40)",
        "MULTIPOLYGON (((40 40, 20 45, 45 30, 40 40)), ((20 35, 10 30, 10 10, 30 5, 45 20, 20 35)))\nMULTIPOINT ((10 40), (40 30))",
        "GEOMETRYCOLLECTION(POINT(4 6),LINESTRING(4 6,7 10))\nMULTILINESTRING ((10 10, 20 20), (40 40, 30 30))",
        "POLYGON((170 -10, -170 -10, -170 10, 170 10, 170 -10))\nENVELOPE(-10, 20, 15, 10)",
        "BUFFER(POINT(0 90), 5)\nPOINT(180 90)",
        "LINESTRING EMPTY\nPOINT Z (1 2 3)",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
