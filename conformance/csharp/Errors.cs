// Errors that clients rebuild, and what is not there.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Exceptions.Documents.Indexes;
using Raven.Client.Exceptions.Documents.Session;

public class Errors : LibraryTests
{
    [Test]
    public void OfIds()
    {
        using var store = Store();
        using var session = store.OpenSession();
        session.Store(new Book(), new string('x', 600));
        Assert.Throws<RavenException>(() => session.SaveChanges());
        session.Advanced.Clear();
        session.Store(new Book(), "books/1");
        session.SaveChanges();
        Assert.NotNull(session.Load<Book>("books/1"));
    }

    [Test]
    public void OfQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Throws<IndexDoesNotExistException>(() => session.Query<Book>("No/Such").ToList());
        Assert.Throws<RavenException>(() => session.Advanced.RawQuery<Book>("from Books where search(Title)").ToList());
        Assert.Throws<RavenException>(() => session.Advanced.RawQuery<Book>("from Books as b select { a: }").ToList());
        Assert.Equal(9, session.Query<Book>().Count());
    }

    [Test]
    public void OfFieldsThatAnIndexLacks()
    {
        using var store = Library();
        store.ExecuteIndex(new IndexAdministration.Books_ByYear());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var error = Assert.Throws<RavenException>(() => session.Query<Book, IndexAdministration.Books_ByYear>().Where(x => x.Title == "Tides").ToList());
        Assert.Contains("Title", error.Message);
        Assert.Contains("Books/ByYear", error.Message);
    }

    [Test]
    public async Task Cancelling()
    {
        using var store = Library();
        using var session = store.OpenAsyncSession();
        using var source = new CancellationTokenSource();
        source.Cancel();
        await Assert.ThrowsAsync<OperationCanceledException>(() => session.LoadAsync<Book>("books/1", source.Token));
        Assert.NotNull(await session.LoadAsync<Book>("books/1"));
    }

    [Test]
    public void OfDifferentTypes()
    {
        using var store = Library();
        using var session = store.OpenSession();
        session.Load<Book>("books/1");
        Assert.Throws<InvalidCastException>(() => session.Load<Author>("books/1"));
        Assert.Throws<NonUniqueObjectException>(() => session.Store(new Book(), "books/1"));
    }

    [Test]
    public void OfLargeBatches()
    {
        using var store = Store();
        using var session = store.OpenSession();
        // Less alike than what Limits.DecompressionRatio refuses.
        var text = string.Concat(Enumerable.Range(0, 125_000).Select(i => $"{i * 7919L % 10_000_000:00000000}"));
        for (var i = 0; i < 12; i++) session.Store(new Book { Summary = text }, "books/" + i);
        session.SaveChanges();
        session.Advanced.Clear();
        Assert.Equal(12, session.Advanced.LoadStartingWith<Book>("books/").Count(x => x.Summary.Length == 1_000_000));
    }
}
