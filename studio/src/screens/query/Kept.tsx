// Queries that were run lately, and those that were saved under a name, in this browser.
import { ActionIcon, Button, Popover, TextInput } from "@mantine/core";
import { useState } from "react";
import { useRemembered } from "../../shell/remembered";
import { told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import styles from "./kept.module.css";

export type KeptQuery = { text: string; parameters: string; name?: string };

/** Recent queries that are kept. */
const RECENT_COUNT = 20;
const NONE: KeptQuery[] = [];

/** The recent ones with another one, which comes first and only once. */
export function remember(recent: readonly KeptQuery[], text: string, parameters: string): KeptQuery[] {
  return [{ text, parameters }, ...recent.filter((kept) => kept.text !== text || kept.parameters !== parameters)].slice(
    0,
    RECENT_COUNT,
  );
}

export function Kept({
  database,
  recent,
  text,
  parameters,
  use,
}: {
  database: string;
  recent: readonly KeptQuery[];
  text: string;
  parameters: string;
  use: (kept: KeptQuery) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const [saved, setSaved] = useRemembered<KeptQuery[]>(`saved.${database}`, NONE);
  const [name, setName] = useState("");
  /** The last one that was forgotten, while one may want it back. */
  const [forgotten, setForgotten] = useState<{ kept: KeptQuery; at: number }>();
  const key = name.trim();
  const isTaken = saved.some((kept) => kept.name === key);
  const show = (isShown: boolean) => {
    setOpen(isShown);
    setForgotten(undefined);
  };
  const choose = (kept: KeptQuery) => {
    use(kept);
    show(false);
  };
  return (
    <Popover opened={isOpen} onChange={show} position="bottom-end" shadow="md" width="min(420px, calc(100vw - 24px))" trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="clock" size={14} />} onClick={() => show(!isOpen)}>
          Saved
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Saved and recent queries">
        <form
          className={styles.saveRow}
          onSubmit={(event) => {
            event.preventDefault();
            if (key === "" || text.trim() === "") return;
            setSaved((stored) => [{ text, parameters, name: key }, ...stored.filter((kept) => kept.name !== key)]);
            setName("");
            setOpen(false);
            told(isTaken ? `'${key}' was replaced` : `Saved as '${key}'`);
          }}
        >
          <TextInput
            aria-label="Name for this query"
            placeholder="Name for this query"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            style={{ flex: 1 }}
          />
          <Button type="submit" disabled={key === "" || text.trim() === ""}>
            {isTaken ? "Replace" : "Save"}
          </Button>
        </form>
        <div className={styles.keptList}>
          {forgotten && (
            <p className={styles.forgotten} role="status">
              <span className="cut">{`'${forgotten.kept.name}' was forgotten`}</span>
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => {
                  const { kept, at } = forgotten;
                  setSaved((stored) => stored.filter((other) => other.name !== kept.name).toSpliced(at, 0, kept));
                  setForgotten(undefined);
                }}
              >
                Undo
              </Button>
            </p>
          )}
          {saved.length > 0 && <h2 className={styles.keptTitle}>Saved</h2>}
          {saved.map((kept, at) => (
            <div key={kept.name} className={styles.keptRow}>
              <button type="button" className={styles.kept} onClick={() => choose(kept)}>
                <span>{kept.name}</span>
                <code className="cut">{kept.text}</code>
              </button>
              <ActionIcon
                size="sm"
                aria-label={`Forget ${kept.name}`}
                onClick={() => {
                  setForgotten({ kept, at });
                  setSaved((stored) => stored.filter((other) => other.name !== kept.name));
                }}
              >
                <Icon name="close" size={12} />
              </ActionIcon>
            </div>
          ))}
          {recent.length > 0 && <h2 className={styles.keptTitle}>Recent</h2>}
          {recent.map((kept) => (
            <div key={`${kept.text} ${kept.parameters}`} className={styles.keptRow}>
              <button type="button" className={styles.kept} onClick={() => choose(kept)}>
                <code className="cut">{kept.text}</code>
              </button>
            </div>
          ))}
          {saved.length + recent.length === 0 && <p className={styles.keptNone}>What you run is kept here, in this browser.</p>}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
