// An attachment that can be shown: an image, or the beginning of a text.
import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { addressOf, beginningOf, type Attachment } from "../../api/attachments";
import { size } from "../../format/format";
import { Failed, Loading } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { Icon } from "../../theme/icons";
import { previewOf } from "./preview";
import styles from "./document.module.css";

/** Of a text, in bytes. */
const SHOWN_SIZE_MAX = 64 << 10;

type Props = { database: string; id: string; attachment: Attachment | undefined; close: () => void };

/** `attachment`: undefined shows nothing. */
export function AttachmentPreview({ attachment, close, ...of }: Props) {
  const title = useTitle(attachment?.name);
  return (
    <Modal
      opened={attachment !== undefined}
      onClose={close}
      title={title}
      size="min(920px, 94vw)"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {attachment && <Body key={attachment.hash} attachment={attachment} {...of} />}
    </Modal>
  );
}

function Body({ database, id, attachment }: { database: string; id: string; attachment: Attachment }) {
  return (
    <>
      {previewOf(attachment) === "image" ? (
        <Picture address={addressOf(database, id, attachment)} name={attachment.name} />
      ) : (
        <Text database={database} id={id} attachment={attachment} />
      )}
      <div className={styles.rawButtons}>
        <span className={`${styles.facts} number soft`}>
          {[attachment.contentType, size(attachment.size)].filter((text) => text !== "").join(", ")}
        </span>
        <Button
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          data-autofocus
          renderRoot={(props: object) => <a {...props} href={addressOf(database, id, attachment)} download={attachment.name} />}
        >
          Download
        </Button>
      </div>
    </>
  );
}

function Picture({ address, name }: { address: string; name: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p className={styles.note}>The browser cannot draw this image. It may be damaged, or it was deleted.</p>;
  return <img className={styles.picture} src={address} alt={name} onError={() => setBroken(true)} />;
}

function Text({ database, id, attachment }: { database: string; id: string; attachment: Attachment }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["attachment", database, id, attachment.name, attachment.hash],
    queryFn: ({ signal }) => beginningOf(database, id, attachment, SHOWN_SIZE_MAX, signal),
    gcTime: 0,
    retry: false,
  });
  if (error) return <Failed what="The attachment cannot be read" error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the attachment" />;
  return (
    <>
      {attachment.size > SHOWN_SIZE_MAX && <p className={styles.note}>The first {size(SHOWN_SIZE_MAX)}.</p>}
      <pre className={styles.content} tabIndex={0} role="region" aria-label={`Content of ${attachment.name}`}>
        {data}
      </pre>
    </>
  );
}
