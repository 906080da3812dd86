"""The bars: what each workload has to reach, and beside whom. One row of the result for each `Bar`.

A bar compares a figure of ours with one of a peer in the same run, or with a number. Figures have names; those of the
engine are the names that `kv` (bench/compare) prints, those of micro come from bench/micro, those of http from
bench/http/phases.py, and those of bulk from bench/micro's program `bulk`.
"""

from dataclasses import dataclass

OURS = "rookery"
REFERENCE = "reference"
POSTGRES = "postgres"
# Ours, over plain HTTP.
HTTP = "http"


@dataclass(frozen=True)
class Bar:
    """One row. `at_most` and `at_least` bound the ratio to the peer, or the figure itself if there is no peer."""

    id: str
    group: str  # engine, micro, bulk, http: who measures it
    text: str
    unit: str = ""
    figure: str = ""
    step: str = ""  # what the measuring program has to run for it, in its own words
    part: str = ""  # a piece of the step that can be run alone
    peer: str | None = None
    peer_figure: str | None = None  # if it has another name than ours
    at_most: float | None = None
    at_least: float | None = None
    not_yet: str | None = None  # why nothing can be measured now

    @property
    def name(self):
        return f"{self.id} {self.text}"


def engine(id, text, figure, step, part="", **rest):
    unit = rest.pop("unit", "ns")
    return Bar(id, "engine", text, unit, figure, step, part, **rest)


def bars_of_engine():
    # a, b: commits. The engines take turns commit by commit, so a busy machine hurts all alike.
    for id, text, order, lmdb, fjall in [
        ("a1", "100 sequential items per durable transaction", "seq", 0.62, 0.75),
        ("a2", "100 random items per durable transaction", "rand", 0.22, 0.72),
    ]:
        for peer, ratio in [("lmdb", lmdb), ("fjall", fjall)]:
            yield engine(id, text, f"duel a {order} 100/tx p50", "duel", unit="us", peer=peer, at_most=ratio)
    written = "a rand 100/tx durable {} per user byte"
    after = "{} bytes per user byte after checkpoint"
    yield engine("a3", "a2, journal bytes per user byte", written.format("journal bytes"), "journal", "a", unit="x", at_most=2)
    for text, figure in [("all", "all"), ("device's", "device")]:
        figure = "a rand 100/tx durable " + after.format(figure)
        yield engine("a3", f"a2, {after.format(text)}", figure, "journal", "a", unit="x", at_most=5)
    for peer, ratio in [("fjall", 1.0), ("lmdb", 0.5)]:
        yield engine("b1", "1 item per durable transaction", "duel b rand 1/tx p50", "duel", unit="us", peer=peer, at_most=ratio)
    yield engine("b2", "1 item per transaction, not synced, CPU", "b 1/tx 1 thread nosync cpu per tx", "tx", "b", unit="us", at_most=3)
    yield engine(
        "b3", "1 item per durable transaction, 16 threads", "b 1/tx 16 threads direct durable", "tx", "b",
        unit="tx/s", peer="rocksdb", at_least=2.5,
    )  # fmt: skip

    # c: loads.
    yield engine("c1", "sorted load, CPU per item", "c load sorted 10k/tx durable cpu per item", "seq", peer="lmdb", at_most=1.0)
    yield engine(
        "c2", "random load of 2M, CPU per item", "c load random 10k/tx nosync cpu per item", "load", "c",
        peer="lmdb", at_most=0.65,
    )  # fmt: skip

    # d, e: reads, at 1, 2 and 8 threads. LMDB is given its cached handle wherever it has one.
    for threads in (1, 2, 8):
        one = "d get, one per read tx{}, {} threads, cpu per op"
        yield engine(
            "d1", f"get, one per read transaction, {threads} thread{'s' * (threads > 1)}, CPU", one.format("", threads), "load", "d",
            peer="lmdb", peer_figure=one.format(" renewed", threads), at_most=0.65,
        )  # fmt: skip
    long = "d get, long read tx, {} threads, cpu per op"
    for threads in (1, 2, 8):
        text = f"get in a long read transaction, {threads} thread{'s' * (threads > 1)}, CPU"
        yield engine("d2", text, long.format(threads), "load", "d", peer="lmdb", at_most=0.65)
    yield flat("d2", "get in a long read transaction", long, "d")
    for beside in ("", " beside a writer"):
        open_close = "e open+close read tx{}" + beside + ", {} threads, cpu per op"
        for threads in (1, 2, 8):
            yield engine(
                "e1", f"open and close a read transaction{beside}, {threads} thread{'s' * (threads > 1)}, CPU",
                open_close.format("", threads), "load", "e",
                peer="lmdb", peer_figure=open_close.format(" renewed", threads), at_most=0.9,
            )  # fmt: skip
        yield flat("e1", "open and close a read transaction" + beside, open_close.replace("tx{}", "tx"), "e")

    # f, g: scans and larger values.
    for text, figure, step in [
        ("full scan, random-loaded", "f full scan, random-loaded", "load"),
        ("full scan, sorted-loaded", "f full scan, sorted-loaded", "seq"),
        ("ranges of 100", "f 100-item ranges, random-loaded", "load"),
    ]:
        yield engine("f1", f"{text}, CPU per item", f"{figure}, cpu per item", step, "f", peer="lmdb", at_most=1.0)
    for size in ("1 KiB", "16 KiB"):
        figure = f"g {size} read random, one per tx, cpu per op"
        yield engine("g1", f"get of {size}, CPU", figure, "val", peer="lmdb", at_most=1.0)
    for size, ratio in [("1 KiB", 3), ("16 KiB", 0.9)]:
        figure = f"g {size} write random 100/tx durable"
        text = f"random write of {size}, 100 per durable transaction"
        yield engine("g2", text, figure, "val", unit="items/s", peer="lmdb", at_least=ratio)

    # h, i: size, and what opening costs. "Settled" is after a checkpoint; the stricter row is the bar.
    for text, step, bound in [("sorted load", "seq", 1.15), ("random load", "space", 1.6), ("update of all", "space", 1.7)]:
        for how in ("", ", settled"):
            figure = f"h size after {text}{how}"
            yield engine("h1", f"size per user byte after {text}{how}", figure, step, unit="x", at_most=bound)
    for how, bound in [("killed", 500), ("clean", 1)]:
        after = "SIGKILL with 128 MiB of journal" if how == "killed" else "a clean close"
        figure = f"i open and first read after 128 MiB of journal, {how}"
        yield engine("i1", f"open and first read after {after}", figure, "journal", "i", unit="ms", at_most=bound)


    # j: a content in pieces, beside positioned writes (and one sync at the end) and reads of the same sizes, in turns.
    content = "j content of 1 GiB, {}"
    for what in ("write", "read"):
        figure = content.format(f"{what}, of the device's rate")
        yield engine("j1", f"content of 1 GiB, {what}, of the device's rate", figure, "contents", unit="x", at_least=0.8)
    figure = content.format("resident memory above idle")
    yield engine("j2", "content of 1 GiB, resident memory above idle", figure, "contents", unit="MiB", at_most=64)


# "Flat" in the bars, as we read it: CPU per operation with 8 threads is at most this much of that with one.
FLAT = 1.2


def flat(id, text, figure, part):
    return engine(
        id, f"{text}, flat: 8 threads against 1", figure.format(8), "load", part,
        peer=OURS, peer_figure=figure.format(1), at_most=FLAT,
    )  # fmt: skip


def micro(id, text, figure, step, unit="ns", **bound):
    return Bar(id, "micro", text, unit, figure, step, **bound)


def bars_of_micro():
    # Read transactions are e1: `make bench BARS=e1`.
    for what, text in [("format", "timestamp to text"), ("parse", "timestamp from text")]:
        yield micro(f"m-date-{what}", text, f"date {what}", "dates", peer="jiff", at_most=0.5)
    yield micro("m-guid-format", "GUID to text", "guid format", "texts", peer="uuid", at_most=1.0)
    for what, text in [("format", "to text"), ("parse", "from text"), ("match", "compared with a client's text")]:
        figure = f"change vector {what}"
        yield micro(f"m-change-vector-{what}", f"change vector {text}, beside a GUID", figure, "texts", peer="uuid", at_most=1.0)
    yield micro("m-id-lower", "id of ASCII to its key", "id lower", "ids", peer="std", at_most=0.5)
    yield micro("m-id-lower-unicode", "id of other scripts to its key", "id lower unicode", "ids", peer="std", at_most=1.0)
    lookup = "name lookup, {} threads"
    for threads in (1, 32):
        text = f"database by name, {threads} thread{'s' * (threads > 1)}, CPU"
        yield micro("m-name-lookup", text, lookup.format(threads), "names", peer="arc-swap", at_most=1.0)
    yield micro(
        "m-name-lookup", "database by name, flat: 32 threads against 1", lookup.format(32), "names",
        peer=OURS, peer_figure=lookup.format(1), at_most=FLAT,
    )  # fmt: skip
    for size, peer in [(8, "words"), (13, "words"), (16, "words"), (64, "memcmp"), (256, "memcmp"), (1024, "memcmp")]:
        yield micro("m-compare", f"keys of {size} bytes compared", f"compare {size} B", "keys", peer=peer, at_most=1.0)
    for peer in ("words", "memcmp"):
        text = "keys of sizes as in a bulk insert compared"
        yield micro("m-compare", text, "compare histogram", "keys", peer=peer, at_most=1.0)
    for id, text in [
        ("m-route-match", "route match"),
        ("m-header-access", "header access"),
        ("m-header-access", "header accept-encoding"),
    ]:
        yield micro(id, f"{text}, CPU", text, "requests", at_most=50)
        yield micro(id, f"{text}, allocations", f"{text} allocations", "requests", "", at_most=0)


def bars_of_bulk():
    text = "bulk insert of 50,000 sequential documents, {} for each"
    for what, figure in [("compares of keys", "compares"), ("compares past the first bytes", "full compares")]:
        yield Bar("bulk-compares", "bulk", text.format(what), "", f"bulk {figure}", "compares", at_most=10)
    # A tree of 5 M entries is higher than one of 1 M by ln 5 M / ln 1 M = 1.12.
    text = "bulk insert into a database of 0 to 5 M documents, {}: the last million against the first"
    for what, unit, bound in [("rate", "/s", {"at_least": 0.89}), ("cpu", "ns", {"at_most": 1.12})]:
        yield Bar("bulk-growth", "bulk", text.format(what), unit, f"bulk growth {what}", "growth", peer="first", **bound)


def http(id, text, figure, unit, peer=REFERENCE, **bound):
    return Bar(id, "http", text, unit, figure, step=id.removeprefix("http-"), peer=peer, **bound)


def bars_of_http():
    yield http("http-start", "start, empty folder, to the first 200", "start seconds", "s", None, at_most=0.1)
    yield http("http-reopen", "start with 1 M documents, to the first document", "reopen seconds", "s", None, at_most=0.15)
    yield http("http-idle", "memory, idle", "idle memory", "MiB", None, at_most=32)
    yield http("http-load", "memory after loading 1 M documents", "load memory", "MiB", at_most=0.35)
    yield http("http-load", "memory after loading 1 M documents, anonymous", "load anonymous", "MiB", at_most=0.25)
    yield http("http-load", "disk after 1 M documents", "load disk", "MiB", at_most=0.4)
    for phase, what in [("put", "PUT"), ("save", "one-command bulk_docs")]:
        for connections, rate, cpu in [(1, 2.0, 0.1), (16, 2.0, 0.25), (64, 1.7, 0.35)]:
            id, text = f"{phase}-{connections}", f"{what}, {connections} connection{'s' * (connections > 1)}"
            yield from rated(f"http-{id}", text, rate, cpu, p99=0.5 if connections > 1 else None)
            if connections == 1:
                yield http(f"http-{id}", f"{text}: p50", f"{id} p50", "ms", None, at_most=0.2)
    yield from beside_postgres()
    yield from rated("http-bulk", "bulk insert, prepared stream", 3, 0.3)
    yield from rated("http-client", "bulk insert by the Node client", 1.2, 0.3)
    for id, text, rate, cpu, p99 in [
        ("1", "1 connection", 1.6, 0.3, None),
        ("16", "16 connections", 1.6, 0.35, 0.7),
        ("64", "64 connections", 1.3, 0.45, 0.7),
        ("16-gzip", "16 connections, gzip asked for", 1.6, 0.4, None),
        ("16-new", "16 connections, a new connection for each", 1.5, 0.6, None),
    ]:
        yield from rated(f"http-get-{id}", f"GET by random id of 1 M, {text}", rate, cpu, p99)
    yield from bars_of_indexes()
    text = "from the answer to a PUT to the document in the index, 1,000 writes/s, 10 indexes"
    for figure, bound in [("p50", 2), ("p99", 10)]:
        yield http("http-fresh", f"{text}: {figure}", f"fresh {figure}", "ms", None, at_most=bound)
    text = "PUT with 10 indexes beside PUT with none, 16 connections"
    yield http("http-fresh", f"{text}: rate", "fresh-put rate", "/s", OURS, peer_figure="fresh-bare rate", at_least=0.7)
    yield http("http-end", "memory at the end of all phases", "end memory", "MiB", at_most=0.3)
    yield http("http-end", "memory, peak", "end peak", "MiB", at_most=0.3)
    yield http("http-end", "disk at the end of all phases", "end disk", "MiB", at_most=0.5)
    yield from bars_of_copies()
    yield from bars_of_https()


def bars_of_copies():
    # Where no other bound is given, ours takes no more than the reference. Seconds in a snapshot's bar are at most ten.
    text = "export of 1 M documents"
    yield http("http-export", f"{text}: rate", "export rate", "/s", None, at_least=500_000)
    yield http("http-export", f"{text} by `rookery export`: rate", "export command-rate", "/s", None, at_least=500_000)
    yield from rated("http-export", text, 1, 1)
    text = "import of 1 M documents"
    yield http("http-import", f"{text}: rate", "import rate", "/s", OURS, peer_figure="import bulk-rate", at_least=1)
    yield from rated("http-import", text, 1, 1)
    text = "backup of 1 M documents, 2 indexes"
    yield http("http-backup", text, "backup seconds", "s", at_most=1)
    yield http("http-backup", f"{text}: CPU", "backup cpu", "s", at_most=1)
    yield http("http-backup", f"{text}: size", "backup size", "MiB", at_most=1)
    text = "restore of 1 M documents"
    yield http("http-backup", text, "backup restore-served", "s", at_most=1)
    yield http("http-backup", f"{text}, until 2 indexes are up to date", "backup restore-seconds", "s", at_most=1)
    yield http("http-backup", f"{text} and 2 indexes: CPU", "backup restore-cpu", "s", at_most=1)
    text = "snapshot of 1 M documents, 2 indexes"
    yield http("http-snapshot", text, "snapshot seconds", "s", None, at_most=10)
    yield http("http-snapshot", f"{text}: restore", "snapshot restore-seconds", "s", None, at_most=10)


def bars_of_https():
    text = "GET by random id of 1 M over HTTPS, 16 connections"
    yield http("http-tls-16", f"{text}: rate", "tls-16 rate", "/s", HTTP, at_least=0.8)
    yield http("http-tls-16", f"{text}: CPU", "tls-16 cpu", "us", HTTP, at_most=1 / 0.8)
    yield from rated("http-tls-16", text, 1.6, 0.35, 0.7)
    text = "GET over HTTPS, 16 connections, a full handshake for each"
    yield http("http-tls-new-16", f"{text}, P-256: CPU", "tls-new-16 cpu", "us", None, at_most=1000)
    yield http("http-tls-new-rsa-16", f"{text}, RSA 2048: CPU", "tls-new-rsa-16 cpu", "us", None, at_most=1000)
    yield from rated("http-tls-new-rsa-16", f"{text}, RSA 2048", 1.5, 0.6)


def beside_postgres():
    """A row for each document, through PostgreSQL's own protocol: at least as many, with no more CPU."""
    for id, text in [
        ("put-1", "PUT, 1 connection"),
        ("put-16", "PUT, 16 connections"),
        ("put-64", "PUT, 64 connections"),
        ("get-16", "GET by random id of 1 M, 16 connections"),
        ("query-1-hit-16", "query, equality, 1 hit, 16 connections"),
    ]:
        yield http(f"http-{id}", f"{text}: rate", f"{id} rate", "/s", POSTGRES, at_least=1)
        yield http(f"http-{id}", f"{text}: CPU", f"{id} cpu", "us", POSTGRES, at_most=1)


def rated(id, text, rate, cpu, p99=None):
    """Operations per second, the server's CPU per operation, and perhaps the 99th percentile."""
    figure = id.removeprefix("http-")
    yield http(id, f"{text}: rate", f"{figure} rate", "/s", at_least=rate)
    yield http(id, f"{text}: CPU", f"{figure} cpu", "us", at_most=cpu)
    if p99 is not None:
        yield http(id, f"{text}: p99", f"{figure} p99", "ms", at_most=p99)


def bars_of_indexes():
    for id, text, rate in [
        ("map", "map", 2),
        ("map-reduce", "map-reduce, 100 groups", 2),
        ("text", "full text of 24 words", 2),
        ("points", "texts, dates and points", 2),
    ]:
        text = f"index over 500 k documents: {text}"
        yield http(f"http-index-{id}", f"{text}: rate", f"index-{id} rate", "/s", at_least=rate)
        yield http(f"http-index-{id}", f"{text}: CPU", f"index-{id} cpu", "us", at_most=1 / rate)
        yield http(f"http-index-{id}", f"{text}: disk", f"index-{id} disk", "MiB", at_most=1.0)
    text = "index over 500 k documents: map, in C# beside the same in JavaScript of plain properties"
    yield http("http-index-map-script", f"{text}: CPU", "index-map cpu", "us", OURS, peer_figure="index-map-script cpu", at_most=1.0)
    # The step is that of the queries, whose first one it is.
    text = "first query on a new field (makes the auto index over 500 k)"
    yield Bar("http-query-1-hit-1", "http", text, "/s", "first-1-hit rate", "query-1-hit-1", peer=REFERENCE, at_least=2)
    for id, text, connections, rate, cpu in [
        ("1-hit", "equality, 1 hit", 1, 2, 0.3),
        ("1-hit", "equality, 1 hit", 16, 2, 0.3),
        ("20-hits", "equality, 20 hits", 1, 3, 0.25),
        ("20-hits", "equality, 20 hits", 16, 3, 0.25),
        ("range", "range of 5,000, sorted by another field, a page of 20 from 100", 16, 2.5, 0.3),
        ("prefix", "prefix", 16, 2.5, 0.3),
        ("in", "one of 100 values", 16, 2.5, 0.3),
        ("text", "full text, two words, by score", 16, 2.5, 0.3),
        ("facets", "facets over the whole set", 1, 2.5, 0.3),
        ("near", "points within a circle, by distance", 16, 2.5, 0.3),
        ("script", "projection by a script, 20 hits", 16, 2, 0.3),
    ]:
        shown = f"query, {text}, {connections} connection{'s' * (connections > 1)}"
        yield from rated(f"http-query-{id}-{connections}", shown, rate, cpu)


BARS = [*bars_of_engine(), *bars_of_micro(), *bars_of_bulk(), *bars_of_http()]
GROUPS = list(dict.fromkeys(bar.group for bar in BARS))


def choose(words):
    """The bars that words name: a group, an id, or the beginning of ids up to a `-` (`http-put`). All if there are none.

    Raises `ValueError` for a word that names nothing.
    """
    for word in words:
        if not any(is_named(bar, word) for bar in BARS):
            ids = ", ".join(dict.fromkeys(bar.id for bar in BARS))
            raise ValueError(f"no bar '{word}'; there are {', '.join(GROUPS)}, and one by one {ids}")
    return [bar for bar in BARS if not words or any(is_named(bar, word) for word in words)]


def is_named(bar, word):
    return word in (bar.group, bar.id) or bar.id.startswith(word + "-")
