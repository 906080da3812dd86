// Sessions whose changes are one transaction of the cluster, with a guard for each document.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Operations.CompareExchange;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;

public class ClusterSessions : LibraryTests
{
    private static SessionOptions Wide(bool isUnguarded = false) => new()
    {
        TransactionMode = TransactionMode.ClusterWide,
        DisableAtomicDocumentWritesInClusterWideTransaction = isUnguarded ? true : null,
    };

    private static string[] Guards(IDocumentStore store) =>
        store.Operations.Send(new GetCompareExchangeValuesOperation<object>("rvn-atomic/", 0, 20)).Keys.ToArray();

    private static void Put(IDocumentStore store, string id, string title)
    {
        using var session = store.OpenSession(Wide());
        session.Store(new Book { Title = title }, id);
        session.SaveChanges();
    }

    [Test]
    public void StoresLoadsAndDeletes()
    {
        using var store = Store();
        Put(store, "books/1", "one");
        Assert.Sequence(Guards(store), "rvn-atomic/books/1");
        using (var session = store.OpenSession(Wide()))
        {
            session.Load<Book>("books/1").Title = "two";
            session.Store(new Book { Title = "other" }, "books/2");
            session.SaveChanges();
        }
        using (var session = store.OpenSession(Wide()))
        {
            Assert.Equal("two other", $"{session.Load<Book>("books/1").Title} {session.Load<Book>("books/2").Title}");
            session.Delete("books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession()) Assert.False(session.Advanced.Exists("books/1"));
        Assert.Sequence(Guards(store), "rvn-atomic/books/2");
    }

    [Test]
    public void TheFirstOfTwoWins()
    {
        using var store = Store();
        Put(store, "books/1", "one");
        using var first = store.OpenSession(Wide());
        using var second = store.OpenSession(Wide());
        first.Load<Book>("books/1").Title = "first";
        second.Load<Book>("books/1").Title = "second";
        second.Store(new Book(), "books/2");
        first.SaveChanges();
        Assert.Throws<ClusterTransactionConcurrencyException>(() => second.SaveChanges());
        using var session = store.OpenSession();
        Assert.Equal("first", session.Load<Book>("books/1").Title);
        Assert.False(session.Advanced.Exists("books/2"), "nothing of the second was written");
    }

    [Test]
    public void NewInBoth()
    {
        using var store = Store();
        using var first = store.OpenSession(Wide());
        using var second = store.OpenSession(Wide());
        first.Store(new Book { Title = "first" }, "books/1");
        second.Store(new Book { Title = "second" }, "books/1");
        first.SaveChanges();
        Assert.Throws<ClusterTransactionConcurrencyException>(() => second.SaveChanges());
    }

    [Test]
    public void WithoutGuards()
    {
        using var store = Store();
        for (var i = 0; i < 2; i++)
        {
            using var session = store.OpenSession(Wide(isUnguarded: true));
            session.Store(new Book { Title = "x" + i }, "books/1");
            session.SaveChanges();
        }
        Assert.Equal(0, Guards(store).Length);
        using var read = store.OpenSession();
        Assert.Equal("x1", read.Load<Book>("books/1").Title);
    }

    [Test]
    public void OrdinarySessionsSeeGuards()
    {
        using var store = Store();
        Put(store, "books/1", "one");
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/1").Title = "changed by an ordinary session";
            session.SaveChanges();
        }
        using (var session = store.OpenSession(Wide()))
        {
            session.Load<Book>("books/1").Title = "and by a cluster-wide one";
            session.SaveChanges();
        }
        using (var session = store.OpenSession()) Assert.Equal("and by a cluster-wide one", session.Load<Book>("books/1").Title);
    }

    [Test]
    public void GeneratedIds()
    {
        using var store = Store();
        using var session = store.OpenSession(Wide());
        var books = Enumerable.Range(0, 3).Select(i => new Book { Year = i }).ToArray();
        foreach (var book in books) session.Store(book);
        session.SaveChanges();
        Assert.Equal(3, books.Select(x => x.Id).Distinct().Count());
        Assert.Equal(3, session.Load<Book>(books.Select(x => x.Id)).Count(x => x.Value != null));
    }

    [Test]
    public void WhatTheyCannotHave()
    {
        using var store = Library();
        using (var session = store.OpenSession(Wide()))
        {
            session.Advanced.Attachments.Store("books/1", "x", new MemoryStream(new byte[] { 1 }));
            Assert.Throws<NotSupportedException>(() => session.SaveChanges());
        }
        using (var session = store.OpenSession(Wide()))
        {
            session.CountersFor("books/1").Increment("likes");
            Assert.Throws<NotSupportedException>(() => session.SaveChanges());
        }
    }

    [Test]
    public async Task RaisedByMany()
    {
        using var store = Store();
        Put(store, "books/1", "0");
        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            for (var done = 0; done < 5;)
            {
                using var session = store.OpenAsyncSession(Wide());
                var book = await session.LoadAsync<Book>("books/1");
                book.Pages++;
                try { await session.SaveChangesAsync(); done++; }
                catch (ClusterTransactionConcurrencyException) { /* Another session was first. */ }
            }
        })));
        using var read = store.OpenSession();
        Assert.Equal(20L, read.Load<Book>("books/1").Pages);
    }

    [Test]
    public void QueriesSeeThem()
    {
        using var store = Library();
        using var session = store.OpenSession(Wide());
        session.Store(new Book { Title = "New", Year = 2024 }, "books/50");
        session.SaveChanges();
        var found = session.Query<Book>().Customize(x => x.WaitForNonStaleResults()).Where(x => x.Year > 2019).ToList();
        Assert.Set(found.Select(x => x.Id), "books/50", "books/8");
    }
}
