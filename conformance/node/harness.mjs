// What the scripts of this folder share: where the server is, a database of their own, and how tests are run and counted.
//
// A script is called as `node SCRIPT.mjs URL [--reference]`. It has an object of tests by name, which `run` runs in order. Each
// prints `ok` or `FAILED` with the reason; the last line is `N passed, M failed`, and the exit code is 1 if any failed.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import path from "node:path";
import { CreateDatabaseOperation, DeleteDatabasesOperation, DocumentStore, GetDatabaseNamesOperation } from "ravendb";

const TEST_SECONDS_MAX = 60;
const script = path.basename(process.argv[1], ".mjs");

/** The server, without a slash at the end. */
export const url = process.argv[2]?.replace(/\/$/, "");
/** Whether the server is RavenDB itself. */
export const isReference = process.argv.includes("--reference");
/** A database that nobody else has. */
export const database = `${script}-node-${randomUUID().slice(0, 8)}`;

if (!url) {
    console.error(`usage: node ${script}.mjs URL`);
    process.exit(2);
}

/** A store of the script's database; `types` are the classes of its entities. */
export function openStore(...types) {
    const opened = new DocumentStore(url, database);
    for (const type of types) {
        opened.conventions.registerEntityType(type);
    }
    return opened.initialize();
}

/** Creates the script's database, and puts the Northwind sample into it. */
export async function createNorthwind(store) {
    // Of RavenDB's two search engines, the one that has all of these queries.
    const engine = { "Indexing.Auto.SearchEngineType": "Lucene", "Indexing.Static.SearchEngineType": "Lucene" };
    const settings = isReference ? engine : {};
    await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: database, settings }));
    const answer = await fetch(`${url}/databases/${database}/studio/sample-data?operateOnTypes=Documents`, { method: "POST" });
    assert.ok(answer.ok, await answer.text());
}

/** Deletes the script's database. */
export async function deleteDatabase(store) {
    await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [database], hardDelete: true }));
    const names = await store.maintenance.server.send(new GetDatabaseNamesOperation(0, 1000));
    assert.ok(!names.includes(database));
}

/** All documents of a collection of the sample by id, loaded once. */
export async function documentsOf(store, collection) {
    if (!loaded[collection]) {
        loaded[collection] = {};
        const session = store.openSession();
        for await (const item of await session.advanced.stream(`${collection.toLowerCase()}/`)) {
            loaded[collection][item.id] = item.document;
        }
    }
    return loaded[collection];
}
const loaded = {};

/** The ids of results, in order of their texts. */
export const idsOf = results => results.map(result => result.id ?? result["@metadata"]["@id"]).sort();

/** Waits until `condition` gives a true value, for ten seconds at most. */
export async function eventually(condition) {
    for (const end = Date.now() + 10_000; Date.now() < end; await new Promise(done => setTimeout(done, 20))) {
        if (await condition()) {
            return;
        }
    }
    assert.fail("did not become true within 10 s");
}

/** Runs the tests, closes the store, and ends the process. */
export async function run(tests, store) {
    let [passed, failed] = [0, 0];
    for (const [name, test] of Object.entries(tests)) {
        try {
            let timer;
            const late = new Promise((_, reject) => {
                const error = new Error(`did not end within ${TEST_SECONDS_MAX} s`);
                timer = setTimeout(() => reject(error), TEST_SECONDS_MAX * 1000);
            });
            await Promise.race([test(), late]).finally(() => clearTimeout(timer));
            passed += 1;
            console.log(`ok      node, ${script}: ${name}`);
        } catch (error) {
            failed += 1;
            const lines = [...(error.stack ?? "").matchAll(new RegExp(`/${script}\\.mjs:(\\d+)`, "g"))].map(found => found[1]);
            const reason = `${error.name}: ${error.message}`.split("\n").slice(0, 30).join("\n        ");
            console.log(`FAILED  node, ${script}: ${name}${lines.length ? ` (lines ${lines.join(", ")})` : ""}\n        ${reason}`);
        }
    }
    store.dispose();
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed === 0 ? 0 : 1);
}
