// Notifications of changed documents, indexes and operations.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Changes;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Session;

public class ChangesFeed : LibraryTests
{
    private static readonly TimeSpan Wait = TimeSpan.FromSeconds(15);

    /// Subscribes, and returns once the server has confirmed it.
    private static Seen<T> Watch<T>(IChangesObservable<T> observable)
    {
        var seen = new Seen<T>();
        observable.Subscribe(seen);
        Assert.True(observable.EnsureSubscribedNow().Wait(Wait), "the subscription is confirmed");
        return seen;
    }

    private static void Put(IDocumentStore store, string id)
    {
        using var session = store.OpenSession();
        session.Store(new Book { Title = "x" }, id);
        session.SaveChanges();
    }

    private static void Delete(IDocumentStore store, string id)
    {
        using var session = store.OpenSession();
        session.Delete(id);
        session.SaveChanges();
    }

    [Test]
    public void OneDocument()
    {
        using var store = Store();
        using var changes = store.Changes();
        var seen = Watch(changes.ForDocument("books/1"));
        Put(store, "books/2");
        Put(store, "books/1");
        var change = seen.Next();
        Assert.Equal("books/1 Put Books", $"{change.Id} {change.Type} {change.CollectionName}");
        using (var session = store.OpenSession()) Assert.Equal(session.Advanced.GetChangeVectorFor(session.Load<Book>("books/1")), change.ChangeVector);
        Delete(store, "books/1");
        Assert.Equal(DocumentChangeTypes.Delete, seen.Next().Type);
    }

    [Test]
    public void AllDocuments()
    {
        using var store = Store();
        using var changes = store.Changes();
        var seen = Watch(changes.ForAllDocuments());
        // Each is waited for: of a document that is written twice before the server looks, it tells the latest state only.
        string Told()
        {
            var change = seen.Next();
            return $"{change.Type} {change.Id}";
        }
        Put(store, "a/1");
        Assert.Equal("Put a/1", Told());
        Put(store, "b/1");
        Assert.Equal("Put b/1", Told());
        Delete(store, "a/1");
        Assert.Equal("Delete a/1", Told());
    }

    [Test]
    public void ByCollectionAndPrefix()
    {
        using var store = Store();
        using var changes = store.Changes();
        var books = Watch(changes.ForDocumentsInCollection<Book>());
        var prefix = Watch(changes.ForDocumentsStartingWith("shelf/"));
        using (var session = store.OpenSession())
        {
            session.Store(new Member(), "members/1");
            session.Store(new Member(), "shelf/1");
            session.Store(new Book(), "books/1");
            session.SaveChanges();
        }
        Assert.Equal("books/1", books.Next().Id);
        Assert.Equal("shelf/1", prefix.Next().Id);
    }

    [Test]
    public void Unsubscribing()
    {
        using var store = Store();
        using var changes = store.Changes();
        var all = Watch(changes.ForAllDocuments());
        var one = new Seen<DocumentChange>();
        var observable = changes.ForDocument("books/1");
        var subscription = observable.Subscribe(one);
        observable.EnsureSubscribedNow().Wait(Wait);
        Put(store, "books/1");
        one.Next();
        subscription.Dispose();
        Put(store, "books/1");
        Put(store, "books/2");
        all.Next(x => x.Id == "books/2");
        Assert.Equal(0, one.Count);
    }

    [Test]
    public void Indexes()
    {
        using var store = Library();
        using var changes = store.Changes();
        var all = Watch(changes.ForAllIndexes());
        var one = Watch(changes.ForIndex("Books/ByTitle"));
        store.Maintenance.Send(new PutIndexesOperation(new IndexDefinition { Name = "Books/ByTitle", Maps = { "from b in docs.Books select new { b.Title }" } }));
        Assert.Equal("Books/ByTitle", all.Next(x => x.Type == IndexChangeTypes.IndexAdded).Name);
        one.Next(x => x.Type == IndexChangeTypes.BatchCompleted);
        store.Maintenance.Send(new SetIndexesPriorityOperation("Books/ByTitle", IndexPriority.Low));
        one.Next(x => x.Type == IndexChangeTypes.PriorityChanged);
        store.Maintenance.Send(new SetIndexesLockOperation("Books/ByTitle", IndexLockMode.LockedIgnore));
        one.Next(x => x.Type == IndexChangeTypes.LockModeChanged);
        store.Maintenance.Send(new SetIndexesLockOperation("Books/ByTitle", IndexLockMode.Unlock));
        store.Maintenance.Send(new DeleteIndexOperation("Books/ByTitle"));
        all.Next(x => x.Type == IndexChangeTypes.IndexRemoved);
    }

    [Test]
    public void Operations()
    {
        using var store = Library();
        using var changes = store.Changes(store.Database, "A");
        var seen = Watch(changes.ForAllOperations());
        store.Operations.Send(new PatchByQueryOperation("from Books update { this.Year = 1; }")).WaitForCompletion(Wait);
        var change = seen.Next(x => x.State.Status == OperationStatus.Completed);
        Assert.Equal(9L, ((BulkOperationResult)change.State.Result).Total);
    }

    [Test]
    public void ManyChanges()
    {
        using var store = Store();
        using var changes = store.Changes();
        var seen = Watch(changes.ForDocumentsInCollection("Books"));
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 500; i++) bulk.Store(new Book(), "books/" + i);
        Assert.Equal(500, Enumerable.Range(0, 500).Select(_ => seen.Next().Id).Distinct().Count());
    }
}
