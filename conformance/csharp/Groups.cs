// GroupBy in LINQ, which makes indexes of groups.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Session;

public class Groups : LibraryTests
{
    [Test]
    public void CountsAndSums()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupBy(x => x.Genre).Select(g => new { Genre = g.Key, Count = g.Count(), Pages = g.Sum(x => x.Pages) }).OrderBy(x => x.Genre).ToList();
        var expected = Books.GroupBy(x => x.Genre).Select(g => new { Genre = g.Key, Count = g.Count(), Pages = g.Sum(x => x.Pages) });
        Assert.Sequence(rows, expected.OrderBy(x => x.Genre.ToString()).ToArray());
    }

    [Test]
    public void SumsOfDecimals()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupBy(x => x.Author).Select(g => new { Author = g.Key, Price = g.Sum(x => x.Price) }).ToList();
        Assert.Set(rows.Select(x => $"{x.Author} {x.Price:0.00}"), "authors/1 63.00", "authors/2 78.19", "authors/3 47.40");
    }

    [Test]
    public void SeveralKeys()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupBy(x => new { x.Author, x.Lent }).Select(g => new { g.Key.Author, g.Key.Lent, Count = g.Count() }).ToList();
        Assert.Set(rows.Select(x => x.ToString()), Books.GroupBy(x => new { x.Author, x.Lent })
            .Select(g => new { g.Key.Author, g.Key.Lent, Count = g.Count() }.ToString()).ToArray());
    }

    [Test]
    public void ConditionsAndOrdersOfGroups()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupBy(x => x.Genre).Select(g => new { Genre = g.Key, Count = g.Count(), Pages = g.Sum(x => x.Pages) })
            .Where(x => x.Count == 2 && x.Pages > 300).OrderByDescending(x => x.Pages).ToList();
        Assert.Sequence(rows.Select(x => $"{x.Genre} {x.Pages}"), "Science 1095", "Essay 336");
        Assert.Equal(1, session.Query<Book>().GroupBy(x => x.Genre).Select(g => new { Genre = g.Key, Count = g.Count() }).Where(x => x.Count == 3).ToList().Count);
    }

    [Test]
    public void ByElements()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupByArrayValues(x => x.Tags).Select(g => new { Tag = g.Key, Count = g.Count() }).OrderByDescending(x => x.Count).ThenBy(x => x.Tag).ToList();
        Assert.Sequence(rows.Take(3).Select(x => x.Tag + x.Count), "family3", "sea3", "city2");
        var publishers = session.Query<Book>().GroupByArrayValues(x => x.Editions.Select(e => e.Publisher)).Select(g => new { Publisher = g.Key, Count = g.Count() }).ToList();
        Assert.Set(publishers.Select(x => x.Publisher + x.Count), "Ekman9", "Polis9");
    }

    [Test]
    public void ByWholeLists()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupByArrayContent(x => x.Tags).Select(g => new { Tags = g.Key, Count = g.Count() }).ToList();
        Assert.Equal(1, rows.Count(x => x.Count == 1 && x.Tags.SequenceEqual(new[] { "sea", "family" })));
        Assert.Equal(Books.Select(x => string.Join(",", x.Tags)).Distinct().Count(), rows.Count);
    }

    [Test]
    public void BeforeAWhere()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Book>().GroupBy(x => x.Shelf.Room).Select(g => new { Room = g.Key, Count = g.Count() }).Where(x => x.Room == "North").ToList();
        Assert.Sequence(rows.Select(x => x.Count), 4);
    }

    [Test]
    public void FollowDocuments()
    {
        using var store = Library();
        int Novels()
        {
            using var session = store.OpenSession();
            return session.Query<Book>().Customize(x => x.WaitForNonStaleResults()).GroupBy(x => x.Genre).Select(g => new { Genre = g.Key, Count = g.Count() })
                .Where(x => x.Genre == Genre.Novel).ToList().Sum(x => x.Count);
        }
        Assert.Equal(3, Novels());
        using (var session = store.OpenSession())
        {
            session.Delete("books/1");
            session.Load<Book>("books/2").Genre = Genre.Novel;
            session.Store(new Book { Genre = Genre.Novel });
            session.SaveChanges();
        }
        Assert.Equal(4, Novels());
        using (var session = store.OpenSession())
        {
            foreach (var book in session.Query<Book>().ToList()) session.Delete(book);
            session.SaveChanges();
        }
        Assert.Equal(0, Novels());
    }

    [Test]
    public void InQuerySyntax()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = (from loan in session.Query<Loan>() group loan by loan.Member into g select new { Member = g.Key, Loans = g.Count() }).OrderBy(x => x.Member).ToList();
        Assert.Sequence(rows.Select(x => $"{x.Member} {x.Loans}"), "members/1 4", "members/2 4", "members/3 4");
    }
}
