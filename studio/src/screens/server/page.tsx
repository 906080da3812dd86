// The server itself: its log, the queries that run, what was slow, the settings in force.
import { SegmentedControl } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { serverOf } from "../../api/node";
import { counted, size, uptime } from "../../format/format";
import { useLive } from "../../shell/live";
import { Screen } from "../../shell/Screen";
import { ServerWide } from "../backups/ServerWide";
import { Log, levelOf } from "./Log";
import { RunningQueries } from "./RunningQueries";
import { Settings } from "./Settings";
import { SlowRequests } from "./SlowRequests";
import styles from "./server.module.css";

const route = getRouteApi("/server");

/** Slow requests that the server keeps. */
const SLOW_COUNT_MAX = 256;

const TABS = [
  { value: "log", label: "Log" },
  { value: "running", label: "Running queries" },
  { value: "slow", label: "Slow requests" },
  { value: "backups", label: "Backups" },
  { value: "settings", label: "Settings" },
] as const;
type Tab = (typeof TABS)[number]["value"];

export function ServerScreen() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const { data: live } = useLive();
  const tab: Tab = TABS.find(({ value }) => value === search.tab)?.value ?? "log";
  const go = (next: { tab?: string; level?: string; text?: string }, replace: boolean) =>
    void navigate({ to: "/server", search: next, replace });
  const node = serverOf(live?.latest);
  return (
    <Screen
      title="Server"
      about={
        node && (
          <span className="number">
            {`up ${uptime(node.UptimeInMs)} · ${size(node.ResidentInBytes)} of memory · ${counted(node.Connections, "connection")}`}
          </span>
        )
      }
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Part of the server"
          value={tab}
          onChange={(value) => go({ tab: value }, false)}
          data={TABS.map(({ value, label }) => ({ value, label }))}
        />
      }
    >
      <div className={styles.page}>
        {tab === "log" && (
          <Log
            filter={{ level: levelOf(search.level), text: search.text ?? "" }}
            setFilter={({ level, text }) => go({ tab, ...(level !== "Trace" && { level }), ...(text !== "" && { text }) }, true)}
          />
        )}
        {tab === "running" && <RunningQueries />}
        {tab === "slow" && <SlowRequests countMax={SLOW_COUNT_MAX} />}
        {tab === "backups" && <ServerWide />}
        {tab === "settings" && <Settings />}
      </div>
    </Screen>
  );
}
