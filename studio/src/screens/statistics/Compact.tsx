// A compaction of a database with its indexes: what it does is said before, then how far it is.
import { Button } from "@mantine/core";
import { useState } from "react";
import { compact } from "../../api/databases";
import type { StorageArea } from "../../api/diagnostics";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Running, type RunningOperation } from "../../shell/Running";
import { failed } from "../../shell/toasts";
import styles from "./statistics.module.css";

export function Compact({ database, areas }: { database: string; areas: readonly StorageArea[] }) {
  const [question, ask] = useState<Question>();
  const [running, setRunning] = useState<RunningOperation>();
  const indexes = areas.filter(({ Type }) => Type === "Index").map(({ Name }) => Name);
  const title = `Compact '${database}'`;
  const begin = () =>
    compact(database, indexes).then(
      (id) => setRunning({ database: undefined, id, title }),
      (reason: unknown) => failed("The database could not be compacted", reason),
    );
  return (
    <>
      <Button
        className={styles.compact!}
        size="compact-sm"
        variant="default"
        onClick={() =>
          ask({
            title,
            text: (
              <>
                <p>
                  The documents and all indexes are copied without the room that is free in them. The disk needs room for the
                  copies.
                </p>
                <p>Queries and reads go on. Writes wait while the documents are copied.</p>
              </>
            ),
            action: "Compact",
            isHarmless: true,
            run: begin,
          })
        }
      >
        Compact…
      </Button>
      <Confirm question={question} close={() => ask(undefined)} />
      <Running operation={running} ended={() => void changed("documents")} close={() => setRunning(undefined)} />
    </>
  );
}
