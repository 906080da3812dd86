// Several reads in one request, and answers that are kept.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Session;
using Raven.Client.Http;

public class Lazily : LibraryTests
{
    [Test]
    public void Loads()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var one = session.Advanced.Lazily.Load<Book>("books/1");
        var many = session.Advanced.Lazily.Load<Book>(new[] { "books/2", "books/3", "books/77" });
        var none = session.Advanced.Lazily.Load<Book>("books/78");
        var prefix = session.Advanced.Lazily.LoadStartingWith<Author>("authors/");
        var included = session.Advanced.Lazily.Include<Book>(x => x.Author).Load("books/6");
        Assert.Equal(0, session.Advanced.NumberOfRequests);
        Assert.Equal("The Quiet Harbour", one.Value.Title);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
        Assert.Null(none.Value);
        Assert.Set(many.Value.Where(x => x.Value != null).Select(x => x.Key), "books/2", "books/3");
        Assert.Equal(3, prefix.Value.Count);
        Assert.Equal("Jan Kowal", session.Load<Author>(included.Value.Author).Name);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void Queries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Query<Book>().Where(x => x.Year > 2005).OrderBy(x => x.Year).Lazily();
        var count = session.Query<Book>().Where(x => x.Genre == Genre.Novel).CountLazily();
        var raw = session.Advanced.RawQuery<Book>("from Books where Author = 'authors/1'").Lazily();
        var document = session.Advanced.DocumentQuery<Member>().WhereEquals("City", "Porto").Lazily();
        Assert.True(session.Advanced.Eagerly.ExecuteAllPendingLazyOperations().TotalServerDuration >= TimeSpan.Zero);
        Assert.Sequence(Ids(books.Value), "3", "6", "7", "8");
        Assert.Equal(3, count.Value);
        Assert.Equal(3, raw.Value.Count());
        Assert.Equal("Rita", document.Value.Single().Name);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public async Task Asynchronously()
    {
        using var store = Library();
        using var session = store.OpenAsyncSession();
        var evaluated = new List<string>();
        var book = session.Advanced.Lazily.LoadAsync<Book>("books/1", b => evaluated.Add(b.Id));
        var books = session.Query<Book>().Where(x => x.Year < 1995).LazilyAsync();
        var count = session.Query<Book>().CountLazilyAsync();
        await session.Advanced.Eagerly.ExecuteAllPendingLazyOperationsAsync();
        Assert.Equal("books/1", (await book.Value).Id);
        Assert.Equal(2, (await books.Value).Count());
        Assert.Equal(9, await count.Value);
        Assert.Sequence(evaluated, "books/1");
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void WithErrors()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var wrong = session.Advanced.RawQuery<Book>("from index 'No/Such' where a = 1").Lazily();
        Assert.Throws<Raven.Client.Exceptions.Documents.Indexes.IndexDoesNotExistException>(() => wrong.Value.ToList());
    }

    [Test]
    public void IfChanged()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = session.Load<Book>("books/1");
        var vector = session.Advanced.GetChangeVectorFor(book);
        using (var other = store.OpenSession())
        {
            var (hasChanged, _) = (false, 0);
            var lazy = other.Advanced.ConditionalLoad<Book>("books/1", vector);
            Assert.Null(lazy.Entity);
            Assert.Equal(vector, lazy.ChangeVector);
            Assert.False(hasChanged);
        }
        book.Year = 1;
        session.SaveChanges();
        using (var other = store.OpenSession())
        {
            var (entity, changed) = other.Advanced.ConditionalLoad<Book>("books/1", vector);
            Assert.Equal(1, entity.Year);
            Assert.NotEqual(vector, changed);
            Assert.Null(other.Advanced.ConditionalLoad<Book>("books/77", vector).Entity);
        }
    }

    [Test]
    public void AnswersThatDidNotChange()
    {
        var fromCache = 0;
        using var store = Library(s => s.OnSucceedRequest += (_, e) => { if (e.Response.StatusCode == System.Net.HttpStatusCode.NotModified) fromCache++; });
        for (var i = 0; i < 3; i++)
        {
            using var session = store.OpenSession();
            Assert.Equal("Tides", session.Load<Book>("books/9").Title);
            Assert.Equal(5, session.Query<Book>().Where(x => x.Year > 2002).ToList().Count);
        }
        Assert.Equal(4, fromCache);
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/9").Year = 2002;
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
            Assert.Equal(4, session.Query<Book>().Customize(x => x.WaitForNonStaleResults()).Where(x => x.Year > 2002).ToList().Count);
    }

    [Test]
    public void Aggressively()
    {
        var loads = 0;
        using var store = Library(s => s.OnBeforeRequest += (_, e) => { if (e.Url.Contains("/docs?")) loads++; });
        Book Load()
        {
            using var session = store.OpenSession();
            using (store.AggressivelyCacheFor(TimeSpan.FromMinutes(5))) return session.Load<Book>("books/1");
        }
        Load();
        Assert.Equal("The Quiet Harbour", Load().Title);
        var before = loads;
        Assert.Equal("The Quiet Harbour", Load().Title);
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/1").Title = "Changed";
            session.SaveChanges();
        }
        Eventually("Changed", () => Load().Title);
        Assert.True(before >= 1);
    }

    [Test]
    public void AggressivelyWithoutTracking()
    {
        using var store = Library();
        Book Load()
        {
            using var session = store.OpenSession();
            using (store.AggressivelyCacheFor(TimeSpan.FromMinutes(5), AggressiveCacheMode.DoNotTrackChanges)) return session.Load<Book>("books/1");
        }
        Load();
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/1").Title = "Changed";
            session.SaveChanges();
        }
        Assert.Equal("The Quiet Harbour", Load().Title);
    }
}
