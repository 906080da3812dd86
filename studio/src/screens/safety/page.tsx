// What is not safe about the set-up of the server, and what to do about it.
import { Link } from "@tanstack/react-router";
import type { Finding } from "../../api/safety";
import { counted } from "../../format/format";
import { Screen } from "../../shell/Screen";
import { useAbilities } from "../../shell/session";
import { Empty, Failed, Loading } from "../../shell/states";
import tables from "../../shell/table.module.css";
import { placeOf, sectionOf, SEVERITIES } from "./finding";
import { useSafety } from "./useSafety";
import styles from "./safety.module.css";

export function Safety() {
  const { isOperator } = useAbilities();
  const { data, error, refetch } = useSafety();
  return (
    <Screen title="Safety" about={data && data.length > 0 && <span className="number">{counted(data.length, "finding")}</span>}>
      {!isOperator ? (
        <Empty icon="lock" title="Only operators see this">
          An operator of the server looks after its set-up.
        </Empty>
      ) : data === undefined ? (
        error ? (
          <Failed what="The findings cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="findings" />
        )
      ) : data.length === 0 ? (
        <Empty icon="check" title="Nothing was found">
          The server speaks HTTPS with a valid certificate, its API keys end or are limited to databases, and there is an audit log.
        </Empty>
      ) : (
        <ul className={styles.cards}>
          {data.map((finding) => (
            <Card key={`${finding.Id} ${finding.Subject}`} finding={finding} />
          ))}
        </ul>
      )}
    </Screen>
  );
}

function Card({ finding }: { finding: Finding }) {
  const { label, tone } = SEVERITIES[finding.Severity];
  const place = placeOf(finding);
  return (
    <li className={styles.card}>
      <div className={styles.head}>
        <h2>{finding.Title}</h2>
        <span className={tables.badge} data-tone={tone}>
          {label}
        </span>
      </div>
      <p className={styles.advice}>{finding.Advice}</p>
      <p className={styles.links}>
        {place && (
          <Link to="/access" search={{ tab: place.tab }}>
            {place.label}
          </Link>
        )}
        <Link to="/help" search={sectionOf(finding)} aria-label={`Read more: ${finding.Title}`}>
          Read more
        </Link>
      </p>
    </li>
  );
}
