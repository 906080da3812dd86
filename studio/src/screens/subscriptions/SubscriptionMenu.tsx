// What one can do with a subscription.
import { ActionIcon, Menu } from "@mantine/core";
import { drop, remove, setDisabled, type Subscription } from "../../api/subscriptions";
import { changed } from "../../shell/changed";
import type { Question } from "../../shell/Confirm";
import { Needs } from "../../shell/rights";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";

export function SubscriptionMenu({
  database,
  subscription,
  ask,
  edit,
  look,
}: {
  database: string;
  subscription: Subscription;
  ask: (question: Question) => void;
  edit: () => void;
  /** Shows what would be sent next. */
  look: () => void;
}) {
  const { SubscriptionName: name, Disabled: isDisabled, Connections } = subscription;
  const act = (what: string, action: () => Promise<unknown>) =>
    action().then(
      () => (told(`'${name}' is ${what}`), changed("subscriptions")),
      (error: unknown) => failed(`'${name}' is not ${what}`, error),
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${name}`}>
          <Icon name="dots" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="right" size={14} />} onClick={look}>
          What comes next…
        </Menu.Item>
        <Needs right="ReadWrite">
          <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={edit}>
            Change…
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="power" size={14} />}
            onClick={() => void act(isDisabled ? "enabled" : "disabled", () => setDisabled(database, name, !isDisabled))}
          >
            {isDisabled ? "Enable" : "Disable"}
          </Menu.Item>
          {Connections.length > 1 && (
            <Menu.Item
              leftSection={<Icon name="stop" size={14} />}
              onClick={() => void act("without workers", () => drop(database, name))}
            >
              Disconnect all workers
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<Icon name="trash" size={14} />}
            onClick={() =>
              ask({
                title: `Delete the subscription '${name}'?`,
                text: "Its workers are disconnected, and what they have acknowledged is forgotten. Documents stay. This cannot be undone.",
                action: "Delete",
                run: () => act("deleted", () => remove(database, name)),
              })
            }
          >
            Delete…
          </Menu.Item>
        </Needs>
      </Menu.Dropdown>
    </Menu>
  );
}
