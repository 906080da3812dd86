// Deploying indexes, and looking after them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Exceptions.Documents.Indexes;

public class IndexAdministration : LibraryTests
{
    private static IndexDefinition Titles(string name = "Books/Titles", string field = "Title") =>
        new() { Name = name, Maps = { $"from b in docs.Books select new {{ b.{field} }}" } };

    private static PutIndexResult[] Put(IDocumentStore store, params IndexDefinition[] definitions) => store.Maintenance.Send(new PutIndexesOperation(definitions));

    public class Books_ByYear : AbstractIndexCreationTask<Book>
    {
        public Books_ByYear() => Map = books => from b in books select new { b.Year };
    }

    public class Books_ByTitle : AbstractIndexCreationTask<Book>
    {
        public Books_ByTitle() => Map = books => from b in books select new { b.Title };
    }

    [Test]
    public async Task Deploying()
    {
        using var store = Library();
        await IndexCreation.CreateIndexesAsync(new IAbstractIndexCreationTask[] { new Books_ByYear(), new Books_ByTitle() }, store);
        store.ExecuteIndexes(new IAbstractIndexCreationTask[] { new Books_ByYear(), new Facets.Books_ByAll() });
        Assert.Sequence(store.Maintenance.Send(new GetIndexNamesOperation(0, 10)), "Books/ByAll", "Books/ByTitle", "Books/ByYear");
        Assert.Sequence(store.Maintenance.Send(new GetIndexNamesOperation(1, 1)), "Books/ByTitle");
        Assert.Sequence(store.Maintenance.Send(new GetIndexesOperation(0, 10)).Select(x => x.Name), "Books/ByAll", "Books/ByTitle", "Books/ByYear");
        Assert.Null(store.Maintenance.Send(new GetIndexOperation("No/Such")));
    }

    [Test]
    public void TheSameAgain()
    {
        using var store = Library();
        store.ExecuteIndex(new Books_ByYear());
        var definition = store.Maintenance.Send(new GetIndexOperation("Books/ByYear"));
        store.ExecuteIndex(new Books_ByYear());
        Assert.Equal(definition.ToString(), store.Maintenance.Send(new GetIndexOperation("Books/ByYear")).ToString());
        Assert.False(store.Maintenance.Send(new IndexHasChangedOperation(new Books_ByYear().CreateIndexDefinition().Named("Books/ByYear"))));
        Assert.True(store.Maintenance.Send(new IndexHasChangedOperation(Titles("Books/ByYear"))));
        Assert.True(store.Maintenance.Send(new IndexHasChangedOperation(Titles("No/Such"))));
    }

    [Test]
    public void AnotherDefinition()
    {
        using var store = Library();
        Put(store, Titles());
        WaitForIndexing(store);
        Put(store, Titles(field: "Year"));
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Equal(1, session.Advanced.DocumentQuery<Book>("Books/Titles").WhereEquals("Year", 2003).Count());
        Assert.Throws<RavenException>(() => session.Advanced.DocumentQuery<Book>("Books/Titles").WhereEquals("Title", "Tides").ToList());
        Assert.Sequence(store.Maintenance.Send(new GetIndexNamesOperation(0, 10)), "Books/Titles");
    }

    [Test]
    public void StoppingAndStarting()
    {
        using var store = Library();
        Put(store, Titles(), Titles("Books/Years", "Year"));
        WaitForIndexing(store);
        store.Maintenance.Send(new StopIndexOperation("Books/Titles"));
        IndexRunningStatus Status(string name) => store.Maintenance.Send(new GetIndexingStatusOperation()).Indexes.Single(x => x.Name == name).Status;
        Assert.Equal(IndexRunningStatus.Paused, Status("Books/Titles"));
        Assert.Equal(IndexRunningStatus.Running, Status("Books/Years"));
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "New" });
            session.SaveChanges();
            Assert.Equal(9, session.Advanced.DocumentQuery<Book>("Books/Titles").Statistics(out var stats).ToList().Count);
            Assert.True(stats.IsStale);
        }
        store.Maintenance.Send(new StartIndexOperation("Books/Titles"));
        WaitForIndexing(store);
        using (var session = store.OpenSession()) Assert.Equal(10, session.Advanced.DocumentQuery<Book>("Books/Titles").ToList().Count);
        store.Maintenance.Send(new StopIndexingOperation());
        Assert.Equal(IndexRunningStatus.Paused, store.Maintenance.Send(new GetIndexingStatusOperation()).Status);
        store.Maintenance.Send(new StartIndexingOperation());
        Assert.Equal(IndexRunningStatus.Running, store.Maintenance.Send(new GetIndexingStatusOperation()).Status);
    }

    [Test]
    public void DisablingAndEnabling()
    {
        using var store = Library();
        Put(store, Titles());
        WaitForIndexing(store);
        store.Maintenance.Send(new DisableIndexOperation("Books/Titles"));
        Assert.Equal(IndexState.Disabled, store.Maintenance.Send(new GetIndexStatisticsOperation("Books/Titles")).State);
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "New" });
            session.SaveChanges();
        }
        store.Maintenance.Send(new EnableIndexOperation("Books/Titles"));
        Assert.Equal(IndexState.Normal, store.Maintenance.Send(new GetIndexStatisticsOperation("Books/Titles")).State);
        WaitForIndexing(store);
        using (var session = store.OpenSession()) Assert.Equal(10, session.Advanced.DocumentQuery<Book>("Books/Titles").ToList().Count);
    }

    [Test]
    public void Locks()
    {
        using var store = Library();
        Put(store, Titles());
        store.Maintenance.Send(new SetIndexesLockOperation("Books/Titles", IndexLockMode.LockedIgnore));
        Put(store, Titles(field: "Year"));
        Assert.Contains("b.Title", store.Maintenance.Send(new GetIndexOperation("Books/Titles")).Maps.Single());
        store.Maintenance.Send(new SetIndexesLockOperation("Books/Titles", IndexLockMode.LockedError));
        Assert.Throws<RavenException>(() => Put(store, Titles(field: "Year")));
        store.Maintenance.Send(new SetIndexesLockOperation("Books/Titles", IndexLockMode.Unlock));
        Put(store, Titles(field: "Year"));
        WaitForIndexing(store);
        Assert.Contains("b.Year", store.Maintenance.Send(new GetIndexOperation("Books/Titles")).Maps.Single());
    }

    [Test]
    public void Priorities()
    {
        using var store = Library();
        Put(store, Titles(), Titles("Books/Years", "Year"));
        store.Maintenance.Send(new SetIndexesPriorityOperation(new SetIndexesPriorityOperation.Parameters { IndexNames = new[] { "Books/Titles", "Books/Years" }, Priority = IndexPriority.Low }));
        Assert.True(store.Maintenance.Send(new GetIndexesOperation(0, 10)).All(x => x.Priority == IndexPriority.Low));
        Assert.Equal(IndexPriority.Low, store.Maintenance.Send(new GetIndexStatisticsOperation("Books/Titles")).Priority);
    }

    [Test]
    public void ResetAndDelete()
    {
        using var store = Library();
        Put(store, Titles());
        WaitForIndexing(store);
        store.Maintenance.Send(new ResetIndexOperation("Books/Titles"));
        WaitForIndexing(store);
        Assert.Equal(9L, store.Maintenance.Send(new GetIndexStatisticsOperation("Books/Titles")).EntriesCount);
        store.Maintenance.Send(new DeleteIndexOperation("Books/Titles"));
        Assert.Equal(0, store.Maintenance.Send(new GetIndexNamesOperation(0, 10)).Length);
        using var session = store.OpenSession();
        Assert.Throws<IndexDoesNotExistException>(() => session.Advanced.DocumentQuery<Book>("Books/Titles").ToList());
        Assert.Throws<IndexDoesNotExistException>(() => store.Maintenance.Send(new ResetIndexOperation("Books/Titles")));
    }

    [Test]
    public void Statistics()
    {
        using var store = Library();
        store.ExecuteIndex(new IndexMaps.Books_Editions());
        store.ExecuteIndex(new IndexGroups.Authors_Work());
        WaitForIndexing(store);
        var editions = store.Maintenance.Send(new GetIndexStatisticsOperation("Books/Editions"));
        Assert.Equal(Books.SelectMany(x => x.Editions).Count(x => x.Year > 1990), (int)editions.EntriesCount);
        Assert.Equal("Map Normal Books", $"{editions.Type} {editions.State} {editions.Collections.Keys.Single()}");
        Assert.False(editions.IsStale);
        Assert.Equal(9, editions.MapSuccesses);
        var authors = store.Maintenance.Send(new GetIndexStatisticsOperation("Authors/Work"));
        Assert.Equal(3L, authors.EntriesCount);
        Assert.Equal(IndexType.MapReduce, authors.Type);
        Assert.Equal(2, store.Maintenance.Send(new GetIndexesStatisticsOperation()).Length);
    }

    [Test]
    public void AutomaticIndexes()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Query<Book>().Where(x => x.Year > 1).ToList();
            session.Query<Book>().Where(x => x.Year > 1 && x.Title == "x").ToList();
            session.Query<Book>().GroupBy(x => x.Author).Select(g => new { g.Key, Count = g.Count() }).ToList();
        }
        WaitForIndexing(store);
        Eventually("Auto/Books/ByCountReducedByAuthor, Auto/Books/ByTitleAndYear", () => string.Join(", ", store.Maintenance.Send(new GetIndexNamesOperation(0, 10)).OrderBy(x => x)));
        Assert.Equal(IndexType.AutoMapReduce, store.Maintenance.Send(new GetIndexOperation("Auto/Books/ByCountReducedByAuthor")).Type);
    }

    [Test]
    public void WaitingAfterSaving()
    {
        using var store = Library();
        store.ExecuteIndex(new Books_ByTitle());
        for (var i = 0; i < 10; i++)
        {
            using var session = store.OpenSession();
            session.Advanced.WaitForIndexesAfterSaveChanges(TimeSpan.FromSeconds(15), throwOnTimeout: true, indexes: new[] { "Books/ByTitle" });
            var title = "new " + i;
            session.Store(new Book { Title = title });
            session.SaveChanges();
            Assert.Equal(1, session.Query<Book, Books_ByTitle>().Count(x => x.Title == title));
        }
        store.Maintenance.Send(new StopIndexingOperation());
        using var late = store.OpenSession();
        late.Advanced.WaitForIndexesAfterSaveChanges(TimeSpan.FromMilliseconds(200), throwOnTimeout: true, indexes: new[] { "Books/ByTitle" });
        late.Store(new Book { Title = "late" });
        Assert.Throws<RavenTimeoutException>(() => late.SaveChanges());
    }

    [Test]
    public void Explaining()
    {
        using var store = Library();
        using var session = store.OpenSession();
        session.Query<Book>().Where(x => x.Year > 1).ToList();
        var explain = new Raven.Client.Documents.Commands.ExplainQueryCommand(store.Conventions, new Raven.Client.Documents.Queries.IndexQuery { Query = "from Books where Title = 'a'" });
        session.Advanced.RequestExecutor.Execute(explain, session.Advanced.Context);
        var result = explain.Result.Single(x => x.Index == "Auto/Books/ByYear");
        Assert.Contains("Title", result.Reason);
    }
}

internal static class Definitions
{
    /// What a class gives has no name yet.
    public static IndexDefinition Named(this IndexDefinition definition, string name)
    {
        definition.Name = name;
        return definition;
    }
}
