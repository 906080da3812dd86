"""Everyday operations with the published Python client against a running server.

    python everyday.py http://127.0.0.1:8080 [--reference]

Makes a database of its own, runs every test below in order (harness.py), deletes the database. Every test stores what it
needs under ids of its own, so that one failure does not spoil the next; only the last two look at the whole database.
Nothing here needs an index.
"""

import re

from harness import (
    DATABASE,
    STORE,
    Entity,
    delete_database,
    equal,
    eventually,
    open_store,
    refused,
    run,
    save,
    shown,
    test,
    test_unless_reference,
)
from ravendb import (
    CreateDatabaseOperation,
    GetCollectionStatisticsOperation,
    GetDatabaseNamesOperation,
    GetDatabaseRecordOperation,
    GetStatisticsOperation,
)
from ravendb.documents.operations.compare_exchange.operations import (
    DeleteCompareExchangeValueOperation,
    GetCompareExchangeValueOperation,
    PutCompareExchangeValueOperation,
)
from ravendb.documents.operations.expiration.configuration import ExpirationConfiguration
from ravendb.documents.operations.expiration.operations import ConfigureExpirationOperation
from ravendb.documents.operations.identities import NextIdentityForCommand, SeedIdentityForCommand
from ravendb.documents.session.misc import SessionOptions, TransactionMode
from ravendb.serverwide.database_record import DatabaseRecord


class User(Entity):
    pass


class Company(Entity):
    pass


class Product(Entity):
    pass


class Reading(Entity):
    pass


class Invoice(Entity):
    pass


class Shelf(Entity):
    pass


def load(id, object_type=User):
    """One document, in a session of its own."""
    with STORE.open_session() as session:
        return session.load(id, object_type)


def names(entities):
    return [entity.name for entity in entities]


@test
def create():
    """create a database"""
    result = STORE.maintenance.server.send(CreateDatabaseOperation(DatabaseRecord(DATABASE)))
    equal(result.name, DATABASE)
    assert DATABASE in STORE.maintenance.server.send(GetDatabaseNamesOperation(0, 1000))
    equal(STORE.maintenance.server.send(GetDatabaseRecordOperation(DATABASE)).database_name, DATABASE)


@test
def create_again():
    """create a database that exists: refused"""
    refused(
        lambda: STORE.maintenance.server.send(CreateDatabaseOperation(DatabaseRecord(DATABASE))),
        "ConcurrencyException",
        "already exists",
    )


@test
def store_with_generated_id():
    """store with a generated id, load"""
    with STORE.open_session() as session:
        user = User(name="Ada", age=36)
        session.store(user)
        assert re.fullmatch(r"users/\d+-A", user.Id), user.Id
        session.save_changes()
    with STORE.open_session() as session:
        loaded = session.load(user.Id, User)
        assert isinstance(loaded, User)
        equal((loaded.name, loaded.age, loaded.Id), ("Ada", 36, user.Id))
        assert session.load(user.Id, User) is loaded, "a session gives the same object again"
        equal(session.advanced.number_of_requests, 1)


@test
def store_with_given_id():
    """store with a given id: spelling kept, found without regard to case"""
    save(("Given/Émile-1", User(name="Émile")))
    with STORE.open_session() as session:
        loaded = session.load("given/émile-1", User)
        equal(loaded.name, "Émile")
        equal(session.advanced.get_metadata_for(loaded)["@id"], "Given/Émile-1")


@test
def load_many():
    """load many, with one missing"""
    save(("many/1", User(name="one")), ("many/2", User(name="two")))
    with STORE.open_session() as session:
        loaded = session.load(["many/2", "many/nobody", "many/1"], User)
        equal(loaded["many/1"].name, "one")
        equal(loaded["many/2"].name, "two")
        assert loaded.get("many/nobody") is None
        equal(session.advanced.number_of_requests, 1)


@test
def load_missing():
    """load what is missing"""
    with STORE.open_session() as session:
        assert session.load("missing/1", User) is None
        assert session.load("missing/1", User) is None
        equal(session.advanced.number_of_requests, 1)


@test
def change_and_save():
    """change and save"""
    save(("change/1", User(name="before", tags=["a"])))
    with STORE.open_session() as session:
        user = session.load("change/1", User)
        first = session.advanced.get_change_vector_for(user)
        user.name = "after"
        user.tags.append("b")
        assert session.advanced.has_changes()
        session.save_changes()
        second = session.advanced.get_change_vector_for(user)
        assert second != first
        assert not session.advanced.has_changes()
    with STORE.open_session() as session:
        loaded = session.load("change/1", User)
        equal((loaded.name, loaded.tags), ("after", ["a", "b"]))
        equal(session.advanced.get_change_vector_for(loaded), second)


@test
def delete():
    """delete an entity, delete by id"""
    save(*((f"delete/{n}", User()) for n in (1, 2, 3)))
    with STORE.open_session() as session:
        session.delete(session.load("delete/1", User))
        session.delete("delete/2")
        session.delete("delete/was-never-there")
        session.save_changes()
    assert load("delete/1") is None
    assert load("delete/2") is None
    assert load("delete/3") is not None


@test
def batch():
    """a batch is one transaction"""
    save(("batch/1", User(name="first")))
    with STORE.open_session() as session:
        session.store(User(name="second"), "batch/2")
        session.store(User(name="conflict"), "batch/1", "A:1-xxxxxxxxxxxxxxxxxxxxxx")
        refused(session.save_changes, "ConcurrencyException", "batch/1")
    assert load("batch/2") is None, "nothing of a refused batch is stored"
    equal(load("batch/1").name, "first")


@test
def includes():
    """load with includes"""
    save(
        ("include/company", Company(name="Analytical Engines")),
        ("include/user", User(name="Ada", company="include/company", friends=["include/friend"])),
        ("include/friend", User(name="Charles")),
    )
    with STORE.open_session() as session:
        user = session.include("company").include("friends").load("include/user", User)["include/user"]
        equal(session.load(user.company, Company).name, "Analytical Engines")
        equal(session.load(user.friends[0], User).name, "Charles")
        equal(session.advanced.number_of_requests, 1)


@test
def optimistic_concurrency():
    """optimistic concurrency: the second writer is refused"""
    save(("conflict/1", User(name="start")))
    with STORE.open_session() as one, STORE.open_session() as two:
        two.advanced.use_optimistic_concurrency = True
        mine = one.load("conflict/1", User)
        yours = two.load("conflict/1", User)
        mine.name = "mine"
        yours.name = "yours"
        one.save_changes()
        refused(two.save_changes, "ConcurrencyException", "conflict/1")
    equal(load("conflict/1").name, "mine")


@test
def lazy_loads():
    """lazy loads go in one request"""
    save(*((f"lazy/{n}", User(name=n)) for n in ("one", "three", "two")))
    with STORE.open_session() as session:
        one = session.advanced.lazily.load("lazy/one", User)
        rest = session.advanced.lazily.load(["lazy/two", "lazy/three"], User)
        prefix = session.advanced.lazily.load_starting_with("lazy/", User)
        session.advanced.eagerly.execute_all_pending_lazy_operations()
        equal(session.advanced.number_of_requests, 1)
        equal(one.value.name, "one")
        equal(sorted(names(rest.value.values())), ["three", "two"])
        equal(len(prefix.value), 3)
        equal(session.advanced.number_of_requests, 1)


@test
def load_starting_with():
    """load starting with: prefix, matches, exclude, startAfter, paging"""
    save(*((f"prefix/{name}", User(name=name)) for name in ("a1", "a2", "a3", "b1", "b2")))

    def found(**options):
        with STORE.open_session() as session:
            return names(session.advanced.load_starting_with("prefix/", User, **options))

    equal(found(), ["a1", "a2", "a3", "b1", "b2"])
    equal(found(matches="a*"), ["a1", "a2", "a3"])
    equal(found(matches="?1|b2"), ["a1", "b1", "b2"])
    equal(found(exclude="a*"), ["b1", "b2"])
    equal(found(matches="a*", exclude="*2"), ["a1", "a3"])
    equal(found(start_after="prefix/a2"), ["a3", "b1", "b2"])
    equal(found(start=1, page_size=2), ["a2", "a3"])


@test
def exists():
    """does a document exist?"""
    save(("exists/1", User()))
    with STORE.open_session() as session:
        equal(session.advanced.exists("exists/1"), True)
        equal(session.advanced.exists("EXISTS/1"), True)
        equal(session.advanced.exists("exists/2"), False)


@test
def conditional_load():
    """conditional load"""
    save(("conditional/1", User(name="one")))
    with STORE.open_session() as writer:
        user = writer.load("conditional/1", User)
        before = writer.advanced.get_change_vector_for(user)
        with STORE.open_session() as session:
            unchanged = session.advanced.conditional_load("conditional/1", before, User)
            assert unchanged.entity is None
            equal(unchanged.change_vector, before)
        user.name = "two"
        writer.save_changes()
        with STORE.open_session() as session:
            changed = session.advanced.conditional_load("conditional/1", before, User)
            equal(changed.entity.name, "two")
            equal(changed.change_vector.strip('"'), writer.advanced.get_change_vector_for(user))
            missing = session.advanced.conditional_load("conditional/2", before, User)
            assert missing.entity is None and missing.change_vector is None


@test
def refresh():
    """refresh gives what others wrote"""
    save(("refresh/1", User(name="one")))
    with STORE.open_session() as session:
        user = session.load("refresh/1", User)
        save(("refresh/1", User(name="two")))
        # This client gives the fresh state as another object.
        equal(session.advanced.refresh(user).name, "two")


@test
def metadata():
    """metadata: collection, change vector, last modified, keys of users"""
    with STORE.open_session() as session:
        user = User(name="Ada")
        session.store(user, "metadata/1")
        written = session.advanced.get_metadata_for(user)
        written["source"] = "import"
        written["list"] = [1, "two", None]
        session.save_changes()
    with STORE.open_session() as session:
        loaded = session.load("metadata/1", User)
        read = session.advanced.get_metadata_for(loaded)
        equal(read["@collection"], "Users")
        equal(read["@id"], "metadata/1")
        equal(read["@change-vector"], session.advanced.get_change_vector_for(loaded))
        assert re.fullmatch(r"A:\d+-[A-Za-z0-9+/]{22}", read["@change-vector"]), read["@change-vector"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z", read["@last-modified"]), read["@last-modified"]
        equal(read["source"], "import")
        equal(list(read["list"]), [1, "two", None])
        read["source"] = "changed"
        session.save_changes()
    with STORE.open_session() as session:
        equal(session.advanced.get_metadata_for(session.load("metadata/1", User))["source"], "changed")


@test
def identities():
    """identities: the server counts up"""
    one, two, three = Invoice(n=1), Invoice(n=2), Invoice(n=3)
    with STORE.open_session() as session:
        session.store(one, "invoices|")
        session.store(two, "invoices|")
        session.save_changes()
        stored = sorted(session.advanced.get_document_id(invoice) for invoice in (one, two))
    equal(stored, ["invoices/1", "invoices/2"])
    equal(sorted(load(id, Invoice).n for id in stored), [1, 2])

    executor = STORE.get_request_executor()
    following = NextIdentityForCommand("invoices")
    executor.execute_command(following)
    equal(following.result, 3)
    seed = SeedIdentityForCommand("invoices", 1000)
    executor.execute_command(seed)
    equal(seed.result, 1000)
    with STORE.open_session() as session:
        session.store(three, "invoices|")
        session.save_changes()
        equal(session.advanced.get_document_id(three), "invoices/1001")


@test
def ids_of_the_server():
    """ids made by the server: 19 digits and node tag, rising"""
    ids = []
    for n in (1, 2):
        with STORE.open_session() as session:
            shelf = Shelf(n=n)
            session.store(shelf, "shelves/")
            session.save_changes()
            ids.append(session.advanced.get_document_id(shelf))
    assert all(re.fullmatch(r"shelves/\d{19}-A", id) for id in ids), ids
    assert ids[0] < ids[1], ids
    equal(load(ids[1], Shelf).n, 2)


@test
def hilo():
    """hi-lo: two stores never give the same id, an unused range goes back"""
    taken = []

    def take(store, count):
        with store.open_session() as session:
            for i in range(count):
                reading = Reading(i=i)
                session.store(reading)
                taken.append(reading.Id)
            session.save_changes()

    def high():
        with STORE.open_session() as session:
            return session.load("Raven/Hilo/readings", dict)["Max"]

    one, two = open_store(), open_store()
    for store in (one, two, one):
        take(store, 40)
    before = high()
    two.close()
    one.close()
    assert high() < before, f"{high()} is not below {before}"
    three = open_store()
    take(three, 1)
    three.close()
    equal(len(set(taken)), 121)


@test
def query_collection():
    """query a whole collection, with paging and statistics"""
    save(*((f"page/{100 + i}", Product(i=i)) for i in range(25)))
    seen = set()
    for start in (0, 10, 20, 30):
        statistics = []
        with STORE.open_session() as session:
            query = session.query_collection("Products", Product).statistics(statistics.append)
            page = list(query.skip(start).take(10))
            equal(len(page), max(0, min(10, 25 - start)))
            equal(statistics[-1].total_results, 25)
            equal(statistics[-1].is_stale, False)
            assert all(isinstance(product, Product) for product in page)
            seen.update(session.advanced.get_document_id(product) for product in page)
    equal(len(seen), 25)
    with STORE.open_session() as session:
        equal(session.query_collection("Products", Product).count(), 25)
        equal(list(session.query_collection("Nobodies", Product)), [])


@test
def raw_queries():
    """raw queries by id"""
    save(*((f"raw/{n}", Company(n=n, next=f"raw/{n % 3 + 1}")) for n in (1, 2, 3)))

    def found(text, object_type=Company, **parameters):
        with STORE.open_session() as session:
            query = session.advanced.raw_query(text, object_type)
            for name, value in parameters.items():
                query.add_parameter(name, value)
            return sorted(session.advanced.get_document_id(company) for company in query)

    equal(found("from Companies where id() = $id", id="raw/2"), ["raw/2"])
    equal(found("from Companies where id() in ($ids)", ids=["raw/3", "raw/1", "raw/nobody"]), ["raw/1", "raw/3"])
    equal(found("from Companies where startsWith(id(), 'raw/')"), ["raw/1", "raw/2", "raw/3"])
    equal(found("from @all_docs where id() = 'raw/1'"), ["raw/1"])
    equal(found("from Companies where id() = 'raw/nobody'"), [])
    with STORE.open_session() as session:
        (first,) = session.advanced.raw_query("from Companies where id() = 'raw/1' include next", Company)
        equal(session.load(first.next, Company).n, 2)
        equal(session.advanced.number_of_requests, 1)


@test
def stream():
    """stream by prefix"""
    save(*((f"stream/{1000 + i}", User(i=i)) for i in range(300)))
    with STORE.open_session() as session:
        seen = []
        for item in session.advanced.stream_starting_with("stream/", object_type=User):
            equal(item.key, f"stream/{1000 + item.document.i}")
            assert item.change_vector.startswith("A:"), item.change_vector
            seen.append(item.key)
        equal(len(seen), 300)
        equal(seen, sorted(seen))
        # `start` and `page_size` fail inside this version of the client.
        page = session.advanced.stream_starting_with(
            "stream/", matches="12*", start_after="stream/1289", object_type=User
        )
        equal([item.key for item in page], seen[290:])


@test
def bulk_insert():
    """bulk insert of 5,000 documents"""
    generated = User(i=4_999)
    with STORE.bulk_insert() as bulk:
        for i in range(4_999):
            bulk.store_as(User(i=i, text=f"number {i} Grüße"), f"bulk/{i}")
        bulk.store(generated)
    with STORE.open_session() as session:
        loaded = session.load(["bulk/0", "bulk/2500", "bulk/4998", generated.Id], User)
        equal(sorted(user.i for user in loaded.values()), [0, 2500, 4998, 4999])
        equal(loaded["bulk/2500"].text, "number 2500 Grüße")
        equal(session.advanced.get_metadata_for(loaded["bulk/4998"])["@collection"], "Users")
        equal(sum(1 for _ in session.advanced.stream_starting_with("bulk/", object_type=User)), 4_999)


@test
def round_trip():
    """unicode, escapes and numbers come back as they went"""
    value = {
        "languages": ["Grüße", "Καλημέρα", "Привет", "你好", "こんにちは", "안녕", "שלום", "नमस्ते"],
        "escapes": 'quote " backslash \\ slash / tab \t line \n return \r null \0 bell \a del \x7f',
        "separators": "\u2028 \u2029 \ufeff",
        'key with " and \t': True,
        "numbers": [0, -1, 0.1, 1e-7, 1.5e300, -2.2250738585072014e-308, 5e-324, 123456789012.345678],
        "large": [2**53 + 1, 2**63 - 1, -(2**63)],
        "empty": {"object": {}, "array": [], "string": "", "null": None},
        "long": "ä" * 100_000,
        "deep": [[[[[[[["down"]]]]]]]],
    }
    save(("unicode/schlüssel/你好", User(value=value)))
    loaded = load("unicode/schlüssel/你好", dict)["value"]
    for key in value:
        assert loaded.get(key) == value[key], f"{shown(key)}: {shown(loaded.get(key))} instead of {shown(value[key])}"
    equal(set(loaded), set(value))


@test
def emoji():
    """emoji come back as they went"""
    value = "\U0001f642 \U0001f469\u200d\U0001f680 \U0001f1e6\U0001f1f9"
    save(("emoji/\U0001f511", User(value=value)))
    equal(load("emoji/\U0001f511").value, value)


@test_unless_reference
def emoji_in_bulk_insert():
    """emoji in a bulk insert, where this client sends them as escaped surrogate pairs"""
    with STORE.bulk_insert() as bulk:
        bulk.store_as(User(value="\U0001f642 \U0001f1e6\U0001f1f9"), "emoji/bulk")
    equal(load("emoji/bulk").value, "\U0001f642 \U0001f1e6\U0001f1f9")


@test_unless_reference
def expiration():
    """documents expire, once that is enabled (RavenDB's licence does not allow every second)"""
    with STORE.open_session() as session:
        for id, time in (("expiring/1", "2020-01-01T00:00:00Z"), ("expiring/2", "2090-01-01T00:00:00Z")):
            user = User(name=id)
            session.store(user, id)
            session.advanced.get_metadata_for(user)["@expires"] = time
        session.save_changes()
    equal(load("expiring/1").name, "expiring/1")
    STORE.maintenance.send(ConfigureExpirationOperation(ExpirationConfiguration(False, 1)))
    eventually(lambda: load("expiring/1") is None)
    equal(load("expiring/2").name, "expiring/2")
    record = STORE.maintenance.server.send(GetDatabaseRecordOperation(DATABASE))
    equal(record.expiration["DeleteFrequencyInSec"], 1)
    STORE.maintenance.send(ConfigureExpirationOperation(ExpirationConfiguration(True)))


@test
def counters():
    """counters"""
    save(("counted/1", User(name="Ann")), ("counted/2", User(name="Bob")))
    with STORE.open_session() as session:
        session.counters_for("counted/1").increment("likes", 3)
        session.counters_for("counted/1").increment("Views")
        session.counters_for("counted/2").increment("likes", -1)
        session.save_changes()
    with STORE.open_session() as session:
        equal(session.counters_for("counted/1").get("LIKES"), 3)
        # The client keeps names in lower case.
        found = session.counters_for("counted/1").get_all()
        equal({name.lower(): value for name, value in found.items()}, {"views": 1, "likes": 3})
        session.counters_for("counted/1").delete("views")
        session.save_changes()
    with STORE.open_session() as session:
        ann = session.load("counted/1", User, lambda includes: includes.include_counter("likes"))
        requests = session.advanced.number_of_requests
        equal(session.counters_for_entity(ann).get("likes"), 3)
        equal(session.advanced.number_of_requests, requests)
    with STORE.bulk_insert() as bulk:
        for _ in range(10):
            bulk.counters_for("counted/2").increment("likes", 2)
    with STORE.open_session() as session:
        equal(session.counters_for("counted/2").get("likes"), 19)


@test
def compare_exchange():
    """compare-exchange values change only if their index is the expected one"""

    def put(key, value, index):
        return STORE.operations.send(PutCompareExchangeValueOperation(key, value, index))

    first = put("emails/Ann", "users/1", 0)
    assert first.successful and first.index > 0
    second = put("emails/ann", "users/2", 0)
    equal((second.successful, second.value, second.index), (False, "users/1", first.index))
    third = put("emails/ann", "users/3", first.index)
    assert third.successful and third.index > first.index
    found = STORE.operations.send(GetCompareExchangeValueOperation("emails/ann", str))
    equal((found.value, found.index), ("users/3", third.index))
    stale = STORE.operations.send(DeleteCompareExchangeValueOperation(str, "emails/ann", first.index))
    equal(stale.successful, False)
    equal(STORE.operations.send(DeleteCompareExchangeValueOperation(str, "emails/ann", third.index)).successful, True)


@test
def attachments():
    """attachments are stored, read, listed, copied, moved and deleted with the session"""
    save(("files/1", User(name="Ann")), ("files/2", User(name="Bob")))
    large = b"0123456789" * 500_000
    with STORE.open_session() as session:
        session.advanced.attachments.store("files/1", "Hello.txt", b"hello", "text/plain")
        session.advanced.attachments.store("files/1", "large", large)
        session.save_changes()
    with STORE.open_session() as session:
        with session.advanced.attachments.get("files/1", "hello.TXT") as file:
            equal(file.data, b"hello")
            # The client gives the name as it was asked for, and the size as text.
            details = file.details
            equal((details.content_type, int(details.size)), ("text/plain", 5))
        with session.advanced.attachments.get("files/1", "large") as file:
            assert file.data == large
        equal(session.advanced.attachments.exists("files/1", "none"), False)
        loaded = session.load("files/1", User)
        names = session.advanced.attachments.get_names(loaded)
        equal([(one.name, one.size) for one in names], [("Hello.txt", 5), ("large", len(large))])
        session.advanced.attachments.copy("files/1", "hello.txt", "files/2", "copy")
        session.advanced.attachments.move("files/1", "large", "files/2", "moved")
        session.advanced.attachments.delete("files/1", "hello.txt")
        session.save_changes()
    with STORE.open_session() as session:
        one, two = session.load("files/1", User), session.load("files/2", User)
        equal(session.advanced.attachments.get_names(one), [])
        equal([file.name for file in session.advanced.attachments.get_names(two)], ["copy", "moved"])
        session.advanced.attachments.store("files/none", "a", b"a")
        refused(session.save_changes, "files/none")


@test
def cluster_wide_sessions():
    """cluster-wide sessions change values and documents together, and find each other's changes"""

    def open_session():
        return STORE.open_session(session_options=SessionOptions(transaction_mode=TransactionMode.CLUSTER_WIDE))

    with open_session() as session:
        session.advanced.cluster_transaction.create_compare_exchange_value("names/cluster", User(name="cluster/1"))
        session.store(User(name="first"), "cluster/1")
        session.save_changes()
    with open_session() as one, open_session() as two:
        for session in (one, two):
            value = session.advanced.cluster_transaction.get_compare_exchange_value("names/cluster", User)
            equal(value.value.name, "cluster/1")
            value.value.name = "cluster/2" if session is one else "cluster/3"
        two.store(User(name="of two"), "cluster/3")
        one.save_changes()
        refused(two.save_changes, "names/cluster")
    with open_session() as session:
        equal(session.load("cluster/1", User).name, "first")
        equal(session.load("cluster/3", User), None)
        changed = session.advanced.cluster_transaction.get_compare_exchange_value("names/cluster", User)
        equal(changed.value.name, "cluster/2")


@test
def statistics():
    """collection and database statistics"""
    collections = STORE.maintenance.send(GetCollectionStatisticsOperation())
    equal(collections.collections["Products"], 25)
    equal(sum(collections.collections.values()), collections.count_of_documents)
    database = STORE.maintenance.send(GetStatisticsOperation())
    equal(database.count_of_documents, collections.count_of_documents)
    equal(database.count_of_indexes, 0)
    save(("statistics/1", Product()))
    after = STORE.maintenance.send(GetStatisticsOperation())
    assert after.last_doc_etag > database.last_doc_etag
    equal(after.count_of_documents, database.count_of_documents + 1)


@test
def delete_own_database():
    """delete the database"""
    delete_database()
    late = open_store()
    with late.open_session() as session:
        refused(lambda: session.load("users/1", User), DATABASE, "does not exist")
    late.close()


if __name__ == "__main__":
    run()
