// Revisions: those of a document, or the documents that were deleted and have some.
import { Button, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Bin } from "./Bin";
import { ConfigurationDialog } from "./ConfigurationDialog";
import { Timeline } from "./Timeline";
import styles from "./revisions.module.css";

const route = getRouteApi("/databases/$database/revisions");

export function Revisions() {
  const { database } = route.useParams();
  const { id } = route.useSearch();
  const [isConfiguring, configuring] = useDisclosure(false);
  return (
    <Screen
      title="Revisions"
      about={
        id !== undefined && (
          <Link to="/databases/$database/document" params={{ database }} search={{ id }}>
            {id}
          </Link>
        )
      }
      actions={
        <>
          <GoTo key={id} />
          <Needs right="Admin">
            <Button variant="default" onClick={configuring.open}>
              Configure…
            </Button>
          </Needs>
        </>
      }
    >
      {id === undefined ? <Bin database={database} /> : <Timeline key={id} database={database} id={id} />}
      <ConfigurationDialog database={database} isOpen={isConfiguring} close={configuring.close} />
    </Screen>
  );
}

/** Goes to the revisions of a document, also of one that was deleted. */
function GoTo() {
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState("");
  return (
    <form
      className={styles.goTo}
      onSubmit={(event) => {
        event.preventDefault();
        const id = typed.trim();
        if (id !== "") void navigate({ search: { id } });
      }}
    >
      <TextInput
        placeholder="Go to id"
        aria-label="Go to the revisions of a document"
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </form>
  );
}
