//! Dumps the files of an environment as text, for `rookery inspect`, without interpreting the data of the layers above.

use crate::checkpoint::header::{self, Header};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::ids::PageNumber;
use crate::io::{File, Folder, OpenMode};
use crate::journal::files;
use crate::journal::record::{self, Change};
use crate::journal::replay::Headers;
use crate::limits::PAGE_SIZE;
use crate::page::{self, Kind};
use crate::pager::Page;
use crate::transaction::sealed::Pages;
use crate::tree::fixed;
use crate::tree::node::{self, Payload};
use std::fmt::Write;

/// Bytes of a key or value that are printed.
const SHOWN_MAX: usize = 80;

/// Bytes as text where they are printable ASCII, else as hexadecimal digits; cut when they are long.
fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN_MAX)];
    let dots = if cut.len() < bytes.len() { ".." } else { "" };
    if cut.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        return format!("'{}'{dots}", String::from_utf8_lossy(cut));
    }
    cut.iter().fold(String::from("0x"), |text, byte| text + &format!("{byte:02x}")) + dots
}

/// The header's copies and the records of the journals of a closed environment, as text.
///
/// # Errors
///
/// Those of the operating system. Damage is part of the text.
pub fn files(folder: &Folder) -> Result<String> {
    let mut text = String::new();
    let path = folder.file("data");
    let open =
        |path: &std::path::Path| folder.io.open(path, OpenMode::Existing).map_err(|e| Error::io("open", path, 0, e));
    let data = open(&path)?;
    let mut bytes = vec![0; PAGE_SIZE];
    for copy in 0..header::PAGES {
        data.read_at(&mut bytes, copy * PAGE_SIZE as u64).map_err(|e| Error::io("read", &path, 0, e))?;
        match Header::decode(&bytes) {
            Some(described) => describe_header(copy, &described, &mut text),
            None => line(&mut text, format_args!("header {copy}: damaged")),
        }
    }
    let names = folder.io.list(&folder.path).map_err(|e| Error::io("list", &folder.path, 0, e))?;
    let mut journals: Vec<String> = names.into_iter().filter(|name| files::number_of(name).is_some()).collect();
    journals.sort();
    for name in journals {
        let file = open(&folder.file(&name))?;
        line(&mut text, format_args!("{name}:"));
        records(&*file, &mut text)?;
    }
    Ok(text)
}

fn describe_header(copy: u64, header: &Header, text: &mut String) {
    let Header { version, clean, environment_id, sequence, transaction, journal_number, journal_offset, journal_hash } =
        header;
    let closed = if *clean { "closed cleanly" } else { "not closed cleanly" };
    line(text, format_args!("header {copy}: format version {version}, sequence {sequence}, {closed}"));
    line(text, format_args!("  environment {environment_id:032x}"));
    line(text, format_args!("  the data file has all transactions up to {transaction}"));
    line(
        text,
        format_args!(
            "  the rest is in the journals from number {journal_number}, offset {journal_offset} on; \
             the record before it has the hash {journal_hash:032x}"
        ),
    );
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = text.write_fmt(arguments);
    text.push('\n');
}

fn records(file: &dyn File, text: &mut String) -> Result<()> {
    let failed = |e| Error::io("read", file.path(), 0, e);
    let size = file.len().map_err(failed)?;
    let mut headers = Headers::new(file, 0);
    let mut buffer = Vec::new();
    while let Some((offset, header)) = headers.next()? {
        if offset.saturating_add(header.padded_size()) > size {
            continue;
        }
        buffer.resize(record::HEADER_SIZE + header.stored_bytes as usize, 0);
        file.read_at(&mut buffer, offset).map_err(failed)?;
        if !header.matches(&buffer) {
            line(
                text,
                format_args!("  at {offset}: a record of transaction {} whose hash does not fit", header.transaction),
            );
            continue;
        }
        let packed = if header.compressed { ", compressed" } else { "" };
        let (transaction, durable, stored) = (header.transaction, header.durable, header.stored_bytes);
        line(
            text,
            format_args!("  at {offset}: transaction {transaction}, {stored} bytes{packed}, durable then: {durable}"),
        );
        if let Ok(raw) = record::raw_pages(&header, &buffer) {
            let mut rest = &raw[..];
            while let Some((number, change)) = record::next_change(&mut rest) {
                let what = match change {
                    Change::Diff(diff) => format!("{} bytes of differences", diff.len()),
                    Change::Fresh(diff) => format!("new, {} bytes", diff.len()),
                    Change::Direct { pages } => format!("a value over {pages} pages, in the data file"),
                    Change::Run { pages, bytes } => format!("a value over {pages} pages, {} bytes", bytes.len()),
                };
                line(text, format_args!("    page {number}: {what}"));
            }
        }
        headers.skip_to(offset + header.padded_size());
    }
    Ok(())
}

impl Environment {
    /// One page as text, as the last durable state has it. Of the header's copies it says that they are these.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if it is damaged or not there.
    pub fn describe_page(&self, number: PageNumber) -> Result<String> {
        let mut text = String::new();
        if number.0 < header::PAGES {
            line(
                &mut text,
                format_args!("page {number}: copy {number} of the header, which `inspect` describes without a page"),
            );
            return Ok(text);
        }
        let tx = self.read();
        let page = tx.page(number)?;
        let kind = Kind::of(page);
        let (transaction, level, count) = (page::transaction(page), page::level(page), page::count(page));
        line(
            &mut text,
            format_args!("page {number}: {}, transaction {transaction}, level {level}, {count} entries", name(kind)),
        );
        match kind {
            Some(Kind::Tree) => tree_page(page, &mut text),
            Some(Kind::FixedTree) => {
                for (key, value) in fixed::living(page) {
                    line(&mut text, format_args!("  {key} -> {value}"));
                }
                for (child, ..) in fixed::children(page) {
                    line(&mut text, format_args!("  child {child}"));
                }
            }
            Some(Kind::Run) => {
                let what = if level == page::STAGED { "a chunk of a content" } else { "a value" };
                let (length, pages) = (page::run_length(page), page::run_pages(page));
                line(&mut text, format_args!("  {what}, of {length} bytes over {pages} pages"));
            }
            _ => {}
        }
        Ok(text)
    }
}

fn name(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Unused) => "never written",
        Some(Kind::Bitmap) => "bitmap of pages in use",
        Some(Kind::Tree) => "tree",
        Some(Kind::FixedTree) => "fixed tree",
        Some(Kind::Section) => "section of records",
        Some(Kind::Run) => "first page of a value",
        Some(Kind::State) => "state of a structure",
        Some(Kind::Contents) => "tree of contents",
        None => "unknown kind",
    }
}

fn tree_page(page: &Page, text: &mut String) {
    line(text, format_args!("  prefix {}, {} bytes used", shown(node::prefix(page)), node::used(page)));
    if page::level(page) > 0 {
        line(text, format_args!("  (all below) -> page {}", node::child(page, 0)));
    }
    let mut key = Vec::new();
    for index in 0..page::count(page) {
        node::key_into(page, index, &mut key);
        let value = match node::payload(page, index) {
            _ if page::level(page) > 0 => format!("page {}", node::child(page, index + 1)),
            Payload::Inline(bytes) => shown(bytes),
            Payload::Run { first, length } => format!("{length} bytes at page {first}"),
        };
        line(text, format_args!("  {} -> {value}", shown(&key)));
    }
}
