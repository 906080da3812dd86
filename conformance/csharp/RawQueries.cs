// Queries as text.
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;

public class RawQueries : LibraryTests
{
    private static List<T> Ask<T>(IDocumentStore store, string text, params (string Name, object Value)[] parameters)
    {
        using var session = store.OpenSession();
        var query = session.Advanced.RawQuery<T>(text);
        foreach (var (name, value) in parameters) query.AddParameter(name, value);
        return query.ToList();
    }

    [Test]
    public void Parameters()
    {
        using var store = Library();
        Assert.Set(Ids(Ask<Book>(store, "from Books where Year > $y and Genre in ($g)", ("y", 2000), ("g", new[] { "Novel", "Essay" }))), "3", "4", "6", "8");
        Assert.Set(Ids(Ask<Book>(store, "from Books where Tags all in ($t)", ("t", new[] { "sea", "family" }))), "1");
        Assert.Set(Ids(Ask<Book>(store, "from Books where Rating = $r", ("r", null))), "4", "8");
        Assert.Set(Ids(Ask<Book>(store, "from Books where Bought >= $d", ("d", Day.AddDays(-2)))), "1", "2");
        Assert.Set(Ids(Ask<Book>(store, "from Books where Genre = $g", ("g", Genre.Poetry))), "5", "7");
        Assert.Set(Ids(Ask<Book>(store, "from Books where Price = $p", ("p", 8.25m))), "4");
        Assert.Set(Ids(Ask<Book>(store, "from Books where id() in ($ids)", ("ids", new List<string> { "books/1", "books/2" }))), "1", "2");
    }

    [Test]
    public void Objects()
    {
        using var store = Library();
        var rows = Ask<JObject>(store, "from Books as b where b.Author = 'authors/1' order by b.Year as long select { Name: b.Title, Copies: b.Editions.map(e => e.Copies) }");
        Assert.Sequence(rows.Select(x => (string)x["Name"]), "The Quiet Harbour", "Night Ferry", "Tides");
        Assert.Sequence(rows[1]["Copies"].Select(x => (int)x), 1005, 2005, 3005);
        dynamic row = Ask<dynamic>(store, "from Books where Title = 'Tides' select Title, Year").Single();
        Assert.Equal("Tides2003", (string)row.Title + (int)row.Year);
    }

    [Test]
    public void DeclaredFunctions()
    {
        using var store = Library();
        var rows = Ask<JObject>(store, @"
            declare function label(book, author) {
                var copies = 0;
                for (var i = 0; i < book.Editions.length; i++) copies += book.Editions[i].Copies;
                return { Text: book.Title + ' by ' + author.Name, Copies: copies };
            }
            from Books as b where b.Year < 1995 order by b.Year as long load b.Author as a select label(b, a)");
        Assert.Sequence(rows.Select(x => $"{x["Text"]} {x["Copies"]}"), "The Quiet Harbour by Maria Lind 3002", "Night Ferry by Maria Lind 6015");
    }

    [Test]
    public void Parts()
    {
        using var store = Library();
        Assert.Sequence(Ids(Ask<Book>(store, "from Books order by Year as long limit 2, 3")), "2", "4", "9");
        Assert.Sequence(Ids(Ask<Book>(store, "from Books order by Year as long limit 3 offset 2")), "2", "4", "9");
        Assert.Sequence(Ids(Ask<Book>(store, "from Books where Year between 1990 and 2000 order by Title desc")), "2", "5");
        Assert.Set(Ids(Ask<Book>(store, "from Books where startsWith(id(), 'books/') and not Author = 'authors/2'")), "1", "3", "5", "7", "8", "9");
        Assert.Set(Ids(Ask<Book>(store, "from Books where exact(Title = 'Tides') or boost(Year = 1988, 2)")), "1", "9");
        Assert.Set(Ids(Ask<Book>(store, "from Books where exists(Notes.state)")), "2", "4", "6", "8");
        Assert.Set(Ids(Ask<Book>(store, "from Books where true and not search(Summary, 'sea')")), "1", "2", "3", "4", "6", "7", "8");
        Assert.Set(Ask<JObject>(store, "from Books select distinct Author").Select(x => (string)x["Author"]), "authors/1", "authors/2", "authors/3");
    }

    [Test]
    public void Filters()
    {
        using var store = Library();
        Assert.Sequence(Ids(Ask<Book>(store, "from Books order by Year as long filter Pages > 300 and Genre != 'Novel'")), "2", "9");
        using var session = store.OpenSession();
        var books = session.Query<Book>().Where(x => x.Year > 1990).OrderBy(x => x.Year)
            .Filter(x => x.Pages < 100).Statistics(out var stats).ToList();
        Assert.Sequence(Ids(books), "5", "4", "7");
        Assert.Equal(8L, stats.ScannedResults);
        Assert.Equal(1, session.Query<Book>().OrderBy(x => x.Year).Filter(x => x.Pages < 100, limit: 3).ToList().Count);
    }

    [Test]
    public void IncludedDocuments()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var loans = session.Advanced.RawQuery<Loan>("from Loans where Member = 'members/1' include Book").ToList();
        Assert.True(loans.All(x => session.Advanced.IsLoaded(x.Book)));
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void Syntax()
    {
        using var store = Library();
        var error = Assert.Throws<RavenException>(() => Ask<Book>(store, "from Books where"));
        Assert.Contains("from Books where", error.Message);
        Assert.Throws<RavenException>(() => Ask<Book>(store, "select * from Books"));
        Assert.Throws<InvalidQueryException>(() => Ask<Book>(store, "from Books where Year > $missing"));
    }

    [Test]
    public void Paging()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Advanced.RawQuery<Book>("from Books order by Year as long").Skip(4).Take(2).Statistics(out var stats).ToList();
        Assert.Sequence(Ids(books), "9", "3");
        Assert.Equal(9L, stats.TotalResults);
        Assert.Equal("books/1", session.Advanced.RawQuery<Book>("from Books order by Year as long").First().Id);
        Assert.Equal(9, session.Advanced.RawQuery<Book>("from Books").Count());
    }

    [Test]
    public void ResultsOfScripts()
    {
        using var store = Library();
        Assert.Sequence(Ask<JObject>(store, "from Books as b where b.Title = 'Tides' select { a: null, b: [1, 'x', true], c: { d: 1.5 }, e: new Date(0).toISOString() }")
            .Single().Properties().Where(x => !x.Name.StartsWith("@")).Select(x => x.Value.ToString(Newtonsoft.Json.Formatting.None)),
            "null", "[1,\"x\",true]", "{\"d\":1.5}", "\"1970-01-01T00:00:00.000Z\"");
    }

    [Test]
    public void MetadataInQueries()
    {
        using var store = Library();
        var rows = Ask<JObject>(store, "from Books as b where b.Title = 'Tides' select { Id: id(b), Collection: getMetadata(b)['@collection'] }");
        Assert.Equal("books/9 Books", $"{rows[0]["Id"]} {rows[0]["Collection"]}");
    }

    [Test]
    public void ColumnsInConditions()
    {
        using var store = Library();
        var rows = Ask<JObject>(store, "from Books where Writer = 'authors/1' order by Size as long select Author as Writer, Pages as Size");
        Assert.Sequence(rows.Select(x => (int)x["Size"]), 64, 312, 455);
    }

    [Test]
    public void ColumnsHideFields()
    {
        using var store = Library();
        Assert.Equal(3, Ask<JObject>(store, "from Books where Title = 'authors/1' select Author as Title").Count);
        Assert.Sequence(Ask<JObject>(store, "from Books order by Year as long select Pages as Year").Select(x => (int)x["Year"]), Books.Select(x => (int)x.Pages).OrderBy(x => x).ToArray());
    }
}
