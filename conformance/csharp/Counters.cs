// Numbers that belong to documents and are raised without writing them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Changes;
using Raven.Client.Documents.Indexes.Counters;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Counters;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions.Documents;
using Raven.Client.Exceptions.Documents.Counters;

public class Counters : LibraryTests
{
    private class LikesByAuthor : AbstractCountersIndexCreationTask<Book, LikesByAuthor.Result>
    {
        public class Result { public string Author { get; set; } public long Likes { get; set; } }

        public LikesByAuthor()
        {
            AddMap("Likes", counters => from counter in counters
                let book = LoadDocument<Book>(counter.DocumentId)
                select new { book.Author, Likes = counter.Value });
            Reduce = results => from result in results
                group result by result.Author into g
                select new { Author = g.Key, Likes = g.Sum(x => x.Likes) };
        }
    }

    private static void Raise(IDocumentStore store, string id, string name, long delta = 1)
    {
        using var session = store.OpenSession();
        session.CountersFor(id).Increment(name, delta);
        session.SaveChanges();
    }

    private static long? Value(IDocumentStore store, string id, string name)
    {
        using var session = store.OpenSession();
        return session.CountersFor(id).Get(name);
    }

    [Test]
    public void RaisedAndRead()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            var likes = session.CountersFor(session.Load<Book>("books/1"));
            likes.Increment("Likes");
            likes.Increment("likes", 6);
            likes.Increment("Über", -4);
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            Assert.Set(session.CountersFor(book).GetAll().Select(x => $"{x.Key} {x.Value}"), "Likes 7", "Über -4");
            Assert.Equal((long?)7, session.CountersFor("books/1").Get("LIKES"));
            Assert.Null(session.CountersFor("books/1").Get("other"));
            Assert.Set(session.Advanced.GetCountersFor(book), "Likes", "Über");
        }
    }

    [Test]
    public void DeletedAndMadeAgain()
    {
        using var store = Library();
        Raise(store, "books/1", "likes", 5);
        using (var session = store.OpenSession())
        {
            session.CountersFor("books/1").Delete("likes");
            session.SaveChanges();
        }
        Assert.Null(Value(store, "books/1", "likes"));
        Raise(store, "books/1", "likes", 2);
        Assert.Equal((long?)2, Value(store, "books/1", "likes"));
        using (var session = store.OpenSession())
        {
            session.Delete("books/1");
            session.SaveChanges();
        }
        Assert.Null(Value(store, "books/1", "likes"));
    }

    [Test]
    public void RefusedAsAWhole()
    {
        using var store = Library();
        Assert.Throws<DocumentDoesNotExistException>(() => Raise(store, "missing/1", "likes"));
        Raise(store, "books/1", "likes", long.MaxValue);
        using (var session = store.OpenSession())
        {
            session.Store(new Book(), "books/50");
            session.CountersFor("books/1").Increment("likes");
            Assert.Throws<CounterOverflowException>(() => session.SaveChanges());
        }
        using (var session = store.OpenSession()) Assert.False(session.Advanced.Exists("books/50"));
        Assert.Equal((long?)long.MaxValue, Value(store, "books/1", "likes"));
    }

    [Test]
    public void Batches()
    {
        using var store = Library();
        CounterOperation Operation(CounterOperationType type, string name, long delta = 0) => new() { Type = type, CounterName = name, Delta = delta };
        CountersDetail Send(params CounterOperation[] operations) => store.Operations.Send(new CounterBatchOperation(new CounterBatch
        {
            Documents = new List<DocumentCountersOperation> { new() { DocumentId = "books/1", Operations = operations.ToList() } },
        }));
        var detail = Send(Operation(CounterOperationType.Increment, "a", 3), Operation(CounterOperationType.Increment, "b", 4));
        Assert.Sequence(detail.Counters.Select(x => $"{x.DocumentId} {x.CounterName} {x.TotalValue}"), "books/1 a 3", "books/1 b 4");
        Send(Operation(CounterOperationType.Delete, "a"));
        detail = store.Operations.Send(new GetCountersOperation("books/1"));
        Assert.Sequence(detail.Counters.Select(x => $"{x.CounterName} {x.TotalValue}"), "b 4");
        detail = store.Operations.Send(new GetCountersOperation("books/1", "b", returnFullResults: true));
        Assert.Equal(4L, detail.Counters.Single().CounterValues.Single().Value);
    }

    [Test]
    public async Task RaisedByMany()
    {
        using var store = Library();
        await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
        {
            for (var i = 0; i < 25; i++)
            {
                using var session = store.OpenAsyncSession();
                session.CountersFor("books/1").Increment("likes");
                await session.SaveChangesAsync();
            }
        })));
        Assert.Equal((long?)200, Value(store, "books/1", "likes"));
    }

    [Test]
    public void Included()
    {
        using var store = Library();
        Raise(store, "books/1", "likes", 3);
        Raise(store, "books/2", "views", 4);
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/1", i => i.IncludeCounter("likes").IncludeCounter("other"));
            Assert.Equal((long?)3, session.CountersFor("books/1").Get("likes"));
            Assert.Null(session.CountersFor("books/1").Get("other"));
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
        using (var session = store.OpenSession())
        {
            var books = session.Query<Book>().Where(x => x.Year < 2000).Include(i => i.IncludeAllCounters()).ToList();
            Assert.Equal((long?)4, session.CountersFor(books.Single(x => x.Id == "books/2")).Get("views"));
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
    }

    [Test]
    public void InQueries()
    {
        using var store = Library();
        Raise(store, "books/1", "likes", 3);
        Raise(store, "books/5", "likes", 9);
        using var session = store.OpenSession();
        var rows = session.Query<Book>().Where(x => x.Year < 2000).Select(x => new { x.Id, Likes = RavenQuery.Counter(x, "likes") }).ToList();
        Assert.Set(rows.Select(x => $"{x.Id} {x.Likes}"), "books/1 3", "books/2 ", "books/5 9");
    }

    [Test]
    public void InPatches()
    {
        using var store = Library();
        var query = new IndexQuery { Query = "from Books where Year < 2000 update { incrementCounter(this, 'read', this.Pages); }" };
        store.Operations.Send(new PatchByQueryOperation(query)).WaitForCompletion(TimeSpan.FromSeconds(15));
        Assert.Equal((long?)312, Value(store, "books/1", "read"));
        Assert.Null(Value(store, "books/3", "read"));
    }

    [Test]
    public void BulkInserts()
    {
        using var store = Store();
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 30; i++)
            {
                bulk.Store(new Book { Year = i }, "books/" + i);
                var counters = bulk.CountersFor("books/" + i);
                counters.Increment("likes", i);
                counters.Increment("views");
            }
        Assert.Equal("29 1", $"{Value(store, "books/29", "likes")} {Value(store, "books/29", "views")}");
    }

    [Test]
    public void InIndexes()
    {
        using var store = Library();
        Raise(store, "books/1", "Likes", 3);
        Raise(store, "books/5", "Likes", 4);
        Raise(store, "books/2", "Likes", 5);
        Raise(store, "books/2", "Other", 50);
        new LikesByAuthor().Execute(store);
        WaitForIndexing(store);
        using var session = store.OpenSession();
        string[] Sums() => session.Query<LikesByAuthor.Result, LikesByAuthor>().OrderBy(x => x.Author).ToList().Select(x => $"{x.Author} {x.Likes}").ToArray();
        Assert.Sequence(Sums(), "authors/1 7", "authors/2 5");
        Raise(store, "books/5", "Likes", 10);
        WaitForIndexing(store);
        Assert.Sequence(Sums(), "authors/1 17", "authors/2 5");
    }

    [Test]
    public void Notified()
    {
        using var store = Library();
        using var changes = store.Changes();
        var seen = new Seen<CounterChange>();
        var observable = changes.ForCounterOfDocument("books/1", "likes");
        observable.Subscribe(seen);
        Assert.True(observable.EnsureSubscribedNow().Wait(TimeSpan.FromSeconds(15)), "the subscription is confirmed");
        Raise(store, "books/2", "likes");
        Raise(store, "books/1", "other");
        Raise(store, "books/1", "likes", 5);
        var change = seen.Next();
        Assert.Equal("books/1 likes 5 Put", $"{change.DocumentId} {change.Name} {change.Value} {change.Type}");
    }
}
