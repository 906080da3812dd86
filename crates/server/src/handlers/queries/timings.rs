//! How long the steps of a query took, as `include timings()` asks for it.
//!
//! The tree has the names of the reference where it has such a step; a step that was not taken is not in it.

use std::time::Duration;

use database::queries::{Stage, Timings};

/// A node of the `Timings` tree: its name, and the stage measured there, if any.
struct TimedStep {
    name: &'static str,
    own: Option<Stage>,
    steps: &'static [TimedStep],
}

const fn leaf(name: &'static str, stage: Stage) -> TimedStep {
    TimedStep { name, own: Some(stage), steps: &[] }
}

/// Sorted by name on each level, as the reference does.
const STEPS: &[TimedStep] = &[
    leaf("Optimizer", Stage::Optimizer),
    TimedStep {
        name: "Query",
        own: None,
        steps: &[
            TimedStep {
                name: "Highlightings",
                own: Some(Stage::Highlight),
                steps: &[leaf("Setup", Stage::HighlightSetup)],
            },
            leaf("Includes", Stage::Include),
            leaf("Lucene", Stage::Search),
            TimedStep {
                name: "Retriever",
                own: Some(Stage::Write),
                steps: &[
                    TimedStep {
                        name: "Projection",
                        own: Some(Stage::Project),
                        steps: &[leaf("JavaScript", Stage::Script)],
                    },
                    leaf("Storage", Stage::Load),
                ],
            },
        ],
    },
    leaf("Staleness", Stage::Staleness),
];

/// Writes `"Timings":{"DurationInMs":..,"Timings":{name:{..}}}`. The whole is rounded up, so that it is not 0; steps are
/// rounded down, so that they are no more than what they are steps of.
pub(super) fn write(timings: &Timings, json: &mut json::Writer<'_>, whole: Duration) {
    let milliseconds = whole.as_nanos().div_ceil(1_000_000).max(1);
    json.name("Timings").object(|json| {
        json.name("DurationInMs").unsigned(u64::try_from(milliseconds).unwrap_or(u64::MAX));
        write_steps(timings, STEPS, json);
    });
}

fn time(timings: &Timings, step: &TimedStep) -> Duration {
    let own = step.own.map_or(Duration::ZERO, |stage| timings.of(stage));
    own + step.steps.iter().map(|step| time(timings, step)).sum::<Duration>()
}

fn write_steps(timings: &Timings, steps: &[TimedStep], json: &mut json::Writer<'_>) {
    let mut taken = steps.iter().filter(|step| !time(timings, step).is_zero()).peekable();
    if taken.peek().is_none() {
        json.name("Timings").null();
        return;
    }
    json.name("Timings").object(|json| {
        for step in taken {
            json.name(step.name).object(|json| {
                let milliseconds = time(timings, step).as_millis();
                json.name("DurationInMs").unsigned(u64::try_from(milliseconds).unwrap_or(u64::MAX));
                write_steps(timings, step.steps, json);
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(timings: &Timings, whole: Duration) -> String {
        let mut out = Vec::new();
        json::Writer::new(&mut out).object(|json| write(timings, json, whole));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn steps_that_were_taken_are_told_with_their_sums() {
        let timings = Timings::default();
        let nothing = r#"{"Timings":{"DurationInMs":1,"Timings":null}}"#;
        assert_eq!(written(&timings, Duration::ZERO), nothing);
        timings.add(Stage::Search, Duration::from_micros(1600));
        timings.add(Stage::Search, Duration::from_micros(500));
        timings.add(Stage::Load, Duration::ZERO);
        timings.add(Stage::Script, Duration::from_micros(3900));
        let expected = r#"{"Timings":{"DurationInMs":7,"Timings":{"Query":{"DurationInMs":6,"Timings":{"Lucene":{"DurationInMs":2,"Timings":null},"Retriever":{"DurationInMs":3,"Timings":{"Projection":{"DurationInMs":3,"Timings":{"JavaScript":{"DurationInMs":3,"Timings":null}}},"Storage":{"DurationInMs":0,"Timings":null}}}}}}}}"#;
        assert_eq!(written(&timings, Duration::from_micros(6001)), expected);
    }
}
