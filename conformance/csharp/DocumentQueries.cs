// The document query: the query interface whose calls are the words of RQL.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class DocumentQueries : LibraryTests
{
    private static IDocumentQuery<Book> Query(IDocumentSession session) => session.Advanced.DocumentQuery<Book>();

    [Test]
    public void Comparisons()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(Query(session).WhereEquals("Author", "authors/1").ToList()), "1", "5", "9");
        Assert.Set(Ids(Query(session).WhereNotEquals(x => x.Author, "authors/1").ToList()), "2", "3", "4", "6", "7", "8");
        Assert.Set(Ids(Query(session).WhereGreaterThan(x => x.Year, 2010).ToList()), "7", "8");
        Assert.Set(Ids(Query(session).WhereGreaterThanOrEqual(x => x.Year, 2010).ToList()), "6", "7", "8");
        Assert.Set(Ids(Query(session).WhereLessThan(x => x.Year, 1993).ToList()), "1");
        Assert.Set(Ids(Query(session).WhereLessThanOrEqual(x => x.Year, 1993).ToList()), "1", "5");
        Assert.Set(Ids(Query(session).WhereBetween(x => x.Year, 1993, 2001).ToList()), "2", "4", "5");
        Assert.Set(Ids(Query(session).WhereIn(x => x.Year, new[] { 1988, 2020 }).ToList()), "1", "8");
        Assert.Set(Ids(Query(session).WhereStartsWith(x => x.Title, "the").ToList()), "1", "6");
        Assert.Set(Ids(Query(session).WhereEndsWith(x => x.Title, "rs").ToList()), "2");
        Assert.Set(Ids(Query(session).WhereRegex(x => x.Title, "^[lo]").ToList()), "3", "4", "7");
        Assert.Set(Ids(Query(session).WhereExists("Shelf.Room").ToList()), "1", "2", "3", "4", "5", "6", "7", "9");
    }

    [Test]
    public void Lists()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(Query(session).ContainsAny(x => x.Tags, new[] { "maps", "rivers" }).ToList()), "2", "4", "6");
        Assert.Set(Ids(Query(session).ContainsAll(x => x.Tags, new[] { "sea", "geology" }).ToList()), "9");
        Assert.Set(Ids(Query(session).WhereEquals("Editions[].Publisher", "Polis").ToList()), Ids(Books.Where(x => x.Editions.Count > 1)));
    }

    [Test]
    public void Operators()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(Query(session).WhereEquals("Genre", "Novel").AndAlso().WhereGreaterThan("Year", 2000).ToList()), "3", "6");
        Assert.Set(Ids(Query(session).WhereEquals("Genre", "Poetry").OrElse().WhereGreaterThan("Year", 2010).ToList()), "5", "7", "8");
        Assert.Set(Ids(Query(session).UsingDefaultOperator(QueryOperator.Or).WhereEquals("Genre", "Poetry").WhereEquals("Year", 2020).ToList()), "5", "7", "8");
        Assert.Set(Ids(Query(session).Not.WhereEquals("Author", "authors/2").AndAlso().Not.WhereEquals("Author", "authors/3").ToList()), "1", "5", "9");
        Assert.Set(Ids(Query(session).WhereEquals("Author", "authors/1").AndAlso()
            .OpenSubclause().WhereEquals("Genre", "Science").OrElse().WhereEquals("Genre", "Poetry").CloseSubclause().ToList()), "5", "9");
        Assert.Set(Ids(Query(session).NegateNext().WhereGreaterThan("Year", 1994).ToList()), "1", "5");
    }

    [Test]
    public void OrdersAndPages()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Sequence(Ids(Query(session).OrderBy(x => x.Author).OrderByDescending(x => x.Year).Skip(1).Take(4).ToList()), "5", "1", "6", "4");
        Assert.Sequence(Ids(Query(session).OrderBy("Pages", OrderingType.Long).Take(3).ToList()), "5", "7", "4");
        Assert.Sequence(Ids(Query(session).AddOrder("Price", true, OrderingType.Double).Take(2).ToList()), "2", "9");
        Assert.Sequence(Ids(Query(session).OrderBy("Pages").Take(3).ToList()), "3", "8", "1");
    }

    [Test]
    public void Endings()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(9, Query(session).Count());
        Assert.Equal(9L, Query(session).LongCount());
        Assert.True(Query(session).WhereEquals("Year", 1988).Any());
        Assert.False(Query(session).WhereEquals("Year", 1989).Any());
        Assert.Equal("books/9", Query(session).WhereEquals("Title", "tides").Single().Id);
        Assert.Null(Query(session).WhereEquals("Title", "none").SingleOrDefault());
        Assert.Equal("books/1", Query(session).OrderBy("Year", OrderingType.Long).First().Id);
        var result = Query(session).WhereGreaterThan("Year", 2000).Take(2).GetQueryResult();
        Assert.Equal(6L, result.TotalResults);
        Assert.Equal(2, result.Results.Length);
        Assert.Equal("from 'Books' where Year > $p0 limit $p1, $p2", Query(session).WhereGreaterThan("Year", 2000).Take(2).ToString());
    }

    [Test]
    public void SelectedFields()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = Query(session).WhereEquals("Author", "authors/3").OrderBy("Year", OrderingType.Long).SelectFields<LinqResults.Cover>().ToList();
        Assert.Sequence(rows.Select(x => x.Title + x.Year), "Letters from Lisbon2009", "Light in Small Rooms2015", "Numbers We Trust2020");
        var titles = Query(session).OrderBy("Year", OrderingType.Long).Take(2).SelectFields<string>("Title").ToList();
        Assert.Sequence(titles, "The Quiet Harbour", "Night Ferry");
        var data = Query(session).WhereEquals("Summary", "why numbers mislead").SelectFields<LinqResults.Cover>(new QueryData(new[] { "Author", "Pages" }, new[] { "Title", "Year" })).Single();
        Assert.Equal("authors/3240", data.Title + data.Year);
    }

    [Test]
    public void DistinctValues()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Query(session).SelectFields<string>("Author").Distinct().ToList(), "authors/1", "authors/2", "authors/3");
    }

    [Test]
    public void Groups()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Advanced.DocumentQuery<Book>().GroupBy("Author").SelectKey("Author", "Author").SelectSum(new GroupByField { FieldName = "Pages", ProjectedName = "Pages" })
            .OfType<AuthorPages>().OrderBy("Author").ToList();
        Assert.Sequence(rows.Select(x => $"{x.Author} {x.Pages}"), "authors/1 831", "authors/2 1248", "authors/3 526");
        var counts = session.Advanced.DocumentQuery<Book>().GroupBy("Author").SelectKey("Author", "Author").SelectCount("Count").OfType<AuthorPages>().ToList();
        Assert.Set(counts.Select(x => x.Author + x.Count), "authors/13", "authors/23", "authors/33");
    }

    public class AuthorPages
    {
        public string Author { get; set; }
        public int Count { get; set; }
        public long Pages { get; set; }
    }

    [Test]
    public void IncludesAndCustomizations()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = Query(session).WhereEquals("Title", "Tides").Include(x => x.Author).WaitForNonStaleResults().NoCaching().Single();
        Assert.Equal("Maria Lind", session.Load<Author>(book.Author).Name);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
        Assert.False(session.Advanced.IsLoaded(Query(session).WhereEquals("Title", "On Maps").NoTracking().Single().Id));
        var seen = new List<string>();
        session.Advanced.DocumentQuery<Book>().WhereEquals("Title", "On Maps").AfterQueryExecuted(r => seen.Add(r.IndexName)).ToList();
        Assert.Sequence(seen, "Auto/Books/ByTitle");
    }

    [Test]
    public void OfAllDocuments()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(31, session.Advanced.DocumentQuery<object>().ToList().Count);
        var named = session.Advanced.DocumentQuery<object>(collectionName: "@all_docs").WhereEquals("Name", "malmö").OrElse().WhereEquals("City", "Malmö").ToList();
        Assert.Set(named.Select(x => session.Advanced.GetDocumentId(x)), "branches/1", "members/1");
        Assert.Equal(3, session.Advanced.DocumentQuery<Member>(collectionName: "Members").ToList().Count);
    }

    [Test]
    public void Proximity()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(Query(session).Search(x => x.Summary, "poems night").Proximity(4).ToList()), "5");
        Assert.Equal(0, Query(session).Search(x => x.Summary, "fisherman harbour").Proximity(1).ToList().Count);
        Assert.Set(Ids(Query(session).Search(x => x.Summary, "old harbour").Proximity(5).ToList()), "1");
    }

    [Test]
    public void FuzzyAndLucene()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Ids(Query(session).WhereEquals(x => x.Title, "tidez").Fuzzy(0.5m).ToList()), "9");
        Assert.Set(Ids(Query(session).WhereLucene("Title", "tid* OR numbe*").ToList()), "8", "9");
    }

    [Test]
    public void Boost()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var first = Query(session).WhereEquals("Genre", "Novel").OrElse().WhereEquals("Genre", "Essay").Boost(20).OrderByScore().Take(2).ToList();
        Assert.True(first.All(x => x.Genre == Genre.Essay));
        var other = Query(session).WhereEquals("Genre", "Novel").Boost(20).OrElse().WhereEquals("Genre", "Essay").OrderByScore().Take(3).ToList();
        Assert.True(other.All(x => x.Genre == Genre.Novel));
    }

    [Test]
    public async Task Asynchronously()
    {
        using var store = Library();
        using var session = store.OpenAsyncSession();
        var books = await session.Advanced.AsyncDocumentQuery<Book>().WhereEquals("Author", "authors/2").OrderBy("Year", OrderingType.Long).ToListAsync();
        Assert.Sequence(books.Select(x => x.Year), 1995, 2001, 2010);
        Assert.Equal(3, await session.Advanced.AsyncDocumentQuery<Book>().WhereEquals("Author", "authors/2").CountAsync());
        Assert.True(await session.Advanced.AsyncDocumentQuery<Book>().AnyAsync());
        Assert.Equal("books/9", (await session.Advanced.AsyncDocumentQuery<Book>().WhereEquals("Title", "Tides").FirstAsync()).Id);
    }
}
