// Which columns are shown, their order and width, by keyboard too.
import { ActionIcon, Button, Checkbox, Popover } from "@mantine/core";
import { Icon } from "../theme/icons";
import { moved, nameOf, widened, type Column } from "./columns";
import styles from "./columnsMenu.module.css";

/** Pixels by which a button changes a width. */
const STEP = 24;

export function ColumnsMenu({
  columns,
  setColumns,
  reset,
  widths,
}: {
  columns: readonly Column[];
  setColumns: (columns: Column[]) => void;
  reset: () => void;
  /** As they are drawn: columns grow with what is in view. */
  widths: { current: ReadonlyMap<string, number> };
}) {
  const widthOf = (column: Column) => widths.current.get(column.path) ?? column.width;
  const shown = columns.filter((column) => !column.isHidden);
  const hidden = columns.filter((column) => column.isHidden);
  const toggle = (path: string) =>
    setColumns(columns.map((column) => (column.path === path ? { ...column, isHidden: !column.isHidden } : column)));
  return (
    <Popover position="bottom-end" shadow="md" trapFocus width={320}>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="columns" size={14} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Columns">
        <ul className={styles.list}>
          {[...shown, ...hidden].map((column, index) => (
            <li key={column.path} className={styles.item}>
              <Checkbox
                label={nameOf(column.path)}
                checked={!column.isHidden}
                onChange={() => toggle(column.path)}
                classNames={{ root: styles.check }}
              />
              {!column.isHidden && (
                <span className={styles.moves}>
                  <ActionIcon
                    size="sm"
                    aria-label={`Make ${nameOf(column.path)} narrower`}
                    onClick={() => setColumns(widened(columns, column.path, widthOf(column) - STEP))}
                  >
                    <Icon name="minus" size={12} />
                  </ActionIcon>
                  <ActionIcon
                    size="sm"
                    aria-label={`Make ${nameOf(column.path)} wider`}
                    onClick={() => setColumns(widened(columns, column.path, widthOf(column) + STEP))}
                  >
                    <Icon name="plus" size={12} />
                  </ActionIcon>
                  <ActionIcon
                    size="sm"
                    aria-label={`Move ${nameOf(column.path)} left`}
                    disabled={index === 0}
                    onClick={() => setColumns(moved(columns, column.path, shown[index - 1]!.path))}
                  >
                    <Icon name="up" size={12} />
                  </ActionIcon>
                  <ActionIcon
                    size="sm"
                    aria-label={`Move ${nameOf(column.path)} right`}
                    disabled={index === shown.length - 1}
                    onClick={() => setColumns(moved(columns, column.path, shown[index + 1]!.path))}
                  >
                    <Icon name="down" size={12} />
                  </ActionIcon>
                </span>
              )}
            </li>
          ))}
        </ul>
        <div className={styles.foot}>
          <Button variant="subtle" color="gray" onClick={reset}>
            As found in the data
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
