// Streams: by prefix, of queries, into streams of bytes.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Commands;
using Raven.Client.Documents.Session;

public class Streams : LibraryTests
{
    private static List<StreamResult<T>> All<T>(IEnumerator<StreamResult<T>> stream)
    {
        var all = new List<StreamResult<T>>();
        using (stream)
            while (stream.MoveNext()) all.Add(stream.Current);
        return all;
    }

    [Test]
    public void ByPrefix()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = All(session.Advanced.Stream<Book>("books/"));
        Assert.Sequence(books.Select(x => x.Document.Title), Books.Select(x => x.Title).ToArray());
        Assert.Sequence(books.Select(x => x.Id), Books.Select(x => x.Id).ToArray());
        Assert.True(books.All(x => x.ChangeVector.StartsWith("A:")));
        Assert.Sequence(All(session.Advanced.Stream<Loan>("loans/", matches: "1*", start: 1, pageSize: 2)).Select(x => x.Id), "loans/10", "loans/11");
        Assert.Sequence(All(session.Advanced.Stream<Loan>("loans/", startAfter: "loans/7")).Select(x => x.Id), "loans/8", "loans/9");
        Assert.False(session.Advanced.IsLoaded("books/1"));
        using var first = session.Advanced.Stream<Book>("books/", pageSize: 1);
        Assert.True(first.MoveNext());
        Assert.Equal("Books", first.Current.Metadata["@collection"]);
        Assert.False(first.MoveNext());
    }

    [Test]
    public void OfQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var query = session.Query<Book>().Where(x => x.Year > 2000).OrderBy(x => x.Year);
        var books = All(session.Advanced.Stream(query, out var stats));
        Assert.Sequence(books.Select(x => x.Document.Year), 2001, 2003, 2009, 2010, 2015, 2020);
        Assert.Equal(6, stats.TotalResults);
        Assert.Equal("Auto/Books/ByYear", stats.IndexName);
        Assert.Equal(9, All(session.Advanced.Stream(session.Query<Book>())).Count);
    }

    [Test]
    public void OfProjections()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var query = session.Query<Book>().Where(x => x.Author == "authors/1").OrderBy(x => x.Year).Select(x => new { x.Title, Copies = x.Editions.Sum(e => e.Copies) });
        Assert.Sequence(All(session.Advanced.Stream(query)).Select(x => $"{x.Document.Title} {x.Document.Copies}"), "The Quiet Harbour 3002", "Night Ferry 6015", "Tides 1009");
    }

    [Test]
    public void OfDocumentAndRawQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Sequence(All(session.Advanced.Stream(session.Advanced.DocumentQuery<Book>().WhereEquals("Author", "authors/2").OrderBy("Year", OrderingType.Long))).Select(x => x.Id), "books/2", "books/4", "books/6");
        var raw = session.Advanced.RawQuery<JObject>("from Books as b where b.Year < 1994 order by b.Year as long load b.Author as a select { T: b.Title, A: a.Name }");
        Assert.Sequence(All(session.Advanced.Stream(raw)).Select(x => (string)x.Document["A"]), "Maria Lind", "Maria Lind");
    }

    [Test]
    public async Task Asynchronously()
    {
        using var store = Library();
        using var session = store.OpenAsyncSession();
        var seen = new List<string>();
        await using (var stream = await session.Advanced.StreamAsync<Author>("authors/"))
            while (await stream.MoveNextAsync()) seen.Add(stream.Current.Document.Name);
        Assert.Sequence(seen, "Maria Lind", "Jan Kowal", "Ana Duarte");
        seen.Clear();
        await using (var stream = await session.Advanced.StreamAsync(session.Query<Book>().Where(x => x.Genre == Genre.Poetry).OrderBy(x => x.Year)))
            while (await stream.MoveNextAsync()) seen.Add(stream.Current.Id);
        Assert.Sequence(seen, "books/5", "books/7");
    }

    [Test]
    public void IntoBytes()
    {
        using var store = Library();
        using var session = store.OpenSession();
        using var bytes = new MemoryStream();
        session.Advanced.StreamInto(session.Query<Book>().Where(x => x.Year > 2005).ToDocumentQuery(), bytes);
        var json = JObject.Parse(Encoding.UTF8.GetString(bytes.ToArray()));
        Assert.Equal(4, json["Results"].Count());
    }

    [Test]
    public void OfIndexes()
    {
        using var store = Library();
        store.ExecuteIndex(new Facets.Books_ByAll());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Equal(3, All(session.Advanced.Stream(session.Query<Book, Facets.Books_ByAll>().Where(x => x.Tags.Contains("family")))).Count);
    }

    [Test]
    public void Long()
    {
        using var store = Store();
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 5000; i++) bulk.Store(new Book { Year = i, Summary = new string('x', 100) }, $"books/{i:00000}");
        using var session = store.OpenSession();
        Assert.Equal(12497500L, All(session.Advanced.Stream<Book>("books/")).Sum(x => (long)x.Document.Year));
        Assert.Equal(4000, session.Query<Book>().Customize(x => x.WaitForNonStaleResults()).Count(x => x.Year >= 1000));
        Assert.Equal(4000, All(session.Advanced.Stream(session.Query<Book>().Where(x => x.Year >= 1000))).Count);
        using var left = session.Advanced.Stream<Book>("books/");
        left.MoveNext();
        Assert.Equal(0, left.Current.Document.Year);
    }

    [Test]
    public void Empty()
    {
        using var store = Store();
        using var session = store.OpenSession();
        Assert.Equal(0, All(session.Advanced.Stream<Book>("books/")).Count);
        Assert.Equal(0, All(session.Advanced.Stream(session.Query<Book>().Where(x => x.Year == 1))).Count);
    }
}
