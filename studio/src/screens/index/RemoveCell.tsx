// The last cell of a row that can be removed.
import { ActionIcon } from "@mantine/core";
import { Icon } from "../../theme/icons";

/** `what`: as `the options of Name`. */
export function RemoveCell({ what, remove }: { what: string; remove: () => void }) {
  return (
    <td>
      <ActionIcon aria-label={`Remove ${what}`} onClick={remove}>
        <Icon name="close" size={13} />
      </ActionIcon>
    </td>
  );
}
