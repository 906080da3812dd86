// The certificates of clients: making, registering, changing and removing them.
import { ActionIcon, Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { certificates, deleteCertificate, type Certificate } from "../../api/access";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { useAbilities } from "../../shell/session";
import { Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { CertificateDialog, type CertificateTask } from "./CertificateDialog";
import { Ends } from "./Ends";
import { RightsText } from "./Rights";
import styles from "./access.module.css";

export function Certificates() {
  const { data, error, refetch } = useQuery({ queryKey: ["certificates"], queryFn: ({ signal }) => certificates(signal) });
  const [task, setTask] = useState<CertificateTask>();
  const [question, ask] = useState<Question>();
  const askToDelete = ({ name, thumbprint }: Certificate) =>
    ask({
      title: `Remove '${name}'?`,
      text: "The server knows this certificate no longer. Its connections are closed at once, and requests with it are refused.",
      action: "Remove",
      run: () =>
        deleteCertificate(thumbprint).then(
          () => (told(`'${name}' was removed`), changed("access")),
          (error: unknown) => failed(`'${name}' was not removed`, error),
        ),
    });
  if (data === undefined)
    return error ? (
      <Failed what="The certificates cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="certificates" />
    );
  return (
    <div className={tables.scroll}>
      <div className={styles.head}>
        <p className="soft">Clients and browsers that have one of these certificates with its key are let in.</p>
        <Button variant="default" leftSection={<Icon name="upload" size={14} />} onClick={() => setTask({ kind: "register" })}>
          Register a file
        </Button>
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setTask({ kind: "generate" })}>
          New certificate
        </Button>
      </div>
      <table className={tables.table} role="table" aria-label="Certificates">
        <thead role="rowgroup">
          <tr role="row">
            {["Name", "Rights", "Valid until"].map((title) => (
              <th key={title} scope="col" role="columnheader">
                {title}
              </th>
            ))}
            <th scope="col" role="columnheader">
              <span className={tables.hidden}>Actions</span>
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {data.registered.map((certificate) => (
            <Row
              key={certificate.thumbprint}
              of={certificate}
              edit={() => setTask({ kind: "edit", certificate })}
              remove={() => askToDelete(certificate)}
            />
          ))}
        </tbody>
      </table>
      {data.wellKnown.length > 0 && (
        <section className={styles.wellKnown} aria-labelledby="well-known">
          <h2 id="well-known">Cluster admins by the settings</h2>
          <p className="soft">
            Thumbprints in <code>Security.WellKnownCertificates.Admin</code>. They are changed there.
          </p>
          <ul>
            {data.wellKnown.map((thumbprint) => (
              <li key={thumbprint} className={styles.thumbprint}>
                {thumbprint}
              </li>
            ))}
          </ul>
        </section>
      )}
      <CertificateDialog task={task} close={() => setTask(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </div>
  );
}

function Row({ of, edit, remove }: { of: Certificate; edit: () => void; remove: () => void }) {
  const { isClusterAdmin } = useAbilities();
  const { name, thumbprint, notAfter, isOwn, clearance } = of;
  const mayChange = !isOwn && (isClusterAdmin || clearance !== "ClusterAdmin");
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className={tables.name}>
        <b>{isOwn ? "Certificate of the server" : name}</b>
        <span className={`${tables.kind} ${styles.thumbprint}`}>{thumbprint}</span>
      </th>
      <td role="cell" className={tables.state}>
        <RightsText {...of} />
      </td>
      <td role="cell" data-label="Valid until" className="number">
        <Ends at={notAfter} never="" />
      </td>
      <td role="cell" className={`${tables.right} ${tables.menu}`}>
        {mayChange && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label={`Actions for ${name}`}>
                <Icon name="dots" />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={edit}>
                Change rights…
              </Menu.Item>
              <Menu.Item color="red" leftSection={<Icon name="trash" size={14} />} onClick={remove}>
                Remove…
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </td>
    </tr>
  );
}
