// One index: its definition, its terms, its errors; or a new one.
import { SegmentedControl } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ApiError } from "../../api/http";
import * as api from "../../api/indexes";
import { count, rate } from "../../format/format";
import { Confirm, type Question } from "../../shell/Confirm";
import { Screen } from "../../shell/Screen";
import { Failed, Loading } from "../../shell/states";
import { IndexMenu } from "../indexes/page";
import { useSpeeds } from "../indexes/speed";
import { kindOf, REPLACEMENT, stateOf } from "../indexes/state";
import badges from "../indexes/indexes.module.css";
import { DefinitionEditor } from "./DefinitionEditor";
import { Errors } from "./Errors";
import { distinct, MapReduce } from "./MapReduce";
import { Terms } from "./Terms";
import styles from "./index.module.css";

const route = getRouteApi("/databases/$database/index");

type Tab = "definition" | "terms" | "errors" | "map-reduce";

/** What one may come back to by the address; the definition is what one sees else. */
const TABS = ["terms", "errors", "map-reduce"] as const;

export function IndexScreen() {
  const { database } = route.useParams();
  const { name, tab, docs } = route.useSearch();
  if (name === undefined) {
    return (
      <Screen title="New index" about={database}>
        <DefinitionEditor database={database} stored={NEW} isNew />
      </Screen>
    );
  }
  return (
    <Existing
      key={name}
      database={database}
      name={name}
      tab={TABS.find((known) => known === tab) ?? "definition"}
      documents={docs}
    />
  );
}

const NEW: api.Definition = {
  Name: "",
  Maps: ["from order in docs.Orders\nselect new\n{\n    order.Company,\n    order.OrderedAt\n}"],
  Reduce: null,
  Fields: {},
};

/** The latest definition: that of what is being built to replace the index, if there is one. */
async function definitionOf(database: string, name: string, isReplaced: boolean, signal: AbortSignal): Promise<api.Definition> {
  if (isReplaced) {
    try {
      return { ...(await api.definition(database, REPLACEMENT + name, signal)), Name: name };
    } catch (error) {
      // It may have replaced the index just now.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }
  return api.definition(database, name, signal);
}

function Existing({
  database,
  name,
  tab,
  documents,
}: {
  database: string;
  name: string;
  tab: Tab;
  /** Ids that the map-reduce is shown of, a line each. */
  documents: string | undefined;
}) {
  const navigate = useNavigate();
  const requests = useQueryClient();
  const [question, ask] = useState<Question>();
  const {
    data: all,
    dataUpdatedAt,
    error: unlisted,
    refetch: list,
  } = useQuery({
    queryKey: ["indexes", database],
    queryFn: ({ signal }) => api.statistics(database, signal),
    refetchInterval: 2000,
  });
  const isReplaced = all?.some((index) => index.Name === REPLACEMENT + name) ?? false;
  const {
    data,
    error: unread,
    refetch: read,
  } = useQuery({
    queryKey: ["definition", database, name],
    queryFn: ({ signal }) => definitionOf(database, name, isReplaced, signal),
    enabled: all !== undefined,
    refetchOnWindowFocus: false,
    staleTime: 0,
    gcTime: 0,
  });
  const error = all === undefined ? unlisted : unread;
  const refetch = all === undefined ? list : read;
  const statistics = all?.find((index) => index.Name === name);
  const speed = useSpeeds(all, dataUpdatedAt).get(name) ?? 0;
  const chosen = useMemo(() => distinct(documents?.split("\n") ?? []), [documents]);
  const toIndexes = { to: "/databases/$database/indexes", params: { database } } as const;
  if (!data) {
    return (
      <Screen title={name} about={<Link {...toIndexes}>Indexes</Link>}>
        {error ? (
          <Failed what="The index cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="the index" />
        )}
      </Screen>
    );
  }
  const state = statistics && stateOf(statistics);
  const isGrouped = data.Type?.endsWith("MapReduce") ?? false;
  return (
    <Screen
      title={name}
      about={
        statistics && (
          <span className="number">
            {kindOf(statistics.Type)} · {count(statistics.EntriesCount)} entries{speed > 0 && ` · ${rate(speed)} documents/s`}{" "}
            <span className={badges.badge} data-tone={state?.tone}>
              {state?.label}
            </span>
          </span>
        )
      }
      actions={
        statistics && (
          <IndexMenu
            database={database}
            index={statistics}
            ask={ask}
            changed={(isDeleted) => {
              void requests.invalidateQueries({ queryKey: ["indexes", database] });
              if (isDeleted) void navigate({ ...toIndexes, ignoreBlocker: true });
            }}
          />
        )
      }
    >
      <div className={styles.tabs}>
        <SegmentedControl
          size="xs"
          aria-label="Part of the index"
          value={tab}
          onChange={(value) =>
            void navigate({
              to: "/databases/$database/index",
              params: { database },
              search: value === "definition" ? { name } : { name, tab: value },
            })
          }
          data={[
            { value: "definition", label: "Definition" },
            ...(isGrouped ? [{ value: "map-reduce", label: "Map-reduce" }] : []),
            { value: "terms", label: "Terms" },
            {
              value: "errors",
              label: `Errors${statistics && statistics.ErrorsCount > 0 ? ` (${count(statistics.ErrorsCount)})` : ""}`,
            },
          ]}
        />
      </div>
      {/* Hidden, not taken away: what is written in it and not saved yet stays. */}
      <div className={styles.kept} hidden={tab !== "definition"}>
        <DefinitionEditor database={database} stored={data} isNew={false} isReplaced={isReplaced} />
      </div>
      {tab === "terms" && <Terms database={database} name={name} />}
      {tab === "map-reduce" && isGrouped && <MapReduce database={database} name={name} documents={chosen} />}
      {tab === "errors" && <Errors database={database} name={name} />}
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}
