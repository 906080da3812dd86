// A database that was deleted or disabled, by whomever: one screen says so in place of all of its screens.
import { Button, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { setEnabled } from "../api/databases";
import { Icon } from "../theme/icons";
import { Blocker, unsavedAt } from "./Leaving";
import { ofDatabase, useLive } from "./live";
import { Screen } from "./Screen";
import { useAbilities } from "./session";
import { failed, told } from "./toasts";
import styles from "./states.module.css";

/** `unknown`: it was not there when the list was last read, which is being read again. */
export type Unavailability = "deleted" | "disabled" | "unknown";

/** Undefined as long as nothing is known against it. */
export function useUnavailability(database: string | undefined): Unavailability | undefined {
  const { data, refetch } = useLive();
  const arrived = useRef({ database, at: Date.now() });
  if (arrived.current.database !== database) arrived.current = { database, at: Date.now() };
  // An older list may not have one that was just created.
  const isOld = data !== undefined && data.askedAt < arrived.current.at;
  const isMissing = database !== undefined && isOld && ofDatabase(data.latest, database) === undefined;
  useEffect(() => {
    if (isMissing) void refetch();
  }, [isMissing, refetch]);
  if (isMissing) return "unknown";
  if (database === undefined || !data || isOld) return undefined;
  const state = ofDatabase(data.latest, database)?.State;
  if (state === undefined || state === "Deleted") return "deleted";
  return state === "Disabled" ? "disabled" : undefined;
}

export function Unavailable({ database, state }: { database: string; state: Exclude<Unavailability, "unknown"> }) {
  const requests = useQueryClient();
  const enabling = useMutation({
    mutationFn: () => setEnabled(database, true),
    onSuccess: () => (told(`'${database}' is enabled`), requests.invalidateQueries()),
    onError: (error) => failed(`'${database}' was not enabled`, error),
  });
  const { isOperator } = useAbilities();
  const isDisabled = state === "disabled";
  const href = useLocation({ select: (location) => location.href });
  const unsaved = unsavedAt(href);
  return (
    <Screen title={database}>
      <div className={styles.state} role="alert">
        <span className={styles.icon}>
          <Icon name={isDisabled ? "power" : "database"} size={22} />
        </span>
        <h2 className={styles.title}>{isDisabled ? `'${database}' is disabled` : `There is no database '${database}'`}</h2>
        <p className={styles.text}>
          {isDisabled
            ? "It answers no requests until it is enabled. What was open here is kept."
            : "It was deleted, or was never on this server."}
        </p>
        <div className={styles.action}>
          {isDisabled && isOperator && (
            <Button onClick={() => enabling.mutate()} loading={enabling.isPending}>
              Enable
            </Button>
          )}
          <Link to="/databases">Go to the databases</Link>
        </div>
        {unsaved && <Unsaved what={unsaved.what} text={unsaved.text()} />}
      </div>
      <Blocker isDirty={unsaved !== undefined} what={unsaved?.what ?? ""} />
    </Screen>
  );
}

/** What cannot be saved now can be taken along. */
function Unsaved({ what, text }: { what: string; text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      told("The text was copied");
    } catch {
      // Without TLS a browser has no clipboard for pages; its own copying works on what is selected.
      field.current?.select();
      told("The text is selected: press Ctrl+C to copy it");
    }
  };
  return (
    <section className={styles.unsaved} aria-label="Unsaved changes">
      <Textarea
        ref={field}
        label={`What you changed in ${what} is not saved`}
        value={text}
        readOnly
        rows={10}
        classNames={{ input: "mono" }}
        spellCheck={false}
      />
      <Button variant="default" leftSection={<Icon name="copy" size={14} />} onClick={() => void copy()}>
        Copy the text
      </Button>
    </section>
  );
}
