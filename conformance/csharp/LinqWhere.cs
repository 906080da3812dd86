// Conditions in LINQ. Where a condition means something in memory, the same is asked there.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class LinqWhere : LibraryTests
{
    [Test]
    public void Equality()
    {
        using var store = Library();
        SameWhere(store, x => x.Author == "authors/1");
        SameWhere(store, x => x.Author != "authors/1");
        SameWhere(store, x => x.Year == 2009);
        SameWhere(store, x => x.Genre == Genre.Poetry);
        SameWhere(store, x => x.Genre != Genre.Poetry);
        SameWhere(store, x => x.Pages == 64L);
        SameWhere(store, x => x.Price == 49.99m);
        SameWhere(store, x => x.Id == "books/7");
    }

    [Test]
    public void Ranges()
    {
        using var store = Library();
        SameWhere(store, x => x.Year > 2001);
        SameWhere(store, x => x.Year >= 2001 && x.Year < 2015);
        SameWhere(store, x => x.Pages <= 96);
        SameWhere(store, x => x.Price > 12.4m);
        SameWhere(store, x => x.Rating >= 4.1);
        SameWhere(store, x => 2003 < x.Year);
    }

    [Test]
    public void Booleans()
    {
        using var store = Library();
        SameWhere(store, x => x.Lent);
        SameWhere(store, x => !x.Lent);
        SameWhere(store, x => x.Lent == false && x.Year > 2000);
        SameWhere(store, x => x.Lent || x.Pages > 600);
    }

    [Test]
    public void Nulls()
    {
        using var store = Library();
        SameWhere(store, x => x.Rating == null);
        SameWhere(store, x => x.Rating != null);
        SameWhere(store, x => x.Rating.HasValue && x.Rating.Value > 4.2);
        SameWhere(store, x => x.Shelf == null);
    }

    [Test]
    public void AndOrNot()
    {
        using var store = Library();
        SameWhere(store, x => x.Author == "authors/2" && x.Year > 2000 || x.Genre == Genre.Poetry);
        SameWhere(store, x => x.Author == "authors/2" && (x.Year > 2000 || x.Genre == Genre.Poetry));
        SameWhere(store, x => !(x.Author == "authors/2" && x.Year > 2000));
        SameWhere(store, x => !(x.Author == "authors/2" || x.Year > 2000));
        SameWhere(store, x => x.Year > 1990 && !(x.Genre == Genre.Novel) && x.Pages < 300);
    }

    [Test]
    public void SeveralWheres()
    {
        using var store = Library();
        Same(store, books => books.Where(x => x.Year > 1990).Where(x => x.Pages < 300).Where(x => x.Author == "authors/3")
            .OrderBy(x => x.Title).Select(x => x.Title));
    }

    [Test]
    public void Dates()
    {
        using var store = Library();
        SameWhere(store, x => x.Bought < Day.AddDays(-4));
        SameWhere(store, x => x.Bought == Day.AddDays(-3));
        SameWhere(store, x => x.Bought >= Day.AddDays(-6) && x.Bought <= Day.AddDays(-2));
        using var session = store.OpenSession();
        Assert.Equal(3, session.Query<Loan>().Count(x => x.Back == null));
        Assert.Equal(Loans.Count(x => x.Out > Day.AddDays(55)), session.Query<Loan>().Count(x => x.Out > Day.AddDays(55)));
    }

    [Test]
    public void Durations()
    {
        using var store = Library();
        SameWhere(store, x => x.ReadIn == TimeSpan.FromMinutes(128));
        SameWhere(store, x => x.ReadIn > TimeSpan.FromHours(10));
    }

    [Test]
    public void Texts()
    {
        using var store = Library();
        SameWhere(store, x => x.Title.StartsWith("The"));
        SameWhere(store, x => x.Title.EndsWith("s"));
        SameWhere(store, x => string.Equals(x.Title, "Tides"));
        SameWhere(store, x => x.Title.Equals("On Maps"));
        SameWhere(store, x => !x.Title.StartsWith("The") && x.Year > 2000);
        using var session = store.OpenSession();
        Assert.Sequence(Ids(session.Query<Book>().Where(x => x.Title == "tIDES")), "9");
        Assert.Sequence(Ids(session.Query<Book>().Where(x => x.Title.StartsWith("tI"))), "9");
        Assert.Sequence(Ids(session.Query<Book>().Where(x => x.Title.Equals("TIDES", StringComparison.OrdinalIgnoreCase))), "9");
        Assert.Equal(0, session.Query<Book>().Count(x => string.IsNullOrEmpty(x.Title)));
        Assert.Equal(9, session.Query<Book>().Count(x => !string.IsNullOrEmpty(x.Title)));
    }

    [Test]
    public void ComparedTexts()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Title.CompareTo("s") > 0)), "1", "2", "6", "9");
        Assert.Set(Ids(session.Query<Book>().Where(x => string.Compare(x.Title, "n") < 0)), "3", "7");
    }

    [Test]
    public void Exactly()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(0, session.Query<Book>().Where(x => x.Title == "tides", exact: true).ToList().Count);
        Assert.Sequence(Ids(session.Query<Book>().Where(x => x.Title == "Tides", exact: true)), "9");
        Assert.Equal(0, session.Query<Book>().Where(x => x.Tags.Contains("SEA"), exact: true).ToList().Count);
        Assert.Equal(3, session.Query<Book>().Where(x => x.Tags.Contains("sea"), exact: true).ToList().Count);
    }

    [Test]
    public void In()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Year.In(1988, 1993, 1700))), "1", "5");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Title.In(new[] { "tides", "On Maps" }.ToList()))), "4", "9");
        Assert.Set(Ids(session.Query<Book>().Where(x => !x.Author.In("authors/1", "authors/2"))), "3", "7", "8");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Genre.In(Genre.Essay, Genre.Science))), "2", "4", "8", "9");
        Assert.Equal(0, session.Query<Book>().Where(x => x.Author.In(Array.Empty<string>())).ToList().Count);
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Id.In("books/1", "books/9", "books/77"))), "1", "9");
    }

    [Test]
    public void ContainedInLists()
    {
        using var store = Library();
        SameWhere(store, x => x.Tags.Contains("sea"));
        SameWhere(store, x => !x.Tags.Contains("sea"));
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Tags.ContainsAny(new[] { "city", "maps" }))), "3", "4", "7");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Tags.ContainsAll(new[] { "city", "family" }))), "3");
    }

    [Test]
    public void AnyOfLists()
    {
        using var store = Library();
        SameWhere(store, x => x.Tags.Any(t => t == "rivers"));
        SameWhere(store, x => x.Tags.Any(t => t.StartsWith("ci")));
        SameWhere(store, x => x.Editions.Any(e => e.Publisher == "Polis"));
        SameWhere(store, x => x.Editions.Any(e => e.Copies > 3004));
        SameWhere(store, x => x.Editions.Any(e => e.Year == 2000 || e.Year == 2005));
        SameWhere(store, x => x.Tags.Any());
    }

    [Test]
    public void SizesOfLists()
    {
        using var store = Library();
        SameWhere(store, x => x.Tags.Count > 1);
        SameWhere(store, x => x.Editions.Count == 3);
    }

    [Test]
    public void NestedProperties()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Shelf.Room == "North")), "1", "2", "3", "4");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Shelf.Row >= 2)), "2", "3", "6", "7");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Shelf.Row < 2 && x.Shelf.Room == "South")), "5", "9");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Notes["state"] == "worn")), "6", "8");
    }

    [Test]
    public void Search()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "map")), "1", "4");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "Poems letters")), "3", "5", "7");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "old map", @operator: SearchOperator.And)), "1", "4");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "ri* va*", @operator: SearchOperator.And)), "2");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "sea").Search(x => x.Title, "valley")), "5", "6", "9");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "sea").Search(x => x.Title, "ferry", options: SearchOptions.And)), "5");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, "poems", options: SearchOptions.Not).Where(x => x.Year > 2005)), "1", "2", "3", "4", "6", "7", "8", "9");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Year > 2005).Search(x => x.Summary, "poems", options: SearchOptions.And | SearchOptions.Not)), "3", "6", "8");
        Assert.Set(Ids(session.Query<Book>().Where(x => x.Year < 2000).Search(x => x.Summary, "sea harbour", options: SearchOptions.And)), "1", "5");
    }

    [Test]
    public void RegularExpressions()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>().Where(x => System.Text.RegularExpressions.Regex.IsMatch(x.Title, "^(the|on) "))), "1", "4", "6");
    }

    [Test]
    public void Intersection()
    {
        using var store = Library();
        store.ExecuteIndex(new Editions());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var found = session.Query<Editions.Entry, Editions>().Where(x => x.Publisher == "Ekman" && x.Year == 2001)
            .Intersect().Where(x => x.Publisher == "Polis" && x.Year == 2006).OfType<Book>().ToList();
        Assert.Sequence(Ids(found), "4");
    }

    public class Editions : Raven.Client.Documents.Indexes.AbstractIndexCreationTask<Book, Editions.Entry>
    {
        public class Entry
        {
            public string Publisher { get; set; }
            public int Year { get; set; }
        }

        public Editions()
        {
            Map = books => from book in books from edition in book.Editions select new Entry { Publisher = edition.Publisher, Year = edition.Year };
        }
    }

    [Test]
    public void ByMetadata()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var since = DateTime.UtcNow.AddHours(-1);
        Assert.Equal(9, session.Advanced.DocumentQuery<Book>().WhereGreaterThan("@metadata.@last-modified", since).ToList().Count);
        Assert.Equal(0, session.Advanced.DocumentQuery<Book>().WhereLessThan("@metadata.@last-modified", since).ToList().Count);
        Assert.Equal(9, session.Advanced.DocumentQuery<object>().WhereEquals("@metadata.@collection", "Books").ToList().Count);
    }
}
