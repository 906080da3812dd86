// Values that change only if they are still what they were.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Operations.CompareExchange;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;

public class CompareExchange : LibraryTests
{
    private static CompareExchangeResult<T> Put<T>(IDocumentStore store, string key, T value, long index = 0) =>
        store.Operations.Send(new PutCompareExchangeValueOperation<T>(key, value, index));

    private static CompareExchangeValue<T> Get<T>(IDocumentStore store, string key) =>
        store.Operations.Send(new GetCompareExchangeValueOperation<T>(key));

    private static IDocumentSession Cluster(IDocumentStore store) =>
        store.OpenSession(new SessionOptions { TransactionMode = TransactionMode.ClusterWide });

    [Test]
    public void PutByIndex()
    {
        using var store = Store();
        var made = Put(store, "names/Zoë", "users/1");
        Assert.True(made.Successful);
        var refused = Put(store, "names/Zoë", "users/2");
        Assert.Equal("False users/1 " + made.Index, $"{refused.Successful} {refused.Value} {refused.Index}");
        Assert.True(Put(store, "names/Zoë", "users/3", made.Index).Successful);
        Assert.False(Put(store, "names/Zoë", "users/4", made.Index).Successful);
        var value = Get<string>(store, "names/Zoë");
        Assert.Equal("users/3", value.Value);
        Assert.True(value.Index > made.Index, "the index rises");
        Assert.Null(Get<string>(store, "other"));
    }

    [Test]
    public void Objects()
    {
        using var store = Store();
        Put(store, "b", new Book { Title = "x", Year = 2001, Tags = { "a", "b" } });
        var book = Get<Book>(store, "B").Value;
        Assert.Equal("x 2001 a,b", $"{book.Title} {book.Year} {string.Join(",", book.Tags)}");
        Put(store, "n", 12345678901234L);
        Assert.Equal(12345678901234L, Get<long>(store, "n").Value);
    }

    [Test]
    public void Deleted()
    {
        using var store = Store();
        var index = Put(store, "k", 1).Index;
        Assert.False(store.Operations.Send(new DeleteCompareExchangeValueOperation<int>("k", index + 1)).Successful);
        var deleted = store.Operations.Send(new DeleteCompareExchangeValueOperation<int>("k", index));
        Assert.Equal("True 1", $"{deleted.Successful} {deleted.Value}");
        Assert.Null(Get<int>(store, "k"));
        Assert.True(Put(store, "k", 2).Successful, "it can be made again");
    }

    [Test]
    public void Several()
    {
        using var store = Store();
        foreach (var key in new[] { "a/1", "a/2", "a/3", "b/1" }) Put(store, key, key.ToUpper());
        var some = store.Operations.Send(new GetCompareExchangeValuesOperation<string>(new[] { "a/1", "b/1" }));
        Assert.Set(some.Select(x => $"{x.Key} {x.Value.Value}"), "a/1 A/1", "b/1 B/1");
        var page = store.Operations.Send(new GetCompareExchangeValuesOperation<string>("a/", 1, 5));
        Assert.Sequence(page.Keys, "a/2", "a/3");
    }

    [Test]
    public void InSessions()
    {
        using var store = Store();
        using (var session = Cluster(store))
        {
            session.Advanced.ClusterTransaction.CreateCompareExchangeValue("k", new Member { Name = "Olga" });
            session.Store(new Book { Title = "with it" }, "books/1");
            session.SaveChanges();
        }
        using (var session = Cluster(store))
        {
            var value = session.Advanced.ClusterTransaction.GetCompareExchangeValue<Member>("k");
            value.Value.Name = "Pavel";
            session.SaveChanges();
        }
        Assert.Equal("Pavel", Get<Member>(store, "k").Value.Name);
        using (var session = Cluster(store))
        {
            session.Advanced.ClusterTransaction.DeleteCompareExchangeValue(session.Advanced.ClusterTransaction.GetCompareExchangeValue<Member>("k"));
            session.SaveChanges();
        }
        Assert.Null(Get<Member>(store, "k"));
    }

    [Test]
    public void ChangedElsewhere()
    {
        using var store = Store();
        var index = Put(store, "k", "one").Index;
        using (var session = Cluster(store))
        {
            session.Advanced.ClusterTransaction.GetCompareExchangeValue<string>("k").Value = "mine";
            session.Store(new Book(), "books/1");
            Put(store, "k", "theirs", index);
            Assert.Throws<ClusterTransactionConcurrencyException>(() => session.SaveChanges());
        }
        Assert.Equal("theirs", Get<string>(store, "k").Value);
        using (var session = store.OpenSession()) Assert.False(session.Advanced.Exists("books/1"), "nothing was written");
    }

    [Test]
    public void WithMetadata()
    {
        using var store = Store();
        using (var session = Cluster(store))
        {
            var value = session.Advanced.ClusterTransaction.CreateCompareExchangeValue("k", "v");
            value.Metadata["@expires"] = new DateTime(2099, 1, 1, 0, 0, 0, DateTimeKind.Utc).ToString("o");
            value.Metadata["Color"] = "red";
            session.SaveChanges();
        }
        var read = Get<string>(store, "k");
        Assert.Equal("red", read.Metadata.GetString("Color"));
        Assert.Contains("2099-01-01", read.Metadata.GetString("@expires"));
    }

    [Test]
    public void InQueries()
    {
        using var store = Library();
        Put(store, "author of the month", "authors/2");
        using var session = store.OpenSession();
        var found = session.Query<Book>().Where(x => x.Author == RavenQuery.CmpXchg<string>("author of the month")).ToList();
        Assert.Set(found.Select(x => x.Id), "books/2", "books/4", "books/6");
    }

    [Test]
    public void IncludedInLoads()
    {
        using var store = Library();
        Put(store, "authors/1", "prize");
        using var session = Cluster(store);
        session.Load<Book>("books/1", i => i.IncludeCompareExchangeValue(x => x.Author));
        Assert.Equal("prize", session.Advanced.ClusterTransaction.GetCompareExchangeValue<string>("authors/1").Value);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public async Task OneOfManyWins()
    {
        using var store = Store();
        var results = await Task.WhenAll(Enumerable.Range(0, 8).Select(i =>
            store.Operations.SendAsync(new PutCompareExchangeValueOperation<int>("lock", i, 0))));
        var winner = results.Single(x => x.Successful).Value;
        Assert.Equal(winner, Get<int>(store, "lock").Value);
        Assert.True(results.All(x => x.Value == winner), "the others are given the value of the winner");
    }
}
