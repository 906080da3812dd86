// Queries with the published Node.js client against a running server.
//
//     node queries.mjs http://127.0.0.1:8080 [--reference]
//
// Makes a database of its own with the Northwind sample, runs every test below in order (harness.mjs), deletes the database.
// Wherever that can be said in a line, what a query finds is compared with what a plain look at every document finds (`finds`). Only
// documents of the collection Notes are changed.

import assert from "node:assert/strict";
import {
    DeleteByQueryOperation,
    Facet,
    FacetSetup,
    IndexDefinition,
    IndexQuery,
    PatchByQueryOperation,
    PointField,
    PutIndexesOperation,
    QueryData,
    RangeBuilder,
    RangeFacet,
} from "ravendb";
import { createNorthwind, deleteDatabase, documentsOf, idsOf, openStore, run } from "./harness.mjs";

class Note {
    constructor(fields) {
        Object.assign(this, fields);
    }
}

const store = openStore(Note);

const all = collection => documentsOf(store, collection);

/** A query of a collection, in a session of its own. */
const query = collection => store.openSession().query({ collection }).waitForNonStaleResults();
/** A query as text, with parameters, in a session of its own. */
function raw(text, parameters = {}) {
    const asked = store.openSession().advanced.rawQuery(text).waitForNonStaleResults();
    for (const [name, value] of Object.entries(parameters)) {
        asked.addParameter(name, value);
    }
    return asked;
}

/** Asserts that a query finds exactly the documents of a collection for which `fits` holds, at least one of them. */
async function finds(collection, asked, fits) {
    const documents = Object.entries(await all(collection));
    const expected = documents
        .filter(([, document]) => fits(document))
        .map(([id]) => id)
        .sort();
    assert.ok(expected.length > 0, "nothing is to be found");
    assert.deepEqual(idsOf(await asked.all()), expected);
}

const names = async asked => (await asked.all()).map(result => result.Name);
const lower = text => text.toLowerCase();
const words = text => lower(text).split(/[^\p{L}\p{N}']+/u);

const tests = {
    async "create a database with sample data, and an index for facets and the like"() {
        await createNorthwind(store);
        const index = new IndexDefinition();
        index.name = "Products/ForSearch";
        index.maps = new Set([
            `from p in docs.Products select new {
            p.Name, p.Category, p.Supplier, p.PricePerUnit, p.UnitsInStock, p.Discontinued, Text = p.Name }`,
        ]);
        index.fields = {
            Name: { suggestions: true, indexing: "Search" },
            Text: { indexing: "Search", storage: "Yes", termVector: "WithPositionsAndOffsets" },
        };
        await store.maintenance.send(new PutIndexesOperation(index));
        assert.equal(Object.keys(await all("Products")).length, 77);
    },

    async "equal: texts in any case, numbers, booleans, null"() {
        await finds("Products", query("Products").whereEquals("Name", "CHAI"), p => lower(p.Name) === "chai");
        await finds("Products", query("Products").whereEquals("UnitsInStock", 17), p => p.UnitsInStock === 17);
        await finds("Products", query("Products").whereEquals("Discontinued", true), p => p.Discontinued);
        await finds("Companies", query("Companies").whereEquals("Address.Region", null), c => c.Address.Region === null);
        await finds("Companies", query("Companies").whereEquals("Address.City", "london"), c => c.Address.City === "London");
    },

    async "equal: exact"() {
        await finds("Products", query("Products").whereEquals("Name", "Chai", true), p => p.Name === "Chai");
        assert.deepEqual(await query("Products").whereEquals("Name", "chai", true).all(), []);
    },

    async "not equal"() {
        await finds("Products", query("Products").whereNotEquals("Category", "categories/1-A"), p => p.Category !== "categories/1-A");
        await finds("Companies", query("Companies").whereNotEquals("Address.Region", null), c => c.Address.Region !== null);
    },

    async "in: one of several, and none"() {
        const some = ["categories/1-A", "CATEGORIES/2-A", "nothing"];
        await finds("Products", query("Products").whereIn("Category", some), p => /\/[12]-A$/.test(p.Category));
        assert.deepEqual(await query("Products").whereIn("Category", []).all(), []);
    },

    async "contains any and contains all of an array"() {
        const two = ["06897", "19713"];
        await finds("Employees", query("Employees").containsAny("Territories", [...two, "02116"]), e =>
            [...two, "02116"].some(t => e.Territories.includes(t)),
        );
        await finds("Employees", query("Employees").containsAll("Territories", two), e => two.every(t => e.Territories.includes(t)));
        await finds("Orders", query("Orders").whereEquals("Lines[].Product", "products/11-A"), o =>
            o.Lines.some(line => line.Product === "products/11-A"),
        );
    },

    async "ranges: between, greater, less, of numbers and dates"() {
        await finds(
            "Products",
            query("Products").whereBetween("PricePerUnit", 9.5, 18.4),
            p => p.PricePerUnit >= 9.5 && p.PricePerUnit <= 18.4,
        );
        await finds("Products", query("Products").whereGreaterThan("UnitsInStock", 20), p => p.UnitsInStock > 20);
        await finds("Products", query("Products").whereGreaterThanOrEqual("PricePerUnit", 81), p => p.PricePerUnit >= 81);
        await finds("Products", query("Products").whereLessThan("PricePerUnit", 7.45), p => p.PricePerUnit < 7.45);
        await finds("Products", query("Products").whereLessThanOrEqual("PricePerUnit", 7.45), p => p.PricePerUnit <= 7.45);
        await finds(
            "Orders",
            query("Orders").whereBetween("OrderedAt", "1998-05-04T00:00:00.0000000", "1998-05-05T00:00:00.0000000"),
            o => o.OrderedAt >= "1998-05-04" && o.OrderedAt <= "1998-05-05T00:00:00.0000000",
        );
    },

    async "starts with, ends with"() {
        await finds("Products", query("Products").whereStartsWith("Name", "gr"), p => lower(p.Name).startsWith("gr"));
        await finds("Products", query("Products").whereEndsWith("Name", "Lager"), p => lower(p.Name).endsWith("lager"));
        assert.deepEqual(
            idsOf(await raw("from Companies where startsWith(id(), 'companies/9')").all()),
            Object.keys(await all("Companies"))
                .filter(id => id.startsWith("companies/9"))
                .sort(),
        );
    },

    async "search: any word, all words, wildcards"() {
        await finds("Products", query("Products").search("Name", "sauce CHAI"), p =>
            words(p.Name).some(word => word === "sauce" || word === "chai"),
        );
        await finds("Products", query("Products").search("Name", "sauce cranberry", "AND"), p =>
            ["sauce", "cranberry"].every(word => words(p.Name).includes(word)),
        );
        await finds("Products", query("Products").search("Name", "choc*"), p => words(p.Name).some(word => word.startsWith("choc")));
        await finds("Products", query("Products").search("Name", "*lade"), p => words(p.Name).some(word => word.endsWith("lade")));
        await finds("Employees", query("Employees").search("Notes", "psychology"), e => /psychology/i.test(e.Notes.join()));
    },

    async "search: phrases, several fields"() {
        await finds("Employees", query("Employees").search("Notes", '"sales representative"'), e =>
            /sales representative/i.test(e.Notes.join()),
        );
        await finds(
            "Companies",
            query("Companies").search("Name", "monde").orElse().search("Contact.Title", "owner", "AND"),
            c => /\bmonde\b/i.test(c.Name) || /\bowner\b/i.test(c.Contact.Title),
        );
    },

    async "Lucene's own syntax"() {
        await finds("Products", query("Products").whereLucene("Name", "ch?ng"), p => /^ch.ng$/i.test(p.Name));
    },

    async "fuzzy, proximity"() {
        assert.deepEqual(await names(query("Products").whereEquals("Name", "chay").fuzzy(0.5).whereEquals("Discontinued", false)), [
            "Chai",
        ]);
        const near = asked => query("Employees").search("Notes", "psychology university").proximity(asked);
        await finds("Employees", near(4), e => ["Davolio", "Callahan"].includes(e.LastName));
        await finds("Employees", near(1), e => e.LastName === "Callahan");
    },

    async "regular expressions"() {
        await finds("Products", query("Products").whereRegex("Name", "^ch.*g$"), p => /^ch.*g$/i.test(p.Name));
        await finds("Companies", query("Companies").whereRegex("Fax", "555"), c => /555/.test(c.Fax ?? ""));
    },

    async "exists, and not"() {
        await finds("Orders", query("Orders").whereExists("ShippedAt"), o => "ShippedAt" in o);
        await finds("Companies", query("Companies").whereExists("Fax").andAlso().not().whereEquals("Fax", null), c => c.Fax !== null);
        await finds(
            "Products",
            query("Products").not().whereStartsWith("Name", "g").andAlso().not().whereEquals("Discontinued", true),
            p => !lower(p.Name).startsWith("g") && !p.Discontinued,
        );
        assert.deepEqual(await query("Orders").whereExists("Nothing").all(), []);
    },

    async "and, or, subclauses"() {
        await finds(
            "Products",
            query("Products")
                .whereEquals("Discontinued", false)
                .andAlso()
                .openSubclause()
                .whereGreaterThan("PricePerUnit", 60)
                .orElse()
                .whereEquals("UnitsInStock", 0)
                .closeSubclause(),
            p => !p.Discontinued && (p.PricePerUnit > 60 || p.UnitsInStock === 0),
        );
        await finds(
            "Products",
            query("Products")
                .whereEquals("Category", "categories/1-A")
                .orElse()
                .whereEquals("Category", "categories/2-A")
                .andAlso()
                .whereLessThan("PricePerUnit", 10),
            p => p.Category === "categories/1-A" || (p.Category === "categories/2-A" && p.PricePerUnit < 10),
        );
        await finds(
            "Products",
            query("Products").usingDefaultOperator("OR").whereEquals("Name", "Chai").whereEquals("Name", "Chang"),
            p => p.Name === "Chai" || p.Name === "Chang",
        );
    },

    async intersect() {
        const asked = store
            .openSession()
            .query({ indexName: "Products/ForSearch" })
            .waitForNonStaleResults()
            .whereEquals("Category", "categories/1-A")
            .intersect()
            .whereLessThan("PricePerUnit", 15)
            .intersect()
            .whereEquals("Discontinued", false);
        await finds("Products", asked, p => p.Category === "categories/1-A" && p.PricePerUnit < 15 && !p.Discontinued);
    },

    async "boost and order by score"() {
        const found = await names(
            query("Products").search("Name", "sauce").boost(0.1).orElse().search("Name", "chai").boost(10).orderByScore(),
        );
        assert.equal(found[0], "Chai");
        assert.ok(found.length > 1 && found.slice(1).every(name => words(name).includes("sauce")), found);
        const back = await names(
            query("Products").search("Name", "sauce").boost(0.1).orElse().search("Name", "chai").boost(10).orderByScoreDescending(),
        );
        assert.equal(back.length, found.length);
    },

    async "order by: numbers, texts, natural, several keys, both ways"() {
        const sorted = compare => all("Products").then(documents => Object.values(documents).sort(compare));
        const prices = (await query("Products").orderBy("PricePerUnit", "Double").all()).map(p => p.PricePerUnit);
        assert.deepEqual(
            prices,
            (await sorted((a, b) => a.PricePerUnit - b.PricePerUnit)).map(p => p.PricePerUnit),
        );
        const stock = (await query("Products").orderByDescending("UnitsInStock", "Long").all()).map(p => p.UnitsInStock);
        assert.deepEqual(
            stock,
            (await sorted((a, b) => b.UnitsInStock - a.UnitsInStock)).map(p => p.UnitsInStock),
        );
        const texts = (await query("Companies").whereStartsWith("Name", "b").orderBy("Name").all()).map(c => lower(c.Name));
        assert.deepEqual(
            texts,
            Object.values(await all("Companies"))
                .map(c => lower(c.Name))
                .filter(n => n.startsWith("b"))
                .sort(),
        );
        const natural = (await query("Orders").whereEquals("Employee", "employees/5-A").orderBy("Company", "AlphaNumeric").all()).map(o =>
            Number(o.Company.match(/\d+/)[0]),
        );
        assert.deepEqual(
            natural,
            [...natural].sort((a, b) => a - b),
        );
        assert.ok(natural.length > 20);
        const keys = documents => documents.map(p => [p.Discontinued, p.PricePerUnit]);
        assert.deepEqual(
            keys(await query("Products").orderByDescending("Discontinued").orderBy("PricePerUnit", "Double").all()),
            keys(await sorted((a, b) => b.Discontinued - a.Discontinued || a.PricePerUnit - b.PricePerUnit)),
        );
    },

    async "random order: the same for the same seed"() {
        const order = seed => names(query("Products").randomOrdering(seed));
        const first = await order("one");
        assert.deepEqual(await order("one"), first);
        assert.notDeepEqual(await order("another"), first);
        assert.deepEqual(
            [...first].sort(),
            Object.values(await all("Products"))
                .map(p => p.Name)
                .sort(),
        );
    },

    async "paging with statistics"() {
        const seen = [];
        for (const start of [0, 20, 40, 60]) {
            let statistics;
            seen.push(
                ...idsOf(
                    await query("Products")
                        .whereGreaterThan("PricePerUnit", 1)
                        .orderBy("Name")
                        .statistics(s => {
                            statistics = s;
                        })
                        .skip(start)
                        .take(20)
                        .all(),
                ),
            );
            assert.equal(statistics.totalResults, 77);
            assert.equal(statistics.isStale, false);
            assert.match(statistics.indexName, /^Auto\/Products\/By/);
        }
        assert.equal(new Set(seen).size, 77);
    },

    async "first, single, count, any"() {
        const cheap = () => query("Products").whereLessThan("PricePerUnit", 3).orderBy("PricePerUnit", "Double");
        assert.equal((await cheap().first()).Name, "Geitost");
        assert.equal((await query("Products").whereEquals("Name", "Chai").single()).Name, "Chai");
        await assert.rejects(query("Products").whereStartsWith("Name", "g").single(), error => error.name === "InvalidOperationException");
        assert.equal(await query("Products").whereEquals("Name", "nobody").firstOrNull(), null);
        assert.equal(
            await query("Orders").whereEquals("Employee", "employees/5-A").count(),
            Object.values(await all("Orders")).filter(o => o.Employee === "employees/5-A").length,
        );
        assert.equal(await query("Products").whereEquals("Name", "Chai").any(), true);
        assert.equal(await query("Products").whereEquals("Name", "nobody").any(), false);
    },

    async "projections of fields, distinct"() {
        const cities = await query("Companies").whereEquals("Address.Country", "Mexico").selectFields(["Name", "Address.City"]).all();
        const expected = Object.values(await all("Companies")).filter(c => c.Address.Country === "Mexico");
        assert.deepEqual(
            cities.map(c => `${c.Name} ${c["Address.City"]}`).sort(),
            expected.map(c => `${c.Name} ${c.Address.City}`).sort(),
        );
        const countries = await query("Companies").selectFields("Address.Country").distinct().all();
        assert.deepEqual(
            countries.map(row => row["Address.Country"] ?? row).sort(),
            [...new Set(Object.values(await all("Companies")).map(c => c.Address.Country))].sort(),
        );
    },

    async "distinct results, page by page"() {
        const seen = [];
        for (let start = 0, page; page?.length !== 0;) {
            let statistics;
            const asked = query("Orders").selectFields("ShipTo.Country").distinct();
            page = await asked
                .statistics(s => {
                    statistics = s;
                })
                .skip(start)
                .take(4)
                .all();
            seen.push(...page.map(row => row["ShipTo.Country"] ?? row));
            start += page.length + statistics.skippedResults;
        }
        assert.deepEqual(seen.sort(), [...new Set(Object.values(await all("Orders")).map(o => o.ShipTo.Country))].sort());
    },

    async "projections by JavaScript"() {
        const data = QueryData.customFunction("p", "{ Title: p.Name.toUpperCase(), Worth: p.PricePerUnit * p.UnitsInStock, Id: id(p) }");
        const [chai] = await query("Products").whereEquals("Name", "Chai").selectFields(data).all();
        assert.deepEqual([chai.Title, chai.Worth, chai.Id], ["CHAI", 18, "products/1-A"]);
        const rows = await raw("from Orders as o where o.Freight > $min select { Total: o.Lines.reduce((t, l) => t + l.Quantity, 0) }", {
            min: 800,
        }).all();
        const expected = Object.values(await all("Orders"))
            .filter(o => o.Freight > 800)
            .map(o => o.Lines.reduce((t, l) => t + l.Quantity, 0));
        assert.deepEqual(rows.map(row => row.Total).sort(), expected.sort());
    },

    async "text with parameters, declared functions, load"() {
        const rows = await raw(
            `
            declare function line(o, c) { var n = 0; for (var l of o.Lines) n += l.Quantity; return c.Name + ': ' + n; }
            from Orders as o where o.ShipTo.City in ($cities) and o.OrderedAt >= $from order by o.OrderedAt
            load o.Company as c, o.Employee as e
            select { Line: line(o, c), By: e.FirstName + ' ' + e.LastName, Company: c.Name }`,
            { cities: ["Reims", "Lyon"], from: "1998-01-01T00:00:00.0000000" },
        ).all();
        const [companies, employees] = [await all("Companies"), await all("Employees")];
        const expected = Object.values(await all("Orders"))
            .filter(o => ["Reims", "Lyon"].includes(o.ShipTo.City) && o.OrderedAt >= "1998")
            .map(o => {
                const [company, employee] = [companies[o.Company], employees[o.Employee]];
                const count = o.Lines.reduce((total, line) => total + line.Quantity, 0);
                return `${company.Name}: ${count} | ${employee.FirstName} ${employee.LastName} | ${company.Name}`;
            });
        assert.ok(expected.length > 1);
        assert.deepEqual(rows.map(row => `${row.Line} | ${row.By} | ${row.Company}`).sort(), expected.sort());
    },

    async "include: what results refer to comes with them"() {
        const session = store.openSession();
        const orders = await session
            .query({ collection: "Orders" })
            .whereEquals("ShipTo.City", "Reims")
            .include("Company")
            .include("Lines[].Product")
            .all();
        assert.ok(orders.length > 1);
        assert.equal((await session.load(orders[0].Company)).Name, (await all("Companies"))[orders[0].Company].Name);
        for (const line of orders.at(-1).Lines) {
            assert.equal((await session.load(line.Product)).Name, line.ProductName);
        }
        assert.equal(session.advanced.numberOfRequests, 1);
    },

    async "results are tracked: changed and saved, or not with noTracking"() {
        const session = store.openSession();
        await session.store(new Note({ text: "before" }), "notes/tracked");
        await session.saveChanges();
        const other = store.openSession();
        const note = await other.query(Note).waitForNonStaleResults().whereEquals("text", "before").single();
        note.text = "after";
        await other.saveChanges();
        const third = store.openSession();
        const untracked = await third.query(Note).waitForNonStaleResults().noTracking().whereEquals("text", "after").single();
        assert.equal(untracked.text, "after");
        untracked.text = "never";
        assert.ok(!third.advanced.hasChanges());
    },

    async "group by: key, count, sum"() {
        const rows = await query("Orders").groupBy("Employee").selectKey(undefined, "Who").selectCount("Orders").all();
        const expected = {};
        for (const order of Object.values(await all("Orders"))) {
            expected[order.Employee] = (expected[order.Employee] ?? 0) + 1;
        }
        assert.deepEqual(Object.fromEntries(rows.map(row => [row.Who ?? row.Employee, row.Orders])), expected);
        const sums = await raw(
            "from Orders group by ShipTo.Country where sum(Freight) > 4000 order by Freight as double desc " +
                "select ShipTo.Country as Country, sum(Freight) as Freight, count() as Orders",
        ).all();
        const countries = {};
        for (const order of Object.values(await all("Orders"))) {
            const country = (countries[order.ShipTo.Country] ??= { freight: 0, orders: 0 });
            country.freight += order.Freight;
            country.orders += 1;
        }
        const large = Object.entries(countries)
            .filter(([, c]) => c.freight > 4000)
            .sort(([, a], [, b]) => b.freight - a.freight);
        assert.deepEqual(
            sums.map(row => [row.Country, row.Orders, row.Freight.toFixed(2)]),
            large.map(([country, { freight, orders }]) => [country, orders, freight.toFixed(2)]),
        );
    },

    async "group by elements of arrays"() {
        const rows = await raw(
            "from Orders group by Lines[].Product order by count() as long desc " +
                "select key() as Product, count() as N, sum(Lines[].Quantity) as Sold limit 3",
        ).all();
        const count = {};
        for (const line of Object.values(await all("Orders")).flatMap(o => o.Lines)) {
            count[line.Product] ??= { n: 0, sold: 0 };
            count[line.Product].n += 1;
            count[line.Product].sold += line.Quantity;
        }
        assert.equal(rows.length, 3);
        for (const row of rows) {
            assert.deepEqual([row.N, row.Sold], [count[row.Product].n, count[row.Product].sold], row.Product);
        }
        assert.equal(rows[0].N, Math.max(...Object.values(count).map(entry => entry.n)));
    },

    async "facets: terms and ranges, with aggregations"() {
        const range = RangeBuilder.forPath("PricePerUnit");
        const facets = await store
            .openSession()
            .query({ indexName: "Products/ForSearch" })
            .waitForNonStaleResults()
            .whereEquals("Discontinued", false)
            .aggregateBy(b => b.byField("Category").sumOn("UnitsInStock").averageOn("PricePerUnit"))
            .andAggregateBy(b =>
                b.byRanges(range.isLessThan(20), range.isGreaterThanOrEqualTo(20).isLessThan(50), range.isGreaterThanOrEqualTo(50)),
            )
            .execute();
        const sold = Object.values(await all("Products")).filter(p => !p.Discontinued);
        const first = facets.Category.values.filter(value => value.range === "categories/1-a");
        const expected = sold.filter(p => p.Category === "categories/1-A");
        const sum = first.find(value => value.sum !== undefined && value.sum !== null);
        assert.equal(sum.count, expected.length);
        assert.equal(
            sum.sum,
            expected.reduce((t, p) => t + p.UnitsInStock, 0),
        );
        assert.equal(
            facets.Category.values.reduce((t, value) => t + (value.sum === undefined || value.sum === null ? 0 : value.count), 0),
            sold.length,
        );
        assert.deepEqual(
            facets.PricePerUnit.values.map(value => value.count),
            [p => p < 20, p => p >= 20 && p < 50, p => p >= 50].map(fits => sold.filter(p => fits(p.PricePerUnit)).length),
        );
    },

    async "facets: a setup document, and options"() {
        const setup = new FacetSetup();
        const [categories, prices] = [new Facet(), new RangeFacet()];
        categories.fieldName = "Category";
        categories.options = { termSortMode: "CountDesc", start: 0, pageSize: 3, includeRemainingTerms: true };
        prices.ranges = ["PricePerUnit < 10", "PricePerUnit >= 10"];
        setup.facets = [categories];
        setup.rangeFacets = [prices];
        const session = store.openSession();
        await session.store(setup, "facets/products");
        await session.saveChanges();
        const facets = await store
            .openSession()
            .query({ indexName: "Products/ForSearch" })
            .waitForNonStaleResults()
            .aggregateUsing("facets/products")
            .execute();
        assert.equal(facets.Category.values.length, 3);
        assert.deepEqual(
            facets.Category.values.map(value => value.count),
            [13, 12, 12],
        );
        assert.equal(facets.Category.remainingTermsCount, 5);
        const products = Object.values(await all("Products"));
        assert.deepEqual(
            facets.PricePerUnit.values.map(value => value.count),
            [products.filter(p => p.PricePerUnit < 10).length, products.filter(p => p.PricePerUnit >= 10).length],
        );
    },

    async suggestions() {
        const found = await store
            .openSession()
            .query({ indexName: "Products/ForSearch" })
            .waitForNonStaleResults()
            .suggestUsing(b =>
                b
                    .byField("Name", ["chnag", "chocolde"])
                    .withOptions({ pageSize: 5, accuracy: 0.4, sortMode: "Popularity", distance: "Levenshtein" }),
            )
            .execute();
        assert.ok(found.Name.suggestions.includes("chang"), found.Name.suggestions);
        assert.ok(found.Name.suggestions.includes("chocolade"), found.Name.suggestions);
        const dynamic = await query("Products")
            .suggestUsing(b => b.byField("QuantityPerUnit", "botles").withDisplayName("Q"))
            .execute();
        assert.ok(Array.isArray(dynamic.Q.suggestions));
    },

    async "more like this: a document of the index, and one that comes along"() {
        const like = build => store.openSession().query({ indexName: "Products/ForSearch" }).waitForNonStaleResults().moreLikeThis(build);
        const options = { minimumTermFrequency: 1, minimumDocumentFrequency: 1, minimumWordLength: 4, fields: ["Text"] };
        const similar = await names(like(b => b.usingDocument(q => q.whereEquals("id()", "products/8-A")).withOptions(options)));
        assert.ok(similar.includes("Louisiana Fiery Hot Pepper Sauce"), similar);
        assert.ok(!similar.includes("Northwoods Cranberry Sauce"), "not itself");
        const given = await names(like(b => b.usingDocument(JSON.stringify({ Text: "syrup of coffee" })).withOptions(options)));
        assert.ok(given.every(name => /syrup|coffee/i.test(name)) && given.length > 0, given);
    },

    async highlighting() {
        let marked;
        const found = await store
            .openSession()
            .query({ indexName: "Products/ForSearch" })
            .waitForNonStaleResults()
            .highlight({ fieldName: "Text", fragmentLength: 60, fragmentCount: 1, preTags: ["<i>"], postTags: ["</i>"] }, h => {
                marked = h;
            })
            .search("Text", "lager sauce")
            .all();
        assert.equal(found.length, 4);
        for (const product of found) {
            const [fragment] = marked.getFragments(product.id);
            assert.equal(fragment.replace(/<\/?i>/g, "").trim(), product.Name);
            assert.match(fragment, /<i>(lager|sauce)<\/i>/i);
        }
    },

    async "explanations and timings"() {
        let [explanations, timings] = [];
        const session = store.openSession();
        const [found] = await session
            .query({ collection: "Products" })
            .includeExplanations(e => {
                explanations = e;
            })
            .timings(t => {
                timings = t;
            })
            .search("Name", "chai")
            .all();
        assert.match(explanations.explanations[found.id].join("\n"), /idf\(/);
        assert.ok(timings.durationInMs >= 0);
        assert.ok(Object.keys(timings.timings).length > 0);
    },

    async "places: within a radius, a shape, ordered by distance"() {
        const place = new PointField("Address.Location.Latitude", "Address.Location.Longitude");
        const distance = location => {
            const radians = degrees => (degrees * Math.PI) / 180;
            const [a, b] = [radians(location.Latitude), radians(51.5)];
            const c = Math.sin((a - b) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(radians(location.Longitude + 0.12) / 2) ** 2;
            return 2 * 6371 * Math.asin(Math.sqrt(c));
        };
        await finds(
            "Companies",
            query("Companies").spatial(place, f => f.withinRadius(400, 51.5, -0.12)),
            c => c.Address.Location && distance(c.Address.Location) < 400,
        );
        const box = "POLYGON((-10 36, 5 36, 5 44, -10 44, -10 36))";
        await finds(
            "Companies",
            query("Companies").spatial(place, f => f.within(box)),
            ({ Address: { Location: l } }) => l && l.Longitude > -10 && l.Longitude < 5 && l.Latitude > 36 && l.Latitude < 44,
        );
        const found = await query("Companies")
            .spatial(place, f => f.withinRadius(1000, 51.5, -0.12))
            .orderByDistance(place, 51.5, -0.12)
            .all();
        const distances = found.map(c => distance(c.Address.Location));
        assert.ok(found.length > 10 && distances.every((d, i) => i === 0 || distances[i - 1] <= d + 1), distances);
    },

    async "streams of queries, with statistics"() {
        const session = store.openSession();
        let statistics;
        const seen = [];
        const asked = session.query({ collection: "Orders" }).whereGreaterThan("Freight", 100.5).orderByDescending("Freight", "Double");
        for await (const item of await session.advanced.stream(asked, s => {
            statistics = s;
        })) {
            assert.match(item.changeVector, /^A:/);
            seen.push(item.document.Freight);
        }
        const expected = Object.values(await all("Orders"))
            .map(o => o.Freight)
            .filter(f => f > 100.5)
            .sort((a, b) => b - a);
        assert.deepEqual(seen, expected);
        assert.equal(statistics.totalResults, expected.length);
        const projected = [];
        const text = "from Products where Discontinued = true select Name";
        for await (const item of await session.advanced.stream(session.advanced.rawQuery(text))) {
            projected.push(item.document.Name);
        }
        assert.deepEqual(
            projected.sort(),
            Object.values(await all("Products"))
                .filter(p => p.Discontinued)
                .map(p => p.Name)
                .sort(),
        );
    },

    async "lazy queries, counts and suggestions go in one request"() {
        const session = store.openSession();
        const one = session.query({ collection: "Products" }).whereEquals("Name", "Chai").lazily();
        const two = session.query({ collection: "Orders" }).whereEquals("ShipTo.City", "Reims").countLazily();
        const three = session
            .query({ indexName: "Products/ForSearch" })
            .suggestUsing(b => b.byField("Name", "chocolde"))
            .executeLazy();
        const four = session
            .query({ indexName: "Products/ForSearch" })
            .aggregateBy(b => b.byField("Discontinued"))
            .executeLazy();
        await session.advanced.eagerly.executeAllPendingLazyOperations();
        assert.deepEqual(
            (await one.getValue()).map(p => p.Name),
            ["Chai"],
        );
        assert.equal(await two.getValue(), Object.values(await all("Orders")).filter(o => o.ShipTo.City === "Reims").length);
        assert.ok((await three.getValue()).Name.suggestions.includes("chocolade"));
        assert.deepEqual(
            (await four.getValue()).Discontinued.values.map(value => [value.range, value.count]),
            [
                ["false", 69],
                ["true", 8],
            ],
        );
        assert.equal(session.advanced.numberOfRequests, 1);
    },

    async "filter: what is found is asked as it stands"() {
        await finds(
            "Products",
            query("Products")
                .whereEquals("Category", "categories/1-A")
                .filter(f => f.greaterThan("PricePerUnit", 15)),
            p => p.Category === "categories/1-A" && p.PricePerUnit > 15,
        );
        await finds(
            "Products",
            raw("from Products filter Discontinued = true and PricePerUnit > $min", { min: 30 }),
            p => p.Discontinued && p.PricePerUnit > 30,
        );
        const few = await query("Products")
            .filter(f => f.equals("Discontinued", true), 10)
            .all();
        assert.ok(few.length < 8, `${few.length} of the first 10`);
    },

    async "patch by query, and waiting for it"() {
        const bulk = store.bulkInsert();
        for (let i = 0; i < 300; i++) {
            await bulk.store(new Note({ kind: i % 3 ? "kept" : "patched", i }), `notes/patch-${i}`);
        }
        await bulk.finish();
        await query("Notes").whereEquals("kind", "patched").take(1).all();
        const patch = new IndexQuery("from Notes where kind = $kind update { this.i = this.i + $more; this.done = true; }");
        patch.queryParameters = { kind: "patched", more: 1000 };
        const operation = await store.operations.send(new PatchByQueryOperation(patch));
        await operation.waitForCompletion();
        const done = await query("Notes").whereEquals("done", true).all();
        assert.equal(done.length, 100);
        assert.ok(done.every(note => note.i >= 1000 && note.kind === "patched"));
        const failing = await store.operations.send(new PatchByQueryOperation("from Notes where kind = 'kept' update { throw 'no'; }"));
        await assert.rejects(failing.waitForCompletion(), error => /no/.test(error.message));
    },

    async "delete by query, and waiting for it"() {
        await query("Notes").whereEquals("kind", "patched").take(1).all();
        const gone = new IndexQuery("from Notes where kind = $kind");
        gone.queryParameters = { kind: "patched" };
        const operation = await store.operations.send(new DeleteByQueryOperation(gone));
        await operation.waitForCompletion();
        assert.equal(await query("Notes").whereEquals("kind", "patched").count(), 0);
        assert.equal(await query("Notes").whereEquals("kind", "kept").count(), 200);
    },

    async "a query that was not changed since is answered from the client's cache"() {
        const once = async () => {
            let statistics;
            const found = await store
                .openSession()
                .query({ collection: "Products" })
                .whereEquals("Name", "Chang")
                .statistics(s => {
                    statistics = s;
                })
                .all();
            assert.deepEqual(
                found.map(p => p.Name),
                ["Chang"],
            );
            return statistics.durationInMs;
        };
        await once();
        await once();
        // This client gives -1 as the duration of an answer that came as 304.
        assert.equal(await once(), -1);
    },

    async "what is wrong in a query is an error of its own type"() {
        await assert.rejects(
            raw("from Products where").all(),
            error => error.name === "InvalidQueryException" || error.name === "RavenException",
        );
        await assert.rejects(raw("from index 'Nothing/Here'").all(), error => error.name === "IndexDoesNotExistException");
        await assert.rejects(raw("from index 'Products/ForSearch' where Nope = 1").all(), error => /Nope/.test(error.message));
    },

    async "delete the database"() {
        await deleteDatabase(store);
    },
};

await run(tests, store);
