//! Counters, identities and compare-exchange values of a dump.

use documents::{ValueChange, Write};
use json::Raw;

use super::ImportWork;
use crate::Result;
use crate::limits::{BULK_BATCH_COUNT_MAX, BULK_BATCH_SIZE_MAX};
use crate::smuggler::reader::Part;
use crate::smuggler::{ItemType, counters};

impl ImportWork {
    /// A group of counters of one document. Documents stand before them in a dump.
    pub(super) fn counters(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        match counters::command_of(element) {
            Ok(command) => {
                self.batch.push_counters(command);
                self.send_if_full()
            }
            Err(rule) => self.refuse(ItemType::CounterGroups, part, rule),
        }
    }

    pub(super) fn identity(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        let name = element.get("Key").and_then(Raw::as_str);
        let value = element.get("Value");
        let value = value.and_then(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()));
        let (Some(name), Some(value)) = (name, value) else {
            let rule = "an identity has a 'Key' that is text and a 'Value' that is a whole number";
            return self.refuse(ItemType::Identities, part, rule.to_owned());
        };
        if let Err(error) = documents::id::check(&name) {
            return self.refuse(ItemType::Identities, part, error.to_string());
        }
        self.flight.begin()?;
        let (flight, name) = (self.flight.clone(), name.into_owned());
        let write = Write::SeedIdentity { name, value, is_forced: self.replacing.is_some() };
        self.database.propose_blocking(write, move |answer| flight.land(answer, |_, _| ()));
        Ok(())
    }

    /// A put or deletion of a compare-exchange value, whatever is stored under its key.
    pub(super) fn value_change(&mut self, part: Part<'_>, read: Result<Option<ValueChange>, String>) -> Result<()> {
        match read {
            Ok(Some(change)) => {
                self.values_size += change.size();
                self.values.push(change);
                let is_full = self.values.len() >= BULK_BATCH_COUNT_MAX || self.values_size >= BULK_BATCH_SIZE_MAX;
                if is_full { self.send_values() } else { Ok(()) }
            }
            Ok(None) => {
                self.result.counts_mut(self.section).left_out += 1;
                Ok(())
            }
            Err(rule) => self.refuse(self.section, part, rule),
        }
    }

    /// Sends the changes of values on their way, when there is room.
    pub(super) fn send_values(&mut self) -> Result<()> {
        let changes = std::mem::take(&mut self.values);
        self.values_size = 0;
        if changes.is_empty() {
            return Ok(());
        }
        self.report();
        self.flight.begin()?;
        let flight = self.flight.clone();
        self.database.propose_blocking(Write::Exchanges(changes), move |answer| flight.land(answer, |_, _| ()));
        Ok(())
    }
}
