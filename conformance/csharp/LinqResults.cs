// What queries in LINQ give: orders, pages, operators that end a query, projections, statistics.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class LinqResults : LibraryTests
{
    [Test]
    public void Orders()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => x.Id));
        Same(store, books => books.OrderByDescending(x => x.Price).Select(x => x.Id));
        Same(store, books => books.OrderBy(x => x.Title).Select(x => x.Title));
        Same(store, books => books.OrderBy(x => x.Author).ThenByDescending(x => x.Pages).Select(x => x.Id));
        Same(store, books => books.OrderBy(x => x.Lent).ThenBy(x => x.Bought).Select(x => x.Id));
        Same(store, books => books.Where(x => x.Year > 1990).OrderBy(x => x.Genre.ToString()).ThenBy(x => x.Title).Select(x => x.Id));
        Same(store, books => books.OrderBy(x => x.Rating).ThenBy(x => x.Year).Select(x => x.Id));
        using var session = store.OpenSession();
        Assert.Sequence(Ids(session.Query<Book>().OrderByDescending(x => x.Shelf.Room).ThenBy(x => x.Pages)), "5", "7", "9", "6", "4", "3", "1", "2", "8");
    }

    [Test]
    public void OrdersWithOptions()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            foreach (var name in new[] { "room 10", "room 9", "Room 2", "attic" }) session.Store(new Member { Name = name });
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.Sequence(session.Query<Member>().OrderBy(x => x.Name).Select(x => x.Name).ToList(), "attic", "room 10", "Room 2", "room 9");
            Assert.Sequence(session.Query<Member>().OrderBy(x => x.Name, OrderingType.AlphaNumeric).Select(x => x.Name).ToList(),
                "attic", "Room 2", "room 9", "room 10");
            var random = session.Query<Member>().Customize(x => x.RandomOrdering("seed")).ToList();
            Assert.Sequence(session.Query<Member>().Customize(x => x.RandomOrdering("seed")).ToList().Select(x => x.Id), random.Select(x => x.Id).ToArray());
            Assert.Equal(4, session.Query<Member>().Customize(x => x.RandomOrdering()).ToList().Count);
        }
    }

    [Test]
    public void OrderByScore()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var books = session.Query<Book>().Search(x => x.Summary, "poems", boost: 10).Search(x => x.Summary, "sea").OrderByScore().ToList();
        Assert.Sequence(Ids(books), "5", "7", "9");
        Assert.Sequence(Ids(session.Query<Book>().Search(x => x.Summary, "poems", boost: 10).Search(x => x.Summary, "sea").OrderByScoreDescending().ThenBy(x => x.Year)).OrderBy(x => x), "5", "7", "9");
    }

    [Test]
    public void Pages()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Skip(3).Take(4).Select(x => x.Id));
        Same(store, books => books.Where(x => x.Pages > 90).OrderBy(x => x.Pages).Take(2).Select(x => x.Id));
        Same(store, books => books.OrderBy(x => x.Year).Skip(7).Select(x => x.Id));
        using var session = store.OpenSession();
        Assert.Equal(0, session.Query<Book>().OrderBy(x => x.Year).Skip(9).ToList().Count);
        Assert.Equal(0, session.Query<Book>().Take(0).ToList().Count);
    }

    [Test]
    public void Statistics()
    {
        using var store = Library();
        using var session = store.OpenSession();
        session.Query<Book>().Statistics(out var stats).Where(x => x.Year > 2000).Take(2).ToList();
        Assert.Equal(6L, stats.TotalResults);
        Assert.Equal("Auto/Books/ByYear", stats.IndexName);
        Assert.False(stats.IsStale);
        Assert.True(stats.DurationInMs >= 0);
        Assert.NotNull(stats.ResultEtag);
        session.Query<Book>().Statistics(out stats).Take(2).ToList();
        Assert.Equal(9L, stats.TotalResults);
        Assert.Equal("collection/Books", stats.IndexName);
    }

    [Test]
    public void CountsAndAny()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(9, session.Query<Book>().Count());
        Assert.Equal(3, session.Query<Book>().Where(x => x.Genre == Genre.Novel).Count());
        Assert.Equal(3, session.Query<Book>().Count(x => x.Author == "authors/1"));
        Assert.Equal(5L, session.Query<Book>().LongCount(x => x.Year > 2001));
        Assert.True(session.Query<Book>().Any());
        Assert.True(session.Query<Book>().Any(x => x.Pages == 64));
        Assert.False(session.Query<Book>().Any(x => x.Pages == 65));
        Assert.False(session.Query<Shelf>().Any());
        Assert.Equal(0, session.Query<Shelf>().Count());
    }

    [Test]
    public void FirstAndSingle()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal("books/1", session.Query<Book>().OrderBy(x => x.Year).First().Id);
        Assert.Equal("books/8", session.Query<Book>().OrderByDescending(x => x.Year).FirstOrDefault().Id);
        Assert.Equal("books/2", session.Query<Book>().First(x => x.Pages > 600).Id);
        Assert.Equal("books/9", session.Query<Book>().Single(x => x.Title == "Tides").Id);
        Assert.Null(session.Query<Book>().SingleOrDefault(x => x.Title == "Nothing"));
        Assert.Null(session.Query<Book>().FirstOrDefault(x => x.Title == "Nothing"));
        Assert.Throws<InvalidOperationException>(() => session.Query<Book>().Single(x => x.Author == "authors/1"));
        Assert.Throws<InvalidOperationException>(() => session.Query<Book>().First(x => x.Title == "Nothing"));
    }

    [Test]
    public async Task Asynchronously()
    {
        using var store = Library();
        using var session = store.OpenAsyncSession();
        Assert.Equal(3, (await session.Query<Book>().Where(x => x.Author == "authors/3").ToListAsync()).Count);
        Assert.Equal(2, (await session.Query<Book>().Where(x => x.Genre == Genre.Poetry).ToArrayAsync()).Length);
        Assert.Equal(9, await session.Query<Book>().CountAsync());
        Assert.Equal(9L, await session.Query<Book>().LongCountAsync());
        Assert.True(await session.Query<Book>().AnyAsync(x => x.Year == 1988));
        Assert.Equal("books/9", (await session.Query<Book>().SingleAsync(x => x.Title == "Tides")).Id);
        Assert.Equal("books/1", (await session.Query<Book>().OrderBy(x => x.Year).FirstAsync()).Id);
        Assert.Null(await session.Query<Book>().FirstOrDefaultAsync(x => x.Title == "Nothing"));
    }

    [Test]
    public void Fields()
    {
        using var store = Library();
        Same(store, books => books.Where(x => x.Year > 2005).OrderBy(x => x.Title).Select(x => x.Title));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => x.Pages));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => x.Rating));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => x.Genre));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { x.Id, x.Title, x.Price, x.Bought, x.Lent, x.Genre, x.ReadIn }));
        Same(store, books => books.Where(x => x.Year != 2020).OrderBy(x => x.Year).Select(x => new { x.Title, x.Shelf.Room, At = x.Shelf.Row }));
    }

    [Test]
    public void Computed()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Label = x.Title + " (" + x.Year + ")", Age = 2024 - x.Year }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Thick = x.Pages > 300, Kind = x.Genre == Genre.Novel ? "story" : "other" }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Upper = x.Title.ToUpper(), Part = x.Title.Substring(0, 4), Trimmed = (" " + x.Title).Trim() }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Half = x.Pages / 2.0, Rated = x.Rating ?? 0.0 }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Has = x.Title.Contains("i"), Other = x.Title.Replace("e", "E") }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Text = $"{x.Title}, {x.Pages} pages" }));
    }

    [Test]
    public void ComputedFromLists()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Copies = x.Editions.Sum(e => e.Copies), Last = x.Editions.Max(e => e.Year) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Many = x.Editions.Count, Big = x.Editions.Count(e => e.Copies > 2000) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { First = x.Tags.FirstOrDefault(), HasSea = x.Tags.Contains("sea") }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Any = x.Editions.Any(e => e.Publisher == "Polis"), All = x.Editions.All(e => e.Copies > 1005) }));
        using var session = store.OpenSession();
        var rows = session.Query<Book>().OrderBy(x => x.Year)
            .Select(x => new { Names = x.Editions.Where(e => e.Year > 2000).Select(e => e.Publisher).ToList(), Tags = x.Tags.OrderBy(t => t).ToArray() }).ToList();
        var expected = Books.OrderBy(x => x.Year)
            .Select(x => new { Names = x.Editions.Where(e => e.Year > 2000).Select(e => e.Publisher).ToList(), Tags = x.Tags.OrderBy(t => t, StringComparer.Ordinal).ToArray() });
        Assert.Sequence(rows.Select(x => string.Join(",", x.Names) + "|" + string.Join(",", x.Tags)),
            expected.Select(x => string.Join(",", x.Names) + "|" + string.Join(",", x.Tags)).ToArray());
    }

    [Test]
    public void Let()
    {
        using var store = Library();
        Same(store, books => from book in books
                             let copies = book.Editions.Sum(e => e.Copies)
                             let label = book.Title + "!"
                             orderby book.Year
                             select new { Label = label, Copies = copies, Twice = copies * 2 });
    }

    [Test]
    public void IntoClasses()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().Where(x => x.Author == "authors/1").OrderBy(x => x.Year).ProjectInto<Cover>().ToList();
        Assert.Sequence(rows.Select(x => x.Title + x.Year), "The Quiet Harbour1988", "Night Ferry1993", "Tides2003");
        var made = session.Query<Book>().OrderBy(x => x.Year).Select(x => new Cover { Title = x.Title, Year = x.Year + 1 }).First();
        Assert.Equal("The Quiet Harbour1989", made.Title + made.Year);
        var nested = session.Query<Book>().OrderBy(x => x.Year).Select(x => new { Cover = new Cover { Title = x.Title }, Tags = new[] { x.Id, x.Author } }).First();
        Assert.Equal("The Quiet Harbour", nested.Cover.Title);
        Assert.Sequence(nested.Tags, "books/1", "authors/1");
    }

    public class Cover
    {
        public string Title { get; set; }
        public int Year { get; set; }
    }

    [Test]
    public void Distinct()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(session.Query<Book>().Select(x => x.Author).Distinct().ToList(), "authors/1", "authors/2", "authors/3");
        var pairs = session.Query<Book>().Select(x => new { x.Author, x.Lent }).Distinct().ToList();
        Assert.Equal(Books.Select(x => new { x.Author, x.Lent }).Distinct().Count(), pairs.Count);
        Assert.Sequence(session.Query<Book>().OrderBy(x => x.Genre).Select(x => x.Genre).Distinct().ToList(), Genre.Essay, Genre.Novel, Genre.Poetry, Genre.Science);
    }

    [Test]
    public void LoadedDocuments()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = (from book in session.Query<Book>()
                    where book.Year > 2005
                    orderby book.Year
                    let author = RavenQuery.Load<Author>(book.Author)
                    select new { book.Title, author.Name, Old = author.Born.Year < 1970 }).ToList();
        Assert.Sequence(rows.Select(x => $"{x.Title}/{x.Name}/{x.Old}"), "Letters from Lisbon/Ana Duarte/False", "The Long Valley/Jan Kowal/True",
            "Light in Small Rooms/Ana Duarte/False", "Numbers We Trust/Ana Duarte/False");
        var chain = (from loan in session.Query<Loan>()
                     orderby loan.Out
                     let book = RavenQuery.Load<Book>(loan.Book)
                     let author = RavenQuery.Load<Author>(book.Author)
                     let member = RavenQuery.Load<Member>(loan.Member)
                     select new { Reader = member.Name, Writer = author.Name, Book = book.Title }).Take(2).ToList();
        Assert.Sequence(chain.Select(x => $"{x.Reader} {x.Writer} {x.Book}"), "Olga Maria Lind The Quiet Harbour", "Pavel Jan Kowal The Long Valley");
    }

    [Test]
    public void LoadedLists()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(new Author { Name = "A" }, "authors/1");
            session.Store(new Author { Name = "B" }, "authors/2");
            session.Store(new Book { Title = "Both", Tags = { "authors/1", "authors/2" } }, "books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var row = (from book in session.Query<Book>()
                       let writers = RavenQuery.Load<Author>(book.Tags)
                       select new { book.Title, Names = writers.Select(x => x.Name) }).Single();
            Assert.Sequence(row.Names, "A", "B");
        }
    }

    [Test]
    public void RawAndMetadata()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var row = session.Query<Book>().Where(x => x.Title == "Tides")
            .Select(x => new { Words = RavenQuery.Raw<string[]>("x.Title.split('i')"), Collection = (string)RavenQuery.Metadata(x)["@collection"] }).Single();
        Assert.Sequence(row.Words, "T", "des");
        Assert.Equal("Books", row.Collection);
    }

    [Test]
    public void Include()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var loans = session.Query<Loan>().Include(x => x.Book).Include(x => x.Member).Where(x => x.Out < Day.AddDays(25)).ToList();
        Assert.Equal(3, loans.Count);
        Assert.Set(loans.Select(x => session.Load<Book>(x.Book).Title), "The Quiet Harbour", "The Long Valley", "Stones and Rivers");
        Assert.Set(loans.Select(x => session.Load<Member>(x.Member).Name), "Olga", "Pavel", "Rita");
        Assert.Equal(1, session.Advanced.NumberOfRequests);
        var books = session.Query<Book>().Include(i => i.IncludeDocuments(x => x.Author)).Where(x => x.Year == 2020).ToList();
        Assert.Equal("Ana Duarte", session.Load<Author>(books[0].Author).Name);
        Assert.Equal(2, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void NoTracking()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var book = session.Query<Book>().Customize(x => x.NoTracking()).First(x => x.Year == 2020);
        Assert.False(session.Advanced.IsLoaded(book.Id));
        var tracked = session.Query<Book>().First(x => x.Year == 2020);
        Assert.True(session.Advanced.IsLoaded(tracked.Id));
        Assert.True(ReferenceEquals(tracked, session.Query<Book>().Customize(x => x.NoCaching()).First(x => x.Year == 2020)));
    }

    [Test]
    public void StaleResultsAreWaitedFor()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(5, session.Query<Book>().Count(x => x.Year > 2001));
        for (var i = 0; i < 10; i++)
        {
            session.Store(new Book { Year = 2100 });
            session.SaveChanges();
            var found = session.Query<Book>().Customize(x => x.WaitForNonStaleResults(TimeSpan.FromSeconds(15))).Where(x => x.Year == 2100)
                .Statistics(out var stats).ToList();
            Assert.Equal(i + 1, found.Count);
            Assert.False(stats.IsStale);
        }
    }

    [Test]
    public void Conversion()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var text = session.Query<Book>().Where(x => x.Year > 2000 && x.Title.StartsWith("T")).OrderBy(x => x.Year).Select(x => x.Title).ToString();
        Assert.Equal("from 'Books' where Year > $p0 and startsWith(Title, $p1) order by Year as long select Title", text);
        var query = session.Query<Book>().Where(x => x.Year > 2000).ToDocumentQuery().WhereLessThan(x => x.Year, 2005);
        Assert.Set(Ids(query.ToList()), "4", "9");
    }

    [Test]
    public void InQueries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var sorted = from loan in session.Query<Loan>()
                     where loan.Member == "members/1" && loan.Back != null
                     orderby loan.Out descending
                     select loan.Id;
        Assert.Sequence(sorted.ToList(), Loans.Where(x => x.Member == "members/1" && x.Back != null).OrderByDescending(x => x.Out).Select(x => x.Id).ToArray());
    }
}
