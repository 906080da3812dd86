// One index: its definition, its terms, its errors; or a new one.
import { SegmentedControl } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "../../api/indexes";
import { count, rate } from "../../format/format";
import { Confirm, type Question } from "../../shell/Confirm";
import { Screen } from "../../shell/Screen";
import { Failed, Loading } from "../../shell/states";
import { IndexMenu } from "../indexes/page";
import { useSpeeds } from "../indexes/speed";
import { kindOf, stateOf } from "../indexes/state";
import badges from "../indexes/indexes.module.css";
import { DefinitionEditor } from "./DefinitionEditor";
import { Errors } from "./Errors";
import { Terms } from "./Terms";
import styles from "./index.module.css";

const route = getRouteApi("/databases/$database/index");

type Tab = "definition" | "terms" | "errors";

export function IndexScreen() {
  const { database } = route.useParams();
  const { name, tab } = route.useSearch();
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
      tab={(["terms", "errors"] as const).find((known) => known === tab) ?? "definition"}
    />
  );
}

const NEW: api.Definition = {
  Name: "",
  Maps: ["from order in docs.Orders\nselect new\n{\n    order.Company,\n    order.OrderedAt\n}"],
  Reduce: null,
  Fields: {},
};

function Existing({ database, name, tab }: { database: string; name: string; tab: Tab }) {
  const navigate = useNavigate();
  const requests = useQueryClient();
  const [question, ask] = useState<Question>();
  const { data, error, refetch } = useQuery({
    queryKey: ["definition", database, name],
    queryFn: ({ signal }) => api.definition(database, name, signal),
    refetchOnWindowFocus: false,
    staleTime: 0,
    gcTime: 0,
  });
  const { data: all, dataUpdatedAt } = useQuery({
    queryKey: ["indexes", database],
    queryFn: ({ signal }) => api.statistics(database, signal),
    refetchInterval: 2000,
  });
  const statistics = all?.find((index) => index.Name === name);
  const speed = useSpeeds(all, dataUpdatedAt).get(name) ?? 0;
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
        <DefinitionEditor database={database} stored={data} isNew={false} />
      </div>
      {tab === "terms" && <Terms database={database} definition={data} />}
      {tab === "errors" && <Errors database={database} name={name} />}
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}
