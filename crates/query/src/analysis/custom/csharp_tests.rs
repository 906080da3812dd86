//! Classes in C# that are served, and those that are not.

use super::*;
use crate::analysis::Analyzer;

/// A class `My` that derives from `base`, with `members`.
fn class(base: &str, members: &str) -> String {
    format!(
        "using System.IO; using System.Collections.Generic;\nusing Lucene.Net.Analysis; using Lucene.Net.Analysis.Standard;\n\
         namespace Some.Where\n{{\n    public class My : {base}\n    {{\n        {members}\n    }}\n}}\n"
    )
}

/// A class whose `TokenStream` has this body.
fn analyzer(body: &str) -> String {
    class("Analyzer", &method(body))
}

fn method(body: &str) -> String {
    format!("public override TokenStream TokenStream(string fieldName, TextReader reader) {{ {body} }}")
}

fn words_of(code: &str, text: &str) -> Result<String, AnalyzerRefused> {
    let analyzer = Analyzer::Custom(CustomAnalyzer::compile("My", code)?.chain().clone());
    let mut words = Vec::new();
    let Ok(()) = analyzer.words::<std::convert::Infallible>(text, &mut |word| {
        assert!(text.get(word.place).is_some(), "{text}");
        words.push(word.text.to_owned());
        Ok(())
    });
    Ok(words.join("|"))
}

#[track_caller]
fn check(code: &str, text: &str, expected: &str) {
    assert_eq!(words_of(code, text).map_err(|refused| refused.to_string()), Ok(expected.to_owned()), "{code}");
}

/// The text that the class of the clients' tests is for.
const NAMES: &str = "Rogério and Paulo ROGÉRIO";
const TEXT: &str = "It's the a's: I.B.M. O'Reilly's wi-fi, Größe ABC_def john.doe@example.com 3.14";

/// What the suites of the clients send.
#[test]
fn an_analyzer_that_folds_what_the_standard_one_makes() {
    let code = class(
        "StandardAnalyzer",
        "public My()\n            : base(Lucene.Net.Util.Version.LUCENE_30)\n        {\n        }\n
         public override TokenStream TokenStream(string fieldName, TextReader reader)
         {
             return new ASCIIFoldingFilter(base.TokenStream(fieldName, reader));
         }",
    );
    check(&code, NAMES, "rogerio|paulo|rogerio");
    // As in the reference, a stop word without its `'s` is left out here.
    check(&code, TEXT, "ibm|o'reilly|wi|fi|grosse|abc|def|john.doe@example.com|3.14");
    check(&code, "", "");
}

/// The terms of the reference.
#[test]
fn tokenizers_cut_as_in_the_reference() {
    let standard = "new StandardTokenizer(Version.LUCENE_30, reader)";
    let of = |expression: &str| analyzer(&format!("return {expression};"));
    check(&of(standard), TEXT, "It's|the|a's|I.B.M.|O'Reilly's|wi|fi|Größe|ABC|def|john.doe@example.com|3.14");
    let filtered = format!("new StandardFilter({standard})");
    check(&of(&filtered), TEXT, "It|the|a|IBM|O'Reilly|wi|fi|Größe|ABC|def|john.doe@example.com|3.14");
    let lower = format!("new StandardFilter(new LowerCaseFilter({standard}))");
    check(&of(&lower), "Dog's I.B.M.", "dog|ibm");
    check(&of("new WhitespaceTokenizer(reader)"), "  A  b\tC# x1y2 ", "A|b|C#|x1y2");
    check(&of("new LetterTokenizer(reader)"), "A b\tC# x1y2", "A|b|C|x|y");
    check(&of("new LowerCaseTokenizer(reader)"), "A b\tC# x1y2", "a|b|c|x|y");
    check(&of("new KeywordTokenizer(reader)"), " A b ", " A b ");
    check(&of("new KeywordTokenizer(reader, 256)"), "", "");
}

#[test]
fn filters_change_words_and_leave_them_out() {
    let of = |expression: &str| analyzer(&format!("return {expression};"));
    let quick = "the The quick fox";
    check(&of("new LengthFilter(new WhitespaceTokenizer(reader), 2, 3)"), "a bc def ghij 𝄞", "bc|def|𝄞");
    check(&of("new PorterStemFilter(new LowerCaseTokenizer(reader))"), "Running relational", "run|relat");
    check(&of("new LowerCaseFilter(new ASCIIFoldingFilter(new KeywordTokenizer(reader)))"), "Übel ẞ", "ubel ss");
    let stop = |words: &str| of(&format!("new StopFilter(true, new WhitespaceTokenizer(reader), {words})"));
    check(&stop("StopAnalyzer.ENGLISH_STOP_WORDS_SET"), quick, "The|quick|fox");
    check(&stop("StopAnalyzer.ENGLISH_STOP_WORDS_SET, true"), quick, "The|quick|fox");
    check(&stop("new HashSet<string> { \"The\", \"fox\" }"), quick, "the|quick");
    check(&stop("new HashSet<string> { \"The\", \"fox\" }, true"), quick, "quick");
    check(&stop("new HashSet<string>(new[] { @\"fox\" })"), quick, "the|The|quick");
    check(&stop("new List<string>()"), quick, "the|The|quick|fox");
    check(&stop("StopFilter.MakeStopSet(\"The\", \"quick\")"), quick, "the|fox");
    check(&stop("StopFilter.MakeStopSet(new string[] { \"The\", \"quick\" }, true)"), quick, "fox");
    check(&stop("new CharArraySet(new[] { \"the\" }, true)"), quick, "quick|fox");
    check(&stop("new CharArraySet(new[] { \"the\" }, false), true"), quick, "The|quick|fox");
}

#[test]
fn analyzers_may_be_the_base_or_be_asked_for_their_stream() {
    let of_keyword =
        class("KeywordAnalyzer", &method("return new LowerCaseFilter(base.TokenStream(fieldName, reader));"));
    check(&of_keyword, "Ab Cd", "ab cd");
    check(&class("Lucene.Net.Analysis.KeywordAnalyzer", ""), "Ab Cd", "Ab Cd");
    let constructor = "public My() : base(Version.LUCENE_29, new HashSet<string> { \"fox\" }) { }";
    check(&class("StandardAnalyzer", constructor), "The fox's", "the");
    for (created, expected) in [
        ("StandardAnalyzer(Version.LUCENE_30)", "fox|x1"),
        ("WhitespaceAnalyzer()", "The|Fox|x1"),
        ("SimpleAnalyzer()", "the|fox|x"),
        ("StopAnalyzer(Version.LUCENE_30)", "fox|x"),
        ("KeywordAnalyzer()", "The Fox x1"),
    ] {
        check(&analyzer(&format!("return new {created}.TokenStream(fieldName, reader);")), "The Fox x1", expected);
    }
}

#[test]
fn statements_and_fields_name_what_is_used_later() {
    let statements =
        "var tokenizer = new StandardTokenizer(Version.LUCENE_30, reader);\nTokenStream result = tokenizer;
        result = new StandardFilter(result); ; result = new LowerCaseFilter(result);\nreturn (result);";
    check(&analyzer(statements), "The Fox's", "the|fox");
    let declared = "TokenStream result; result = new KeywordTokenizer(reader); return result;";
    check(&analyzer(declared), "The Fox", "The Fox");
    let fields = format!(
        "private static readonly ISet<string> Stops = new HashSet<string> {{ \"fox\" }}; // a comment\n{}",
        method("return new StopFilter(false, new LowerCaseTokenizer(reader), this.Stops);")
    );
    check(&class("Analyzer", &fields), "The Fox", "the");
    let arrow = "public override TokenStream TokenStream(string f, TextReader r) => new KeywordTokenizer(r);";
    check(&class("Analyzer", arrow), "The Fox", "The Fox");
    let file =
        "using Lucene.Net.Analysis;\nnamespace A;\n[System.Serializable] public sealed class My : KeywordAnalyzer { }";
    check(file, "The Fox", "The Fox");
}

#[test]
fn a_class_is_found_by_its_name_or_its_full_name() {
    let code = class("KeywordAnalyzer", "");
    for name in ["My", "Some.Where.My"] {
        assert_eq!(CustomAnalyzer::compile(name, &code).unwrap().name(), name);
    }
    for name in ["my", "Where.My", "Other", ""] {
        assert_eq!(CustomAnalyzer::compile(name, &code), Err(AnalyzerRefused::UnknownType(name.to_owned())));
    }
    let hidden = code.replace("public class", "class");
    assert_eq!(CustomAnalyzer::compile("My", &hidden), Err(AnalyzerRefused::UnknownType("My".to_owned())));
    let message = "Could not find type 'Other' in given assembly.";
    assert_eq!(CustomAnalyzer::compile("Other", &code).unwrap_err().to_string(), message);
}

/// What no compiler accepts.
#[test]
fn wrong_code_is_refused_with_its_place() {
    #[track_caller]
    fn check(code: &str, line: usize, message: &str) {
        match words_of(code, "") {
            Err(AnalyzerRefused::Compile { analyzer, error }) => {
                assert_eq!((analyzer.as_str(), error.line), ("My", line), "{code}: {error}");
                assert!(error.message.contains(message), "{code}: {error}");
            }
            other => panic!("{code}: {other:?}"),
        }
    }
    check("this is no c#", 1, "Syntax error");
    check("namespace X {\n public class My : KeywordAnalyzer {\n", 1, "Syntax error");
    check("public class My { }", 1, "does not derive");
    check(&class("Analyzer", ""), 5, "does not implement inherited abstract member");
    check(&class("WhitespaceAnalyzer", ""), 5, "cannot derive from sealed type 'WhitespaceAnalyzer'");
    check(&class("Foo", ""), 5, "'Foo' could not be found");
    check(&class("StandardAnalyzer", ""), 5, "'matchVersion'");
    check(&analyzer("return new FooFilter(base.TokenStream(fieldName, reader));"), 7, "abstract base member");
    check(&analyzer("return new FooFilter(new KeywordTokenizer(reader));"), 7, "'FooFilter' could not be found");
    check(&analyzer("return new LowerCaseFilter(stream);"), 7, "'stream' does not exist");
    check(&analyzer("TokenStream a;\nreturn a;"), 8, "unassigned local variable 'a'");
    check(&analyzer("return reader;"), 7, "TokenStream");
    check(&analyzer(""), 7, "not all code paths");
    check(&format!("{}Foo();", class("KeywordAnalyzer", "")), 10, "statements outside");
    let deep = format!("return {}new KeywordTokenizer(reader){};", "new LowerCaseFilter(".repeat(300), ")".repeat(300));
    check(&analyzer(&deep), 7, "inside of one another");
    let many =
        format!("TokenStream s = new KeywordTokenizer(reader);{} return s;", "s = new LowerCaseFilter(s);".repeat(65));
    check(&analyzer(&many), 7, "ANALYZER_FILTERS_MAX");
    let endless = format!(
        "static ISet<string> A = A; {}",
        method("return new StopFilter(true, new KeywordTokenizer(reader), A);")
    );
    check(&class("Analyzer", &endless), 7, "inside of one another");
    check(&"x".repeat(100_000), 1, "too long");
}

/// What a compiler accepts, and is not served: refused by its text and its line.
#[test]
fn other_forms_are_refused_by_name() {
    #[track_caller]
    fn check(code: &str, subject: &str) {
        match words_of(code, "") {
            Err(AnalyzerRefused::NotServed(missing)) => {
                let message = missing.to_string();
                assert!(message.contains(subject), "{code}: {message}");
                assert!(message.contains("of the analyzer 'My' (A class is served that derives from"), "{message}");
            }
            other => panic!("{code}: {other:?}"),
        }
    }
    let of = |expression: &str| analyzer(&format!("return {expression};"));
    check(&of("new CachingTokenFilter(new KeywordTokenizer(reader))"), "'CachingTokenFilter' in line 7");
    check(&of("new ISOLatin1AccentFilter(new KeywordTokenizer(reader))"), "'ISOLatin1AccentFilter' in line 7");
    check(&of("new ASCIIFoldingFilter()"), "'new ASCIIFoldingFilter()' in line 7");
    check(&of("new ASCIIFoldingFilter(\"x\")"), "'new ASCIIFoldingFilter(\"x\")' in line 7");
    check(&of("new LengthFilter(new KeywordTokenizer(reader), -1, 3)"), "-1");
    check(&of("new StandardTokenizer(Version.LUCENE_20, reader)"), "'Version.LUCENE_20' in line 7");
    check(
        &of("new StandardTokenizer(Version.LUCENE_30, reader) { MaxTokenLength = 3 }"),
        "'{ MaxTokenLength = 3 }' in line 7",
    );
    check(&of("fieldName == \"a\" ? new KeywordTokenizer(reader) : new LetterTokenizer(reader)"), "fieldName ==");
    check(&of("Make(reader)"), "'Make(reader)' in line 7");
    check(&of("null"), "'null' in line 7");
    check(&of("new KeywordTokenizer(reader: reader)"), "'reader: reader' in line 7");
    check(&analyzer("if (fieldName == null) return null;\nreturn new KeywordTokenizer(reader);"), "in line 7");
    check(&analyzer("foreach (var x in y) { }"), "foreach");
    check(&analyzer("var t = new KeywordTokenizer(reader);\nt.Reset();\nreturn t;"), "'t.Reset();' in line 8");
    check(
        &class("KeywordAnalyzer", "public override TokenStream ReusableTokenStream(string f, TextReader r) => null;"),
        "in line 7",
    );
    check(&class("KeywordAnalyzer", "public int X { get; set; }"), "'public int X { get; set; }' in line 7");
    check(&class("KeywordAnalyzer", "public My(int x) { }"), "'int x' in line 7");
    check(&class("KeywordAnalyzer", "private My() { }"), "'private My() { }' in line 7");
    let hiding = method("return new LetterTokenizer(reader);").replace("override ", "");
    check(&class("KeywordAnalyzer", &hiding), "'public TokenStream TokenStream(");
    check(&class("KeywordAnalyzer", "public My() { Foo(); }"), "Foo()");
    check(&class("KeywordAnalyzer, System.IDisposable", ""), "'System.IDisposable' in line 5");
    check(&class("PerFieldAnalyzerWrapper", ""), "'PerFieldAnalyzerWrapper' in line 5");
    check(&class("KeywordAnalyzer", "").replace("class My", "class My<T>"), "'<T>' in line 5");
    check(&class("KeywordAnalyzer", "").replace("public class", "public abstract class"), "abstract class");
    check(
        &class("KeywordAnalyzer", "").replace("using System.IO;", "using X = System.IO;"),
        "'using X = System.IO;' in line 1",
    );
    let own = format!("{}\npublic class Mine : TokenFilter {{ }}", of("new Mine(new KeywordTokenizer(reader))"));
    check(&own, "'Mine' in line 7");
    let comparer = "new StopFilter(true, new KeywordTokenizer(reader), new HashSet<string>(StringComparer.Ordinal))";
    check(&of(comparer), "StringComparer.Ordinal");
}
