// Facets: counts and aggregates of what a query finds.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Queries.Facets;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;

public class Facets : LibraryTests
{
    public class Books_ByAll : AbstractIndexCreationTask<Book>
    {
        public Books_ByAll()
        {
            Map = books => from b in books select new { b.Author, b.Genre, b.Year, b.Pages, b.Price, b.Tags, b.Bought, b.Rating };
        }
    }

    private DocumentStore Indexed()
    {
        var store = Library();
        store.ExecuteIndex(new Books_ByAll());
        WaitForIndexing(store);
        return store;
    }

    private static string[] Counts(FacetResult result) => result.Values.Select(x => $"{x.Range} {x.Count}").ToArray();

    [Test]
    public void Terms()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var result = session.Query<Book, Books_ByAll>().AggregateBy(f => f.ByField(x => x.Genre)).AndAggregateBy(f => f.ByField(x => x.Tags)).Execute();
        Assert.Sequence(Counts(result["Genre"]), "essay 2", "novel 3", "poetry 2", "science 2");
        Assert.Sequence(Counts(result["Tags"]), "city 2", "family 3", "geology 2", "letters 1", "maps 1", "rivers 2", "science 1", "sea 3");
        result = session.Query<Book, Books_ByAll>().Where(x => x.Year > 2002).AggregateBy(f => f.ByField(x => x.Genre)).Execute();
        Assert.Sequence(Counts(result["Genre"]), "essay 1", "novel 2", "poetry 1", "science 1");
    }

    [Test]
    public void Ranges()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var result = session.Query<Book, Books_ByAll>()
            .AggregateBy(f => f.ByRanges(x => x.Pages < 100, x => x.Pages >= 100 && x.Pages < 400, x => x.Pages >= 400))
            .AndAggregateBy(f => f.ByRanges(x => x.Bought < Day.AddDays(-5), x => x.Bought >= Day.AddDays(-5)))
            .AndAggregateBy(f => f.ByRanges(x => x.Price <= 10m, x => x.Price > 10m && x.Price <= 30m, x => x.Price > 30m)).Execute();
        Assert.Sequence(result["Pages"].Values.Select(x => x.Count), 3, 3, 3);
        Assert.Sequence(result["Bought"].Values.Select(x => x.Count), 4, 5);
        Assert.Sequence(result["Price"].Values.Select(x => x.Count), 2, 5, 2);
        Assert.Equal("Pages < 100", result["Pages"].Values[0].Range);
    }

    [Test]
    public void Aggregates()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var result = session.Query<Book, Books_ByAll>()
            .AggregateBy(f => f.ByField(x => x.Author).SumOn(x => x.Pages).MaxOn(x => x.Pages).MinOn(x => x.Pages).AverageOn(x => x.Pages)).Execute();
        var pages = result["Author"].Values;
        Assert.Sequence(pages.Select(x => x.Range), "authors/1", "authors/2", "authors/3");
        Assert.Sequence(pages.Select(x => x.Sum.Value), 831.0, 1248.0, 526.0);
        Assert.Sequence(pages.Select(x => x.Max.Value), 455.0, 640.0, 240.0);
        Assert.Sequence(pages.Select(x => x.Min.Value), 64.0, 96.0, 88.0);
        Assert.Close(277, pages[0].Average.Value);
    }

    [Test]
    public void OptionsOfTerms()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        FacetResult Tags(FacetOptions options) => session.Query<Book, Books_ByAll>().AggregateBy(f => f.ByField(x => x.Tags).WithOptions(options)).Execute()["Tags"];
        Assert.Sequence(Counts(Tags(new FacetOptions { PageSize = 2 })), "city 2", "family 3");
        Assert.Sequence(Counts(Tags(new FacetOptions { Start = 6 })), "science 1", "sea 3");
        Assert.Sequence(Counts(Tags(new FacetOptions { TermSortMode = FacetTermSortMode.ValueDesc, PageSize = 2 })), "sea 3", "science 1");
        Assert.Sequence(Counts(Tags(new FacetOptions { TermSortMode = FacetTermSortMode.CountDesc, PageSize = 2 })).OrderBy(x => x), "family 3", "sea 3");
        var rest = Tags(new FacetOptions { PageSize = 6, IncludeRemainingTerms = true });
        Assert.Sequence(rest.RemainingTerms, "science", "sea");
        Assert.Equal(2L, rest.RemainingTermsCount);
        Assert.Equal(4L, rest.RemainingHits);
    }

    [Test]
    public void DisplayNames()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var result = session.Query<Book, Books_ByAll>().AggregateBy(f => f.ByField(x => x.Genre).WithDisplayName("Kind").SumOn(x => x.Pages, "All")).Execute();
        Assert.Equal("novel", result["Kind"].Values[1].Range);
        Assert.Equal(1022.0, result["Kind"].Values[1].Sum);
        Assert.Equal("All", result["Kind"].Values[1].Name);
    }

    [Test]
    public void Setups()
    {
        using var store = Indexed();
        using (var session = store.OpenSession())
        {
            session.Store(new FacetSetup
            {
                Facets = { new Facet { FieldName = "Genre" }, new Facet { FieldName = "Author", Options = new FacetOptions { PageSize = 1 } } },
                RangeFacets = { new RangeFacet { Ranges = { "Year < 2000", "Year >= 2000" } } },
            }, "facets/books");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var result = session.Query<Book, Books_ByAll>().AggregateUsing("facets/books").Execute();
            Assert.Equal(4, result["Genre"].Values.Count);
            Assert.Sequence(Counts(result["Author"]), "authors/1 3");
            Assert.Sequence(result["Year"].Values.Select(x => x.Count), 3, 6);
        }
    }

    [Test]
    public void Objects()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var facets = new List<FacetBase>
        {
            new Facet<Book> { FieldName = x => x.Genre },
            new RangeFacet<Book> { Ranges = { x => x.Year < 2000, x => x.Year >= 2000 } },
        };
        var result = session.Query<Book, Books_ByAll>().AggregateBy(facets).Execute();
        Assert.Equal(4, result["Genre"].Values.Count);
        Assert.Sequence(result["Year"].Values.Select(x => x.Count), 3, 6);
    }

    [Test]
    public void Lazily()
    {
        using var store = Indexed();
        using var session = store.OpenSession();
        var lazy = session.Query<Book, Books_ByAll>().AggregateBy(f => f.ByField(x => x.Genre)).ExecuteLazy();
        var other = session.Query<Book, Books_ByAll>().AggregateBy(f => f.ByField(x => x.Author)).ExecuteLazy();
        Assert.Equal(4, lazy.Value["Genre"].Values.Count);
        Assert.Equal(3, other.Value["Author"].Values.Count);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void OfDynamicQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Throws<InvalidQueryException>(() => session.Query<Book>().Where(x => x.Year > 1990).AggregateBy(f => f.ByField(x => x.Author)).Execute());
    }
}
