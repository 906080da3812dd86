// The API keys: making, changing and revoking them.
import { ActionIcon, Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { apiKeys, deleteKey, type ApiKey } from "../../api/access";
import { ago, dateTime, serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { useAbilities } from "../../shell/session";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { Ends } from "./Ends";
import { KeyDialog, type KeyTask } from "./KeyDialog";
import { RightsText } from "./Rights";
import styles from "./access.module.css";

/** How often the list is read, in ms. */
const POLL_MS = 10_000;

export function Keys() {
  const { data, error, refetch } = useQuery({
    queryKey: ["api-keys"],
    queryFn: ({ signal }) => apiKeys(signal),
    refetchInterval: POLL_MS,
  });
  const [task, setTask] = useState<KeyTask>();
  const [question, ask] = useState<Question>();
  const askToRevoke = ({ name }: ApiKey) =>
    ask({
      title: `Revoke '${name}'?`,
      text: "Requests with this key are refused at once, and who signed in by it is signed out. This cannot be undone.",
      action: "Revoke",
      run: () =>
        deleteKey(name).then(
          () => (told(`'${name}' was revoked`), changed("access")),
          (error: unknown) => failed(`'${name}' was not revoked`, error),
        ),
    });
  const create = (
    <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setTask({ kind: "create" })}>
      New API key
    </Button>
  );
  return (
    <>
      {data === undefined ? (
        error ? (
          <Failed what="The API keys cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="API keys" />
        )
      ) : data.length === 0 ? (
        <Empty icon="lock" title="No API keys" action={create}>
          A key is for programs without a client certificate, and for signing in to the studio. It is sent with each request.
        </Empty>
      ) : (
        <div className={tables.scroll}>
          <div className={styles.head}>
            <p className="soft">For programs without a client certificate, and for signing in to the studio.</p>
            {create}
          </div>
          <table className={tables.table} role="table" aria-label="API keys">
            <thead role="rowgroup">
              <tr role="row">
                {["Name", "Rights", "Expires", "Last use"].map((title) => (
                  <th key={title} scope="col" role="columnheader">
                    {title}
                  </th>
                ))}
                <th scope="col" role="columnheader">
                  <span className={tables.hidden}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {data.map((key) => (
                <Row key={key.name} of={key} edit={() => setTask({ kind: "edit", key })} revoke={() => askToRevoke(key)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <KeyDialog task={task} close={() => setTask(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </>
  );
}

function Row({ of, edit, revoke }: { of: ApiKey; edit: () => void; revoke: () => void }) {
  const { isClusterAdmin } = useAbilities();
  const { name, created, expires, lastUsed } = of;
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className={tables.name}>
        <b>{name}</b>
        <span className={tables.kind}>Made {dateTime(created)}</span>
      </th>
      <td role="cell" className={tables.state}>
        <RightsText {...of} />
      </td>
      <td role="cell" data-label="Expires" className="number">
        <Ends at={expires} never="Never" />
      </td>
      <td role="cell" data-label="Last use" className="number">
        {lastUsed === null ? "Never" : ago(lastUsed, serverNow())}
      </td>
      <td role="cell" className={`${tables.right} ${tables.menu}`}>
        {(isClusterAdmin || of.clearance !== "ClusterAdmin") && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label={`Actions for ${name}`}>
                <Icon name="dots" />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={edit}>
                Change rights…
              </Menu.Item>
              <Menu.Item color="red" leftSection={<Icon name="trash" size={14} />} onClick={revoke}>
                Revoke…
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </td>
    </tr>
  );
}
