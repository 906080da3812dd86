// Backups of a database: the tasks that make them by the clock, and one by hand.
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { configurations, status, tasks, type BackupTask } from "../../api/backups";
import { Confirm, type Question } from "../../shell/Confirm";
import { ofDatabase, useLive } from "../../shell/live";
import { Screen } from "../../shell/Screen";
import { useAbilities } from "../../shell/session";
import { Empty, Failed, Loading } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { DelayDialog } from "./DelayDialog";
import { OnceDialog } from "./OnceDialog";
import { TaskCard } from "./TaskCard";
import { TaskDialog, type Edited } from "./TaskDialog";
import styles from "./backups.module.css";

const route = getRouteApi("/databases/$database/backups");

/** How often the tasks are read, in ms. */
const POLL_MS = 2000;

export function Backups() {
  const { database } = route.useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["backups", database],
    queryFn: async ({ signal }) => {
      const all = await tasks(database, signal);
      return Promise.all(all.map(async (task) => ({ task, ...(await status(database, task.TaskId, signal)) })));
    },
    refetchInterval: POLL_MS,
  });
  const { data: live } = useLive();
  const { isOperator, may } = useAbilities();
  const isAdmin = may("Admin", database);
  // Only administrators of the database read folders.
  const { data: known } = useQuery({
    queryKey: ["backup-configurations", database],
    queryFn: ({ signal }) => configurations(database, signal),
    retry: false,
    enabled: isAdmin,
  });
  const counters = ofDatabase(live?.latest, database);
  const documents = counters?.State === "Open" ? counters.Documents : undefined;
  const [edited, setEdited] = useState<Edited>();
  const [delayed, setDelayed] = useState<BackupTask>();
  const [question, ask] = useState<Question>();
  const [isOnce, once] = useDisclosure(false);
  return (
    <Screen
      title="Backups"
      actions={
        <>
          {isOperator && (
            <Button variant="default" renderRoot={(props: object) => <Link {...props} to="/restore" search={{}} />}>
              Restore a backup
            </Button>
          )}
          {isAdmin && (
            <>
              <Button variant="default" onClick={once.open}>
                Back up now…
              </Button>
              <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setEdited({ database, before: undefined })}>
                New task
              </Button>
            </>
          )}
        </>
      }
    >
      {data === undefined ? (
        error ? (
          <Failed what="The backup tasks cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="backup tasks" />
        )
      ) : data.length === 0 ? (
        <Empty icon="save" title="No backups are made by the clock">
          A task writes the database into a folder every night, and what has changed since every hour.{" "}
          {isOperator ? (
            <>
              <Link to="/server" search={{ tab: "backups" }}>
                Backups of all databases
              </Link>{" "}
              are set up for the server.
            </>
          ) : (
            !isAdmin && "An administrator of the database can make one."
          )}
        </Empty>
      ) : (
        <div className={styles.cards}>
          {data.map(({ task, Status, Archive }) => (
            <TaskCard
              key={task.TaskId}
              database={database}
              task={task}
              status={Status}
              archive={Archive}
              configuration={known?.find(({ TaskId }) => TaskId === task.TaskId)}
              documents={documents}
              isAdmin={isAdmin}
              isOperator={isOperator}
              ask={ask}
              edit={(before) => setEdited({ database, before })}
              delay={() => setDelayed(task)}
            />
          ))}
        </div>
      )}
      <TaskDialog edited={edited} close={() => setEdited(undefined)} />
      <OnceDialog database={database} documents={documents} isOpen={isOnce} close={once.close} />
      <DelayDialog database={database} task={delayed} close={() => setDelayed(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}
