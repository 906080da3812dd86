// Backups of all databases: one configuration, of which each database has a task.
import { ActionIcon, Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deleteServerWide, serverWide, setServerWideEnabled, type BackupConfiguration } from "../../api/backups";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { isArchived, otherDestinations, retentionText } from "./draft";
import { Badge, Fact, timesOf } from "./TaskCard";
import { TaskDialog, type Edited } from "./TaskDialog";
import styles from "./backups.module.css";

export function ServerWide() {
  const { data, error, refetch } = useQuery({
    queryKey: ["server-wide-backups"],
    queryFn: ({ signal }) => serverWide(signal),
  });
  const [edited, setEdited] = useState<Edited>();
  const [question, ask] = useState<Question>();
  if (!data) {
    return error ? (
      <Failed what="The backups of all databases cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="backups of all databases" />
    );
  }
  return (
    <>
      <div className={styles.intro}>
        <p className={styles.note}>
          {data.length === 0 ? "There is no backup of all databases. " : ""}
          Each database gets a task of such a backup, also one that is created later. Its screen <i>Backups</i> shows how it goes.
        </p>
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setEdited({ database: undefined, before: undefined })}>
          New backup of all databases
        </Button>
      </div>
      <div className={styles.wideCards}>
        {data.map((backup) => (
          <Card key={backup.Name} backup={backup} ask={ask} edit={() => setEdited({ database: undefined, before: backup })} />
        ))}
      </div>
      <TaskDialog edited={edited} close={() => setEdited(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </>
  );
}

function Card({ backup, ask, edit }: { backup: BackupConfiguration; ask: (question: Question) => void; edit: () => void }) {
  const name = backup.Name ?? "";
  const isEnabled = backup.Disabled !== true;
  const excluded = backup.ExcludedDatabases ?? [];
  const act = (what: string, action: () => Promise<unknown>) =>
    action().then(
      () => (told(`'${name}' is ${what}`), changed("backups")),
      (error: unknown) => failed(`'${name}' is not ${what}`, error),
    );
  const places = [
    ...(backup.LocalSettings?.FolderPath ? [<code className={styles.path}>{backup.LocalSettings.FolderPath}</code>] : []),
    ...otherDestinations(backup),
  ];
  return (
    <section className={styles.card} aria-label={name}>
      <div className={styles.cardHead}>
        <h2 className={styles.title}>{name}</h2>
        {isEnabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
        {backup.BackupType === "Snapshot" && <Badge>Snapshots</Badge>}
        {isArchived(backup) && <Badge>Any second</Badge>}
        {backup.BackupEncryptionSettings?.EncryptionMode === "UseProvidedKey" && <Badge>Encrypted</Badge>}
        <div className={styles.cardActions}>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label={`Actions for ${name}`}>
                <Icon name="dots" />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={edit}>
                Change…
              </Menu.Item>
              <Menu.Item
                leftSection={<Icon name="power" size={14} />}
                onClick={() => void act(isEnabled ? "disabled" : "enabled", () => setServerWideEnabled(name, !isEnabled))}
              >
                {isEnabled ? "Disable" : "Enable"}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<Icon name="trash" size={14} />}
                onClick={() =>
                  ask({
                    title: `Delete the backup '${name}' of all databases?`,
                    text: "Its task in each database is deleted with it. The files that it has made stay in their folders.",
                    action: "Delete",
                    run: () => act("deleted", () => deleteServerWide(name)),
                  })
                }
              >
                Delete…
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </div>
      </div>
      <dl className={styles.facts}>
        <Fact name="Full">{timesOf(backup.FullBackupFrequency)}</Fact>
        <Fact name="Incremental">{timesOf(backup.IncrementalBackupFrequency)}</Fact>
        <Fact name="Kept">{retentionText(backup.RetentionPolicy)}</Fact>
        <Fact name="To">
          {places.map((place, at) => (
            <span key={at}>
              {at > 0 && ", "}
              {place}
            </span>
          ))}
        </Fact>
        <Fact name="Excluded databases">{excluded.length === 0 ? "none" : excluded.join(", ")}</Fact>
      </dl>
    </section>
  );
}
