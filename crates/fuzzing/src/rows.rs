//! Files that `rookery import` reads: JSON lines, those of a dump among them, and CSV.

use cli::rows::{Format, Rows, Shape};
use documents::Batch;
use std::io::Cursor;

/// The first byte says which format, separator and shape. What becomes a command must be one for the server.
pub(crate) fn rows(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else { return };
    let format = if how & 1 == 0 { Format::Jsonl } else { Format::Csv };
    let separator = if how & 2 == 0 { b',' } else { b';' };
    let shape = Shape {
        collection: (how & 4 == 0).then(|| "Rows".to_owned()),
        bare_collection: (how & 32 == 0).then(|| "Bare".to_owned()),
        id_field: (how & 8 == 0).then(|| "id".to_owned()),
        id_prefix: (how & 16 == 0).then(|| "rows/".to_owned()),
        made_prefix: "Made/".to_owned(),
    };
    let mut rows = Rows::new(Box::new(Cursor::new(rest.to_vec())), format, separator);
    let mut command = Vec::new();
    let mut batch = Batch::new();
    let Ok(Ok(())) = rows.begin(shape.id_field.as_deref()) else { return };
    let lines = rest.iter().filter(|byte| **byte == b'\n').count() + 2;
    // Elements of an array may share a line.
    let commas = rest.iter().filter(|byte| **byte == b',').count();
    for _ in 0..lines + commas {
        let Ok(Some(read)) = rows.next() else { return };
        assert!(*read.lines.end() <= lines as u64, "more lines than there are");
        let Ok(row) = read.row else { continue };
        row.identity();
        command.clear();
        if row.write_command(&shape, &mut command).is_ok() {
            let value = json::Value::parse(&command);
            assert!(value.is_ok(), "a command that is no JSON: {value:?}");
            batch.push_bulk_element(&command).ok();
        }
    }
    assert!(rows.next().is_err_and(|_| true) || rows.next().is_ok_and(|read| read.is_none()), "more rows than lines");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "\0{\"id\":\"1\",\"Name\":\"Ann\"}\n\n{\"id\":2,\"@metadata\":{\"@id\":\"a/1\",\"@collection\":\"X\"}}\nbad\n",
        "\0{\"@identity\":{\"Name\":\"orders|\",\"Value\":7}}\n{\"a\":1,\"@metadata\":{\"@id\":\"orders/1\",\"@change-vector\":\"A:1-x\"}}",
        "\u{1}id,name,value\n1,Ann,3.5\n2,\"a \"\"b\"\"\nc\",true\n\n3,,\n4,x,y,z\n",
        "\u{3}\u{feff}id;n;n\r\n1;2;3\r\n\"",
        "\u{1d}a,b\n1,null\n",
        "\0 [{\"id\":1},\n7,{\"id\":2,\"a\":[\"]\\\"\"]}] x",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
