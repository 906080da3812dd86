//! The functions that `prelude.js` calls: the border between scripts and the state of their run.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::engine::{self, Shared};
use crate::error::Error;
use crate::host::{Document, Stored};
use crate::limits::{EFFECTS_MAX, RESULT_SIZE_MAX};
use crate::outcome::Effect;
use crate::result::{Failure, ResultWriter};

/// Ticks of 100 ns from the year 1 to 1970.
const TICKS_TO_1970: u64 = 621_355_968_000_000_000;

/// All of them, in one object that scripts do not see.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    add_documents(ctx, shared, &natives)?;
    add_effects(ctx, shared, &natives)?;
    add_counters(ctx, shared, &natives)?;
    Ok(natives)
}

/// Ends the run: its question has no answer yet. That the script may catch this does not matter, since it is run again.
fn gave_up(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_message(ctx, "a document is to be loaded")
}

fn add_documents<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>, natives: &Object<'js>) -> Result<()> {
    let of = shared.clone();
    let load = move |ctx: Ctx<'js>, id: String| -> Result<Option<usize>> {
        let mut state = of.state.borrow_mut();
        let found = state.document(&id).map_err(|()| gave_up(&ctx))?;
        if state.loaded.len() < EFFECTS_MAX {
            state.loaded.push((id, found.is_some()));
        }
        Ok(found)
    };
    natives.set("load", Function::new(ctx.clone(), load)?)?;
    let of = shared.clone();
    let parse = move |ctx: Ctx<'js>, tools: Object<'js>, place: usize| -> Result<Value<'js>> {
        let json = of.state.borrow().documents.get(place).map(|document| document.json.clone());
        let json = json.ok_or_else(|| Exception::throw_message(&ctx, "there is no such document"))?;
        engine::parse(&ctx, &of.state, &tools.get("note")?, &json)
    };
    natives.set("parse", Function::new(ctx.clone(), parse)?)?;
    let of = shared.clone();
    let value = move |ctx: Ctx<'js>, tools: Object<'js>, key: String| -> Result<Option<Value<'js>>> {
        let found = of.state.borrow_mut().value(&key).map_err(|()| gave_up(&ctx))?;
        found.map(|json| engine::parse(&ctx, &of.state, &tools.get("note")?, &json)).transpose()
    };
    natives.set("valueOf", Function::new(ctx.clone(), value)?)?;
    let read = |name: &str, get: fn(&Document) -> Option<String>| {
        let of = shared.clone();
        let read = move |place: usize| of.state.borrow().documents.get(place).and_then(|document| get(document));
        natives.set(name, Function::new(ctx.clone(), read)?)
    };
    read("idOf", |document| document.stored.as_ref().map(|_| document.id.clone()))?;
    read("vectorOf", |document| document.stored.as_ref().map(|stored| stored.change_vector.clone()))?;
    read("dateOf", |document| document.stored.as_ref().map(|stored| stored.last_modified.clone()))?;
    let of = shared.clone();
    let time = move |place: usize| -> Option<f64> {
        let Stored { ticks, .. } = of.state.borrow().documents.get(place)?.stored.clone()?;
        // Milliseconds with their fraction, as near as a double is.
        Some(ticks.saturating_sub(TICKS_TO_1970) as f64 / 10_000.0)
    };
    natives.set("timeOf", Function::new(ctx.clone(), time)?)
}

fn add_effects<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>, natives: &Object<'js>) -> Result<()> {
    let of = shared.clone();
    let put = move |ctx: Ctx<'js>,
                    tools: Object<'js>,
                    id: String,
                    document: Value<'js>,
                    Opt(expected): Opt<Option<String>>|
          -> Result<String> {
        of.may_write(&ctx)?;
        if id.ends_with('|') {
            return Err(of.refuse(
                &ctx,
                Error::Misuse(format!(
                    "Document ids cannot end with '|', but was called with {id}. Identities are only generated for external \
                     requests, not calls to PutDocument and such."
                )),
            ));
        }
        let json = of.json(&ctx, &tools, &document)?;
        let mut state = of.state.borrow_mut();
        let id = match id.is_empty() || id.ends_with('/') {
            true => state.new_id(&id).map_err(|()| gave_up(&ctx))?,
            false => id,
        };
        let place = state.add(Rc::new(Document { id: id.clone(), json: Rc::from(&json[..]), stored: None }));
        state.set(&id, Some(place));
        state.effects.push(Effect::Put { id: id.clone(), json, expected: expected.flatten() });
        drop(state);
        of.check_count(&ctx)?;
        Ok(id)
    };
    natives.set("put", Function::new(ctx.clone(), put)?)?;
    let of = shared.clone();
    let delete = move |ctx: Ctx<'js>, id: String, Opt(expected): Opt<Option<String>>| -> Result<bool> {
        of.may_write(&ctx)?;
        let mut state = of.state.borrow_mut();
        let was_there = state.document(&id).map_err(|()| gave_up(&ctx))?.is_some();
        state.set(&id, None);
        state.effects.push(Effect::Delete { id, expected: expected.flatten() });
        drop(state);
        of.check_count(&ctx)?;
        Ok(was_there)
    };
    natives.set("del", Function::new(ctx.clone(), delete)?)?;
    let of = shared.clone();
    let unarchive = move |ctx: Ctx<'js>, place: usize| -> Result<()> {
        of.may_write(&ctx)?;
        let mut state = of.state.borrow_mut();
        let id = state.documents.get(place).map(|document| document.id.clone());
        state.effects.extend(id.map(|id| Effect::Unarchive { id }));
        drop(state);
        of.check_count(&ctx)
    };
    natives.set("unarchive", Function::new(ctx.clone(), unarchive)?)?;
    let of = shared.clone();
    let include = move |ctx: Ctx<'js>, id: String| -> Result<()> {
        of.state.borrow_mut().includes.push(id);
        of.check_count(&ctx)
    };
    natives.set("include", Function::new(ctx.clone(), include)?)?;
    let of = shared.clone();
    let include_value = move |ctx: Ctx<'js>, key: String| -> Result<()> {
        of.state.borrow_mut().included_values.push(key);
        of.check_count(&ctx)
    };
    natives.set("includeValue", Function::new(ctx.clone(), include_value)?)?;
    let of = shared.clone();
    let print = move |ctx: Ctx<'js>, tools: Object<'js>, value: Value<'js>| -> Result<()> {
        let text = match value.as_string() {
            Some(text) => text.to_string()?,
            None => String::from_utf8_lossy(&of.json(&ctx, &tools, &value)?).into_owned(),
        };
        of.state.borrow_mut().printed.push(text);
        of.check_count(&ctx)
    };
    natives.set("print", Function::new(ctx.clone(), print)?)?;
    let of = shared.clone();
    let refuse = move |message: String| _ = of.state.borrow_mut().refused.get_or_insert(Error::Misuse(message));
    natives.set("refuse", Function::new(ctx.clone(), refuse)?)?;
    let of = shared.clone();
    let missing = move |function: String| {
        let error = Error::NotSupported { function };
        of.state.borrow_mut().refused.get_or_insert(error);
    };
    natives.set("missing", Function::new(ctx.clone(), missing)?)
}

fn add_counters<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>, natives: &Object<'js>) -> Result<()> {
    let of = shared.clone();
    let document_id = move |place: usize| of.state.borrow().documents.get(place).map(|document| document.id.clone());
    natives.set("documentId", Function::new(ctx.clone(), document_id)?)?;
    let of = shared.clone();
    let counter = move |ctx: Ctx<'js>, id: String, name: String| -> Result<Option<f64>> {
        let values = of.state.borrow_mut().counter(&id, &name).map_err(|()| gave_up(&ctx))?;
        let sum = |values: Vec<(String, i64)>| values.into_iter().map(|(_, value)| i128::from(value)).sum::<i128>();
        Ok(values.map(|values| sum(values) as f64))
    };
    natives.set("counter", Function::new(ctx.clone(), counter)?)?;
    let of = shared.clone();
    let raw = move |ctx: Ctx<'js>, id: String, name: String| -> Result<Object<'js>> {
        let values = of.state.borrow_mut().counter(&id, &name).map_err(|()| gave_up(&ctx))?;
        let object = Object::new(ctx)?;
        for (database, value) in values.unwrap_or_default() {
            object.set(database, value as f64)?;
        }
        Ok(object)
    };
    natives.set("counterRaw", Function::new(ctx.clone(), raw)?)?;
    let of = shared.clone();
    let change = move |ctx: Ctx<'js>, id: String, name: String, Opt(delta): Opt<f64>| -> Result<()> {
        of.may_write(&ctx)?;
        // Fractions are cut off, as with the reference.
        of.state.borrow_mut().change_counter(&id, &name, delta.map(|delta| delta as i64));
        of.check_count(&ctx)
    };
    natives.set("changeCounter", Function::new(ctx.clone(), change)?)
}

impl Shared {
    fn refuse(&self, ctx: &Ctx<'_>, error: Error) -> rquickjs::Error {
        let message = error.to_string();
        self.state.borrow_mut().refused.get_or_insert(error);
        Exception::throw_message(ctx, &message)
    }

    fn may_write(&self, ctx: &Ctx<'_>) -> Result<()> {
        if self.state.borrow().may_write {
            return Ok(());
        }
        Err(self.refuse(ctx, Error::Misuse("Cannot make modifications in readonly context".to_owned())))
    }

    fn check_count(&self, ctx: &Ctx<'_>) -> Result<()> {
        let (count, size) = {
            let state = self.state.borrow();
            let size = |effect: &Effect| match effect {
                Effect::Put { json, .. } => json.len(),
                Effect::Counter { id, name, .. } => id.len() + name.len(),
                Effect::Delete { .. } | Effect::Unarchive { .. } => 0,
            };
            let printed = state.printed.iter().map(String::len).sum::<usize>();
            (state.count(), state.effects.iter().map(size).sum::<usize>() + printed)
        };
        if count <= EFFECTS_MAX && size <= RESULT_SIZE_MAX {
            return Ok(());
        }
        let message =
            format!("The script puts, deletes, includes or prints over {EFFECTS_MAX} times or {RESULT_SIZE_MAX} bytes");
        Err(self.refuse(ctx, Error::Limit { message }))
    }

    /// A value as JSON.
    fn json<'js>(&self, ctx: &Ctx<'js>, tools: &Object<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
        let asking = engine::asking(tools)?;
        let has_origins = !self.state.borrow().origins.is_empty();
        let mut json = Vec::new();
        let writer = ResultWriter {
            asking: &asking,
            state: &self.state,
            watchdog: &self.watchdog,
            written: Cell::default(),
            has_origins,
            names_documents: false,
            overlay: None,
        };
        match writer.write(&mut json, value, false) {
            Ok(()) => Ok(json),
            Err(Failure::Engine(error)) => Err(error),
            Err(Failure::Refused(error)) => Err(self.refuse(ctx, error)),
        }
    }
}
