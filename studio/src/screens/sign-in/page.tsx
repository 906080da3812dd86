// Signing in: by an API key, or by a certificate that the browser has.
import { Button, PasswordInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { signIn } from "../../api/access";
import { SERVER_URL } from "../../api/http";
import { messageOf } from "../../shell/states";
import { Icon, Mark } from "../../theme/icons";
import styles from "./signIn.module.css";

/** `reason`: why the server knows nobody here. `wasSignedIn`: until a moment ago. `signedIn`: has all of it read. */
export default function SignIn({
  reason,
  wasSignedIn,
  signedIn,
}: {
  reason: string;
  wasSignedIn: boolean;
  signedIn: () => Promise<unknown>;
}) {
  const [key, setKey] = useState("");
  const signing = useMutation({ mutationFn: () => signIn(key.trim()).then(signedIn) });
  useEffect(() => {
    document.title = "Sign in · Rookery";
  }, []);
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <header className={styles.head}>
          <Mark size={34} />
          <div>
            <h1>Sign in</h1>
            <p className="soft">{SERVER_URL}</p>
          </div>
        </header>
        <p className={styles.reason} role="status">
          <Icon name={wasSignedIn ? "warning" : "lock"} size={16} />
          {reason}
        </p>
        <form
          aria-labelledby="by-key"
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            if (key.trim() !== "") signing.mutate();
          }}
        >
          <h2 id="by-key">With an API key</h2>
          <PasswordInput
            label="API key"
            description="It begins with rookery_"
            autoComplete="current-password"
            autoFocus
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={signing.error ? messageOf(signing.error) : undefined}
            visibilityToggleButtonProps={{ "aria-label": "Show or hide the key" }}
          />
          <Button type="submit" disabled={key.trim() === ""} loading={signing.isPending}>
            Sign in
          </Button>
          <p className="soft">
            You stay signed in for 12 hours in this browser. An operator makes a key: <code>rookery access grant NAME</code>.
          </p>
        </form>
        <section aria-labelledby="by-certificate">
          <h2 id="by-certificate">With a certificate</h2>
          <p className="soft">
            Install a client certificate that this server trusts in your browser, as the file <code>.pfx</code> that{" "}
            <code>rookery cert client</code> makes, or that an operator gives you. Then close the browser and open this page again:
            the browser asks which certificate to use.
          </p>
        </section>
      </div>
    </main>
  );
}
