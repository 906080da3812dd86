// Projections in LINQ that clients write as JavaScript: methods of texts, numbers, dates, lists and dictionaries.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class LinqScripts : LibraryTests
{
    [Test]
    public void Texts()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Title.ToLower(), B = x.Title.ToUpper(), C = x.Title.Trim(), D = x.Title.IndexOf("i") }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Title.StartsWith("T"), B = x.Title.EndsWith("s"), C = x.Title.Contains("an"), D = string.IsNullOrEmpty(x.Title) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Title.PadLeft(25), B = x.Title.PadRight(25, '.'), C = x.Title.Substring(2) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.Join("+", x.Tags), B = x.Title + x.Year, C = "" + x.Lent.ToString().ToLower() }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.Format("{0}: {1}", x.Title, x.Pages), B = $"{x.Author}/{x.Year}" }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Title.Split(new[] { ' ' })[0], B = x.Genre.ToString(), C = x.Pages.ToString() }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.IsNullOrWhiteSpace(x.Summary), C = x.Title[0].ToString() }));
    }

    [Test]
    public void Numbers()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = Math.Abs(x.Year - 2000), B = Math.Max(x.Year, 2000), C = Math.Min(x.Year, 2000), D = x.Year % 7 }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = Math.Floor(x.Pages / 7.0), B = Math.Ceiling(x.Pages / 7.0), C = Math.Sqrt(x.Pages), D = Math.Pow(x.Year, 2) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Year * 2 - 1, B = -x.Year, C = (double)x.Pages / 2, D = x.Rating ?? -1, E = x.Rating.HasValue ? x.Rating.Value : 0 }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Year > 2000 && x.Pages < 300 || x.Lent, B = !x.Lent, C = x.Year == 2003 ? 1 : x.Year == 2009 ? 2 : 3 }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = int.Parse(x.Id.Substring(6)) + 1, B = x.Rating == null }));
    }

    [Test]
    public void Dates()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Loan>().OrderBy(x => x.Out).Select(x => new { x.Id, Year = x.Out.Year + 0, Day = x.Out.Day + 100, IsBack = x.Back != null, In = x.Out > new DateTime(2023, 6, 1) }).ToList();
        var expected = Loans.OrderBy(x => x.Out).Select(x => new { x.Id, Year = x.Out.Year + 0, Day = x.Out.Day + 100, IsBack = x.Back != null, In = x.Out > new DateTime(2023, 6, 1) });
        Assert.Sequence(rows, expected.ToArray());
    }

    [Test]
    public void Durations()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Loan>().Where(x => x.Back != null).OrderBy(x => x.Out).Select(x => new { For = x.Back.Value - x.Out, After = x.Out - new DateTime(2023, 1, 1) }).ToList();
        Assert.Sequence(rows.Select(x => $"{x.For} {x.After}"), Loans.Where(x => x.Back != null).OrderBy(x => x.Out).Select(x => $"{x.Back.Value - x.Out} {x.Out - new DateTime(2023, 1, 1)}").ToArray());
    }

    [Test]
    public void Lists()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Tags.Count, B = x.Tags.Any(), C = x.Tags.FirstOrDefault(t => t.StartsWith("s")), D = x.Editions.First().Publisher }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = x.Editions.Last().Year, B = x.Editions[0].Copies, C = x.Editions.Min(e => e.Copies), D = x.Editions.Average(e => e.Copies) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.Join(",", x.Tags.Where(t => t != "sea").Select(t => t.ToUpper())), B = string.Join("", x.Editions.Select(e => e.Year + ";")) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.Join(",", x.Tags.Concat(new[] { "z" })), B = string.Join(",", x.Editions.SelectMany(e => new[] { e.Publisher, "x" }).Distinct()) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.Join(",", x.Tags.Skip(1).Take(1)), B = x.Editions.Sum(e => e.Copies * e.Year), C = x.Editions.Count(e => e.Year > 2000) }));
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { A = string.Join(",", x.Editions.OrderByDescending(e => e.Year).Select(e => e.Publisher)), B = x.Editions.Where(e => e.Copies > 1500).Any(e => e.Year > 2000) }));
    }

    [Test]
    public void ListsOfObjects()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().OrderBy(x => x.Year).Select(x => new { x.Title, Editions = x.Editions.Select(e => new { e.Year, Label = x.Title + "/" + e.Publisher }).ToList() }).ToList();
        Assert.Sequence(rows.SelectMany(x => x.Editions).Select(x => $"{x.Year} {x.Label}"), Books.OrderBy(x => x.Year).SelectMany(x => x.Editions.Select(e => $"{e.Year} {x.Title}/{e.Publisher}")).ToArray());
    }

    [Test]
    public void Dictionaries()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().Where(x => x.Year != 0).OrderBy(x => x.Year).Select(x => new { Has = x.Notes.ContainsKey("state"), State = x.Notes["state"], Keys = x.Notes.Select(n => n.Key).ToList(), All = x.Notes }).ToList();
        var expected = Books.OrderBy(x => x.Year).Select(x => $"{x.Notes.ContainsKey("state")} {x.Notes.GetValueOrDefault("state")} {string.Join(",", x.Notes.Keys)} {x.Notes.Count}");
        Assert.Sequence(rows.Select(x => $"{x.Has} {x.State} {string.Join(",", x.Keys)} {x.All.Count}"), expected.ToArray());
        var made = session.Query<Book>().OrderBy(x => x.Year).Select(x => new { By = x.Editions.ToDictionary(e => e.Year, e => e.Copies) }).First();
        Assert.Sequence(made.By.Select(x => $"{x.Key} {x.Value}"), "1988 1001", "1993 2001");
    }

    [Test]
    public void WholeDocuments()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = (from loan in session.Query<Loan>()
                    orderby loan.Out
                    let book = RavenQuery.Load<Book>(loan.Book)
                    select new { Loan = loan, Book = book }).Take(2).ToList();
        Assert.Sequence(rows.Select(x => $"{x.Loan.Member} {x.Book.Title} {x.Book.Editions.Count}"), "members/1 The Quiet Harbour 2", "members/2 The Long Valley 1");
    }

    [Test]
    public void LetsOfLets()
    {
        using var store = Library();
        Same(store, books => from book in books
                             where book.Year > 1990
                             orderby book.Year
                             let last = book.Editions.Max(e => e.Year)
                             let first = book.Editions.Min(e => e.Year)
                             let span = last - first
                             select new { book.Title, Label = (span > 5 ? "long " : "short ") + last, Span = span + 1 });
    }

    [Test]
    public void Functions()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var row = session.Query<Book>().Where(x => x.Title == "Tides").Select(x => new { Id = RavenQuery.Id(x), Changed = RavenQuery.LastModified(x) }).Single();
        Assert.Equal("books/9", row.Id);
        Assert.True((DateTime.UtcNow - row.Changed).Duration() < TimeSpan.FromHours(1));
    }

    [Test]
    public void IncludesOfProjections()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Loan>().Include(x => x.Member).Where(x => x.Member == "members/2").Select(x => new { x.Member, x.Book }).ToList();
        Assert.Equal(4, rows.Count);
        Assert.Equal("Pavel", session.Load<Member>(rows[0].Member).Name);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
    }

    [Test]
    public void Formats()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Year).Select(x => new { Day = x.Bought.ToString("yyyy-MM-dd"), Price = x.Price.ToString("0.0"), Pages = x.Pages.ToString("00000") }));
    }
}
