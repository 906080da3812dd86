// What becomes of documents of JSON that do not say where they belong: their collection, their ids, and how the first one is stored.
import { Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { prefixOf } from "../../api/documents";
import { guessedCollection } from "../../importing/csv";
import { hasExtended, idFields, isUsualId, planned, type JsonPlan } from "../../importing/json";
import styles from "./databases.module.css";

const MADE = "";

export function ImportJson({
  fileName,
  texts,
  begin,
  close,
}: {
  fileName: string;
  /** The first documents. */
  texts: readonly string[];
  begin: (plan: JsonPlan) => void;
  close: () => void;
}) {
  const fields = useMemo(() => idFields(texts), [texts]);
  const isExtended = useMemo(() => texts.some(hasExtended), [texts]);
  const [plan, setPlan] = useState<JsonPlan>(() => {
    const collection = guessedCollection(fileName);
    return { collection, idField: isUsualId(fields[0]) ? fields[0]! : MADE, idPrefix: prefixOf(collection), isExtended };
  });
  /** Whether somebody said what ids begin with; until then it follows the collection. */
  const [isPrefixTyped, setPrefixTyped] = useState(false);
  const setCollection = (collection: string) =>
    setPlan({ ...plan, collection, idPrefix: isPrefixTyped ? plan.idPrefix : collection === "" ? "" : prefixOf(collection) });
  const isReady = plan.idField !== MADE || plan.idPrefix !== "";
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) begin(plan);
      }}
    >
      <div className={styles.csvChoices}>
        <TextInput
          autoFocus
          data-autofocus
          label="Collection"
          value={plan.collection}
          onChange={(event) => setCollection(event.currentTarget.value)}
        />
        <Select
          label="Id"
          value={plan.idField}
          onChange={(idField) => idField !== null && setPlan({ ...plan, idField })}
          data={[{ value: MADE, label: "Made by the server" }, ...fields.map((name) => ({ value: name, label: `From ${name}` }))]}
        />
        <TextInput
          label="Ids begin with"
          value={plan.idPrefix}
          onChange={(event) => {
            setPrefixTyped(true);
            setPlan({ ...plan, idPrefix: event.currentTarget.value });
          }}
          error={isReady ? undefined : "Required: the server adds a number only"}
        />
      </div>
      {isExtended && (
        <Checkbox
          label="Store MongoDB's $oid, $date and $number values as plain values"
          checked={plan.isExtended}
          onChange={(event) => setPlan({ ...plan, isExtended: event.currentTarget.checked })}
        />
      )}
      <figure className={styles.csvSample}>
        <figcaption>The first document becomes</figcaption>
        <code>{previewOf(texts[0]!, plan)}</code>
      </figure>
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isReady}>
          Import
        </Button>
      </div>
    </form>
  );
}

/** The first document as it is stored, or why it is not. */
function previewOf(text: string, plan: JsonPlan): string {
  try {
    const found = planned(text, plan);
    return `${found.id ?? `${plan.idPrefix}…`} ${found.text}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
