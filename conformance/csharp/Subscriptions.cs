// Documents that are sent to workers, each at least once.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Session;
using Raven.Client.Documents.Subscriptions;
using Raven.Client.Exceptions.Documents.Subscriptions;

public class Subscriptions : LibraryTests
{
    private static readonly TimeSpan Wait = TimeSpan.FromSeconds(15);

    private static SubscriptionWorkerOptions Options(string name, Action<SubscriptionWorkerOptions> configure = null)
    {
        var options = new SubscriptionWorkerOptions(name) { CloseWhenNoDocsLeft = true, TimeToWaitBeforeConnectionRetry = TimeSpan.FromMilliseconds(50) };
        configure?.Invoke(options);
        return options;
    }

    /// Runs a worker until no document is left; gives what it was sent.
    private static List<T> Drain<T>(IDocumentStore store, SubscriptionWorkerOptions options, Func<SubscriptionBatch<T>.Item, bool> fails = null) where T : class
    {
        var seen = new List<T>();
        using var worker = store.Subscriptions.GetSubscriptionWorker<T>(options);
        var run = worker.Run(batch =>
        {
            foreach (var item in batch.Items)
            {
                if (fails?.Invoke(item) == true) throw new InvalidOperationException("the worker fails");
                seen.Add(item.Result);
            }
        });
        var ended = Task.WhenAny(run, Task.Delay(Wait)).GetAwaiter().GetResult();
        if (ended != run) throw new TimeoutException("the worker does not end");
        var error = run.Exception?.InnerException;
        if (error is not SubscriptionClosedException) throw new AssertException("the worker ended with " + error);
        return seen;
    }

    private static void Put(IDocumentStore store, params object[] documents)
    {
        using var session = store.OpenSession();
        foreach (var document in documents) session.Store(document);
        session.SaveChanges();
    }

    [Test]
    public void OfACollection()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>();
        Assert.Set(Drain<Book>(store, Options(name)).Select(x => x.Id), Books.Select(x => x.Id).ToArray());
        // What was acknowledged is not sent again.
        Assert.Equal(0, Drain<Book>(store, Options(name)).Count);
        Put(store, new Book { Id = "books/1", Title = "Changed" });
        Assert.Sequence(Drain<Book>(store, Options(name)).Select(x => x.Title), "Changed");
    }

    [Test]
    public void Filtered()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>(x => x.Year > 2005 && x.Genre != Genre.Essay, new PredicateSubscriptionCreationOptions { Name = "new books" });
        Assert.Equal("new books", name);
        Assert.Set(Drain<Book>(store, Options(name)).Select(x => x.Id), "books/3", "books/6", "books/7");
    }

    private class Row { public string Title { get; set; } public string By { get; set; } }

    [Test]
    public void Projected()
    {
        using var store = Library();
        var name = store.Subscriptions.Create(new SubscriptionCreationOptions
        {
            Query = "from Books as b where b.Year < 1995 load b.Author as a select { Title: b.Title.toUpperCase(), By: a.Name }",
        });
        Assert.Set(Drain<Row>(store, Options(name)).Select(x => $"{x.Title} {x.By}"), "NIGHT FERRY Maria Lind", "THE QUIET HARBOUR Maria Lind");
    }

    [Test]
    public void WithIncludes()
    {
        using var store = Library();
        var name = store.Subscriptions.Create(new SubscriptionCreationOptions<Book>
        {
            Filter = x => x.Year == 2020,
            Includes = includes => includes.IncludeDocuments(x => x.Author),
        });
        var authors = new List<string>();
        using var worker = store.Subscriptions.GetSubscriptionWorker<Book>(Options(name));
        var run = worker.Run(batch =>
        {
            using var session = batch.OpenSession();
            foreach (var item in batch.Items) authors.Add(session.Load<Author>(item.Result.Author).Name);
            Assert.Equal(0, session.Advanced.NumberOfRequests);
        });
        Assert.Throws<SubscriptionClosedException>(() => run.GetAwaiter().GetResult());
        Assert.Sequence(authors, "Ana Duarte");
    }

    [Test]
    public void InBatches()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>();
        var sizes = new List<int>();
        using var worker = store.Subscriptions.GetSubscriptionWorker<Book>(Options(name, x => x.MaxDocsPerBatch = 4));
        var run = worker.Run(batch => sizes.Add(batch.NumberOfItemsInBatch));
        Assert.Throws<SubscriptionClosedException>(() => run.GetAwaiter().GetResult());
        Assert.Sequence(sizes, 4, 4, 1);
    }

    [Test]
    public void SentAgainAfterAFailure()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>();
        using (var worker = store.Subscriptions.GetSubscriptionWorker<Book>(Options(name)))
        {
            var run = worker.Run(_ => throw new InvalidOperationException("the worker fails"));
            Assert.Throws<SubscriberErrorException>(() => run.GetAwaiter().GetResult());
        }
        Assert.Equal(9, Drain<Book>(store, Options(name)).Count);
    }

    [Test]
    public void WhileDocumentsCome()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Member>();
        var seen = new BlockingCollection<string>();
        using var worker = store.Subscriptions.GetSubscriptionWorker<Member>(name);
        _ = worker.Run(batch => { foreach (var item in batch.Items) seen.Add(item.Id); });
        string Next() => seen.TryTake(out var id, Wait) ? id : throw new TimeoutException("no document");
        Assert.Set(new[] { Next(), Next(), Next() }, "members/1", "members/2", "members/3");
        for (var i = 10; i < 13; i++)
        {
            Put(store, new Member { Id = "members/" + i });
            Assert.Equal("members/" + i, Next());
        }
    }

    [Test]
    public void OneWorkerAtATime()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>();
        var first = new ManualResetEventSlim();
        using var holder = store.Subscriptions.GetSubscriptionWorker<Book>(name);
        var held = holder.Run(_ => first.Set());
        Assert.True(first.Wait(Wait), "the first worker runs");
        using (var refused = store.Subscriptions.GetSubscriptionWorker<Book>(name))
            Assert.Throws<SubscriptionInUseException>(() => refused.Run(_ => { }).GetAwaiter().GetResult());
        // Another one may take it over.
        Put(store, new Book { Id = "books/50" });
        var second = new ManualResetEventSlim();
        using var next = store.Subscriptions.GetSubscriptionWorker<Book>(
            new SubscriptionWorkerOptions(name) { Strategy = SubscriptionOpeningStrategy.TakeOver });
        _ = next.Run(_ => second.Set());
        Assert.Throws<SubscriptionInUseException>(() => { if (held.Wait(Wait)) throw new AssertException("it ended well"); });
    }

    [Test]
    public void Concurrently()
    {
        using var store = Store();
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 300; i++) bulk.Store(new Member { Name = "m" + i }, "members/" + i);
        var name = store.Subscriptions.Create<Member>();
        var seen = new ConcurrentBag<string>();
        var done = new CountdownEvent(300);
        var workers = Enumerable.Range(0, 3).Select(_ => store.Subscriptions.GetSubscriptionWorker<Member>(new SubscriptionWorkerOptions(name)
        {
            Strategy = SubscriptionOpeningStrategy.Concurrent, MaxDocsPerBatch = 10,
        })).ToList();
        var runs = workers.Select(worker => worker.Run(batch =>
        {
            foreach (var item in batch.Items)
            {
                seen.Add(item.Id);
                done.Signal();
            }
        })).ToList();
        var isDone = done.Wait(Wait);
        var error = runs.Select(run => run.Exception).FirstOrDefault(x => x != null);
        // RavenDB without a licence has no concurrent workers.
        if (error?.ToString().Contains("LicenseLimitException") == true) return;
        Assert.Null(error);
        Assert.True(isDone, "all documents are sent");
        workers.ForEach(x => x.Dispose());
        Assert.Equal(300, seen.Distinct().Count());
        Assert.Equal(300, seen.Count);
    }

    [Test]
    public void Administered()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>(new SubscriptionCreationOptions { Name = "books" });
        Drain<Book>(store, Options(name));
        var state = store.Subscriptions.GetSubscriptionState(name);
        Assert.Contains("from 'Books'", state.Query);
        Assert.NotNull(state.ChangeVectorForNextBatchStartingPoint);
        Assert.Sequence(store.Subscriptions.GetSubscriptions(0, 10).Select(x => x.SubscriptionName), "books");
        // From the beginning again, with another query.
        store.Subscriptions.Update(new SubscriptionUpdateOptions { Name = name, Query = "from Books where Year = 2020", ChangeVector = "BeginningOfTime" });
        Assert.Sequence(Drain<Book>(store, Options(name)).Select(x => x.Id), "books/8");
        store.Subscriptions.Disable(name);
        using (var worker = store.Subscriptions.GetSubscriptionWorker<Book>(name))
            Assert.Throws<SubscriptionClosedException>(() => worker.Run(_ => { }).GetAwaiter().GetResult());
        store.Subscriptions.Enable(name);
        store.Subscriptions.Delete(name);
        using (var worker = store.Subscriptions.GetSubscriptionWorker<Book>(name))
            Assert.Throws<SubscriptionDoesNotExistException>(() => worker.Run(_ => { }).GetAwaiter().GetResult());
    }

    [Test]
    public void FromNowOn()
    {
        using var store = Library();
        var name = store.Subscriptions.Create<Book>(new SubscriptionCreationOptions { ChangeVector = "LastDocument" });
        Put(store, new Book { Id = "books/50", Title = "New" });
        Assert.Sequence(Drain<Book>(store, Options(name)).Select(x => x.Id), "books/50");
    }
}
