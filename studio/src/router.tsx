// The routes. They stand behind the `#` of the address, so that the server needs to know one page only.
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { parseSearch, stringifySearch } from "./search";
import { NotFound, ScreenFailed, ScreenPending, Shell } from "./shell/Shell";

/** A parameter of the address, or undefined. All of them are texts (`search.ts`). */
const text = (value: unknown) => (typeof value === "string" ? value : undefined);

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/databases" });
  },
});

const databases = createRoute({
  getParentRoute: () => root,
  path: "/databases",
  component: lazyRouteComponent(() => import("./screens/databases/page"), "Databases"),
});

const server = createRoute({
  getParentRoute: () => root,
  path: "/server",
  validateSearch: (search): { tab?: string; level?: string; text?: string } =>
    defined({ tab: text(search["tab"]), level: text(search["level"]), text: text(search["text"]) }),
  component: lazyRouteComponent(() => import("./screens/server/page"), "ServerScreen"),
});

const access = createRoute({
  getParentRoute: () => root,
  path: "/access",
  validateSearch: (search): { tab?: string } => defined({ tab: text(search["tab"]) }),
  component: lazyRouteComponent(() => import("./screens/access/page"), "Access"),
});

const safety = createRoute({
  getParentRoute: () => root,
  path: "/safety",
  component: lazyRouteComponent(() => import("./screens/safety/page"), "Safety"),
});

const restore = createRoute({
  getParentRoute: () => root,
  path: "/restore",
  // `folder`: what is looked through. `operation`: what was begun, `name`: the new database; without a name a backup is verified.
  validateSearch: (search): { folder?: string; operation?: string; name?: string } =>
    defined({ folder: text(search["folder"]), operation: text(search["operation"]), name: text(search["name"]) }),
  component: lazyRouteComponent(() => import("./screens/restore/page"), "Restore"),
});

const about = createRoute({
  getParentRoute: () => root,
  path: "/about",
  component: lazyRouteComponent(() => import("./screens/about/page"), "About"),
});

const help = createRoute({
  getParentRoute: () => root,
  path: "/help",
  // `at`: a heading of the page. `find`: what is searched for.
  validateSearch: (search): { page?: string; at?: string; find?: string } =>
    defined({ page: text(search["page"]), at: text(search["at"]), find: text(search["find"]) }),
  component: lazyRouteComponent(() => import("./screens/help/page"), "Help"),
});

const database = createRoute({ getParentRoute: () => root, path: "/databases/$database" });

const documents = createRoute({
  getParentRoute: () => database,
  path: "/documents",
  validateSearch: (search): { collection?: string; tab?: string } =>
    defined({ collection: text(search["collection"]), tab: text(search["tab"]) }),
  component: lazyRouteComponent(() => import("./screens/documents/page"), "Documents"),
});

const document = createRoute({
  getParentRoute: () => database,
  path: "/document",
  validateSearch: (search): { id?: string; cloneOf?: string; collection?: string } =>
    defined({ id: text(search["id"]), cloneOf: text(search["cloneOf"]), collection: text(search["collection"]) }),
  component: lazyRouteComponent(() => import("./screens/document/page"), "DocumentScreen"),
});

const query = createRoute({
  getParentRoute: () => database,
  path: "/query",
  validateSearch: (search): { q?: string; p?: string; as?: string; run?: string } =>
    defined({ q: text(search["q"]), p: text(search["p"]), as: text(search["as"]), run: text(search["run"]) }),
  component: lazyRouteComponent(() => import("./screens/query/page"), "QueryScreen"),
});

const indexes = createRoute({
  getParentRoute: () => database,
  path: "/indexes",
  component: lazyRouteComponent(() => import("./screens/indexes/page"), "Indexes"),
});

const advice = createRoute({
  getParentRoute: () => database,
  path: "/advice",
  validateSearch: (search): { unused?: string } => defined({ unused: text(search["unused"]) }),
  component: lazyRouteComponent(() => import("./screens/advice/page"), "AdviceScreen"),
});

const index = createRoute({
  getParentRoute: () => database,
  path: "/index",
  // `merge`: automatic indexes that a new definition replaces, a line each. `docs`: ids, a line each. `field` and `after`: where the terms begin.
  validateSearch: (search): { name?: string; merge?: string; tab?: string; docs?: string; field?: string; after?: string } =>
    defined({
      name: text(search["name"]),
      merge: text(search["merge"]),
      tab: text(search["tab"]),
      docs: text(search["docs"]),
      field: text(search["field"]),
      after: text(search["after"]),
    }),
  component: lazyRouteComponent(() => import("./screens/index/page"), "IndexScreen"),
});

const compareExchange = createRoute({
  getParentRoute: () => database,
  path: "/compare-exchange",
  // `prefix`: how the keys begin. `key`: the value that is open.
  validateSearch: (search): { prefix?: string; key?: string } =>
    defined({ prefix: text(search["prefix"]), key: text(search["key"]) }),
  component: lazyRouteComponent(() => import("./screens/compare-exchange/page"), "CompareExchange"),
});

const constraints = createRoute({
  getParentRoute: () => database,
  path: "/constraints",
  component: lazyRouteComponent(() => import("./screens/constraints/page"), "Constraints"),
});

const subscriptions = createRoute({
  getParentRoute: () => database,
  path: "/subscriptions",
  component: lazyRouteComponent(() => import("./screens/subscriptions/page"), "Subscriptions"),
});

const revisions = createRoute({
  getParentRoute: () => database,
  path: "/revisions",
  // `id`: the document; the deleted ones without it. `at`: the change vector of a revision, `view`: how it is shown.
  validateSearch: (search): { id?: string; at?: string; view?: string } =>
    defined({ id: text(search["id"]), at: text(search["at"]), view: text(search["view"]) }),
  component: lazyRouteComponent(() => import("./screens/revisions/page"), "Revisions"),
});

const feed = createRoute({
  getParentRoute: () => database,
  path: "/feed",
  // `kinds`: which are shown, with commas between them; all without it.
  validateSearch: (search): { kinds?: string; collection?: string; prefix?: string } =>
    defined({ kinds: text(search["kinds"]), collection: text(search["collection"]), prefix: text(search["prefix"]) }),
  component: lazyRouteComponent(() => import("./screens/feed/page"), "Feed"),
});

const statistics = createRoute({
  getParentRoute: () => database,
  path: "/statistics",
  component: lazyRouteComponent(() => import("./screens/statistics/page"), "Statistics"),
});

const operations = createRoute({
  getParentRoute: () => database,
  path: "/operations",
  component: lazyRouteComponent(() => import("./screens/operations/page"), "Operations"),
});

const lifetimes = createRoute({
  getParentRoute: () => database,
  path: "/lifetimes",
  component: lazyRouteComponent(() => import("./screens/lifetimes/page"), "Lifetimes"),
});

const backups = createRoute({
  getParentRoute: () => database,
  path: "/backups",
  component: lazyRouteComponent(() => import("./screens/backups/page"), "Backups"),
});

function defined<T extends Record<string, string | undefined>>(search: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
}

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    databases,
    server,
    access,
    safety,
    restore,
    about,
    help,
    database.addChildren([
      documents,
      document,
      query,
      indexes,
      advice,
      index,
      compareExchange,
      constraints,
      subscriptions,
      revisions,
      feed,
      statistics,
      operations,
      lifetimes,
      backups,
    ]),
  ]),
  history: createHashHistory(),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: ScreenFailed,
  // On a slow network a click is answered before the screen's file has come.
  defaultPendingComponent: ScreenPending,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** The tab of the query screen that an entry of the history belongs to. */
    queryTab?: string;
  }
}
