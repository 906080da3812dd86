// The settings in force, and where each came from.
import { Switch } from "@mantine/core";
import { useState } from "react";
import type { Setting } from "../../api/diagnostics";
import { FilterField } from "../../shell/FilterField";
import { Failed, Loading } from "../../shell/states";
import { useSettings } from "./useSettings";
import tables from "../../shell/table.module.css";
import styles from "./server.module.css";

export function Settings() {
  const [filter, setFilter] = useState("");
  const [isGivenOnly, setGivenOnly] = useState(false);
  const { data, error, refetch } = useSettings();
  if (!data) {
    return error ? (
      <Failed what="The settings cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="settings" />
    );
  }
  const wanted = filter.trim().toLowerCase();
  const shown = data.filter(
    ({ name, description, given }) =>
      (given || !isGivenOnly) && (name.toLowerCase().includes(wanted) || description.toLowerCase().includes(wanted)),
  );
  return (
    <>
      <div className={styles.filter}>
        <FilterField
          className={styles.text}
          label="Filter settings"
          placeholder="Filter by text"
          value={filter}
          onChange={setFilter}
        />
        <Switch
          size="xs"
          label="Only what was set"
          checked={isGivenOnly}
          onChange={(event) => setGivenOnly(event.currentTarget.checked)}
        />
      </div>
      {shown.length === 0 ? (
        <p className={styles.none}>{wanted === "" ? "Nothing was set: all defaults are in force." : "No setting matches."}</p>
      ) : (
        <div className={styles.tableBox}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
                <th scope="col">Description</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((setting) => (
                <Row key={setting.name} setting={setting} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Row({ setting: { name, description, default: usual, given } }: { setting: Setting }) {
  return (
    <tr>
      <th scope="row" className={styles.name}>
        <code>{name}</code>
      </th>
      <td className={styles.value}>
        {given ? (
          given.value === null ? (
            <span className="soft">not shown</span>
          ) : (
            <b>{given.value}</b>
          )
        ) : (
          usual || <span className="soft">–</span>
        )}
      </td>
      <td>
        {given ? (
          <span className={tables.badge} data-tone="busy">
            {given.source}
          </span>
        ) : (
          <span className="soft">default</span>
        )}
      </td>
      <td className={styles.what}>
        {description}
        {given && usual !== "" && <span className="soft"> Default: {usual}.</span>}
      </td>
    </tr>
  );
}
