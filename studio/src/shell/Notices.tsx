// The bell: how many notices there are, and their list.
import { ActionIcon, Button, Popover, VisuallyHidden } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { logLines } from "../api/diagnostics";
import { statistics, type Statistics } from "../api/indexes";
import { ago, count, counted, dateTime } from "../format/format";
import { Icon } from "../theme/icons";
import { useLive } from "./live";
import { noticesOf, stillDismissed, troubled, withoutDismissed, type Dismissed, type Notice } from "./notice";
import { useRemembered } from "./remembered";
import { useAbilities } from "./session";
import styles from "./notices.module.css";

/** How often the log and the indexes with problems are read, in ms, while the page is seen. */
const POLL_MS = 30_000;
/** Errors of the log that are read. */
const ERROR_COUNT = 50;
const NONE: Dismissed = {};
const NO_NOTICES: Notice[] = [];

/** All notices, and those that nobody dismissed. Most come from the live counters, which the shell reads anyway; the rest from one slow poll. */
function useNotices() {
  const { data: live } = useLive();
  const { isOperator } = useAbilities();
  const inTrouble = troubled(live?.latest);
  const { data, isPlaceholderData } = useQuery({
    queryKey: ["notices", inTrouble],
    queryFn: async ({ signal }) => {
      const names = inTrouble.map((one) => one.split("/")[0]!);
      const [errors, ...all] = await Promise.allSettled([
        isOperator ? logLines("Error", "", ERROR_COUNT, signal) : Promise.resolve([]),
        ...names.map((name) => statistics(name, signal)),
      ]);
      const indexes = new Map<string, readonly Statistics[]>();
      all.forEach((one, at) => one.status === "fulfilled" && indexes.set(names[at]!, one.value as Statistics[]));
      return { errors: errors.status === "fulfilled" ? errors.value : undefined, indexes };
    },
    enabled: live !== undefined,
    refetchInterval: POLL_MS,
    staleTime: POLL_MS,
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
  const [dismissed, setDismissed] = useRemembered("notices", NONE);
  const latest = live?.latest;
  const isKnown = latest !== undefined && data !== undefined;
  const held = useRef(NO_NOTICES);
  const notices = useMemo(() => {
    // While the names of indexes with new problems are on their way, the list stays as it was.
    if (!latest || !data || isPlaceholderData) return held.current;
    return noticesOf({ live: latest, ...data });
  }, [latest, data, isPlaceholderData]);
  useEffect(() => {
    held.current = notices;
    // Without the log it is not known what is over.
    if (!latest || !data?.errors || isPlaceholderData) return;
    const kept = stillDismissed(dismissed, notices, latest);
    if (kept !== dismissed) setDismissed((stored) => stillDismissed(stored, notices, latest));
  }, [notices, latest, data, isPlaceholderData, dismissed, setDismissed]);
  return { isKnown, notices, shown: withoutDismissed(notices, dismissed), setDismissed };
}

export function Notices() {
  const { isKnown, notices, shown, setDismissed } = useNotices();
  const [isOpen, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const hiddenCount = notices.length - shown.length;
  const dismiss = (some: readonly Notice[]) => {
    setDismissed((stored) => ({ ...stored, ...Object.fromEntries(some.map(({ key, cause }) => [key, cause])) }));
    // The button that had the focus goes.
    list.current?.focus();
  };
  return (
    <>
      <Popover
        opened={isOpen}
        onChange={setOpen}
        position="bottom-start"
        shadow="md"
        trapFocus
        returnFocus
        width="min(400px, calc(100vw - 24px))"
        transitionProps={{ duration: 0 }}
      >
        <Popover.Target>
          <ActionIcon
            aria-label={shown.length === 0 ? "Notices: none" : `Notices: ${count(shown.length)}`}
            className={styles.bell!}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="bell" size={17} />
            {shown.length > 0 && (
              <span className={`${styles.count} number`} data-tone={shown[0]!.tone} aria-hidden="true">
                {shown.length > 9 ? "9+" : shown.length}
              </span>
            )}
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown p={0} aria-label="Notices" className={styles.dropdown!}>
          <div ref={list} tabIndex={-1} data-autofocus className={styles.list}>
            <header className={styles.head}>
              <h2>Notices</h2>
              {shown.length > 1 && (
                <Button variant="subtle" size="compact-xs" onClick={() => dismiss(shown)}>
                  Dismiss all
                </Button>
              )}
            </header>
            {shown.length === 0 ? (
              <p className={styles.none}>
                {hiddenCount > 0
                  ? "No new notices."
                  : "No notices. Failed indexes, errors, a full disk, and databases that cannot be opened are listed here."}
              </p>
            ) : (
              <ul>
                {shown.map((notice) => (
                  <li key={notice.key} className={styles.notice} data-tone={notice.tone}>
                    <Icon name="warning" size={15} />
                    <div className={styles.body}>
                      <p>{notice.text}</p>
                      <p className={styles.foot}>
                        <Link
                          to={notice.link.to}
                          params={notice.link.params ?? {}}
                          search={notice.link.search ?? {}}
                          onClick={() => setOpen(false)}
                        >
                          {notice.link.label}
                        </Link>
                        {notice.at !== undefined && (
                          <time dateTime={notice.at} title={dateTime(notice.at)} className="number">
                            {ago(notice.at)}
                          </time>
                        )}
                      </p>
                    </div>
                    <ActionIcon size="sm" aria-label={`Dismiss: ${notice.text}`} onClick={() => dismiss([notice])}>
                      <Icon name="close" size={12} />
                    </ActionIcon>
                  </li>
                ))}
              </ul>
            )}
            {hiddenCount > 0 && (
              <footer className={styles.dismissed}>
                <span>{`${counted(hiddenCount, "notice")} dismissed`}</span>
                <Button
                  variant="subtle"
                  size="compact-xs"
                  onClick={() => {
                    setDismissed(NONE);
                    list.current?.focus();
                  }}
                >
                  Show again
                </Button>
              </footer>
            )}
          </div>
        </Popover.Dropdown>
      </Popover>
      <Announced isKnown={isKnown} shown={shown} />
    </>
  );
}

/** Tells screen readers of notices that come while the page is open. */
function Announced({ isKnown, shown }: { isKnown: boolean; shown: readonly Notice[] }) {
  const known = useRef<ReadonlySet<string>>(undefined);
  const [text, setText] = useState("");
  const signature = JSON.stringify(shown.map(({ key, cause }) => [key, cause]));
  const latest = useRef(shown);
  useEffect(() => {
    latest.current = shown;
  });
  useEffect(() => {
    if (!isKnown) return;
    const fresh = latest.current.filter(({ key, cause }) => !known.current?.has(`${key} ${cause}`));
    if (known.current && fresh.length > 0) setText(`New notice: ${fresh.map((notice) => notice.text).join(" ")}`);
    known.current = new Set([...(known.current ?? []), ...fresh.map(({ key, cause }) => `${key} ${cause}`)]);
  }, [isKnown, signature]);
  return (
    <VisuallyHidden role="status" aria-label="New notices">
      {text}
    </VisuallyHidden>
  );
}
