//! Fields of groups that hold the least or the greatest number of a field, or the average of its numbers.
//!
//! Their names are the calls, `min(Freight)`, where counts and sums have the names of the reference (`Count`, `Freight`). The reference has
//! neither of the three.

/// What is computed of the numbers of a field in a group. Null and missing values do not count; of no numbers it is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// `min(field)`
    Least,
    /// `max(field)`
    Greatest,
    /// `avg(field)`
    Average,
}

impl Measure {
    const ALL: [Measure; 3] = [Measure::Least, Measure::Greatest, Measure::Average];

    /// The function that stands in the name.
    pub fn function(self) -> &'static str {
        match self {
            Measure::Least => "min",
            Measure::Greatest => "max",
            Measure::Average => "avg",
        }
    }
}

/// What a field of groups holds, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredField<'n> {
    /// What is computed.
    pub measure: Measure,
    /// The path of the numbers in documents.
    pub path: &'n str,
}

impl<'n> MeasuredField<'n> {
    /// Reads a name. `None`: the field holds a key, a count or a sum.
    pub fn of_name(name: &'n str) -> Option<MeasuredField<'n>> {
        Measure::ALL.into_iter().find_map(|measure| {
            let path = name.strip_prefix(measure.function())?.strip_prefix('(')?.strip_suffix(')')?;
            Some(MeasuredField { measure, path })
        })
    }

    /// The name of the field.
    pub fn name(self) -> String {
        format!("{}({})", self.measure.function(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_calls() {
        for (name, measure, path) in [
            ("min(Freight)", Measure::Least, "Freight"),
            ("max(Lines[].Price)", Measure::Greatest, "Lines[].Price"),
            ("avg(a (b))", Measure::Average, "a (b)"),
        ] {
            let field = MeasuredField { measure, path };
            assert_eq!((MeasuredField::of_name(name), field.name()), (Some(field), name.to_owned()));
        }
        for name in ["Count", "min", "min(Freight", "minimum(Freight)", "MIN(Freight)", "sum(Freight)"] {
            assert_eq!(MeasuredField::of_name(name), None, "{name}");
        }
    }
}
