//! The text form that Prometheus reads, version 0.0.4: families of series, each with its help and type before its first sample.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>. All samples of a family stand together, so whoever has several
//! things to tell about writes family by family.

use std::fmt::{Display, Write};

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What the samples of a family mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It only rises, until its subject begins anew.
    Counter,
    /// It rises and falls.
    Gauge,
    /// Counts of values by size.
    Histogram,
}

/// The head of a family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    /// With unit and, of counters, `_total` at its end.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// One line.
    pub(crate) help: &'static str,
}

/// A counter.
pub(crate) const fn counter(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Counter, help }
}

/// A gauge.
pub(crate) const fn gauge(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Gauge, help }
}

/// A histogram.
pub(crate) const fn histogram(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Histogram, help }
}

/// A text that grows.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
}

/// Names and values of labels.
pub(crate) type Labels<'a> = &'a [(&'static str, &'a str)];

impl Exposition {
    /// The whole text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Begins a family.
    pub(crate) fn family(&mut self, family: Family) -> Samples<'_> {
        let Family { name, kind, help } = family;
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Samples { text: &mut self.text, name }
    }

    /// A family of one sample without labels.
    pub(crate) fn single(&mut self, family: Family, value: impl Display) {
        self.family(family).sample(&[], value);
    }
}

/// The samples of one family.
#[derive(Debug)]
pub(crate) struct Samples<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Samples<'_> {
    /// Appends a sample.
    pub(crate) fn sample(&mut self, labels: Labels<'_>, value: impl Display) {
        self.line("", labels, None, value);
    }

    /// Appends a histogram.
    ///
    /// * `buckets`: upper ends, rising, and how many values are below each, those of the buckets before included.
    /// * `sum`, `count`: of all values.
    pub(crate) fn histogram(
        &mut self,
        labels: Labels<'_>,
        buckets: impl Iterator<Item = (f64, u64)>,
        sum: f64,
        count: u64,
    ) {
        for (end, below) in buckets {
            self.line("_bucket", labels, Some(&end.to_string()), below);
        }
        self.line("_bucket", labels, Some("+Inf"), count);
        self.line("_sum", labels, None, sum);
        self.line("_count", labels, None, count);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, end: Option<&str>, value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.name);
        let mut separator = '{';
        for (name, value) in labels.iter().copied().chain(end.map(|end| ("le", end))) {
            let _ = write!(self.text, "{separator}{name}=\"");
            escape(self.text, value);
            self.text.push('"');
            separator = ',';
        }
        if separator == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

/// Appends the value of a label.
fn escape(text: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_help_type_and_samples() {
        let mut text = Exposition::default();
        text.single(gauge("up_seconds", "Time."), 1.5);
        let mut samples = text.family(counter("x_total", "Xs."));
        samples.sample(&[("database", "a\"b\\c\nd"), ("kind", "ä")], 7);
        text.family(histogram("y_seconds", "Ys.")).histogram(&[("a", "b")], [(0.001, 2), (1.0, 3)].into_iter(), 4.5, 4);
        let expected = [
            "# HELP up_seconds Time.",
            "# TYPE up_seconds gauge",
            "up_seconds 1.5",
            "# HELP x_total Xs.",
            "# TYPE x_total counter",
            r#"x_total{database="a\"b\\c\nd",kind="ä"} 7"#,
            "# HELP y_seconds Ys.",
            "# TYPE y_seconds histogram",
            r#"y_seconds_bucket{a="b",le="0.001"} 2"#,
            r#"y_seconds_bucket{a="b",le="1"} 3"#,
            r#"y_seconds_bucket{a="b",le="+Inf"} 4"#,
            r#"y_seconds_sum{a="b"} 4.5"#,
            r#"y_seconds_count{a="b"} 4"#,
            "",
        ];
        assert_eq!(text.into_text(), expected.join("\n"));
    }
}
