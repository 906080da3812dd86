// A question before what cannot be taken back. What is grave is confirmed by typing its name.
import { Button, Modal, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import styles from "./confirm.module.css";
import { useTitle } from "./title";

export type Question = {
  title: string;
  text: ReactNode;
  /** What the button says and does. */
  action: string;
  /** What has to be typed, if anything. */
  typed?: string;
  /** What typing it means, as `the name of the database`. */
  typedWhat?: string;
  run: () => Promise<unknown> | unknown;
  /** Nothing is lost by it: the button is no warning. */
  isHarmless?: boolean;
  /** More to look at than a few lines. */
  isWide?: boolean;
};

export function Confirm({ question, close }: { question: Question | undefined; close: () => void }) {
  const [isRunning, setRunning] = useState(false);
  const title = useTitle(question?.title);
  return (
    <Modal
      opened={question !== undefined}
      // What runs is not called off, and its end closes what stands then.
      onClose={() => isRunning || close()}
      title={title}
      size={question?.isWide ? "min(1000px, 94vw)" : "md"}
      closeButtonProps={{ "aria-label": "Close", disabled: isRunning }}
    >
      {question && <Body key={question.title} question={question} isRunning={isRunning} setRunning={setRunning} close={close} />}
    </Modal>
  );
}

type BodyProps = { question: Question; isRunning: boolean; setRunning: (isRunning: boolean) => void; close: () => void };

function Body({ question, isRunning, setRunning, close }: BodyProps) {
  const [typed, setTyped] = useState("");
  const isReady = question.typed === undefined || typed === question.typed;
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        if (!isReady || isRunning) return;
        setRunning(true);
        try {
          await question.run();
        } finally {
          setRunning(false);
          close();
        }
      }}
    >
      <div className={styles.text}>{question.text}</div>
      {question.typed !== undefined && (
        <TextInput
          data-autofocus
          label={
            <>
              Type {question.typedWhat ?? "this"} to confirm: <code className={styles.typed}>{question.typed}</code>
            </>
          }
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <div className={styles.buttons}>
        <Button
          variant="default"
          onClick={close}
          disabled={isRunning}
          // What cannot be taken back is not done by a second Enter.
          data-autofocus={question.typed === undefined || undefined}
        >
          Cancel
        </Button>
        <Button type="submit" {...(!question.isHarmless && { color: "red.8" })} disabled={!isReady} loading={isRunning}>
          {question.action}
        </Button>
      </div>
    </form>
  );
}
