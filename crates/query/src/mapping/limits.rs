//! What a definition and its evaluation may not exceed.

use std::time::Duration;

/// Bytes of the text of one map or reduce.
pub const DEFINITION_SIZE_MAX: usize = 64 * 1024;

/// How often the parser reports progress, after each hundred of its steps, before it is stopped. A definition of the greatest size
/// takes some 2,500.
pub(crate) const PARSER_REPORT_COUNT_MAX: usize = 8_000;

/// Errors after which the parser is stopped. It mends each to find more, in steps that become slow without a bound: 8 KiB of `!>` took
/// it 10 s.
pub(crate) const PARSER_ERROR_COUNT_MAX: usize = 8;

/// Each `<` and each `is`: the parser follows several readings of what comes behind, and remembers all of them. 6,000 of them in a row
/// took 600 MB.
pub(crate) const PARSER_FORK_COUNT_MAX: usize = 256;

/// Expressions inside of one another, as they are written. Each level is one of the stack, in compiling and in evaluating.
pub const EXPRESSION_DEPTH_MAX: usize = 200;

/// Expressions of one definition: what its tree takes in memory.
pub const EXPRESSION_COUNT_MAX: usize = 32 * 1024;

/// Variables of one definition: all `from`, `let` and parameters.
pub const VARIABLE_COUNT_MAX: usize = 4 * 1024;

/// Loops inside of one another in one sequence: `from`, `SelectMany`. Each is a level of the stack.
pub const LOOP_COUNT_MAX: usize = 64;

/// Steps that mapping one document, or reducing one group, may take: elements visited and values made. Nested `SelectMany`
/// multiplies; beyond this it is an error of the document.
pub const STEP_COUNT_MAX: usize = 4 * 1024 * 1024;

/// Steps between two questions whether the evaluation is to go on: some hundred microseconds.
pub(crate) const STEPS_PER_CHECK: usize = 4 * 1024;

/// Steps that a reduce in JavaScript may take for each value of a group, beyond those that any script may.
pub(crate) const SCRIPT_REDUCE_STEPS_PER_VALUE: u64 = 100;

/// How long a reduce in JavaScript may take for one group: a million small values take some seconds.
pub(crate) const SCRIPT_REDUCE_TIME_MAX: Duration = Duration::from_secs(10);

/// Bytes that a reduce in JavaScript may hold, all values of a group among them.
pub(crate) const SCRIPT_REDUCE_MEMORY_MAX: usize = 256 * 1024 * 1024;

/// Bytes of one text that a map makes, for instance by `PadLeft` or `Replace`.
pub const TEXT_SIZE_MAX: usize = 16 * 1024 * 1024;

/// Regular expressions that an evaluation keeps compiled, of patterns that are known only at run time.
pub(crate) const PATTERN_COUNT_MAX: usize = 16;

/// Bytes that one compiled regular expression may take.
pub(crate) const PATTERN_SIZE_MAX: usize = 1024 * 1024;
