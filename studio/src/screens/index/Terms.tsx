// The terms of a field in order, page by page, from any prefix on.
import { Button, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { run } from "../../api/queries";
import * as api from "../../api/indexes";
import { Empty, Failed, Loading } from "../../shell/states";
import { quotedIfNeeded } from "../query/text";
import styles from "./index.module.css";

const PAGE_COUNT = 200;

export function Terms({ database, name, known }: { database: string; name: string; known: readonly string[] }) {
  const [chosen, setChosen] = useState<string>();
  const [typed, setTyped] = useState("");
  const [from] = useDebouncedValue(typed.trim(), 200);
  // Which fields an index has is told by an entry of it.
  const { data: fields } = useQuery({
    queryKey: ["index-fields", database, name],
    queryFn: async ({ signal }) => {
      const answer = await run(database, { text: `from index ${quotedIfNeeded(name)}`, pageSize: 1 }, signal);
      return Object.keys(answer.results[0] ?? {}).filter((field) => !field.startsWith("@"));
    },
    enabled: known.length === 0,
    retry: false,
  });
  const all = known.length > 0 ? [...known] : (fields ?? []);
  const field = chosen ?? all[0];
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ["terms", database, name, field, from],
    queryFn: ({ pageParam, signal }) => api.terms(database, name, field!, pageParam || undefined, PAGE_COUNT, signal),
    initialPageParam: from,
    getNextPageParam: (page) => (page.length < PAGE_COUNT ? undefined : page.at(-1)),
    enabled: field !== undefined,
  });
  const terms = data?.pages.flat();
  return (
    <div className={styles.terms}>
      <div className={styles.termsHead}>
        <Select
          label="Field"
          data={all}
          value={field ?? null}
          onChange={(value) => setChosen(value ?? undefined)}
          searchable
          onSearchChange={() => undefined}
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
      {error ? (
        <Failed what="The terms cannot be read" error={error} retry={() => void refetch()} />
      ) : terms === undefined ? (
        field === undefined ? (
          <Empty icon="index" title="No field is known">
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
            {terms.map((term) => (
              <li key={term} title={term}>
                {term}
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
