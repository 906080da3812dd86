// What a session knows of its documents: loading, tracking, changes, metadata, evicting, refreshing, deleting.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client;
using Raven.Client.Documents;
using Raven.Client.Documents.Commands;
using Raven.Client.Documents.Session;
using Raven.Client.Exceptions;
using Raven.Client.Json;

public class Sessions : LibraryTests
{
    [Test]
    public void LoadIsTracked()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = session.Load<Book>("books/1");
        Assert.True(ReferenceEquals(book, session.Load<Book>("BOOKS/1")));
        Assert.Equal(1, session.Advanced.NumberOfRequests);
        Assert.True(session.Advanced.IsLoaded("books/1"));
        Assert.Equal("books/1", session.Advanced.GetDocumentId(book));
        Assert.Null(session.Load<Book>("books/77"));
        Assert.Null(session.Load<Book>("books/77"));
        Assert.Equal(2, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void LoadMany()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Load<Book>(new[] { "books/1", "books/5", "books/77", "books/1" });
        Assert.Set(books.Keys, "books/1", "books/5", "books/77");
        Assert.Null(books["books/77"]);
        Assert.Equal("Night Ferry", books["books/5"].Title);
        var many = Enumerable.Range(1, 2000).Select(i => "books/" + i).ToList();
        Assert.Equal(9, session.Load<Book>(many).Values.Count(x => x != null));
    }

    [Test]
    public void LoadStartingWith()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Sequence(session.Advanced.LoadStartingWith<Loan>("loans/1").Select(x => x.Id), "loans/1", "loans/10", "loans/11", "loans/12");
        Assert.Sequence(session.Advanced.LoadStartingWith<Loan>("loans/", start: 3, pageSize: 2).Select(x => x.Id), "loans/12", "loans/2");
        Assert.Sequence(session.Advanced.LoadStartingWith<Loan>("loans/", matches: "1*|3").Select(x => x.Id), "loans/1", "loans/10", "loans/11", "loans/12", "loans/3");
        Assert.Sequence(session.Advanced.LoadStartingWith<Loan>("loans/", matches: "?", exclude: "2|3|4|5|6|7").Select(x => x.Id), "loans/1", "loans/8", "loans/9");
        Assert.Sequence(session.Advanced.LoadStartingWith<Loan>("loans/", startAfter: "loans/7").Select(x => x.Id), "loans/8", "loans/9");
        Assert.Equal(0, session.Advanced.LoadStartingWith<Loan>("loans/x").Length);
    }

    [Test]
    public void Includes()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            var loan = session.Include<Loan>(x => x.Book).Include(x => x.Member).Load("loans/2");
            Assert.Equal("The Long Valley", session.Load<Book>(loan.Book).Title);
            Assert.Equal("Pavel", session.Load<Member>(loan.Member).Name);
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
        using (var session = store.OpenSession())
        {
            var loans = session.Load<Loan>(new[] { "loans/1", "loans/2" }, i => i.IncludeDocuments(x => x.Book).IncludeDocuments<Member>(x => x.Member));
            Assert.True(loans.Values.All(x => session.Advanced.IsLoaded(x.Book) && session.Advanced.IsLoaded(x.Member)));
        }
    }

    [Test]
    public void IncludesOfLists()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(new Member { Name = "A" }, "members/1");
            session.Store(new Member { Name = "B" }, "members/2");
            session.Store(new Book { Tags = { "members/1", "members/2", "members/3" }, Shelf = new Shelf { Room = "members/1" }, Notes = { ["members/2"] = "members/1" } }, "books/1");
            session.Store(new Book { Editions = { new Edition { Publisher = "members/2" } } }, "books/2");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            session.Include<Book>(x => x.Tags).Load("books/1");
            Assert.True(session.Advanced.IsLoaded("members/1") && session.Advanced.IsLoaded("members/2"));
            Assert.Equal("A B", string.Join(" ", session.Load<Member>(new[] { "members/1", "members/2" }).Values.Select(x => x.Name)));
            Assert.Equal(1, session.Advanced.NumberOfRequests);
        }
        using (var session = store.OpenSession())
        {
            session.Include<Book>(x => x.Shelf.Room).Load("books/1");
            Assert.True(session.Advanced.IsLoaded("members/1"));
            session.Include<Book>(x => x.Editions.Select(e => e.Publisher)).Load("books/2");
            Assert.True(session.Advanced.IsLoaded("members/2"));
        }
        using (var session = store.OpenSession())
        {
            session.Include<Book>(x => x.Notes.Keys).Load("books/1");
            Assert.True(session.Advanced.IsLoaded("members/2"));
            Assert.False(session.Advanced.IsLoaded("members/1"));
        }
        using (var session = store.OpenSession())
        {
            session.Include<Book>(x => x.Notes.Values).Load("books/1");
            Assert.True(session.Advanced.IsLoaded("members/1"));
        }
    }

    [Test]
    public void WhatChanged()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = session.Load<Book>("books/1");
        Assert.False(session.Advanced.HasChanges);
        book.Year++;
        book.Tags.RemoveAt(0);
        book.Shelf.Room = "West";
        session.Store(new Member { Name = "New" }, "members/9");
        session.Delete(session.Load<Book>("books/2"));
        Assert.True(session.Advanced.HasChanged(book));
        var changes = session.Advanced.WhatChanged();
        Assert.Set(changes.Keys, "books/1", "books/2", "members/9");
        Assert.Equal(DocumentsChanges.ChangeType.DocumentAdded, changes["members/9"][0].Change);
        Assert.Equal(DocumentsChanges.ChangeType.DocumentDeleted, changes["books/2"][0].Change);
        var year = changes["books/1"].Single(x => x.FieldName == "Year");
        Assert.Equal("1988 1989", $"{year.FieldOldValue} {year.FieldNewValue}");
        var room = changes["books/1"].Single(x => x.FieldName == "Room");
        Assert.Equal("Shelf", room.FieldPath);
        session.SaveChanges();
        Assert.Equal(0, session.Advanced.WhatChanged().Count);
    }

    [Test]
    public void OnlyChangesAreSaved()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Query<Book>().ToList();
        books[0].Title = "Changed";
        var saved = new List<string>();
        session.Advanced.OnAfterSaveChanges += (_, e) => saved.Add(e.DocumentId);
        session.SaveChanges();
        Assert.Sequence(saved, books[0].Id);
        var requests = session.Advanced.NumberOfRequests;
        session.SaveChanges();
        Assert.Equal(requests, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void IgnoredChanges()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            session.Advanced.IgnoreChangesFor(book);
            book.Title = "Ignored";
            session.SaveChanges();
        }
        using (var session = store.OpenSession()) Assert.Equal("The Quiet Harbour", session.Load<Book>("books/1").Title);
    }

    [Test]
    public void EvictClearRefresh()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = session.Load<Book>("books/1");
        var vector = session.Advanced.GetChangeVectorFor(book);
        using (var other = store.OpenSession())
        {
            other.Load<Book>("books/1").Pages = 313;
            other.SaveChanges();
        }
        session.Advanced.Refresh(book);
        Assert.Equal(313L, book.Pages);
        Assert.NotEqual(vector, session.Advanced.GetChangeVectorFor(book));
        session.Advanced.Evict(book);
        Assert.False(session.Advanced.IsLoaded("books/1"));
        book.Pages = 1;
        session.SaveChanges();
        Assert.Equal(313L, session.Load<Book>("books/1").Pages);
        session.Advanced.Clear();
        Assert.False(session.Advanced.IsLoaded("books/1"));
        session.Delete("books/2");
        session.Advanced.Clear();
        session.SaveChanges();
        Assert.NotNull(session.Load<Book>("books/2"));
    }

    [Test]
    public void RefreshOfMany()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Load<Book>(new[] { "books/1", "books/2" });
        using (var other = store.OpenSession())
        {
            foreach (var book in other.Load<Book>(new[] { "books/1", "books/2" }).Values) book.Pages += 1000;
            other.SaveChanges();
        }
        session.Advanced.Refresh<Book>(books.Values);
        Assert.Sequence(books.Values.Select(x => x.Pages), 1312L, 1640L);
    }

    [Test]
    public void Exists()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.True(session.Advanced.Exists("books/1"));
        Assert.False(session.Advanced.Exists("books/77"));
        session.Load<Book>("books/1");
        var requests = session.Advanced.NumberOfRequests;
        Assert.True(session.Advanced.Exists("books/1"));
        Assert.Equal(requests, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void Deletes()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            session.Delete("books/1");
            session.Delete(session.Load<Book>("books/2"));
            session.Delete("books/77");
            session.SaveChanges();
            Assert.Null(session.Load<Book>("books/1"));
        }
        using (var session = store.OpenSession())
        {
            Assert.Equal(7, session.Query<Book>().Count());
            session.Store(new Book { Title = "Again" }, "books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession()) Assert.Equal("Again", session.Load<Book>("books/1").Title);
    }

    [Test]
    public void Metadata()
    {
        using var store = Library();
        using (var session = store.OpenSession())
        {
            var metadata = session.Advanced.GetMetadataFor(session.Load<Book>("books/1"));
            Assert.Equal("Books", metadata[Constants.Documents.Metadata.Collection]);
            Assert.Equal("books/1", metadata[Constants.Documents.Metadata.Id]);
            Assert.Contains("Book, ", (string)metadata[Constants.Documents.Metadata.RavenClrType]);
            metadata["Number"] = 7;
            metadata["Nested"] = new Dictionary<string, object> { ["List"] = new[] { "a", "b" }, ["Flag"] = true };
            Assert.True(session.Advanced.HasChanges);
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var book = session.Load<Book>("books/1");
            var metadata = session.Advanced.GetMetadataFor(book);
            Assert.Equal(7L, metadata.GetLong("Number"));
            Assert.True(metadata.GetObject("Nested").GetBoolean("Flag"));
            Assert.False(session.Advanced.HasChanges);
            Assert.True((DateTime.UtcNow - session.Advanced.GetLastModifiedFor(book).Value).Duration() < TimeSpan.FromMinutes(10));
            metadata.Remove("Number");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
            Assert.False(session.Advanced.GetMetadataFor(session.Load<Book>("books/1")).ContainsKey("Number"));
    }

    [Test]
    public void CollectionFromMetadata()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            var book = new Book { Title = "Elsewhere" };
            session.Store(book, "rare/1");
            session.Advanced.GetMetadataFor(book)[Constants.Documents.Metadata.Collection] = "RareBooks";
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Equal(0, session.Query<Book>().Count());
            Assert.Equal("rare/1", session.Query<Book>(collectionName: "RareBooks").Single().Id);
        }
    }

    [Test]
    public void NoTracking()
    {
        using var store = Library();
        using var session = store.OpenSession(new SessionOptions { NoTracking = true });
        var book = session.Load<Book>("books/1");
        Assert.False(ReferenceEquals(book, session.Load<Book>("books/1")));
        Assert.False(session.Advanced.IsLoaded("books/1"));
        book.Title = "Changed";
        session.SaveChanges();
        Assert.Equal("The Quiet Harbour", session.Load<Book>("books/1").Title);
        Assert.Throws<InvalidOperationException>(() => session.Store(new Book()));
    }

    [Test]
    public void ServerSideIds()
    {
        using var store = Store();
        using var session = store.OpenSession();
        var first = new Book { Title = "a" };
        var second = new Book { Title = "b" };
        session.Store(first, "shelf/");
        session.Store(second, "shelf/");
        session.SaveChanges();
        Assert.True(first.Id.StartsWith("shelf/0000000000000000") && second.Id.StartsWith("shelf/0000000000000000"), first.Id);
        Assert.True(string.CompareOrdinal(first.Id, second.Id) < 0);
        Assert.Equal("b", session.Load<Book>(second.Id).Title);
    }

    [Test]
    public void TooManyRequests()
    {
        using var store = Library(s => s.Conventions.MaxNumberOfRequestsPerSession = 2);
        using var session = store.OpenSession();
        session.Load<Book>("books/1");
        session.Load<Book>("books/2");
        Assert.Throws<InvalidOperationException>(() => session.Load<Book>("books/3"));
    }

    [Test]
    public void LoadIntoAStream()
    {
        using var store = Library();
        using var session = store.OpenSession();
        using var stream = new System.IO.MemoryStream();
        session.Advanced.LoadIntoStream(new[] { "books/1", "books/9" }, stream);
        var text = System.Text.Encoding.UTF8.GetString(stream.ToArray());
        Assert.Contains("The Quiet Harbour", text);
        Assert.Contains("Tides", text);
        using var prefix = new System.IO.MemoryStream();
        session.Advanced.LoadStartingWithIntoStream("authors/", prefix);
        Assert.Contains("Jan Kowal", System.Text.Encoding.UTF8.GetString(prefix.ToArray()));
    }

    [Test]
    public void Commands()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var head = new HeadDocumentCommand("books/1", null);
        session.Advanced.RequestExecutor.Execute(head, session.Advanced.Context);
        Assert.Equal(session.Advanced.GetChangeVectorFor(session.Load<Book>("books/1")), head.Result);
        var get = new GetDocumentsCommand(2, 3);
        session.Advanced.RequestExecutor.Execute(get, session.Advanced.Context);
        Assert.Equal(3, get.Result.Results.Length);
        var only = new GetDocumentsCommand(session.Advanced.RequestExecutor.Conventions, new[] { "books/1" }, null, metadataOnly: true);
        session.Advanced.RequestExecutor.Execute(only, session.Advanced.Context);
        Assert.False(only.Result.Results[0].ToString().Contains("Quiet"));
    }

    [Test]
    public void Events()
    {
        var seen = new List<string>();
        var isFilled = false;
        using var store = Library(s => s.OnBeforeRequest += (_, e) => { if (isFilled && e.Url.Contains("/bulk_docs")) seen.Add("request"); });
        isFilled = true;
        store.OnBeforeStore += (_, e) => seen.Add("store " + e.DocumentId);
        store.OnBeforeDelete += (_, e) => seen.Add("delete " + e.DocumentId);
        store.OnBeforeConversionToEntity += (_, e) => seen.Add("convert " + e.Id);
        store.OnAfterConversionToEntity += (_, e) => { if (e.Entity is Book b) b.Summary = "converted"; };
        using var session = store.OpenSession();
        var book = session.Load<Book>("books/1");
        Assert.Equal("converted", book.Summary);
        book.Year = 1;
        session.Delete(session.Load<Member>("members/1"));
        session.SaveChanges();
        Assert.Set(seen, "convert books/1", "convert members/1", "store books/1", "delete members/1", "request");
    }
}
