// The terms of a field in order, page by page, from any place on; each leads to the query for it.
import { Button, Autocomplete, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { quoted } from "../../api/documents";
import * as api from "../../api/indexes";
import { count } from "../../format/format";
import { Empty, Failed, Loading } from "../../shell/states";
import styles from "./index.module.css";

const route = getRouteApi("/databases/$database/index");

const PAGE_COUNT = 200;
/** Fields that have no terms: ids are looked up, and `_` stands for fields that a map makes. */
const WITHOUT_TERMS = ["id()", "_"];

export function Terms({ database, name }: { database: string; name: string }) {
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const [chosen, setChosen] = useState(address.field);
  const [typed, setTyped] = useState(address.after ?? "");
  const [from] = useDebouncedValue(typed.trim(), 200);
  const fields = useQuery(api.fieldsQuery(database, name));
  const all = (fields.data ?? []).map((field) => field.Name).filter((field) => !WITHOUT_TERMS.includes(field));
  // Any other can be typed.
  const [typedField] = useDebouncedValue(chosen, 200);
  const field = (chosen === undefined ? all[0] : typedField?.trim()) || undefined;
  useEffect(() => {
    const place = { ...(chosen !== undefined && field !== undefined ? { field } : {}), ...(from === "" ? {} : { after: from }) };
    void navigate({ search: { name, tab: "terms", ...place }, replace: true });
  }, [navigate, name, chosen, field, from]);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ["terms", database, name, field, from],
    queryFn: ({ pageParam, signal }) => api.terms(database, name, field!, pageParam || undefined, PAGE_COUNT, signal),
    initialPageParam: from,
    getNextPageParam: (page) => (page.length < PAGE_COUNT ? undefined : page.at(-1)?.term),
    enabled: field !== undefined,
  });
  const terms = data?.pages.flat();
  return (
    <div className={styles.terms}>
      <div className={styles.termsHead}>
        <Autocomplete
          label="Field"
          data={all}
          value={chosen ?? all[0] ?? ""}
          spellCheck={false}
          onChange={setChosen}
          // All are offered while nothing was typed.
          filter={({ options, search }) =>
            options.filter(
              (option) => all.includes(search) || ("label" in option && option.label.toLowerCase().includes(search.toLowerCase())),
            )
          }
          w={240}
        />
        <TextInput
          label="After"
          placeholder="any term"
          value={typed}
          spellCheck={false}
          onChange={(event) => setTyped(event.currentTarget.value)}
          w={240}
        />
      </div>
      {fields.error && field === undefined ? (
        <Failed what="The fields cannot be read" error={fields.error} retry={() => void fields.refetch()} />
      ) : error ? (
        <Failed what="The terms cannot be read" error={error} retry={() => void refetch()} />
      ) : terms === undefined ? (
        field === undefined && !fields.isLoading ? (
          <Empty icon="index" title="No fields">
            An index without entries has no terms.
          </Empty>
        ) : (
          <Loading what="terms" />
        )
      ) : terms.length === 0 ? (
        <Empty icon="search" title="No terms here">
          {`The field '${field}' has none${from ? ` after '${from}'` : ""}.`}
        </Empty>
      ) : (
        <>
          <ol className={styles.termList} aria-label={`Terms of ${field}`}>
            {terms.map(({ term, count: entries }) => (
              <li key={term}>
                {isWhole(term) ? (
                  <Link
                    to="/databases/$database/query"
                    params={{ database }}
                    search={{ q: queryFor(name, field!, term) }}
                    title={`Query for ${term === "" ? "the empty text" : term}`}
                  >
                    {term === "" ? <i className="soft">(empty text)</i> : term}
                  </Link>
                ) : (
                  <span title="Long terms are cut off">{term}</span>
                )}
                <span className="number soft">{count(entries)}</span>
              </li>
            ))}
          </ol>
          {hasNextPage && (
            <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetching} style={{ alignSelf: "flex-start" }}>
              More
            </Button>
          )}
        </>
      )}
    </div>
  );
}

/** What a null is called among terms. */
const NULL_TERM = "NULL_VALUE";

/** Of long texts an index keeps the beginning only. */
function isWhole(term: string): boolean {
  return !term.endsWith("…");
}

/** Asks for the entries that have a term. */
function queryFor(index: string, field: string, term: string): string {
  const path = field
    .split(".")
    .map((part) => (/^[A-Za-z_]\w*$/.test(part) ? part : quoted(part)))
    .join(".");
  return `from index ${quoted(index)} where ${path} = ${term === NULL_TERM ? "null" : quoted(term)}`;
}
