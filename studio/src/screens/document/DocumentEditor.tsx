// The editor of a document, what stands beside it, and what one can do.
import { ActionIcon, Button, Menu, TextInput, Tooltip } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { watch } from "../../api/changes";
import { changeVectorOf, load, remove, save, saveNew, type Loaded } from "../../api/documents";
import { ApiError } from "../../api/http";
import type { Mistake } from "../../editor/CodeEditor";
import { isSame, type Content } from "../../editor/content";
import { Editor } from "../../editor/Editor";
import { forgetChosen } from "../../grid/chosen";
import { JsonError, pretty, scan } from "../../json/scan";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { useIsHere } from "../../shell/here";
import { Leaving } from "../../shell/Leaving";
import { MoreActions } from "../../shell/MoreActions";
import { Needs, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { messageOf } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { Conflict, type Clash } from "./Conflict";
import { mistakeOf } from "./mistake";
import { Raw } from "./Raw";
import { Side } from "./Side";
import styles from "./document.module.css";

/** How often one looks whether somebody else changed it while the server does not tell, in ms. */
const WATCH_MS = 5000;

type Props = {
  database: string;
  /** The document as it was read; undefined for a new one. */
  loaded: Loaded | undefined;
  draft: string;
  idDraft: string;
  reload?: () => void;
  /** Told of the id under which a new one was saved, before the address is that of it. */
  onBorn?: (id: string) => void;
};

export function DocumentEditor({ database, loaded, draft, idDraft, reload, onBorn }: Props) {
  const navigate = useNavigate();
  const requests = useQueryClient();
  const isHere = useIsHere();
  const isReadOnly = useRefusal("ReadWrite") !== undefined;
  const [base, setBase] = useState(loaded);
  const [text, setText] = useState<Content>(draft);
  const [stored, setStored] = useState<Content>(draft);
  const storedText = useMemo(() => String(stored), [stored]);
  const [id, setId] = useState(idDraft);
  const [problem, setProblem] = useState<string>();
  /** Where the server found a mistake, as long as the text is as it was then. */
  const [refused, setRefused] = useState<{ content: Content; mistake: Mistake }>();
  const [clash, setClash] = useState<Clash>();
  const [question, ask] = useState<Question>();
  const [isRaw, setRaw] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  // What is in the editor when an answer comes: one may have typed on.
  const latest = useRef(text);
  useEffect(() => {
    latest.current = text;
  });

  const isNew = base === undefined;
  const mistake = problem !== undefined && refused && isSame(text, refused.content) ? refused.mistake : undefined;
  const isDirty = !isLeaving && (!isSame(text, stored) || (isNew && id !== idDraft));

  const refresh = () => changed("documents");
  const toDocument = (to: string) => ({ to: "/databases/$database/document", params: { database }, search: { id: to } }) as const;

  /**
   * * `changeVector`: what the stored one must have; undefined to overwrite whatever is there.
   * * `isMerged`: whether `content` is of the dialog, and not what is in the editor.
   */
  const saving = useMutation({
    mutationFn: async ({
      changeVector,
      content: written,
    }: {
      changeVector: string | undefined;
      content: Content;
      isMerged?: boolean;
    }) => {
      const content = String(written);
      scan(content);
      const answer =
        isNew && id.trim() === "" ? await saveNew(database, content) : await save(database, id.trim(), content, changeVector);
      return answer;
    },
    onSuccess: async (answer, { content, isMerged }) => {
      setProblem(undefined);
      setClash(undefined);
      told(`${answer.Id} saved`);
      void refresh();
      setStored(content);
      if (isMerged) setText(content);
      // Only ours is what we go on from: that of somebody who was quick is told, not taken over unseen.
      let now: Loaded | null | undefined;
      try {
        now = (await load(database, answer.Id)) ?? null;
      } catch {
        now = undefined;
      }
      if (now !== undefined && now?.changeVector !== answer.ChangeVector) {
        requests.setQueryData(["stands", database, answer.Id, answer.ChangeVector], now?.changeVector ?? null);
      }
      const known = base ?? { id: answer.Id, text: "", lastModified: new Date().toISOString(), collection: undefined, size: 0 };
      setBase(now?.changeVector === answer.ChangeVector ? now : { ...known, changeVector: answer.ChangeVector });
      if (!isNew || !isHere()) return;
      setId(answer.Id);
      onBorn?.(answer.Id);
      // What was typed meanwhile goes along.
      void navigate({ ...toDocument(answer.Id), replace: true, ignoreBlocker: true });
    },
    onError: async (error, { content, isMerged }) => {
      if (error instanceof JsonError) return setProblem(`Not saved. ${error.message}.`);
      if (error instanceof ApiError && error.kind === "ConcurrencyException") {
        try {
          setClash({ id, mine: String(isMerged ? content : latest.current), theirs: await load(database, id), isNew });
        } catch (reason) {
          failed("Somebody else saved it, and their version cannot be read", reason);
        }
        return;
      }
      const mistake = mistakeOf(error);
      if (!mistake) return setProblem(`Not saved. ${messageOf(error)}`);
      setRefused({ content, mistake });
      setProblem(`Not saved. Line ${mistake.line}, column ${mistake.column}: ${mistake.message}.`);
    },
  });
  // Nobody is to work for long on what is not so any more: the server tells of changes, and as long as it does not one looks.
  const watchedId = base?.id;
  const [isWatched, setWatched] = useState(false);
  useEffect(() => {
    if (watchedId === undefined) return;
    const look = () => {
      void requests.invalidateQueries({ queryKey: ["stands", database, watchedId] });
      // They are listed in its metadata.
      void requests.invalidateQueries({ queryKey: ["attachments", database, watchedId] });
    };
    const count = () => void requests.invalidateQueries({ queryKey: ["counters", database, watchedId] });
    const watched = [
      { command: "watch-doc", of: watchedId },
      { command: "watch-document-counters", of: watchedId },
    ] as const;
    return watch(database, watched, {
      changed: (changes) => {
        if (changes.some(({ Type }) => Type === "DocumentChange")) look();
        if (changes.some(({ Type }) => Type === "CounterChange")) count();
      },
      standing: (isStanding) => {
        setWatched(isStanding);
        if (!isStanding) return;
        // Both may have changed before.
        look();
        count();
      },
    });
  }, [database, watchedId, requests]);
  const { data: stands } = useQuery({
    queryKey: ["stands", database, base?.id, base?.changeVector],
    queryFn: ({ signal }) => changeVectorOf(database, base!.id, signal),
    enabled: base !== undefined && !saving.isPending && !isLeaving,
    refetchInterval: isWatched ? false : WATCH_MS,
    initialData: base?.changeVector,
    staleTime: WATCH_MS,
    retry: false,
  });
  const isBehind = base !== undefined && stands !== undefined && stands !== base.changeVector;
  // A new counter or attachment changes the metadata of the server alone. The editor goes on from there without a message.
  const { data: latestText, isPending: isComparing } = useQuery({
    queryKey: ["standing", database, base?.id, stands],
    queryFn: async ({ signal }) => (await load(database, base!.id, signal)) ?? null,
    enabled: isBehind && stands !== null && !saving.isPending && !isLeaving,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const isSameText = isBehind && latestText != null && latestText.changeVector === stands && latestText.text === base.text;
  useEffect(() => {
    if (isSameText) setBase(latestText);
  }, [isSameText, latestText]);
  const isOutdated = isBehind && !isSameText && (stands === null || !isComparing);
  const readAgain = async () => {
    if (!base) return;
    const before = latest.current;
    try {
      const now = await load(database, base.id);
      // What was typed meanwhile stays, and the screen says what stands on the server.
      if (!isSame(latest.current, before)) {
        return void requests.setQueryData(["stands", database, base.id, base.changeVector], now?.changeVector ?? null);
      }
      if (!now) return reload?.();
      setBase(now);
      setText(now.text);
      setStored(now.text);
      setProblem(undefined);
    } catch (error) {
      failed("The document cannot be read", error);
    }
  };
  // One that somebody else deleted can be put there again as it is.
  const isSaveable = !isReadOnly && !saving.isPending && (isNew || isDirty || stands === null);
  const saveNow = () => {
    if (isSaveable)
      saving.mutate({ changeVector: base?.changeVector ?? (/[/|]$/.test(id.trim()) ? undefined : ""), content: text });
  };
  const format = () => {
    try {
      setText(pretty(String(text)));
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const askToDelete = () =>
    base &&
    ask({
      title: "Delete this document?",
      text: (
        <>
          <b>{base.id}</b> is deleted. This cannot be undone.
        </>
      ),
      action: "Delete",
      run: () =>
        remove(database, base.id, base.changeVector).then(
          () => {
            told(`${base.id} was deleted`);
            forgetChosen(database, [base.id]);
            void refresh();
            if (!isHere()) return;
            setLeaving(true);
            const search = base.collection === undefined ? {} : { collection: base.collection };
            void navigate({ to: "/databases/$database/documents", params: { database }, search, ignoreBlocker: true });
          },
          (error: unknown) => {
            failed("The document was not deleted", error);
            // Somebody else changed it: the screen says so.
            void requests.invalidateQueries({ queryKey: ["stands", database, base.id] });
          },
        ),
    });

  return (
    <Screen
      title={base?.id ?? "New document"}
      about={
        base?.collection !== undefined && (
          <Link to="/databases/$database/documents" params={{ database }} search={{ collection: base.collection }}>
            {base.collection}
          </Link>
        )
      }
      actions={
        <>
          {isDirty && <span className={styles.dirty}>Not saved yet</span>}
          {!isNew && reload && (
            <Tooltip label="Reload">
              <ActionIcon
                variant="default"
                size={30}
                aria-label="Reload"
                onClick={() => {
                  if (!isDirty) void readAgain();
                  else
                    ask({
                      title: "Reload it?",
                      text: "What you changed and did not save is lost.",
                      action: "Discard and reload",
                      run: readAgain,
                    });
                }}
              >
                <Icon name="refresh" size={14} />
              </ActionIcon>
            </Tooltip>
          )}
          <Needs right="ReadWrite">
            <Tooltip label="Format">
              <ActionIcon variant="default" size={30} aria-label="Format" onClick={format}>
                <Icon name="format" size={14} />
              </ActionIcon>
            </Tooltip>
          </Needs>
          {!isNew && (
            <MoreActions>
              <Needs right="ReadWrite">
                <Menu.Item
                  leftSection={<Icon name="copy" size={14} />}
                  onClick={() =>
                    void navigate({ to: "/databases/$database/document", params: { database }, search: { cloneOf: base.id } })
                  }
                >
                  Clone
                </Menu.Item>
              </Needs>
              <Menu.Item
                leftSection={<Icon name="history" size={14} />}
                onClick={() =>
                  void navigate({ to: "/databases/$database/revisions", params: { database }, search: { id: base.id } })
                }
              >
                Revisions
              </Menu.Item>
              <Menu.Item leftSection={<Icon name="documents" size={14} />} onClick={() => setRaw(true)}>
                Raw, as stored
              </Menu.Item>
              <Needs right="ReadWrite">
                <Menu.Divider />
                <Menu.Item color="red" leftSection={<Icon name="trash" size={14} />} onClick={askToDelete}>
                  Delete…
                </Menu.Item>
              </Needs>
            </MoreActions>
          )}
          <Needs right="ReadWrite">
            <Button
              leftSection={<Icon name="save" size={14} />}
              onClick={saveNow}
              disabled={!isSaveable}
              loading={saving.isPending}
            >
              Save
            </Button>
          </Needs>
        </>
      }
    >
      <div className={styles.split}>
        <div className={styles.text}>
          {isNew && (
            <div className={styles.idRow}>
              <TextInput
                label="Id"
                description="Leave empty to let the server generate an id. End it with / to use it as a prefix."
                inputWrapperOrder={["label", "input", "description"]}
                value={id}
                spellCheck={false}
                autoComplete="off"
                onChange={(event) => setId(event.currentTarget.value)}
              />
            </div>
          )}
          {isOutdated && (
            <div className={styles.outdated} role="status">
              <Icon name="info" size={15} />
              <span>
                {stands === null ? "Somebody else deleted it." : "Somebody else changed it."}
                {isDirty && stands !== null && " When you save, both texts are shown."}
              </span>
              {!isDirty && stands !== null && (
                <Button size="compact-xs" variant="default" onClick={() => void readAgain()}>
                  Show the change
                </Button>
              )}
            </div>
          )}
          {problem && (
            <div className={styles.problem} role="alert">
              <Icon name="warning" size={15} />
              <span>{problem}</span>
            </div>
          )}
          <Editor
            label="Document as JSON"
            language="json"
            value={text}
            onText={setText}
            isReadOnly={isReadOnly}
            onSave={saveNow}
            onId={(to) => void navigate(toDocument(to))}
            isFocused={isNew}
            mistake={mistake}
          />
        </div>
        {base && <Side database={database} loaded={base} text={storedText} pollMs={isWatched ? false : WATCH_MS} />}
      </div>
      <Conflict
        clash={clash}
        isSaving={saving.isPending}
        close={(mine) => {
          setClash(undefined);
          if (mine !== undefined) setText(mine);
        }}
        save={(content, changeVector) => saving.mutate({ content, changeVector, isMerged: true })}
        takeTheirs={(theirs) => {
          setClash(undefined);
          setBase(theirs);
          setText(theirs.text);
          setStored(theirs.text);
        }}
      />
      <Confirm question={question} close={() => ask(undefined)} />
      <Raw database={database} id={isRaw ? base?.id : undefined} close={() => setRaw(false)} />
      <Leaving isDirty={isDirty} what="this document" text={() => String(text)} />
    </Screen>
  );
}
