// What values become in documents, and come back as.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Newtonsoft.Json.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Session;

public class Values : LibraryTests
{
    public class Everything
    {
        public string Id { get; set; }
        public byte Byte { get; set; }
        public short Short { get; set; }
        public long Long { get; set; }
        public ulong Unsigned { get; set; }
        public float Float { get; set; }
        public double Double { get; set; }
        public decimal Decimal { get; set; }
        public char Char { get; set; }
        public Guid Guid { get; set; }
        public DateTime Utc { get; set; }
        public DateTime Local { get; set; }
        public DateTimeOffset Moment { get; set; }
        public DateOnly Date { get; set; }
        public TimeOnly Time { get; set; }
        public TimeSpan Span { get; set; }
        public Uri Uri { get; set; }
        public byte[] Bytes { get; set; }
        public int? Missing { get; set; }
        public string Null { get; set; }
    }

    private static Everything Example() => new()
    {
        Id = "e/1", Byte = 255, Short = -32768, Long = long.MaxValue, Unsigned = ulong.MaxValue, Float = 0.1f, Double = 1e-300, Decimal = 79228162514264337593543950335m,
        Char = 'ß', Guid = new Guid("00112233-4455-6677-8899-aabbccddeeff"), Utc = new DateTime(2024, 2, 29, 23, 59, 59, 999, DateTimeKind.Utc).AddTicks(9999),
        Local = new DateTime(1999, 12, 31, 1, 2, 3), Moment = new DateTimeOffset(2024, 1, 1, 12, 0, 0, TimeSpan.FromHours(5.5)), Date = new DateOnly(2024, 2, 29),
        Time = new TimeOnly(13, 14, 15), Span = new TimeSpan(3, 4, 5, 6, 7), Uri = new Uri("http://example.com/a?b=c"), Bytes = new byte[] { 0, 1, 254, 255 },
    };

    [Test]
    public void Types()
    {
        using var store = Store();
        var stored = Example();
        using (var session = store.OpenSession())
        {
            session.Store(stored);
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var loaded = session.Load<Everything>("e/1");
            foreach (var property in typeof(Everything).GetProperties().Where(x => x.Name != "Bytes"))
                Assert.Equal(property.GetValue(stored), property.GetValue(loaded));
            Assert.Sequence(loaded.Bytes, stored.Bytes);
            Assert.Equal(DateTimeKind.Utc, loaded.Utc.Kind);
            Assert.False(session.Advanced.HasChanges);
        }
    }

    [Test]
    public void TypesInConditions()
    {
        using var store = Store();
        var e = Example();
        using (var session = store.OpenSession())
        {
            session.Store(e);
            session.Store(new Everything { Id = "e/2", Uri = e.Uri, Date = new DateOnly(2020, 1, 1), Time = new TimeOnly(1, 0) });
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            string Found(System.Linq.Expressions.Expression<Func<Everything, bool>> condition) => string.Join(" ", session.Query<Everything>().Where(condition).ToList().Select(x => x.Id));
            Assert.Equal("e/1", Found(x => x.Byte == 255));
            Assert.Equal("e/1", Found(x => x.Long == long.MaxValue));
            Assert.Equal("e/1", Found(x => x.Guid == e.Guid));
            Assert.Equal("e/1", Found(x => x.Utc == e.Utc));
            Assert.Equal("e/1", Found(x => x.Local > new DateTime(1999, 1, 1)));
            Assert.Equal("e/1", Found(x => x.Moment == e.Moment));
            Assert.Equal("e/1", Found(x => x.Date == e.Date));
            Assert.Equal("e/1", Found(x => x.Date > new DateOnly(2023, 1, 1)));
            Assert.Equal("e/1", Found(x => x.Time > new TimeOnly(12, 0)));
            Assert.Equal("e/1", Found(x => x.Span == e.Span));
            Assert.Equal("e/1", Found(x => x.Double < 1 && x.Double > 0));
            Assert.Equal("e/1", Found(x => x.Short < 0));
        }
    }

    [Test]
    public void Texts()
    {
        using var store = Store();
        var texts = new[] { "", " ", "\0\u0001\u001f", "\"\\/\b\f\n\r\t", "ÄÖÜß", "日本語", "👩‍👩‍👧‍👦", "\u2028\u2029", "</script>", new string('x', 100_000), "\u00e9 e\u0301" };
        using (var session = store.OpenSession())
        {
            for (var i = 0; i < texts.Length; i++) session.Store(new Member { Name = texts[i] }, "members/" + i);
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            for (var i = 0; i < texts.Length; i++) Assert.True(texts[i] == session.Load<Member>("members/" + i).Name, "text " + i);
            foreach (var text in new[] { "ÄÖÜß", "日本語", "👩‍👩‍👧‍👦", "</script>", "\"\\/\b\f\n\r\t" })
                Assert.Equal(1, session.Query<Member>().Count(x => x.Name == text));
        }
    }

    [Test]
    public void Numbers()
    {
        using var store = Store();
        var numbers = new[] { 0.0, -0.5, 1e21, 1e-7, 123456789.125, double.MaxValue, double.Epsilon, 0.1 + 0.2, 9007199254740993 };
        using (var session = store.OpenSession())
        {
            for (var i = 0; i < numbers.Length; i++) session.Store(new Branch { Lat = numbers[i] }, "n/" + i);
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
            for (var i = 0; i < numbers.Length; i++) Assert.Equal(numbers[i], session.Load<Branch>("n/" + i).Lat);
    }

    public abstract class Shape { public string Name { get; set; } }
    public class Round : Shape { public double Radius { get; set; } }
    public class Box : Shape { public double Side { get; set; } }
    public class Drawing
    {
        public string Id { get; set; }
        public List<Shape> Shapes { get; set; } = new();
        public Dictionary<string, Shape> Named { get; set; } = new();
        public object Anything { get; set; }
    }

    [Test]
    public void DerivedClasses()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(new Drawing { Shapes = { new Round { Radius = 2 }, new Box { Side = 3 } }, Named = { ["a"] = new Box { Side = 4 } }, Anything = new Round { Radius = 5 } }, "drawings/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var drawing = session.Load<Drawing>("drawings/1");
            Assert.Equal(2.0, ((Round)drawing.Shapes[0]).Radius);
            Assert.Equal(3.0, ((Box)drawing.Shapes[1]).Side);
            Assert.Equal(4.0, ((Box)drawing.Named["a"]).Side);
            Assert.Equal(5.0, ((Round)drawing.Anything).Radius);
        }
    }

    public class Special : Book { public string More { get; set; } }

    [Test]
    public void DerivedDocuments()
    {
        using var store = Store(s => s.Conventions.FindCollectionName = t => typeof(Book).IsAssignableFrom(t) ? "Books" : Raven.Client.Documents.Conventions.DocumentConventions.DefaultGetCollectionName(t));
        using (var session = store.OpenSession())
        {
            session.Store(new Special { Title = "s", More = "more" }, "books/1");
            session.Store(new Book { Title = "b" }, "books/2");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            var books = session.Query<Book>().OrderBy(x => x.Title).ToList();
            Assert.Sequence(books.Select(x => x.GetType().Name), "Book", "Special");
            Assert.Equal("more", ((Special)books[1]).More);
        }
    }

    [Test]
    public void Dynamic()
    {
        using var store = Library();
        using var session = store.OpenSession();
        dynamic book = session.Load<dynamic>("books/1");
        Assert.Equal("The Quiet Harbour", (string)book.Title);
        Assert.Equal(2, (int)book.Tags.Count);
        book.Title = "Dynamic";
        session.SaveChanges();
        using var other = store.OpenSession();
        var json = other.Advanced.RawQuery<JObject>("from Books where Title = 'dynamic'").Single();
        Assert.Equal(1988, (int)json["Year"]);
    }

    [Test]
    public void UnknownProperties()
    {
        using var store = Store();
        using (var session = store.OpenSession())
        {
            session.Store(JObject.Parse("{\"Name\":\"Olga\",\"Extra\":{\"Deep\":[1,2,{\"a\":null}]}}"), "members/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            session.Load<Member>("members/1").City = "Malmö";
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
            Assert.Equal("{\"Deep\":[1,2,{\"a\":null}]}", session.Load<JObject>("members/1")["Extra"].ToString(Newtonsoft.Json.Formatting.None));
    }

    [Test]
    public void Nesting()
    {
        using var store = Store();
        JToken nested = 1;
        for (var i = 0; i < 50; i++) nested = i % 2 == 0 ? new JArray(nested) : new JObject { ["n"] = nested };
        using (var session = store.OpenSession())
        {
            session.Store(new JObject { ["Nested"] = nested }, "n/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession()) Assert.True(JToken.DeepEquals(nested, session.Load<JObject>("n/1")["Nested"]), "it is as it was");
    }

    [Test]
    public void ManyProperties()
    {
        using var store = Store();
        var notes = Enumerable.Range(0, 3000).ToDictionary(i => "key" + i, i => "value" + i);
        using (var session = store.OpenSession())
        {
            session.Store(new Book { Notes = notes }, "books/1");
            session.SaveChanges();
        }
        using (var session = store.OpenSession())
        {
            Assert.True(session.Load<Book>("books/1").Notes.OrderBy(x => x.Key).SequenceEqual(notes.OrderBy(x => x.Key)), "all are there");
            Assert.Equal(1, session.Query<Book>().Count(x => x.Notes["key2999"] == "value2999"));
        }
    }
}
