//! Debug output of scripts: the property `Debug` of the answer to a patch.

use json::Writer;
use script::{Effect, Outcome};

/// `{"Info":[…],"Actions":{…}}`.
///
/// * `printed`: what the lines are called that the script wrote, `Info` here.
pub(super) fn debug(outcome: &Outcome, printed: &str) -> Vec<u8> {
    const OTHERS: [&str; 4] = ["GetTimeSeries", "AppendTimeSeries", "IncrementTimeSeries", "DeleteTimeSeries"];
    let mut out = Vec::new();
    Writer::new(&mut out).object(|json| {
        json.name(printed).array(|json| outcome.printed.iter().for_each(|line| _ = json.string(line)));
        json.name("Actions").object(|json| {
            json.name("LoadDocument").array(|json| {
                for (id, is_there) in &outcome.loaded {
                    json.object(|json| _ = json.name("Id").string(id).name("Exists").bool(*is_there));
                }
            });
            json.name("PutDocument").array(|json| {
                for effect in &outcome.effects {
                    if let Effect::Put { id, json: document, .. } = effect {
                        json.object(|json| _ = json.name("Id").string(id).name("Data").raw(document));
                    }
                }
            });
            json.name("DeleteDocument").array(|json| {
                for effect in &outcome.effects {
                    if let Effect::Delete { id, .. } = effect {
                        json.string(id);
                    }
                }
            });
            json.name("GetCounter").array(|_| ());
            json.name("IncrementCounter").array(|json| {
                for effect in &outcome.effects {
                    if let Effect::Counter { name, delta: Some(delta), .. } = effect {
                        json.object(|json| _ = json.name("Name").string(name).name("AddedValue").signed(*delta));
                    }
                }
            });
            json.name("DeleteCounter").array(|json| {
                for effect in &outcome.effects {
                    if let Effect::Counter { name, delta: None, .. } = effect {
                        json.string(name);
                    }
                }
            });
            OTHERS.iter().for_each(|name| _ = json.name(name).array(|_| ()));
        });
    });
    out
}
