// First steps with each client, and what this server is.
import { Button, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { names } from "../../api/databases";
import { SERVER_URL } from "../../api/http";
import { nodeInfo, version } from "../../api/node";
import { lastDatabase } from "../../shell/lastDatabase";
import { ofDatabase, useLive } from "../../shell/live";
import { useRemembered } from "../../shell/remembered";
import { Screen } from "../../shell/Screen";
import { copied } from "../../shell/clipboard";
import { Icon, Mark } from "../../theme/icons";
import { snippets } from "./snippets";
import styles from "./about.module.css";

export function About() {
  const { data: databases } = useQuery({ queryKey: ["databases"], queryFn: ({ signal }) => names(signal) });
  const [language, setLanguage] = useRemembered("snippets", "curl");
  const [chosen, setChosen] = useState<string>();
  const { data: live } = useLive();
  const last = lastDatabase.get();
  const answering = databases?.find((name) => ofDatabase(live?.latest, name)?.State !== "Disabled");
  const database = chosen ?? (last !== undefined && databases?.includes(last) ? last : answering) ?? "Shop";
  const all = snippets(SERVER_URL, database);
  const snippet = all.find((found) => found.key === language) ?? all[0]!;
  return (
    <Screen title="Get started">
      <div className={styles.page}>
        <section className={styles.section} aria-labelledby="connect">
          <div className={styles.sectionHead}>
            <h2 id="connect">Connect an application</h2>
            {databases && databases.length > 0 && (
              <Select
                aria-label="Database in the examples"
                data={databases}
                value={database}
                onChange={(value) => value !== null && setChosen(value)}
                w={170}
              />
            )}
          </div>
          <p className="soft">
            The published RavenDB clients work unchanged with the address <code>{SERVER_URL}</code>.
          </p>
          <div className={styles.choice}>
            <SegmentedControl
              aria-label="Client"
              value={snippet.key}
              onChange={setLanguage}
              data={all.map(({ key, name }) => ({ value: key, label: name }))}
            />
          </div>
          {snippet.install && <Code text={snippet.install} label={`Installing the client for ${snippet.name}`} />}
          <Code key={snippet.key} text={snippet.code} label={`First program with ${snippet.name}`} />
        </section>
        <Server />
      </div>
    </Screen>
  );
}

function Code({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copied(text.trimEnd()))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return (
    <div className={styles.code}>
      <pre tabIndex={0} aria-label={label}>
        {text.trimEnd()}
      </pre>
      <Button
        className={styles.copy!}
        variant="default"
        size="compact-xs"
        leftSection={<Icon name={isCopied ? "check" : "copy"} size={12} />}
        onClick={() => void copy()}
        aria-label={`Copy: ${label}`}
      >
        {isCopied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}

function Server() {
  const { data: found } = useQuery({ queryKey: ["version"], queryFn: version, staleTime: Infinity });
  const { data: node } = useQuery({ queryKey: ["node"], queryFn: nodeInfo, staleTime: Infinity });
  return (
    <section className={styles.section} aria-labelledby="server">
      <div className={styles.sectionHead}>
        <Mark size={34} />
        <h2 id="server">About this server</h2>
      </div>
      <dl className={styles.facts}>
        <dt>Version</dt>
        <dd>{found?.server.replace("/", " ") ?? "…"}</dd>
        <dt>Protocol</dt>
        <dd>RavenDB {found?.protocol ?? "…"}</dd>
        <dt>Address</dt>
        <dd>{SERVER_URL}</dd>
        <dt>Node</dt>
        <dd>{node ? `${node.NodeTag}, ${node.NumberOfCores} cores, ${node.InstalledMemoryInGb.toFixed(1)} GB of memory` : "…"}</dd>
        <dt>Licence</dt>
        <dd>MIT or Apache 2.0. No licence key, no limits</dd>
      </dl>
      <p className="soft">Rookery is not made by, or connected with, RavenDB Ltd.</p>
    </section>
  );
}
