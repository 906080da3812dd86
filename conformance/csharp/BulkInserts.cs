// Bulk inserts.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.BulkInsert;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Json;

public class BulkInserts : LibraryTests
{
    [Test]
    public void Many()
    {
        using var store = Store();
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 3000; i++) bulk.Store(new Book { Title = "Book " + i, Year = i, Summary = new string((char)('a' + i % 26), 200) });
        using var session = store.OpenSession();
        Assert.Equal(3000, session.Query<Book>().Count());
        Assert.Equal("Book 2999", session.Query<Book>().Single(x => x.Year == 2999).Title);
        Assert.Equal(3000L, store.Maintenance.Send(new GetStatisticsOperation()).CountOfDocuments - 1);
    }

    [Test]
    public async Task Asynchronously()
    {
        using var store = Store();
        await using (var bulk = store.BulkInsert())
        {
            for (var i = 0; i < 500; i++) await bulk.StoreAsync(new Member { Name = "m" + i }, "members/" + i);
        }
        using var session = store.OpenAsyncSession();
        Assert.Equal("m499", (await session.LoadAsync<Member>("members/499")).Name);
    }

    [Test]
    public void IdsAndMetadata()
    {
        using var store = Store();
        using (var bulk = store.BulkInsert())
        {
            var book = new Book { Title = "generated" };
            bulk.Store(book);
            Assert.Equal("books/1-A", book.Id);
            bulk.Store(new Book { Title = "named" }, "shelf/1", new MetadataAsDictionary { ["@collection"] = "Shelves", ["Color"] = "red" });
        }
        using var session = store.OpenSession();
        var shelf = session.Load<Book>("shelf/1");
        Assert.Equal("red", session.Advanced.GetMetadataFor(shelf)["Color"]);
        Assert.Equal(1L, store.Maintenance.Send(new GetCollectionStatisticsOperation()).Collections["Shelves"]);
    }

    [Test]
    public void ReplacesWhatIsThere()
    {
        using var store = Library();
        using (var bulk = store.BulkInsert()) bulk.Store(new Book { Title = "Replaced" }, "books/1");
        using var session = store.OpenSession();
        Assert.Equal("Replaced", session.Load<Book>("books/1").Title);
        Assert.Equal(9, session.Query<Book>().Count());
    }

    [Test]
    public void SkipsWhatIsTheSame()
    {
        using var store = Library();
        string Vector()
        {
            using var session = store.OpenSession();
            return session.Advanced.GetChangeVectorFor(session.Load<Member>("members/1"));
        }
        var before = Vector();
        using (var bulk = store.BulkInsert(new BulkInsertOptions { SkipOverwriteIfUnchanged = true })) bulk.Store(Members[0], "members/1");
        Assert.Equal(before, Vector());
        using (var bulk = store.BulkInsert()) bulk.Store(Members[0], "members/1");
        Assert.NotEqual(before, Vector());
    }

    [Test]
    public void Progress()
    {
        using var store = Store();
        var seen = 0L;
        using (var bulk = store.BulkInsert())
        {
            bulk.OnProgress += (_, e) => seen = Math.Max(seen, e.Progress.Total);
            for (var i = 0; i < 2000; i++) bulk.Store(new Book { Year = i });
        }
        using var session = store.OpenSession();
        Assert.Equal(2000, session.Query<Book>().Count());
        Assert.True(seen <= 2000);
    }

    [Test]
    public void LargeDocuments()
    {
        using var store = Store();
        var random = new Random(3);
        var text = new string(Enumerable.Range(0, 1_500_000).Select(_ => (char)('a' + random.Next(26))).ToArray());
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 4; i++) bulk.Store(new Book { Summary = text + i }, "books/" + i);
        using var session = store.OpenSession();
        for (var i = 0; i < 4; i++) Assert.True(session.Load<Book>("books/" + i).Summary == text + i, "document " + i + " is as it was stored");
    }

    [Test]
    public void RefusedIds()
    {
        using var store = Store();
        Assert.Throws<NotSupportedException>(() =>
        {
            using var bulk = store.BulkInsert();
            bulk.Store(new Book(), "books|");
        });
    }

    [Test]
    public async Task SeveralAtOnce()
    {
        using var store = Store();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(n => Task.Run(async () =>
        {
            await using var bulk = store.BulkInsert();
            for (var i = 0; i < 400; i++) await bulk.StoreAsync(new Book { Year = n }, $"books/{n}-{i}");
        })));
        using var session = store.OpenSession();
        Assert.Equal(1600, session.Query<Book>().Count());
        Assert.Equal(400, session.Query<Book>().Count(x => x.Year == 2));
    }
}
