// What the tests of this folder share: [Test], the base class Tests with databases of their own, Assert; and Kit, which `run` calls.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.ExceptionServices;
using System.Threading;
using System.Threading.Tasks;
using Raven.Client.Documents;
using Raven.Client.Documents.Operations;
using Raven.Client.Exceptions.Database;
using Raven.Client.Http;
using Raven.Client.ServerWide;
using Raven.Client.ServerWide.Operations;

/// An instance method without parameters, void or Task, of a class that derives from Tests.
[AttributeUsage(AttributeTargets.Method)]
public sealed class TestAttribute : Attribute { }

/// Base of all classes of tests. Each test gets an instance of its own.
public abstract class Tests
{
    private const int SecondsMax = 15;
    private static int _number;
    private readonly List<DocumentStore> _stores = new();
    private readonly List<string> _databases = new();

    /// Of request bodies: zstd, gzip or none.
    internal string Compression { get; set; }

    /// A store on a new database, which is deleted after the test.
    protected DocumentStore Store(Action<DocumentStore> configure = null, Action<DatabaseRecord> record = null)
    {
        var name = NewName();
        var definition = new DatabaseRecord(name);
        if (Kit.Lucene)
            foreach (var kind in new[] { "Auto", "Static" }) definition.Settings[$"Indexing.{kind}.SearchEngineType"] = "Lucene";
        record?.Invoke(definition);
        var store = StoreOf(name, configure);
        store.Maintenance.Server.Send(new CreateDatabaseOperation(definition));
        return store;
    }

    /// One more store; its database, if it has one, is deleted after the test.
    protected DocumentStore StoreOf(string database, Action<DocumentStore> configure = null)
    {
        var store = new DocumentStore { Urls = new[] { Kit.Url }, Database = database };
        store.Conventions.DisableTopologyCache = true;
        Compress(store, Compression);
        configure?.Invoke(store);
        store.Initialize();
        _stores.Add(store);
        if (database != null) _databases.Add(database);
        return store;
    }

    /// The name of a database that is not there yet; what is made under it is deleted after the test.
    protected string NewName()
    {
        var name = $"csharp-{Environment.ProcessId}-{Interlocked.Increment(ref _number)}";
        _databases.Add(name);
        return name;
    }

    internal static void Compress(DocumentStore store, string compression)
    {
        store.Conventions.UseHttpCompression = compression != "none";
        store.Conventions.HttpCompressionAlgorithm = compression == "gzip" ? HttpCompressionAlgorithm.Gzip : HttpCompressionAlgorithm.Zstd;
    }

    /// Returns once no index is stale, and none is about to be replaced.
    protected static void WaitForIndexing(IDocumentStore store)
    {
        for (var clock = Stopwatch.StartNew(); ; Thread.Sleep(10))
        {
            var behind = store.Maintenance.Send(new GetStatisticsOperation()).Indexes
                .Where(x => x.IsStale || x.Name.StartsWith("ReplacementOf/")).Select(x => x.Name).ToArray();
            if (behind.Length == 0) return;
            if (clock.Elapsed > TimeSpan.FromSeconds(SecondsMax)) throw new TimeoutException("still stale: " + string.Join(", ", behind));
        }
    }

    /// Asks until the answer is the expected one, for 15 s at most.
    protected static void Eventually<T>(T expected, Func<T> ask)
    {
        for (var clock = Stopwatch.StartNew(); clock.Elapsed < TimeSpan.FromSeconds(SecondsMax); Thread.Sleep(10))
            if (Equals(ask(), expected)) return;
        Assert.Equal(expected, ask());
    }

    internal void CleanUp()
    {
        foreach (var store in _stores) store.Dispose();
        foreach (var database in _databases.Distinct())
        {
            try { Kit.Admin.Maintenance.Server.Send(new DeleteDatabasesOperation(database, hardDelete: true)); }
            catch (DatabaseDoesNotExistException) { /* The test deleted it, or never made it. */ }
        }
    }
}

/// Keeps what it is notified of, for a test that waits for it.
public sealed class Seen<T> : IObserver<T>
{
    private readonly BlockingCollection<T> _values = new();

    public void OnNext(T value) => _values.Add(value);
    public void OnError(Exception error) { }
    public void OnCompleted() { }

    /// How many values have come that `Next` did not give yet.
    public int Count => _values.Count;

    /// The next value, within 15 s.
    public T Next() => _values.TryTake(out var value, TimeSpan.FromSeconds(15)) ? value : throw new TimeoutException("no notification");

    /// The next value that fits; what comes before it is passed over.
    public T Next(Func<T, bool> fits)
    {
        while (true)
            if (Next() is var value && fits(value)) return value;
    }
}

public sealed class AssertException : Exception { public AssertException(string message) : base(message) { } }

public static class Assert
{
    internal static string Text(object value) => value switch
    {
        null => "null",
        string text => $"\"{text}\"",
        IEnumerable all => "[" + string.Join(", ", all.Cast<object>().Select(Text)) + "]",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture),
    };

    public static void Fail(string message) => throw new AssertException(message);

    private static void Check(bool holds, string message) { if (!holds) Fail(message); }

    public static void True(bool value, string what = "a condition") => Check(value, $"{what} is false");
    public static void False(bool value, string what = "a condition") => Check(!value, $"{what} is true");
    public static void Null(object value) => Check(value == null, $"expected null, got {Text(value)}");
    public static void NotNull(object value) => Check(value != null, "expected a value, got null");

    public static void Equal<T>(T expected, T actual) =>
        Check(EqualityComparer<T>.Default.Equals(expected, actual), $"expected {Text(expected)}, got {Text(actual)}");

    public static void NotEqual<T>(T other, T actual) =>
        Check(!EqualityComparer<T>.Default.Equals(other, actual), $"expected anything but {Text(actual)}");

    public static void Close(double expected, double actual, double by = 1e-6) =>
        Check(Math.Abs(expected - actual) <= by, $"expected about {Text(expected)}, got {Text(actual)}");

    /// These values in this order.
    public static void Sequence<T>(IEnumerable<T> actual, params T[] expected)
    {
        var list = actual.ToList();
        Check(list.SequenceEqual(expected), $"expected {Text(expected)}, got {Text(list)}");
    }

    /// These values in any order.
    public static void Set<T>(IEnumerable<T> actual, params T[] expected) =>
        Sequence(actual.OrderBy(x => x), expected.OrderBy(x => x).ToArray());

    public static void Contains(string part, string text) =>
        Check(text != null && text.Contains(part, StringComparison.OrdinalIgnoreCase), $"expected {Text(part)} in {Text(text)}");

    public static T Throws<T>(Action action) where T : Exception =>
        ThrowsAsync<T>(() => { action(); return Task.CompletedTask; }).GetAwaiter().GetResult();

    public static async Task<T> ThrowsAsync<T>(Func<Task> action) where T : Exception
    {
        try { await action(); }
        catch (Exception thrown)
        {
            var error = thrown is AggregateException && thrown is not T ? thrown.InnerException : thrown;
            return error as T ?? throw new AssertException($"expected {typeof(T).Name}, got {Kit.FirstLine(error)}");
        }
        throw new AssertException($"expected {typeof(T).Name}, nothing was thrown");
    }
}

public static class Kit
{
    public static string Url { get; private set; }
    /// Whether databases are to use RavenDB's first search engine.
    public static bool Lucene { get; private set; }
    internal static DocumentStore Admin { get; private set; }

    private static IEnumerable<(string Name, Type Type, MethodInfo Method)> All() =>
        from type in typeof(Kit).Assembly.GetTypes()
        where typeof(Tests).IsAssignableFrom(type) && !type.IsAbstract
        from method in type.GetMethods(BindingFlags.Public | BindingFlags.Instance)
        where method.GetCustomAttribute<TestAttribute>() != null
        orderby type.FullName, method.MetadataToken
        select ($"{type.Name}.{method.Name}", type, method);

    public static string[] Names() => All().Select(x => x.Name).ToArray();

    /// How many tests run at a time; most of a test is waiting for the server.
    private const int AtOnce = 4;

    /// Runs each test with each compression, or with one of them, which its name decides; gives how many passed and how many failed.
    public static int[] Run(string url, string[] names, string[] compressions, bool each, string[] known, int seconds, bool lucene, string results)
    {
        (Url, Lucene) = (url, lucene);
        ThreadPool.SetMinThreads(64, 64);
        TaskScheduler.UnobservedTaskException += (_, e) => e.SetObserved();
        using (Admin = new DocumentStore { Urls = new[] { url } })
        {
            Admin.Conventions.DisableTopologyCache = true;
            Tests.Compress(Admin, "none");
            Admin.Initialize();
            using var report = new Report(known, results);
            var runs =
                from compression in compressions
                from test in All()
                where names.Contains(test.Name) && (each || compressions[test.Name.Sum(c => c) % compressions.Length] == compression)
                select (test.Name, test.Type, test.Method, compression);
            Parallel.ForEach(Partitioner.Create(runs, EnumerablePartitionerOptions.NoBuffering), new ParallelOptions { MaxDegreeOfParallelism = AtOnce }, run =>
            {
                var clock = Stopwatch.StartNew();
                var error = RunOne(run.Type, run.Method, run.compression, seconds);
                report.Add(run.Name, run.compression, clock.ElapsedMilliseconds, error);
            });
            return report.Counts();
        }
    }

    private static Exception RunOne(Type type, MethodInfo method, string compression, int seconds)
    {
        var tests = (Tests)Activator.CreateInstance(type);
        tests.Compression = compression;
        var task = Task.Run(async () =>
        {
            try { if (method.Invoke(tests, null) is Task running) await running; }
            catch (TargetInvocationException e) { ExceptionDispatchInfo.Throw(e.InnerException); }
        });
        try { return task.Wait(TimeSpan.FromSeconds(seconds)) ? null : new TimeoutException($"it still runs after {seconds} s"); }
        catch (AggregateException e) { return e.InnerException; }
        finally
        {
            try { Task.Run(tests.CleanUp).Wait(TimeSpan.FromSeconds(seconds)); }
            catch (AggregateException e) { Console.WriteLine("        cleaning up: " + FirstLine(e)); }
        }
    }

    /// The first line of an error, with the place in the test where it happened.
    internal static string FirstLine(Exception error)
    {
        while (error is AggregateException && error.InnerException != null) error = error.InnerException;
        var text = error.Message.Split('\n').Select(x => x.Trim()).FirstOrDefault(x => x != "") ?? "";
        var frame = new StackTrace(error, true).GetFrames().FirstOrDefault(x =>
            x.GetMethod()?.Module.Assembly == typeof(Kit).Assembly && x.GetFileName() is string file && !file.EndsWith("Kit.cs"));
        var at = frame == null ? "" : $" ({Path.GetFileName(frame.GetFileName())}:{frame.GetFileLineNumber()})";
        return (error is AssertException ? "" : error.GetType().Name + ": ") + text + at;
    }
}

/// Prints what came of each test, and counts.
internal sealed class Report : IDisposable
{
    private readonly string[] _known;
    private readonly StreamWriter _file;
    private readonly HashSet<string> _failedAsKnown = new();
    private int _passed, _failed;

    public Report(string[] known, string file)
    {
        _known = known;
        _file = file == null ? null : new StreamWriter(file) { AutoFlush = true };
    }

    public void Add(string name, string compression, long milliseconds, Exception error)
    {
        var isKnown = _known.Contains(name);
        if (error == null && isKnown) error = new AssertException("it passes: take it out of known-failures.txt");
        else if (isKnown) { lock (this) _failedAsKnown.Add(name); return; }
        lock (this)
        {
            if (error == null) _passed++; else _failed++;
            Console.WriteLine($"{(error == null ? "ok    " : "FAILED")}  csharp, {compression}: {name} ({milliseconds} ms)");
            if (error != null) Console.WriteLine("        " + Kit.FirstLine(error));
            _file?.WriteLine($"{name}\t{compression}\t{(error == null ? "ok" : error)}\n");
        }
    }

    /// How many passed and how many failed; prints those that are known to fail.
    public int[] Counts()
    {
        foreach (var name in _failedAsKnown.OrderBy(x => x)) Console.WriteLine("known   csharp: " + name);
        return new[] { _passed, _failed };
    }

    public void Dispose() => _file?.Dispose();
}
