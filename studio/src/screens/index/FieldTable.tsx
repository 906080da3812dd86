// The options of an index's fields, one field a row.
import { Autocomplete, Select, Switch, TextInput } from "@mantine/core";
import type { FieldOptions, SpatialOptions } from "../../api/indexes";
import { RemoveCell } from "./RemoveCell";
import styles from "./index.module.css";

export type Field = { name: string; options: FieldOptions };

/** Options under this name are those of all fields that have none of their own. */
export const ALL_FIELDS = "__all_fields";

const ANALYZERS = [
  "StandardAnalyzer",
  "RavenStandardAnalyzer",
  "WhitespaceAnalyzer",
  "LowerCaseWhitespaceAnalyzer",
  "SimpleAnalyzer",
  "StopAnalyzer",
  "NGramAnalyzer",
  "KeywordAnalyzer",
  "LowerCaseKeywordAnalyzer",
];
const TERM_VECTORS = ["No", "Yes", "WithPositions", "WithOffsets", "WithPositionsAndOffsets"];
const STRATEGIES = ["GeohashPrefixTree", "QuadPrefixTree", "BoundingBox"];
const BOUNDS = ["MinX", "MaxX", "MinY", "MaxY"] as const;

const SPATIAL_KINDS = [
  { value: "", label: "No" },
  { value: "Geography", label: "Geography" },
  { value: "Cartesian", label: "Cartesian" },
];

export function FieldTable({ fields, change }: { fields: readonly Field[]; change: (fields: Field[]) => void }) {
  const set = (at: number, changed: Partial<Field>) =>
    change(fields.map((field, index) => (index === at ? { ...field, ...changed } : field)));
  return (
    <div className={styles.fieldsBox}>
      <table className={styles.fields}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Indexing</th>
            <th scope="col">Analyzer</th>
            <th scope="col">Term vector</th>
            <th scope="col">Spatial</th>
            <th scope="col">Stored</th>
            <th scope="col">Suggestions</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {fields.map((field, at) => {
            const { options } = field;
            const called = field.name === ALL_FIELDS ? "all fields" : field.name;
            const setOptions = (changed: FieldOptions) => set(at, { options: { ...options, ...changed } });
            return (
              <tr key={at}>
                <td>
                  {field.name === ALL_FIELDS ? (
                    <b>All other fields</b>
                  ) : (
                    <TextInput
                      aria-label="Name of the field"
                      value={field.name}
                      spellCheck={false}
                      onChange={(event) => set(at, { name: event.currentTarget.value })}
                    />
                  )}
                </td>
                <td>
                  <Select
                    aria-label={`Indexing of ${called}`}
                    data={["Default", "Search", "Exact", "No"]}
                    value={options.Indexing ?? "Default"}
                    allowDeselect={false}
                    onChange={(value) => setOptions({ Indexing: value as FieldOptions["Indexing"] & string })}
                  />
                </td>
                <td>
                  <Autocomplete
                    aria-label={`Analyzer of ${called}`}
                    data={ANALYZERS}
                    value={options.Analyzer ?? ""}
                    placeholder="by indexing"
                    spellCheck={false}
                    onChange={(value) => setOptions({ Analyzer: value === "" ? null : value })}
                  />
                </td>
                <td>
                  <Select
                    aria-label={`Term vector of ${called}`}
                    data={TERM_VECTORS}
                    value={options.TermVector ?? "No"}
                    allowDeselect={false}
                    onChange={(value) => setOptions({ TermVector: value })}
                  />
                </td>
                <td>
                  <Spatial called={called} options={options.Spatial ?? undefined} change={(Spatial) => setOptions({ Spatial })} />
                </td>
                <td>
                  <Switch
                    aria-label={`${called} is stored`}
                    checked={options.Storage === "Yes"}
                    onChange={(event) => setOptions({ Storage: event.currentTarget.checked ? "Yes" : "No" })}
                  />
                </td>
                <td>
                  <Switch
                    aria-label={`${called} has suggestions`}
                    checked={options.Suggestions ?? false}
                    onChange={(event) => setOptions({ Suggestions: event.currentTarget.checked })}
                  />
                </td>
                <RemoveCell what={`the options of ${called}`} remove={() => change(fields.filter((_, index) => index !== at))} />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Spatial({
  called,
  options,
  change,
}: {
  called: string;
  options: SpatialOptions | undefined;
  change: (options: SpatialOptions | null) => void;
}) {
  const set = (changed: SpatialOptions) => change({ ...options, ...changed });
  /** One that is emptied is the server's own again. */
  const setBound = (bound: (typeof BOUNDS)[number], number: number) => {
    const { [bound]: _, ...others } = options ?? {};
    change(Number.isFinite(number) ? { ...others, [bound]: number } : others);
  };
  return (
    <div className={styles.spatial}>
      <Select
        aria-label={`Spatial of ${called}`}
        data={SPATIAL_KINDS}
        value={options ? (options.Type ?? "Geography") : ""}
        allowDeselect={false}
        onChange={(value) => {
          if (!value) change(null);
          else if (value === "Geography") change({ Type: "Geography", Strategy: "GeohashPrefixTree", Units: "Kilometers" });
          else change({ Type: "Cartesian", Strategy: "QuadPrefixTree", MinX: -1000, MaxX: 1000, MinY: -1000, MaxY: 1000 });
        }}
      />
      {options && (
        <>
          <Select
            aria-label={`Strategy of ${called}`}
            data={STRATEGIES}
            value={options.Strategy ?? "GeohashPrefixTree"}
            allowDeselect={false}
            onChange={(value) => set({ Strategy: value as NonNullable<SpatialOptions["Strategy"]> })}
          />
          {options.Type === "Cartesian" ? (
            <div className={styles.bounds}>
              {BOUNDS.map((bound) => (
                <TextInput
                  key={bound}
                  type="number"
                  aria-label={`${bound} of ${called}`}
                  placeholder={bound}
                  value={options[bound] ?? ""}
                  onChange={(event) => setBound(bound, event.currentTarget.valueAsNumber)}
                />
              ))}
            </div>
          ) : (
            <Select
              aria-label={`Units of ${called}`}
              data={["Kilometers", "Miles"]}
              value={options.Units ?? "Kilometers"}
              allowDeselect={false}
              onChange={(value) => set({ Units: value as NonNullable<SpatialOptions["Units"]> })}
            />
          )}
        </>
      )}
    </div>
  );
}
