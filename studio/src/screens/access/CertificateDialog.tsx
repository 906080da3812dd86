// A certificate that the server makes, one that is registered from a file, or the rights of one that is registered.
import { Button, FileInput, Modal, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { editCertificate, generateCertificate, registerCertificate, type Certificate } from "../../api/access";
import { serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import { download } from "../../shell/download";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import { dayAfter, endOf } from "./day";
import { draftOf, isSomething, NEW_DRAFT, rightsOf } from "./draft";
import { RightsFields } from "./Rights";
import styles from "./access.module.css";

export type CertificateTask = { kind: "generate" } | { kind: "register" } | { kind: "edit"; certificate: Certificate };

/** Days that a new certificate is valid, unless it is told otherwise. */
const VALID_DAYS = 365;
/** Bytes of the largest file that is read: a chain of certificates has a few thousand. */
const FILE_SIZE_MAX = 1 << 20;

const ACTIONS = { generate: "Create and download", register: "Register", edit: "Save" } as const;

export function CertificateDialog({ task, close }: { task: CertificateTask | undefined; close: () => void }) {
  const ofNew = task?.kind === "register" ? "Register a certificate" : "New certificate";
  const title = useTitle(task && (task.kind === "edit" ? `Rights of '${task.certificate.name}'` : ofNew));
  return (
    <Modal
      opened={task !== undefined}
      onClose={close}
      title={title}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      closeOnClickOutside={false}
    >
      {task && <Form task={task} close={close} />}
    </Modal>
  );
}

function Form({ task, close }: { task: CertificateTask; close: () => void }) {
  const edited = task.kind === "edit" ? task.certificate : undefined;
  const [name, setName] = useState(edited?.name ?? "");
  const [draft, setDraft] = useState(edited ? draftOf(edited) : NEW_DRAFT);
  const [password, setPassword] = useState("");
  const [day, setDay] = useState(() => dayAfter(serverNow(), VALID_DAYS));
  const [file, setFile] = useState<File | null>(null);
  const rights = rightsOf(draft);
  const saving = useMutation({
    mutationFn: async () => {
      const of = { name: name.trim(), ...rights };
      if (edited) await editCertificate({ ...of, thumbprint: edited.thumbprint });
      else if (task.kind === "register") await registerCertificate({ ...of, password, content: await base64Of(file!) });
      else download(await generateCertificate({ ...of, password, notAfter: endOf(day)! }), `${name.trim()}.zip`);
    },
    onSuccess: () => {
      told(task.kind === "edit" ? `'${name}' has its new rights` : `'${name.trim()}' is registered`);
      close();
    },
    onSettled: () => changed("access"),
  });
  const isReady =
    name.trim() !== "" &&
    isSomething(rights) &&
    (task.kind !== "register" || file !== null) &&
    (task.kind !== "generate" || day !== "");
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) saving.mutate();
      }}
    >
      {task.kind === "generate" && (
        <p className="soft">
          The server makes a key pair, registers its certificate and keeps no copy of the key. You get a ZIP file with it, as PFX
          and as PEM.
        </p>
      )}
      {task.kind === "register" && (
        <FileInput
          label="File"
          description="A certificate as PEM, DER or PFX. The private key in a PFX file is sent along, and not kept"
          placeholder="Choose a file"
          accept=".pem,.crt,.cer,.der,.pfx,.p12"
          value={file}
          onChange={setFile}
          clearable
          clearButtonProps={{ "aria-label": "Choose no file" }}
        />
      )}
      {!edited && (
        <TextInput
          data-autofocus
          label="Name"
          description="The application or person that has it"
          value={name}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <RightsFields draft={draft} change={setDraft} />
      {task.kind === "generate" && (
        <TextInput
          type="date"
          label="Valid until"
          description="The end of this day (UTC)"
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
        />
      )}
      {!edited && (
        <PasswordInput
          label="Password of the PFX file"
          description={
            task.kind === "generate" ? "Empty: none. Some systems import no file without one" : "Empty: none, or no PFX file"
          }
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": "Show or hide the password" }}
        />
      )}
      {saving.error && (
        <p className={styles.error} role="alert">
          {messageOf(saving.error)}
        </p>
      )}
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isReady} loading={saving.isPending}>
          {ACTIONS[task.kind]}
        </Button>
      </div>
    </form>
  );
}

/** Of a PEM file its certificates alone: a private key in it is not sent. */
async function base64Of(file: File): Promise<string> {
  if (file.size > FILE_SIZE_MAX) throw new Error("The file is larger than 1 MB: it is not a certificate");
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(withoutKeys(bytes));
}

/** Characters of one byte each, as `btoa` takes them. */
function withoutKeys(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g);
  return certificates ? certificates.join("\n") : text;
}
