// Properties that dates and durations have in C#, and documents do not store.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Session;

public class LinqDateParts : LibraryTests
{
    [Test]
    public void InConditions()
    {
        using var store = Library();
        SameWhere(store, x => x.Bought.Month == 4 && x.Bought.Day < 25);
        SameWhere(store, x => x.Bought.Day == 30);
        SameWhere(store, x => x.Bought.Date == new DateTime(2023, 4, 25));
    }

    [Test]
    public void InProjections()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Pages).Select(x => new { In = x.Bought.Year, M = x.Bought.Month, D = x.Bought.Day, H = x.Bought.Hour, m = x.Bought.Minute }));
    }

    [Test]
    public void InOrders()
    {
        using var store = Library();
        Same(store, books => books.OrderBy(x => x.Bought.Day).Select(x => x.Id));
    }

    [Test]
    public void OfDurations()
    {
        using var store = Library();
        SameWhere(store, x => x.ReadIn.Hours == 2);
        Same(store, books => books.OrderBy(x => x.Pages).Select(x => new { D = x.ReadIn.Days, H = x.ReadIn.Hours, m = x.ReadIn.Minutes }));
    }

    [Test]
    public void InGroups()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var rows = session.Query<Loan>().GroupBy(x => new { x.Out.Year, x.Out.Month }).Select(g => new { g.Key.Year, g.Key.Month, Count = g.Count() }).ToList();
        Assert.Set(rows.Select(x => $"{x.Year} {x.Month} {x.Count}"), Loans.GroupBy(x => new { x.Out.Year, x.Out.Month }).Select(g => $"{g.Key.Year} {g.Key.Month} {g.Count()}").ToArray());
    }

    [Test]
    public void OfElements()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Equal(9, session.Advanced.RawQuery<Book>("from Books where Bought.Year = 2023 and Bought.Month = 4").ToList().Count);
        Assert.Equal(3, session.Advanced.RawQuery<Loan>("from Loans where Out.Month = 5 and Back.Month = 5").ToList().Count);
    }
}
