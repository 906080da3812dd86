"""Indexes with the published Python client against a running server: defining, asking, replacing and administering them.

    python indexes.py http://127.0.0.1:8080 [--reference]

Makes a database of its own with the Northwind sample, runs every test below in order (harness.py), deletes the database.
Every test puts indexes of its own names. What those find is compared with what a plain look at every document finds
(`finds`).
"""

from harness import (
    STORE,
    Entity,
    create_northwind,
    delete_database,
    documents,
    equal,
    eventually,
    ids,
    near,
    refused,
    run,
    save,
    test,
)
from ravendb import (
    AbstractIndexCreationTask,
    IndexDefinition,
    IndexFieldOptions,
    PutIndexesOperation,
)
from ravendb.changes.types import IndexChangeTypes
from ravendb.documents.indexes.abstract_index_creation_tasks import (
    AbstractJavaScriptIndexCreationTask,
    AbstractMultiMapIndexCreationTask,
)
from ravendb.documents.indexes.definitions import (
    FieldIndexing,
    FieldStorage,
    IndexLockMode,
    IndexPriority,
    IndexRunningStatus,
    IndexState,
)
from ravendb.documents.operations.indexes import (
    DeleteIndexErrorsOperation,
    DeleteIndexOperation,
    DisableIndexOperation,
    EnableIndexOperation,
    GetIndexErrorsOperation,
    GetIndexesOperation,
    GetIndexesStatisticsOperation,
    GetIndexingStatusOperation,
    GetIndexNamesOperation,
    GetIndexOperation,
    GetIndexStatisticsOperation,
    GetTermsOperation,
    IndexHasChangedOperation,
    ResetIndexOperation,
    SetIndexesLockOperation,
    SetIndexesPriorityOperation,
    StartIndexingOperation,
    StartIndexOperation,
    StopIndexingOperation,
    StopIndexOperation,
)
from ravendb.documents.queries.query import ProjectionBehavior
from ravendb.documents.session.misc import OrderingType


class User(Entity):
    pass


class City(Entity):
    pass


def send(operation):
    return STORE.maintenance.send(operation)


def definition(name, *maps, **more):
    made = IndexDefinition(name=name, **more)
    made.maps = set(maps)
    return made


def put(name, *maps, **more):
    send(PutIndexesOperation(definition(name, *maps, **more)))


def ask(index, build=lambda query: query):
    """The results of a query of an index, as dictionaries."""
    with STORE.open_session() as session:
        return list(build(session.query_index(index, dict).wait_for_non_stale_results()))


def finds(index, collection, build, fits):
    """Asserts that a query finds exactly the documents of a collection for which `fits` holds, at least one of them."""
    expected = sorted(id for id, document in documents(collection).items() if fits(document))
    assert expected, "nothing is to be found"
    equal(ids(ask(index, build)), expected)


def index_names():
    return send(GetIndexNamesOperation(0, 100))


def delete(id):
    with STORE.open_session() as session:
        session.delete(id)
        session.save_changes()


def worth(order):
    return sum(line["Quantity"] * line["PricePerUnit"] for line in order["Lines"])


class Orders_ByTotal(AbstractIndexCreationTask):
    def __init__(self):
        super().__init__()
        self.map = """from order in docs.Orders
            let total = order.Lines.Sum(l => l.Quantity * l.PricePerUnit)
            select new { order.Company, Total = total, Year = order.OrderedAt.Year }"""
        self._store("Total", FieldStorage.YES)


class Products_ByWords(AbstractIndexCreationTask):
    def __init__(self):
        super().__init__()
        self.map = "from p in docs.Products select new { Words = p.Name, Price = p.PricePerUnit }"
        self._index("Words", FieldIndexing.SEARCH)
        self._analyze("Words", "SimpleAnalyzer")


class Orders_ByCustomer(AbstractIndexCreationTask):
    def __init__(self):
        super().__init__()
        self.map = "docs.Orders.Select(o => new { o.Company, Count = 1, Freight = o.Freight })"
        self.reduce = """results.GroupBy(r => r.Company).Select(g => new {
            Company = g.Key, Count = g.Sum(x => x.Count), Freight = g.Sum(x => x.Freight) })"""


class Products_ByGrade(AbstractJavaScriptIndexCreationTask):
    def __init__(self):
        super().__init__()
        self.maps = [
            "map('Products', p => ({ grade: grade(p.PricePerUnit), supplier: load(p.Supplier, 'Suppliers').Name }))"
        ]
        self.additional_sources = {"grade": "function grade(price) { return price > 50 ? 'high' : 'low'; }"}
        self.fields = {"supplier": IndexFieldOptions(storage=FieldStorage.YES)}


class Anything_ByCity(AbstractMultiMapIndexCreationTask):
    def __init__(self):
        super().__init__()
        for collection in ("Companies", "Suppliers", "Employees"):
            self._add_map(f'from d in docs.{collection} select new {{ d.Address.City, Kind = "{collection}" }}')


@test
def create():
    """create a database with sample data"""
    create_northwind()
    equal(len(documents("Products")), 77)


@test
def in_csharp():
    """a definition in C#"""
    put(
        "Products/Due",
        "from p in docs.Products select new { Due = p.UnitsInStock + p.UnitsOnOrder * 2, p.Discontinued }",
    )
    finds(
        "Products/Due",
        "Products",
        lambda q: q.where_greater_than("Due", 50).where_equals("Discontinued", False),
        lambda p: p["UnitsInStock"] + p["UnitsOnOrder"] * 2 > 50 and not p["Discontinued"],
    )


@test
def in_javascript():
    """a definition in JavaScript"""
    text = "map('Orders', o => { if (o.ShippedAt && o.ShippedAt > o.RequireAt) return { company: o.Company, late: true }; })"
    put("Orders/Late", text)
    finds(
        "Orders/Late",
        "Orders",
        lambda q: q.where_equals("late", True),
        lambda o: o["ShippedAt"] and o["ShippedAt"] > o["RequireAt"],
    )


@test
def class_in_csharp():
    """a class in C#: let, sums, parts of dates, stored fields"""
    Orders_ByTotal().execute(STORE)
    finds("Orders/ByTotal", "Orders", lambda q: q.where_greater_than("Total", 10000.5), lambda o: worth(o) > 10000.5)
    finds("Orders/ByTotal", "Orders", lambda q: q.where_equals("Year", 1996), lambda o: o["OrderedAt"][:4] == "1996")
    with STORE.open_session() as session:
        asked = session.query_index("Orders/ByTotal", dict).where_greater_than("Total", 12000.5)
        rows = list(asked.select_fields(dict, "Total", "Year", projection_behavior=ProjectionBehavior.FROM_INDEX))
    totals = sorted(worth(order) for order in documents("Orders").values() if worth(order) > 12000.5)
    near(sorted(float(row["Total"]) for row in rows), totals)
    assert all("Year" not in row for row in rows), "what is not stored is not projected from the index"


@test
def class_with_analyzer():
    """a class with an analyzer, and a query by the class"""
    Products_ByWords().execute(STORE)
    with STORE.open_session() as session:
        asked = session.query_index_type(Products_ByWords, dict).wait_for_non_stale_results().search("Words", "sauce")
        equal(ids(asked), sorted(id for id, p in documents("Products").items() if "sauce" in p["Name"].lower().split()))


@test
def class_in_javascript():
    """a class in JavaScript: added sources, load"""
    Products_ByGrade().execute(STORE)
    suppliers = documents("Suppliers")
    finds(
        "Products/ByGrade",
        "Products",
        lambda q: q.where_equals("grade", "high").where_starts_with("supplier", "p"),
        lambda p: p["PricePerUnit"] > 50 and suppliers[p["Supplier"]]["Name"].lower().startswith("p"),
    )


@test
def many_maps():
    """many maps in one index"""
    Anything_ByCity().execute(STORE)
    found = ask("Anything/ByCity", lambda q: q.where_equals("City", "London"))
    expected = [
        id
        for collection in ("Companies", "Suppliers", "Employees")
        for id, document in documents(collection).items()
        if document["Address"]["City"] == "London"
    ]
    assert len(expected) > 5
    equal(ids(found), sorted(expected))


@test
def fan_out():
    """several entries of a document"""
    save(("users/tags-1", User(tags=["red", "green"])), ("users/tags-2", User(tags=["green", "blue"])))
    put("Users/ByTags", "from u in docs.Users from tag in u.tags select new { Tag = tag }")
    equal(ids(ask("Users/ByTags", lambda q: q.where_equals("Tag", "green"))), ["users/tags-1", "users/tags-2"])
    equal(ids(ask("Users/ByTags", lambda q: q.where_equals("Tag", "blue"))), ["users/tags-2"])


@test
def reduce_in_csharp():
    """map-reduce in C#"""
    Orders_ByCustomer().execute(STORE)
    expected = {}
    for order in documents("Orders").values():
        expected.setdefault(order["Company"], []).append(order["Freight"])
    rows = ask("Orders/ByCustomer", lambda q: q.order_by_descending("Count", OrderingType.LONG))
    equal({row["Company"]: row["Count"] for row in rows}, {company: len(f) for company, f in expected.items()})
    near([row["Freight"] for row in rows], [sum(expected[row["Company"]]) for row in rows])
    many = ask("Orders/ByCustomer", lambda q: q.where_greater_than("Count", 20))
    equal(sorted(row["Company"] for row in many), sorted(c for c, f in expected.items() if len(f) > 20))


@test
def reduce_in_javascript():
    """map-reduce in JavaScript, where groups follow their documents"""
    put(
        "Users/ByTeam",
        "map('Users', u => { if (u.team) return { team: u.team, count: 1, points: u.points }; })",
        reduce="""groupBy(r => r.team).aggregate(g => ({ team: g.key,
            count: g.values.reduce((t, v) => t + v.count, 0), points: g.values.reduce((t, v) => t + v.points, 0) }))""",
    )

    def teams():
        rows = ask("Users/ByTeam", lambda q: q.order_by("team"))
        return [(row["team"], row["count"], row["points"]) for row in rows]

    save(*((f"users/team-{i}", User(team=team, points=i)) for i, team in ((1, "a"), (2, "a"), (4, "b"))))
    equal(teams(), [("a", 2, 3), ("b", 1, 4)])
    save(("users/team-1", User(team="b", points=8)))
    equal(teams(), [("a", 1, 2), ("b", 2, 12)])
    delete("users/team-2")
    equal(teams(), [("b", 2, 12)])


@test
def load_document():
    """LoadDocument in C#, and what is loaded changes, goes and comes back"""
    put(
        "Users/ByCity",
        'from u in docs.Users let c = LoadDocument(u.city, "Cities") where u.city != null select new { City = c.name }',
    )
    save(
        ("cities/1", City(name="Oslo")),
        ("users/city-1", User(city="cities/1")),
        ("users/city-2", User(city="cities/2")),
    )

    def found(city):
        return ids(ask("Users/ByCity", lambda q: q.where_equals("City", city)))

    equal(found("Oslo"), ["users/city-1"])
    save(("cities/1", City(name="Bergen")), ("cities/2", City(name="Oslo")))
    equal((found("Oslo"), found("Bergen")), (["users/city-2"], ["users/city-1"]))
    delete("cities/1")
    equal(found("Bergen"), [])


@test
def analyzers():
    """analyzers, exact fields, fields that are not indexed, terms"""
    save(("users/words", User(text="Quick-Brown FOX, the")))
    fields = {
        "Standard": IndexFieldOptions(analyzer="StandardAnalyzer", indexing=FieldIndexing.SEARCH),
        "White": IndexFieldOptions(analyzer="WhitespaceAnalyzer", indexing=FieldIndexing.SEARCH),
        "Exact": IndexFieldOptions(indexing=FieldIndexing.EXACT),
        "Kept": IndexFieldOptions(indexing=FieldIndexing.NO, storage=FieldStorage.YES),
    }
    members = ", ".join(f"{name} = u.text" for name in fields)
    put("Users/Words", f"from u in docs.Users where u.text != null select new {{ {members} }}", fields=fields)
    ask("Users/Words")
    terms = {name: sorted(send(GetTermsOperation("Users/Words", name, None, 100))) for name in fields}
    expected = {
        "Standard": ["brown", "fox", "quick"],
        "White": ["FOX,", "Quick-Brown", "the"],
        "Exact": ["Quick-Brown FOX, the"],
        "Kept": [],
    }
    equal(terms, expected)


@test
def dynamic_fields():
    """dynamic fields"""
    save(
        ("users/props-1", User(props={"colour": "red", "size": "L"})),
        ("users/props-2", User(props={"colour": "blue", "weight": "5"})),
    )
    text = (
        "from u in docs.Users where u.props != null select new { _ = u.props.Select(p => CreateField(p.Key, p.Value)) }"
    )
    put("Users/Props", text)
    equal(ids(ask("Users/Props", lambda q: q.where_equals("colour", "blue"))), ["users/props-2"])
    equal(ids(ask("Users/Props", lambda q: q.where_equals("size", "l"))), ["users/props-1"])


@test
def given_back():
    """definitions are given as they were put"""
    text = "from u in docs.Users select new { u.name, u.age }"
    # Neither type nor fields of what is given are read by this client.
    put("Users/Given", text, priority=IndexPriority.HIGH, lock_mode=IndexLockMode.LOCKED_IGNORE)
    given = send(GetIndexOperation("Users/Given"))
    equal((given.name, set(given.maps), given.priority), ("Users/Given", {text}, IndexPriority.HIGH))
    equal(given.lock_mode, IndexLockMode.LOCKED_IGNORE)
    names = index_names()
    assert {"Users/Given", "Orders/ByTotal"} <= set(names), names
    equal(sorted(one.name for one in send(GetIndexesOperation(0, 100))), sorted(names))


@test
def has_changed():
    """has a definition changed?"""
    text = "from u in docs.Users select new { u.name }"
    put("Users/Changed", text)
    equal(send(IndexHasChangedOperation(definition("Users/Changed", text))), False)
    equal(send(IndexHasChangedOperation(definition("Users/Changed", text.replace("u.name", "u.age")))), True)


@test
def replaced():
    """a definition that is put over another replaces it"""
    save(("users/replace", User(old="before", fresh="after")))

    def text(field):
        return f"from u in docs.Users where u.old != null select new {{ Value = u.{field} }}"

    def found(value):
        return ids(ask("Users/Replaced", lambda q: q.where_equals("Value", value)))

    put("Users/Replaced", text("old"))
    equal(found("before"), ["users/replace"])
    put("Users/Replaced", text("fresh"))
    eventually(lambda: found("after"))
    equal(found("before"), [])
    assert not any(name.startswith("ReplacementOf/") for name in index_names()), index_names()


@test
def deployed_at_once():
    """several classes are deployed at once, over those that are there"""
    STORE.execute_indexes([Orders_ByTotal(), Orders_ByCustomer(), Anything_ByCity()])
    finds("Orders/ByTotal", "Orders", lambda q: q.where_greater_than("Total", 10000.5), lambda o: worth(o) > 10000.5)


@test
def deleted_and_reset():
    """delete, reset"""
    put("Users/Deleted", "from u in docs.Users where u.old != null select new { u.old }")
    equal(ids(ask("Users/Deleted")), ["users/replace"])
    send(ResetIndexOperation("Users/Deleted"))
    equal(ids(ask("Users/Deleted", lambda q: q.where_equals("old", "before"))), ["users/replace"])
    send(DeleteIndexOperation("Users/Deleted"))
    assert "Users/Deleted" not in index_names()
    refused(lambda: send(ResetIndexOperation("Users/Deleted")), "There is no index with 'Users/Deleted' name")


@test
def stopped():
    """stop and start one index, and all"""
    put("Users/Stopped", "from u in docs.Users where u.stop != null select new { u.stop }")
    ask("Users/Stopped")

    def status():
        return next(one.status for one in send(GetIndexingStatusOperation()).indexes if one.name == "Users/Stopped")

    equal(status(), IndexRunningStatus.RUNNING)
    send(StopIndexOperation("Users/Stopped"))
    equal(status(), IndexRunningStatus.PAUSED)
    save(("users/stop-1", User(stop=1)))
    with STORE.open_session() as session:
        statistics = []
        found = list(session.query_index("Users/Stopped", dict).statistics(statistics.append))
    equal((found, statistics[-1].is_stale), ([], True))
    send(StartIndexOperation("Users/Stopped"))
    equal(ids(ask("Users/Stopped")), ["users/stop-1"])
    send(StopIndexingOperation())
    equal(send(GetIndexingStatusOperation()).status, IndexRunningStatus.PAUSED)
    send(StartIndexingOperation())
    equal(send(GetIndexingStatusOperation()).status, IndexRunningStatus.RUNNING)


@test
def disabled():
    """disable and enable"""
    put("Users/Disabled", "from u in docs.Users where u.off != null select new { u.off }")
    ask("Users/Disabled")

    def state():
        return send(GetIndexStatisticsOperation("Users/Disabled")).state

    send(DisableIndexOperation("Users/Disabled"))
    eventually(lambda: state() == IndexState.DISABLED)
    save(("users/off-1", User(off=1)))
    send(EnableIndexOperation("Users/Disabled"))
    eventually(lambda: state() == IndexState.NORMAL)
    equal(ids(ask("Users/Disabled")), ["users/off-1"])


@test
def locked():
    """lock: a change is passed over, or refused"""

    def text(field):
        return f"from u in docs.Users select new {{ u.{field} }}"

    def maps():
        return set(send(GetIndexOperation("Users/Locked")).maps)

    put("Users/Locked", text("one"))
    send(SetIndexesLockOperation(IndexLockMode.LOCKED_IGNORE, "Users/Locked"))
    put("Users/Locked", text("two"))
    equal(maps(), {text("one")})
    send(SetIndexesLockOperation(IndexLockMode.LOCKED_ERROR, "Users/Locked"))
    refused(lambda: put("Users/Locked", text("two")), "Users/Locked")
    send(SetIndexesLockOperation(IndexLockMode.UNLOCK, "Users/Locked"))
    put("Users/Locked", text("two"))
    eventually(lambda: maps() == {text("two")})


@test
def priority():
    """priority"""
    put("Users/Priority", "from u in docs.Users select new { u.name }")
    send(SetIndexesPriorityOperation(IndexPriority.LOW, "Users/Priority"))
    equal(send(GetIndexOperation("Users/Priority")).priority, IndexPriority.LOW)


@test
def errors():
    """errors: of which document, and forgetting them"""
    save(("users/zero", User(divisor=0)), ("users/four", User(divisor=4)))
    # This client takes an answer for an error if it has the word in it, be it the name of an index.
    put("Users/Divided", "from u in docs.Users where u.divisor != null select new { Part = 100 / u.divisor }")
    equal(ids(ask("Users/Divided", lambda q: q.where_equals("Part", 25))), ["users/four"])
    eventually(lambda: send(GetIndexErrorsOperation("Users/Divided"))[0].errors)
    (found,) = send(GetIndexErrorsOperation("Users/Divided"))
    equal((found.name, found.errors[0].document, found.errors[0].action), ("Users/Divided", "users/zero", "Map"))
    assert "divide by zero" in found.errors[0].error, found.errors[0].error
    send(DeleteIndexErrorsOperation(["Users/Divided"]))
    equal(send(GetIndexErrorsOperation("Users/Divided"))[0].errors, [])


@test
def statistics():
    """statistics"""
    ask("Orders/ByTotal")
    found = send(GetIndexStatisticsOperation("Orders/ByTotal"))
    equal((found.name, found.entries_count), ("Orders/ByTotal", 830))
    equal(
        (found.state, found.priority, found.lock_mode), (IndexState.NORMAL, IndexPriority.NORMAL, IndexLockMode.UNLOCK)
    )
    every = send(GetIndexesStatisticsOperation())
    equal(sorted(one["Name"] for one in every), sorted(index_names()))


@test
def terms():
    """terms, page by page"""
    put("Companies/ByCountry", "from c in docs.Companies select new { c.Address.Country }")
    ask("Companies/ByCountry")
    expected = sorted({c["Address"]["Country"].lower() for c in documents("Companies").values()})
    first = send(GetTermsOperation("Companies/ByCountry", "Country", None, 5))
    equal(first, expected[:5])
    equal(send(GetTermsOperation("Companies/ByCountry", "Country", first[-1], 100)), expected[5:])


@test
def waiting():
    """what is saved is indexed before the answer, if that is asked for"""
    put("Users/Waited", "from u in docs.Users where u.wait != null select new { u.wait }")
    ask("Users/Waited")
    for i in range(1, 11):
        with STORE.open_session() as session:
            session.advanced.wait_for_indexes_after_save_changes()
            session.store(User(wait=i), f"users/wait-{i}")
            session.save_changes()
        with STORE.open_session() as session:
            equal(session.query_index("Users/Waited", dict).count(), i)


@test
def changes():
    """changes of indexes are told"""
    told = []
    watched = STORE.changes().for_index("Users/Told")
    close = watched.subscribe(told.append)
    watched.ensure_subscribe_now()
    put("Users/Told", "from u in docs.Users where u.told != null select new { u.told }")
    save(("users/told", User(told=1)))
    ask("Users/Told")
    send(DeleteIndexOperation("Users/Told"))
    wanted = {IndexChangeTypes.INDEX_ADDED, IndexChangeTypes.BATCH_COMPLETED, IndexChangeTypes.INDEX_REMOVED}
    eventually(lambda: wanted <= {change.type_of_change for change in told})
    assert all(change.name == "Users/Told" for change in told), [change.name for change in told]
    close()


@test
def mistakes():
    """what cannot be compiled, and fields that an index has not, are refused"""
    refused(lambda: put("Users/Wrong", "from u in docs.Users select new { A = u.Foo( }"), "Users/Wrong")
    assert "Users/Wrong" not in index_names()
    refused(lambda: ask("Orders/ByTotal", lambda q: q.where_equals("Nope", 1)), "'Nope' is not indexed")


@test
def delete_own_database():
    """delete the database"""
    delete_database()


if __name__ == "__main__":
    run()
