// Databases: creating, deleting, disabling, records, statistics, client configurations.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Exceptions.Database;
using Raven.Client.ServerWide;
using Raven.Client.ServerWide.Operations;
using Raven.Client.ServerWide.Operations.Configuration;

public class Databases : LibraryTests
{
    [Test]
    public void CreateAndDelete()
    {
        var name = NewName();
        using var store = StoreOf(name);
        var made = store.Maintenance.Server.Send(new CreateDatabaseOperation(new DatabaseRecord(name)));
        Assert.Equal(name, made.Name);
        Assert.True(made.RaftCommandIndex > 0);
        Assert.Throws<ConcurrencyException>(() => store.Maintenance.Server.Send(new CreateDatabaseOperation(new DatabaseRecord(name))));
        Assert.True(store.Maintenance.Server.Send(new GetDatabaseNamesOperation(0, 1000)).Contains(name));
        using (var session = store.OpenSession())
        {
            session.Store(new Book(), "books/1");
            session.SaveChanges();
        }
        store.Maintenance.Server.Send(new DeleteDatabasesOperation(name, hardDelete: true));
        Assert.False(store.Maintenance.Server.Send(new GetDatabaseNamesOperation(0, 1000)).Contains(name));
        using (var session = store.OpenSession())
            Assert.Throws<DatabaseDoesNotExistException>(() => session.Load<Book>("books/1"));
        store.Maintenance.Server.Send(new CreateDatabaseOperation(new DatabaseRecord(name)));
        using (var session = store.OpenSession()) Assert.Null(session.Load<Book>("books/1"));
    }

    [Test]
    public void Builder()
    {
        var name = NewName();
        using var store = StoreOf(name);
        store.Maintenance.Server.Send(new CreateDatabaseOperation(b => b.Regular(name)));
        using var session = store.OpenSession();
        Assert.Equal(0, session.Query<Book>().Count());
    }

    [Test]
    public void MissingDatabase()
    {
        using var store = StoreOf(NewName());
        using var session = store.OpenSession();
        Assert.Throws<DatabaseDoesNotExistException>(() => session.Load<Book>("books/1"));
        Assert.Throws<DatabaseDoesNotExistException>(() => session.Query<Book>().ToList());
        Assert.Null(store.Maintenance.Server.Send(new GetDatabaseRecordOperation(store.Database)));
    }

    [Test]
    public void Names()
    {
        using var store = StoreOf(NewName());
        foreach (var name in new[] { "a b", "a/b", "a?b", "a*b" })
            Assert.Throws<InvalidOperationException>(() => store.Maintenance.Server.Send(new CreateDatabaseOperation(new DatabaseRecord(name))));
    }

    [Test]
    public void DisableAndEnable()
    {
        using var store = Library();
        var result = store.Maintenance.Server.Send(new ToggleDatabasesStateOperation(store.Database, disable: true));
        Assert.True(result.Success && result.Disabled);
        using (var session = store.OpenSession())
            Assert.Throws<DatabaseDisabledException>(() => session.Load<Book>("books/1"));
        store.Maintenance.Server.Send(new ToggleDatabasesStateOperation(store.Database, disable: false));
        using (var session = store.OpenSession())
        {
            session.Store(new Book(), "books/1");
            session.SaveChanges();
            Assert.Equal(1, session.Query<Book>().Count(x => x.Id == "books/1"));
        }
    }

    [Test]
    public void Locks()
    {
        using var store = Library();
        store.Maintenance.Server.Send(new SetDatabasesLockOperation(store.Database, DatabaseLockMode.PreventDeletesError));
        Assert.Throws<RavenException>(() => store.Maintenance.Server.Send(new DeleteDatabasesOperation(store.Database, hardDelete: true)));
        Assert.Equal(DatabaseLockMode.PreventDeletesError, store.Maintenance.Server.Send(new GetDatabaseRecordOperation(store.Database)).LockMode);
        store.Maintenance.Server.Send(new SetDatabasesLockOperation(store.Database, DatabaseLockMode.Unlock));
        store.Maintenance.Server.Send(new DeleteDatabasesOperation(store.Database, hardDelete: true));
    }

    [Test]
    public void Records()
    {
        using var store = Library();
        var record = store.Maintenance.Server.Send(new GetDatabaseRecordOperation(store.Database));
        Assert.Equal(store.Database, record.DatabaseName);
        Assert.Sequence(record.Topology.Members, "A");
        record.Settings["Indexing.MapTimeoutInSec"] = "33";
        store.Maintenance.Server.Send(new UpdateDatabaseOperation(record, record.Etag));
        Assert.Equal("33", store.Maintenance.Server.Send(new GetDatabaseRecordOperation(store.Database)).Settings["Indexing.MapTimeoutInSec"]);
        Assert.Throws<ConcurrencyException>(() => store.Maintenance.Server.Send(new UpdateDatabaseOperation(record, record.Etag)));
    }

    [Test]
    public void Settings()
    {
        using var store = Library();
        store.Maintenance.Send(new PutDatabaseSettingsOperation(store.Database, new Dictionary<string, string> { ["Indexing.MapTimeoutInSec"] = "44" }));
        Assert.Equal("44", store.Maintenance.Send(new GetDatabaseSettingsOperation(store.Database)).Settings["Indexing.MapTimeoutInSec"]);
    }

    [Test]
    public void Statistics()
    {
        using var store = Library();
        using (var session = store.OpenSession()) session.Query<Book>().Where(x => x.Year > 1).ToList();
        WaitForIndexing(store);
        var stats = store.Maintenance.Send(new GetStatisticsOperation());
        Assert.Equal(31L, stats.CountOfDocuments);
        Assert.Equal(1, stats.CountOfIndexes);
        Assert.Equal("Auto/Books/ByYear", stats.Indexes[0].Name);
        Assert.Equal(0L, stats.CountOfRevisionDocuments + stats.CountOfConflicts + stats.CountOfAttachments + stats.CountOfCounterEntries);
        Assert.True(stats.LastDocEtag >= 31 && stats.DatabaseId.Length == 22 && stats.DatabaseChangeVector.Contains(stats.DatabaseId));
        var collections = store.Maintenance.Send(new GetCollectionStatisticsOperation());
        Assert.Equal(31L, collections.CountOfDocuments);
        Assert.Set(collections.Collections.Select(x => $"{x.Key} {x.Value}"), "Authors 3", "Books 9", "Members 3", "Loans 12", "Branches 4");
        var detailed = store.Maintenance.Send(new GetDetailedCollectionStatisticsOperation());
        Assert.Equal(9L, detailed.Collections["Books"].CountOfDocuments);
        Assert.True(detailed.Collections["Books"].Size.SizeInBytes > 0);
        Assert.Equal(0L, store.Maintenance.Send(new GetDetailedStatisticsOperation()).CountOfTimeSeriesDeletedRanges);
        Assert.Equal(31L, store.Maintenance.Send(new GetEssentialStatisticsOperation()).CountOfDocuments);
    }

    [Test]
    public void Server()
    {
        using var store = Library();
        Assert.True(store.Maintenance.Server.Send(new GetBuildNumberOperation()).ProductVersion.StartsWith("7.1"));
    }

    [Test]
    public void OtherDatabasesOfASession()
    {
        using var first = Library();
        using var second = Store();
        using (var session = first.OpenSession(second.Database))
        {
            session.Store(new Book { Title = "second" }, "books/1");
            session.SaveChanges();
        }
        using (var session = second.OpenSession()) Assert.Equal("second", session.Load<Book>("books/1").Title);
        using (var session = first.OpenSession()) Assert.Equal("The Quiet Harbour", session.Load<Book>("books/1").Title);
        Assert.Equal(1L, first.Maintenance.ForDatabase(second.Database).Send(new GetStatisticsOperation()).CountOfDocuments);
    }
}
