// What can be done with an index.
import { ActionIcon, Menu } from "@mantine/core";
import * as api from "../../api/indexes";
import type { Question } from "../../shell/Confirm";
import { Needs, useRefusal } from "../../shell/rights";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { REPLACEMENT } from "./state";

const LOCKS: { mode: api.LockMode; label: string }[] = [
  { mode: "Unlock", label: "Unlocked" },
  { mode: "LockedIgnore", label: "Locked (ignore)" },
  { mode: "LockedError", label: "Locked (error)" },
];

export function IndexMenu({
  database,
  index,
  ask,
  changed,
}: {
  database: string;
  index: api.Statistics;
  ask: (question: Question) => void;
  changed: (isDeleted: boolean) => unknown;
}) {
  const isReadOnly = useRefusal("ReadWrite") !== undefined;
  const name = index.Name;
  const isReplacement = name.startsWith(REPLACEMENT);
  const isAutomatic = index.Type.startsWith("Auto");
  const act = (what: string, action: () => Promise<unknown>, isDeleted = false) =>
    action().then(
      () => (told(`${name} ${what}`), changed(isDeleted)),
      (error: unknown) => failed(`${name} was not ${what}`, error),
    );
  const isPaused = index.Status === "Paused";
  const isDisabled = index.State === "Disabled";
  if (isReadOnly) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${name}`}>
          <Icon name="dots" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isReplacement ? (
          <Menu.Item
            leftSection={<Icon name="check" size={14} />}
            onClick={() => void act("swapped in", () => api.replace(database, name.slice(REPLACEMENT.length)))}
          >
            Use it now
          </Menu.Item>
        ) : (
          <>
            <Needs right="Admin">
              {!isDisabled && (
                <Menu.Item
                  leftSection={<Icon name={isPaused ? "start" : "pause"} size={14} />}
                  onClick={() =>
                    void act(isPaused ? "resumed" : "paused", () => api.control(database, name, isPaused ? "start" : "stop"))
                  }
                >
                  {isPaused ? "Resume" : "Pause until restart"}
                </Menu.Item>
              )}
              <Menu.Item
                leftSection={<Icon name="power" size={14} />}
                onClick={() =>
                  void act(isDisabled ? "enabled" : "disabled", () =>
                    api.control(database, name, isDisabled ? "enable" : "disable"),
                  )
                }
              >
                {isDisabled ? "Enable" : "Disable"}
              </Menu.Item>
            </Needs>
            <Menu.Item
              leftSection={<Icon name="refresh" size={14} />}
              onClick={() =>
                ask({
                  title: `Rebuild ${name}?`,
                  text: "The index is rebuilt from scratch. Until then, queries return incomplete results.",
                  action: "Reset",
                  run: () => act("reset", () => api.reset(database, name)),
                })
              }
            >
              Reset…
            </Menu.Item>
            <Menu.Divider />
            <Menu.Label>Priority</Menu.Label>
            <Menu.RadioGroup
              aria-label="Priority"
              value={index.Priority}
              onChange={(value) => {
                const priority = value as api.Priority;
                void act(`given ${priority.toLowerCase()} priority`, () => api.setPriority(database, name, priority));
              }}
            >
              {(["Low", "Normal", "High"] as const).map((priority) => (
                <Menu.RadioItem key={priority} value={priority} closeMenuOnClick>
                  {priority}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            {!isAutomatic && (
              <>
                <Menu.Divider />
                <Menu.Label>Changes of the definition</Menu.Label>
                <Menu.RadioGroup
                  aria-label="Changes of the definition"
                  value={index.LockMode}
                  onChange={(value) => {
                    const mode = value as api.LockMode;
                    void act(mode === "Unlock" ? "unlocked" : "locked", () => api.setLock(database, name, mode));
                  }}
                >
                  {LOCKS.map(({ mode, label }) => (
                    <Menu.RadioItem key={mode} value={mode} closeMenuOnClick>
                      {label}
                    </Menu.RadioItem>
                  ))}
                </Menu.RadioGroup>
              </>
            )}
          </>
        )}
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<Icon name="trash" size={14} />}
          onClick={() =>
            ask({
              title: isReplacement ? "Stop building it?" : `Delete ${name}?`,
              text: isReplacement
                ? "The current index stays as it is."
                : "Queries that name it will fail; others may create an index of their own.",
              action: "Delete",
              run: () => act("deleted", () => api.remove(database, name), true),
            })
          }
        >
          Delete…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
