// Patches: in sessions, as operations, by query; deletions by query.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Raven.Client;
using Raven.Client.Documents;
using Raven.Client.Documents.Commands.Batches;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Exceptions.Documents.Indexes;
using Raven.Client.Exceptions.Documents.Patching;

public class Patches : LibraryTests
{
    private static readonly TimeSpan Wait = TimeSpan.FromSeconds(15);

    private static Book Load(IDocumentStore store, string id)
    {
        using var session = store.OpenSession();
        return session.Load<Book>(id);
    }

    [Test]
    public void Values()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Advanced.Patch<Book, string>("books/1", x => x.Title, "New \"title\"");
            session.Advanced.Patch<Book, string>("books/1", x => x.Shelf.Room, "West");
            session.Advanced.Increment<Book, long>("books/1", x => x.Pages, 10);
            session.Advanced.Increment<Book, int>("books/1", x => x.Shelf.Row, -1);
            session.Advanced.Patch<Book, Genre>("books/2", x => x.Genre, Genre.Poetry);
            session.Advanced.Patch<Book, double?>("books/2", x => x.Rating, null);
            Assert.Equal(0, session.Advanced.NumberOfRequests);
            session.SaveChanges();
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
        var book = Load(store, "books/1");
        Assert.Equal("New \"title\" West 322 0", $"{book.Title} {book.Shelf.Room} {book.Pages} {book.Shelf.Row}");
        Assert.Equal(Genre.Poetry, Load(store, "books/2").Genre);
        Assert.Null(Load(store, "books/2").Rating);
    }

    [Test]
    public void Lists()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Advanced.Patch<Book, string>("books/1", x => x.Tags, t => t.Add("new"));
            session.Advanced.Patch<Book, string>("books/3", x => x.Tags, t => t.Add("a", "b"));
            session.Advanced.Patch<Book, string>("books/2", x => x.Tags, t => t.RemoveAt(0));
            session.Advanced.Patch<Book, Edition>("books/2", x => x.Editions, e => e.Add(new Edition { Publisher = "Third", Copies = 7 }));
            session.Advanced.Patch<Book, Edition>("books/4", x => x.Editions, e => e.RemoveAll(y => y.Publisher == "Polis"));
            session.SaveChanges();
        }
        Assert.Sequence(Load(store, "books/1").Tags, "sea", "family", "new");
        Assert.Sequence(Load(store, "books/3").Tags, "family", "letters", "city", "a", "b");
        Assert.Sequence(Load(store, "books/2").Tags, "rivers");
        Assert.Equal(7, Load(store, "books/2").Editions.Last().Copies);
        Assert.Sequence(Load(store, "books/4").Editions.Select(x => x.Publisher), "Ekman");
    }

    [Test]
    public void Dictionaries()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Advanced.Patch<Book, string, string>("books/2", x => x.Notes, d => d.Add("size", "large"));
            session.Advanced.Patch<Book, string, string>("books/4", x => x.Notes, d => d.Remove("state"));
            session.SaveChanges();
        }
        Assert.Equal("large", Load(store, "books/2").Notes["size"]);
        Assert.Sequence(Load(store, "books/4").Notes.Keys, "by");
    }

    [Test]
    public void OfLoadedEntities()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            session.Advanced.Increment(book, x => x.Year, 1);
            session.Advanced.Patch(book, x => x.Title, "Patched");
            session.SaveChanges();
            Assert.Equal("Patched 1989", $"{book.Title} {book.Year}");
        }
        Assert.Equal("Patched", Load(store, "books/1").Title);
    }

    [Test]
    public void AddOrPatch()
    {
        using var store = Library();
        for (var i = 0; i < 3; i++)
        {
            using var session = store.OpenSession();
            session.Advanced.AddOrPatch("books/40", new Book { Title = "Made", Pages = 1 }, x => x.Pages, 7L);
            session.Advanced.AddOrIncrement("books/41", new Book { Pages = 100 }, x => x.Pages, 5L);
            session.Advanced.AddOrPatch<Book, string>("books/42", new Book { Tags = { "first" } }, x => x.Tags, t => t.Add("more"));
            session.SaveChanges();
        }
        Assert.Equal(7L, Load(store, "books/40").Pages);
        Assert.Equal(110L, Load(store, "books/41").Pages);
        Assert.Sequence(Load(store, "books/42").Tags, "first", "more", "more");
    }

    [Test]
    public void DeferredCommands()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Advanced.Defer(
                new PatchCommandData("books/1", null, new PatchRequest { Script = "this.Title = args.t;", Values = { ["t"] = "Deferred" } }, null),
                new PatchCommandData("books/44", null, new PatchRequest { Script = "this.Title = 'no';" }, new PatchRequest { Script = "this.Title = 'made'; this['@metadata'] = {'@collection': 'Books'};" }),
                new DeleteCommandData("books/2", null),
                new PutCommandData("books/45", null, new Sparrow.Json.Parsing.DynamicJsonValue { ["Title"] = "Put", ["@metadata"] = new Sparrow.Json.Parsing.DynamicJsonValue { ["@collection"] = "Books" } }),
                new BatchPatchCommandData(new[] { "books/3", "books/4" }, new PatchRequest { Script = "this.Pages = 1;" }, null),
                new DeletePrefixedCommandData("loans/"));
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Equal("Deferred made Put", $"{session.Load<Book>("books/1").Title} {session.Load<Book>("books/44").Title} {session.Load<Book>("books/45").Title}");
            Assert.Null(session.Load<Book>("books/2"));
            Assert.Equal(2L, session.Load<Book>(new[] { "books/3", "books/4" }).Values.Sum(x => x.Pages));
            Assert.Equal(0, session.Advanced.LoadStartingWith<Loan>("loans/").Length);
        }
    }

    [Test]
    public void Operations()
    {
        using var store = Library();
        var result = store.Operations.Send<Book>(new PatchOperation<Book>("books/1", null, new PatchRequest { Script = "this.Tags = this.Tags.map(t => t.toUpperCase()); this.Year += args.n;", Values = { ["n"] = 2 } }));
        Assert.Equal(PatchStatus.Patched, result.Status);
        Assert.Equal(1990, result.Document.Year);
        Assert.Sequence(result.Document.Tags, "SEA", "FAMILY");
        Assert.Equal(PatchStatus.NotModified, store.Operations.Send(new PatchOperation("books/1", null, new PatchRequest { Script = "var x = this.Year;" })));
        Assert.Equal(PatchStatus.DocumentDoesNotExist, store.Operations.Send(new PatchOperation("books/77", null, new PatchRequest { Script = "this.Year = 1;" })));
        Assert.Equal(PatchStatus.Created, store.Operations.Send(new PatchOperation("books/78", null, new PatchRequest { Script = "this.Year = 2;" }, new PatchRequest { Script = "this.Year = 3;" })));
        Assert.Equal(3, Load(store, "books/78").Year);
    }

    [Test]
    public void ChangeVectors()
    {
        using var store = Library();
        string vector;
        using (var session = store.OpenSession()) vector = session.Advanced.GetChangeVectorFor(session.Load<Book>("books/1"));
        var patch = new PatchRequest { Script = "this.Year++;" };
        Assert.Equal(PatchStatus.Patched, store.Operations.Send(new PatchOperation("books/1", vector, patch)));
        Assert.Throws<ConcurrencyException>(() => store.Operations.Send(new PatchOperation("books/1", vector, patch)));
        Assert.Equal(PatchStatus.NotModified, store.Operations.Send(new PatchOperation("books/1", vector, patch, skipPatchIfChangeVectorMismatch: true)));
        Assert.Equal(1989, Load(store, "books/1").Year);
    }

    [Test]
    public void Scripts()
    {
        using var store = Library();
        var script = new PatchRequest
        {
            Script = @"
                var author = load(this.Author);
                this.Summary = author.Name + ', ' + id(this);
                put('notes/1', { Of: id(this), '@metadata': { '@collection': 'Notes' } });
                var made = put('notes/', { Of: 'server' });
                this.Title = made.startsWith('notes/0');
                del('loans/1');
                delete this.Notes;
                this.Big = 9007199254740993;",
        };
        store.Operations.Send(new PatchOperation("books/1", null, script));
        using var session = store.OpenSession();
        var book = session.Load<JObject>("books/1");
        Assert.Equal("Maria Lind, books/1", (string)book["Summary"]);
        Assert.Equal("true", ((string)book["Title"]).ToLowerInvariant());
        Assert.Null(book["Notes"]);
        Assert.Equal("books/1", (string)session.Load<JObject>("notes/1")["Of"]);
        Assert.False(session.Advanced.Exists("loans/1"));
    }

    [Test]
    public void ScriptsThatFail()
    {
        using var store = Library();
        Assert.Throws<JavaScriptException>(() => store.Operations.Send(new PatchOperation("books/1", null, new PatchRequest { Script = "this.Title = 'x'; throw new Error('wanted');" })));
        Assert.Throws<JavaScriptParseException>(() => store.Operations.Send(new PatchOperation("books/1", null, new PatchRequest { Script = "this.Title = ;" })));
        Assert.Equal("The Quiet Harbour", Load(store, "books/1").Title);
        using var session = store.OpenSession();
        session.Store(new Book(), "books/50");
        session.Advanced.Defer(new PatchCommandData("books/1", null, new PatchRequest { Script = "throw 'no';" }, null));
        Assert.Throws<JavaScriptException>(() => session.SaveChanges());
        Assert.Null(Load(store, "books/50"));
    }

    [Test]
    public async Task ByQuery()
    {
        using var store = Library();
        var operation = await store.Operations.SendAsync(new PatchByQueryOperation("from Books as b where b.Genre = 'Novel' load b.Author as a update { this.Summary = a.Name; this.Pages *= 2; }"));
        var result = await operation.WaitForCompletionAsync<BulkOperationResult>(Wait);
        Assert.Equal(3L, result.Total);
        Assert.Equal("Jan Kowal 1024", $"{Load(store, "books/6").Summary} {Load(store, "books/6").Pages}");
        operation = await store.Operations.SendAsync(new PatchByQueryOperation("from Books update { this.Lent = null; }"));
        Assert.Equal(9L, (await operation.WaitForCompletionAsync<BulkOperationResult>(Wait)).Total);
    }

    [Test]
    public void ByQueryWithDetails()
    {
        using var store = Library();
        var query = new IndexQuery { Query = "from Books where Year > $y update { if (this.Genre == 'Essay') this.Year = args.z; }", QueryParameters = new Parameters { ["y"] = 2005, ["z"] = 1 } };
        var operation = store.Operations.Send(new PatchByQueryOperation(query, new QueryOperationOptions { RetrieveDetails = true, AllowStale = false, StaleTimeout = Wait }));
        var result = operation.WaitForCompletion<BulkOperationResult>(Wait);
        var details = result.Details.Cast<BulkOperationResult.PatchDetails>().ToList();
        Assert.Set(details.Select(x => $"{x.Id} {x.Status}"), "books/3 NotModified", "books/6 NotModified", "books/7 NotModified", "books/8 Patched");
    }

    [Test]
    public void ByQueryThatFails()
    {
        using var store = Library();
        var operation = store.Operations.Send(new PatchByQueryOperation("from Books update { throw 'no'; }"));
        var error = Assert.Throws<JavaScriptException>(() => operation.WaitForCompletion(Wait));
        Assert.Contains("no", error.Message);
    }

    [Test]
    public void DeleteByQuery()
    {
        using var store = Library();
        store.ExecuteIndex(new Books_ByYear());
        WaitForIndexing(store);
        store.Operations.Send(new DeleteByQueryOperation<Book, Books_ByYear>(x => x.Year > 2005)).WaitForCompletion(Wait);
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Query<Book>()), "1", "2", "4", "5", "9");
        var result = store.Operations.Send(new DeleteByQueryOperation("from Loans")).WaitForCompletion<BulkOperationResult>(Wait);
        Assert.Equal(12L, result.Total);
        Assert.Equal(0, session.Query<Loan>().Count());
    }

    [Test]
    public void DeleteByQueryOfNoIndex()
    {
        using var store = Library();
        var operation = store.Operations.Send(new DeleteByQueryOperation<Book>("No/Such", x => x.Year > 2005));
        Assert.Throws<IndexDoesNotExistException>(() => operation.WaitForCompletion(Wait));
    }

    [Test]
    public void ByQueryOfNoIndex()
    {
        using var store = Library();
        var operation = store.Operations.Send(new PatchByQueryOperation("from index 'No/Such' update { this.Year = 1; }"));
        Assert.Throws<IndexDoesNotExistException>(() => operation.WaitForCompletion(Wait));
    }

    public class Books_ByYear : Raven.Client.Documents.Indexes.AbstractIndexCreationTask<Book>
    {
        public Books_ByYear() => Map = books => from b in books select new { b.Year };
    }
}
