// Indexes with the published Node.js client against a running server: defining, asking, replacing and administering them.
//
//     node indexes.mjs http://127.0.0.1:8080 [--reference]
//
// Makes a database of its own with the Northwind sample, runs every test below in order (harness.mjs), deletes the database. Every
// test puts indexes of its own names. What those find is compared with what a plain look at every document finds (`finds`).

import assert from "node:assert/strict";
import {
    AbstractCsharpIndexCreationTask,
    AbstractJavaScriptIndexCreationTask,
    AbstractJavaScriptMultiMapIndexCreationTask,
    AbstractRawJavaScriptIndexCreationTask,
    DeleteAnalyzerOperation,
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
    IndexCreation,
    IndexDefinition,
    IndexHasChangedOperation,
    PutAnalyzersOperation,
    PutIndexesOperation,
    ResetIndexOperation,
    SetIndexesLockOperation,
    SetIndexesPriorityOperation,
    StartIndexingOperation,
    StartIndexOperation,
    StopIndexingOperation,
    StopIndexOperation,
} from "ravendb";
import { createNorthwind, deleteDatabase, documentsOf, eventually, idsOf, openStore, run } from "./harness.mjs";

class User {
    constructor(fields) {
        Object.assign(this, fields);
    }
}
class City {
    constructor(fields) {
        Object.assign(this, fields);
    }
}

const store = openStore(User, City);
const send = operation => store.maintenance.send(operation);

const all = collection => documentsOf(store, collection);

/** Stores documents, given as pairs of id and entity, in one batch. */
async function save(...pairs) {
    const session = store.openSession();
    for (const [id, entity] of pairs) {
        await session.store(entity, id);
    }
    await session.saveChanges();
}

/** A definition, by its maps and what else it has. */
function definition(name, maps, more = {}) {
    const made = new IndexDefinition();
    made.name = name;
    made.maps = new Set([maps].flat());
    return Object.assign(made, more);
}
const put = (name, maps, more) => send(new PutIndexesOperation(definition(name, maps, more)));
const byIndex = indexName => store.openSession().query({ indexName }).waitForNonStaleResults();
const raw = text => store.openSession().advanced.rawQuery(text).waitForNonStaleResults();
const error = name => thrown => thrown.name === name;

/** Asserts that a query finds exactly the documents of a collection for which `fits` holds, at least one of them. */
async function finds(collection, asked, fits) {
    const expected = Object.entries(await all(collection))
        .filter(([, document]) => fits(document))
        .map(([id]) => id)
        .sort();
    assert.ok(expected.length > 0, "nothing is to be found");
    assert.deepEqual(idsOf(await asked.all()), expected);
}

const worth = order => order.Lines.reduce((total, line) => total + line.Quantity * line.PricePerUnit, 0);

/** The sales of each company, by its id: how many orders, and their freight. */
async function byCompany() {
    const sums = {};
    for (const order of Object.values(await all("Orders"))) {
        const sum = (sums[order.Company] ??= { count: 0, freight: 0 });
        sum.count += 1;
        sum.freight += order.Freight;
    }
    return sums;
}

class Products_ByName extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.map("Products", p => ({ name: p.Name, price: p.PricePerUnit, isLow: p.UnitsInStock < p.ReorderLevel }));
        this.index("name", "Search");
        this.store("price", "Yes");
    }
}

class Orders_ByTotal extends AbstractCsharpIndexCreationTask {
    constructor() {
        super();
        this.map = `from order in docs.Orders
            let total = order.Lines.Sum(l => l.Quantity * l.PricePerUnit)
            select new { order.Company, Total = total, Year = order.OrderedAt.Year, Size = total > 5000 ? "large" : "small" }`;
        this.store("Total", "Yes");
    }
}

class Orders_ByCustomer extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.map("Orders", o => ({ company: o.Company, count: 1, freight: o.Freight }));
        this.reduce(results =>
            results
                .groupBy(r => r.company)
                .aggregate(g => ({
                    company: g.key,
                    count: g.values.reduce((total, v) => total + v.count, 0),
                    freight: g.values.reduce((total, v) => total + v.freight, 0),
                })),
        );
    }
}

class Anything_ByCity extends AbstractJavaScriptMultiMapIndexCreationTask {
    constructor() {
        super();
        this.map("Companies", c => ({ city: c.Address.City, kind: "company" }));
        this.map("Suppliers", s => ({ city: s.Address.City, kind: "supplier" }));
        this.map("Employees", e => ({ city: e.Address.City, kind: "employee" }));
    }
}

class Orders_ByCompanyName extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        const { load } = this.mapUtils();
        this.map("Orders", o => ({ name: load(o.Company, "Companies").Name }));
    }
}

class Products_ByGrade extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.addSource("grade", function grade(price) {
            return price > 50 ? "high" : price > 20 ? "middle" : "low";
        });
        // eslint-disable-next-line no-undef
        this.map("Products", p => ({ grade: grade(p.PricePerUnit) }));
    }
}

class Companies_ByPlace extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        const { createSpatialField } = this.mapUtils();
        this.map("Companies", c => ({ place: createSpatialField(c.Address.Location.Latitude, c.Address.Location.Longitude) }));
        this.spatial("place", factory => factory.geography().defaultOptions());
    }
}

class Users_ByTags extends AbstractRawJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.maps = new Set(["map('Users', u => u.tags.map(tag => ({ tag, owner: id(u) })))"]);
        this.fields = { owner: { storage: "Yes" }, tag: { storage: "Yes" } };
    }
}

const tests = {
    async "create a database with sample data"() {
        await createNorthwind(store);
        assert.equal(Object.keys(await all("Products")).length, 77);
    },

    async "a definition in C#"() {
        await put(
            "Products/Due",
            "from p in docs.Products select new { Due = p.UnitsInStock + p.UnitsOnOrder * 2, p.Discontinued, Upper = p.Name.ToUpper() }",
        );
        await finds(
            "Products",
            byIndex("Products/Due").whereGreaterThan("Due", 50).whereEquals("Discontinued", false),
            p => p.UnitsInStock + p.UnitsOnOrder * 2 > 50 && !p.Discontinued,
        );
        await finds("Products", byIndex("Products/Due").whereEquals("Upper", "CHAI", false), p => p.Name === "Chai");
    },

    async "a definition in JavaScript"() {
        await put(
            "Orders/Late",
            "map('Orders', o => { if (o.ShippedAt && o.ShippedAt > o.RequireAt) return { company: o.Company, late: true }; })",
        );
        await finds("Orders", byIndex("Orders/Late").whereEquals("late", true), o => o.ShippedAt && o.ShippedAt > o.RequireAt);
    },

    async "a class in JavaScript: options of fields, a query by the class"() {
        await new Products_ByName().execute(store);
        const query = () => store.openSession().query({ index: Products_ByName }).waitForNonStaleResults();
        await finds("Products", query().search("name", "sauce"), p => /\bsauce\b/i.test(p.Name));
        await finds("Products", query().whereEquals("isLow", true), p => p.UnitsInStock < p.ReorderLevel);
        await finds("Products", query().whereLessThan("price", 9.5).orderBy("price", "Double"), p => p.PricePerUnit < 9.5);
    },

    async "a class in C#: let, sums, conditions, parts of dates"() {
        await new Orders_ByTotal().execute(store);
        const query = () => byIndex("Orders/ByTotal");
        await finds("Orders", query().whereGreaterThan("Total", 10000.5), o => worth(o) > 10000.5);
        await finds(
            "Orders",
            query().whereEquals("Year", 1996).whereEquals("Size", "large"),
            o => o.OrderedAt.startsWith("1996") && worth(o) > 5000,
        );
    },

    async "many maps in one index"() {
        await new Anything_ByCity().execute(store);
        const found = await byIndex("Anything/ByCity").whereEquals("city", "London").orderBy("kind").all();
        const expected = [];
        for (const collection of ["Companies", "Suppliers", "Employees"]) {
            expected.push(
                ...Object.entries(await all(collection))
                    .filter(([, d]) => d.Address.City === "London")
                    .map(([id]) => id),
            );
        }
        assert.ok(expected.length > 5);
        assert.deepEqual(idsOf(found), expected.sort());
        assert.ok(
            idsOf(await byIndex("Anything/ByCity").whereEquals("city", "London").whereEquals("kind", "supplier").all()).every(id =>
                id.startsWith("suppliers/"),
            ),
        );
    },

    async "several entries of a document, with stored fields"() {
        await save(["users/tags-1", new User({ tags: ["red", "green"] })], ["users/tags-2", new User({ tags: ["green", "blue"] })]);
        await new Users_ByTags().execute(store);
        const rows = await byIndex("Users/ByTags")
            .whereEquals("tag", "green")
            .selectFields(["tag", "owner"], undefined, "FromIndex")
            .all();
        assert.deepEqual(rows.map(row => `${row.tag} ${row.owner}`.toLowerCase()).sort(), ["green users/tags-1", "green users/tags-2"]);
        assert.deepEqual(idsOf(await byIndex("Users/ByTags").whereEquals("tag", "blue").all()), ["users/tags-2"]);
    },

    async "map-reduce in JavaScript"() {
        await new Orders_ByCustomer().execute(store);
        const expected = await byCompany();
        const rows = await byIndex("Orders/ByCustomer").orderByDescending("count", "Long").all();
        assert.equal(rows.length, Object.keys(expected).length);
        for (const row of rows) {
            assert.equal(row.count, expected[row.company].count, row.company);
            assert.ok(Math.abs(row.freight - expected[row.company].freight) < 0.001, row.company);
        }
        assert.equal(rows[0].count, Math.max(...rows.map(row => row.count)));
        const many = await byIndex("Orders/ByCustomer").whereGreaterThan("count", 20).all();
        assert.deepEqual(
            many.map(row => row.company).sort(),
            Object.keys(expected)
                .filter(id => expected[id].count > 20)
                .sort(),
        );
    },

    async "map-reduce in C#: a key of several parts, averages"() {
        await put(
            "Orders/ByYearAndCountry",
            "from o in docs.Orders select new { Year = o.OrderedAt.Year, o.ShipTo.Country, Count = 1, Freight = o.Freight, Average = 0 }",
            {
                reduce: `from r in results group r by new { r.Year, r.Country } into g select new { g.Key.Year, g.Key.Country,
                Count = g.Sum(x => x.Count), Freight = g.Sum(x => x.Freight), Average = g.Sum(x => x.Freight) / g.Sum(x => x.Count) }`,
            },
        );
        const rows = await byIndex("Orders/ByYearAndCountry").whereEquals("Country", "Austria").orderBy("Year", "Long").all();
        const orders = Object.values(await all("Orders")).filter(o => o.ShipTo.Country === "Austria");
        const expected = [1996, 1997, 1998].map(year => {
            const freights = orders.filter(o => o.OrderedAt.startsWith(String(year))).map(o => o.Freight);
            const sum = freights.reduce((a, b) => a + b, 0);
            return [year, freights.length, sum.toFixed(2), (sum / freights.length).toFixed(2)];
        });
        assert.deepEqual(
            rows.map(row => [row.Year, row.Count, row.Freight.toFixed(2), row.Average.toFixed(2)]),
            expected,
        );
    },

    async "groups follow their documents: changed, come, gone"() {
        await put("Users/ByTeam", "from u in docs.Users where u.team != null select new { Team = u.team, Count = 1, Points = u.points }", {
            reduce: "from r in results group r by r.Team into g select new { Team = g.Key, Count = g.Sum(x => x.Count), Points = g.Sum(x => x.Points) }",
        });
        const teams = async () => (await byIndex("Users/ByTeam").orderBy("Team").all()).map(row => [row.Team, row.Count, row.Points]);
        await save(
            ["users/team-1", new User({ team: "a", points: 1 })],
            ["users/team-2", new User({ team: "a", points: 2 })],
            ["users/team-3", new User({ team: "b", points: 4 })],
        );
        assert.deepEqual(await teams(), [
            ["a", 2, 3],
            ["b", 1, 4],
        ]);
        await save(["users/team-1", new User({ team: "b", points: 8 })]);
        assert.deepEqual(await teams(), [
            ["a", 1, 2],
            ["b", 2, 12],
        ]);
        const session = store.openSession();
        await session.delete("users/team-2");
        await session.saveChanges();
        assert.deepEqual(await teams(), [["b", 2, 12]]);
    },

    async "load in JavaScript"() {
        await new Orders_ByCompanyName().execute(store);
        const id = Object.entries(await all("Companies")).find(([, c]) => c.Name === "Ernst Handel")[0];
        await finds("Orders", byIndex("Orders/ByCompanyName").whereEquals("name", "ernst handel"), o => o.Company === id);
    },

    async "LoadDocument in C#, and what is loaded changes, goes and comes back"() {
        await put(
            "Users/ByCity",
            'from u in docs.Users let c = LoadDocument(u.city, "Cities") where u.city != null select new { City = c.name }',
        );
        await save(
            ["cities/1", new City({ name: "Oslo" })],
            ["users/city-1", new User({ city: "cities/1" })],
            ["users/city-2", new User({ city: "cities/2" })],
        );
        const found = async city => idsOf(await byIndex("Users/ByCity").whereEquals("City", city).all());
        assert.deepEqual(await found("Oslo"), ["users/city-1"]);
        await save(["cities/1", new City({ name: "Bergen" })], ["cities/2", new City({ name: "Oslo" })]);
        assert.deepEqual(await found("Oslo"), ["users/city-2"]);
        assert.deepEqual(await found("Bergen"), ["users/city-1"]);
        const session = store.openSession();
        await session.delete("cities/1");
        await session.saveChanges();
        assert.deepEqual(await found("Bergen"), []);
    },

    async "stored fields are projected from the index"() {
        const rows = await byIndex("Orders/ByTotal")
            .whereGreaterThan("Total", 12000.5)
            .selectFields(["Total"], undefined, "FromIndex")
            .all();
        const expected = Object.values(await all("Orders"))
            .map(worth)
            .filter(total => total > 12000.5);
        assert.deepEqual(rows.map(row => Number(row.Total ?? row).toFixed(2)).sort(), expected.map(total => total.toFixed(2)).sort());
    },

    async "analyzers, exact fields, fields that are not indexed"() {
        await save(["users/words", new User({ text: "Quick-Brown FOX, the" })]);
        const fields = {
            Standard: { analyzer: "StandardAnalyzer", indexing: "Search" },
            White: { analyzer: "WhitespaceAnalyzer", indexing: "Search" },
            Keyword: { analyzer: "KeywordAnalyzer", indexing: "Search" },
            Exact: { indexing: "Exact" },
            Kept: { indexing: "No", storage: "Yes" },
        };
        const names = Object.keys(fields);
        await put(
            "Users/Words",
            `from u in docs.Users where u.text != null select new { ${names.map(name => `${name} = u.text`).join(", ")} }`,
            { fields },
        );
        const terms = {};
        await byIndex("Users/Words").all();
        for (const name of names) {
            terms[name] = (await send(new GetTermsOperation("Users/Words", name, null, 100))).sort();
        }
        assert.deepEqual(terms, {
            Standard: ["brown", "fox", "quick"],
            White: ["FOX,", "Quick-Brown", "the"],
            Keyword: ["Quick-Brown FOX, the"],
            Exact: ["Quick-Brown FOX, the"],
            Kept: [],
        });
        assert.deepEqual(idsOf(await byIndex("Users/Words").search("Standard", "fox").all()), ["users/words"]);
        assert.deepEqual(await byIndex("Users/Words").whereEquals("Exact", "quick-brown fox, the", true).all(), []);
    },

    async "a custom analyzer in C#"() {
        const code = `using System.IO; using Lucene.Net.Analysis; using Lucene.Net.Analysis.Standard;
            namespace Conformance {
                public class Folding : StandardAnalyzer {
                    public Folding() : base(Lucene.Net.Util.Version.LUCENE_30) { }
                    public override TokenStream TokenStream(string fieldName, TextReader reader) {
                        return new ASCIIFoldingFilter(base.TokenStream(fieldName, reader));
                    }
                }
            }`;
        const map = "from u in docs.Users where u.title != null select new { u.title }";
        const fields = { title: { analyzer: "Folding", indexing: "Search" } };
        await assert.rejects(put("Users/Titles", map, { fields }), /Cannot find analyzer type 'Folding' for field: title/);
        await send(new PutAnalyzersOperation({ name: "Folding", code }));
        await save(["users/title-1", new User({ title: "Größe of Rogério" })], ["users/title-2", new User({ title: "ROGERIO" })]);
        await put("Users/Titles", map, { fields });
        assert.deepEqual(idsOf(await byIndex("Users/Titles").search("title", "Rogério*").all()).sort(), ["users/title-1", "users/title-2"]);
        assert.deepEqual((await send(new GetTermsOperation("Users/Titles", "title", null, 100))).sort(), ["grosse", "rogerio"]);
        await send(new DeleteAnalyzerOperation("Folding"));
        await assert.rejects(put("Users/Others", map, { fields }), /Cannot find analyzer type 'Folding' for field: title/);
        const wrong = new PutAnalyzersOperation({ name: "Other", code });
        await assert.rejects(send(wrong), /Could not find type 'Other' in given assembly/);
    },

    async "dynamic fields"() {
        await save(
            ["users/props-1", new User({ props: { colour: "red", size: "L" } })],
            ["users/props-2", new User({ props: { colour: "blue", weight: "5" } })],
        );
        await put(
            "Users/Props",
            "from u in docs.Users where u.props != null select new { _ = u.props.Select(p => CreateField(p.Key, p.Value, false, true)) }",
        );
        assert.deepEqual(idsOf(await byIndex("Users/Props").whereEquals("colour", "blue").all()), ["users/props-2"]);
        assert.deepEqual(idsOf(await byIndex("Users/Props").whereEquals("size", "l").all()), ["users/props-1"]);
        await put(
            "Users/PropsJs",
            "map('Users', u => ({ _: Object.keys(u.props || {}).map(k => createField(k, u.props[k], { storage: false, indexing: 'Exact' })) }))",
        );
        assert.deepEqual(idsOf(await byIndex("Users/PropsJs").whereEquals("weight", "5", true).all()), ["users/props-2"]);
    },

    async "added sources"() {
        await new Products_ByGrade().execute(store);
        await finds("Products", byIndex("Products/ByGrade").whereEquals("grade", "high"), p => p.PricePerUnit > 50);
        await finds(
            "Products",
            byIndex("Products/ByGrade").whereEquals("grade", "middle"),
            p => p.PricePerUnit > 20 && p.PricePerUnit <= 50,
        );
    },

    async "places in an index"() {
        await new Companies_ByPlace().execute(store);
        const box = "POLYGON((-10 36, 5 36, 5 44, -10 44, -10 36))";
        await finds(
            "Companies",
            byIndex("Companies/ByPlace").spatial("place", f => f.within(box)),
            ({ Address: { Location: l } }) => l && l.Longitude > -10 && l.Longitude < 5 && l.Latitude > 36 && l.Latitude < 44,
        );
    },

    async "indexes that queries make are widened"() {
        const query = () => store.openSession().query({ collection: "Shippers" }).waitForNonStaleResults();
        assert.equal((await query().whereEquals("Name", "Speedy Express").all()).length, 1);
        assert.equal((await query().whereStartsWith("Phone", "(503)").all()).length, 3);
        const names = await send(new GetIndexNamesOperation(0, 100));
        assert.ok(names.includes("Auto/Shippers/ByNameAndPhone"), names);
        let statistics;
        await query()
            .whereEquals("Name", "Speedy Express")
            .whereStartsWith("Phone", "(503)")
            .statistics(s => {
                statistics = s;
            })
            .all();
        assert.equal(statistics.indexName, "Auto/Shippers/ByNameAndPhone");
    },

    async "definitions are given as they were put"() {
        const map = "from u in docs.Users select new { u.name, u.age }";
        await put("Users/Given", map, {
            fields: { name: { storage: "Yes", indexing: "Search", analyzer: "SimpleAnalyzer" } },
            priority: "High",
            lockMode: "LockedIgnore",
        });
        const given = await send(new GetIndexOperation("Users/Given"));
        assert.deepEqual(
            [given.name, [...given.maps], given.type, given.priority, given.lockMode],
            ["Users/Given", [map], "Map", "High", "LockedIgnore"],
        );
        assert.deepEqual(
            [given.fields.name.storage, given.fields.name.indexing, given.fields.name.analyzer],
            ["Yes", "Search", "SimpleAnalyzer"],
        );
        assert.equal((await send(new GetIndexOperation("Orders/ByCustomer"))).type, "JavaScriptMapReduce");
        const names = await send(new GetIndexNamesOperation(0, 100));
        assert.ok(names.includes("Users/Given") && names.includes("Orders/ByTotal"));
        const definitions = await send(new GetIndexesOperation(0, 100));
        assert.deepEqual(definitions.map(one => one.name).sort(), [...names].sort());
        assert.equal((await send(new GetIndexOperation("Users/Nothing"))) ?? null, null);
    },

    async "has a definition changed?"() {
        const map = "from u in docs.Users select new { u.name }";
        await put("Users/Changed", map);
        const changed = (...more) => send(new IndexHasChangedOperation(definition("Users/Changed", ...more)));
        assert.equal(await changed(map), false);
        assert.equal(await changed(map.replace("u.name", "u.age")), true);
        assert.equal(await changed(map, { fields: { name: { storage: "Yes" } } }), true);
    },

    async "a definition that is put over another replaces it, and the old one answers until then"() {
        const map = field => `from u in docs.Users where u.old != null select new { Value = u.${field} }`;
        await save(["users/replace", new User({ old: "before", fresh: "after" })]);
        await put("Users/Replaced", map("old"));
        const found = async value => idsOf(await byIndex("Users/Replaced").whereEquals("Value", value).all());
        assert.deepEqual(await found("before"), ["users/replace"]);
        await put("Users/Replaced", map("fresh"));
        await eventually(async () => (await found("after")).length === 1);
        assert.deepEqual(await found("before"), []);
        const names = await send(new GetIndexNamesOperation(0, 100));
        assert.ok(!names.some(name => name.startsWith("ReplacementOf/")), names);
        const [first] = await put("Users/Replaced", map("fresh"));
        assert.equal(first.index, "Users/Replaced");
    },

    async "several classes are deployed at once"() {
        await IndexCreation.createIndexes([new Products_ByName(), new Orders_ByTotal(), new Orders_ByCustomer()], store);
        await finds("Orders", byIndex("Orders/ByTotal").whereGreaterThan("Total", 10000.5), o => worth(o) > 10000.5);
        await store.executeIndexes([new Products_ByGrade(), new Anything_ByCity()]);
        const names = await send(new GetIndexNamesOperation(0, 100));
        for (const name of ["Products/ByName", "Orders/ByTotal", "Orders/ByCustomer", "Products/ByGrade", "Anything/ByCity"]) {
            assert.ok(names.includes(name), name);
        }
    },

    async "delete, and delete what is not there"() {
        await put("Users/Deleted", "from u in docs.Users select new { u.name }");
        await send(new DeleteIndexOperation("Users/Deleted"));
        assert.ok(!(await send(new GetIndexNamesOperation(0, 100))).includes("Users/Deleted"));
        await assert.rejects(byIndex("Users/Deleted").all(), error("IndexDoesNotExistException"));
    },

    async "reset: it is built anew"() {
        await put("Users/Reset", "from u in docs.Users where u.old != null select new { u.old }");
        assert.equal((await byIndex("Users/Reset").all()).length, 1);
        await send(new ResetIndexOperation("Users/Reset"));
        assert.deepEqual(idsOf(await byIndex("Users/Reset").whereEquals("old", "before").all()), ["users/replace"]);
        await assert.rejects(send(new ResetIndexOperation("Users/Nothing")), error("IndexDoesNotExistException"));
    },

    async "stop and start one index, and all"() {
        await put("Users/Stopped", "from u in docs.Users where u.stop != null select new { u.stop }");
        await byIndex("Users/Stopped").all();
        const status = async () => (await send(new GetIndexingStatusOperation())).indexes.find(one => one.name === "Users/Stopped").status;
        assert.equal(await status(), "Running");
        await send(new StopIndexOperation("Users/Stopped"));
        assert.equal(await status(), "Paused");
        await save(["users/stop-1", new User({ stop: 1 })]);
        let statistics;
        const session = store.openSession();
        const found = await session
            .query({ indexName: "Users/Stopped" })
            .statistics(s => {
                statistics = s;
            })
            .all();
        assert.deepEqual([found.length, statistics.isStale], [0, true]);
        await send(new StartIndexOperation("Users/Stopped"));
        assert.deepEqual(idsOf(await byIndex("Users/Stopped").all()), ["users/stop-1"]);

        await send(new StopIndexingOperation());
        assert.equal((await send(new GetIndexingStatusOperation())).status, "Paused");
        await send(new StartIndexingOperation());
        assert.equal((await send(new GetIndexingStatusOperation())).status, "Running");
        assert.equal(await status(), "Running");
    },

    async "disable and enable"() {
        await put("Users/Disabled", "from u in docs.Users where u.off != null select new { u.off }");
        await byIndex("Users/Disabled").all();
        await send(new DisableIndexOperation("Users/Disabled"));
        await eventually(async () => (await send(new GetIndexStatisticsOperation("Users/Disabled"))).state === "Disabled");
        await save(["users/off-1", new User({ off: 1 })]);
        assert.equal((await send(new GetIndexStatisticsOperation("Users/Disabled"))).status, "Disabled");
        await send(new EnableIndexOperation("Users/Disabled"));
        await eventually(async () => (await send(new GetIndexStatisticsOperation("Users/Disabled"))).state === "Normal");
        assert.deepEqual(idsOf(await byIndex("Users/Disabled").all()), ["users/off-1"]);
    },

    async "lock: a change is passed over, or refused"() {
        const map = field => `from u in docs.Users select new { u.${field} }`;
        await put("Users/Locked", map("one"));
        await send(new SetIndexesLockOperation("Users/Locked", "LockedIgnore"));
        await put("Users/Locked", map("two"));
        assert.deepEqual([...(await send(new GetIndexOperation("Users/Locked"))).maps], [map("one")]);
        await send(new SetIndexesLockOperation("Users/Locked", "LockedError"));
        assert.equal((await send(new GetIndexOperation("Users/Locked"))).lockMode, "LockedError");
        await assert.rejects(put("Users/Locked", map("two")), thrown => /lock/i.test(thrown.message));
        await send(new SetIndexesLockOperation({ indexNames: ["Users/Locked"], mode: "Unlock" }));
        await put("Users/Locked", map("two"));
        await eventually(async () => [...(await send(new GetIndexOperation("Users/Locked"))).maps][0] === map("two"));
    },

    async priority() {
        await put("Users/Priority", "from u in docs.Users select new { u.name }");
        await send(new SetIndexesPriorityOperation("Users/Priority", "Low"));
        assert.equal((await send(new GetIndexOperation("Users/Priority"))).priority, "Low");
        await send(new SetIndexesPriorityOperation({ indexNames: ["Users/Priority"], priority: "High" }));
        assert.equal((await send(new GetIndexStatisticsOperation("Users/Priority"))).priority, "High");
    },

    async "errors: of which document, and forgetting them"() {
        await save(["users/zero", new User({ divisor: 0 })], ["users/four", new User({ divisor: 4 })]);
        await put("Users/Errors", "from u in docs.Users where u.divisor != null select new { Part = 100 / u.divisor }");
        assert.deepEqual(idsOf(await byIndex("Users/Errors").whereEquals("Part", 25).all()), ["users/four"]);
        let errors;
        await eventually(async () => {
            [errors] = await send(new GetIndexErrorsOperation(["Users/Errors"]));
            return errors.errors.length > 0;
        });
        assert.equal(errors.name, "Users/Errors");
        assert.deepEqual([errors.errors[0].document, errors.errors[0].action], ["users/zero", "Map"]);
        assert.match(errors.errors[0].error, /divide by zero/);
        assert.equal((await send(new GetIndexStatisticsOperation("Users/Errors"))).errorsCount, errors.errors.length);
        await send(new DeleteIndexErrorsOperation(["Users/Errors"]));
        [errors] = await send(new GetIndexErrorsOperation(["Users/Errors"]));
        assert.deepEqual(errors.errors, []);
    },

    async statistics() {
        await byIndex("Orders/ByTotal").all();
        const statistics = await send(new GetIndexStatisticsOperation("Orders/ByTotal"));
        assert.deepEqual(
            [
                statistics.name,
                statistics.type,
                statistics.entriesCount,
                statistics.isStale ?? statistics.stale,
                statistics.state,
                statistics.priority,
                statistics.lockMode,
            ],
            ["Orders/ByTotal", "Map", 830, false, "Normal", "Normal", "Unlock"],
        );
        const every = await send(new GetIndexesStatisticsOperation());
        const names = await send(new GetIndexNamesOperation(0, 100));
        assert.deepEqual(every.map(one => one.name).sort(), [...names].sort());
        assert.equal(every.find(one => one.name === "Orders/ByCustomer").type, "JavaScriptMapReduce");
    },

    async "terms, page by page"() {
        await put("Companies/ByCountry", "from c in docs.Companies select new { c.Address.Country }");
        await byIndex("Companies/ByCountry").all();
        const expected = [...new Set(Object.values(await all("Companies")).map(c => c.Address.Country.toLowerCase()))].sort();
        const first = await send(new GetTermsOperation("Companies/ByCountry", "Country", null, 5));
        assert.deepEqual(first, expected.slice(0, 5));
        assert.deepEqual(await send(new GetTermsOperation("Companies/ByCountry", "Country", first.at(-1), 100)), expected.slice(5));
    },

    async "what is saved is indexed before the answer, if that is asked for"() {
        await put("Users/Waited", "from u in docs.Users where u.wait != null select new { u.wait }");
        await byIndex("Users/Waited").all();
        for (let i = 1; i <= 10; i++) {
            const session = store.openSession();
            session.advanced.waitForIndexesAfterSaveChanges(
                i % 2 ? undefined : { indexes: ["Users/Waited"], timeout: 20_000, throwOnTimeout: true },
            );
            await session.store(new User({ wait: i }), `users/wait-${i}`);
            await session.saveChanges();
            assert.equal(await store.openSession().query({ indexName: "Users/Waited" }).count(), i);
        }
        await send(new StopIndexOperation("Users/Waited"));
        const session = store.openSession();
        session.advanced.waitForIndexesAfterSaveChanges({ indexes: ["Users/Waited"], timeout: 300, throwOnTimeout: true });
        await session.store(new User({ wait: 11 }), "users/wait-11");
        await assert.rejects(session.saveChanges(), thrown => /could not verify|timeout/i.test(thrown.message + thrown.name));
        const patient = store.openSession();
        patient.advanced.waitForIndexesAfterSaveChanges({ indexes: ["Users/Waited"], timeout: 300, throwOnTimeout: false });
        await patient.store(new User({ wait: 12 }), "users/wait-12");
        await patient.saveChanges();
        await send(new StartIndexOperation("Users/Waited"));
        assert.equal((await byIndex("Users/Waited").all()).length, 12);
    },

    async "changes of indexes are told"() {
        const changes = store.changes();
        const [one, every] = [[], []];
        try {
            const observed = [changes.forIndex("Users/Told"), changes.forAllIndexes()];
            observed[0].on("data", change => one.push(change));
            observed[1].on("data", change => every.push(change));
            await Promise.all(observed.map(observable => observable.ensureSubscribedNow()));
            await put("Users/Told", "from u in docs.Users where u.told != null select new { u.told }");
            await save(["users/told", new User({ told: 1 })]);
            await byIndex("Users/Told").all();
            await send(new SetIndexesPriorityOperation("Users/Told", "Low"));
            await send(new DeleteIndexOperation("Users/Told"));
            const types = list => list.map(change => change.type);
            await eventually(() =>
                ["IndexAdded", "BatchCompleted", "PriorityChanged", "IndexRemoved"].every(type => types(one).includes(type)),
            );
            assert.ok(one.every(change => change.name === "Users/Told"));
            await eventually(() => every.some(change => change.name === "Users/Told" && change.type === "IndexRemoved"));
        } finally {
            changes.dispose();
        }
    },

    async "what cannot be compiled is refused, and names the place"() {
        for (const map of ["from u in docs.Users select new { A = u.Foo( }", "map('Users', u => ({ a: ", "nonsense"]) {
            // RavenDB has other types for what it cannot read as JavaScript.
            await assert.rejects(put("Users/Wrong", map), thrown =>
                /^(IndexCompilationException|IndexCreationException|RavenException)$/.test(thrown.name),
            );
        }
        assert.ok(!(await send(new GetIndexNamesOperation(0, 100))).includes("Users/Wrong"));
    },

    async "a query of fields that an index has not is refused"() {
        await assert.rejects(byIndex("Orders/ByTotal").whereEquals("Nope", 1).all(), thrown =>
            /'Nope' is not indexed/.test(thrown.message),
        );
        await assert.rejects(raw("from index 'Orders/ByTotal' order by Nope").all(), thrown =>
            /'Nope' is not indexed/.test(thrown.message),
        );
    },

    async "delete the database"() {
        await deleteDatabase(store);
    },
};

await run(tests, store);
