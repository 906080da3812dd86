// The counters of a document, beside its text.
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { counters, remove, type Counter } from "../../api/counters";
import { countOf } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Needs } from "../../shell/rights";
import { messageOf } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { CounterDialog, type CounterTask } from "./CounterDialog";
import styles from "./document.module.css";

/** `pollMs`: how often they are read; false while the server tells of changes. */
export function Counters({ database, id, pollMs }: { database: string; id: string; pollMs: number | false }) {
  const { data, error } = useQuery({
    queryKey: ["counters", database, id],
    queryFn: ({ signal }) => counters(database, id, signal),
    refetchInterval: pollMs,
  });
  const [task, setTask] = useState<CounterTask>();
  const [question, ask] = useState<Question>();
  const askToDelete = ({ name }: Counter) =>
    ask({
      title: `Delete the counter '${name}'?`,
      text: "Its value is lost. If it is raised later, it begins at 0.",
      action: "Delete",
      run: () =>
        remove(database, id, name).then(
          () => (told(`The counter '${name}' was deleted`), changed("counters")),
          (error: unknown) => failed(`The counter '${name}' was not deleted`, error),
        ),
    });
  return (
    <section aria-labelledby="counters" className={styles.part}>
      <div className={styles.partHead}>
        <h2 id="counters" className={styles.sideTitle}>
          Counters
        </h2>
        <Needs right="ReadWrite">
          <Tooltip label="New counter">
            <ActionIcon size="sm" aria-label="New counter" onClick={() => setTask({ kind: "new", others: data ?? [] })}>
              <Icon name="plus" size={14} />
            </ActionIcon>
          </Tooltip>
        </Needs>
      </div>
      {data === undefined ? (
        <p className={styles.note} role={error ? "alert" : "status"}>
          {error ? `They cannot be read. ${messageOf(error)}` : "Loading counters…"}
        </p>
      ) : data.length === 0 ? (
        <p className={styles.note}>None. Counters are raised without writing the document.</p>
      ) : (
        <ul className={styles.items}>
          {data.map((counter) => (
            <li key={counter.name}>
              <span className={styles.value}>{counter.name}</span>
              <b className={`${styles.amount} number`}>{countOf(counter.value)}</b>
              <Needs right="ReadWrite">
                <Menu position="bottom-end">
                  <Menu.Target>
                    <ActionIcon size="sm" aria-label={`Actions for the counter ${counter.name}`}>
                      <Icon name="dots" size={14} />
                    </ActionIcon>
                  </Menu.Target>
                  <Menu.Dropdown>
                    <Menu.Item leftSection={<Icon name="plus" size={14} />} onClick={() => setTask({ kind: "raise", counter })}>
                      Raise or lower…
                    </Menu.Item>
                    <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={() => setTask({ kind: "set", counter })}>
                      Set…
                    </Menu.Item>
                    <Menu.Divider />
                    <Menu.Item color="red" leftSection={<Icon name="trash" size={14} />} onClick={() => askToDelete(counter)}>
                      Delete…
                    </Menu.Item>
                  </Menu.Dropdown>
                </Menu>
              </Needs>
            </li>
          ))}
        </ul>
      )}
      <CounterDialog database={database} id={id} task={task} close={() => setTask(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </section>
  );
}
