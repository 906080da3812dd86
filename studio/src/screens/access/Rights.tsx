// Rights: as they are shown in a list, and the fields by which they are granted.
import { ActionIcon, Autocomplete, Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Clearance, Permission, Rights } from "../../api/access";
import { names } from "../../api/databases";
import { useAbilities } from "../../shell/session";
import type { Draft, Line } from "./draft";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import styles from "./access.module.css";

const CLEARANCES: readonly { value: Clearance; label: string; about: string }[] = [
  { value: "ValidUser", label: "Single databases", about: "The databases below, and nothing else." },
  { value: "Operator", label: "Operator", about: "The server and all databases, without the access of cluster admins." },
  { value: "ClusterAdmin", label: "Cluster admin", about: "Everything, also who may do what." },
];

const PERMISSIONS: readonly { value: Permission; label: string }[] = [
  { value: "Read", label: "Read" },
  { value: "ReadWrite", label: "Read and write" },
  { value: "Admin", label: "Admin" },
];

const labelOf = <T extends string>(all: readonly { value: T; label: string }[], value: T) =>
  all.find((one) => one.value === value)?.label ?? value;

/** What somebody may do. */
export function RightsText({ clearance, permissions }: Rights) {
  const entries = Object.entries(permissions);
  return (
    <>
      {clearance !== "ValidUser" && (
        <span className={tables.badge} data-tone={clearance === "ClusterAdmin" ? "warn" : "busy"}>
          {labelOf(CLEARANCES, clearance)}
        </span>
      )}
      {clearance === "ValidUser" && (
        <span className={styles.permissions}>
          {entries.length === 0
            ? "No database"
            : entries.map(([database, permission]) => (
                <span key={database}>
                  <b>{database}</b> {labelOf(PERMISSIONS, permission).toLowerCase()}
                </span>
              ))}
        </span>
      )}
    </>
  );
}

export function RightsFields({ draft, change }: { draft: Draft; change: (draft: Draft) => void }) {
  const { isClusterAdmin } = useAbilities();
  const { data: databases } = useQuery({ queryKey: ["databases"], queryFn: ({ signal }) => names(signal) });
  const [next, setNext] = useState(draft.lines.length);
  const offered = CLEARANCES.filter(({ value }) => isClusterAdmin || value !== "ClusterAdmin");
  const set = (number: number, part: Partial<Line>) =>
    change({ ...draft, lines: draft.lines.map((line) => (line.number === number ? { ...line, ...part } : line)) });
  return (
    <fieldset className={styles.rights}>
      <legend>Rights</legend>
      <Select
        label="May use"
        description={offered.find(({ value }) => value === draft.clearance)?.about}
        data={offered.map(({ value, label }) => ({ value, label }))}
        value={draft.clearance}
        onChange={(value) => value !== null && change({ ...draft, clearance: value as Clearance })}
      />
      {draft.clearance === "ValidUser" && (
        <>
          {draft.lines.map((line, at) => (
            <div key={line.number} className={styles.line}>
              <Autocomplete
                aria-label={`Database ${at + 1}`}
                placeholder="Database"
                data={databases ?? []}
                value={line.database}
                onChange={(database) => set(line.number, { database })}
              />
              <Select
                aria-label={`Right on database ${at + 1}`}
                data={PERMISSIONS.map(({ value, label }) => ({ value, label }))}
                value={line.permission}
                onChange={(value) => value !== null && set(line.number, { permission: value as Permission })}
              />
              <ActionIcon
                aria-label={`Remove database ${at + 1}`}
                onClick={() => change({ ...draft, lines: draft.lines.filter(({ number }) => number !== line.number) })}
              >
                <Icon name="close" size={14} />
              </ActionIcon>
            </div>
          ))}
          <Button
            variant="subtle"
            className={styles.add!}
            leftSection={<Icon name="plus" size={12} />}
            onClick={() => {
              change({ ...draft, lines: [...draft.lines, { number: next, database: "", permission: "ReadWrite" }] });
              setNext(next + 1);
            }}
          >
            Add a database
          </Button>
        </>
      )}
    </fieldset>
  );
}
