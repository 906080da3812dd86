// Former states of documents.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Commands.Batches;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Revisions;
using Raven.Client.Documents.Session;
using Raven.Client.Json;

public class Revisions : LibraryTests
{
    /// A store whose books have revisions, with one that was changed twice.
    private DocumentStore Changed(Action<RevisionsCollectionConfiguration> configure = null)
    {
        var store = Store();
        var configuration = new RevisionsCollectionConfiguration();
        configure?.Invoke(configuration);
        store.Maintenance.Send(new ConfigureRevisionsOperation(new RevisionsConfiguration
        {
            Collections = new Dictionary<string, RevisionsCollectionConfiguration> { ["Books"] = configuration },
        }));
        for (var i = 1; i <= 3; i++) Put(store, i);
        return store;
    }

    private static void Put(IDocumentStore store, int pages, string id = "books/1")
    {
        using var session = store.OpenSession();
        session.Store(new Book { Title = "x", Pages = pages }, id);
        session.SaveChanges();
    }

    private static void Delete(IDocumentStore store, string id = "books/1")
    {
        using var session = store.OpenSession();
        session.Delete(id);
        session.SaveChanges();
    }

    private static long[] Pages(IDocumentStore store, string id = "books/1")
    {
        using var session = store.OpenSession();
        return session.Advanced.Revisions.GetFor<Book>(id).Select(x => x?.Pages ?? 0).ToArray();
    }

    private static string Flags(IMetadataDictionary metadata) => metadata.GetString("@flags");

    [Test]
    public void TheNewestFirst()
    {
        using var store = Changed();
        Assert.Sequence(Pages(store), 3L, 2, 1);
        using var session = store.OpenSession();
        Assert.Sequence(session.Advanced.Revisions.GetFor<Book>("books/1", 1, 1).Select(x => x.Pages), 2L);
        Assert.Equal(3L, session.Advanced.Revisions.GetCountFor("books/1"));
        Assert.Equal(0L, session.Advanced.Revisions.GetCountFor("books/2"));
        var metadata = session.Advanced.Revisions.GetMetadataFor("books/1");
        Assert.True(metadata.All(x => Flags(x).Contains("Revision")), "flags");
        Assert.Contains("HasRevisions", Flags(session.Advanced.GetMetadataFor(session.Load<Book>("books/1"))));
    }

    [Test]
    public void ByChangeVectorAndTime()
    {
        using var store = Changed();
        using var session = store.OpenSession();
        var metadata = session.Advanced.Revisions.GetMetadataFor("books/1");
        var vectors = metadata.Select(x => x.GetString("@change-vector")).ToArray();
        Assert.Equal(2L, session.Advanced.Revisions.Get<Book>(vectors[1]).Pages);
        var several = session.Advanced.Revisions.Get<Book>(new[] { vectors[0], vectors[2], "A:999-nosuchvector0000000000" });
        Assert.Equal("3 1 ", $"{several[vectors[0]].Pages} {several[vectors[2]].Pages} {several.Values.Last()?.Pages}");
        var second = DateTime.Parse(metadata[1].GetString("@last-modified")).ToUniversalTime();
        Assert.Equal(2L, session.Advanced.Revisions.Get<Book>("books/1", second).Pages);
        Assert.Null(session.Advanced.Revisions.Get<Book>("books/1", second.AddHours(-1)));
    }

    [Test]
    public void OnlyTheNewestAreKept()
    {
        using var store = Changed(x => x.MinimumRevisionsToKeep = 2);
        Put(store, 4);
        Assert.Sequence(Pages(store), 4L, 3);
    }

    [Test]
    public void OnlyOfConfiguredCollections()
    {
        using var store = Changed();
        using var session = store.OpenSession();
        session.Store(new Member { Name = "Olga" }, "members/1");
        session.SaveChanges();
        Assert.Equal(0L, session.Advanced.Revisions.GetCountFor("members/1"));
    }

    [Test]
    public void OfDeletedDocuments()
    {
        using var store = Changed();
        Delete(store);
        using (var session = store.OpenSession())
        {
            var metadata = session.Advanced.Revisions.GetMetadataFor("books/1");
            Assert.Equal(4, metadata.Count);
            Assert.Contains("DeleteRevision", Flags(metadata[0]));
        }
        Put(store, 9);
        Assert.Equal(9L, Pages(store)[0]);
    }

    [Test]
    public void PurgedOnDelete()
    {
        using var store = Changed(x => x.PurgeOnDelete = true);
        Delete(store);
        using var session = store.OpenSession();
        Assert.Equal(0L, session.Advanced.Revisions.GetCountFor("books/1"));
    }

    [Test]
    public void ByForce()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Advanced.Revisions.ForceRevisionCreationFor("books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/2");
            book.Title = "Changed";
            session.Advanced.Revisions.ForceRevisionCreationFor(book, ForceRevisionStrategy.Before);
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Contains("ForceCreated", Flags(session.Advanced.Revisions.GetMetadataFor("books/1").Single()));
            Assert.Sequence(session.Advanced.Revisions.GetFor<Book>("books/2").Select(x => x.Title), "Stones and Rivers");
        }
    }

    [Test]
    public void BroughtBack()
    {
        using var store = Changed();
        string first;
        using (var session = store.OpenSession())
            first = session.Advanced.Revisions.GetMetadataFor("books/1").Last().GetString("@change-vector");
        store.Operations.Send(new RevertRevisionsByIdOperation("books/1", first));
        using (var session = store.OpenSession()) Assert.Equal(1L, session.Load<Book>("books/1").Pages);
        Assert.Sequence(Pages(store), 1L, 3, 2, 1);
    }

    [Test]
    public void BroughtBackAfterADeletion()
    {
        using var store = Changed();
        Delete(store);
        using (var session = store.OpenSession())
        {
            var last = session.Advanced.Revisions.GetMetadataFor("books/1")[1].GetString("@change-vector");
            store.Operations.Send(new RevertRevisionsByIdOperation(new Dictionary<string, string> { ["books/1"] = last }));
        }
        using (var session = store.OpenSession()) Assert.Equal(3L, session.Load<Book>("books/1").Pages);
    }

    [Test]
    public void RemovedByHand()
    {
        using var store = Changed();
        Put(store, 1, "books/2");
        var removed = store.Maintenance.Send(new DeleteRevisionsOperation("books/1"));
        Assert.Equal(3L, removed.TotalDeletes);
        Assert.Equal(0, Pages(store).Length);
        Assert.Sequence(Pages(store, "books/2"), 1L);
    }

    [Test]
    public void WithCountersAndAttachments()
    {
        using var store = Changed();
        using (var session = store.OpenSession())
        {
            session.CountersFor("books/1").Increment("likes", 4);
            session.Advanced.Attachments.Store("books/1", "notes", new MemoryStream(new byte[] { 1, 2, 3 }));
            session.SaveChanges();
        }
        Put(store, 4);
        using (var session = store.OpenSession())
        {
            var newest = session.Advanced.Revisions.GetMetadataFor("books/1")[0];
            Assert.Equal("notes", newest.GetObjects("@attachments").Single().GetString("Name"));
            Assert.Equal(4L, newest.GetObject("@counters-snapshot").GetLong("likes"));
        }
    }

    [Test]
    public void ContentsOfAttachments()
    {
        using var store = Changed();
        void Attach(byte content)
        {
            using var session = store.OpenSession();
            session.Advanced.Attachments.Store("books/1", "notes", new MemoryStream(new[] { content }));
            session.SaveChanges();
        }
        Attach(1);
        Attach(2);
        using var session = store.OpenSession();
        var vectors = session.Advanced.Revisions.GetMetadataFor("books/1").Select(x => x.GetString("@change-vector")).ToArray();
        int Read(string vector)
        {
            using var attachment = session.Advanced.Attachments.GetRevision("books/1", "notes", vector);
            return attachment.Stream.ReadByte();
        }
        Assert.Equal("2 1", $"{Read(vectors[0])} {Read(vectors[1])}");
        Assert.Null(session.Advanced.Attachments.GetRevision("books/1", "notes", vectors[2]));
    }

    [Test]
    public void Included()
    {
        using var store = Changed();
        DateTime second;
        using (var session = store.OpenSession())
            second = DateTime.Parse(session.Advanced.Revisions.GetMetadataFor("books/1")[1].GetString("@last-modified")).ToUniversalTime();
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/1", i => i.IncludeRevisions(second));
            Assert.Equal(2L, session.Advanced.Revisions.Get<Book>("books/1", second).Pages);
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
        using (var session = store.OpenSession())
        {
            session.Query<Book>().Include(i => i.IncludeRevisions(second)).ToList();
            Assert.Equal(2L, session.Advanced.Revisions.Get<Book>("books/1", second).Pages);
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
    }

    [Test]
    public void ManagedByTheConfiguration()
    {
        using var store = Changed();
        var result = store.Maintenance.Send(new ConfigureRevisionsOperation(new RevisionsConfiguration
        {
            Collections = new Dictionary<string, RevisionsCollectionConfiguration> { ["Books"] = new() { MinimumRevisionsToKeep = 1 } },
        }));
        Assert.True(result.RaftCommandIndex > 0);
        var operation = store.Operations.Send(new EnforceRevisionsConfigurationOperation());
        operation.WaitForCompletion(TimeSpan.FromSeconds(15));
        Assert.Sequence(Pages(store), 3L);
    }

    [Test]
    public async Task Asynchronously()
    {
        using var store = Changed();
        using var session = store.OpenAsyncSession();
        var revisions = await session.Advanced.Revisions.GetForAsync<Book>("books/1");
        Assert.Sequence(revisions.Select(x => x.Pages), 3L, 2, 1);
        Assert.Equal(3L, await session.Advanced.Revisions.GetCountForAsync("books/1"));
    }
}
