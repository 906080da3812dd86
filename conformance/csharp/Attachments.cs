// Files that belong to documents.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Attachments;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Attachments;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Exceptions.Documents;

public class Attachments : LibraryTests
{
    private class BooksByNotes : AbstractIndexCreationTask<Book>
    {
        public class Result { public string Notes { get; set; } public string[] Files { get; set; } }

        public BooksByNotes()
        {
            Map = books => from book in books
                let notes = LoadAttachment(book, "notes.txt")
                select new { Notes = notes.GetContentAsString(), Files = AttachmentsFor(book).Select(x => x.Name) };
            Index("Notes", FieldIndexing.Search);
        }
    }

    private static MemoryStream Content(string text) => new(Encoding.UTF8.GetBytes(text));

    private static string Read(AttachmentResult result)
    {
        using (result)
        using (var reader = new StreamReader(result.Stream)) return reader.ReadToEnd();
    }

    private static void Attach(IDocumentStore store, string id, string name, string text, string type = "text/plain")
    {
        using var session = store.OpenSession();
        session.Advanced.Attachments.Store(id, name, Content(text), type);
        session.SaveChanges();
    }

    [Test]
    public void StoredWithTheDocument()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            var book = new Book { Title = "x" };
            session.Store(book, "books/1");
            session.Advanced.Attachments.Store(book, "Über.txt", Content("grüße"), "text/plain; charset=utf-8");
            session.Advanced.Attachments.Store("books/1", "leer", Content(""));
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            Assert.Set(session.Advanced.Attachments.GetNames(book).Select(x => $"{x.Name} {x.Size} {x.ContentType}"),
                "leer 0 ", "Über.txt 7 text/plain; charset=utf-8");
            var result = session.Advanced.Attachments.Get(book, "Über.txt");
            Assert.Equal("Über.txt books/1 7", $"{result.Details.Name} {result.Details.DocumentId} {result.Details.Size}");
            Assert.Equal("grüße", Read(result));
            Assert.Equal("", Read(session.Advanced.Attachments.Get("books/1", "leer")));
            Assert.True(session.Advanced.Attachments.Exists("BOOKS/1", "Leer"));
            Assert.False(session.Advanced.Attachments.Exists("books/1", "other"));
            Assert.Null(session.Advanced.Attachments.Get("books/1", "other"));
        }
    }

    [Test]
    public void DeletedRenamedMovedAndCopied()
    {
        using var store = Library();
        foreach (var name in new[] { "a", "b", "c", "d" }) Attach(store, "books/1", name, name);
        using (var session = store.OpenSession())
        {
            var attachments = session.Advanced.Attachments;
            attachments.Delete("books/1", "a");
            attachments.Rename("books/1", "b", "renamed");
            attachments.Move("books/1", "c", "books/2", "moved");
            attachments.Copy("books/1", "d", "books/2", "copied");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            string[] Names(string id) => session.Advanced.Attachments.GetNames(session.Load<Book>(id)).Select(x => x.Name).ToArray();
            Assert.Set(Names("books/1"), "d", "renamed");
            Assert.Set(Names("books/2"), "copied", "moved");
            Assert.Equal("c", Read(session.Advanced.Attachments.Get("books/2", "moved")));
        }
    }

    [Test]
    public void SeveralAtOnce()
    {
        using var store = Library();
        for (var i = 1; i <= 3; i++) Attach(store, "books/" + i, "n", new string((char)('a' + i), i * 1000));
        using var session = store.OpenSession();
        using var found = session.Advanced.Attachments.Get(Enumerable.Range(1, 4).Select(i => new AttachmentRequest("books/" + i, "n")));
        var lengths = new List<string>();
        while (found.MoveNext())
        {
            using var reader = new StreamReader(found.Current.Stream);
            lengths.Add($"{found.Current.Details.DocumentId} {reader.ReadToEnd().Length}");
        }
        Assert.Set(lengths, "books/1 1000", "books/2 2000", "books/3 3000");
    }

    [Test]
    public void ABatchFailsAsAWhole()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "new" }, "books/50");
            session.Advanced.Attachments.Store("missing/1", "x", Content("x"));
            Assert.Throws<DocumentDoesNotExistException>(() => session.SaveChanges());
        }
        using (var session = store.OpenSession()) Assert.False(session.Advanced.Exists("books/50"));
    }

    [Test]
    public void Operations()
    {
        using var store = Library();
        var put = store.Operations.Send(new PutAttachmentOperation("books/1", "x", Content("one"), "text/plain"));
        Assert.Equal("books/1 x text/plain 3", $"{put.DocumentId} {put.Name} {put.ContentType} {put.Size}");
        Assert.Throws<ConcurrencyException>(() =>
            store.Operations.Send(new PutAttachmentOperation("books/1", "x", Content("two"), "text/plain", "A:1-wrong00000000000000000")));
        store.Operations.Send(new PutAttachmentOperation("books/1", "x", Content("two"), "text/plain", put.ChangeVector));
        Assert.Equal("two", Read(store.Operations.Send(new GetAttachmentOperation("books/1", "x", AttachmentType.Document, null))));
        Assert.Throws<ConcurrencyException>(() => store.Operations.Send(new DeleteAttachmentOperation("books/1", "x", put.ChangeVector)));
        store.Operations.Send(new DeleteAttachmentOperation("books/1", "x"));
        Assert.Null(store.Operations.Send(new GetAttachmentOperation("books/1", "x", AttachmentType.Document, null)));
    }

    [Test]
    public void OneContentForSeveral()
    {
        using var store = Library();
        for (var i = 1; i <= 3; i++) Attach(store, "books/" + i, "n" + i, "the same");
        var stats = store.Maintenance.Send(new GetStatisticsOperation());
        Assert.Equal("3 1", $"{stats.CountOfAttachments} {stats.CountOfUniqueAttachments}");
        using (var session = store.OpenSession())
        {
            session.Delete("books/1");
            session.SaveChanges();
            Assert.Equal("the same", Read(session.Advanced.Attachments.Get("books/2", "n2")));
        }
        stats = store.Maintenance.Send(new GetStatisticsOperation());
        Assert.Equal("2 1", $"{stats.CountOfAttachments} {stats.CountOfUniqueAttachments}");
    }

    [Test]
    public async Task Large()
    {
        using var store = Library();
        var bytes = new byte[5_000_000];
        new Random(7).NextBytes(bytes);
        using (var session = store.OpenAsyncSession())
        {
            session.Advanced.Attachments.Store("books/1", "large", new MemoryStream(bytes));
            await session.SaveChangesAsync();
        }
        using (var session = store.OpenAsyncSession())
        {
            using var result = await session.Advanced.Attachments.GetAsync("books/1", "large");
            var copy = new MemoryStream();
            await result.Stream.CopyToAsync(copy);
            Assert.True(copy.ToArray().SequenceEqual(bytes), "the content is as it was stored");
        }
    }

    [Test]
    public void BulkInserts()
    {
        using var store = Store();
        using (var bulk = store.BulkInsert())
            for (var i = 0; i < 20; i++)
            {
                bulk.Store(new Book { Year = i }, "books/" + i);
                bulk.AttachmentsFor("books/" + i).Store("n", Content("content " + i), "text/plain");
            }
        using var session = store.OpenSession();
        Assert.Equal("content 17", Read(session.Advanced.Attachments.Get("books/17", "n")));
        Assert.Equal(20L, store.Maintenance.Send(new GetStatisticsOperation()).CountOfAttachments);
    }

    [Test]
    public void InIndexes()
    {
        using var store = Library();
        Attach(store, "books/1", "notes.txt", "the harbour was quiet");
        Attach(store, "books/2", "notes.txt", "rivers everywhere");
        Attach(store, "books/2", "cover.png", "no picture");
        new BooksByNotes().Execute(store);
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var found = session.Query<BooksByNotes.Result, BooksByNotes>().Search(x => x.Notes, "rivers").OfType<Book>().ToList();
        Assert.Sequence(found.Select(x => x.Id), "books/2");
        found = session.Query<BooksByNotes.Result, BooksByNotes>().Where(x => x.Files.Contains("notes.txt")).OfType<Book>().ToList();
        Assert.Set(found.Select(x => x.Id), "books/1", "books/2");
        Attach(store, "books/1", "notes.txt", "rivers here, too");
        WaitForIndexing(store);
        found = session.Query<BooksByNotes.Result, BooksByNotes>().Search(x => x.Notes, "rivers").OfType<Book>().ToList();
        Assert.Set(found.Select(x => x.Id), "books/1", "books/2");
    }

    [Test]
    public void APutKeepsThem()
    {
        using var store = Library();
        Attach(store, "books/1", "x", "kept");
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "Replaced" }, "books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            Assert.Equal("Replaced", book.Title);
            Assert.Sequence(session.Advanced.Attachments.GetNames(book).Select(x => x.Name), "x");
            Assert.Contains("HasAttachments", (string)session.Advanced.GetMetadataFor(book)["@flags"]);
        }
    }
}
