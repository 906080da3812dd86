// Vector search over embeddings that documents have.
using System;
using System.Collections.Generic;
using System.Linq;
using Raven.Client.Documents;
using Raven.Client.Documents.Indexes;
using Raven.Client.Documents.Indexes.Vector;
using Raven.Client.Documents.Linq;
using Raven.Client.Documents.Queries;
using Raven.Client.Documents.Session;

public class Vectors : Tests
{
    public class Photo
    {
        public string Id { get; set; }
        public string Name { get; set; }
        public float[] Embedding { get; set; }
        public RavenVector<float> Vector { get; set; }
    }

    private DocumentStore Photos()
    {
        // RavenDB's first engine has no vectors.
        var store = Store(record: r => r.Settings.Clear());
        using var session = store.OpenSession();
        foreach (var (name, vector) in new (string, float[])[] { ("east", new[] { 1f, 0f }), ("north", new[] { 0f, 1f }), ("northeast", new[] { 0.7f, 0.7f }), ("west", new[] { -1f, 0f }) })
            session.Store(new Photo { Name = name, Embedding = vector, Vector = new RavenVector<float>(vector) }, "photos/" + name);
        session.SaveChanges();
        return store;
    }

    private static string[] Names(IEnumerable<Photo> photos) => photos.ToList().Select(x => x.Name).ToArray();

    [Test]
    public void Nearest()
    {
        using var store = Photos();
        using var session = store.OpenSession();
        var photos = session.Query<Photo>().VectorSearch(f => f.WithEmbedding(x => x.Embedding), v => v.ByEmbedding(new[] { 1f, 0.2f }), minimumSimilarity: 0.8f).OrderByScore();
        Assert.Sequence(Names(photos), "east", "northeast");
    }

    [Test]
    public void Exactly()
    {
        using var store = Photos();
        using var session = store.OpenSession();
        var photos = session.Query<Photo>().VectorSearch(f => f.WithEmbedding(x => x.Embedding), v => v.ByEmbedding(new[] { 0f, 1f }), minimumSimilarity: 0.75f, isExact: true);
        Assert.Set(Names(photos), "north", "northeast");
    }

    [Test]
    public void FieldsOfVectors()
    {
        using var store = Photos();
        using var session = store.OpenSession();
        Assert.Sequence(session.Load<Photo>("photos/west").Vector.Embedding, -1f, 0f);
        var photos = session.Query<Photo>().VectorSearch(f => f.WithEmbedding(x => x.Vector), v => v.ByEmbedding(new RavenVector<float>(new[] { -1f, 0.1f })), minimumSimilarity: 0.9f);
        Assert.Sequence(Names(photos), "west");
    }

    [Test]
    public void Quantized()
    {
        using var store = Photos();
        using var session = store.OpenSession();
        var photos = session.Query<Photo>().VectorSearch(f => f.WithEmbedding(x => x.Embedding).TargetQuantization(VectorEmbeddingType.Int8), v => v.ByEmbedding(new[] { 0f, 1f }), minimumSimilarity: 0.95f);
        Assert.Sequence(Names(photos), "north");
    }

    public class Photos_ByVector : AbstractIndexCreationTask<Photo>
    {
        public Photos_ByVector()
        {
            Map = photos => from p in photos select new { p.Name, Vector = CreateVector(p.Embedding) };
            Vector("Vector", f => f.SourceEmbedding(VectorEmbeddingType.Single).DestinationEmbedding(VectorEmbeddingType.Single).Dimensions(2));
            SearchEngineType = Raven.Client.Documents.Indexes.SearchEngineType.Corax;
        }
    }

    [Test]
    public void OfAnIndex()
    {
        using var store = Photos();
        store.ExecuteIndex(new Photos_ByVector());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var photos = session.Query<Photo, Photos_ByVector>().VectorSearch(f => f.WithField("Vector"), v => v.ByEmbedding(new[] { 0.1f, 1f }), minimumSimilarity: 0.8f).OrderByScore();
        Assert.Sequence(Names(photos), "north", "northeast");
        var narrowed = session.Advanced.DocumentQuery<Photo, Photos_ByVector>().VectorSearch(f => f.WithField("Vector"), v => v.ByEmbedding(new[] { 0.1f, 1f }), 0.8f)
            .AndAlso().WhereEquals("Name", "northeast");
        Assert.Sequence(Names(narrowed.ToList()), "northeast");
    }

    [Test]
    public void LikeADocument()
    {
        using var store = Photos();
        store.ExecuteIndex(new Photos_ByVector());
        WaitForIndexing(store);
        using var session = store.OpenSession();
        var photos = session.Query<Photo, Photos_ByVector>().VectorSearch(f => f.WithField("Vector"), v => v.ForDocument("photos/west"), minimumSimilarity: 0.9f);
        Assert.Sequence(Names(photos), "west");
    }
}
