// Restoring a backup into a new database: a folder is looked through, a point in time is chosen, and the server restores it.
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { restorable, type Archive, type Restorable, type RestorePoint } from "../../api/backups";
import { count, counted, dateTime } from "../../format/format";
import { changed } from "../../shell/changed";
import { Screen } from "../../shell/Screen";
import { Failed, Loading } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { Ongoing, type Outcome } from "../backups/Ongoing";
import { Archives } from "./Archives";
import { databaseOf } from "./database";
import { keyOf } from "./moment";
import { Points } from "./Points";
import { RestoreArchive, RestoreBackup } from "./RestoreForm";
import styles from "./restore.module.css";

const route = getRouteApi("/restore");

export function Restore() {
  const { folder, operation, name } = route.useSearch();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(folder ?? "");
  useEffect(() => setTyped(folder ?? ""), [folder]);
  const [chosen, setChosen] = useState<Chosen>();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["restore-points", folder],
    queryFn: ({ signal }) => restorable(folder!, signal),
    enabled: folder !== undefined,
    staleTime: 0,
    retry: false,
  });
  const source = data && sourceOf(data, chosen);
  const id = operation !== undefined && /^\d+$/.test(operation) ? Number(operation) : undefined;
  const begun = (id: number, name: string | undefined) =>
    void navigate({
      to: "/restore",
      search: { ...(folder !== undefined && { folder }), operation: String(id), ...(name !== undefined && { name }) },
    });
  const [isRunning, setRunning] = useState(false);
  useEffect(() => setRunning(id !== undefined), [id]);
  return (
    <Screen title="Restore a backup">
      <div className={styles.page}>
        {id !== undefined && <Begun key={id} id={id} name={name} over={() => setRunning(false)} />}
        <form
          className={styles.folder}
          onSubmit={(event) => {
            event.preventDefault();
            const wanted = typed.trim();
            if (wanted === "") return;
            setChosen(undefined);
            if (wanted === folder) void refetch();
            else void navigate({ to: "/restore", search: { folder: wanted } });
          }}
        >
          <TextInput
            label="Folder of the backups"
            description={
              <>
                On the machine of the server. A relative one lies below its folder for backups; <code>.</code> is that folder
                itself.
              </>
            }
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button
            type="submit"
            variant={data ? "default" : "filled"}
            leftSection={<Icon name="search" size={14} />}
            disabled={typed.trim() === ""}
            loading={isFetching}
          >
            List backups
          </Button>
        </form>
        {folder === undefined ? (
          <p className={styles.note}>
            A backup becomes a new database. Nobody sees it before it is complete; one that fails leaves nothing.
          </p>
        ) : error ? (
          <Failed what="The folder cannot be read" error={error} retry={() => void refetch()} />
        ) : data === undefined ? (
          <Loading what="backups" />
        ) : source === undefined ? (
          <p className={styles.note} role="status">
            There is no backup in <code className={styles.path}>{folder}</code>. Name the folder that a task writes to, or one below
            it; files that end with <code>.partial</code> are not complete.
          </p>
        ) : (
          <>
            {data.archives.length > 0 && (
              <Archives archives={data.archives} chosen={source.archive} choose={(archive) => setChosen({ archive })} />
            )}
            {data.points.length > 0 && (
              <Points
                points={data.points}
                chosen={source.point}
                choose={(point) => setChosen({ point })}
                isTitled={data.archives.length > 0}
              />
            )}
            {/* What was typed belongs to the archive, or to the database that the backup is of, and to its key. */}
            {source.archive ? (
              <RestoreArchive key={keyOf(source.archive)} archive={source.archive} isRunning={isRunning} begun={begun} />
            ) : (
              <RestoreBackup
                key={`${databaseOf(source.point)}/${source.point.IsEncrypted}`}
                point={source.point}
                isRunning={isRunning}
                begun={begun}
              />
            )}
          </>
        )}
      </div>
    </Screen>
  );
}

type Chosen = { archive: Archive; point?: undefined } | { point: RestorePoint; archive?: undefined };

/** What is restored: what was chosen as it is now, or the newest. An archive goes on from the last backup. */
function sourceOf({ points, archives }: Restorable, chosen: Chosen | undefined): Chosen | undefined {
  const archive = chosen?.archive && archives.find((one) => keyOf(one) === keyOf(chosen.archive));
  const point = chosen?.point && points.find(({ FileName }) => FileName === chosen.point.FileName);
  if (archive) return { archive };
  if (point) return { point };
  if (archives[0]) return { archive: archives[0] };
  return points[0] && { point: points[0] };
}

/** What was begun, here or before the page was loaded again. Without a name a backup is verified. */
function Begun({ id, name, over }: { id: number; name: string | undefined; over: () => void }) {
  const [outcome, setOutcome] = useState<Outcome>();
  const ended = (outcome: Outcome) => {
    setOutcome(outcome);
    over();
    if (name !== undefined) void changed("databases");
  };
  if (outcome === undefined) {
    return (
      <Ongoing
        database={undefined}
        id={id}
        total={undefined}
        what={name === undefined ? "Verifying" : `Restoring '${name}'`}
        ended={ended}
      />
    );
  }
  if (outcome.kind !== "done") {
    return (
      <div className={styles.outcome} data-tone="bad" role="alert">
        <Icon name="warning" />
        <p>
          <b>{name === undefined ? "The backup cannot be restored." : `'${name}' was not restored.`}</b> {outcome.reason}
        </p>
      </div>
    );
  }
  const state = outcome.state && (
    <span className="number">
      {" "}
      The state is that of {dateTime(outcome.state.time)}, transaction {count(outcome.state.transaction)}.
    </span>
  );
  return (
    <div className={styles.outcome} data-tone="good" role="status">
      <Icon name="check" />
      {name === undefined ? (
        <p>
          The backup can be restored: it has {counted(outcome.documents, "document")}.{state}
        </p>
      ) : (
        <p>
          The database{" "}
          <Link to="/databases/$database/documents" params={{ database: name }}>
            {name}
          </Link>{" "}
          is restored, with {counted(outcome.documents, "document")}.{state}
        </p>
      )}
    </div>
  );
}
