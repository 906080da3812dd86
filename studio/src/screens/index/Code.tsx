// One text of a definition: a map, the reduce, or a source, with what it is written in.
import { ActionIcon } from "@mantine/core";
import type { ReactNode } from "react";
import type { Language, Mistake } from "../../editor/CodeEditor";
import { Editor } from "../../editor/Editor";
import { useRefusal } from "../../shell/rights";
import { Icon } from "../../theme/icons";
import { languageOf } from "./definition";
import styles from "./index.module.css";

export function Code({
  title,
  about,
  language: given,
  value,
  onChange,
  onSave,
  remove,
  mistake,
}: {
  title: string;
  /** What stands beside the title. */
  about?: ReactNode;
  /** What it is written in, if that is not to be seen from it. */
  language?: Language;
  value: string;
  onChange: (value: string) => void;
  onSave: () => void;
  remove?: (() => void) | undefined;
  mistake?: Mistake | undefined;
}) {
  const isReadOnly = useRefusal("Admin") !== undefined;
  const language = given ?? languageOf(value);
  return (
    <section className={styles.code} aria-label={title}>
      <header className={styles.codeHead}>
        <h2>{title}</h2>
        {about}
        <span className="soft">{language === "javascript" ? "JavaScript" : "C# (LINQ)"}</span>
        {remove && (
          <ActionIcon size="sm" aria-label={`Remove ${title}`} onClick={remove} style={{ marginLeft: "auto" }}>
            <Icon name="close" size={13} />
          </ActionIcon>
        )}
      </header>
      <Editor
        label={title}
        language={language}
        value={value}
        onChange={onChange}
        onSave={onSave}
        mistake={mistake}
        isReadOnly={isReadOnly}
        isFitted
      />
    </section>
  );
}
