// Who may call the server: API keys and certificates, with their rights.
import { SegmentedControl } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Screen } from "../../shell/Screen";
import { MAY_SIGN_IN, useAbilities } from "../../shell/session";
import { Empty } from "../../shell/states";
import { Certificates } from "./Certificates";
import { Keys } from "./Keys";

const route = getRouteApi("/access");

const TABS = [
  { value: "keys", label: "API keys" },
  { value: "certificates", label: "Certificates" },
];

export function Access() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const { isOperator } = useAbilities();
  const tab = search.tab === "certificates" ? "certificates" : "keys";
  if (!MAY_SIGN_IN || !isOperator)
    return (
      <Screen title="Access">
        <Empty icon="lock" title={isOperator ? "The server speaks HTTP" : "Only operators see this"}>
          {isOperator
            ? "API keys and certificates need HTTPS. “Security” in the help says how to make certificates and start the server with them."
            : "An operator of the server decides who may do what."}
        </Empty>
      </Screen>
    );
  return (
    <Screen
      title="Access"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Kind of access"
          value={tab}
          onChange={(value) => void navigate({ to: "/access", search: { tab: value } })}
          data={TABS}
        />
      }
    >
      {tab === "keys" ? <Keys /> : <Certificates />}
    </Screen>
  );
}
