// Words: suggestions, more like this, highlighting, explanations, timings.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Queries.Explanation;
using Raven.Client.Documents.Queries.Highlighting;
using Raven.Client.Documents.Queries.MoreLikeThis;
using Raven.Client.Documents.Queries.Suggestions;
using Raven.Client.Documents.Queries.Timings;
using Raven.Client.Documents.Session;

public class FullText : LibraryTests
{
    public class Books_Words : AbstractIndexCreationTask<Book>
    {
        public Books_Words()
        {
            Map = books => from b in books select new { b.Title, b.Summary, b.Genre };
            Index(x => x.Title, FieldIndexing.Search);
            Index(x => x.Summary, FieldIndexing.Search);
            Store(x => x.Summary, FieldStorage.Yes);
            TermVector(x => x.Summary, FieldTermVector.WithPositionsAndOffsets);
            Suggestion(x => x.Title);
        }
    }

    private DocumentStore Indexed()
    {
        var store = Library();
        store.ExecuteIndex(new Books_Words());
        WaitForIndexing(store);
        return store;
    }

    [Test]
    public void SearchInAnIndex()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book, Books_Words>().Search(x => x.Title, "valley rivers")), "2", "6");
        Assert.Set(Ids(session.Query<Book, Books_Words>().Search(x => x.Summary, "\"old map\"")), "1", "4");
        Assert.Set(Ids(session.Query<Book, Books_Words>().Search(x => x.Summary, "*oem*")), "5", "7");
        Assert.Set(Ids(session.Query<Book, Books_Words>().Search(x => x.Summary, "sea").Where(x => x.Genre == Genre.Science)), "9");
        Assert.Set(Ids(session.Query<Book, Books_Words>().Where(x => x.Title == "tides")), "9");
        Assert.Equal(0, session.Query<Book, Books_Words>().Search(x => x.Summary, "").ToList().Count);
    }

    [Test]
    public void Suggestions()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var words = session.Query<Book, Books_Words>().SuggestUsing(x => x.ByField(b => b.Title, "valey")).Execute();
        Assert.Sequence(words["Title"].Suggestions, "valley");
        words = session.Query<Book, Books_Words>().SuggestUsing(x => x.ByField(b => b.Title, new[] { "lisban", "fery" }).WithOptions(new SuggestionOptions { Accuracy = 0.4f, PageSize = 5 })).Execute();
        Assert.True(words["Title"].Suggestions.Contains("lisbon") && words["Title"].Suggestions.Contains("ferry"), string.Join(",", words["Title"].Suggestions));
        var none = session.Query<Book, Books_Words>().SuggestUsing(x => x.ByField(b => b.Title, "zzzzzzz")).Execute();
        Assert.Equal(0, none["Title"].Suggestions.Count);
    }

    [Test]
    public void SuggestionsOfDynamicQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var words = session.Query<Book>().SuggestUsing(x => x.ByField(b => b.Summary, "tidez").WithDisplayName("Maybe")).Execute();
        Assert.Sequence(words.Keys, "Maybe");
        Assert.Sequence(session.Query<Member>().SuggestUsing(x => x.ByField(m => m.Name, "Paval")).Execute()["Name"].Suggestions, "pavel");
    }

    [Test]
    public void SuggestionsLazily()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var lazy = session.Query<Book, Books_Words>().SuggestUsing(x => x.ByField(b => b.Title, "valey")).ExecuteLazy();
        var books = session.Query<Book>().Where(x => x.Year == 1988).Lazily();
        session.Advanced.Eagerly.ExecuteAllPendingLazyOperations();
        Assert.Sequence(lazy.Value["Title"].Suggestions, "valley");
        Assert.Equal(1, books.Value.Count());
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void MoreLikeThis()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var options = new MoreLikeThisOptions { MinimumDocumentFrequency = 1, MinimumTermFrequency = 1, Fields = new[] { "Summary" } };
        var alike = session.Query<Book, Books_Words>().MoreLikeThis(f => f.UsingDocument(x => x.Id == "books/5").WithOptions(options)).ToList();
        Assert.Set(alike.Select(x => x.Id).Intersect(new[] { "books/5", "books/7", "books/9" }), "books/7", "books/9");
        var poems = session.Query<Book, Books_Words>().Where(x => x.Genre == Genre.Poetry).MoreLikeThis(f => f.UsingDocument(x => x.Id == "books/5").WithOptions(options)).ToList();
        Assert.Sequence(Ids(poems), "7");
        var text = session.Query<Book, Books_Words>().MoreLikeThis(f => f.UsingDocument("{\"Summary\":\"sisters letters\"}").WithOptions(options)).ToList();
        Assert.Sequence(Ids(text), "3");
    }

    [Test]
    public void Highlighting()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var books = session.Query<Book, Books_Words>().Highlight(x => x.Summary, 60, 1, out Highlightings marks).Search(x => x.Summary, "sea").ToList();
        Assert.Set(Ids(books), "5", "9");
        Assert.Set(marks.ResultIndents, "books/5", "books/9");
        Assert.Contains("the <b style=\"background:yellow\">sea</b>", marks.GetFragments("books/9")[0]);
        Assert.Equal(0, marks.GetFragments("books/1").Length);
        var options = new HighlightingOptions { PreTags = new[] { "[" }, PostTags = new[] { "]" } };
        session.Advanced.DocumentQuery<Book, Books_Words>().Highlight(x => x.Summary, 60, 2, options, out var other).Search(x => x.Summary, "moon").ToList();
        Assert.Contains("the [moon]", other.GetFragments("books/9")[0]);
    }

    [Test]
    public void HighlightingOfDynamicQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Query<Book>().Highlight("Summary", 40, 1, out Highlightings marks).Search(x => x.Summary, "valley").ToList();
        Assert.Sequence(Ids(books), "6");
        Assert.Contains(">valley</b>", marks.GetFragments("books/6")[0]);
    }

    [Test]
    public void Explanations()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var books = session.Advanced.DocumentQuery<Book, Books_Words>().IncludeExplanations(out Explanations why).Search(x => x.Summary, "sea").ToList();
        Assert.Equal(2, books.Count);
        foreach (var book in books) Assert.True(why.GetExplanations(book.Id).Single().Length > 10);
    }

    [Test]
    public void Timings()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        session.Query<Book, Books_Words>().Customize(x => x.Timings(out QueryTimings timings).NoCaching()).Search(x => x.Summary, "sea").ToList();
        session.Advanced.DocumentQuery<Book, Books_Words>().Timings(out var other).NoCaching().Search(x => x.Summary, "sea").ToList();
        Assert.True(other.DurationInMs >= 0);
        Assert.True(other.Timings.Count > 0);
    }

    [Test]
    public void Scores()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var books = session.Query<Book, Books_Words>().Search(x => x.Title, "tides").Search(x => x.Summary, "poems", boost: 5).OrderByScore().ToList();
        var scores = books.Select(x => session.Advanced.GetMetadataFor(x).GetDouble("@index-score")).ToList();
        Assert.Equal(3, scores.Count);
        Assert.Sequence(scores, scores.OrderByDescending(x => x).ToArray());
        Assert.True(scores[0] > 0);
    }

    [Test]
    public void Unicode()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Summary = "Größe der Straße, naïve café" }, "books/1");
            session.Store(new Book { Summary = "Москва и Санкт-Петербург" }, "books/2");
            session.Store(new Book { Summary = "don't stop O'Neil 3.14 a@b.com" }, "books/3");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "größe")), "1");
            Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "CAFÉ")), "1");
            Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "москва")), "2");
            Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "петербург")), "2");
            Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "o'neil")), "3");
            Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "a@b.com")), "3");
        }
    }
}
