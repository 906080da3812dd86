// The side: where one can go, in which database one is, and how the server does.
import {
  ActionIcon,
  Button,
  Menu,
  Tooltip,
  UnstyledButton,
  VisuallyHidden,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { signOut, type Caller as CallerType, type Clearance } from "../api/access";
import { version } from "../api/node";
import { useMutation, useQuery } from "@tanstack/react-query";
import { count, counted, rate } from "../format/format";
import { graveCount } from "../screens/safety/finding";
import { useSafety } from "../screens/safety/useSafety";
import { Icon, Mark, type IconName } from "../theme/icons";
import { lastDatabase } from "./lastDatabase";
import { useLive, rates, ofDatabase } from "./live";
import { SCREENS } from "./places";
import { ProgressBar } from "./ProgressBar";
import { MAY_SIGN_IN, useAbilities } from "./session";
import { failed } from "./toasts";
import { show, useTransfers } from "./transfers";
import styles from "./navigation.module.css";

/** * `notices`: the bell, where no header above has it. */
export function Navigation({ openPalette, notices }: { openPalette: () => void; notices?: ReactNode }) {
  const { database: current } = useParams({ strict: false }) as { database?: string };
  const { data: live, isError } = useLive();
  const { user, isOperator } = useAbilities();
  const grave = graveCount(useSafety().data ?? []);
  const navigate = useNavigate();
  useEffect(() => {
    if (current) lastDatabase.set(current);
  }, [current]);

  const names = live?.latest.Databases.map((database) => database.Name) ?? [];
  const last = lastDatabase.get();
  const database = current ?? (last && names.includes(last) ? last : undefined);
  const counters = database === undefined ? undefined : ofDatabase(live?.latest, database);
  const open = counters?.State === "Open" ? counters : undefined;

  return (
    <div className={styles.navigation}>
      <div className={styles.brandRow}>
        <Link to="/databases" className={styles.brand}>
          <Mark size={26} />
          <span>Rookery</span>
        </Link>
        <div className={styles.brandTools}>
          {notices}
          <SchemeSwitch />
        </div>
      </div>
      <UnstyledButton className={styles.jump} onClick={openPalette}>
        <Icon name="search" size={14} />
        <span>Jump to…</span>
        <kbd className={styles.keys}>{navigator.userAgent.includes("Mac") ? "⌘K" : "Ctrl K"}</kbd>
      </UnstyledButton>
      <nav aria-label="Server" className={styles.group}>
        <Item to="/databases" icon="database" exact label="Databases" count={names.length || undefined} />
        {isOperator && <Item to="/server" icon="server" label="Server" />}
        {isOperator && MAY_SIGN_IN && <Item to="/access" icon="lock" label="Access" />}
        {isOperator && (
          <Item
            to="/safety"
            icon="shield"
            label="Safety"
            alarm={grave > 0 ? `${counted(grave, "finding")} to look at` : undefined}
          />
        )}
        <Item to="/about" icon="start" label="Get started" />
        <Item to="/help" icon="help" label="Help" />
      </nav>
      {database !== undefined && (
        <nav aria-label={`Database ${database}`} className={styles.group}>
          <Menu width="target" position="bottom-start">
            <Menu.Target>
              <UnstyledButton className={styles.database} aria-label={`Database ${database}, choose another`}>
                <span className={`${styles.dot} ${open && !isError ? styles.on : ""}`} />
                <span className={`${styles.databaseName} cut`}>{database}</span>
                <Icon name="down" size={14} />
              </UnstyledButton>
            </Menu.Target>
            <Menu.Dropdown mah={360} style={{ overflow: "auto" }}>
              {names.map((name) => (
                <Menu.Item
                  key={name}
                  onClick={() => navigate({ to: "/databases/$database/documents", params: { database: name } })}
                >
                  {name}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          {SCREENS.map((screen) => (
            <Item
              key={screen.to}
              to={screen.to}
              database={database}
              icon={screen.icon}
              label={screen.label}
              count={screen.count && open ? screen.count(open) : undefined}
              alarm={screen.alarm && open ? screen.alarm(open) : undefined}
            />
          ))}
        </nav>
      )}
      <Transfers />
      {user.kind === "known" && <Caller caller={user.caller} />}
      <Footer isLost={isError} requestRate={rates(live?.samples ?? [], (sample) => sample.Requests).at(-1)} />
    </div>
  );
}

function Item({
  to,
  database,
  icon,
  label,
  count: number,
  alarm,
  exact = false,
}: {
  to: string;
  database?: string;
  icon: IconName;
  label: string;
  count?: number | undefined;
  alarm?: string | undefined;
  exact?: boolean;
}) {
  return (
    <Link
      to={to}
      params={database === undefined ? {} : { database }}
      search={{}}
      className={styles.item}
      activeProps={{ className: styles.active }}
      activeOptions={{ exact, includeSearch: false }}
    >
      <Icon name={icon} />
      <span className="cut">{label}</span>
      {alarm && (
        <span className={styles.alarm} title={alarm}>
          <Icon name="warning" size={13} />
          <VisuallyHidden>{alarm}</VisuallyHidden>
        </span>
      )}
      {number !== undefined && <span className={`${styles.count} number`}>{count(number)}</span>}
    </Link>
  );
}

const CLEARANCES: Record<Clearance, string> = { ValidUser: "User", Operator: "Operator", ClusterAdmin: "Cluster admin" };

/** Who is signed in. A certificate is the browser's to take away. */
function Caller({ caller: { name, clearance, thumbprint } }: { caller: CallerType }) {
  const signingOut = useMutation({
    mutationFn: signOut,
    // Nothing of what was read stays.
    onSuccess: () => location.reload(),
    onError: (error) => failed("You are still signed in", error),
  });
  return (
    <div className={styles.caller} role="group" aria-label="Signed in as">
      <div className={styles.callerName}>
        <b className="cut">{name}</b>
        <span className="soft">
          {CLEARANCES[clearance]}, by {thumbprint === undefined ? "API key" : "certificate"}
        </span>
      </div>
      {thumbprint === undefined && (
        <Button variant="default" size="compact-xs" onClick={() => signingOut.mutate()} loading={signingOut.isPending}>
          Sign out
        </Button>
      )}
    </div>
  );
}

/** What goes on in the background, and what ended there with more to say than a message. */
function Transfers() {
  const { all, shown } = useTransfers();
  const hidden = all.filter(({ id }) => id !== shown);
  if (hidden.length === 0) return null;
  return (
    <div className={styles.transfers} role="group" aria-label="In the background">
      {hidden.map(({ id, title, part, outcome }) => (
        <UnstyledButton key={id} className={styles.transfer} onClick={() => show(id)}>
          <span className="cut">{title}</span>
          {outcome && <span className="soft">{outcome.isGood ? "Done: show the result" : "Failed: show why"}</span>}
          <ProgressBar part={part} status={outcome && (outcome.isGood ? "Completed" : "Faulted")} />
        </UnstyledButton>
      ))}
    </div>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light", { getInitialValueInEffect: false }) === "dark";
  const label = isDark ? "Switch to light" : "Switch to dark";
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => setColorScheme(isDark ? "light" : "dark")}>
        <Icon name={isDark ? "sun" : "moon"} />
      </ActionIcon>
    </Tooltip>
  );
}

function Footer({ isLost, requestRate }: { isLost: boolean; requestRate: number | undefined }) {
  const { data } = useQuery({ queryKey: ["version"], queryFn: version, staleTime: Infinity });
  return (
    <div className={styles.footer}>
      <span className="cut">{data?.server.replace("/", " ") ?? "Rookery"}</span>
      {(isLost || requestRate !== undefined) && (
        <span className="number">{isLost || requestRate === undefined ? "–" : rate(requestRate)} req/s</span>
      )}
    </div>
  );
}
