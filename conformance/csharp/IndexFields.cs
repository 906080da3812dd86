// Options of fields, dynamic fields, and indexes in JavaScript.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Exceptions.Documents.Compilation;

public class IndexFields : LibraryTests
{
    private DocumentStore With(params AbstractIndexCreationTask[] indexes)
    {
        var store = Library();
        IndexCreation.CreateIndexes(indexes, store);
        WaitForIndexing(store);
        return store;
    }

    public class Books_Stored : AbstractIndexCreationTask<Book, Books_Stored.Entry>
    {
        public class Entry
        {
            public string Label { get; set; }
            public int Copies { get; set; }
            public string[] Publishers { get; set; }
            public DateTime Bought { get; set; }
            public string Title { get; set; }
        }

        public Books_Stored()
        {
            Map = books => from b in books
                           select new Entry { Label = b.Title + "!", Copies = b.Editions.Sum(x => x.Copies), Publishers = b.Editions.Select(x => x.Publisher).ToArray(), Bought = b.Bought, Title = b.Title + " (stored)" };
            Store(x => x.Label, FieldStorage.Yes);
            Store(x => x.Copies, FieldStorage.Yes);
            Store(x => x.Publishers, FieldStorage.Yes);
            Store(x => x.Bought, FieldStorage.Yes);
            Store(x => x.Title, FieldStorage.Yes);
        }
    }

    [Test]
    public void StoredFields()
    {
        using var store = With(new Books_Stored());
        using var session = store.OpenSession();
        var rows = session.Query<Books_Stored.Entry, Books_Stored>().Where(x => x.Copies > 3006).OrderBy(x => x.Copies).ProjectInto<Books_Stored.Entry>().ToList();
        var expected = Books.Where(x => x.Editions.Sum(e => e.Copies) > 3006).OrderBy(x => x.Editions.Sum(e => e.Copies));
        Assert.Sequence(rows.Select(x => $"{x.Label} {x.Copies} {string.Join(",", x.Publishers)} {x.Bought:O}"),
            expected.Select(x => $"{x.Title}! {x.Editions.Sum(e => e.Copies)} {string.Join(",", x.Editions.Select(e => e.Publisher))} {x.Bought:O}").ToArray());
    }

    [Test]
    public void WhereProjectionsComeFrom()
    {
        using var store = With(new Books_Stored());
        using var session = store.OpenSession();
        string Title(ProjectionBehavior behavior) => session.Query<Books_Stored.Entry, Books_Stored>().Customize(x => x.Projection(behavior).NoCaching())
            .Where(x => x.Label == "Tides!").Select(x => new { x.Title }).Single().Title;
        Assert.Equal("Tides (stored)", Title(ProjectionBehavior.Default));
        Assert.Equal("Tides (stored)", Title(ProjectionBehavior.FromIndex));
        Assert.Equal("Tides", Title(ProjectionBehavior.FromDocument));
        Assert.Throws<InvalidQueryException>(() => session.Query<Book, Books_Stored>().Customize(x => x.Projection(ProjectionBehavior.FromIndexOrThrow)).Select(x => x.Year).ToList());
    }

    public class Books_Analyzed : AbstractIndexCreationTask<Book>
    {
        public Books_Analyzed()
        {
            Map = books => from b in books select new { Exact = b.Title, Words = b.Title, Spaces = b.Title, Stop = b.Summary, Default = b.Title, Keyword = b.Title, Simple = b.Title };
            Index("Exact", FieldIndexing.Exact);
            Index("Words", FieldIndexing.Search);
            Analyze("Spaces", "WhitespaceAnalyzer");
            Index("Spaces", FieldIndexing.Search);
            Analyze("Stop", "StopAnalyzer");
            Index("Stop", FieldIndexing.Search);
            Analyze("Keyword", "KeywordAnalyzer");
            Index("Keyword", FieldIndexing.Search);
            Analyze("Simple", "SimpleAnalyzer");
            Index("Simple", FieldIndexing.Search);
        }
    }

    [Test]
    public void Analyzers()
    {
        using var store = With(new Books_Analyzed());
        using var session = store.OpenSession();
        string[] Found(string field, string value) => Ids(session.Advanced.DocumentQuery<Book, Books_Analyzed>().WhereEquals(field, value).ToList());
        string[] Searched(string field, string words) => Ids(session.Advanced.DocumentQuery<Book, Books_Analyzed>().Search(field, words).ToList());
        Assert.Set(Found("Exact", "On Maps"), "4");
        Assert.Set(Found("Exact", "on maps"));
        Assert.Set(Found("Default", "on MAPS"), "4");
        Assert.Set(Searched("Words", "maps"), "4");
        Assert.Set(Searched("Words", "MAPS tides"), "4", "9");
        Assert.Set(Searched("Spaces", "Maps"), "4");
        Assert.Set(Searched("Spaces", "maps"));
        Assert.Set(Searched("Stop", "valley"), "6");
        Assert.Set(Searched("Simple", "maps"), "4");
        Assert.Set(Searched("Keyword", "Tides"), "9");
        Assert.Set(Searched("Keyword", "Maps"));
    }

    [Test]
    public void Terms()
    {
        using var store = With(new Books_Analyzed());
        Assert.Sequence(store.Maintenance.Send(new GetTermsOperation("Books/Analyzed", "Exact", null, 3)), "Letters from Lisbon", "Light in Small Rooms", "Night Ferry");
        Assert.Sequence(store.Maintenance.Send(new GetTermsOperation("Books/Analyzed", "Default", "stones and rivers", 10)), "the long valley", "the quiet harbour", "tides");
        Assert.Sequence(store.Maintenance.Send(new GetTermsOperation("Books/Analyzed", "Simple", "s", 3)), "small", "stones", "the");
    }

    public class Books_Dynamic : AbstractIndexCreationTask<Book>
    {
        public Books_Dynamic()
        {
            Map = books => from b in books
                           select new
                           {
                               b.Year,
                               _ = b.Notes.Select(n => CreateField("note_" + n.Key, n.Value, new CreateFieldOptions { Storage = FieldStorage.Yes, Indexing = FieldIndexing.Exact })),
                               __ = b.Editions.Select(e => CreateField(e.Publisher, e.Copies)),
                           };
        }
    }

    [Test]
    public void DynamicFields()
    {
        using var store = With(new Books_Dynamic());
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Advanced.DocumentQuery<Book, Books_Dynamic>().WhereEquals("note_state", "worn").ToList()), "6", "8");
        Assert.Set(Ids(session.Advanced.DocumentQuery<Book, Books_Dynamic>().WhereGreaterThan("Polis", 3004).ToList()), "5", "8");
        Assert.Sequence(Ids(session.Advanced.DocumentQuery<Book, Books_Dynamic>().WhereExists("note_by").OrderByDescending("Year", OrderingType.Long).ToList()), "8", "6", "4", "2");
    }

    public class Books_Script : AbstractJavaScriptIndexCreationTask
    {
        public Books_Script()
        {
            Maps = new HashSet<string>
            {
                @"map('Books', function (b) {
                    var author = load(b.Author, 'Authors');
                    return b.Editions.map(function (e) { return { Writer: author.Name, Copies: e.Copies, Title: label(b.Title), Kind: b.Genre }; });
                })",
            };
            AdditionalSources = new Dictionary<string, string> { ["label"] = "function label(t) { return t.toUpperCase() + '!'; }" };
            Fields = new Dictionary<string, IndexFieldOptions> { ["Title"] = new() { Storage = FieldStorage.Yes }, ["Copies"] = new() { Storage = FieldStorage.Yes } };
        }
    }

    [Test]
    public void Scripts()
    {
        using var store = Library();
        new Books_Script().Execute(store);
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var rows = session.Advanced.RawQuery<Newtonsoft.Json.Linq.JObject>("from index 'Books/Script' where Writer = 'Ana Duarte' and Copies > 2000 order by Copies as long select Title, Copies").ToList();
        Assert.Sequence(rows.Select(x => $"{x["Title"]} {x["Copies"]}"), "LIGHT IN SMALL ROOMS! 2007", "NUMBERS WE TRUST! 2008", "NUMBERS WE TRUST! 3008");
    }

    public class Authors_Script : AbstractJavaScriptIndexCreationTask
    {
        public Authors_Script()
        {
            Maps = new HashSet<string>
            {
                "map('Books', b => ({ Author: b.Author, Books: 1, Pages: b.Pages, Born: null }))",
                "map('Authors', a => ({ Author: id(a), Books: 0, Pages: 0, Born: a.Born }))",
            };
            Reduce = @"groupBy(x => x.Author).aggregate(g => ({
                Author: g.key,
                Books: g.values.reduce((n, x) => n + x.Books, 0),
                Pages: g.values.reduce((n, x) => n + x.Pages, 0),
                Born: g.values.reduce((b, x) => b || x.Born, null) }))";
        }
    }

    public class AuthorResult
    {
        public string Author { get; set; }
        public int Books { get; set; }
        public long Pages { get; set; }
        public DateTime? Born { get; set; }
    }

    [Test]
    public void ScriptsOfGroups()
    {
        using var store = Library();
        new Authors_Script().Execute(store);
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var rows = session.Query<AuthorResult>("Authors/Script").OrderBy(x => x.Author).ToList();
        Assert.Sequence(rows.Select(x => $"{x.Author} {x.Books} {x.Pages} {x.Born:yyyy}"), "authors/1 3 831 1950", "authors/2 3 1248 1967", "authors/3 3 526 1981");
    }

    public class Books_Dynamic_Script : AbstractJavaScriptIndexCreationTask
    {
        public Books_Dynamic_Script()
        {
            Maps = new HashSet<string> { "map('Books', b => ({ _: Object.keys(b.Notes).map(k => createField('n_' + k, b.Notes[k], { indexing: 'Exact', storage: true, termVector: null })), y: b.Year }))" };
        }
    }

    [Test]
    public void ScriptsWithDynamicFields()
    {
        using var store = Library();
        new Books_Dynamic_Script().Execute(store);
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Advanced.RawQuery<Book>("from index 'Books/Dynamic/Script' where n_state = 'new'").ToList()), "2", "4");
    }

    [Test]
    public void CompilationErrors()
    {
        using var store = Library();
        Assert.Throws<IndexCompilationException>(() => store.Maintenance.Send(new PutIndexesOperation(new IndexDefinition { Name = "A", Maps = { "from b in docs.Books select new { b.Title" } })));
        Assert.Throws<IndexCompilationException>(() => store.Maintenance.Send(new PutIndexesOperation(new IndexDefinition { Name = "A", Maps = { "from b in docs.Books select new { X = b.Title.NoSuchMethod( }" } })));
        var reduce = new IndexDefinition { Name = "A", Maps = { "from b in docs.Books select new { b.Author, Count = 1 }" }, Reduce = "from r in results group r by r.Author into g select new { Author = g.Key, Other = g.Sum(x => x.Count) }" };
        Assert.Throws<IndexCompilationException>(() => store.Maintenance.Send(new PutIndexesOperation(reduce)));
        Assert.Equal(0, store.Maintenance.Send(new GetIndexNamesOperation(0, 10)).Length);
    }

    public class Books_AllWords : AbstractIndexCreationTask<Book>
    {
        public Books_AllWords()
        {
            Map = books => from b in books select new { Words = new object[] { b.Title, b.Summary, b.Tags, b.Year } };
            Index("Words", FieldIndexing.Search);
        }
    }

    [Test]
    public void SeveralValuesInAField()
    {
        using var store = With(new Books_AllWords());
        using var session = store.OpenSession();
        string[] Found(string words) => Ids(session.Advanced.DocumentQuery<Book, Books_AllWords>().Search("Words", words).ToList());
        Assert.Set(Found("harbour"), "1");
        Assert.Set(Found("2009 geology"), "2", "3", "9");
        Assert.Set(Found("rivers"), "2", "6");
    }

    public class Books_Default : AbstractIndexCreationTask<Book>
    {
        public Books_Default()
        {
            Map = books => from b in books select new { b.Title, b.Summary, b.Year };
            Index(Raven.Client.Constants.Documents.Indexing.Fields.AllFields, FieldIndexing.Search);
            Store(Raven.Client.Constants.Documents.Indexing.Fields.AllFields, FieldStorage.Yes);
        }
    }

    [Test]
    public void OptionsOfAllFields()
    {
        using var store = With(new Books_Default());
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book, Books_Default>().Search(x => x.Title, "harbour").Search(x => x.Summary, "moon")), "1", "9");
        var row = session.Query<Book, Books_Default>().Customize(x => x.Projection(ProjectionBehavior.FromIndexOrThrow)).Where(x => x.Year == 2003).Select(x => new { x.Title, x.Year }).Single();
        Assert.Equal("Tides 2003", $"{row.Title} {row.Year}");
    }

    [Test]
    public void NoIndexing()
    {
        using var store = Library();
        var definition = new IndexDefinition { Name = "N", Maps = { "from b in docs.Books select new { b.Title, b.Year }" }, Fields = { ["Title"] = new IndexFieldOptions { Indexing = FieldIndexing.No, Storage = FieldStorage.Yes } } };
        store.Maintenance.Send(new PutIndexesOperation(definition));
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Equal("Tides", session.Advanced.DocumentQuery<Book>("N").WhereEquals("Year", 2003).SelectFields<string>("Title").Single());
    }
}
