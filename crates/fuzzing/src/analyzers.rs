//! Analyzers in C#: any file is refused or becomes a chain. All words that it gives of a text stand in the text.

use query::analysis::{Analyzer, CustomAnalyzer};

const TEXT: &str = "It's the a's: I.B.M. O'Reilly's wi-fi, Größe ABC_def 3.14 running 日本 ẞ \u{1f600}";

/// A file that declares a class `My`, perhaps.
pub(crate) fn analyzers(input: &[u8]) {
    let Ok(code) = std::str::from_utf8(input) else { return };
    match CustomAnalyzer::compile("My", code) {
        Err(refused) => assert!(!refused.to_string().is_empty()),
        Ok(custom) => {
            assert_eq!(CustomAnalyzer::compile("My", code).as_ref(), Ok(&custom));
            let analyzer = Analyzer::Custom(custom.chain().clone());
            let Ok(()) = analyzer.words::<std::convert::Infallible>(TEXT, &mut |word| {
                assert!(!word.text.is_empty() && TEXT.get(word.place).is_some(), "{code}");
                Ok(())
            });
            let _ = analyzer.query_word_parts(TEXT);
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let class = |base: &str, members: &str| {
        format!("using System.IO;\nnamespace A {{ public class My : {base} {{ {members} }} }}").into_bytes()
    };
    let method = |body: &str| format!("public override TokenStream TokenStream(string f, TextReader r) {{ {body} }}");
    vec![
        class(
            "StandardAnalyzer",
            &format!(
                "public My() : base(Version.LUCENE_30, new HashSet<string> {{ \"a\" }}) {{ }} {}",
                method("return new ASCIIFoldingFilter(base.TokenStream(f, r));")
            ),
        ),
        class(
            "Analyzer",
            &method(
                "var t = new StandardTokenizer(Version.LUCENE_30, r); TokenStream s = new StandardFilter(t); \
             s = new LengthFilter(new LowerCaseFilter(s), 2, 9); return new PorterStemFilter(s);",
            ),
        ),
        class(
            "Analyzer",
            &format!(
                "static readonly ISet<string> Stops = StopFilter.MakeStopSet(new[] {{ \"x\", @\"y\" }}, true); {}",
                method("return new StopFilter(true, new KeywordTokenizer(r, 256), this.Stops, false);")
            ),
        ),
        class("KeywordAnalyzer", ""),
    ]
}
