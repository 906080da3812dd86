//! Human-readable sizes, in the format of the reference: `159 Bytes`, `360 KBytes`, `100.62 MBytes`.

/// A size in bytes with at most two decimals.
pub(crate) fn humane(size: u64) -> String {
    let (unit, name) = match size {
        0..1024 => return format!("{size} Bytes"),
        1024..0x10_0000 => (1024.0, "KBytes"),
        0x10_0000..0x4000_0000 => (1024.0 * 1024.0, "MBytes"),
        0x4000_0000..0x100_0000_0000 => (1024.0 * 1024.0 * 1024.0, "GBytes"),
        _ => (1024.0 * 1024.0 * 1024.0 * 1024.0, "TBytes"),
    };
    let number = format!("{:.2}", size as f64 / unit);
    format!("{} {name}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// Appends `{"HumaneSize":..,"SizeInBytes":..}`.
pub(crate) fn write(json: &mut json::Writer<'_>, size: u64) {
    json.object(|json| {
        json.name("HumaneSize").string(&humane(size)).name("SizeInBytes").unsigned(size);
    });
}

#[cfg(test)]
mod tests {
    use super::humane;

    #[test]
    fn sizes_read_as_the_reference_writes_them() {
        assert_eq!(humane(159), "159 Bytes");
        assert_eq!(humane(368_640), "360 KBytes");
        assert_eq!(humane(105_504_768), "100.62 MBytes");
        assert_eq!(humane(0), "0 Bytes");
    }
}
