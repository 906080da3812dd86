// The query as a program, in the language of a client.
import { Button, Modal, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { SERVER_URL } from "../../api/http";
import { Editor } from "../../editor/Editor";
import { copied } from "../../shell/clipboard";
import { useRemembered } from "../../shell/remembered";
import { Icon } from "../../theme/icons";
import { CLIENTS, programFor, type Client } from "./program";
import styles from "./code.module.css";

type Props = {
  isOpen: boolean;
  close: () => void;
  database: string;
  text: string;
  /** A JSON object as text. */
  parameters: string;
};

export function Code({ isOpen, close, ...source }: Props) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title="Code of this query"
      size="min(860px, 94vw)"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Body {...source} />
    </Modal>
  );
}

function Body(source: Pick<Props, "database" | "text" | "parameters">) {
  const [client, setClient] = useRemembered<Client>("client", "node");
  const [copiedOf, setCopied] = useState<Client>();
  const program = programFor(client, { server: SERVER_URL, ...source });
  const copy = async () => {
    if (!(await copied(program.text))) return;
    setCopied(client);
    setTimeout(() => setCopied(undefined), 1600);
  };
  return (
    <>
      <div className={styles.head}>
        <div className={styles.clients}>
          <SegmentedControl
            size="xs"
            aria-label="Client"
            data={[...CLIENTS]}
            value={client}
            onChange={(value) => setClient(value as Client)}
          />
        </div>
        <Button
          variant="default"
          leftSection={<Icon name={copiedOf === client ? "check" : "copy"} size={14} />}
          onClick={() => void copy()}
        >
          {copiedOf === client ? "Copied" : "Copy"}
        </Button>
      </div>
      {program.install && (
        <p className={styles.install}>
          Package: <code>{program.install}</code>
        </p>
      )}
      <div className={styles.code}>
        <Editor label="Code of this query" language={program.language} value={program.text} isReadOnly />
      </div>
    </>
  );
}
