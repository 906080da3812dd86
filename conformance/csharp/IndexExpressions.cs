// C# that is rarer in maps: dates and durations, conversions, nullable values, nested queries, metadata, several forms of the same.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Session;

public class IndexExpressions : LibraryTests
{
    private DocumentStore With(params AbstractIndexCreationTask[] indexes)
    {
        var store = Library();
        IndexCreation.CreateIndexes(indexes, store);
        WaitForIndexing(store);
        return store;
    }

    private static string[] Found<TIndex>(IDocumentSession session, string field, object value) where TIndex : AbstractCommonApiForIndexes, new() =>
        session.Advanced.DocumentQuery<object, TIndex>().WhereEquals(field, value).ToList().Select(x => session.Advanced.GetDocumentId(x).Split('/')[1]).ToArray();

    public class Loans_Dates : AbstractIndexCreationTask<Loan>
    {
        public Loans_Dates()
        {
            Map = loans => from l in loans
                           let back = l.Back ?? l.Out.AddDays(100)
                           select new
                           {
                               Days = (back - l.Out).TotalDays,
                               Length = back - l.Out,
                               Due = l.Out.AddDays(14).Date,
                               l.Out.Month,
                               Week = l.Out.DayOfWeek,
                               Late = l.Back.HasValue && l.Back.Value > l.Out.AddDays(14),
                               Day = l.Out.ToString("yyyy-MM-dd"),
                               Start = new DateTime(l.Out.Year, l.Out.Month, 1),
                               Ticks = l.Out.Ticks,
                               Open = l.Back == null,
                           };
        }
    }

    [Test]
    public void Dates()
    {
        using var store = With(new Loans_Dates());
        using var session = store.OpenSession();
        string[] Loan(string field, object value) => Found<Loans_Dates>(session, field, value);
        Assert.Set(Loan("Days", 8), "2");
        Assert.Set(Loan("Days", 100), "4", "8", "12");
        Assert.Set(Loan("Length", TimeSpan.FromDays(9)), "3");
        Assert.Set(Loan("Due", new DateTime(2023, 5, 15)), "1");
        Assert.Set(Loan("Month", 6), Loans.Where(x => x.Out.Month == 6).Select(x => x.Id.Split('/')[1]).ToArray());
        Assert.Set(Loan("Late", true), Loans.Where(x => x.Back > x.Out.AddDays(14)).Select(x => x.Id.Split('/')[1]).ToArray());
        Assert.Set(Loan("Day", "2023-05-11"), "2");
        Assert.Set(Loan("Start", new DateTime(2023, 5, 1)), "1", "2", "3", "4");
        Assert.Set(Loan("Ticks", Loans[4].Out.Ticks), "5");
        Assert.Set(Loan("Open", true), "4", "8", "12");
        Assert.Set(Loan("Week", "Monday"), Loans.Where(x => x.Out.DayOfWeek == DayOfWeek.Monday).Select(x => x.Id.Split('/')[1]).ToArray());
    }

    public class Books_Texts : AbstractIndexCreationTask<Book>
    {
        public Books_Texts()
        {
            Map = books => from b in books
                           select new
                           {
                               Number = int.Parse(b.Id.Substring(b.Id.IndexOf("/") + 1)),
                               Words = b.Title.Split(new[] { ' ' }),
                               Padded = b.Year.ToString().PadLeft(6, '0'),
                               Format = string.Format("{0}-{1}", b.Genre, b.Year),
                               Text = $"{b.Title} ({b.Year})",
                               Long = b.Title.Length > 15 ? "long" : "short",
                               Has = b.Summary.Contains("sea"),
                               Trimmed = (b.Title + "  ").Trim().ToLowerInvariant(),
                               Safe = b.Shelf.Room ?? "nowhere",
                           };
        }
    }

    [Test]
    public void Texts()
    {
        using var store = With(new Books_Texts());
        using var session = store.OpenSession();
        string[] Book(string field, object value) => Found<Books_Texts>(session, field, value);
        Assert.Set(Book("Number", 7), "7");
        Assert.Set(Book("Words", "valley"), "6");
        Assert.Set(Book("Padded", "002003"), "9");
        Assert.Set(Book("Format", "Science-1995"), "2");
        Assert.Set(Book("Text", "Tides (2003)"), "9");
        Assert.Set(Book("Long", "short"), "4", "5", "6", "9");
        Assert.Set(Book("Has", true), "5", "9");
        Assert.Set(Book("Trimmed", "on maps"), "4");
        Assert.Set(Book("Safe", "nowhere"), "8");
    }

    public class Books_Numbers : AbstractIndexCreationTask<Book>
    {
        public Books_Numbers()
        {
            Map = books => from b in books
                           let stars = b.Rating ?? 0.0
                           select new
                           {
                               Decade = b.Year / 10 * 10,
                               Rest = b.Year % 100,
                               Half = b.Pages / 2.0,
                               Worth = b.Price * b.Editions.Sum(e => e.Copies),
                               Most = b.Editions.Max(e => e.Copies),
                               Least = Math.Min(b.Editions.Min(e => e.Copies), 1003),
                               Stars = (int)stars,
                               Rated = b.Rating.HasValue,
                               Square = Math.Pow(b.Editions.Count, 2),
                               Cents = (long)(b.Price * 100),
                               Both = b.Lent && b.Pages > 100 || b.Year < 1990,
                           };
        }
    }

    [Test]
    public void Numbers()
    {
        using var store = With(new Books_Numbers());
        using var session = store.OpenSession();
        string[] Book(string field, object value) => Found<Books_Numbers>(session, field, value);
        string[] Expected(Func<Book, bool> condition) => Books.Where(condition).Select(x => x.Id.Split('/')[1]).ToArray();
        Assert.Set(Book("Decade", 1990), "2", "5");
        Assert.Set(Book("Rest", 3), "9");
        Assert.Set(Book("Half", 320), "2");
        Assert.Set(Book("Worth", 14.5m * 3002), "1");
        Assert.Set(Book("Most", 3005), "5");
        Assert.Set(Book("Least", 1003), Expected(x => x.Editions.Min(e => e.Copies) >= 1003));
        Assert.Set(Book("Stars", 4), Expected(x => x.Rating >= 4 && x.Rating < 5));
        Assert.Set(Book("Rated", false), "4", "8");
        Assert.Set(Book("Square", 9), "2", "5", "8");
        Assert.Set(Book("Cents", 4999), "2");
        Assert.Set(Book("Both", true), Expected(x => x.Lent && x.Pages > 100 || x.Year < 1990));
    }

    public class Books_Lists : AbstractIndexCreationTask<Book>
    {
        public Books_Lists()
        {
            Map = books => from b in books
                           let newest = b.Editions.OrderByDescending(e => e.Year).FirstOrDefault()
                           select new
                           {
                               Newest = newest.Year,
                               By = newest.Publisher,
                               Years = b.Editions.Where(e => e.Copies > 1500).Select(e => e.Year),
                               All = b.Editions.All(e => e.Copies > 1004),
                               Any = b.Editions.Any(e => e.Publisher == "Polis"),
                               Pairs = b.Tags.SelectMany(t => b.Editions.Select(e => t + e.Year)),
                               Unique = b.Editions.Select(e => e.Publisher).Distinct().Count(),
                               Joined = b.Tags.Union(new[] { b.Genre.ToString() }),
                               Reversed = b.Tags.AsEnumerable().Reverse(),
                               Groups = b.Editions.GroupBy(e => e.Publisher).Select(g => g.Key + g.Count()),
                               Empty = b.Tags.Count == 0,
                           };
        }
    }

    [Test]
    public void Lists()
    {
        using var store = With(new Books_Lists());
        using var session = store.OpenSession();
        string[] Book(string field, object value) => Found<Books_Lists>(session, field, value);
        Assert.Set(Book("Newest", 2005), "2");
        Assert.Set(Book("By", "Ekman"), "3", "6", "9");
        Assert.Set(Book("Years", 1998), "5");
        Assert.Set(Book("All", true), Books.Where(x => x.Editions.All(e => e.Copies > 1004)).Select(x => x.Id.Split('/')[1]).ToArray());
        Assert.Set(Book("Any", false), "3", "6", "9");
        Assert.Set(Book("Pairs", "sea1993"), "1", "5");
        Assert.Set(Book("Unique", 1), "3", "6", "9");
        Assert.Set(Book("Joined", "Essay"), "4", "8");
        Assert.Set(Book("Groups", "Polis2"), "2", "5", "8");
        Assert.Set(Book("Empty", true), "8");
    }

    public class Books_Shelves : AbstractIndexCreationTask<Book, Books_Shelves.Result>
    {
        public class Result
        {
            public string Room { get; set; }
            public int Row { get; set; }
            public double Average { get; set; }
            public int Count { get; set; }
            public double Total { get; set; }
            public string Longest { get; set; }
            public long Pages { get; set; }
        }

        public Books_Shelves()
        {
            Map = books => from b in books
                           where b.Shelf != null
                           select new Result { Room = b.Shelf.Room, Row = b.Shelf.Row, Average = 0, Count = 1, Total = b.Rating ?? 0, Longest = b.Title, Pages = b.Pages };
            Reduce = results => from r in results
                                group r by new { r.Room, r.Row } into g
                                let longest = g.OrderByDescending(x => x.Pages).First()
                                select new Result
                                {
                                    Room = g.Key.Room, Row = g.Key.Row, Count = g.Sum(x => x.Count), Total = g.Sum(x => x.Total),
                                    Average = g.Sum(x => x.Total) / g.Sum(x => x.Count), Longest = longest.Longest, Pages = longest.Pages,
                                };
        }
    }

    [Test]
    public void GroupsOfObjects()
    {
        using var store = With(new Books_Shelves());
        using var session = store.OpenSession();
        var rows = session.Query<Books_Shelves.Result, Books_Shelves>().ToList();
        var expected = Books.Where(x => x.Shelf != null).GroupBy(x => new { x.Shelf.Room, x.Shelf.Row })
            .Select(g => FormattableString.Invariant($"{g.Key.Room} {g.Key.Row} {g.Count()} {g.Average(x => x.Rating ?? 0):0.00} {g.OrderByDescending(x => x.Pages).First().Title}"));
        Assert.Set(rows.Select(x => FormattableString.Invariant($"{x.Room} {x.Row} {x.Count} {x.Average:0.00} {x.Longest}")), expected.ToArray());
    }

    public class Authors_Editions : AbstractIndexCreationTask<Book, Authors_Editions.Result>
    {
        public class Result
        {
            public string Author { get; set; }
            public Line[] Lines { get; set; }
            public DateTime Last { get; set; }
        }

        public class Line
        {
            public string Publisher { get; set; }
            public int Copies { get; set; }
        }

        public Authors_Editions()
        {
            Map = books => from b in books
                           select new Result { Author = b.Author, Lines = b.Editions.Select(e => new Line { Publisher = e.Publisher, Copies = e.Copies }).ToArray(), Last = b.Bought };
            Reduce = results => from r in results
                                group r by r.Author into g
                                select new Result
                                {
                                    Author = g.Key,
                                    Lines = g.SelectMany(x => x.Lines).GroupBy(x => x.Publisher).Select(x => new Line { Publisher = x.Key, Copies = x.Sum(y => y.Copies) }).OrderBy(x => x.Publisher).ToArray(),
                                    Last = g.Max(x => x.Last),
                                };
        }
    }

    [Test]
    public void GroupsInGroups()
    {
        using var store = With(new Authors_Editions());
        using var session = store.OpenSession();
        var rows = session.Query<Authors_Editions.Result, Authors_Editions>().OrderBy(x => x.Author).ToList();
        var expected = Books.GroupBy(x => x.Author).OrderBy(x => x.Key).Select(g => g.Key + " " + string.Join(" ", g.SelectMany(x => x.Editions).GroupBy(x => x.Publisher)
            .OrderBy(x => x.Key).Select(x => x.Key + x.Sum(y => y.Copies))) + " " + g.Max(x => x.Bought).Day);
        Assert.Sequence(rows.Select(x => x.Author + " " + string.Join(" ", x.Lines.Select(y => y.Publisher + y.Copies)) + " " + x.Last.Day), expected.ToArray());
    }

    public class Loans_Writers : AbstractIndexCreationTask<Loan, Loans_Writers.Result>
    {
        public class Result
        {
            public string Writer { get; set; }
            public int Loans { get; set; }
        }

        public Loans_Writers()
        {
            Map = loans => from l in loans
                           let writer = LoadDocument<Author>(LoadDocument<Book>(l.Book).Author)
                           select new Result { Writer = writer.Name, Loans = 1 };
            Reduce = results => from r in results group r by r.Writer into g select new Result { Writer = g.Key, Loans = g.Sum(x => x.Loans) };
        }
    }

    [Test]
    public void GroupsByLoadedDocuments()
    {
        using var store = With(new Loans_Writers());
        string All()
        {
            WaitForIndexing(store);
            using var session = store.OpenSession();
            return string.Join(", ", session.Query<Loans_Writers.Result, Loans_Writers>().OrderBy(x => x.Writer).ToList().Select(x => x.Writer + " " + x.Loans));
        }
        string Expected(Func<string, string> name) => string.Join(", ", Loans.GroupBy(x => name(Books.Single(b => b.Id == x.Book).Author)).OrderBy(x => x.Key, StringComparer.Ordinal).Select(x => x.Key + " " + x.Count()));
        Assert.Equal(Expected(id => Authors.Single(x => x.Id == id).Name), All());
        using (var session = store.OpenSession())
        {
            session.Load<Author>("authors/3").Name = "Maria Lind";
            session.SaveChanges();
        }
        Assert.Equal(Expected(id => id == "authors/3" ? "Maria Lind" : Authors.Single(x => x.Id == id).Name), All());
    }

    public class Books_Fluent : AbstractIndexCreationTask<Book, Books_Fluent.Result>
    {
        public class Result
        {
            public Genre Genre { get; set; }
            public int Count { get; set; }
            public bool Lent { get; set; }
        }

        public Books_Fluent()
        {
            Map = books => books.Where(x => x.Pages > 70).Select(x => new Result { Genre = x.Genre, Count = 1, Lent = x.Lent });
            Reduce = results => results.GroupBy(x => x.Genre).Select(g => new Result { Genre = g.Key, Count = g.Sum(x => x.Count), Lent = g.Any(x => x.Lent) });
            Priority = IndexPriority.High;
            LockMode = IndexLockMode.LockedIgnore;
            Configuration["Indexing.MapTimeoutInSec"] = "30";
        }
    }

    [Test]
    public void FluentWithOptions()
    {
        using var store = With(new Books_Fluent());
        using var session = store.OpenSession();
        Assert.Sequence(session.Query<Books_Fluent.Result, Books_Fluent>().OrderBy(x => x.Genre).ToList().Select(x => $"{x.Genre} {x.Count} {x.Lent}"), "Essay 2 False", "Novel 3 True", "Poetry 1 False", "Science 2 True");
        var definition = store.Maintenance.Send(new GetIndexOperation("Books/Fluent"));
        Assert.Equal("High LockedIgnore 30", $"{definition.Priority} {definition.LockMode} {definition.Configuration["Indexing.MapTimeoutInSec"]}");
    }

    public class Named : AbstractMultiMapIndexCreationTask<Named.Entry>
    {
        public override string IndexName => "All/The/Names";

        public class Entry
        {
            public string Name { get; set; }
            public string Kind { get; set; }
        }

        public Named()
        {
            AddMapForAll<Author>(all => from x in all select new Entry { Name = x.Name, Kind = MetadataFor(x).Value<string>("@collection") });
            AddMap<Member>(all => from x in all select new Entry { Name = x.Name, Kind = x.Id.Split('/', StringSplitOptions.None)[0] });
        }
    }

    [Test]
    public void NamesAndMetadata()
    {
        using var store = Library();
        new Named().Execute(store);
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Equal(3, session.Query<Named.Entry>("All/The/Names").Count(x => x.Kind == "Authors"));
        Assert.Equal(3, session.Query<Named.Entry>("All/The/Names").Count(x => x.Kind == "members"));
    }

    [Test]
    public void Builder()
    {
        using var store = Library();
        var definition = new IndexDefinitionBuilder<Book>("Built/Index")
        {
            Map = books => from b in books select new { b.Title, Upper = b.Title.ToUpper() },
            Stores = { { x => x.Title, FieldStorage.Yes } },
            Indexes = { { x => x.Title, FieldIndexing.Exact } },
        }.ToIndexDefinition(store.Conventions);
        store.Maintenance.Send(new PutIndexesOperation(definition));
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Equal(1, session.Advanced.DocumentQuery<Book>("Built/Index").WhereEquals("Upper", "TIDES").Count());
        Assert.Equal(0, session.Advanced.DocumentQuery<Book>("Built/Index").WhereEquals("Title", "tides", exact: true).Count());
    }

    public class Loans_NoTracking : AbstractIndexCreationTask<Loan>
    {
        public Loans_NoTracking() => Map = loans => from l in loans select new { NoTracking.LoadDocument<Member>(l.Member).City };
    }

    [Test]
    public void LoadingWithoutTracking()
    {
        using var store = With(new Loans_NoTracking());
        using (var session = store.OpenSession())
        {
            Assert.Equal(4, Found<Loans_NoTracking>(session, "City", "Porto").Length);
            session.Load<Member>("members/3").City = "Faro";
            session.SaveChanges();
        }
        WaitForIndexing(store);
        using (var session = store.OpenSession()) Assert.Equal(4, Found<Loans_NoTracking>(session, "City", "Porto").Length);
    }

    public class Books_Second : AbstractIndexCreationTask<Book>
    {
        public Books_Second() => Map = books => from b in books select new { Second = b.Tags.ElementAtOrDefault(1) };
    }

    [Test]
    public void ElementAtOrDefault()
    {
        using var store = With(new Books_Second());
        using var session = store.OpenSession();
        Assert.Set(Found<Books_Second>(session, "Second", "rivers"), "2", "6");
    }

    public class Books_Sequences : AbstractIndexCreationTask<Book>
    {
        public Books_Sequences()
        {
            Map = books => from b in books
                           select new { Numbered = b.Tags.Select((t, i) => t + i), Folded = b.Tags.Aggregate("", (all, t) => all + t), Before = b.Tags.TakeWhile(t => t != "family") };
        }
    }

    [Test]
    public void Sequences()
    {
        using var store = With(new Books_Sequences());
        using var session = store.OpenSession();
        Assert.Set(Found<Books_Sequences>(session, "Numbered", "rivers1"), "2", "6");
        Assert.Set(Found<Books_Sequences>(session, "Folded", "seafamily"), "1");
        Assert.Set(Found<Books_Sequences>(session, "Before", "sea"), "1", "5", "9");
    }
}
