// A field that goes to a document by its id, and completes ids while they are typed.
import { Autocomplete } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { existing, idsByPrefix } from "../../api/documents";
import { failed } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import styles from "./documents.module.css";

/** Ids that are offered. */
const ID_COUNT = 10;

export function GoTo({ database }: { database: string }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [missing, setMissing] = useState<string>();
  const [prefix] = useDebouncedValue(typed.trim(), 120);
  const { data } = useQuery({
    queryKey: ["ids", database, prefix],
    queryFn: ({ signal }) => idsByPrefix(database, prefix, ID_COUNT, signal),
    enabled: prefix !== "",
    placeholderData: keepPreviousData,
  });
  const wanted = typed.trim().toLowerCase();
  const ids = wanted === "" ? [] : (data ?? []).filter((id) => id.toLowerCase().startsWith(wanted));
  const go = async (id: string) => {
    if (id === "") return;
    try {
      const [found] = await existing(database, [id]);
      if (!found) return setMissing(id);
      void navigate({ to: "/databases/$database/document", params: { database }, search: { id: found.id } });
    } catch (error) {
      failed("The document was not looked up", error);
    }
  };
  // While a list is shown, its head says that there is no such document; else a box below the field does.
  const problem = missing === undefined ? undefined : `No document '${missing}'.`;
  const isListed = ids.length > 0;
  return (
    <div className={styles.goTo}>
      <Autocomplete
        size="xs"
        classNames={{ dropdown: styles.ids! }}
        comboboxProps={{ position: "bottom-start" }}
        placeholder="Go to id"
        aria-label="Go to id"
        leftSection={<Icon name="search" size={13} />}
        value={typed}
        data={problem !== undefined && isListed ? [{ group: `${problem} These begin like it:`, items: ids }] : ids}
        // The server has chosen them already.
        filter={({ options }) => options}
        onChange={(value) => {
          setTyped(value);
          setMissing(undefined);
        }}
        onOptionSubmit={(id) => void go(id)}
        onKeyDown={(event) => {
          // An option that is chosen by arrows goes by itself.
          if (event.key === "Enter" && !event.currentTarget.getAttribute("aria-activedescendant")) void go(typed.trim());
        }}
        error={problem !== undefined}
        withScrollArea={false}
        spellCheck={false}
        autoComplete="off"
      />
      {problem !== undefined && (
        <div role="alert" className={isListed ? styles.spoken : styles.missing}>
          {problem}
        </div>
      )}
    </div>
  );
}
