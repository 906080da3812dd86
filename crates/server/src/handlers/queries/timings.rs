//! How long the steps of a query take, if it asks: `include timings()`.
//!
//! The tree has the names of the reference, where there is such a step; a step that was not taken is not in it. Nothing is measured unless
//! it is asked for.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A step that is measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Finding or making the index.
    Optimizer,
    /// Waiting for it, and telling whether it is stale.
    Staleness,
    /// Finding entries, in their order.
    Search,
    /// What is to be highlighted.
    HighlightSetup,
    /// Cutting fragments.
    Highlight,
    /// Loading documents.
    Load,
    /// Writing whole documents.
    Write,
    /// Writing projected values.
    Project,
    /// Running scripts.
    Script,
    /// Loading documents that are included.
    Include,
}

/// As many as there are stages.
const COUNT: usize = Stage::Include as usize + 1;

/// What is in `Timings`: names, and the stage that is measured there, if any is.
struct Step {
    name: &'static str,
    own: Option<Stage>,
    steps: &'static [Step],
}

const fn leaf(name: &'static str, stage: Stage) -> Step {
    Step { name, own: Some(stage), steps: &[] }
}

/// Sorted by name on each level, as the reference does.
const STEPS: &[Step] = &[
    leaf("Optimizer", Stage::Optimizer),
    Step {
        name: "Query",
        own: None,
        steps: &[
            Step { name: "Highlightings", own: Some(Stage::Highlight), steps: &[leaf("Setup", Stage::HighlightSetup)] },
            leaf("Includes", Stage::Include),
            leaf("Lucene", Stage::Search),
            Step {
                name: "Retriever",
                own: Some(Stage::Write),
                steps: &[
                    Step { name: "Projection", own: Some(Stage::Project), steps: &[leaf("JavaScript", Stage::Script)] },
                    leaf("Storage", Stage::Load),
                ],
            },
        ],
    },
    leaf("Staleness", Stage::Staleness),
];

/// What was measured.
#[derive(Debug, Default)]
pub(crate) struct Timings {
    /// Nanoseconds of each stage; 0: it was not reached.
    nanoseconds: [AtomicU64; COUNT],
}

/// Does something, and measures it if that is asked for.
pub(crate) fn timed<T>(timings: Option<&Timings>, stage: Stage, work: impl FnOnce() -> T) -> T {
    let Some(timings) = timings else { return work() };
    let start = Instant::now();
    let result = work();
    timings.add(stage, start.elapsed());
    result
}

impl Timings {
    /// A stage took so long once more.
    pub fn add(&self, stage: Stage, time: Duration) {
        // One at least: it was reached.
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.nanoseconds[stage as usize].fetch_add(nanoseconds, Relaxed);
    }

    /// What a stage took so far.
    pub fn of(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.nanoseconds[stage as usize].load(Relaxed))
    }

    /// Writes `"Timings":{"DurationInMs":..,"Timings":{name:{..}}}`. The whole is rounded up, so that it is not nothing; steps are
    /// rounded down, so that they are no more than what they are steps of.
    pub fn write(&self, json: &mut json::Writer<'_>, whole: Duration) {
        let milliseconds = whole.as_nanos().div_ceil(1_000_000).max(1);
        json.name("Timings").object(|json| {
            json.name("DurationInMs").unsigned(u64::try_from(milliseconds).unwrap_or(u64::MAX));
            self.write_steps(STEPS, json);
        });
    }

    fn time(&self, step: &Step) -> Duration {
        let own = step.own.map_or(Duration::ZERO, |stage| self.of(stage));
        own + step.steps.iter().map(|step| self.time(step)).sum::<Duration>()
    }

    fn write_steps(&self, steps: &[Step], json: &mut json::Writer<'_>) {
        let mut taken = steps.iter().filter(|step| !self.time(step).is_zero()).peekable();
        if taken.peek().is_none() {
            json.name("Timings").null();
            return;
        }
        json.name("Timings").object(|json| {
            for step in taken {
                json.name(step.name).object(|json| {
                    let milliseconds = self.time(step).as_millis();
                    json.name("DurationInMs").unsigned(u64::try_from(milliseconds).unwrap_or(u64::MAX));
                    self.write_steps(step.steps, json);
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(timings: &Timings, whole: Duration) -> String {
        let mut out = Vec::new();
        json::Writer::new(&mut out).object(|json| timings.write(json, whole));
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
