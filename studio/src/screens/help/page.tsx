// The documentation: the pages of `docs/SUMMARY.md`, with contents and search beside them. They are files of the studio.
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { load, parts } from "virtual:book";
import { counted } from "../../format/format";
import { FilterField } from "../../shell/FilterField";
import { goThrough } from "../../shell/roving";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { Blocks } from "./Blocks";
import { marked, search, sectionsOf, wordsOf } from "./search";
import { plain, type Block } from "./tree";
import styles from "./help.module.css";

const route = getRouteApi("/help");

const PAGES = parts.flatMap(({ pages }) => pages);
const FIRST = "docs/README";
/** Sections that a search shows. */
const FOUND_COUNT = 40;
/** Characters from which on is searched. */
const LENGTH_MIN = 2;

const pageQuery = (name: string) => ({
  queryKey: ["help", name],
  queryFn: async () => (await load[name]!()).default,
  staleTime: Infinity,
  gcTime: Infinity,
  retry: false,
});

export function Help() {
  const { page = FIRST, at, find = "" } = route.useSearch();
  const navigate = useNavigate();
  const isNarrow = useMediaQuery("(max-width: 860px)") ?? false;
  const isSearching = find.trim().length >= LENGTH_MIN;
  const contents = <Contents page={page} />;
  return (
    <div className={styles.split}>
      <div className={styles.side}>
        <FilterField
          label="Search the documentation"
          placeholder="Search the documentation"
          value={find}
          onChange={(typed) =>
            void navigate({
              to: "/help",
              search: { page, ...(at === undefined ? {} : { at }), ...(typed === "" ? {} : { find: typed }) },
              replace: true,
            })
          }
        />
        {isNarrow ? (
          <details key={page} className={styles.folded}>
            <summary>Contents</summary>
            {contents}
          </details>
        ) : (
          contents
        )}
      </div>
      {isSearching ? <Results typed={find.trim()} /> : <Page key={page} name={page} at={at} />}
    </div>
  );
}

function Contents({ page }: { page: string }) {
  return (
    <nav className={styles.contents} aria-label="Contents" onKeyDown={goThrough}>
      {parts.map((part) => (
        <div key={part.title}>
          {part.title !== "" && <h2>{part.title}</h2>}
          {part.pages.map((entry) => (
            <Link
              key={entry.name}
              to="/help"
              search={{ page: entry.name }}
              className={styles.entry}
              data-depth={entry.depth}
              tabIndex={entry.name === page ? 0 : -1}
              aria-current={entry.name === page ? "page" : undefined}
              activeProps={{}}
            >
              {entry.title}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}

function Page({ name, at }: { name: string; at: string | undefined }) {
  const number = PAGES.findIndex((entry) => entry.name === name);
  const entry = PAGES[number];
  const { data, error, refetch } = useQuery({ ...pageQuery(name), enabled: entry !== undefined });
  const body = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!data) return;
    const heading = at === undefined ? undefined : body.current?.querySelector<HTMLElement>(`[data-at="${CSS.escape(at)}"]`);
    heading?.scrollIntoView({ block: "start" });
    heading?.focus({ preventScroll: true });
  }, [data, at]);
  if (!entry) {
    return (
      <Screen title="Help">
        <Empty icon="help" title="There is no such page" action={<Link to="/help">Go to the first page</Link>}>
          The address may belong to another version of the studio.
        </Empty>
      </Screen>
    );
  }
  const [first, ...rest] = data ?? [];
  const hasTitle = first?.kind === "heading" && first.level === 1;
  return (
    <Screen title={hasTitle ? plain(first.children) : entry.title} about="Help">
      {data ? (
        <article ref={body} className={styles.page}>
          <OnThisPage name={name} blocks={rest} />
          <Blocks blocks={hasTitle ? rest : data} />
          <nav className={styles.turn} aria-label="Pages before and after">
            {[PAGES[number - 1], PAGES[number + 1]].map((other, place) =>
              other ? (
                <Link key={other.name} to="/help" search={{ page: other.name }} data-next={place === 1 || undefined}>
                  <span>{place === 0 ? "Previous" : "Next"}</span>
                  {other.title}
                </Link>
              ) : null,
            )}
          </nav>
        </article>
      ) : error ? (
        <Failed what="The page cannot be loaded" error={error} retry={() => void refetch()} />
      ) : (
        <Loading what="the page" />
      )}
    </Screen>
  );
}

/** From so many headings on they are listed. */
const LISTED_FROM_COUNT = 4;

function OnThisPage({ name, blocks }: { name: string; blocks: readonly Block[] }) {
  const headings = blocks.flatMap((block) => (block.kind === "heading" && block.level === 2 ? [block] : []));
  if (headings.length < LISTED_FROM_COUNT) return null;
  return (
    <details className={styles.headings}>
      <summary>{`On this page (${headings.length})`}</summary>
      <ul>
        {headings.map(({ at, children }) => (
          <li key={at}>
            <Link to="/help" search={{ page: name, at }} activeProps={{}}>
              {plain(children)}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Results({ typed }: { typed: string }) {
  // All pages, each once: together they are smaller than an index of their words beside them.
  const { data, error, refetch } = useQuery({
    queryKey: ["help sections"],
    queryFn: async () => {
      const pages = await Promise.all(
        PAGES.map(async ({ name, title }) => ({ name, title, blocks: (await load[name]!()).default })),
      );
      return pages.flatMap(({ name, title, blocks }) => sectionsOf(name, title, blocks));
    },
    staleTime: Infinity,
    retry: false,
  });
  const found = useMemo(() => search(data ?? [], typed, FOUND_COUNT), [data, typed]);
  const words = wordsOf(typed);
  return (
    <Screen title="Help" about={<span role="status">{data && `${counted(found.length, "section")} with “${typed}”`}</span>}>
      {error ? (
        <Failed what="The documentation cannot be searched" error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading what="the documentation" />
      ) : found.length === 0 ? (
        <Empty icon="search" title="Nothing was found">
          No section of the documentation has all of these words.
        </Empty>
      ) : (
        <ul className={styles.found} aria-label="Sections found">
          {found.map(({ page, pageTitle, at, heading, excerpt }) => (
            <li key={`${page} ${at}`}>
              <Link to="/help" search={at === undefined ? { page } : { page, at }}>
                <Marked text={heading} words={words} />
              </Link>
              {heading !== pageTitle && <span className="soft">{pageTitle}</span>}
              <p>
                <Marked text={excerpt} words={words} />
              </p>
            </li>
          ))}
        </ul>
      )}
    </Screen>
  );
}

function Marked({ text, words }: { text: string; words: readonly string[] }) {
  return marked(text, words).map((piece, at) => (piece.isFound ? <mark key={at}>{piece.text}</mark> : piece.text));
}
