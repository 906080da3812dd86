// The compare-exchange values of a database, by the beginning of their keys.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { guardedBy, remove, values, type StoredValue } from "../../api/compareExchange";
import { count, dateTime, serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { FilterField } from "../../shell/FilterField";
import { Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { ValueDialog } from "./ValueDialog";
import styles from "./compareExchange.module.css";

const route = getRouteApi("/databases/$database/compare-exchange");

/** Values of one request: each comes whole. */
const PAGE_COUNT = 50;
/** Characters of a value that are shown. */
const SHOWN_LENGTH = 200;

/** The address of the keys that begin with a prefix. */
const placeOf = (prefix: string) => (prefix === "" ? {} : { prefix });

export function CompareExchange() {
  const { database } = route.useParams();
  const { prefix: given = "", key } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(given);
  const [prefix] = useDebouncedValue(typed.trim(), 200);
  const [isNew, setNew] = useState(false);
  const [question, ask] = useState<Question>();
  useEffect(() => {
    if (prefix !== given) void navigate({ search: placeOf(prefix), replace: true });
    // The address follows the field, not the other way round.
  }, [navigate, prefix]);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ["compare-exchange", database, prefix],
    queryFn: ({ pageParam, signal }) => values(database, prefix, pageParam, PAGE_COUNT, signal),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_COUNT ? undefined : pages.length * PAGE_COUNT),
    placeholderData: keepPreviousData,
  });
  const found = data?.pages.flat();
  const askToDelete = ({ key, index }: StoredValue) =>
    ask({
      title: "Delete this value?",
      text: (
        <>
          <b>{key}</b> is deleted. This cannot be undone.
          {guardedBy(key) !== undefined &&
            " It guards a document: a cluster-wide transaction that has read the document before is no longer refused."}
        </>
      ),
      action: "Delete",
      run: () =>
        remove(database, key, index).then(
          (answer) => {
            if (answer.isDone || answer.theirs === undefined) told(`${key} was deleted`);
            else failed(`${key} was not deleted`, new Error("Somebody else changed it meanwhile: look at it again."));
            return changed("compareExchange");
          },
          (error: unknown) => failed(`${key} was not deleted`, error),
        ),
    });
  const create = (
    <Needs right="ReadWrite">
      <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setNew(true)}>
        New value
      </Button>
    </Needs>
  );
  const close = () => {
    setNew(false);
    if (key !== undefined) void navigate({ search: placeOf(prefix), ignoreBlocker: true });
  };
  return (
    <Screen
      title="Compare exchange"
      actions={
        <>
          <FilterField label="Keys that begin with" placeholder="Keys that begin with" value={typed} onChange={setTyped} />
          <Tooltip label="Reload">
            <ActionIcon variant="default" size={30} aria-label="Reload" onClick={() => void refetch()}>
              <Icon name="refresh" size={14} />
            </ActionIcon>
          </Tooltip>
          {create}
        </>
      }
    >
      {found === undefined ? (
        error ? (
          <Failed what="The values cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="values" />
        )
      ) : found.length === 0 ? (
        prefix !== "" ? (
          <Empty icon="search" title={`No key begins with '${prefix}'`}>
            Keys are found without regard to case.
          </Empty>
        ) : (
          <Empty icon="exchange" title="No compare-exchange values">
            A value under a key that changes only if it is the one that the writer has read: for locks, unique names and leader
            elections.{" "}
            <Link to="/help" search={{ page: "docs/compare-exchange" }}>
              Read more
            </Link>
          </Empty>
        )
      ) : (
        <div className={tables.scroll}>
          <table className={tables.table} role="table" aria-label="Compare-exchange values">
            <thead role="rowgroup">
              <tr role="row">
                {["Key", "Value", "Expires", "Index"].map((title) => (
                  <th key={title} scope="col" role="columnheader" className={title === "Index" ? tables.right : undefined}>
                    {title}
                  </th>
                ))}
                <th scope="col" role="columnheader">
                  <span className={tables.hidden}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {found.map((value) => (
                <Row key={value.key} database={database} prefix={prefix} value={value} askToDelete={() => askToDelete(value)} />
              ))}
            </tbody>
          </table>
          {hasNextPage && (
            <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetching} className={styles.more!}>
              More
            </Button>
          )}
        </div>
      )}
      <ValueDialog database={database} opened={key ?? (isNew ? "new" : undefined)} isNew={key === undefined} close={close} />
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}

function Row({
  database,
  prefix,
  value,
  askToDelete,
}: {
  database: string;
  prefix: string;
  value: StoredValue;
  askToDelete: () => void;
}) {
  const { key, object, expires, index } = value;
  const document = guardedBy(key);
  const line = object.slice(0, SHOWN_LENGTH).replace(/\s+/g, " ");
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className={tables.name}>
        <Link to="/databases/$database/compare-exchange" params={{ database }} search={{ ...placeOf(prefix), key }}>
          {key}
        </Link>
        {document !== undefined && (
          <span className={tables.kind}>
            Guard of the document{" "}
            <Link className={styles.guarded!} to="/databases/$database/document" params={{ database }} search={{ id: document }}>
              {document}
            </Link>
          </span>
        )}
      </th>
      <td role="cell" className={styles.value}>
        <code className="cut">{line}</code>
      </td>
      <td role="cell" data-label="Expires" className={`${styles.expires} number`}>
        {expires === undefined ? "Never" : dateTime(expires)}
        {expires !== undefined && Date.parse(expires) <= serverNow() && (
          <>
            {" "}
            <span className={tables.badge} data-tone="warn">
              Due
            </span>
          </>
        )}
      </td>
      <td role="cell" data-label="Index" className={`${tables.right} number`}>
        {count(index)}
      </td>
      <td role="cell" className={`${tables.right} ${tables.menu}`}>
        <Needs right="ReadWrite">
          <ActionIcon aria-label={`Delete ${key}`} onClick={askToDelete}>
            <Icon name="trash" size={15} />
          </ActionIcon>
        </Needs>
      </td>
    </tr>
  );
}
