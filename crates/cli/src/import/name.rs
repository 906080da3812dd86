//! What the name of a file, and its first bytes, say about it.

use std::path::Path;

use super::rows::Format;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// Not at all.
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression whose mark a file begins with.
    pub fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// What the name of a file says about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlainName {
    /// The collection that the name suggests: `Cities` of `dir/cities.jsonl.zst`, `Imported` of standard input.
    pub collection: String,
    pub format: Format,
    pub is_tabbed: bool,
    pub compression: Compression,
    pub is_dump: bool,
}

impl PlainName {
    pub fn of(path: &Path) -> PlainName {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (name, compression) = match name.rsplit_once('.') {
            Some((rest, "gz")) => (rest, Compression::Gzip),
            Some((rest, "zst" | "zstd")) => (rest, Compression::Zstd),
            _ => (name, Compression::None),
        };
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_tabbed = extension.eq_ignore_ascii_case("tsv");
        let is_table = is_tabbed || extension.eq_ignore_ascii_case("csv");
        // `people (2)` is People2.
        let mut letters = stem.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'));
        let collection = match letters.next() {
            Some(first) if name != "-" => first.to_uppercase().chain(letters).collect(),
            _ => "Imported".to_owned(),
        };
        let format = if is_table { Format::Csv } else { Format::Jsonl };
        let is_dump = extension.eq_ignore_ascii_case("ravendbdump");
        PlainName { collection, format, is_tabbed, compression, is_dump }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_its_format_and_suggests_a_collection() {
        let name = PlainName::of(Path::new("data/cities.jsonl.zst"));
        assert_eq!((name.format, name.compression), (Format::Jsonl, Compression::Zstd));
        assert_eq!(name.collection, "Cities");
        let name = PlainName::of(Path::new("people (2).TSV"));
        assert!(name.is_tabbed && name.format == Format::Csv && name.compression == Compression::None);
        assert_eq!(name.collection, "People2");
        assert_eq!(PlainName::of(Path::new("-")).collection, "Imported");
        assert!(PlainName::of(Path::new("Dump of x 2026-11-27 06-22.ravendbdump")).is_dump && !name.is_dump);
        assert_eq!(PlainName::of(Path::new("...csv")).collection, "Imported");
    }

    #[test]
    fn the_first_bytes_tell_the_compression() {
        assert_eq!(Compression::of(&[0x1f, 0x8b, 8, 0]), Some(Compression::Gzip));
        assert_eq!(Compression::of(&[0x28, 0xb5, 0x2f, 0xfd]), Some(Compression::Zstd));
        assert_eq!(Compression::of(b"{\"a\""), None);
        assert_eq!(Compression::of(b""), None);
    }
}
