// What surrounds all screens: navigation at the side, the command palette, and the place of the screen.
import { ActionIcon, Drawer } from "@mantine/core";
import { useDisclosure, useHotkeys, useMediaQuery } from "@mantine/hooks";
import { Link, Outlet, useLocation, useNavigate, useParams, type ErrorComponentProps } from "@tanstack/react-router";
import { Activity, useEffect, useRef } from "react";
import { Icon, Mark } from "../theme/icons";
import { ofDatabase, useLive } from "./live";
import { Navigation } from "./Navigation";
import { Notices } from "./Notices";
import { Palette } from "./Palette";
import { Screen } from "./Screen";
import { Empty, Failed, Loading } from "./states";
import { TransferDialog } from "./TransferDialog";
import { Unavailable, useUnavailability } from "./Unavailable";
import styles from "./shell.module.css";

export function Shell() {
  const isNarrow = useMediaQuery("(max-width: 860px)") ?? false;
  const [isDrawerOpen, drawer] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const place = useLocation({ select: (location) => location.href });
  // In fields and editors too.
  useHotkeys([["mod+K", palette.open]], [], true);
  const { database } = useParams({ strict: false }) as { database?: string };
  const unavailable = useUnavailability(database);
  const { data: live, isError: isLost } = useLive();
  // Names are the same in any case; what is remembered of a database is under the one that it has.
  const named = database === undefined ? undefined : ofDatabase(live?.latest, database)?.Name;
  const navigate = useNavigate();
  useEffect(() => {
    if (named === undefined || named === database) return;
    void navigate({ to: ".", params: { database: named }, search: true, replace: true });
  }, [named, database, navigate]);
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    drawer.close();
    // Its functions stay the same.
  }, [place]);

  const openPalette = () => {
    drawer.close();
    palette.open();
  };
  return (
    <div className={isNarrow ? `${styles.shell} ${styles.isNarrow}` : styles.shell}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      {isNarrow ? (
        <>
          <header className={styles.top}>
            <ActionIcon aria-label="Open navigation" onClick={drawer.open}>
              <Icon name="menu" size={18} />
            </ActionIcon>
            <Link to="/databases" className={styles.brand}>
              <Mark size={22} />
              Rookery
            </Link>
            <div className={styles.topTools}>
              <Notices />
              <ActionIcon aria-label="Jump to…" onClick={palette.open}>
                <Icon name="search" size={18} />
              </ActionIcon>
            </div>
          </header>
          <Drawer
            opened={isDrawerOpen}
            onClose={drawer.close}
            size={260}
            withCloseButton={false}
            padding={0}
            attributes={{ content: { "aria-label": "Navigation" } }}
          >
            <Navigation openPalette={openPalette} />
          </Drawer>
        </>
      ) : (
        <aside className={styles.side}>
          <Navigation openPalette={openPalette} notices={<Notices />} />
        </aside>
      )}
      <main className={styles.main} ref={main} tabIndex={-1}>
        <div role="status">
          {isLost && (
            <p className={styles.lost}>
              <Icon name="warning" size={14} />
              The server does not answer. What is shown may be out of date.
            </p>
          )}
        </div>
        {/* What was typed stays, and nothing is asked of a database that cannot answer. */}
        <Activity mode={unavailable === undefined ? "visible" : "hidden"}>
          {/* Nothing of a screen is of two databases. */}
          <Outlet key={database} />
        </Activity>
        {unavailable === "unknown" ? (
          <Screen title={database!}>
            <Loading what="the database" />
          </Screen>
        ) : (
          unavailable !== undefined && <Unavailable database={database!} state={unavailable} />
        )}
      </main>
      <TransferDialog />
      <Palette isOpen={isPaletteOpen} close={palette.close} />
    </div>
  );
}

/** An address that no screen has. */
export function NotFound() {
  return (
    <Screen title="Not found">
      <Empty icon="search" title="There is no such screen" action={<Link to="/databases">Go to the databases</Link>}>
        The address may belong to another version of the studio.
      </Empty>
    </Screen>
  );
}

/** A screen whose file is on its way. */
export function ScreenPending() {
  return (
    <Screen title="…">
      <Loading what="the screen" />
    </Screen>
  );
}

/** A bug in a screen: the others go on. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return (
    <Screen title="Something broke">
      <Failed what="This screen has hit a bug" error={error} retry={reset} />
    </Screen>
  );
}
