// The attachments of a document, beside its text: files are dropped there, shown, downloaded and deleted.
import { ActionIcon, Menu, Tooltip, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { addressOf, attachments, remove, upload, type Attachment } from "../../api/attachments";
import { counted, size } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Needs, useRefusal } from "../../shell/rights";
import { messageOf } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { begin } from "../../shell/transfers";
import { Icon } from "../../theme/icons";
import { AttachmentPreview } from "./AttachmentPreview";
import { previewOf } from "./preview";
import styles from "./document.module.css";

/** Smaller uploads are over before a dialog with their progress could be read, in bytes. */
const QUICK_SIZE_MAX = 4 << 20;

/** `pollMs`: how often they are listed; false while the server tells of changes. */
export function Attachments({ database, id, pollMs }: { database: string; id: string; pollMs: number | false }) {
  const { data, error } = useQuery({
    queryKey: ["attachments", database, id],
    queryFn: ({ signal }) => attachments(database, id, signal),
    refetchInterval: pollMs,
  });
  const isReadOnly = useRefusal("ReadWrite") !== undefined;
  const [shown, setShown] = useState<Attachment>();
  const [question, ask] = useState<Question>();
  const [isOver, setOver] = useState(false);
  const zone = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);

  const store = async (files: readonly File[]) => {
    const sizeOfAll = files.reduce((sum, file) => sum + file.size, 0);
    const what = files.length === 1 ? files[0]!.name : counted(files.length, "file");
    const storeAll = async (tell: (sent: number) => void, signal?: AbortSignal) => {
      let before = 0;
      try {
        for (const file of files) {
          await upload(database, id, file.name, file, { tell: (sent) => tell(before + sent), ...(signal && { signal }) });
          before += file.size;
        }
      } finally {
        void changed("attachments");
      }
    };
    if (sizeOfAll <= QUICK_SIZE_MAX) {
      await storeAll(() => undefined).then(
        () => told(`${what} ${files.length === 1 ? "is" : "are"} attached`),
        (reason: unknown) => failed(`${what} ${files.length === 1 ? "was" : "were"} not attached`, reason),
      );
      return;
    }
    begin(
      `Attach ${what}`,
      async (tell, signal) => {
        await storeAll((sent) => tell(sent / sizeOfAll, `${size(sent)} of ${size(sizeOfAll)}`), signal);
        return `${what} ${files.length === 1 ? "is" : "are"} attached`;
      },
      () => "Stopped. What was complete is attached.",
      { isBrief: true },
    );
  };
  const take = (files: readonly File[]) => {
    if (files.length === 0) return;
    const known = new Set(data?.map(({ name }) => name.toLowerCase()));
    const replaced = files.filter(({ name }) => known.has(name.toLowerCase()));
    if (replaced.length === 0) return void store(files);
    ask({
      title: replaced.length === 1 ? "Replace this attachment?" : `Replace ${replaced.length} attachments?`,
      text: (
        <>
          The document has <b>{replaced.map(({ name }) => name).join(", ")}</b> already. The stored content is lost.
        </>
      ),
      action: "Replace",
      run: () => void store(files),
    });
  };
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    // Before the editor, which would take the text of a file; and a file that misses is not opened by the browser.
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      const isHere = !isReadOnly && (zone.current?.contains(event.target as Node) ?? false);
      event.dataTransfer.dropEffect = isHere ? "copy" : "none";
      setOver(isHere);
    };
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      setOver(false);
      if (!isReadOnly && zone.current?.contains(event.target as Node)) latest.current([...event.dataTransfer.files]);
    };
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    addEventListener("dragover", onDrag, true);
    addEventListener("drop", onDrop, true);
    addEventListener("dragleave", onLeave);
    return () => {
      removeEventListener("dragover", onDrag, true);
      removeEventListener("drop", onDrop, true);
      removeEventListener("dragleave", onLeave);
    };
  }, [isReadOnly]);

  const askToDelete = ({ name }: Attachment) =>
    ask({
      title: `Delete the attachment '${name}'?`,
      text: "Its content is lost. This cannot be undone.",
      action: "Delete",
      run: () =>
        remove(database, id, name).then(
          () => (told(`The attachment '${name}' was deleted`), changed("attachments")),
          (reason: unknown) => failed(`The attachment '${name}' was not deleted`, reason),
        ),
    });
  return (
    <section
      ref={zone}
      aria-labelledby="attachments"
      className={isOver ? `${styles.part} ${styles.zone} ${styles.over}` : `${styles.part} ${styles.zone}`}
    >
      <div className={styles.partHead}>
        <h2 id="attachments" className={styles.sideTitle}>
          Attachments
        </h2>
        <Needs right="ReadWrite">
          <Tooltip label="Attach files">
            <ActionIcon size="sm" aria-label="Attach files" onClick={() => field.current?.click()}>
              <Icon name="plus" size={14} />
            </ActionIcon>
          </Tooltip>
          <input
            ref={field}
            type="file"
            multiple
            hidden
            aria-label="Files to attach"
            onChange={(event) => {
              take([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = "";
            }}
          />
        </Needs>
      </div>
      {data === undefined ? (
        <p className={styles.note} role={error ? "alert" : "status"}>
          {error ? `They cannot be read. ${messageOf(error)}` : "Loading attachments…"}
        </p>
      ) : data.length === 0 ? (
        <p className={styles.note}>None.{!isReadOnly && " Drop files here."}</p>
      ) : (
        <ul className={styles.items}>
          {data.map((attachment) => (
            <li key={attachment.name}>
              {previewOf(attachment) === undefined ? (
                <span className={styles.value}>{attachment.name}</span>
              ) : (
                <UnstyledButton className={styles.open!} onClick={() => setShown(attachment)}>
                  {attachment.name}
                </UnstyledButton>
              )}
              <span className={`${styles.amount} number soft`}>{size(attachment.size)}</span>
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon size="sm" aria-label={`Actions for the attachment ${attachment.name}`}>
                    <Icon name="dots" size={14} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item
                    leftSection={<Icon name="download" size={14} />}
                    renderRoot={(props: object) => (
                      <a {...props} href={addressOf(database, id, attachment)} download={attachment.name} />
                    )}
                  >
                    Download
                  </Menu.Item>
                  <Needs right="ReadWrite">
                    <Menu.Divider />
                    <Menu.Item color="red" leftSection={<Icon name="trash" size={14} />} onClick={() => askToDelete(attachment)}>
                      Delete…
                    </Menu.Item>
                  </Needs>
                </Menu.Dropdown>
              </Menu>
            </li>
          ))}
        </ul>
      )}
      <AttachmentPreview database={database} id={id} attachment={shown} close={() => setShown(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </section>
  );
}
