// One index: its definition, its terms, its errors; or a new one.
import { SegmentedControl } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import * as api from "../../api/indexes";
import { count, counted, rate } from "../../format/format";
import { Confirm, type Question } from "../../shell/Confirm";
import { useIsHere } from "../../shell/here";
import { Refused, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { mergedDefinition } from "../advice/merged";
import { IndexMenu } from "../indexes/IndexMenu";
import { useSpeeds } from "../indexes/speed";
import { errorCount, kindOf, REPLACEMENT, stateOf } from "../indexes/state";
import tables from "../../shell/table.module.css";
import { DefinitionEditor } from "./DefinitionEditor";
import { Errors } from "./Errors";
import { distinct, MapReduce } from "./MapReduce";
import { latestDefinition } from "./latest";
import { Terms } from "./Terms";
import styles from "./index.module.css";

const route = getRouteApi("/databases/$database/index");

type Tab = "definition" | "terms" | "errors" | "map-reduce";

/** What one may come back to by the address; the definition is what one sees else. */
const TABS = ["terms", "errors", "map-reduce"] as const;

export function IndexScreen() {
  const { database } = route.useParams();
  const { name, tab, docs, merge } = route.useSearch();
  const refusal = useRefusal("Admin");
  if (name === undefined && refusal !== undefined) {
    return (
      <Screen title="New index" about={database}>
        <Refused reason={refusal} />
      </Screen>
    );
  }
  if (name === undefined && merge !== undefined) return <Merged key={merge} database={database} names={merge.split("\n")} />;
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

/** A new definition with the fields of automatic indexes, as the adviser proposes it. */
function Merged({ database, names }: { database: string; names: readonly string[] }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["definitions", database],
    queryFn: ({ signal }) => api.definitions(database, signal),
  });
  const [definition, setDefinition] = useState<api.Definition>();
  const found = data && names.map((name) => data.find((one) => one.Name === name));
  const merged = found?.every((one) => one !== undefined) ? mergedDefinition(found) : undefined;
  // What is being edited stays, also when one of the indexes is deleted meanwhile.
  if (!definition && merged) setDefinition(merged);
  return (
    <Screen title="New index" about={`from ${counted(names.length, "automatic index", "automatic indexes")}`}>
      {definition ? (
        <DefinitionEditor database={database} stored={definition} isNew />
      ) : data ? (
        <Empty
          icon="index"
          title="These indexes cannot be merged"
          action={
            <Link to="/databases/$database/advice" params={{ database }}>
              Show the advice
            </Link>
          }
        >
          One of them was deleted or replaced, or has a field that a map cannot express.
        </Empty>
      ) : error ? (
        <Failed what="The indexes cannot be read" error={error} retry={() => void refetch()} />
      ) : (
        <Loading what="the indexes" />
      )}
    </Screen>
  );
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
  const isHere = useIsHere();
  const [question, ask] = useState<Question>();
  const { data: all, dataUpdatedAt } = useQuery({
    queryKey: ["indexes", database],
    queryFn: ({ signal }) => api.statistics(database, signal),
    refetchInterval: 2000,
  });
  const isReplaced = all?.some((index) => index.Name === REPLACEMENT + name) ?? false;
  const {
    data: latest,
    error,
    refetch,
  } = useQuery({
    queryKey: ["definition", database, name],
    queryFn: async ({ signal }) => (await latestDefinition(database, name, signal)) ?? null,
    refetchOnWindowFocus: false,
    staleTime: 0,
    gcTime: 0,
  });
  // What is being edited stays, also when somebody deletes the index or disables the database.
  const held = useRef<api.Definition>(undefined);
  if (latest) held.current = latest;
  const data = held.current;
  // The list tells that one of another time stands there, or none: then one looks.
  const made = all && [name, REPLACEMENT + name].map((one) => all.find((index) => index.Name === one)?.CreatedTimestamp).join();
  const seen = useRef(made);
  useEffect(() => {
    if (seen.current !== undefined && made !== undefined && seen.current !== made) void refetch();
    seen.current = made ?? seen.current;
  }, [made, refetch]);
  const statistics = all?.find((index) => index.Name === name);
  const speed = useSpeeds(all, dataUpdatedAt).get(name) ?? 0;
  const chosen = useMemo(() => distinct(documents?.split("\n") ?? []), [documents]);
  const toIndexes = { to: "/databases/$database/indexes", params: { database } } as const;
  if (!data) {
    return (
      <Screen title={name} about={<Link {...toIndexes}>Indexes</Link>}>
        {latest === null ? (
          <Empty icon="index" title={`There is no index '${name}'`} action={<Link {...toIndexes}>Show all indexes</Link>}>
            It may have been deleted, or it never existed.
          </Empty>
        ) : error ? (
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
        statistics ? (
          <span className="number">
            {kindOf(statistics.Type)} · {count(statistics.EntriesCount)} entries{speed > 0 && ` · ${rate(speed)} documents/s`}
            <span className={`${tables.badge} ${styles.state}`} data-tone={state?.tone}>
              {state?.label}
            </span>
          </span>
        ) : (
          latest === null && (
            <span className={tables.badge} data-tone="bad">
              Deleted
            </span>
          )
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
              if (isDeleted && isHere()) void navigate({ ...toIndexes, ignoreBlocker: true });
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
              label: `Errors${statistics && statistics.ErrorsCount > 0 ? ` (${errorCount(statistics)})` : ""}`,
            },
          ]}
        />
      </div>
      {/* Hidden, not taken away: what is written in it and not saved yet stays. */}
      <div className={styles.kept} hidden={tab !== "definition"}>
        <DefinitionEditor database={database} stored={data} latest={latest} isNew={false} isReplaced={isReplaced} />
      </div>
      {tab === "terms" && <Terms database={database} name={name} />}
      {tab === "map-reduce" && isGrouped && <MapReduce database={database} name={name} documents={chosen} />}
      {tab === "errors" && <Errors database={database} name={name} statistics={statistics} />}
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}
