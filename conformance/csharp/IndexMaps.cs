// Maps of index classes in LINQ: what a map may compute, and of what.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Linq.Indexing;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Session;

public class IndexMaps : LibraryTests
{
    private DocumentStore With(params AbstractIndexCreationTask[] indexes)
    {
        var store = Library();
        IndexCreation.CreateIndexes(indexes, store);
        WaitForIndexing(store);
        return store;
    }

    public class Books_Computed : AbstractIndexCreationTask<Book, Books_Computed.Entry>
    {
        public class Entry
        {
            public int Age { get; set; }
            public string Label { get; set; }
            public bool IsThick { get; set; }
            public int Words { get; set; }
            public decimal Copies { get; set; }
            public string First { get; set; }
            public int Bought { get; set; }
            public double Stars { get; set; }
            public string Kind { get; set; }
        }

        public Books_Computed()
        {
            Map = books => from b in books
                           let words = b.Summary.Split(new[] { ' ' })
                           where b.Pages > 70
                           select new Entry
                           {
                               Age = 2024 - b.Year,
                               Label = b.Title.ToUpper() + "-" + b.Year,
                               IsThick = b.Pages > 300,
                               Words = words.Length,
                               Copies = b.Editions.Sum(e => e.Copies) * b.Price,
                               First = b.Tags.FirstOrDefault(),
                               Bought = b.Bought.Day,
                               Stars = b.Rating ?? 0,
                               Kind = b.Genre == Genre.Novel ? "story" : "other",
                           };
        }
    }

    [Test]
    public void Computed()
    {
        using var store = With(new Books_Computed());
        using var session = store.OpenSession();
        IRavenQueryable<Books_Computed.Entry> Query() => session.Query<Books_Computed.Entry, Books_Computed>();
        string[] Found(IQueryable<Books_Computed.Entry> query) => Ids(query.OfType<Book>());
        Assert.Set(Found(Query().Where(x => x.Age > 25)), "1", "2");
        Assert.Set(Found(Query().Where(x => x.Label == "TIDES-2003")), "9");
        Assert.Set(Found(Query().Where(x => x.IsThick)), "1", "2", "6", "9");
        Assert.Set(Found(Query().Where(x => x.Words <= 6)), "3", "8", "9");
        Assert.Set(Found(Query().Where(x => x.Copies > 100000)), "2", "8");
        Assert.Set(Found(Query().Where(x => x.First == "sea")), "1", "9");
        Assert.Set(Found(Query().Where(x => x.Bought == 23)), "8");
        Assert.Set(Found(Query().Where(x => x.Stars == 0)), "4", "8");
        Assert.Set(Found(Query().Where(x => x.Kind == "story")), "1", "3", "6");
        Assert.Equal(8, Query().Count());
        Assert.Sequence(Found(Query().OrderByDescending(x => x.Age).Take(2)), "1", "2");
    }

    public class Books_Editions : AbstractIndexCreationTask<Book, Books_Editions.Entry>
    {
        public class Entry
        {
            public string Title { get; set; }
            public string Publisher { get; set; }
            public int Year { get; set; }
        }

        public Books_Editions()
        {
            Map = books => from b in books from e in b.Editions where e.Year > 1990 select new Entry { Title = b.Title, Publisher = e.Publisher, Year = e.Year };
            StoreAllFields(FieldStorage.Yes);
        }
    }

    [Test]
    public void SeveralEntriesOfADocument()
    {
        using var store = With(new Books_Editions());
        using var session = store.OpenSession();
        var entries = session.Query<Books_Editions.Entry, Books_Editions>().Where(x => x.Publisher == "Polis").OrderBy(x => x.Year).ProjectInto<Books_Editions.Entry>().ToList();
        var expected = Books.SelectMany(b => b.Editions.Where(e => e.Year > 1990 && e.Publisher == "Polis").Select(e => e.Year)).OrderBy(x => x).ToArray();
        Assert.Sequence(entries.Select(x => x.Year), expected);
        var books = session.Query<Books_Editions.Entry, Books_Editions>().Where(x => x.Year > 1990).Statistics(out var stats).OfType<Book>().ToList();
        Assert.Equal(9, books.Count);
        Assert.Equal(Books.SelectMany(x => x.Editions).Count(x => x.Year > 1990), (int)(books.Count + stats.SkippedResults));
    }

    public class Loans_Names : AbstractIndexCreationTask<Loan, Loans_Names.Entry>
    {
        public class Entry
        {
            public string Title { get; set; }
            public string Writer { get; set; }
            public string Member { get; set; }
            public bool IsOut { get; set; }
        }

        public Loans_Names()
        {
            Map = loans => from loan in loans
                           let book = LoadDocument<Book>(loan.Book)
                           let writer = LoadDocument<Author>(book.Author)
                           select new Entry { Title = book.Title, Writer = writer.Name, Member = LoadDocument<Member>(loan.Member).Name, IsOut = loan.Back == null };
            StoreAllFields(FieldStorage.Yes);
        }
    }

    [Test]
    public void LoadedDocuments()
    {
        using var store = With(new Loans_Names());
        int Count(System.Linq.Expressions.Expression<Func<Loans_Names.Entry, bool>> condition)
        {
            using var session = store.OpenSession();
            return session.Query<Loans_Names.Entry, Loans_Names>().Customize(x => x.WaitForNonStaleResults()).Count(condition);
        }
        Assert.Equal(4, Count(x => x.Member == "Olga"));
        Assert.Equal(3, Count(x => x.IsOut));
        var lind = Loans.Count(x => Books.Single(b => b.Id == x.Book).Author == "authors/1");
        Assert.Equal(lind, Count(x => x.Writer == "Maria Lind"));
        using (var session = store.OpenSession())
        {
            session.Load<Author>("authors/1").Name = "M. Lind";
            session.Delete("members/1");
            session.SaveChanges();
        }
        WaitForIndexing(store);
        Assert.Equal(0, Count(x => x.Writer == "Maria Lind"));
        Assert.Equal(lind, Count(x => x.Writer == "M. Lind"));
        Assert.Equal(0, Count(x => x.Member == "Olga"));
    }

    public class Books_Authors : AbstractIndexCreationTask<Book>
    {
        public Books_Authors()
        {
            Map = books => from b in books select new { Names = LoadDocument<Author>(new[] { b.Author, "authors/2" }).Select(x => x.Name) };
        }
    }

    [Test]
    public void LoadedLists()
    {
        using var store = With(new Books_Authors());
        using var session = store.OpenSession();
        Assert.Equal(9, session.Advanced.DocumentQuery<Book, Books_Authors>().WhereEquals("Names", "Jan Kowal").ToList().Count);
        Assert.Equal(3, session.Advanced.DocumentQuery<Book, Books_Authors>().WhereEquals("Names", "Ana Duarte").ToList().Count);
    }

    public class Everyone : AbstractMultiMapIndexCreationTask<Everyone.Entry>
    {
        public class Entry
        {
            public string Name { get; set; }
            public string Where { get; set; }
        }

        public Everyone()
        {
            AddMap<Author>(all => from x in all select new Entry { Name = x.Name, Where = x.Country });
            AddMap<Member>(all => from x in all select new Entry { Name = x.Name, Where = x.City });
            AddMap<Branch>(all => all.Select(x => new Entry { Name = x.Name, Where = "SE" }));
        }
    }

    [Test]
    public void SeveralMaps()
    {
        using var store = With(new Everyone());
        using var session = store.OpenSession();
        var found = session.Query<Everyone.Entry, Everyone>().Where(x => x.Where == "SE" || x.Where == "Malmö").OfType<object>().ToList();
        Assert.Equal(1, found.OfType<Author>().Count());
        Assert.Equal(1, found.OfType<Member>().Count());
        Assert.Equal(4, found.OfType<Branch>().Count());
        Assert.Sequence(session.Query<Everyone.Entry, Everyone>().OrderBy(x => x.Name).Select(x => x.Name).Take(2).ToList(), "Ana Duarte", "Copenhagen");
    }

    public class Things : AbstractMultiMapIndexCreationTask
    {
        public Things() => AddMapForAll<Author>(all => from x in all select new { x.Name });
    }

    public class Anything : AbstractIndexCreationTask<object>
    {
        public Anything() => Map = docs => from d in docs let m = MetadataFor(d) select new { Collection = m.Value<string>("@collection"), Changed = m.Value<DateTime>("@last-modified") };
    }

    [Test]
    public void AllDocuments()
    {
        using var store = With(new Anything());
        using var session = store.OpenSession();
        Assert.Equal(12, session.Advanced.DocumentQuery<object, Anything>().WhereEquals("Collection", "Loans").ToList().Count);
        Assert.Equal(31, session.Advanced.DocumentQuery<object, Anything>().WhereGreaterThan("Changed", DateTime.UtcNow.AddHours(-1)).ToList().Count);
    }

    public class Books_Methods : AbstractIndexCreationTask<Book>
    {
        public Books_Methods()
        {
            Map = books => books.Where(b => b.Tags.Any(t => t == "sea") || b.Tags.Contains("city")).Select(b => new
            {
                Parts = b.Title.ToLower().Replace("the ", "").Split(new[] { ' ' }).Distinct(),
                Range = b.Editions.Max(e => e.Year) - b.Editions.Min(e => e.Year),
                Average = b.Editions.Average(e => e.Copies),
                Sorted = string.Join(",", b.Tags.OrderByDescending(t => t)),
                Start = b.Title.Substring(0, 3),
                Some = b.Tags.Skip(1).Take(1).Concat(new[] { "all" }),
                Blank = string.IsNullOrEmpty(b.Shelf.Room),
                Room = b.Shelf == null ? "none" : b.Shelf.Room,
                Round = (int)b.Price + 1,
                Years = b.Editions.Select(e => new DateTime(e.Year, 1, 1)),
                Keys = b.Notes.Keys,
                Note = b.Notes["state"],
            });
        }
    }

    [Test]
    public void Methods()
    {
        using var store = With(new Books_Methods());
        using var session = store.OpenSession();
        string[] Found(string field, object value) => Ids(session.Advanced.DocumentQuery<Book, Books_Methods>().WhereEquals(field, value).ToList());
        Assert.Set(Ids(session.Query<Book, Books_Methods>()), "1", "3", "5", "7", "9");
        Assert.Set(Found("Parts", "quiet"), "1");
        Assert.Set(Found("Parts", "light"), "7");
        Assert.Set(Found("Range", 10), "5");
        Assert.Set(Found("Average", 2005.0), "5");
        Assert.Set(Found("Sorted", "sea,science,geology"), "9");
        Assert.Set(Found("Start", "Nig"), "5");
        Assert.Set(Found("Some", "all"), "1", "3", "5", "7", "9");
        Assert.Set(Found("Some", "family"), "1");
        Assert.Set(Found("Room", "South"), "5", "7", "9");
        Assert.Set(Found("Round", 39), "9");
        Assert.Set(Ids(session.Advanced.DocumentQuery<Book, Books_Methods>().WhereGreaterThan("Years", new DateTime(2012, 1, 1)).ToList()), "7");
    }

    public class Books_Notes : AbstractIndexCreationTask<Book>
    {
        public Books_Notes() => Map = books => from b in books from n in b.Notes select new { n.Key, n.Value };
    }

    [Test]
    public void DictionaryEntries()
    {
        using var store = With(new Books_Notes());
        using var session = store.OpenSession();
        Assert.Set(Ids(session.Advanced.DocumentQuery<Book, Books_Notes>().WhereEquals("Key", "state").AndAlso().WhereEquals("Value", "worn").ToList()), "6", "8");
    }

    public class Books_Recent : AbstractIndexCreationTask<Book>
    {
        public Books_Recent() => Map = books => from b in books where b.Year >= 2000 && b.Genre != Genre.Poetry select new { b.Title, Id = b.Id };
    }

    [Test]
    public void ChangesOfDocuments()
    {
        using var store = With(new Books_Recent());
        string[] All()
        {
            WaitForIndexing(store);
            using var session = store.OpenSession();
            return Ids(session.Query<Book, Books_Recent>());
        }
        Assert.Set(All(), "3", "4", "6", "8", "9");
        using (var session = store.OpenSession())
        {
            session.Load<Book>("books/1").Year = 2001;
            session.Load<Book>("books/3").Year = 1999;
            session.Delete("books/4");
            session.Store(new Book { Year = 2022 }, "books/10");
            session.SaveChanges();
        }
        Assert.Set(All(), "1", "10", "6", "8", "9");
        using (var session = store.OpenSession()) Assert.Equal("books/6", session.Query<Book, Books_Recent>().Single(x => x.Id == "books/6").Id);
    }

    public class Books_Failing : AbstractIndexCreationTask<Book>
    {
        public Books_Failing() => Map = books => from b in books select new { Part = 100 / (b.Year - 2020) };
    }

    [Test]
    public void ErrorsOfDocuments()
    {
        using var store = With(new Books_Failing());
        using var session = store.OpenSession();
        Assert.Equal(8, session.Query<Book, Books_Failing>().Count());
        var errors = store.Maintenance.Send(new GetIndexErrorsOperation(new[] { "Books/Failing" })).Single().Errors;
        Assert.Sequence(errors.Select(x => $"{x.Document} {x.Action}"), "books/8 Map");
        Assert.Contains("divide by zero", errors[0].Error);
        store.Maintenance.Send(new DeleteIndexErrorsOperation(new[] { "Books/Failing" }));
        Assert.Equal(0, store.Maintenance.Send(new GetIndexErrorsOperation(new[] { "Books/Failing" })).Single().Errors.Length);
    }
}
