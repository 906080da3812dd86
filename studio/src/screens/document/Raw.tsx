// A document as it is stored, with what the server adds to its metadata.
import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { raw } from "../../api/documents";
import { Editor } from "../../editor/Editor";
import { pretty } from "../../json/scan";
import { copyText } from "../../shell/clipboard";
import { download } from "../../shell/download";
import { Failed, Loading } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { Icon } from "../../theme/icons";
import styles from "./document.module.css";

/** `id`: undefined shows nothing. */
export function Raw({ database, id, close }: { database: string; id: string | undefined; close: () => void }) {
  const title = useTitle(id && `${id} as stored`);
  return (
    <Modal
      opened={id !== undefined}
      onClose={close}
      title={title}
      size="min(920px, 94vw)"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {id !== undefined && <Body database={database} id={id} />}
    </Modal>
  );
}

function Body({ database, id }: { database: string; id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["raw", database, id],
    queryFn: async ({ signal }) => {
      const text = await raw(database, id, signal);
      if (text === undefined) throw new Error("It was deleted.");
      return pretty(text);
    },
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  if (error) return <Failed what="The document cannot be read" error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the document" />;
  return (
    <>
      <div className={styles.raw}>
        <Editor label="The stored document" language="json" value={data} isReadOnly />
      </div>
      <div className={styles.rawButtons}>
        <Button
          variant="default"
          autoFocus
          data-autofocus
          leftSection={<Icon name="copy" size={14} />}
          onClick={() => void copyText(data, id)}
        >
          Copy
        </Button>
        <Button
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          onClick={() => download(new Blob([data], { type: "application/json" }), `${id.replace(/[\\/:*?"<>|]/g, "-")}.json`)}
        >
          Download
        </Button>
      </div>
    </>
  );
}
