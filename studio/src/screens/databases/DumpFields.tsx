// The choices that exports and imports of dumps have in common.
import { Checkbox, TagsInput, Textarea } from "@mantine/core";
import type { DumpOptions } from "../../api/databases";
import { TYPES, withType } from "./dumpOptions";
import styles from "./databases.module.css";

/** `collections`: those that are offered; others may be typed. */
export function DumpFields<T extends DumpOptions>({
  options,
  change,
  collections,
}: {
  options: T;
  change: (options: T) => void;
  collections: readonly string[];
}) {
  const set = (part: Partial<DumpOptions>) => change({ ...options, ...part });
  return (
    <>
      <fieldset className={styles.choices}>
        <legend>Types</legend>
        {TYPES.map(({ type, label }) => (
          <Checkbox
            key={type}
            label={label}
            checked={options.types.includes(type)}
            onChange={(event) => change({ ...options, types: withType(options, type, event.currentTarget.checked).types })}
          />
        ))}
      </fieldset>
      {options.types.includes("Documents") && (
        <>
          <TagsInput
            label="Collections"
            description="None: all of them"
            data={[...collections]}
            value={[...options.collections]}
            onChange={(names) => set({ collections: names })}
            clearable
            clearButtonProps={{ "aria-label": "All collections" }}
          />
          <fieldset className={styles.choices}>
            <legend>Also documents that</legend>
            <Checkbox
              label="have expired"
              checked={options.hasExpired}
              onChange={(event) => set({ hasExpired: event.currentTarget.checked })}
            />
            <Checkbox
              label="are archived"
              checked={options.hasArchived}
              onChange={(event) => set({ hasArchived: event.currentTarget.checked })}
            />
            <Checkbox
              label="an index wrote"
              checked={options.hasArtificial}
              onChange={(event) => set({ hasArtificial: event.currentTarget.checked })}
            />
          </fieldset>
          <Textarea
            label="Script"
            description={
              <>
                JavaScript that changes each document, <code>this</code>; <code>throw 'skip'</code> leaves it out
              </>
            }
            placeholder="delete this.Password;"
            autosize
            minRows={2}
            maxRows={10}
            spellCheck={false}
            classNames={{ input: "mono" }}
            value={options.script}
            onChange={(event) => set({ script: event.currentTarget.value })}
          />
        </>
      )}
    </>
  );
}
