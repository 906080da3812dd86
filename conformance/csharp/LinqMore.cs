// Conditions that are met less often.
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class LinqMore : LibraryTests
{
    private static string[] Found(IDocumentStore store, System.Linq.Expressions.Expression<Func<Book, bool>> condition)
    {
        using var session = store.OpenSession();
        return Ids(session.Query<Book>().Where(condition));
    }

    [Test]
    public void Dictionaries()
    {
        using var store = Library();
        Assert.Set(Found(store, x => x.Notes["by"] == "Olga" && x.Year > 2005), "6", "8");
        Assert.Set(Found(store, x => x.Notes["state"] != "worn" && x.Year < 2000), "1", "2", "5");
    }

    [Test]
    public void EntriesOfDictionaries()
    {
        using var store = Library();
        Assert.Set(Found(store, x => x.Notes.Any(n => n.Value == "worn")), "6", "8");
        Assert.Set(Found(store, x => x.Notes.Any(n => n.Key == "state")), "2", "4", "6", "8");
    }

    [Test]
    public void EntriesInResults()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Advanced.RawQuery<JObject>("from Books where id() = 'books/6' select Notes[].Value as Values, Notes.Count as Count").ToList();
        Assert.Set(rows[0]["Values"].Select(x => (string)x), "Olga", "worn");
        Assert.Equal(2, (int)rows[0]["Count"]);
        var groups = session.Advanced.RawQuery<JObject>("from Books group by Notes[].Value where Value != null select count() as Count, key() as Value").ToList();
        Assert.Equal(4, groups.Where(x => (string)x["Value"] == "Olga").Sum(x => (int)x["Count"]));
    }

    [Test]
    public void ListsInMemory()
    {
        using var store = Library();
        var years = new List<int> { 1988, 2015 };
        Assert.Set(Found(store, x => x.Year.In(years)), "1", "7");
        Assert.Set(Found(store, x => !x.Year.In(years) && x.Genre == Genre.Novel), "3", "6");
        Assert.Set(Found(store, x => x.Shelf.Room.In("North") && x.Tags.ContainsAny(new[] { "sea", "maps" })), "1", "4");
    }

    [Test]
    public void NothingInAList()
    {
        using var store = Library();
        Assert.Set(Found(store, x => x.Tags.Count == 0), "8");
        Assert.Set(Found(store, x => !x.Tags.Any()), "8");
        Assert.Set(Found(store, x => x.Tags.Count != 1 && x.Year > 2005), "3", "6", "8");
    }

    [Test]
    public void ElementsWithSeveralConditions()
    {
        using var store = Library();
        Assert.Set(Found(store, x => x.Editions.Any(e => e.Publisher == "Polis") && x.Editions.Any(e => e.Year == 1988)), "1");
        Assert.Throws<InvalidOperationException>(() => Found(store, x => x.Editions.Any(e => e.Publisher == "Polis" && e.Copies > 3000)));
    }

    [Test]
    public void ValuesOfVariables()
    {
        using var store = Library();
        var filter = new { Year = 2003, Author = "authors/1" };
        Assert.Set(Found(store, x => x.Year == filter.Year && x.Author == filter.Author), "9");
        double? rating = null;
        Assert.Set(Found(store, x => x.Rating == rating), "4", "8");
        rating = 4.1;
        Assert.Set(Found(store, x => x.Rating == rating.Value), "3", "7");
        var start = Books[0].Title.Substring(0, 5);
        Assert.Set(Found(store, x => x.Bought > DateTime.UtcNow.AddYears(-100) && x.Year < 1990), "1");
        Assert.Set(Found(store, x => x.Title.StartsWith(start)), "1");
    }

    [Test]
    public void ConditionsAreBuilt()
    {
        using var store = Library();
        using var session = store.OpenSession();
        IQueryable<Book> query = session.Query<Book>();
        foreach (var tag in new[] { "sea", "geology" }) query = query.Where(x => x.Tags.Contains(tag));
        Assert.Sequence(Ids(query), "9");
        query = session.Query<Book>().Where(x => x.Year > 1990);
        query = query.OrderByDescending(x => x.Year).Take(3);
        Assert.Sequence(Ids(query), "8", "7", "6");
    }

    [Test]
    public void ExtremesOfNumbers()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Pages = long.MaxValue, Price = 0.1m, Year = int.MinValue }, "books/1");
            session.Store(new Book { Pages = long.MaxValue - 1, Price = 0.10000000000000001m, Year = int.MaxValue }, "books/2");
            session.Store(new Book { Pages = long.MinValue, Price = -5m, Year = 0 }, "books/3");
            session.SaveChanges();
        }
        Assert.Set(Found(store, x => x.Pages == long.MinValue), "3");
        Assert.Set(Found(store, x => x.Pages < 0), "3");
        Assert.Set(Found(store, x => x.Year == int.MinValue), "1");
        Assert.Set(Found(store, x => x.Year > 0), "2");
        Assert.Set(Found(store, x => x.Price < 0), "3");
        using (var session = store.OpenSession())
        {
            Assert.Sequence(Ids(session.Query<Book>().OrderBy(x => x.Pages)), "3", "2", "1");
            Assert.Sequence(Ids(session.Query<Book>().OrderByDescending(x => x.Year)), "2", "3", "1");
        }
    }

    [Test]
    public void QueriesByCollectionAndClass()
    {
        using var store = Library();
        using (var other = store.OpenSession()) Assert.Equal(3, other.Query<Member>(collectionName: "Authors").ToList().Count);
        using var session = store.OpenSession();
        Assert.Equal(1, session.Query<Author>().Where(x => x.Country == "PL").OfType<Author>().ToList().Count);
        Assert.Sequence(session.Query<Author>().OrderBy(x => x.Born).As<Author>().ToList().Select(x => x.Id), "authors/1", "authors/2", "authors/3");
        var projected = session.Query<Author>().Where(x => x.Country == "PT").ProjectInto<Member>().Single();
        Assert.Equal("Ana Duarte", projected.Name);
    }

    [Test]
    public void TakeOfZeroAndBeyond()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(9, session.Query<Book>().Take(1000).ToList().Count);
        Assert.Equal(9, session.Query<Book>().OrderBy(x => x.Year).Take(int.MaxValue).ToList().Count);
        Assert.Equal(0, session.Query<Book>().Skip(100).ToList().Count);
        session.Query<Book>().Where(x => x.Year > 2000).Statistics(out var stats).Take(0).ToList();
        Assert.Equal(6L, stats.TotalResults);
    }

    [Test]
    public void PagesOfDistinctValues()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var first = session.Query<Book>().Statistics(out var stats).OrderBy(x => x.Author).Select(x => x.Author).Distinct().Take(2).ToList();
        Assert.Sequence(first, "authors/1", "authors/2");
        var next = session.Query<Book>().OrderBy(x => x.Author).Select(x => x.Author).Distinct().Skip(2 + (int)stats.SkippedResults).Take(2).ToList();
        Assert.True(next.Contains("authors/3"), string.Join(",", next));
    }

    [Test]
    public void BoostsAndSearches()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Query<Book>().Search(x => x.Title, "valley", boost: 5).Search(x => x.Summary, "valley valleys rivers").OrderByScore().ToList();
        Assert.Sequence(Ids(books), "6", "2");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Tags, "sea maps")), "1", "4", "5", "9");
        Assert.Set(Ids(session.Query<Book>().Search(x => x.Summary, new[] { "moon", "sisters" })), "3", "9");
    }
}
