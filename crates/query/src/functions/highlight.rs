//! `include highlight(field, length, count[, options])`: the parts of a field's text that have words of the query, with tags around those.

use super::{Argument, Function, Kind, Use};
use crate::limits::{HIGHLIGHT_FRAGMENTS_MAX, HIGHLIGHT_LENGTH_MIN, HIGHLIGHTS_MAX};
use crate::plan::{FieldUse, Options, Parameters, Planner, Refused};
use crate::rql::{Call, Expression, Query, Value};
use json::Value as Json;

pub(super) static HIGHLIGHT: Function = Function {
    name: "highlight",
    aliases: &[],
    arguments: &[
        Argument::required("field", Kind::Field),
        Argument::required("length", Kind::WholeNumber),
        Argument::required("count", Kind::WholeNumber),
        Argument::optional("options", Kind::Options),
    ],
    about: "Answers with `Highlightings`: of each result some fragments of the field's text, of about that length, in which the words of the query stand between tags.",
    example: "from Employees where search(Notes, 'psychology') include highlight(Notes, 128, 3)",
    // It needs fields of the index, so that it is planned with those: `plan` below.
    uses: &[Use::Include(|_, _, _| Ok(()))],
    missing: &[],
};

/// A field whose words are marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Highlight {
    /// The field.
    pub field: FieldUse,
    /// Characters of a fragment, tags not counted: at least [`HIGHLIGHT_LENGTH_MIN`].
    pub length: usize,
    /// How many fragments of each result.
    pub count: usize,
    /// The field by whose value results are named; `None`: by their ids.
    pub group_key: Option<String>,
    /// What stands around words.
    pub tags: Tags,
}

/// What stands around words: a pair for each word, phrase or wildcard of the query, the first again after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Tags {
    /// Before them; never empty.
    before: Vec<String>,
    /// Behind them; as many, or one for all.
    behind: Vec<String>,
}

/// Those of Lucene.
const COLORS: [&str; 20] = [
    "yellow",
    "lawngreen",
    "aquamarine",
    "magenta",
    "palegreen",
    "coral",
    "wheat",
    "khaki",
    "lime",
    "deepskyblue",
    "deeppink",
    "salmon",
    "peachpuff",
    "violet",
    "mediumpurple",
    "palegoldenrod",
    "darkkhaki",
    "springgreen",
    "turquoise",
    "powderblue",
];

impl Tags {
    /// `<b style="background:yellow">..</b>`, and other colors for other words.
    fn colors() -> Tags {
        Tags {
            before: COLORS.iter().map(|color| format!("<b style=\"background:{color}\">")).collect(),
            behind: vec!["</b>".to_owned()],
        }
    }

    /// What stands before and behind the words of a number.
    pub fn of(&self, number: usize) -> (&str, &str) {
        let [before, behind] = [&self.before, &self.behind].map(|tags| tags.get(number % tags.len().max(1)));
        (before.map_or("", String::as_str), behind.map_or("", String::as_str))
    }
}

/// The fields that a query wants to be highlighted.
pub(crate) fn plan(query: &Query<'_>, planner: &mut Planner<'_>) -> Result<Vec<Highlight>, Refused> {
    let mut highlights: Vec<Highlight> = Vec::new();
    for include in &query.include {
        let Some(call) = highlight(include) else { continue };
        if planner.is_grouping() {
            return Err(Refused::Invalid("Dynamic group by queries cannot have highlighting.".to_owned()));
        }
        let highlight = of(call, planner)?;
        let is_same = |other: &Highlight| {
            other.field.name.path == highlight.field.name.path && other.group_key == highlight.group_key
        };
        if highlights.iter().any(is_same) {
            let message = "Multiple highlightings for the same field and group key are not supported.";
            return Err(Refused::Invalid(message.to_owned()));
        }
        if highlights.len() >= HIGHLIGHTS_MAX {
            let message = format!("the calls of highlight() exceed the limit HIGHLIGHTS_MAX = {HIGHLIGHTS_MAX}");
            return Err(Refused::Invalid(message));
        }
        highlights.push(highlight);
    }
    Ok(highlights)
}

/// The call, if an include is one.
fn highlight<'e, 'q>(include: &'e Expression<'q>) -> Option<&'e Call<'q>> {
    match include {
        Expression::Call(call) if HIGHLIGHT.is(&call.name) => Some(call),
        _ => None,
    }
}

fn of(call: &Call<'_>, planner: &mut Planner<'_>) -> Result<Highlight, Refused> {
    let wrong = || Refused::Invalid("Method 'highlight()' expects three or four arguments to be provided".to_owned());
    let (field, length, count, options) = match call.arguments.as_slice() {
        [field, Expression::Value(length), Expression::Value(count)] => (field, length, count, None),
        [field, Expression::Value(length), Expression::Value(count), Expression::Value(options)] => {
            (field, length, count, Some(options))
        }
        _ => return Err(wrong()),
    };
    let parameters = planner.parameters;
    let length = whole(length, parameters, "FragmentLength")?;
    if length < i64::try_from(HIGHLIGHT_LENGTH_MIN).unwrap_or(i64::MAX) {
        let message = format!("fragCharSize({length}) is too small. It must be {HIGHLIGHT_LENGTH_MIN} or higher.");
        return Err(Refused::Invalid(message));
    }
    let count = whole(count, parameters, "FragmentCount")?;
    let count = match usize::try_from(count) {
        Ok(count @ ..=HIGHLIGHT_FRAGMENTS_MAX) => count,
        Ok(_) => {
            let limit = format!("the limit HIGHLIGHT_FRAGMENTS_MAX = {HIGHLIGHT_FRAGMENTS_MAX}");
            return Err(Refused::Invalid(format!("{count} fragments of highlight() exceed {limit}")));
        }
        Err(_) => return Err(Refused::Invalid(format!("FragmentCount({count}) must be 0 or more"))),
    };
    let options = Options::of(HIGHLIGHT.name, options, parameters)?;
    Ok(Highlight {
        length: usize::try_from(length).unwrap_or(usize::MAX),
        count,
        group_key: options.text("GroupKey").map(str::to_owned),
        tags: tags(&options)?,
        field: planner.highlighted_field(field)?,
    })
}

fn whole(value: &Value<'_>, parameters: Parameters<'_>, name: &str) -> Result<i64, Refused> {
    let number = parameters.scalar(value)?.number().and_then(|text| text.parse::<i32>().ok());
    number.map(i64::from).ok_or_else(|| Refused::Invalid(format!("{name} needs to be a whole number")))
}

fn tags(options: &Options) -> Result<Tags, Refused> {
    let [before, behind] = ["PreTags", "PostTags"].map(|name| match options.get(name) {
        None => Ok(Vec::new()),
        Some(Json::Array(tags)) if tags.len() <= HIGHLIGHT_FRAGMENTS_MAX => {
            let tags = tags.iter().map(|tag| tag.as_str().map(str::to_owned));
            tags.collect::<Option<Vec<String>>>().ok_or_else(|| options.wrong(name, "must be texts"))
        }
        Some(Json::Array(_)) => Err(options.wrong(name, "are too many")),
        Some(_) => Err(options.wrong(name, "must be texts")),
    });
    let (before, behind) = (before?, behind?);
    match (before.is_empty(), before.len() == behind.len()) {
        (_, false) => Err(Refused::Invalid("Number of pre-tags and post-tags must match.".to_owned())),
        (true, true) => Ok(Tags::colors()),
        (false, true) => Ok(Tags { before, behind }),
    }
}
