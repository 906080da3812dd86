// One revision: its text, or what differs from the one before or from the document now; and the way back to it.
import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { load } from "../../api/documents";
import { revert, revisionText, type Revision } from "../../api/revisions";
import { Comparison, Editor } from "../../editor/Editor";
import { dateTime } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Needs } from "../../shell/rights";
import { Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import styles from "./revisions.module.css";

const route = getRouteApi("/databases/$database/revisions");

const VIEWS = [
  { value: "before", label: "Changes" },
  { value: "now", label: "Compared with now" },
  { value: "text", label: "Text" },
] as const;
export type View = (typeof VIEWS)[number]["value"];

/** The view of an address, which may hold anything. */
export function viewOf(text: string | undefined): View {
  return VIEWS.find(({ value }) => value === text)?.value ?? "before";
}

type Props = {
  database: string;
  id: string;
  revision: Revision;
  /** The revision before it; null if there is none, undefined if it has to be read. */
  before: Revision | null | undefined;
  readBefore: () => void;
  view: View;
};

export function One({ database, id, revision, before, readBefore, view }: Props) {
  const navigate = route.useNavigate();
  const [question, ask] = useState<Question>();
  const isUnread = view === "before" && before === undefined;
  useEffect(() => {
    if (isUnread) readBefore();
    // Once: its answer changes `before`.
  }, [isUnread]);
  const { data, error, refetch } = useQuery({
    queryKey: ["revision", database, revision.changeVector, view, before?.changeVector],
    queryFn: async ({ signal }) => {
      const [text, other] = await Promise.all([
        revisionText(database, revision.changeVector, signal),
        view === "now"
          ? load(database, id, signal).then((loaded) => loaded?.text)
          : view === "before" && before && !before.isDeletion
            ? revisionText(database, before.changeVector, signal)
            : undefined,
      ]);
      return { text, other };
    },
    enabled: !isUnread,
    staleTime: view === "now" ? 0 : Infinity,
    retry: false,
  });
  const askToRevert = () =>
    ask({
      title: "Revert to this revision?",
      text: (
        <>
          <b>{id}</b> is written as it was on {dateTime(revision.at)}. The state that it has now stays as a revision.
        </>
      ),
      action: "Revert",
      isHarmless: true,
      run: () =>
        revert(database, id, revision.changeVector).then(
          () => {
            told(`${id} is as it was on ${dateTime(revision.at)}`);
            void changed("documents");
            return changed("revisions");
          },
          (reason: unknown) => failed(`${id} was not reverted`, reason),
        ),
    });
  return (
    <section className={styles.one} aria-label={`Revision of ${dateTime(revision.at)}`}>
      <div className={styles.oneHead}>
        <SegmentedControl
          size="xs"
          aria-label="What is shown"
          value={view}
          onChange={(next) =>
            void navigate({ search: { id, at: revision.changeVector, view: next }, replace: true, resetScroll: false })
          }
          data={VIEWS.map((one) => ({ ...one }))}
        />
        <Needs right="ReadWrite">
          {!revision.isDeletion && (
            <Button variant="default" className={styles.revert!} onClick={askToRevert}>
              Revert to this revision…
            </Button>
          )}
        </Needs>
      </div>
      {error ? (
        <Failed what="The revision cannot be read" error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="the revision" />
      ) : (
        <Content revision={revision} before={before ?? null} view={view} {...data} />
      )}
      <Confirm question={question} close={() => ask(undefined)} />
    </section>
  );
}

type ContentProps = {
  revision: Revision;
  before: Revision | null;
  view: View;
  /** Undefined if it is gone. */
  text: string | undefined;
  other: string | undefined;
};

function Content({ revision, before, view, text, other }: ContentProps) {
  if (text === undefined) return <p className={styles.note}>This revision was deleted meanwhile.</p>;
  if (revision.isDeletion && view !== "now") return <p className={styles.note}>The document was deleted then, and has no text.</p>;
  const of = `Revision of ${dateTime(revision.at)}`;
  if (view === "before" && other !== undefined) {
    return (
      <Difference
        left={other}
        right={text}
        labels={[`Revision of ${dateTime(before!.at)}`, of]}
        equal="The text is that of the revision before: attachments, counters or metadata of the server have changed."
      />
    );
  }
  if (view === "now" && other !== undefined) {
    return (
      <Difference left={text} right={other} labels={[of, "The document now"]} equal="The document has the text of this revision." />
    );
  }
  const note =
    view === "now"
      ? "The document does not exist now. This is the text of the revision."
      : view === "text"
        ? undefined
        : before?.isDeletion
          ? "The document was deleted before, and is new with this revision."
          : "This is the first revision that is kept.";
  return (
    <>
      {note !== undefined && <p className={styles.note}>{note}</p>}
      <div className={styles.text}>
        <Editor label={of} language="json" value={text} isReadOnly />
      </div>
    </>
  );
}

function Difference({ left, right, labels, equal }: { left: string; right: string; labels: [string, string]; equal: string }) {
  if (left === right) return <p className={styles.note}>{equal}</p>;
  return (
    <>
      <div className={styles.sides} aria-hidden="true">
        <span className="number">{labels[0]}</span>
        <span className="number">{labels[1]}</span>
      </div>
      <div className={styles.comparison}>
        <Comparison key={`${left}\n${right}`} theirs={left} mine={right} labels={labels} />
      </div>
    </>
  );
}
