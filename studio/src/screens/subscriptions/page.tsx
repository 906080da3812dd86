// The subscriptions of a database: how far each is, which workers it has, and what one can do with it.
import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { drop, subscriptions, type Subscription, type Worker } from "../../api/subscriptions";
import { ago, count, counted, dateTime } from "../../format/format";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { ofDatabase, useLive } from "../../shell/live";
import { Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { NextDialog } from "./NextDialog";
import { writeOf } from "./progress";
import { SubscriptionDialog, type Edited } from "./SubscriptionDialog";
import { SubscriptionMenu } from "./SubscriptionMenu";
import styles from "./subscriptions.module.css";

const route = getRouteApi("/databases/$database/subscriptions");

/** How often the list is read, in ms. */
const POLL_MS = 2000;
/** Subscriptions that are read at first, and more by each press of the button. */
const PAGE_COUNT = 100;

export function Subscriptions() {
  const { database } = route.useParams();
  const [shownCount, setShownCount] = useState(PAGE_COUNT);
  const { data, error, refetch } = useQuery({
    queryKey: ["subscriptions", database, shownCount],
    queryFn: ({ signal }) => subscriptions(database, shownCount, signal),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const { data: live } = useLive();
  const counters = ofDatabase(live?.latest, database);
  const lastWrite = counters?.State === "Open" ? counters.LastEtag : undefined;
  const [edited, setEdited] = useState<Edited>();
  const [looked, setLooked] = useState<Subscription>();
  const [question, ask] = useState<Question>();
  const workers = data?.reduce((sum, { Connections }) => sum + Connections.length, 0) ?? 0;
  const create = (
    <Needs right="ReadWrite">
      <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setEdited({ before: undefined })}>
        New subscription
      </Button>
    </Needs>
  );
  return (
    <Screen
      title="Subscriptions"
      about={data && data.length > 0 && <span className="number">{workers === 0 ? "No workers" : counted(workers, "worker")}</span>}
      actions={create}
    >
      {data === undefined ? (
        error ? (
          <Failed what="The subscriptions cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="subscriptions" />
        )
      ) : data.length === 0 ? (
        <Empty icon="subscription" title="No subscriptions">
          A subscription sends the documents that match a query to a worker, and remembers what the worker has acknowledged.{" "}
          <Link to="/help" search={{ page: "docs/subscriptions" }}>
            Read more
          </Link>
        </Empty>
      ) : (
        <div className={tables.scroll}>
          <table className={tables.table} role="table" aria-label="Subscriptions">
            <thead role="rowgroup">
              <tr role="row">
                {["Subscription", "State", "Acknowledged", "Last acknowledgement"].map((title) => (
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
              {data.map((subscription) => (
                <Fragment key={subscription.SubscriptionId}>
                  <Row
                    database={database}
                    subscription={subscription}
                    lastWrite={lastWrite}
                    ask={ask}
                    edit={() => setEdited({ before: subscription })}
                    look={() => setLooked(subscription)}
                  />
                  {subscription.Connections.map((worker) => (
                    <WorkerRow
                      key={`${worker.ClientUri} ${worker.ConnectedAt} ${worker.WorkerId}`}
                      database={database}
                      name={subscription.SubscriptionName}
                      worker={worker}
                    />
                  ))}
                </Fragment>
              ))}
            </tbody>
          </table>
          {data.length === shownCount && (
            <Button variant="default" className={styles.more!} onClick={() => setShownCount(shownCount + PAGE_COUNT)}>
              More
            </Button>
          )}
        </div>
      )}
      <SubscriptionDialog database={database} edited={edited} close={() => setEdited(undefined)} />
      <NextDialog database={database} subscription={looked} close={() => setLooked(undefined)} />
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}

function Row({
  database,
  subscription,
  lastWrite,
  ...actions
}: {
  database: string;
  subscription: Subscription;
  /** Of the database, if it is known. */
  lastWrite: number | undefined;
  ask: (question: Question) => void;
  edit: () => void;
  look: () => void;
}) {
  const { SubscriptionName: name, Query, Disabled, Connections, LastBatchAckTime } = subscription;
  const [tone, state] = Disabled
    ? [undefined, "Disabled"]
    : Connections.length === 0
      ? ["warn", "No worker"]
      : ["good", Connections.length === 1 ? "Connected" : `${count(Connections.length)} workers`];
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className={tables.name}>
        <b>{name}</b>
        <code className={`${tables.kind} ${styles.query}`}>{Query}</code>
      </th>
      <td role="cell" className={tables.state}>
        <span className={tables.badge} data-tone={tone}>
          {state}
        </span>
      </td>
      <td role="cell" data-label="Acknowledged" className="number">
        {acknowledged(subscription, lastWrite)}
      </td>
      <td role="cell" data-label="Last acknowledgement" className="number">
        {LastBatchAckTime === null ? "None yet" : <span title={dateTime(LastBatchAckTime)}>{ago(LastBatchAckTime)}</span>}
      </td>
      <td role="cell" className={`${tables.right} ${tables.menu}`}>
        <SubscriptionMenu database={database} subscription={subscription} {...actions} />
      </td>
    </tr>
  );
}

/** Up to which write of the database the documents that match were acknowledged. */
function acknowledged({ ChangeVectorForNextBatchStartingPoint: at }: Subscription, lastWrite: number | undefined) {
  const write = writeOf(at);
  if (write === undefined) return at === null ? "Nothing" : <span className="mono">{at}</span>;
  return (
    <>
      up to write {count(write)}
      {lastWrite !== undefined && <span className="soft"> of {count(Math.max(lastWrite, write))}</span>}
    </>
  );
}

const STRATEGIES: Record<Worker["Strategy"], string> = {
  OpenIfFree: "opened if free",
  TakeOver: "takes over",
  WaitForFree: "waited",
  Concurrent: "concurrent",
};

function WorkerRow({ database, name, worker }: { database: string; name: string; worker: Worker }) {
  const { ClientUri, ConnectedAt, Strategy, WorkerId } = worker;
  const disconnect = () =>
    drop(database, name, WorkerId ?? undefined).then(
      () => (told(`The worker at ${ClientUri} was disconnected`), changed("subscriptions")),
      (error: unknown) => failed("The worker was not disconnected", error),
    );
  return (
    <tr role="row" data-inset>
      <th scope="row" role="rowheader" className={tables.name}>
        {ClientUri}
        {WorkerId !== null && <span className={`${tables.kind} ${styles.worker}`}>{WorkerId}</span>}
      </th>
      <td role="cell" className={tables.state}>
        Worker, {STRATEGIES[Strategy]}
      </td>
      <td role="cell" data-label="Connected" colSpan={2} className="number">
        {dateTime(ConnectedAt)} <span className="soft">{ago(ConnectedAt)}</span>
      </td>
      <td role="cell" className={tables.right}>
        <Needs right="ReadWrite">
          <Button variant="default" size="compact-xs" onClick={() => void disconnect()}>
            Disconnect
          </Button>
        </Needs>
      </td>
    </tr>
  );
}
