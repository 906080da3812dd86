//! What goes on in a server, for those who run it: slow requests, the log, the settings in force, where the space of a database goes.
//!
//! `GET /admin/slow-requests`: `database`. `GET /admin/logs/recent`: `level`, `text`, `after`, `pageSize`.
//! `GET /admin/configuration/settings` and `GET /databases/{name}/debug/storage/report` have RavenDB's shape, with more in it.

use database::{Database, StorageArea};
use hyper::StatusCode;
use json::Writer;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::LOG_LINES_PAGE;
use crate::messages::date;
use crate::messages::reply::{self, Reply};
use crate::monitoring::recent_log::{LogFilter, LogLevel};
use crate::monitoring::slow::SlowRequest;
use crate::routing::exchange::Exchange;
use crate::setting::Setting;

/// GET `/admin/slow-requests`: the newest first.
pub(crate) fn slow_requests(exchange: &Exchange) -> Result<Reply> {
    let slow = &exchange.node.slow;
    let found = slow.all(exchange.query().get_nonempty("database").as_deref());
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("ThresholdInMs").unsigned(slow.threshold().as_millis() as u64);
        json.name("Results").array(|json| found.iter().for_each(|request| write_slow(json, request)));
    }))
}

fn write_slow(json: &mut Writer<'_>, request: &SlowRequest) {
    json.object(|json| {
        json.name("At").string(&date::wire(request.at));
        json.name("DurationInMs").double(request.duration.as_micros() as f64 / 1000.0);
        json.name("Method").string(request.method.as_str()).name("Url").string(&request.url);
        json.name("Database").optional_string(request.database.as_deref());
        json.name("Query").optional_string(request.query.as_deref());
        match request.status {
            Some(status) => json.name("Status").unsigned(status.as_u16().into()),
            None => json.name("Status").null(),
        };
    });
}

/// GET `/admin/logs/recent`: the newest first.
pub(crate) fn log(exchange: &Exchange) -> Result<Reply> {
    let query = exchange.query();
    let level = query.get_nonempty("level");
    let least = match &level {
        None => LogLevel::Trace,
        Some(name) => LogLevel::parse(name)
            .ok_or_else(|| Error::parameter("level", name, "one of Trace, Debug, Info, Warn, Error"))?,
    };
    let count_max =
        query.number("pageSize")?.map_or(LOG_LINES_PAGE, |count| usize::try_from(count).unwrap_or(usize::MAX));
    let part = query.get("text").unwrap_or_default();
    let filter = LogFilter { least, part: &part, after: query.number("after")?.unwrap_or(0), count_max };
    let lines = exchange.node.log.find(&filter);
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| {
            for line in &lines {
                json.object(|json| {
                    json.name("Number").unsigned(line.number).name("At").string(&date::wire(line.at));
                    json.name("Level").string(line.level.name()).name("Message").string(&line.text);
                });
            }
        });
    }))
}

/// GET `/admin/configuration/settings`.
pub(crate) fn settings(exchange: &Exchange) -> Result<Reply> {
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Settings")
            .array(|json| exchange.node.settings.iter().for_each(|setting| write_setting(json, setting)));
    }))
}

fn write_setting(json: &mut Writer<'_>, setting: &Setting) {
    let Setting { name, description, default, given } = setting;
    let is_secured = given.as_ref().is_some_and(|given| given.value.is_none());
    json.object(|json| {
        json.name("Metadata").object(|json| {
            json.name("Category").string(name.split_once('.').map_or("Core", |(section, _)| section));
            json.name("Keys").array(|json| _ = json.string(name));
            json.name("Scope").string("ServerWideOnly").name("DefaultValue").string(default);
            json.name("Description").string(description).name("IsSecured").bool(is_secured);
        });
        json.name("ServerValues").object(|json| {
            if let Some(given) = given {
                json.name(name).object(|json| {
                    json.name("Value").optional_string(given.value.as_deref()).name("HasValue").bool(true);
                    json.name("HasAccess").bool(given.value.is_some()).name("PendingValue").null();
                    json.name("Source").string(&given.source);
                });
            }
        });
    });
}

/// GET `/databases/{name}/debug/storage/report`.
pub(crate) async fn storage_report(exchange: Exchange) -> Result<Reply> {
    let database = exchange.database().clone();
    // Allocation bitmaps are gone through.
    exchange.node.bridge.run(Pool::Short, move || report(&database)).await
}

fn report(database: &Database) -> Result<Reply> {
    let areas = database.storage_areas()?;
    // Counted as `GET /admin/live` does. The areas count pages and journals: a data file may be longer than its pages, and there are
    // files that say which journals there are.
    let size = database.size_on_disk();
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("SizeInBytes").unsigned(size);
        json.name("Results").array(|json| areas.iter().for_each(|area| write_area(json, area)));
    }))
}

fn write_area(json: &mut Writer<'_>, area: &StorageArea) {
    let StorageArea { index, statistics, journals } = area;
    json.object(|json| {
        let kind = if index.is_some() { "Index" } else { "Documents" };
        json.name("Name").string(index.as_deref().unwrap_or(kind)).name("Type").string(kind);
        json.name("Report").object(|json| {
            json.name("DataFile").object(|json| {
                json.name("AllocatedSpaceInBytes").unsigned(statistics.data_file_size);
                json.name("UsedSpaceInBytes").unsigned(statistics.used_size());
                json.name("FreeSpaceInBytes")
                    .unsigned(statistics.data_file_size.saturating_sub(statistics.used_size()));
            });
            json.name("Journals").array(|json| {
                for journal in journals {
                    json.object(|json| {
                        json.name("Number").unsigned(journal.number);
                        json.name("AllocatedSpaceInBytes").unsigned(journal.size);
                        json.name("IsKeptForUseAgain").bool(journal.is_spare);
                    });
                }
            });
            json.name("Flush").object(|json| {
                json.name("LastTransaction").unsigned(statistics.last_transaction.0);
                json.name("FlushedTransaction").unsigned(statistics.flushed_transaction.0);
                json.name("JournalSinceFlushInBytes").unsigned(statistics.journal_since_flush);
                json.name("FlushCount").unsigned(statistics.flush_count);
            });
            json.name("Readers").object(|json| {
                json.name("Open").unsigned(statistics.open_readers as u64);
                json.name("OldestTransaction").unsigned(statistics.oldest_reader.0);
                json.name("PageVersionsWaiting").unsigned(statistics.versions_waiting as u64);
            });
            json.name("QueueLength").unsigned(statistics.queue_length as u64);
            json.name("PageVersionsOfProcessInBytes").unsigned(statistics.version_bytes_in_process as u64);
        });
    });
}
