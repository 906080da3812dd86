// Places: circles and shapes, in dynamic queries and in indexes.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Indexes.Spatial;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries.Spatial;
using Raven.Client.Documents.Session;

public class Places : LibraryTests
{
    private static string[] Names(IEnumerable<Branch> branches) => branches.ToList().Select(x => x.Name).ToArray();

    [Test]
    public void Circles()
    {
        using var store = Library();
        using var session = store.OpenSession();
        Assert.Set(Names(session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.WithinRadius(20, 55.605, 13.0038))), "Malmö", "Lund");
        Assert.Set(Names(session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.WithinRadius(20, 55.605, 13.0038, SpatialUnits.Miles))), "Malmö", "Lund", "Copenhagen");
        Assert.Set(Names(session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.WithinRadius(20, 55.605, 13.0038)).Where(x => x.Name != "Lund")), "Malmö");
    }

    [Test]
    public void Distances()
    {
        using var store = Library();
        using var session = store.OpenSession();
        IRavenQueryable<Branch> Query() => session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.WithinRadius(1000, 56, 12));
        Assert.Sequence(Names(Query().OrderByDistance(f => f.Point(x => x.Lat, x => x.Lng), 57.7, 12)), "Gothenburg", "Copenhagen", "Lund", "Malmö");
        Assert.Sequence(Names(Query().OrderByDistanceDescending(f => f.Point(x => x.Lat, x => x.Lng), 57.7, 12)), "Malmö", "Lund", "Copenhagen", "Gothenburg");
        Assert.Sequence(Names(Query().OrderByDistance(f => f.Point(x => x.Lat, x => x.Lng), "POINT (13.19 55.70)")), "Lund", "Malmö", "Copenhagen", "Gothenburg");
    }

    [Test]
    public void DistancesInMetadata()
    {
        using var store = Library();
        using var session = store.OpenSession();
        var near = session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.WithinRadius(100, 55.605, 13.0038))
            .OrderByDistance(f => f.Point(x => x.Lat, x => x.Lng), 55.605, 13.0038).ToList();
        Assert.Sequence(Names(near), "Malmö", "Lund", "Copenhagen");
        var distance = session.Advanced.GetMetadataFor(near[1]).GetObject("@spatial");
        Assert.Close(16.2, distance.GetDouble("Distance"), 0.5);
        Assert.Close(55.7047, distance.GetDouble("Latitude"), 0.001);
    }

    [Test]
    public void Shapes()
    {
        using var store = Library();
        using var session = store.OpenSession();
        const string box = "POLYGON ((12.4 55.5, 13.1 55.5, 13.1 55.9, 12.4 55.9, 12.4 55.5))";
        Assert.Set(Names(session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.Within(box))), "Malmö", "Copenhagen");
        Assert.Set(Names(session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.Intersects(box))), "Malmö", "Copenhagen");
        Assert.Set(Names(session.Query<Branch>().Spatial(f => f.Point(x => x.Lat, x => x.Lng), c => c.RelatesToShape("Circle(13.0038 55.605 d=20)", SpatialRelation.Within))), "Malmö", "Lund");
    }

    public class Area
    {
        public string Id { get; set; }
        public string Name { get; set; }
        public string Wkt { get; set; }
    }

    private DocumentStore Areas()
    {
        var store = Store();
        using var session = store.OpenSession();
        session.Store(new Area { Name = "small", Wkt = "POLYGON ((1 1, 2 1, 2 2, 1 2, 1 1))" }, "areas/1");
        session.Store(new Area { Name = "large", Wkt = "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))" }, "areas/2");
        session.Store(new Area { Name = "far", Wkt = "POLYGON ((50 50, 51 50, 51 51, 50 51, 50 50))" }, "areas/3");
        session.Store(new Area { Name = "line", Wkt = "LINESTRING (9 9, 12 12)" }, "areas/4");
        session.SaveChanges();
        return store;
    }

    [Test]
    public void TextsOfShapes()
    {
        using var store = Areas();
        using var session = store.OpenSession();
        string[] Found(Func<SpatialCriteriaFactory, SpatialCriteria> criteria) =>
            session.Query<Area>().Spatial(f => f.Wkt(x => x.Wkt), criteria).ToList().Select(x => x.Name).ToArray();
        const string box = "POLYGON ((0.5 0.5, 5 0.5, 5 5, 0.5 5, 0.5 0.5))";
        Assert.Set(Found(c => c.Intersects(box)), "small", "large");
        Assert.Set(Found(c => c.Intersects("POINT (11 11)")), "line");
        Assert.Set(Found(c => c.Within("POLYGON ((49 49, 52 49, 52 52, 49 52, 49 49))")), "far");
    }

    public class Areas_ByShape : AbstractIndexCreationTask<Area>
    {
        public Areas_ByShape()
        {
            Map = areas => from a in areas select new { a.Name, Shape = CreateSpatialField(a.Wkt) };
            Spatial("Shape", x => x.Geography.GeohashPrefixTreeIndex(6));
        }
    }

    public class Branches_ByPlace : AbstractIndexCreationTask<Branch>
    {
        public Branches_ByPlace()
        {
            Map = branches => from b in branches select new { b.Name, Place = CreateSpatialField(b.Lat, b.Lng) };
        }
    }

    [Test]
    public void IndexOfPoints()
    {
        using var store = Library();
        store.ExecuteIndex(new Branches_ByPlace());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Set(Names(session.Query<Branch, Branches_ByPlace>().Spatial("Place", c => c.WithinRadius(30, 55.605, 13.0038))), "Malmö", "Lund", "Copenhagen");
        Assert.Sequence(Names(session.Query<Branch, Branches_ByPlace>().Where(x => x.Name != "Malmö").OrderByDistance("Place", 55.605, 13.0038)), "Lund", "Copenhagen", "Gothenburg");
        Assert.Sequence(Names(session.Advanced.DocumentQuery<Branch, Branches_ByPlace>().WithinRadiusOf("Place", 20, 55.7, 13.19).OrderByDistance("Place", 55.7, 13.19).ToList()), "Lund", "Malmö");
    }

    [Test]
    public void IndexOfShapes()
    {
        using var store = Areas();
        store.ExecuteIndex(new Areas_ByShape());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Set(session.Query<Area, Areas_ByShape>().Spatial("Shape", c => c.Intersects("POINT (1.5 1.5)")).ToList().Select(x => x.Name), "small", "large");
        Assert.Set(session.Query<Area, Areas_ByShape>().Spatial("Shape", c => c.Intersects("POLYGON ((49 49, 52 49, 52 52, 49 52, 49 49))")).ToList().Select(x => x.Name), "far");
    }

    public class Areas_Flat : AbstractIndexCreationTask<Area>
    {
        public Areas_Flat()
        {
            Map = areas => from a in areas select new { Shape = CreateSpatialField(a.Wkt) };
            Spatial("Shape", x => x.Cartesian.QuadPrefixTreeIndex(12, new SpatialBounds(-100, -100, 100, 100)));
        }
    }

    [Test]
    public void FlatShapes()
    {
        using var store = Areas();
        store.ExecuteIndex(new Areas_Flat());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        Assert.Set(session.Query<Area, Areas_Flat>().Spatial("Shape", c => c.Intersects("POLYGON ((20 20, 60 20, 60 60, 20 60, 20 20))")).ToList().Select(x => x.Name), "far");
    }
}
