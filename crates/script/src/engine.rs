//! An engine of the library with one compiled script in it.
//!
//! Its global scope has what the language has, less what makes code of text, waits, or holds memory that nobody counts; and the
//! functions of `prelude.js`. The next run of the same script finds the engine as the last one left it, its numbers of
//! documents and origins apart.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::context::intrinsic;
use rquickjs::function::Args;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Persistent, Runtime, Value};

use json::Raw;

use crate::error::{Error, Result};
use crate::host::{Host, Key};
use crate::limits::{ENGINE_SIZE_FREE, Limits, STACK_SIZE_MAX};
use crate::memory::{self, EngineMemory};
use crate::native;
use crate::origin::{self, Asking};
use crate::outcome::Outcome;
use crate::program::{Input, Run};
use crate::result::{Failure, Overlay, ResultWriter};
use crate::state::{Question, RunState};
use crate::ticker;
use crate::watchdog::Watchdog;

const PRELUDE: &str = include_str!("prelude.js");

/// What all functions of an engine share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub state: RefCell<RunState>,
    pub watchdog: Watchdog,
}

// The values are dropped before the context, and that before the runtime.
pub(crate) struct Engine {
    function: Persistent<Function<'static>>,
    prelude: Persistent<Object<'static>>,
    context: Context,
    runtime: Runtime,
    held: EngineMemory,
    shared: Rc<Shared>,
    /// What was compiled.
    pub text: Arc<str>,
    pub limits: Limits,
}

impl Engine {
    /// Compiles a script.
    ///
    /// * `written`: what the user wrote, for errors.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`], or a limit is exceeded.
    pub fn new(text: Arc<str>, written: &str, limits: &Limits) -> Result<Engine> {
        memory::count();
        let mut held = EngineMemory::default();
        let (engine, refused) = held.during(limits.memory, || Engine::make(text, written, limits));
        match refused {
            Some(refused) => Err(refused),
            None => Ok(Engine { held, ..engine? }),
        }
    }

    fn make(text: Arc<str>, written: &str, limits: &Limits) -> Result<Engine> {
        let shared = Rc::new(Shared::default());
        ticker::start()
            .map_err(|error| Error::Host(format!("there is no thread for the clock of scripts: {error}")))?;
        let failed = |error: rquickjs::Error| Error::Host(format!("the engine of scripts does not start: {error}"));
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(limits.memory.min(ENGINE_SIZE_FREE));
        runtime.set_max_stack_size(STACK_SIZE_MAX);
        let watch = shared.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || watch.watchdog.must_end())));
        let context = Context::builder()
            .with::<intrinsic::Eval>()
            .with::<intrinsic::Date>()
            .with::<intrinsic::RegExpCompiler>()
            .with::<intrinsic::RegExp>()
            .with::<intrinsic::Json>()
            .with::<intrinsic::MapSet>()
            .with::<intrinsic::Proxy>()
            .with::<intrinsic::Promise>()
            .build(&runtime)
            .map_err(failed)?;
        let compiled = context.with(|ctx| {
            let prelude: Function<'_> = ctx.eval(PRELUDE).catch(&ctx).map_err(|error| prelude_failed(&error))?;
            let natives = native::natives(&ctx, &shared).catch(&ctx).map_err(|error| prelude_failed(&error))?;
            let prelude: Object<'_> = prelude
                .call((natives, text.contains("@metadata")))
                .catch(&ctx)
                .map_err(|error| prelude_failed(&error))?;
            // The limits hold for what the user wrote: on a machine under load, the engine's own start may take longer.
            shared.watchdog.begin(limits);
            let compiled = compile(&ctx, &prelude, &text);
            let function = compiled.map_err(|failure| match error_at(&ctx, &shared, failure) {
                (Error::Thrown { message, line }, column) => {
                    Error::Syntax { message, line, column, text: written.to_owned() }
                }
                (error, _) => error,
            })?;
            Ok::<_, Error>((Persistent::save(&ctx, function), Persistent::save(&ctx, prelude)))
        });
        let (function, prelude) = compiled?;
        Ok(Engine { function, prelude, context, runtime, held: EngineMemory::default(), shared, text, limits: *limits })
    }

    /// Runs it once. `None`: it asked for something, and is to be run again after [`answer`](Self::answer).
    ///
    /// * `key`: how ids are compared; `is_again`: whether it was answered.
    pub fn run(&mut self, run: &Run<'_>, key: Key, limits: &Limits, is_again: bool) -> Result<Option<Outcome>> {
        let shared = &self.shared;
        shared.state.borrow_mut().begin(run.may_write, key);
        if is_again {
            shared.watchdog.begin_anew()
        } else {
            shared.watchdog.begin(limits)
        }
        let (result, refused) = self.held.during(limits.memory, || {
            self.context.with(|ctx| {
                let outcome = run_in(&ctx, shared, self.function.clone(), self.prelude.clone(), run);
                outcome.map_err(|failure| match error_at(&ctx, shared, failure) {
                    (Error::Thrown { message, line }, column) if message == NOT_A_FUNCTION => {
                        let called = called_at(&self.text, line, column).map(|name| format!("'{name}' is {message}"));
                        Error::Thrown { message: called.unwrap_or(message), line }
                    }
                    (error, _) => error,
                })
            })
        });
        let mut state = shared.state.borrow_mut();
        if let Some(error) = shared.watchdog.ended() {
            return Err(error);
        }
        // Whatever the script made of it.
        if let Some(refused) = refused {
            return Err(refused);
        }
        if let Some(refused) = state.refused.take() {
            return Err(refused);
        }
        // Whatever came of it: it did not have what it asked for.
        if state.question.is_some() {
            return Ok(None);
        }
        let (json, is_first_argument) = result?;
        Ok(Some(Outcome {
            json,
            is_first_argument,
            effects: std::mem::take(&mut state.effects),
            includes: std::mem::take(&mut state.includes),
            included_values: std::mem::take(&mut state.included_values),
            printed: std::mem::take(&mut state.printed),
            loaded: std::mem::take(&mut state.loaded),
        }))
    }

    /// Asks the host what the last run asked for.
    pub fn answer(&mut self, host: &mut dyn Host) -> Result<()> {
        let question = self.shared.state.borrow_mut().question.take();
        match question {
            Some(Question::Document(id)) => {
                let document = host.load(&id).map_err(Error::Host)?.map(Rc::new);
                self.shared.state.borrow_mut().answer(&id, document);
            }
            Some(Question::Value(key)) => {
                let value = host.value(&key).map_err(Error::Host)?;
                self.shared.state.borrow_mut().answer_value(&key, value);
            }
            Some(Question::Id(given)) => {
                let id = host.new_id(&given).map_err(Error::Host)?;
                self.shared.state.borrow_mut().answers.ids.push(id);
            }
            Some(Question::Counter(id, name)) => {
                let counter = host.counter(&id, &name).map_err(Error::Host)?;
                self.shared.state.borrow_mut().answer_counter(&id, &name, counter);
            }
            None => {}
        }
        Ok(())
    }

    /// Forgets what belongs to the last run. Gives whether the engine is as small as one that may be kept.
    pub fn rest(&mut self) -> bool {
        self.forget();
        if self.held.is_empty() {
            return true;
        }
        self.runtime.run_gc();
        let is_small =
            usize::try_from(self.runtime.memory_usage().malloc_size).is_ok_and(|size| size < ENGINE_SIZE_FREE);
        if is_small {
            self.runtime.set_memory_limit(ENGINE_SIZE_FREE);
            self.held.clear();
        }
        is_small
    }

    fn forget(&mut self) {
        *self.shared.state.borrow_mut() = RunState::default();
        // What the run left behind is not needed by anybody; a failure to forget it is met again, and heeded, by the next run.
        self.context.with(|ctx| {
            let forgotten = self
                .prelude
                .clone()
                .restore(&ctx)
                .and_then(|prelude| prelude.get::<_, Function<'_>>("begin")?.call::<_, ()>(()));
            if forgotten.is_err() {
                ctx.catch();
            }
        });
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _ = &self.runtime;
        f.debug_struct("Engine").field("limits", &self.limits).finish_non_exhaustive()
    }
}

fn prelude_failed(error: &CaughtError<'_>) -> Error {
    match error.to_string() {
        message if message.contains(OUT_OF_MEMORY) => Error::Limit { message: OUT_OF_MEMORY.to_owned() },
        message => Error::Host(format!("the engine of scripts does not start: {message}")),
    }
}

fn compile<'js>(ctx: &Ctx<'js>, prelude: &Object<'js>, text: &str) -> Result<Function<'js>, Failure> {
    let make: Function<'js> = ctx.eval(text)?;
    let [nothing, calls]: [Value<'js>; 2] = [prelude.get("nothing")?, prelude.get("callNothing")?];
    Ok(make.call((nothing, calls))?)
}

/// The result, and whether it is the first argument.
fn run_in<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared,
    function: Persistent<Function<'static>>,
    prelude: Persistent<Object<'static>>,
    run: &Run<'_>,
) -> Result<(Vec<u8>, bool), Failure> {
    let function = function.restore(ctx)?;
    let prelude = prelude.restore(ctx)?;
    prelude.get::<_, Function<'js>>("begin")?.call::<_, ()>(())?;
    let inputs = Inputs { ctx, shared, know: prelude.get("know")?, noting: prelude.get("note")? };
    let mut arguments = Args::new(ctx.clone(), run.arguments.len());
    let this = match &run.this {
        Some(this) => Some(inputs.value(this)?),
        None => None,
    };
    if let Some(this) = &this {
        arguments.this(this.clone())?;
    }
    let (mut first, mut overlay) = (None, None);
    for input in run.arguments {
        let value = inputs.value(input)?;
        if let (Input::Overlaid(document, fields), Some(seen)) = (input, value.as_object()) {
            let fields = Raw::new(fields).members().map(|(name, _)| name.decode().into_owned());
            let read = |name: String| seen.get(&*name).map(|value: Value<'js>| (name, value));
            let fields = fields.map(read).collect::<rquickjs::Result<_>>()?;
            overlay = Some(Overlay { seen: value.clone(), fields, own: document.json.clone() });
        }
        arguments.push_arg(value.clone())?;
        first.get_or_insert(value);
    }
    let returned: Value<'js> = arguments.apply(&function)?;
    let asking = asking(&prelude)?;
    let has_origins = !shared.state.borrow().origins.is_empty();
    let names_documents = run.names_documents;
    let writer = ResultWriter {
        asking: &asking,
        state: &shared.state,
        watchdog: &shared.watchdog,
        written: Cell::default(),
        has_origins,
        names_documents,
        overlay,
    };
    let mut json = Vec::new();
    let result = this.as_ref().unwrap_or(&returned);
    writer.write(&mut json, result, run.omits_undefined)?;
    Ok((json, this.is_none() && first.as_ref() == Some(&returned) && returned.is_object()))
}

/// What writing needs of the engine.
pub(crate) fn asking<'js>(prelude: &Object<'js>) -> rquickjs::Result<Asking<'js>> {
    Ok(Asking {
        origin: prelude.get("origin")?,
        place: prelude.get("place")?,
        date_text: prelude.get("dateText")?,
        well_formed: prelude.get("wellFormed")?,
        date: prelude.get("date")?,
    })
}

/// Makes values of what a run is given.
struct Inputs<'i, 'js> {
    ctx: &'i Ctx<'js>,
    shared: &'i Shared,
    know: Function<'js>,
    noting: Function<'js>,
}

impl<'js> Inputs<'_, 'js> {
    fn value(&self, input: &Input<'_>) -> Result<Value<'js>, Failure> {
        match input {
            Input::Null => Ok(Value::new_null(self.ctx.clone())),
            Input::Json(json) => self.json(&Rc::from(*json)),
            Input::Document(document) => self.document(document),
            Input::Overlaid(document, fields) => self.known(document, &overlaid(&document.json, fields).into()),
            Input::Documents(documents) => {
                let array = rquickjs::Array::new(self.ctx.clone())?;
                for (at, document) in documents.iter().enumerate() {
                    array.set(at, self.document(document)?)?;
                }
                Ok(array.into_value())
            }
        }
    }

    fn json(&self, json: &Rc<[u8]>) -> Result<Value<'js>, Failure> {
        parse(self.ctx, &self.shared.state, &self.noting, json).map_err(Failure::from)
    }

    fn document(&self, document: &crate::Document) -> Result<Value<'js>, Failure> {
        self.known(document, &document.json)
    }

    /// * `json`: what is seen of the document.
    fn known(&self, document: &crate::Document, json: &Rc<[u8]>) -> Result<Value<'js>, Failure> {
        let value = self.json(json)?;
        let place = self.shared.state.borrow_mut().add(Rc::new(document.clone()));
        self.know.call::<_, ()>((value.clone(), place))?;
        Ok(value)
    }
}

/// An object with other values than its own, and those that it does not have behind them.
fn overlaid(own: &[u8], fields: &[u8]) -> Vec<u8> {
    let (own, fields) = (Raw::new(own), Raw::new(fields));
    let mut text = Vec::with_capacity(own.bytes().len() + fields.bytes().len());
    json::Writer::new(&mut text).object(|json| {
        for (name, value) in own.members() {
            let name = name.decode();
            json.name(&name).raw(fields.get(&name).unwrap_or(value).bytes());
        }
        for (name, value) in fields.members() {
            let name = name.decode();
            if own.get(&name).is_none() {
                json.name(&name).raw(value.bytes());
            }
        }
    });
    text
}

/// Makes a value of JSON, and notes where its parts come from if it is odd.
pub(crate) fn parse<'js>(
    ctx: &Ctx<'js>,
    state: &RefCell<RunState>,
    noting: &Function<'js>,
    json: &Rc<[u8]>,
) -> rquickjs::Result<Value<'js>> {
    let value = ctx.json_parse(&json[..])?;
    if origin::is_odd(json) {
        let text = state.borrow().texts.len();
        let mut origins = std::mem::take(&mut state.borrow_mut().origins);
        let noted = origin::note(noting, &value, (text, json, Raw::new(json)), &mut origins);
        let mut state = state.borrow_mut();
        state.origins = origins;
        state.texts.push(json.clone());
        noted?;
    }
    Ok(value)
}

/// What the library says when there is no memory left.
const OUT_OF_MEMORY: &str = "out of memory";

/// Why a script failed, and the column of the place in the text that was compiled; 0: unknown.
fn error_at(ctx: &Ctx<'_>, shared: &Shared, failure: Failure) -> (Error, u32) {
    let thrown = match failure {
        Failure::Refused(error) => return (error, 0),
        Failure::Engine(rquickjs::Error::Exception) => ctx.catch(),
        Failure::Engine(rquickjs::Error::Allocation) => {
            return (Error::Limit { message: OUT_OF_MEMORY.to_owned() }, 0);
        }
        Failure::Engine(error) => return (Error::Thrown { message: error.to_string(), line: 0 }, 0),
    };
    if let Some(error) = shared.watchdog.ended() {
        return (error, 0);
    }
    let text = |value: &Value<'_>| value.as_string().and_then(|text| text.to_string().ok());
    let Some(object) = thrown.as_object() else {
        let message = match (text(&thrown), thrown.as_number()) {
            (Some(text), _) => text,
            (None, Some(number)) => number.to_string(),
            (None, None) => thrown.as_bool().map_or_else(|| thrown.type_name().to_owned(), |value| value.to_string()),
        };
        return (Error::Thrown { message, line: 0 }, 0);
    };
    let member = |name: &str| object.get::<_, Value<'_>>(name).ok().as_ref().and_then(text);
    let message = member("message").or_else(|| {
        let json = ctx.json_stringify(object.clone()).ok().flatten();
        json.and_then(|json| json.to_string().ok())
    });
    let message = message.unwrap_or_else(|| "an object".to_owned());
    if message == OUT_OF_MEMORY {
        let memory = shared.state.borrow().documents.len();
        let message = format!("The script ran out of memory ({memory} documents were at hand)");
        return (Error::Limit { message }, 0);
    }
    let (line, column) = member("stack").as_deref().and_then(place_of).unwrap_or_default();
    (Error::Thrown { message, line }, column)
}

/// The first line of the script in a list of calls, and the column: `at f (eval_script:3:5)`.
fn place_of(stack: &str) -> Option<(u32, u32)> {
    let (_, place) = stack.split_once("eval_script:")?;
    let mut numbers = place.split(|character: char| !character.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next().and_then(Result::ok).unwrap_or(0)))
}

/// What the library says of a value that is called and is none, without the name of the value.
const NOT_A_FUNCTION: &str = "not a function";

/// The name of what is called at a place of the text that was compiled: the engine gives the place of the last member before the call.
fn called_at(text: &str, line: u32, column: u32) -> Option<&str> {
    let line = text.lines().nth(line.checked_sub(1)? as usize)?;
    let (at, _) = line.char_indices().nth(column.checked_sub(1)? as usize)?;
    // A plain name is compiled as `(name ?? __c.call)`.
    let name = match line[..at].trim_end_matches('.').strip_suffix(" ?? __c") {
        Some(before) => &before[before.rfind('(')? + 1..],
        None => line[at..].trim_start_matches('.'),
    };
    let name = &name[..name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(name.len())];
    (!name.is_empty()).then_some(name)
}
