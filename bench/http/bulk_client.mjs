// Bulk insert with the published Node.js client: node bulk_client.mjs URL DATABASE COUNT
// Prints one line of JSON. `busy` near 1 says that the client, not the server, is the limit.
import { createRequire } from "node:module";

const require = createRequire(process.env.CLIENT_FOLDER + "/");
const { DocumentStore } = require("ravendb");
const [url, database, count] = process.argv.slice(2);

class User {
  constructor(n) {
    this.name = `User ${n}`;
    this.email = `user${n}@example.com`;
    this.age = (n % 80) + 18;
    this.city = `city-${n % 25000}`;
    this.country = `country-${n % 100}`;
    this.score = (n % 1000) + 0.5;
    this.active = n % 2 === 0;
    this.tags = [`t${n % 7}`, `t${n % 11}`, `t${n % 13}`];
    this.bio = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor";
  }
}

const store = new DocumentStore(url, database);
store.initialize();
const cpu = process.cpuUsage();
const begin = process.hrtime.bigint();
const bulk = store.bulkInsert();
for (let n = 1; n <= Number(count); n++) await bulk.store(new User(n), `users/${n}`);
await bulk.finish();
const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ seconds, busy: (user + system) / 1e6 / seconds }));
store.dispose();
