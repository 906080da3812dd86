// A filter of the grid: a column, how it is compared and with what, as a condition of the query.
import { Autocomplete, Button, NativeSelect, Popover } from "@mantine/core";
import { useState } from "react";
import { nameOf } from "../../grid/columns";
import { Icon } from "../../theme/icons";
import {
  conditionOf,
  conditionsOf,
  filtered,
  frequent,
  kindOf,
  notFilterable,
  operatorsFor,
  valuesOf as typedValues,
  without,
  type Operator,
} from "./filtering";
import { nameInQuery } from "./ordering";
import styles from "./filterMenu.module.css";

/** The list of values is part of the dialog, and short enough not to scroll. */
const LIST = {
  comboboxProps: { withinPortal: false },
  withScrollArea: false,
} as const;

/** Values that are offered. */
const OFFERED_COUNT = 8;

export function FilterMenu({
  text,
  paths,
  valuesOf,
  apply,
}: {
  /** The query that gave the rows. */
  text: string;
  /** The columns that can be filtered. */
  paths: readonly string[];
  /** Values of a column, as far as they were read. */
  valuesOf: (path: string) => readonly unknown[];
  /** Runs the query with the filter. */
  apply: (text: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const reason = notFilterable(text);
  const conditions = reason === undefined ? conditionsOf(text) : [];
  const run = (next: string) => {
    setOpen(false);
    apply(next);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus width="min(360px, calc(100vw - 24px))">
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Icon name="filter" size={14} />}
          aria-label={conditions.length === 0 ? "Filter" : `Filter, ${conditions.length} in use`}
          onClick={() => setOpen(!isOpen)}
        >
          Filter
          {conditions.length > 0 && <span className={styles.count}>{conditions.length}</span>}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Filter">
        {conditions.length > 0 && (
          <ul className={styles.conditions} aria-label="Conditions of the query">
            {conditions.map((condition) => (
              <li key={condition}>
                <code>{condition}</code>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove ${condition}`}
                  onClick={() => run(without(text, condition))}
                >
                  <Icon name="close" size={12} />
                </Button>
              </li>
            ))}
          </ul>
        )}
        {reason !== undefined ? (
          <p className={styles.reason}>{reason}</p>
        ) : paths.length === 0 ? (
          <p className={styles.reason}>There are no rows with columns to filter by.</p>
        ) : (
          <NewFilter text={text} paths={paths} valuesOf={valuesOf} run={run} />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

type NewFilterProps = {
  text: string;
  paths: readonly string[];
  valuesOf: (path: string) => readonly unknown[];
  run: (text: string) => void;
};

function NewFilter({ text, paths, valuesOf, run }: NewFilterProps) {
  const [path, setPath] = useState(paths[0]!);
  const [wanted, setOperator] = useState<Operator>("=");
  const [one, setOne] = useState("");
  const [other, setOther] = useState("");
  const values = valuesOf(path);
  const kind = kindOf(values);
  const operators = operatorsFor(kind);
  const operator = operators.find(({ value }) => value === wanted) ?? operators[0]!;
  const offered = frequent(values, OFFERED_COUNT);
  const given = operator.value === "in" ? typedValues(one) : [one, other].slice(0, operator.values);
  const isReady = (given.length > 0 || operator.values === 0) && given.every((value) => value.trim() !== "");
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        const by = nameInQuery(path, text);
        if (isReady) run(filtered(text, by, conditionOf(by, operator.value, given, kind)));
      }}
    >
      <NativeSelect
        size="xs"
        data-autofocus
        label="Column"
        data={paths.map((value) => ({ value, label: nameOf(value) }))}
        value={path}
        onChange={({ currentTarget }) => setPath(currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label="Comparison"
        data={operators.map(({ value, label }) => ({ value, label }))}
        value={operator.value}
        onChange={({ currentTarget }) => setOperator(currentTarget.value as Operator)}
      />
      {operator.values !== 0 && (
        <Autocomplete
          label={operator.value === "in" ? "Values, separated by commas" : operator.values === 2 ? "From" : "Value"}
          data={operator.value === "in" ? [] : offered}
          value={one}
          onChange={setOne}
          {...LIST}
        />
      )}
      {operator.values === 2 && <Autocomplete label="To" data={offered} value={other} onChange={setOther} {...LIST} />}
      <Button type="submit" disabled={!isReady}>
        Filter
      </Button>
    </form>
  );
}
