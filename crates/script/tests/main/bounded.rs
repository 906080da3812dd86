//! Scripts that go on for minutes or hours without a loop that counts: straight lines of slow operators, and functions of the library that
//! go through much. Each ends at its limit of time, or because its caller says so.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rookery_script::*;

/// A run's limit here.
const TIME: Duration = Duration::from_millis(150);

/// How long a run may take before it counts as one without a bound. How late each is, in milliseconds, is told with `SHOW_TIMES=1`.
const FAR_TOO_LONG: Duration = Duration::from_secs(60);

fn run(script: &str) -> Result<Outcome, Error> {
    let limits = Limits { time: TIME, steps: 1 << 40, ..Limits::default() };
    let program = Program::new("", &["args"], Body::Statements(script), limits)?;
    program.run(&Run { arguments: &[Input::Json(b"{}")], ..Run::default() }, &mut NoHost)
}

/// On a machine under load, the engine alone may take longer to start than a run may last: that is no fault of the host.
#[test]
fn a_limit_of_time_does_not_end_the_start_of_the_engine() {
    let limits = Limits { time: Duration::ZERO, ..Limits::default() };
    // Its clock ticks during one start in ten or so.
    for _ in 0..200 {
        let program = Program::new("", &["args"], Body::Statements("args.a = 1"), limits).unwrap();
        let outcome = program.run(&Run { arguments: &[Input::Json(b"{}")], ..Run::default() }, &mut NoHost);
        assert!(matches!(outcome, Ok(_) | Err(Error::Limit { .. })), "{outcome:?}");
    }
}

/// `line`, so often that its script is nearly as large as one may be, behind `before`.
fn straight(before: &str, line: &str) -> String {
    let count = (SCRIPT_SIZE_MAX - before.len()) / line.len() - 1;
    format!("{before}{}", line.repeat(count))
}

/// Scripts, none of which has a loop that counts turns for long.
fn scripts() -> Vec<String> {
    let digits = "let x, s = '9'.repeat(2e7), t = '9'.repeat(2e7 - 1) + '8';";
    let big = "let x, b = 3n ** 600000n, c = b + 1n;";
    let mut scripts: Vec<String> = [
        (digits, "x=+s;"),
        (digits, "x=-s;"),
        (digits, "x=s*1;"),
        (digits, "x=s|0;"),
        (digits, "x=~s;"),
        (digits, "x=s==t;"),
        (digits, "x=s===t;"),
        (digits, "x=s<t;"),
        (digits, "x=s==1;"),
        (digits, "x=(s+1)[0]+1;"),
        (digits, "x=args[s];"),
        (digits, "x=s in args;"),
        (digits, "x=args[s+t];"),
        (digits, "x=parseInt(s);"),
        (digits, "x=s.trim();"),
        (digits, "x=s.at(1);"),
        (digits, "x=[s]+t;"),
        (digits, "x=`${s}${t}`==1;"),
        (digits, "switch(s){case t:}"),
        (big, "x=b*b;"),
        (big, "x=b/3n;"),
        (big, "x=b+c;"),
        (big, "x=b==c;"),
        (big, "x=b===c;"),
        (big, "x=-b;"),
        (big, "x=~b;"),
        (big, "x=b&c;"),
        (big, "x=b<<1n;"),
        (big, "x=b+'';"),
        (big, "x=b%c;"),
        ("let x;", "x=3n**600000n;"),
        ("let x, s = '7'.repeat(3e5);", "x=1n<s;"),
        ("let x, a = new Array(1e6).fill(1);", "x=[...a];"),
        ("let x, a = new Array(6e4).fill(1), f = () => 1;", "f(...a);"),
        ("let x, o = {}; new Array(1e5).fill(1).forEach((_, i) => o['p' + i] = i);", "x={...o};"),
        ("let x, o = {}; new Array(1e5).fill(1).forEach((_, i) => o['p' + i] = i);", "for(x in o)break;"),
        ("let a = {}; new Array(1e5).fill(1).forEach(() => a = { __proto__: a });", "a.x;"),
        ("let a = {}; new Array(1e5).fill(1).forEach(() => a = { __proto__: a });", "'x'in a;"),
        ("let a = {}; new Array(1e5).fill(1).forEach(() => a = Object.create(a));", "a.x=1;delete a.x;"),
        (
            "let a = []; a[4e9] = 1; new Array(1e5).fill(1).forEach((_, i) => a['p' + i] = i); let n = 4e9;",
            "a.length=--n;",
        ),
        ("", "try{null.x}catch{}"),
        ("", "try{throw Error()}catch{}"),
        ("let x;", "x=/(a*)*b/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');"),
        ("let x, s = 'a'.repeat(1e7);", "x=/b/.test(s);"),
        ("let x, d = new Date();", "x=d+d+d;"),
        ("let x, a = ['1'.repeat(1e7)];", "x=+a;"),
        ("let x, a = { toString() { return '1'.repeat(3e7) } };", "x=+a;"),
        ("let x, a = { get x() { return '1'.repeat(3e7) } };", "x=+a.x;"),
    ]
    .iter()
    .map(|(before, line)| straight(before, line))
    .collect();
    scripts.extend(
        [
            "let s = '\\u0316\\u0301'.repeat(1e6); s.normalize('NFD')",
            "let s = '\\u0301\\u0316'.repeat(1e6); s.localeCompare('x')",
            "'\\u1e9b\\u0323'.repeat(1e6).normalize('NFKC')",
            "let s = '9'.repeat(1e7); new Array(1e6).fill(s).indexOf(s.slice(1) + '8')",
            "let s = '9'.repeat(1e7); new Array(1e6).fill(s).lastIndexOf(s.slice(1) + '8')",
            "let s = '9'.repeat(1e7); new Array(1e6).fill(s).includes(s.slice(1) + '8')",
            "let s = '9'.repeat(1e7), t = s.slice(1) + '8'; new Array(1e5).fill(1).map((_, i) => i % 2 ? s : t).sort()",
            "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
            "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
            "Array.prototype.join.call({ length: 2 ** 53 - 1 }, '')",
            "Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1)",
            "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
            "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 2)",
            "Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1)",
            "Array.prototype.splice.call({ length: 2 ** 53 - 2 }, 0, 1)",
            "Array.prototype.shift.call({ length: 2 ** 53 - 2 })",
            "Array.prototype.slice.call({ length: 2 ** 31 })",
            "Array.prototype.concat.call([], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })",
            "Array.prototype.flat.call({ length: 2 ** 53 - 1 })",
            "Array.prototype.sort.call({ length: 2 ** 53 - 1 })",
            "Array.prototype.toSorted.call({ length: 2 ** 31 })",
            "Array.prototype.with.call({ length: 2 ** 31 }, 0, 1)",
            "Array.prototype.toReversed.call({ length: 2 ** 31 })",
            "Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true)",
            "Array.prototype.reduce.call({ length: 2 ** 53 - 1 }, () => true)",
            "Array.prototype.findLast.call({ length: 2 ** 53 - 1 }, () => false)",
            "Array.prototype.at.call({ length: 2 ** 53 - 1 }, 1); Array.from({ length: 2 ** 53 - 1 })",
            "Array.prototype.toString.call({ length: 2 ** 53 - 1, join: Array.prototype.join })",
            "Array.prototype.toLocaleString.call({ length: 2 ** 53 - 1 })",
            "String.raw({ raw: { length: 2 ** 53 - 1 } })",
            "Math.max.apply(null, { length: 2 ** 32 - 1 })",
            "JSON.stringify({}, { length: 2 ** 53 - 1, __proto__: Array.prototype })",
            "let a = new Array(3e5).fill(1).map((_, i) => 'p' + i); JSON.stringify({}, a)",
            "let a = []; for (let i = 0; i < 30; i++) a = new Array(1000).fill(a); a.flat(Infinity)",
            "let a = {}; for (let i = 0; i < 40; i++) a = { a, b: a }; JSON.stringify(a)",
            "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; '' + a",
            "let a = {}; for (let i = 0; i < 40; i++) a = { a, b: a }; return a",
            "let a = 1; for (let i = 0; i < 40; i++) a = [a, a, a, a]; return a",
            "let s = 'a'.repeat(2e7); s.indexOf('a'.repeat(1e7) + 'b')",
            "let s = 'a'.repeat(2e7); s.lastIndexOf('b' + 'a'.repeat(1e7))",
            "let s = 'a'.repeat(2e7); s.includes('a'.repeat(1e7) + 'b')",
            "let s = 'a'.repeat(2e7); s.split('a'.repeat(1e7) + 'b')",
            "let s = 'a'.repeat(2e7); s.replaceAll('a'.repeat(1e7) + 'b', '')",
            "new RegExp('[' + 'abcdefgh'.repeat(2e6) + ']', 'i')",
            "let s = ''; for (let i = 0; i < 60000; i++) s += String.fromCharCode(i * 2 + 93 & 65535); new RegExp('[' + s.replace(/[\\]\\[\\\\^-]/g, '') + ']', 'iu')",
            "new RegExp('a' + '|'.repeat(2e6))",
            "new RegExp('(?<=' + 'a'.repeat(2e6) + ')')",
            "new RegExp('(a)' + '\\\\2'.repeat(1e6))",
            "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))",
            "/(?:(?:a*)*)*b/.test('a'.repeat(1e6))",
            "/^(a?){100}a{100}$/.test('a'.repeat(100))",
            "'a'.repeat(1e6).replace(/a*b/g, '')",
            "'a'.repeat(2e7).match(/a/g)",
            "[...'a'.repeat(2e7).matchAll(/a/g)]",
            "'a'.repeat(3e7).split('')",
            "'a'.repeat(3e7).split(/(?:)/)",
            "'\\u0130'.repeat(5e6).toLowerCase().toUpperCase().toLowerCase()",
            "'\\u03a3'.repeat(1e7).toLowerCase()",
            "(\"'\".repeat(1e7) + '\\u03a3').repeat(2).toLowerCase()",
            "encodeURIComponent('\\u20ac'.repeat(5e6))",
            "decodeURIComponent('%E2%82%AC'.repeat(3e6))",
            "escape('\\u20ac'.repeat(5e6)); unescape('%u20ac'.repeat(5e6))",
            "BigInt('7'.repeat(3e5)) * BigInt('7'.repeat(3e5))",
            "(3n ** 600000n).toString(3)",
            "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
            "JSON.parse('[' + '[],'.repeat(5e5) + '1]')",
            "JSON.parse('[' + '1,'.repeat(5e5) + '1]', (k, v) => v)",
            "JSON.stringify('\\u0001'.repeat(9e6))",
            "let s = new Set(); for (let i = 0; i < 3e5; i++) s.add('x' + i); for (let i = 0; i < 1e5; i++) s = s.union(new Set([i]))",
            "let m = new Map(); for (let i = 0; i < 3e5; i++) m.set(i, i); for (;;) [...m]",
            "let s = '9'.repeat(1e7); new Set(new Array(1e6).fill(s))",
            "let s = '9'.repeat(1e7); Object.groupBy(new Array(1e6).fill(s), x => x)",
            "let s = '9'.repeat(1e7); Object.fromEntries(new Array(1e5).fill([s, 1]))",
            "let s = '9'.repeat(1e7); new Array(1e6).fill(s).map(Number)",
            "let s = '9'.repeat(1e7); new Array(1e6).fill(s).some(parseFloat)",
            "let s = '9'.repeat(1e7); new Array(1e6).fill({ valueOf: () => s }).sort((a, b) => a - b)",
            "let o = {}; Object.defineProperties(o, Object.getOwnPropertyDescriptors(new Array(1e5).fill(1)))",
            "let o = new Array(1e5).fill(1); for (;;) Object.freeze(o.slice())",
            "let o = new Array(3e5).fill(1); for (;;) Object.assign({}, o)",
            "let o = new Array(3e5).fill(1); for (;;) Object.entries(o)",
            "let e; for (;;) try { null.x } catch (x) { e = x.stack }",
            "Error.stackTraceLimit = 1e9; let f = n => n ? f(n - 1) : Error().stack; for (;;) f(200)",
            "let i = (function* () { for (;;) yield 1 })(); new Map(i.map(x => [x, x]))",
            "let i = (function* () { for (;;) yield 1 })(); i.drop(1e15).next()",
            "let i = [].values(); let n = { next: () => ({ done: false }), [Symbol.iterator]() { return this } }; [...n]",
            "let n = { next: () => ({ done: false }), [Symbol.iterator]() { return this } }; [] = n; let [a, ...b] = n",
            "Date.parse('1'.repeat(3e7)); for (;;) Date.parse(' '.repeat(3e7))",
            "for (;;) 'x'.padStart(3e7, 'abc').trimStart().isWellFormed()",
            "for (;;) 'x'.repeat(3e7).concat('y').charCodeAt(3e7)",
            "let s = ''; for (;;) { s += 'xxxxxxxxxxxxxxxxxx'; s[0] }",
            "(1e21 + 7).toString(36); for (;;) (5e-324).toString(2)",
        ]
        .map(str::to_owned),
    );
    // What takes long to compile.
    let list = |count: usize, part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<String>();
    let names = |count| list(count, &|at| format!("a{at},"));
    scripts.extend([
        format!("let {}z;{}", names(50_000), list(50_000, &|at| format!("a{at};"))),
        format!("let {}z;{}", names(20_000), list(60_000, &|at| format!("()=>a{};", at % 20_000))),
        format!("let {}z;()=>{{{}}}", names(50_000), list(50_000, &|at| format!("a{at};"))),
        format!("let {}z;{}", names(30_000), "eval('1');".repeat(60_000)),
        format!("let {{{}z}}=args", names(60_000)),
        format!("(class{{{}}})", list(60_000, &|at| format!("#p{at};"))),
        format!(
            "(class{{{}f(){{{}}}}})",
            list(40_000, &|at| format!("#p{at};")),
            list(40_000, &|at| format!("this.#p{at};"))
        ),
        format!("/{}/iu", "[a-z\\p{L}]".repeat(60_000)),
        format!("{}n", "7".repeat(300_000)),
        format!("{}1{}", "(".repeat(250), ")".repeat(250)).repeat(2_000),
    ]);
    scripts
}

#[test]
fn every_script_ends_at_its_limit() {
    // All of them at night; each third for each change.
    for script in scripts().into_iter().step_by(testing::effort::choose(3, 1)) {
        let begun = Instant::now();
        let outcome = run(&script);
        let took = begun.elapsed();
        let shown: String = script.chars().take(100).collect();
        // `SHOW_TIMES=1 cargo test -p rookery-script --test main bounded:: -- --nocapture` shows how late each is.
        if std::env::var_os("SHOW_TIMES").is_some() {
            println!("{took:>9.1?} {shown} -> {:?}", outcome.err().map(|error| error.to_string()));
        }
        assert!(took < FAR_TOO_LONG, "{took:?}: {shown}");
    }
}

#[test]
fn a_caller_that_is_gone_stops_a_run() {
    let far_away = Limits { time: Duration::from_secs(3600), steps: 1 << 40, ..Limits::default() };
    let slow = straight("let x, s = '9'.repeat(2e7);", "x=+s;");
    for script in ["for (;;) {}", &slow, "let a = 1; for (let i = 0; i < 40; i++) a = [a, a, a, a]; return a"] {
        let program = Program::new("", &[], Body::Statements(script), far_away).unwrap();
        let asked = Rc::new(Cell::new(0));
        let times = asked.clone();
        let stop: Stop = Rc::new(move || times.replace(times.get() + 1) >= 3);
        let outcome = stoppable(stop, || program.run(&Run::default(), &mut NoHost));
        assert_eq!(outcome, Err(Error::Stopped), "{script:.60}");
        assert!(asked.get() > 3, "{script:.60}");
        // Outside of it nothing is stopped, and nothing is left of the run.
        let after = Program::new("", &[], Body::Expression("1 + 1"), far_away).unwrap();
        assert_eq!(after.run(&Run::default(), &mut NoHost).unwrap().json, b"2");
    }
}

#[test]
fn a_run_begins_after_the_clock_has_slept() {
    // In a process in which no other run keeps the clock awake.
    testing::process::alone(|| {
        for _ in 0..2 {
            let begun = Instant::now();
            let outcome = run(&straight("let x, s = '9'.repeat(2e7);", "x=+s;"));
            assert!(matches!(outcome, Err(Error::Limit { .. })), "{outcome:?}");
            assert!(begun.elapsed() < FAR_TOO_LONG);
            // The clock's thread sleeps a second after the last run: the second run has to wake it.
            std::thread::sleep(Duration::from_millis(1500));
        }
    });
}

/// The process stands still for longer than a run may take, as on a machine that is overloaded or paused. It is no run's fault.
#[test]
#[cfg(unix)]
fn a_run_is_not_ended_for_time_that_it_did_not_have() {
    testing::process::alone(|| {
        let pauses = "for n in 1 2 3; do sleep 0.1; kill -STOP $0; sleep 0.4; kill -CONT $0; done";
        let mut pausing =
            std::process::Command::new("sh").args(["-c", pauses, &std::process::id().to_string()]).spawn().unwrap();
        while pausing.try_wait().unwrap().is_none() {
            run("let sum = 0; for (let i = 0; i < 100000; i++) sum += i; args.sum = sum").unwrap();
        }
    });
}
