// The documents that most tests are about: a library with authors, books, members, loans and branches.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Session;

public enum Genre { Novel, Essay, Poetry, Science }

public class Author
{
    public string Id { get; set; }
    public string Name { get; set; }
    public string Country { get; set; }
    public DateTime Born { get; set; }
}

public class Book
{
    public string Id { get; set; }
    public string Title { get; set; }
    public string Author { get; set; }
    public int Year { get; set; }
    public Genre Genre { get; set; }
    public long Pages { get; set; }
    public decimal Price { get; set; }
    public double? Rating { get; set; }
    public bool Lent { get; set; }
    public DateTime Bought { get; set; }
    public TimeSpan ReadIn { get; set; }
    public string Summary { get; set; }
    public List<string> Tags { get; set; } = new();
    public List<Edition> Editions { get; set; } = new();
    public Dictionary<string, string> Notes { get; set; } = new();
    public Shelf Shelf { get; set; }
}

public class Edition
{
    public string Publisher { get; set; }
    public int Year { get; set; }
    public int Copies { get; set; }
}

public class Shelf
{
    public string Room { get; set; }
    public int Row { get; set; }
}

public class Member
{
    public string Id { get; set; }
    public string Name { get; set; }
    public string City { get; set; }
}

public class Loan
{
    public string Id { get; set; }
    public string Book { get; set; }
    public string Member { get; set; }
    public DateTime Out { get; set; }
    public DateTime? Back { get; set; }
}

public class Branch
{
    public string Id { get; set; }
    public string Name { get; set; }
    public double Lat { get; set; }
    public double Lng { get; set; }
}

public abstract class LibraryTests : Tests
{
    protected static readonly DateTime Day = new(2023, 5, 1, 8, 30, 0, DateTimeKind.Utc);

    protected static readonly Author[] Authors =
    {
        new() { Id = "authors/1", Name = "Maria Lind", Country = "SE", Born = new DateTime(1950, 2, 3) },
        new() { Id = "authors/2", Name = "Jan Kowal", Country = "PL", Born = new DateTime(1967, 11, 30) },
        new() { Id = "authors/3", Name = "Ana Duarte", Country = "PT", Born = new DateTime(1981, 7, 14) },
    };

    protected static readonly Book[] Books =
    {
        Write(1, "The Quiet Harbour", 1, 1988, Genre.Novel, 312, 14.50m, 4.5, "a fisherman finds an old map of the harbour", "sea", "family"),
        Write(2, "Stones and Rivers", 2, 1995, Genre.Science, 640, 49.99m, 3.9, "how rivers move stones and make valleys", "geology", "rivers"),
        Write(3, "Letters from Lisbon", 3, 2009, Genre.Novel, 198, 11.00m, 4.1, "letters between two sisters in Lisbon", "family", "letters", "city"),
        Write(4, "On Maps", 2, 2001, Genre.Essay, 96, 8.25m, null, "what an old map tells of those who drew it", "maps"),
        Write(5, "Night Ferry", 1, 1993, Genre.Poetry, 64, 9.90m, 4.8, "poems of the sea at night", "sea"),
        Write(6, "The Long Valley", 2, 2010, Genre.Novel, 512, 19.95m, 2.7, "three brothers and a valley without water", "family", "rivers"),
        Write(7, "Light in Small Rooms", 3, 2015, Genre.Poetry, 88, 12.40m, 4.1, "poems of light, of rooms, of a city", "city"),
        Write(8, "Numbers We Trust", 3, 2020, Genre.Essay, 240, 24.00m, null, "why numbers mislead"),
        Write(9, "Tides", 1, 2003, Genre.Science, 455, 38.60m, 4.5, "the sea and the moon, explained", "sea", "science", "geology"),
    };

    protected static readonly Member[] Members =
    {
        new() { Id = "members/1", Name = "Olga", City = "Malmö" },
        new() { Id = "members/2", Name = "Pavel", City = "Gdańsk" },
        new() { Id = "members/3", Name = "Rita", City = "Porto" },
    };

    protected static readonly Loan[] Loans = Enumerable.Range(0, 12).Select(i => new Loan
    {
        Id = $"loans/{i + 1}", Book = $"books/{i * 5 % 9 + 1}", Member = $"members/{i % 3 + 1}",
        Out = Day.AddDays(i * 10), Back = i % 4 == 3 ? null : Day.AddDays(i * 10 + 7 + i),
    }).ToArray();

    protected static readonly Branch[] Branches =
    {
        new() { Id = "branches/1", Name = "Malmö", Lat = 55.605, Lng = 13.0038 },
        new() { Id = "branches/2", Name = "Lund", Lat = 55.7047, Lng = 13.191 },
        new() { Id = "branches/3", Name = "Copenhagen", Lat = 55.6761, Lng = 12.5683 },
        new() { Id = "branches/4", Name = "Gothenburg", Lat = 57.7089, Lng = 11.9746 },
    };

    private static Book Write(int number, string title, int author, int year, Genre genre, int pages, decimal price, double? rating,
        string summary, params string[] tags) => new()
    {
        Id = $"books/{number}", Title = title, Author = $"authors/{author}", Year = year, Genre = genre, Pages = pages, Price = price,
        Rating = rating, Lent = number % 3 == 0, Bought = Day.AddDays(-number), ReadIn = TimeSpan.FromMinutes(pages * 2), Summary = summary,
        Tags = tags.ToList(), Shelf = number == 8 ? null : new Shelf { Room = number < 5 ? "North" : "South", Row = number % 4 },
        Editions = Enumerable.Range(0, number % 3 + 1)
            .Select(i => new Edition { Publisher = i == 0 ? "Ekman" : "Polis", Year = year + 5 * i, Copies = 1000 * (i + 1) + number }).ToList(),
        Notes = number % 2 == 0 ? new Dictionary<string, string> { ["state"] = number < 5 ? "new" : "worn", ["by"] = "Olga" } : new(),
    };

    /// A store on a new database with all of them.
    protected DocumentStore Library(Action<DocumentStore> configure = null)
    {
        var store = Store(configure);
        using var session = store.OpenSession();
        foreach (var document in new object[][] { Authors, Books, Members, Loans, Branches }.SelectMany(x => x)) session.Store(document);
        session.SaveChanges();
        return store;
    }

    /// Asks the server and plain objects in memory the same, and asserts that both give the same in the same order.
    protected static void Same<TResult>(IDocumentStore store, Func<IQueryable<Book>, IQueryable<TResult>> query)
    {
        using var session = store.OpenSession();
        var expected = query(Books.AsQueryable()).ToArray();
        Assert.True(expected.Length > 0, "the query finds something in memory");
        Assert.Sequence(query(session.Query<Book>()).ToList(), expected);
    }

    /// The same for conditions alone: the ids of what is found, in any order.
    protected static void SameWhere(IDocumentStore store, System.Linq.Expressions.Expression<Func<Book, bool>> condition)
    {
        using var session = store.OpenSession();
        var expected = Books.AsQueryable().Where(condition).Select(x => x.Id).ToArray();
        Assert.True(expected.Length > 0 && expected.Length < Books.Length, "the condition tells books apart");
        Assert.Set(session.Query<Book>().Where(condition).ToList().Select(x => x.Id), expected);
    }

    /// The ids of what a query finds, as it gives them.
    protected static string[] Ids(IEnumerable<Book> books) => books.ToList().Select(x => x.Id.Substring("books/".Length)).ToArray();
}
