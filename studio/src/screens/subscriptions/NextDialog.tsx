// What a subscription sends next: the first documents behind what was acknowledged.
import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { tryQuery, type Subscription } from "../../api/subscriptions";
import { Failed, Loading } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { Sent, TRIED_COUNT } from "./Sent";
import styles from "./subscriptions.module.css";

export function NextDialog({
  database,
  subscription,
  close,
}: {
  database: string;
  subscription: Subscription | undefined;
  close: () => void;
}) {
  const title = useTitle(subscription && `What '${subscription.SubscriptionName}' sends next`);
  return (
    <Modal opened={subscription !== undefined} onClose={close} title={title} size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      {subscription && <Body database={database} subscription={subscription} />}
    </Modal>
  );
}

function Body({ database, subscription }: { database: string; subscription: Subscription }) {
  const { Query, ChangeVectorForNextBatchStartingPoint: from } = subscription;
  const { data, error, refetch } = useQuery({
    queryKey: ["subscription-next", database, Query, from],
    queryFn: ({ signal }) => tryQuery(database, Query, from, TRIED_COUNT, signal),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  if (error) return <Failed what="The subscription could not be tried" error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="documents" />;
  if (data.length === 0) return <p className={styles.note}>Nothing: all documents that match were acknowledged.</p>;
  return (
    <>
      <p className={styles.note}>
        {data.length === TRIED_COUNT ? `The first ${TRIED_COUNT} documents.` : "No more than these."} Nothing is sent by looking.
      </p>
      <Sent database={database} sent={data} />
    </>
  );
}
