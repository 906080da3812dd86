// Optimistic concurrency, and batches that are stored whole or not at all.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Commands;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;

public class Concurrency : LibraryTests
{
    private static void ChangeElsewhere(IDocumentStore store, string id)
    {
        using var session = store.OpenSession();
        session.Load<Book>(id).Pages++;
        session.SaveChanges();
    }

    [Test]
    public void LastWriteWinsByDefault()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            ChangeElsewhere(store, "books/1");
            book.Title = "Mine";
            session.SaveChanges();
        }
        using (var session = store.OpenSession()) Assert.Equal("Mine", session.Load<Book>("books/1").Title);
    }

    [Test]
    public void ChangedElsewhere()
    {
        using var store = Library();
        using var session = store.OpenSession();
        session.Advanced.UseOptimisticConcurrency = true;
        var book = session.Load<Book>("books/1");
        var loaded = session.Advanced.GetChangeVectorFor(book);
        ChangeElsewhere(store, "books/1");
        book.Title = "Mine";
        var error = Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
        Assert.Equal("books/1", error.Id);
        Assert.Equal(loaded, error.ExpectedChangeVector);
        Assert.NotEqual(loaded, error.ActualChangeVector);
        session.Advanced.Refresh(book);
        book.Title = "Mine";
        session.SaveChanges();
        using var other = store.OpenSession();
        Assert.Equal("Mine 313", $"{other.Load<Book>("books/1").Title} {other.Load<Book>("books/1").Pages}");
    }

    [Test]
    public void ByConventions()
    {
        using var store = Library(s => s.Conventions.UseOptimisticConcurrency = true);
        using var session = store.OpenSession();
        session.Store(new Book { Title = "Other" }, "books/1");
        Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
    }

    [Test]
    public void DeletedElsewhere()
    {
        using var store = Library();
        using var session = store.OpenSession();
        session.Advanced.UseOptimisticConcurrency = true;
        var book = session.Load<Book>("books/1");
        using (var other = store.OpenSession())
        {
            other.Delete("books/1");
            other.SaveChanges();
        }
        book.Title = "Mine";
        Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
    }

    [Test]
    public void DeleteWithChangeVector()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var vector = session.Advanced.GetChangeVectorFor(session.Load<Book>("books/1"));
        session.Advanced.Clear();
        ChangeElsewhere(store, "books/1");
        session.Delete("books/1", vector);
        Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
        session.Advanced.Clear();
        vector = session.Advanced.GetChangeVectorFor(session.Load<Book>("books/1"));
        session.Advanced.Clear();
        session.Delete("books/1", vector);
        session.SaveChanges();
        Assert.False(session.Advanced.Exists("books/1"));
    }

    [Test]
    public void StoreWithChangeVector()
    {
        using var store = Library();
        string vector;
        using (var session = store.OpenSession()) vector = session.Advanced.GetChangeVectorFor(session.Load<Book>("books/1"));
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "Replaced" }, vector, "books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "Again" }, vector, "books/1");
            Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
        }
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "Any" }, null, "books/1");
            session.SaveChanges();
        }
    }

    [Test]
    public void NewOnly()
    {
        using var store = Library();
        using var session = store.OpenSession();
        session.Store(new Book { Title = "New" }, string.Empty, "books/50");
        session.SaveChanges();
        session.Advanced.Clear();
        session.Store(new Book { Title = "New" }, string.Empty, "books/50");
        Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
    }

    [Test]
    public void ABatchIsWholeOrNothing()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "First" }, "books/50");
            session.Store(new Book { Title = "Taken" }, string.Empty, "books/1");
            session.Delete("books/2");
            Assert.Throws<ConcurrencyException>(() => session.SaveChanges());
        }
        using (var session = store.OpenSession())
        {
            Assert.Null(session.Load<Book>("books/50"));
            Assert.Equal("The Quiet Harbour", session.Load<Book>("books/1").Title);
            Assert.NotNull(session.Load<Book>("books/2"));
        }
    }

    [Test]
    public void PutCommand()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var json = session.Advanced.Context.ReadObject(new Sparrow.Json.Parsing.DynamicJsonValue { ["Title"] = "Put" }, "books/1");
        var put = new PutDocumentCommand(store.Conventions, "books/1", "A:1-wrong00000000000000000", json);
        Assert.Throws<ConcurrencyException>(() => session.Advanced.RequestExecutor.Execute(put, session.Advanced.Context));
        var delete = new DeleteDocumentCommand("books/1", "A:1-wrong00000000000000000");
        Assert.Throws<ConcurrencyException>(() => session.Advanced.RequestExecutor.Execute(delete, session.Advanced.Context));
        Assert.True(session.Advanced.Exists("books/1"));
    }

    [Test]
    public async Task CountersOfManySessions()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Pages = 0 }, "books/1");
            session.SaveChanges();
        }
        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            for (var done = 0; done < 10;)
            {
                using var session = store.OpenAsyncSession();
                session.Advanced.UseOptimisticConcurrency = true;
                (await session.LoadAsync<Book>("books/1")).Pages++;
                try { await session.SaveChangesAsync(); done++; }
                catch (ConcurrencyException) { /* Another session was first. */ }
            }
        })));
        using (var session = store.OpenSession()) Assert.Equal(40L, session.Load<Book>("books/1").Pages);
    }

    [Test]
    public void ChangeVectorsRise()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = session.Load<Book>("books/1");
        var vectors = new HashSet<string>();
        for (var i = 0; i < 3; i++)
        {
            book.Pages++;
            session.SaveChanges();
            Assert.True(vectors.Add(session.Advanced.GetChangeVectorFor(book)));
        }
        book.Pages++;
        book.Pages--;
        session.SaveChanges();
        Assert.True(vectors.Contains(session.Advanced.GetChangeVectorFor(book)));
    }
}
