// The unique constraints of a database: fields of a collection whose values no two documents have in common.
import { ActionIcon, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { constraints, remove, type Constraint } from "../../api/constraints";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { Refused, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { ConstraintDialog, type Edited } from "./ConstraintDialog";
import styles from "./constraints.module.css";

const route = getRouteApi("/databases/$database/constraints");

export function Constraints() {
  const { database } = route.useParams();
  const refusal = useRefusal("Admin");
  const [edited, setEdited] = useState<Edited>();
  const [question, ask] = useState<Question>();
  const { data, error, refetch } = useQuery({
    queryKey: ["constraints", database],
    queryFn: ({ signal }) => constraints(database, signal),
    enabled: refusal === undefined,
  });
  if (refusal !== undefined) {
    return (
      <Screen title="Unique constraints">
        <Refused reason="Only administrators of this database see its constraints." />
      </Screen>
    );
  }
  const askToDelete = ({ Name, Collection }: Constraint) =>
    ask({
      title: "Delete this constraint?",
      text: (
        <>
          <b>{Name}</b> is deleted: documents of {Collection} may have the same values from then on. To make it again, all of them
          are read.
        </>
      ),
      action: "Delete",
      run: () =>
        remove(database, Name).then(
          () => (told(`'${Name}' was deleted`), changed("constraints")),
          (error: unknown) => failed(`'${Name}' was not deleted`, error),
        ),
    });
  return (
    <Screen
      title="Unique constraints"
      actions={
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setEdited({ before: undefined })}>
          New constraint
        </Button>
      }
    >
      {data === undefined ? (
        error ? (
          <Failed what="The constraints cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="constraints" />
        )
      ) : data.length === 0 ? (
        <Empty icon="unique" title="No unique constraints">
          A constraint refuses a write that would give two documents of a collection the same values in certain fields, as two users
          with one e-mail address.{" "}
          <Link to="/help" search={{ page: "docs/unique-constraints" }}>
            Read more
          </Link>
        </Empty>
      ) : (
        <div className={tables.scroll}>
          <table className={tables.table} role="table" aria-label="Unique constraints">
            <thead role="rowgroup">
              <tr role="row">
                {["Name", "Collection", "Fields", "Upper and lower case"].map((title) => (
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
              {data.map((constraint) => (
                <Row
                  key={constraint.Name}
                  database={database}
                  constraint={constraint}
                  edit={() => setEdited({ before: constraint })}
                  askToDelete={() => askToDelete(constraint)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ConstraintDialog database={database} edited={edited} close={() => setEdited(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}

function Row({
  database,
  constraint,
  edit,
  askToDelete,
}: {
  database: string;
  constraint: Constraint;
  edit: () => void;
  askToDelete: () => void;
}) {
  const { Name, Collection, Fields, CaseSensitive } = constraint;
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className={`${tables.name} ${styles.name}`}>
        {Name}
      </th>
      <td role="cell" data-label="Collection">
        <Link to="/databases/$database/documents" params={{ database }} search={{ collection: Collection }}>
          {Collection}
        </Link>
      </td>
      <td role="cell" data-label="Fields" className={styles.fields}>
        {Fields.map((field) => (
          <code key={field}>{field}</code>
        ))}
      </td>
      <td role="cell" data-label="Upper and lower case">
        {CaseSensitive ? "Different" : "The same"}
      </td>
      <td role="cell" className={`${tables.right} ${tables.menu}`}>
        <ActionIcon aria-label={`Change ${Name}`} onClick={edit}>
          <Icon name="edit" size={15} />
        </ActionIcon>
        <ActionIcon aria-label={`Delete ${Name}`} onClick={askToDelete}>
          <Icon name="trash" size={15} />
        </ActionIcon>
      </td>
    </tr>
  );
}
