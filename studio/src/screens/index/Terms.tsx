// The terms of a field in order, page by page, from any prefix on.
import { Button, Autocomplete, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "../../api/indexes";
import { Empty, Failed, Loading } from "../../shell/states";
import styles from "./index.module.css";

const PAGE_COUNT = 200;
/** Fields that have no terms: ids are looked up, and `_` stands for fields that a map makes. */
const WITHOUT_TERMS = ["id()", "_"];

export function Terms({ database, name }: { database: string; name: string }) {
  const [chosen, setChosen] = useState<string>();
  const [typed, setTyped] = useState("");
  const [from] = useDebouncedValue(typed.trim(), 200);
  const fields = useQuery({
    queryKey: ["index-fields", database, name],
    queryFn: ({ signal }) => api.fields(database, name, signal),
  });
  const all = (fields.data ?? []).map((field) => field.Name).filter((field) => !WITHOUT_TERMS.includes(field));
  // Any other can be typed.
  const [typedField] = useDebouncedValue(chosen, 200);
  const field = (chosen === undefined ? all[0] : typedField?.trim()) || undefined;
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
