// The menu of what is rarely done on a screen.
import { ActionIcon, Menu } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "../theme/icons";

export function MoreActions({ children }: { children: ReactNode }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label="More actions">
          <Icon name="dots" size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
