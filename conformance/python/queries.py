"""Queries with the published Python client against a running server.

    python queries.py http://127.0.0.1:8080 [--reference]

Makes a database of its own with the Northwind sample, runs every test below in order (harness.py), deletes the database.
Wherever that can be said in a line, what a query finds is compared with what a plain look at every document finds
(`finds`). Only documents of the collection Notes are changed.
"""

import json
import math
import re

from harness import (
    STORE,
    Entity,
    create_northwind,
    delete_database,
    documents,
    equal,
    ids,
    near,
    refused,
    run,
    save,
    test,
)
from ravendb import (
    DeleteByQueryOperation,
    Facet,
    HighlightingOptions,
    IndexDefinition,
    IndexFieldOptions,
    IndexQuery,
    MoreLikeThisOptions,
    PatchByQueryOperation,
    PointField,
    PutIndexesOperation,
    QueryData,
    QueryOperator,
    RangeBuilder,
    RangeFacet,
)
from ravendb.documents.indexes.definitions import FieldIndexing, FieldStorage, FieldTermVector
from ravendb.documents.queries.facets.definitions import FacetSetup
from ravendb.documents.queries.facets.misc import FacetOptions, FacetTermSortMode
from ravendb.documents.queries.misc import SearchOperator
from ravendb.documents.session.misc import OrderingType


class Note(Entity):
    pass


class Row:
    """A projection."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def query(session, collection):
    return session.query_collection(collection, dict).wait_for_non_stale_results()


def by_index(session):
    return session.query_index("Products/ForSearch", dict).wait_for_non_stale_results()


def ask(build, collection="Products"):
    """The results of a query of a collection, as dictionaries."""
    with STORE.open_session() as session:
        return list(build(query(session, collection)))


def raw(text, **parameters):
    """The results of a query as text, as dictionaries."""
    with STORE.open_session() as session:
        asked = session.advanced.raw_query(text, dict).wait_for_non_stale_results()
        for name, value in parameters.items():
            asked.add_parameter(name, value)
        return list(asked)


def finds(build, fits, collection="Products"):
    """Asserts that a query finds exactly the documents of a collection for which `fits` holds, at least one of them."""
    expected = sorted(id for id, document in documents(collection).items() if fits(document))
    assert expected, "nothing is to be found"
    equal(ids(ask(build, collection)), expected)


def names(results):
    return [result["Name"] for result in results]


def words(text):
    return re.findall(r"[\w']+", text.lower())


@test
def create():
    """create a database with sample data, and an index for facets and the like"""
    create_northwind()
    index = IndexDefinition()
    index.name = "Products/ForSearch"
    index.maps = {
        "from p in docs.Products select new { p.Name, p.Category, p.PricePerUnit, p.UnitsInStock, p.Discontinued, Text = p.Name }"
    }
    index.fields = {
        "Name": IndexFieldOptions(suggestions=True, indexing=FieldIndexing.SEARCH),
        "Text": IndexFieldOptions(
            storage=FieldStorage.YES,
            indexing=FieldIndexing.SEARCH,
            term_vector=FieldTermVector.WITH_POSITIONS_AND_OFFSETS,
        ),
    }
    STORE.maintenance.send(PutIndexesOperation(index))
    equal(len(documents("Products")), 77)


@test
def equality():
    """equal: texts in any case, numbers, booleans, null, exact"""
    finds(lambda q: q.where_equals("Name", "CHAI"), lambda p: p["Name"] == "Chai")
    finds(lambda q: q.where_equals("UnitsInStock", 17), lambda p: p["UnitsInStock"] == 17)
    finds(lambda q: q.where_equals("Discontinued", True), lambda p: p["Discontinued"])
    finds(
        lambda q: q.where_equals("Address.Region", None),
        lambda c: c["Address"]["Region"] is None,
        "Companies",
    )
    finds(lambda q: q.where_equals("Name", "Chai", True), lambda p: p["Name"] == "Chai")
    equal(ask(lambda q: q.where_equals("Name", "chai", True)), [])


@test
def inequality():
    """not equal"""
    finds(lambda q: q.where_not_equals("Category", "categories/1-A"), lambda p: p["Category"] != "categories/1-A")
    finds(lambda q: q.where_not_equals("Fax", None), lambda c: c["Fax"] is not None, "Companies")


@test
def one_of():
    """in: one of several, and none"""
    some = ["categories/1-A", "CATEGORIES/2-A", "nothing"]
    finds(lambda q: q.where_in("Category", some), lambda p: p["Category"] in ("categories/1-A", "categories/2-A"))
    equal(ask(lambda q: q.where_in("Category", [])), [])


@test
def arrays():
    """contains any and contains all of an array, elements of objects"""
    two = ["06897", "19713"]
    finds(
        lambda q: q.contains_any("Territories", two + ["02116"]),
        lambda e: set(two + ["02116"]) & set(e["Territories"]),
        "Employees",
    )
    finds(lambda q: q.contains_all("Territories", two), lambda e: set(two) <= set(e["Territories"]), "Employees")
    finds(
        lambda q: q.where_equals("Lines[].Product", "products/11-A"),
        lambda o: any(line["Product"] == "products/11-A" for line in o["Lines"]),
        "Orders",
    )


@test
def ranges():
    """ranges: between, greater, less, of numbers and dates"""
    finds(lambda q: q.where_between("PricePerUnit", 9.5, 18.4), lambda p: 9.5 <= p["PricePerUnit"] <= 18.4)
    finds(lambda q: q.where_greater_than("UnitsInStock", 20), lambda p: p["UnitsInStock"] > 20)
    finds(lambda q: q.where_greater_than_or_equal("PricePerUnit", 81.0), lambda p: p["PricePerUnit"] >= 81)
    finds(lambda q: q.where_less_than("PricePerUnit", 7.45), lambda p: p["PricePerUnit"] < 7.45)
    finds(lambda q: q.where_less_than_or_equal("PricePerUnit", 7.45), lambda p: p["PricePerUnit"] <= 7.45)
    first, last = "1998-05-04T00:00:00.0000000", "1998-05-05T00:00:00.0000000"
    finds(lambda q: q.where_between("OrderedAt", first, last), lambda o: first <= o["OrderedAt"] <= last, "Orders")


@test
def ends_of_texts():
    """starts with, ends with, regular expressions"""
    finds(lambda q: q.where_starts_with("Name", "gr"), lambda p: p["Name"].lower().startswith("gr"))
    finds(lambda q: q.where_ends_with("Name", "Lager"), lambda p: p["Name"].lower().endswith("lager"))
    finds(lambda q: q.where_regex("Name", "^ch.*g$"), lambda p: re.match("ch.*g$", p["Name"].lower()))


@test
def searches():
    """search: any word, all words, wildcards, phrases"""
    finds(lambda q: q.search("Name", "sauce CHAI"), lambda p: {"sauce", "chai"} & set(words(p["Name"])))
    both = {"sauce", "cranberry"}
    finds(lambda q: q.search("Name", "sauce cranberry", SearchOperator.AND), lambda p: both <= set(words(p["Name"])))
    finds(lambda q: q.search("Name", "choc*"), lambda p: any(word.startswith("choc") for word in words(p["Name"])))
    finds(lambda q: q.search("Name", "*lade"), lambda p: any(word.endswith("lade") for word in words(p["Name"])))
    finds(
        lambda q: q.search("Notes", '"sales representative"'),
        lambda e: "sales representative" in " ".join(e["Notes"]).lower(),
        "Employees",
    )


@test
def lucene():
    """Lucene's own syntax"""
    finds(lambda q: q.where_lucene("Name", "ch?ng"), lambda p: re.fullmatch("ch.ng", p["Name"].lower()))


@test
def fuzzy_and_proximity():
    """fuzzy, proximity"""
    found = ask(lambda q: q.where_equals("Name", "chay").fuzzy(0.5).where_equals("Discontinued", False))
    equal(names(found), ["Chai"])

    def close(words_apart):
        return lambda q: q.search("Notes", "psychology university").proximity(words_apart)

    finds(close(4), lambda e: e["LastName"] in ("Davolio", "Callahan"), "Employees")
    finds(close(1), lambda e: e["LastName"] == "Callahan", "Employees")


@test
def exists_and_not():
    """exists, and not"""
    finds(
        lambda q: q.where_exists("Fax").and_also().not_().where_equals("Fax", None),
        lambda c: c["Fax"] is not None,
        "Companies",
    )
    finds(
        lambda q: q.not_().where_starts_with("Name", "g").and_also().not_().where_equals("Discontinued", True),
        lambda p: not p["Name"].lower().startswith("g") and not p["Discontinued"],
    )
    equal(ask(lambda q: q.where_exists("Nothing")), [])


@test
def subclauses():
    """and, or, subclauses"""
    finds(
        lambda q: (
            q.where_equals("Discontinued", False)
            .and_also()
            .open_subclause()
            .where_greater_than("PricePerUnit", 60.5)
            .or_else()
            .where_equals("UnitsInStock", 0)
            .close_subclause()
        ),
        lambda p: not p["Discontinued"] and (p["PricePerUnit"] > 60.5 or p["UnitsInStock"] == 0),
    )
    finds(
        lambda q: q.using_default_operator(QueryOperator.OR).where_equals("Name", "Chai").where_equals("Name", "Chang"),
        lambda p: p["Name"] in ("Chai", "Chang"),
    )


@test
def intersections():
    """intersect"""
    with STORE.open_session() as session:
        asked = by_index(session).where_equals("Category", "categories/1-A").intersect()
        found = ids(asked.where_less_than("PricePerUnit", 15.5).intersect().where_equals("Discontinued", False))
    expected = [
        id
        for id, p in documents("Products").items()
        if p["Category"] == "categories/1-A" and p["PricePerUnit"] < 15.5 and not p["Discontinued"]
    ]
    equal(found, sorted(expected))


@test
def boosts():
    """boost and order by score"""
    found = names(
        ask(lambda q: q.search("Name", "sauce").boost(0.1).or_else().search("Name", "chai").boost(10).order_by_score())
    )
    equal(found[0], "Chai")
    assert len(found) > 1 and all("sauce" in words(name) for name in found[1:]), found


@test
def orders():
    """order by: numbers, texts, natural, several keys, both ways"""
    products = list(documents("Products").values())
    prices = [p["PricePerUnit"] for p in ask(lambda q: q.order_by("PricePerUnit", OrderingType.FLOAT))]
    equal(prices, sorted(p["PricePerUnit"] for p in products))
    stock = [p["UnitsInStock"] for p in ask(lambda q: q.order_by_descending("UnitsInStock", OrderingType.LONG))]
    equal(stock, sorted((p["UnitsInStock"] for p in products), reverse=True))
    texts = [c["Name"].lower() for c in ask(lambda q: q.where_starts_with("Name", "b").order_by("Name"), "Companies")]
    expected = [c["Name"].lower() for c in documents("Companies").values()]
    equal(texts, sorted(name for name in expected if name.startswith("b")))
    natural = ask(
        lambda q: q.where_equals("Employee", "employees/5-A").order_by("Company", OrderingType.ALPHA_NUMERIC), "Orders"
    )
    numbers = [int(re.search(r"\d+", o["Company"]).group()) for o in natural]
    assert len(numbers) > 20
    equal(numbers, sorted(numbers))
    keys = [
        (not p["Discontinued"], p["PricePerUnit"])
        for p in ask(lambda q: q.order_by_descending("Discontinued").order_by("PricePerUnit", OrderingType.FLOAT))
    ]
    equal(keys, sorted(keys))


@test
def random_order():
    """random order: the same for the same seed"""
    first = names(ask(lambda q: q.random_ordering("one")))
    equal(names(ask(lambda q: q.random_ordering("one"))), first)
    assert names(ask(lambda q: q.random_ordering("another"))) != first
    equal(sorted(first), sorted(p["Name"] for p in documents("Products").values()))


@test
def paging():
    """paging with statistics"""
    seen = set()
    for start in (0, 20, 40, 60):
        statistics = []
        page = ask(
            lambda q: (
                q.where_greater_than("PricePerUnit", 1)
                .order_by("Name")
                .statistics(statistics.append)
                .skip(start)
                .take(20)
            )
        )
        seen.update(ids(page))
        equal((statistics[-1].total_results, statistics[-1].is_stale), (77, False))
        assert statistics[-1].index_name.startswith("Auto/Products/By"), statistics[-1].index_name
    equal(len(seen), 77)


@test
def single_results():
    """first, single, count"""
    with STORE.open_session() as session:
        cheap = query(session, "Products").where_less_than("PricePerUnit", 3)
        equal(cheap.order_by("PricePerUnit", OrderingType.FLOAT).first()["Name"], "Geitost")
        equal(query(session, "Products").where_equals("Name", "Chai").single()["Name"], "Chai")
        refused(lambda: query(session, "Products").where_starts_with("Name", "g").single(), "single")
        expected = sum(order["Employee"] == "employees/5-A" for order in documents("Orders").values())
        equal(query(session, "Orders").where_equals("Employee", "employees/5-A").count(), expected)


@test
def projections():
    """projections of fields, distinct"""
    with STORE.open_session() as session:
        rows = list(
            query(session, "Companies").where_equals("Address.Country", "Mexico").select_fields(dict, "Name", "Fax")
        )
        expected = [c for c in documents("Companies").values() if c["Address"]["Country"] == "Mexico"]
        pairs = sorted((row["Name"], str(row["Fax"])) for row in rows)
        equal(pairs, sorted((c["Name"], str(c["Fax"])) for c in expected))
    countries = [row["Country"] for row in raw("from Companies select distinct Address.Country as Country")]
    equal(sorted(countries), sorted({c["Address"]["Country"] for c in documents("Companies").values()}))


@test
def javascript_projections():
    """projections by JavaScript"""
    with STORE.open_session() as session:
        data = QueryData.custom_function(
            "p", "{ Title: p.Name.toUpperCase(), Worth: p.PricePerUnit * p.UnitsInStock, Key: id(p) }"
        )
        (chai,) = query(session, "Products").where_equals("Name", "Chai").select_fields_query_data(dict, data)
        equal((chai["Title"], chai["Worth"], chai["Key"]), ("CHAI", 18, "products/1-A"))


@test
def texts():
    """text with parameters, declared functions, load"""
    rows = raw(
        """
        declare function line(o, c) { var n = 0; for (var l of o.Lines) n += l.Quantity; return c.Name + ': ' + n; }
        from Orders as o where o.ShipTo.City in ($cities) and o.OrderedAt >= $from
        load o.Company as c, o.Employee as e
        select { Line: line(o, c), By: e.FirstName + ' ' + e.LastName }""",
        **{"cities": ["Reims", "Lyon"], "from": "1998-01-01T00:00:00.0000000"},
    )
    expected = []
    for order in documents("Orders").values():
        if order["ShipTo"]["City"] in ("Reims", "Lyon") and order["OrderedAt"] >= "1998":
            company, employee = documents("Companies")[order["Company"]], documents("Employees")[order["Employee"]]
            count = sum(line["Quantity"] for line in order["Lines"])
            expected.append((f"{company['Name']}: {count}", f"{employee['FirstName']} {employee['LastName']}"))
    assert len(expected) > 1
    equal(sorted((row["Line"], row["By"]) for row in rows), sorted(expected))


@test
def includes():
    """include: what results refer to comes with them"""
    with STORE.open_session() as session:
        orders_found = list(
            query(session, "Orders").where_equals("ShipTo.City", "Reims").include("Company").include("Lines[].Product")
        )
        assert len(orders_found) > 1
        company = session.load(orders_found[0]["Company"], dict)
        equal(company["Name"], documents("Companies")[orders_found[0]["Company"]]["Name"])
        for line in orders_found[-1]["Lines"]:
            equal(session.load(line["Product"], dict)["Name"], line["ProductName"])
        equal(session.advanced.number_of_requests, 1)


@test
def tracking():
    """results are tracked: changed and saved, or not with no_tracking"""
    save(("notes/tracked", Note(text="before")))
    with STORE.open_session() as session:
        note = session.query(object_type=Note).wait_for_non_stale_results().where_equals("text", "before").single()
        note.text = "after"
        session.save_changes()
    with STORE.open_session() as session:
        asked = session.query(object_type=Note).wait_for_non_stale_results().no_tracking()
        note = asked.where_equals("text", "after").single()
        note.text = "never"
        assert not session.advanced.has_changes()


@test
def groups():
    """group by: key, count, sum, elements of arrays"""
    with STORE.open_session() as session:
        rows = list(
            query(session, "Orders")
            .group_by("Employee")
            .select_key(projected_name="Who")
            .select_count("Orders")
            .of_type(dict)
        )
    expected = {}
    for order in documents("Orders").values():
        expected[order["Employee"]] = expected.get(order["Employee"], 0) + 1
    equal({row["Who"]: row["Orders"] for row in rows}, expected)
    sums = raw(
        "from Orders group by ShipTo.Country where sum(Freight) > 4000 order by Freight as double desc "
        "select ShipTo.Country as Country, sum(Freight) as Freight, count() as Orders"
    )
    countries = {}
    for order in documents("Orders").values():
        countries.setdefault(order["ShipTo"]["Country"], []).append(order["Freight"])
    large = sorted(((sum(f), c, len(f)) for c, f in countries.items() if sum(f) > 4000), reverse=True)
    equal([(row["Country"], row["Orders"]) for row in sums], [(country, count) for _, country, count in large])
    near([row["Freight"] for row in sums], [freight for freight, _, _ in large])
    products = raw(
        "from Orders group by Lines[].Product select key() as Product, count() as N, sum(Lines[].Quantity) as Sold"
    )
    counts = {}
    for line in (line for order in documents("Orders").values() for line in order["Lines"]):
        count, sold = counts.get(line["Product"], (0, 0))
        counts[line["Product"]] = (count + 1, sold + line["Quantity"])
    equal({row["Product"]: (row["N"], row["Sold"]) for row in products}, counts)


@test
def facets():
    """facets: terms and ranges, with aggregations"""
    prices = RangeBuilder.for_path("PricePerUnit")
    with STORE.open_session() as session:
        found = (
            by_index(session)
            .where_equals("Discontinued", False)
            .aggregate_by(lambda b: b.by_field("Category").sum_on("UnitsInStock"))
            .and_aggregate_by(
                lambda b: b.by_ranges(
                    prices.is_less_than(20.5),
                    prices.is_greater_than_or_equal_to(20.5).is_less_than(50.5),
                    prices.is_greater_than_or_equal_to(50.5),
                )
            )
            .execute()
        )
    sold = [p for p in documents("Products").values() if not p["Discontinued"]]
    expected = {}
    for product in sold:
        count, stock = expected.get(product["Category"].lower(), (0, 0))
        expected[product["Category"].lower()] = (count + 1, stock + product["UnitsInStock"])
    sums = [value for value in found["Category"].values if value.sum_ is not None]
    equal({value.range_: (value.count_, value.sum_) for value in sums}, expected)
    bounds = [(0, 20.5), (20.5, 50.5), (50.5, math.inf)]
    counts = [sum(low <= p["PricePerUnit"] < high for p in sold) for low, high in bounds]
    equal([value.count_ for value in found["PricePerUnit"].values], counts)


@test
def facet_setup():
    """facets: a setup document, and options"""
    categories, prices = Facet("Category"), RangeFacet()
    categories.options = FacetOptions()
    categories.options.term_sort_mode = FacetTermSortMode.COUNT_DESC
    categories.options.page_size = 3
    prices.ranges = ["PricePerUnit < 10.5", "PricePerUnit >= 10.5"]
    save(("facets/products", FacetSetup([categories], [prices])))
    with STORE.open_session() as session:
        found = by_index(session).aggregate_using("facets/products").execute()
    equal([value.count_ for value in found["Category"].values], [13, 12, 12])
    products = documents("Products").values()
    low = sum(p["PricePerUnit"] < 10.5 for p in products)
    equal([value.count_ for value in found["PricePerUnit"].values], [low, 77 - low])


@test
def suggestions():
    """suggestions"""
    with STORE.open_session() as session:
        found = by_index(session).suggest_using(lambda b: b.by_field("Name", ["chnag", "chocolde"])).execute()
    assert {"chang", "chocolade"} <= set(found["Name"].suggestions), found["Name"].suggestions


@test
def more_like_this():
    """more like this: a document of the index, and one that comes along"""
    options = MoreLikeThisOptions(
        minimum_term_frequency=1, minimum_document_frequency=1, minimum_word_length=4, fields=["Text"]
    )
    with STORE.open_session() as session:
        like = by_index(session).more_like_this(
            lambda b: b.using_document(lambda q: q.where_equals("id()", "products/8-A")).with_options(options)
        )
        found = names(like)
        assert "Louisiana Fiery Hot Pepper Sauce" in found, found
        assert "Northwoods Cranberry Sauce" not in found, "not itself"
        given = by_index(session).more_like_this(
            lambda b: b.using_document(json.dumps({"Text": "syrup of coffee"})).with_options(options)
        )
        found = names(given)
        assert found and all(re.search("syrup|coffee", name, re.I) for name in found), found


@test
def highlighting():
    """highlighting"""
    marked = []
    with STORE.open_session() as session:
        options = HighlightingOptions(pre_tags=["<i>"], post_tags=["</i>"])
        found = list(by_index(session).highlight("Text", 60, 1, marked.append, options).search("Text", "lager sauce"))
        equal(len(found), 4)
        for product in found:
            (fragment,) = marked[0].get_fragments(product["@metadata"]["@id"])
            equal(re.sub("</?i>", "", fragment).strip(), product["Name"])
            assert re.search("<i>(lager|sauce)</i>", fragment, re.I), fragment


@test
def explanations_and_timings():
    """explanations and timings"""
    explanations, timings = [], []
    with STORE.open_session() as session:
        asked = query(session, "Products").include_explanations(explanations_callback=explanations.append)
        (found,) = asked.timings(timings.append).search("Name", "chai")
        assert "idf(" in "".join(explanations[0].explanations[found["@metadata"]["@id"]])
        assert timings[0].duration_in_ms >= 0 and timings[0].timings


@test
def places():
    """places: within a radius, a shape, ordered by distance"""
    place = PointField("Address.Location.Latitude", "Address.Location.Longitude")

    def distance(location):
        a, b = math.radians(location["Latitude"]), math.radians(51.5)
        east = math.sin(math.radians(location["Longitude"] + 0.12) / 2) ** 2
        return 2 * 6371 * math.asin(math.sqrt(math.sin((a - b) / 2) ** 2 + math.cos(a) * math.cos(b) * east))

    def location(company):
        return company["Address"]["Location"]

    finds(
        lambda q: q.spatial(place, lambda f: f.within_radius(400, 51.5, -0.12)),
        lambda c: location(c) and distance(location(c)) < 400,
        "Companies",
    )
    box = "POLYGON((-10 36, 5 36, 5 44, -10 44, -10 36))"
    finds(
        lambda q: q.spatial(place, lambda f: f.within(box)),
        lambda c: location(c) and -10 < location(c)["Longitude"] < 5 and 36 < location(c)["Latitude"] < 44,
        "Companies",
    )
    found = ask(
        lambda q: q.spatial(place, lambda f: f.within_radius(1000, 51.5, -0.12)).order_by_distance(place, 51.5, -0.12),
        "Companies",
    )
    distances = [distance(location(company)) for company in found]
    assert len(distances) > 10
    assert all(a <= b + 1 for a, b in zip(distances, distances[1:])), distances


@test
def streams():
    """streams of queries"""
    with STORE.open_session() as session:
        asked = session.query_collection("Orders", dict).where_greater_than("Freight", 100.5)
        asked = asked.order_by_descending("Freight", OrderingType.FLOAT)
        seen = [item.document["Freight"] for item in session.advanced.stream(asked)]
    equal(seen, sorted((o["Freight"] for o in documents("Orders").values() if o["Freight"] > 100.5), reverse=True))


@test
def lazy_queries():
    """lazy queries and counts go in one request"""
    with STORE.open_session() as session:
        one = query(session, "Products").where_equals("Name", "Chai").lazily()
        two = query(session, "Orders").where_equals("ShipTo.City", "Reims").count_lazily()
        session.advanced.eagerly.execute_all_pending_lazy_operations()
        equal(names(one.value), ["Chai"])
        equal(two.value, sum(o["ShipTo"]["City"] == "Reims" for o in documents("Orders").values()))
        equal(session.advanced.number_of_requests, 1)


@test
def filters():
    """filter: what is found is asked as it stands"""
    found = raw("from Products where Category = $c filter PricePerUnit > $min", c="categories/1-A", min=15)
    products = documents("Products").items()
    equal(ids(found), sorted(id for id, p in products if p["Category"] == "categories/1-A" and p["PricePerUnit"] > 15))
    few = raw("from Products filter Discontinued = true filter_limit 10")
    assert len(few) < 8, len(few)


@test
def patch_by_query():
    """patch by query, and waiting for it"""
    save(*((f"notes/{i}", Note(kind="kept" if i % 3 else "patched", i=i)) for i in range(90)))
    ask(lambda q: q.where_equals("kind", "patched").take(1), "Notes")
    patch = IndexQuery("from Notes where kind = $kind update { this.i = this.i + $more; this.done = true; }")
    patch.query_parameters = {"kind": "patched", "more": 1000}
    STORE.operations.send_async(PatchByQueryOperation(patch)).wait_for_completion()
    done = ask(lambda q: q.where_equals("done", True), "Notes")
    equal(sorted(note["i"] for note in done), [1000 + i for i in range(0, 90, 3)])
    failing = STORE.operations.send_async(
        PatchByQueryOperation("from Notes where kind = 'kept' update { throw 'no'; }")
    )
    refused(failing.wait_for_completion, "no")


@test
def delete_by_query():
    """delete by query, and waiting for it"""
    ask(lambda q: q.where_equals("kind", "patched").take(1), "Notes")
    gone = IndexQuery("from Notes where kind = $kind")
    gone.query_parameters = {"kind": "patched"}
    STORE.operations.send_async(DeleteByQueryOperation(gone)).wait_for_completion()
    equal(ask(lambda q: q.where_equals("kind", "patched"), "Notes"), [])
    equal(len(ask(lambda q: q.where_equals("kind", "kept"), "Notes")), 60)


@test
def mistakes():
    """what is wrong in a query is refused"""
    refused(lambda: raw("from Products where"), "1:20")
    refused(lambda: raw("from index 'Nothing/Here'"), "Could not find index")
    refused(lambda: raw("from index 'Products/ForSearch' where Nope = 1"), "Nope")


@test
def delete_own_database():
    """delete the database"""
    delete_database()


if __name__ == "__main__":
    run()
