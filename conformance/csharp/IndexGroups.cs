// Map-reduce in LINQ, and results that become documents.
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Operations.Indexes;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class IndexGroups : LibraryTests
{
    private DocumentStore With(params AbstractIndexCreationTask[] indexes)
    {
        var store = Library();
        IndexCreation.CreateIndexes(indexes, store);
        WaitForIndexing(store);
        return store;
    }

    public class Authors_Work : AbstractIndexCreationTask<Book, Authors_Work.Result>
    {
        public class Result
        {
            public string Author { get; set; }
            public int Books { get; set; }
            public long Pages { get; set; }
            public decimal Worth { get; set; }
            public int First { get; set; }
            public int Last { get; set; }
            public double Average { get; set; }
        }

        public Authors_Work()
        {
            Map = books => from b in books select new Result { Author = b.Author, Books = 1, Pages = b.Pages, Worth = b.Price, First = b.Year, Last = b.Year, Average = 0 };
            Reduce = results => from r in results
                                group r by r.Author into g
                                let books = g.Sum(x => x.Books)
                                let pages = g.Sum(x => x.Pages)
                                select new Result
                                {
                                    Author = g.Key, Books = books, Pages = pages, Worth = g.Sum(x => x.Worth), First = g.Min(x => x.First), Last = g.Max(x => x.Last),
                                    Average = pages / (double)books,
                                };
        }
    }

    [Test]
    public void Aggregates()
    {
        using var store = With(new Authors_Work());
        using var session = store.OpenSession();
        var rows = session.Query<Authors_Work.Result, Authors_Work>().OrderBy(x => x.Author).ToList();
        Assert.Sequence(rows.Select(x => FormattableString.Invariant($"{x.Author} {x.Books} {x.Pages} {x.Worth} {x.First} {x.Last} {x.Average:0.0}")),
            "authors/1 3 831 63.00 1988 2003 277.0", "authors/2 3 1248 78.19 1995 2010 416.0", "authors/3 3 526 47.40 2009 2020 175.3");
        Assert.Equal("authors/2", session.Query<Authors_Work.Result, Authors_Work>().Single(x => x.Pages > 1000).Author);
        Assert.Sequence(session.Query<Authors_Work.Result, Authors_Work>().OrderByDescending(x => x.Worth).Select(x => x.Author).ToList(), "authors/2", "authors/1", "authors/3");
    }

    [Test]
    public void FollowsDocuments()
    {
        using var store = With(new Authors_Work());
        using (var session = store.OpenSession())
        {
            session.Delete("books/2");
            session.Load<Book>("books/4").Author = "authors/4";
            session.Load<Book>("books/6").Pages = 1;
            session.SaveChanges();
        }
        WaitForIndexing(store);
        using (var session = store.OpenSession())
        {
            var rows = session.Query<Authors_Work.Result, Authors_Work>().ToList();
            Assert.Set(rows.Select(x => $"{x.Author} {x.Books} {x.Pages}"), "authors/1 3 831", "authors/2 1 1", "authors/3 3 526", "authors/4 1 96");
        }
    }

    public class Tags_Count : AbstractIndexCreationTask<Book, Tags_Count.Result>
    {
        public class Result
        {
            public string Tag { get; set; }
            public int Count { get; set; }
            public string[] Titles { get; set; }
        }

        public Tags_Count()
        {
            Map = books => from b in books from tag in b.Tags select new Result { Tag = tag, Count = 1, Titles = new[] { b.Title } };
            Reduce = results => from r in results group r by r.Tag into g
                                select new Result { Tag = g.Key, Count = g.Sum(x => x.Count), Titles = g.SelectMany(x => x.Titles).Distinct().OrderBy(x => x).ToArray() };
            Index(x => x.Titles, FieldIndexing.Search);
        }
    }

    [Test]
    public void Lists()
    {
        using var store = With(new Tags_Count());
        using var session = store.OpenSession();
        var rows = session.Query<Tags_Count.Result, Tags_Count>().OrderByDescending(x => x.Count).ThenBy(x => x.Tag).ToList();
        Assert.Sequence(rows.Take(2).Select(x => x.Tag + x.Count), "family3", "sea3");
        Assert.Sequence(rows[1].Titles, "Night Ferry", "The Quiet Harbour", "Tides");
        Assert.Set(session.Query<Tags_Count.Result, Tags_Count>().Search(x => x.Titles, "valley").ToList().Select(x => x.Tag), "family", "rivers");
    }

    public class Loans_ByMonth : AbstractIndexCreationTask<Loan, Loans_ByMonth.Result>
    {
        public class Result
        {
            public int Year { get; set; }
            public int Month { get; set; }
            public string Member { get; set; }
            public int Count { get; set; }
        }

        public Loans_ByMonth()
        {
            Map = loans => from l in loans select new Result { Year = l.Out.Year, Month = l.Out.Month, Member = l.Member, Count = 1 };
            Reduce = results => from r in results group r by new { r.Year, r.Month, r.Member } into g
                                select new Result { Year = g.Key.Year, Month = g.Key.Month, Member = g.Key.Member, Count = g.Sum(x => x.Count) };
        }
    }

    [Test]
    public void SeveralKeys()
    {
        using var store = With(new Loans_ByMonth());
        using var session = store.OpenSession();
        var rows = session.Query<Loans_ByMonth.Result, Loans_ByMonth>().ToList();
        var expected = Loans.GroupBy(x => new { x.Out.Year, x.Out.Month, x.Member }).Select(g => $"{g.Key.Year} {g.Key.Month} {g.Key.Member} {g.Count()}");
        Assert.Set(rows.Select(x => $"{x.Year} {x.Month} {x.Member} {x.Count}"), expected.ToArray());
    }

    public class Cities : AbstractMultiMapIndexCreationTask<Cities.Result>
    {
        public class Result
        {
            public string Name { get; set; }
            public int Members { get; set; }
            public int Branches { get; set; }
        }

        public Cities()
        {
            AddMap<Member>(all => from m in all select new Result { Name = m.City, Members = 1, Branches = 0 });
            AddMap<Branch>(all => from b in all select new Result { Name = b.Name, Members = 0, Branches = 1 });
            Reduce = results => from r in results group r by r.Name into g select new Result { Name = g.Key, Members = g.Sum(x => x.Members), Branches = g.Sum(x => x.Branches) };
        }
    }

    [Test]
    public void SeveralMaps()
    {
        using var store = With(new Cities());
        using var session = store.OpenSession();
        Assert.Equal(1, session.Query<Cities.Result, Cities>().Single(x => x.Members > 0 && x.Branches > 0).Branches);
        Assert.Equal(6, session.Query<Cities.Result, Cities>().Count());
    }

    public class Authors_Newest : AbstractIndexCreationTask<Book, Authors_Newest.Result>
    {
        public class Result
        {
            public string Author { get; set; }
            public string Title { get; set; }
            public int Year { get; set; }
        }

        public Authors_Newest()
        {
            Map = books => from b in books select new Result { Author = b.Author, Title = b.Title, Year = b.Year };
            Reduce = results => from r in results group r by r.Author into g
                                let newest = g.OrderByDescending(x => x.Year).First()
                                select new Result { Author = g.Key, Title = newest.Title, Year = newest.Year };
        }
    }

    [Test]
    public void FirstOfAGroup()
    {
        using var store = With(new Authors_Newest());
        using var session = store.OpenSession();
        Assert.Set(session.Query<Authors_Newest.Result, Authors_Newest>().ToList().Select(x => x.Title), "Tides", "The Long Valley", "Numbers We Trust");
    }

    [Test]
    public void ProjectionsOfGroups()
    {
        using var store = With(new Authors_Work());
        using var session = store.OpenSession();
        var rows = (from r in session.Query<Authors_Work.Result, Authors_Work>()
                    orderby r.Author
                    let author = RavenQuery.Load<Author>(r.Author)
                    select new { author.Name, Thick = r.Pages > 1000 }).ToList();
        Assert.Sequence(rows.Select(x => $"{x.Name} {x.Thick}"), "Maria Lind False", "Jan Kowal True", "Ana Duarte False");
    }

    public class Years_Output : AbstractIndexCreationTask<Book, Years_Output.Result>
    {
        public class Result
        {
            public string Id { get; set; }
            public string Author { get; set; }
            public int Books { get; set; }
        }

        public Years_Output()
        {
            Map = books => from b in books select new Result { Author = b.Author, Books = 1 };
            Reduce = results => from r in results group r by r.Author into g select new Result { Author = g.Key, Books = g.Sum(x => x.Books) };
            OutputReduceToCollection = "AuthorYears";
            PatternForOutputReduceToCollectionReferences = x => $"work/{x.Author}";
        }
    }

    [Test]
    public void ResultsAsDocuments()
    {
        using var store = With(new Years_Output());
        using (var session = store.OpenSession())
        {
            var written = session.Query<Years_Output.Result>(collectionName: "AuthorYears").ToList();
            Assert.Set(written.Select(x => x.Author + x.Books), "authors/13", "authors/23", "authors/33");
            var reference = session.Include("ReduceOutputs").Load<JObject>("work/authors/1");
            var output = (string)reference["ReduceOutputs"].Single();
            Assert.Equal(3, session.Load<Years_Output.Result>(output).Books);
            session.Delete("books/1");
            session.Delete("books/5");
            session.Delete("books/9");
            session.Delete("books/2");
            session.SaveChanges();
        }
        WaitForIndexing(store);
        Eventually("authors/22, authors/33", () =>
        {
            using var session = store.OpenSession();
            return string.Join(", ", session.Query<Years_Output.Result>(collectionName: "AuthorYears").ToList().Select(x => x.Author + x.Books).OrderBy(x => x));
        });
    }
}
