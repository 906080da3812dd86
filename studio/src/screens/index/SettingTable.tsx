// The settings of an index, one a row.
import { Autocomplete, TextInput } from "@mantine/core";
import { changed, without, type Named } from "./named";
import { RemoveCell } from "./RemoveCell";
import styles from "./index.module.css";

/** Settings of an index that the server heeds (docs/http.md, "Indexes"). Others are kept and change nothing. */
const SETTINGS = ["Indexing.IndexMissingFieldsAsNull", "Indexing.IndexEmptyEntries"];

type Props = { settings: readonly Named[]; change: (settings: Named[]) => void };

export function SettingTable({ settings, change }: Props) {
  return (
    <table className={styles.fields}>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Value</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {settings.map((setting, at) => (
          <tr key={at}>
            <td>
              <Autocomplete
                size="xs"
                aria-label={`Name of setting ${at + 1}`}
                data={SETTINGS}
                value={setting.name}
                spellCheck={false}
                onChange={(name) => change(changed(settings, at, { name }))}
              />
            </td>
            <td>
              <TextInput
                aria-label={`Value of ${setting.name || `setting ${at + 1}`}`}
                value={setting.value}
                spellCheck={false}
                onChange={(event) => change(changed(settings, at, { value: event.currentTarget.value }))}
              />
            </td>
            <RemoveCell what={setting.name || `setting ${at + 1}`} remove={() => change(without(settings, at))} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}
