// The row of open queries, as tabs: arrow keys go through them, Delete closes one, F2 gives it a name.
import { ActionIcon, Button, Loader, Menu, Modal, TextInput, Tooltip } from "@mantine/core";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Icon } from "../../theme/icons";
import { activeOf, TAB_COUNT, titleOf, type Tab, type Tabs } from "./tabs";
import styles from "./tabStrip.module.css";

type Props = {
  tabs: Tabs;
  /** The ids of those whose query runs. */
  running: ReadonlySet<string>;
  /** Ids of elements. */
  tabId: (id: string) => string;
  panelId: (id: string) => string;
  /** Those that have a panel. */
  hasPanel: ReadonlySet<string>;
  activate: (id: string) => void;
  add: () => void;
  close: (id: string) => void;
  closeOthers: (id: string) => void;
  reopen: () => void;
  rename: (id: string, name: string) => void;
};

export function TabStrip({ tabs, running, tabId, panelId, hasPanel, activate, add, close, closeOthers, reopen, rename }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const [renamed, setRenamed] = useState<Tab>();
  const { active, all } = tabs;
  const title = titleOf(activeOf(tabs));
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
    // A tab is as wide as its title.
  }, [active, all.length, title]);
  // A tab that was closed by keyboard leaves the focus to the one that is active now.
  const takesFocus = useRef(false);
  useEffect(() => {
    if (!takesFocus.current) return;
    takesFocus.current = false;
    list.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }, [active, all]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = all.findIndex(({ id }) => id === active);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 };
    const next = steps[event.key];
    if (next !== undefined) activate(all[(next + all.length) % all.length]!.id);
    else if (event.key === "Delete") close(active);
    else if (event.key === "F2") return setRenamed(all[at]);
    else return;
    takesFocus.current = true;
    event.preventDefault();
  };
  return (
    <div className={styles.strip}>
      <div ref={list} role="tablist" aria-label="Open queries" className={styles.list} onKeyDown={onKeyDown}>
        {all.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={tabId(tab.id)}
            aria-selected={tab.id === active}
            aria-controls={hasPanel.has(tab.id) ? panelId(tab.id) : undefined}
            aria-keyshortcuts="Delete F2"
            tabIndex={tab.id === active ? 0 : -1}
            title={titleOf(tab)}
            className={styles.tab}
            onClick={() => activate(tab.id)}
            onDoubleClick={() => setRenamed(tab)}
            onAuxClick={(event) => event.button === 1 && close(tab.id)}
          >
            {running.has(tab.id) && <Loader size={12} role="img" aria-label="Running" />}
            <span className="cut">{titleOf(tab)}</span>
            {/* For the mouse alone: a tab contains nothing that takes the focus, and Delete does the same. */}
            <span
              className={styles.close}
              aria-hidden="true"
              data-close
              onClick={(event) => {
                event.stopPropagation();
                close(tab.id);
              }}
              onDoubleClick={(event) => event.stopPropagation()}
            >
              <Icon name="close" size={11} />
            </span>
          </button>
        ))}
      </div>
      <Tooltip label={all.length < TAB_COUNT ? "Alt+T" : `There are ${TAB_COUNT} tabs, which is the limit`}>
        <ActionIcon variant="subtle" color="gray" aria-label="New tab" disabled={all.length >= TAB_COUNT} onClick={add}>
          <Icon name="plus" size={14} />
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-start">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label="Tabs">
            <Icon name="down" size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item rightSection={<kbd className={styles.keys}>Alt+T</kbd>} disabled={all.length >= TAB_COUNT} onClick={add}>
            New tab
          </Menu.Item>
          <Menu.Item
            rightSection={<kbd className={styles.keys}>F2</kbd>}
            onClick={() => setRenamed(all.find(({ id }) => id === active))}
          >
            Rename…
          </Menu.Item>
          <Menu.Item rightSection={<kbd className={styles.keys}>Alt+W</kbd>} onClick={() => close(active)}>
            Close
          </Menu.Item>
          <Menu.Item disabled={all.length < 2} onClick={() => closeOthers(active)}>
            Close the others
          </Menu.Item>
          <Menu.Item
            rightSection={<kbd className={styles.keys}>Alt+Shift+T</kbd>}
            disabled={tabs.closed.length === 0}
            onClick={reopen}
          >
            Reopen the last closed tab
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>Switch with Alt+1 to Alt+9</Menu.Label>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={renamed !== undefined}
        onClose={() => setRenamed(undefined)}
        title="Rename the tab"
        size="sm"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {renamed && (
          <Rename
            tab={renamed}
            save={(name) => {
              rename(renamed.id, name);
              setRenamed(undefined);
            }}
          />
        )}
      </Modal>
    </div>
  );
}

function Rename({ tab, save }: { tab: Tab; save: (name: string) => void }) {
  const [name, setName] = useState(tab.name || titleOf(tab));
  return (
    <form
      className={styles.rename}
      onSubmit={(event) => {
        event.preventDefault();
        save(name.trim());
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="Without a name, the tab shows the beginning of its query."
        value={name}
        maxLength={80}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit">Rename</Button>
    </form>
  );
}
