// Ids: hi-lo ranges, identities, and what conventions make of classes and properties.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Conventions;
using Raven.Client.Documents.Operations;
using Raven.Client.Documents.Operations.Identities;
using Raven.Client.Documents.Session;

public class Ids : LibraryTests
{
    [Test]
    public void HiLo()
    {
        using var store = Store();
        using var session = store.OpenSession();
        var books = Enumerable.Range(0, 70).Select(_ => new Book()).ToList();
        books.ForEach(session.Store);
        session.SaveChanges();
        Assert.Sequence(books.Select(x => x.Id), Enumerable.Range(1, 70).Select(i => $"books/{i}-A").ToArray());
        using var raw = store.OpenSession();
        Assert.Equal(96L, raw.Load<Dictionary<string, object>>("Raven/Hilo/books")["Max"] is var max ? Convert.ToInt64(max) : 0);
    }

    [Test]
    public void UnusedIdsAreReturned()
    {
        using var first = Store();
        using (var session = first.OpenSession())
        {
            session.Store(new Book());
            session.SaveChanges();
        }
        first.Dispose();
        using var second = StoreOf(first.Database);
        using (var session = second.OpenSession())
        {
            var book = new Book();
            session.Store(book);
            session.SaveChanges();
            Assert.Equal("books/2-A", book.Id);
        }
    }

    [Test]
    public async Task TwoStoresDoNotCollide()
    {
        using var first = Store();
        using var second = StoreOf(first.Database);
        var ids = await Task.WhenAll(new[] { first, second, first, second }.Select(async store =>
        {
            using var session = store.OpenAsyncSession();
            var books = Enumerable.Range(0, 50).Select(_ => new Book()).ToList();
            foreach (var book in books) await session.StoreAsync(book);
            await session.SaveChangesAsync();
            return books.Select(x => x.Id);
        }));
        Assert.Equal(200, ids.SelectMany(x => x).Distinct().Count());
        using var check = first.OpenSession();
        Assert.Equal(200, check.Query<Book>().Count());
    }

    [Test]
    public void Identities()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            var members = Enumerable.Range(0, 3).Select(i => new Member { Name = "m" + i }).ToList();
            members.ForEach(x => session.Store(x, "members|"));
            session.SaveChanges();
            Assert.Sequence(members.Select(x => x.Id), "members/1", "members/2", "members/3");
        }
        Assert.Equal(4L, store.Maintenance.Send(new NextIdentityForOperation("members|")));
        Assert.Equal(100L, store.Maintenance.Send(new SeedIdentityForOperation("members|", 100)));
        Assert.Equal(100L, store.Maintenance.Send(new SeedIdentityForOperation("members|", 50)));
        Assert.Equal(101L, store.Maintenance.Send(new NextIdentityForOperation("Members|")));
        Assert.Equal(50L, store.Maintenance.Send(new SeedIdentityForOperation("members|", 50, forceUpdate: true)));
        store.Maintenance.Send(new NextIdentityForOperation("loans|"));
        var all = store.Maintenance.Send(new GetIdentitiesOperation());
        Assert.Set(all.Select(x => $"{x.Key.ToLowerInvariant()} {x.Value}"), "members| 50", "loans| 1");
    }

    [Test]
    public void CollectionNames()
    {
        using var store = Store(s =>
        {
            s.Conventions.FindCollectionName = type => type == typeof(Book) ? "Volumes" : DocumentConventions.DefaultGetCollectionName(type);
            s.Conventions.TransformTypeCollectionNameToDocumentIdPrefix = name => name.ToUpperInvariant();
        });
        using var session = store.OpenSession();
        var (book, member) = (new Book(), new Member());
        session.Store(book);
        session.Store(member);
        session.SaveChanges();
        Assert.Equal("VOLUMES/1-A MEMBERS/1-A", $"{book.Id} {member.Id}");
        Assert.Equal(1L, store.Maintenance.Send(new GetCollectionStatisticsOperation()).Collections["Volumes"]);
        Assert.Equal(1, session.Query<Book>().Count());
    }

    public class Letter
    {
        public string Key { get; set; }
        public string Text { get; set; }
    }

    [Test]
    public void IdentityProperty()
    {
        using var store = Store(s => s.Conventions.FindIdentityProperty = p => p.Name == "Key" || p.Name == "Id");
        using (var session = store.OpenSession())
        {
            session.Store(new Letter { Key = "letters/a", Text = "one" });
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Equal("letters/a", session.Load<Letter>("letters/a").Key);
            Assert.Equal("one", session.Query<Letter>().Single(x => x.Key == "letters/a").Text);
        }
    }

    [Test]
    public void IdConvention()
    {
        using var store = Store(s => s.Conventions.RegisterAsyncIdConvention<Member>((_, m) => Task.FromResult("people/" + m.Name.ToLowerInvariant())));
        using var session = store.OpenSession();
        var member = new Member { Name = "Olga" };
        session.Store(member);
        session.SaveChanges();
        Assert.Equal("people/olga", member.Id);
    }

    [Test]
    public void SeparatorOfParts()
    {
        using var store = Store(s => s.Conventions.IdentityPartsSeparator = '-');
        using var session = store.OpenSession();
        var book = new Book();
        session.Store(book);
        session.SaveChanges();
        Assert.Equal("books-1-A", book.Id);
    }

    [Test]
    public void CamelCase()
    {
        using var store = Store(s =>
        {
            s.Conventions.Serialization = new Raven.Client.Json.Serialization.NewtonsoftJson.NewtonsoftJsonSerializationConventions
            {
                CustomizeJsonSerializer = x => x.ContractResolver = new Newtonsoft.Json.Serialization.CamelCasePropertyNamesContractResolver(),
            };
            s.Conventions.PropertyNameConverter = member => char.ToLowerInvariant(member.Name[0]) + member.Name.Substring(1);
        });
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Title = "Small", Year = 7, Editions = { new Edition { Copies = 3 } } }, "books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Equal("Small", session.Query<Book>().Where(x => x.Year == 7).Select(x => x.Title).Single());
            Assert.Equal(1, session.Query<Book>().Count(x => x.Editions.Any(e => e.Copies == 3)));
            Assert.Equal(14, session.Query<Book>().Select(x => new { Twice = x.Year * 2 }).Single().Twice);
            Assert.Equal(1, session.Advanced.RawQuery<Book>("from Books where title = 'small'").ToList().Count);
        }
    }

    [Test]
    public void EnumsAsNumbers()
    {
        using var store = Store(s => s.Conventions.SaveEnumsAsIntegers = true);
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Genre = Genre.Science }, "books/1");
            session.Store(new Book { Genre = Genre.Essay }, "books/2");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Equal("books/1", session.Query<Book>().Single(x => x.Genre == Genre.Science).Id);
            Assert.Equal("books/1", session.Query<Book>().Single(x => x.Genre > Genre.Essay).Id);
            Assert.Equal(1, session.Advanced.RawQuery<Book>("from Books where Genre = 3").ToList().Count);
        }
    }

    [Test]
    public void OddIds()
    {
        using var store = Store();
        var ids = new[] { "with space", "Größe/ß", "a/b/c/", "q?x=1&y=2#z", "100%", "emoji/📚", "quote\"'", "plus+plus", "semi;colon,comma", new string('x', 400) };
        using (var session = store.OpenSession())
        {
            foreach (var id in ids.Where(x => !x.EndsWith("/"))) session.Store(new Book { Title = id }, id);
            session.SaveChanges();
        }
        foreach (var id in ids.Where(x => !x.EndsWith("/")))
            using (var session = store.OpenSession())
            {
                Assert.Equal(id, session.Load<Book>(id)?.Title);
                Assert.Equal(1, session.Query<Book>().Count(x => x.Id == id));
                Assert.True(session.Advanced.Exists(id), id);
                session.Delete(id);
                session.SaveChanges();
                Assert.False(session.Advanced.Exists(id), id);
            }
    }
}
