// Changing what a query finds: counted, tried and asked before, and then watched.
import { Link } from "@tanstack/react-router";
import { Fragment, useState, type ReactNode } from "react";
import { patchFound, removeFound, run, testPatch } from "../../api/queries";
import { counted } from "../../format/format";
import { begun } from "../../shell/begun";
import { changedByQuery } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Running, type RunningOperation } from "../../shell/Running";
import { told } from "../../shell/toasts";
import { PatchPreview, TESTED_COUNT, type Tested } from "./PatchPreview";
import { findingPart } from "./text";

/** Documents that are named before they are deleted. */
const NAMED_COUNT = 5;

type Changing = {
  /** Counts what would be changed, tries a patch on the first of it, and asks. * `parameters`: a JSON object as text. */
  ask: (what: "patch" | "delete", text: string, parameters: string) => Promise<void>;
  /** Whether it counts and tries. */
  isAsking: boolean;
  /** The dialogs. */
  dialogs: ReactNode;
};

/** `patches`: told before a patch is shown to be running. `failed`: told why something cannot be changed, and of which text. */
export function useChanging(database: string, patches: () => void, failed: (error: unknown, text: string) => void): Changing {
  const [question, setQuestion] = useState<Question>();
  const [running, setRunning] = useState<RunningOperation>();
  const [isAsking, setAsking] = useState(false);
  const ask = async (what: "patch" | "delete", text: string, values: string) => {
    const isPatching = what === "patch";
    setAsking(true);
    try {
      const found = await run(database, { text: findingPart(text), parameters: values, pageSize: NAMED_COUNT, isFresh: true });
      const ids = found.results.map((result) => result["@metadata"]?.["@id"]).filter((id) => id !== undefined);
      const tested = isPatching ? await tryPatch(database, ids, text, values) : [];
      if (found.total === 0) return told(`The query finds no documents: there is nothing to ${what}`);
      setQuestion({
        title: isPatching ? `Patch ${counted(found.total, "document")}?` : `Delete ${counted(found.total, "document")}?`,
        text: isPatching ? (
          <PatchPreview database={database} tested={tested} total={found.total} />
        ) : (
          <>
            <p>
              {found.total > ids.length ? "The first of them: " : ""}
              <Names database={database} ids={ids} />
            </p>
            <p>The deletion runs in the background and cannot be undone.</p>
          </>
        ),
        isWide: isPatching,
        action: isPatching ? "Patch" : "Delete",
        typed: String(found.total),
        typedWhat: "the number of documents",
        run: async () => {
          try {
            const started = isPatching ? await patchFound(database, text, values) : await removeFound(database, text, values);
            if (isPatching) patches();
            begun(database, started.OperationId, "from this browser");
            setRunning({ database, id: started.OperationId, title: isPatching ? "Patching" : "Deleting" });
          } catch (error) {
            failed(error, text);
          }
        },
      });
    } catch (error) {
      failed(error, text);
    } finally {
      setAsking(false);
    }
  };
  return {
    ask,
    isAsking,
    dialogs: (
      <>
        <Confirm question={question} close={() => setQuestion(undefined)} />
        <Running operation={running} ended={() => void changedByQuery(database)} close={() => setRunning(undefined)} />
      </>
    ),
  };
}

/** Ids that lead to their documents, beside this page. */
function Names({ database, ids }: { database: string; ids: readonly string[] }) {
  return ids.map((id, at) => (
    <Fragment key={id}>
      {at > 0 && ", "}
      <Link to="/databases/$database/document" params={{ database }} search={{ id }} target="_blank">
        {id}
      </Link>
    </Fragment>
  ));
}

/** Throws if it is no script, also where there is nothing to try it on. */
async function tryPatch(database: string, ids: readonly string[], text: string, values: string): Promise<Tested[]> {
  const some = ids.length > 0 ? ids.slice(0, TESTED_COUNT) : ["-"];
  const tested = await Promise.all(some.map(async (id) => ({ id, patch: await testPatch(database, id, text, values) })));
  return tested.filter((one): one is Tested => one.patch !== undefined);
}
