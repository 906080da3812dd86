// What a patch would do to the first documents that it finds: before and after, side by side.
import { Link } from "@tanstack/react-router";
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import type { TestedPatch } from "../../api/queries";
import { Comparison } from "../../editor/Editor";
import { counted } from "../../format/format";
import { pretty } from "../../json/scan";
import styles from "./patch.module.css";

/** Documents that it is tried on. */
export const TESTED_COUNT = 3;

/** A document, and what the patch would do to it. */
export type Tested = { id: string; patch: TestedPatch };

export function PatchPreview({ database, tested, total }: { database: string; tested: readonly Tested[]; total: number }) {
  const [id, choose] = useState(tested[0]?.id);
  const shown = tested.find((one) => one.id === id);
  if (!shown) return null;
  const { patch } = shown;
  return (
    <div className={styles.preview}>
      <div className={styles.previewHead}>
        {tested.length > 1 ? (
          <SegmentedControl
            size="xs"
            aria-label="Document to preview"
            data={tested.map((one) => one.id)}
            value={shown.id}
            onChange={choose}
          />
        ) : (
          <b>{shown.id}</b>
        )}
        <Link to="/databases/$database/document" params={{ database }} search={{ id: shown.id }} target="_blank">
          Open in a new tab
        </Link>
      </div>
      {patch.before === patch.after ? (
        <p>The patch leaves this document as it is.</p>
      ) : (
        <>
          <div className={styles.sides} aria-hidden="true">
            <span>Before</span>
            <span>After</span>
          </div>
          <Comparison key={shown.id} theirs={pretty(patch.before)} mine={pretty(patch.after)} labels={["Before", "After"]} />
        </>
      )}
      <Besides what="It also stores" ids={patch.stored} />
      <Besides what="It also deletes" ids={patch.deleted} />
      {patch.printed.length > 0 && <pre className={styles.printed}>{patch.printed.join("\n")}</pre>}
      <p>
        {total > tested.length ? `Tried on ${tested.length} of ${counted(total, "document")}; nothing has been stored yet. ` : ""}
        The patch runs in the background and cannot be undone.
      </p>
    </div>
  );
}

function Besides({ what, ids }: { what: string; ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <p>
      {what} <b>{ids.join(", ")}</b>.
    </p>
  );
}
