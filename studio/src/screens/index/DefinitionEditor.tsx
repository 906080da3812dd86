// The definition of an index: maps, reduce, fields; tried on some documents before it is saved.
import { ActionIcon, Autocomplete, Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import * as api from "../../api/indexes";
import { Editor } from "../../editor/Editor";
import type { Language } from "../../editor/CodeEditor";
import { useIsHere } from "../../shell/here";
import { Leaving, type Place } from "../../shell/Leaving";
import { messageOf } from "../../shell/states";
import { told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { isSameContent, languageOf } from "./definition";
import { ALL_FIELDS, FieldTable, type Field } from "./FieldTable";
import { IndexConflict, type IndexClash } from "./IndexConflict";
import { latestDefinition } from "./latest";
import { RemoveCell } from "./RemoveCell";
import { Tried } from "./Tried";
import styles from "./index.module.css";

/** Documents that a definition is tried on. */
const TRIED_COUNT = 100;

/** Settings of an index that the server heeds (docs/http.md, "Indexes"). Others are kept and change nothing. */
const SETTINGS = ["Indexing.IndexMissingFieldsAsNull", "Indexing.IndexEmptyEntries"];

/** A setting or source as it is typed: names may be the same for a while. */
type Named = { name: string; value: string };

const namedOf = (record: Record<string, string> | undefined): Named[] =>
  Object.entries(record ?? {}).map(([name, value]) => ({ name, value }));
const recordOf = (list: readonly Named[]) =>
  Object.fromEntries(list.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]));

export function DefinitionEditor({
  database,
  stored,
  latest,
  isNew,
  isReplaced = false,
}: {
  database: string;
  stored: api.Definition;
  /** What the server has now, as far as one knows; null if the index was deleted. */
  latest?: api.Definition | null | undefined;
  isNew: boolean;
  /** Whether the definition that was saved last is still being built. */
  isReplaced?: boolean;
}) {
  const navigate = useNavigate();
  const requests = useQueryClient();
  const isHere = useIsHere();
  const [base, setBase] = useState(stored);
  const [name, setName] = useState(stored.Name);
  const [maps, setMaps] = useState(stored.Maps);
  const [reduce, setReduce] = useState(stored.Reduce ?? undefined);
  const [fields, setFields] = useState(() => fieldsOf(stored));
  const [sources, setSources] = useState(() => namedOf(stored.AdditionalSources));
  const [configuration, setConfiguration] = useState(() => namedOf(stored.Configuration));
  const [problem, setProblem] = useState<string>();
  /** A name that another index has. */
  const [taken, setTaken] = useState<string>();
  const [clash, setClash] = useState<IndexClash>();
  const isAutomatic = stored.Type?.startsWith("Auto") ?? false;

  const definition: api.Definition = {
    ...base,
    Name: name.trim(),
    Maps: maps,
    Reduce: reduce ?? null,
    Fields: Object.fromEntries(
      fields.filter((field) => field.name.trim() !== "").map((field) => [field.name.trim(), field.options]),
    ),
    AdditionalSources: recordOf(sources),
    Configuration: recordOf(configuration),
  };
  const isChanged = definition.Name !== base.Name || !isSameContent(definition, base);
  const isDeleted = !isNew && latest === null;
  const isDirty = isNew || isChanged || isDeleted;
  const show = (shown: api.Definition) => {
    setMaps(shown.Maps);
    setReduce(shown.Reduce ?? undefined);
    setFields(fieldsOf(shown));
    setSources(namedOf(shown.AdditionalSources));
    setConfiguration(namedOf(shown.Configuration));
  };
  const goOnFrom = (shown: api.Definition) => {
    show(shown);
    setBase(shown);
    setProblem(undefined);
    setClash(undefined);
  };

  /**
   * * `over`: what the server must have now; undefined if there must be no such index.
   * * `isMerged`: whether `written` is of the dialog, and not what is in the editor.
   */
  const saving = useMutation({
    mutationFn: async ({ written, over }: { written: api.Definition; over: api.Definition | undefined; isMerged?: boolean }) => {
      await requests.cancelQueries({ queryKey: ["definition", database, written.Name] });
      const present = await latestDefinition(database, written.Name);
      if (isNew && present) throw new Taken(present.Name);
      if (present ? !over || !isSameContent(present, over) : over) throw new Overtaken(present);
      if (present?.LockMode === "LockedIgnore")
        throw new Error("The index is locked, and the server ignores changes to it. Unlock it in its menu first.");
      // The rest is what it is now: lock, priority and state are set in the menu, also while the definition is open.
      const { Maps, Reduce, Fields, AdditionalSources, Configuration } = written;
      const definition = present
        ? ({ ...present, Maps, Reduce, Fields, AdditionalSources, Configuration } as api.Definition)
        : written;
      await api.put(database, definition);
      return definition;
    },
    onSuccess: (definition, { isMerged }) => {
      setProblem(undefined);
      setClash(undefined);
      setBase(definition);
      if (isMerged) show(definition);
      // Who looks at another part of the index and comes back has what was saved, also while it is being built.
      requests.setQueryData(["definition", database, definition.Name], definition);
      told(isNew ? `${definition.Name} is being built` : `${definition.Name} saved`);
      void requests.invalidateQueries({
        predicate: ({ queryKey }) => ["indexes", "definitions", "live"].includes(String(queryKey[0])),
      });
      if (isNew && isHere()) {
        const search = { name: definition.Name };
        void navigate({ to: "/databases/$database/index", params: { database }, search, ignoreBlocker: true });
      }
    },
    onError: (error, { written }) => {
      if (error instanceof Taken) setTaken(error.name);
      else if (error instanceof Overtaken) setClash({ mine: written, theirs: error.theirs });
      else setProblem(messageOf(error));
    },
  });
  const trying = useMutation({
    mutationFn: () => api.test(database, { ...definition, Name: definition.Name || "Test" }, TRIED_COUNT),
    onSuccess: () => setProblem(undefined),
    onError: (error) => setProblem(messageOf(error)),
  });
  const isSaveable = isDirty && definition.Name !== "" && maps.some((map) => map.trim() !== "");
  const save = () => {
    if (!isSaveable || saving.isPending) return;
    const written = { ...definition, Maps: maps.filter((map) => map.trim() !== "") };
    // That it was deleted is seen already, and what the button says.
    saving.mutate({ written, over: isNew || isDeleted ? undefined : base });
  };
  if (isAutomatic) return <Automatic definition={stored} />;
  const isOutdated = !isNew && latest && !saving.isPending && !isSameContent(latest, base);
  return (
    <div className={styles.editor}>
      <div className={styles.form}>
        {(isDeleted || isOutdated) && (
          <div className={styles.outdated} role="status">
            <Icon name="info" size={15} />
            <span>
              {isDeleted
                ? "Somebody else deleted this index. Its definition is still here."
                : `Somebody else changed it.${isChanged ? " When you save, you see both definitions side by side." : ""}`}
            </span>
            {isOutdated && !isChanged && (
              <Button size="compact-xs" variant="default" onClick={() => goOnFrom(latest)}>
                Show the change
              </Button>
            )}
          </div>
        )}
        {isNew && (
          <TextInput
            label="Name"
            placeholder="Orders/ByCompany"
            value={name}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              setName(event.currentTarget.value);
              setTaken(undefined);
            }}
            error={
              taken !== undefined && (
                <>
                  There is an index of this name.{" "}
                  <Link
                    to="/databases/$database/index"
                    params={{ database }}
                    search={{ name: taken }}
                    className={styles.underlined}
                  >
                    Open it
                  </Link>
                </>
              )
            }
            maw={420}
          />
        )}
        {maps.map((map, at) => (
          <Code
            key={at}
            title={maps.length > 1 ? `Map ${at + 1}` : "Map"}
            value={map}
            onChange={(value) => setMaps(maps.map((other, index) => (index === at ? value : other)))}
            onSave={save}
            remove={maps.length > 1 ? () => setMaps(maps.filter((_, index) => index !== at)) : undefined}
          />
        ))}
        {reduce !== undefined && (
          <Code title="Reduce" value={reduce} onChange={setReduce} onSave={save} remove={() => setReduce(undefined)} />
        )}
        <div className={styles.adds}>
          <Button variant="default" leftSection={<Icon name="plus" size={13} />} onClick={() => setMaps([...maps, ""])}>
            Map
          </Button>
          {reduce === undefined && (
            <Button variant="default" leftSection={<Icon name="plus" size={13} />} onClick={() => setReduce("")}>
              Reduce
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={13} />}
            onClick={() => setFields([...fields, { name: "", options: { Indexing: "Default" } }])}
          >
            Field options
          </Button>
          {!fields.some((field) => field.name === ALL_FIELDS) && (
            <Button
              variant="default"
              leftSection={<Icon name="plus" size={13} />}
              onClick={() => setFields([{ name: ALL_FIELDS, options: { Indexing: "Default" } }, ...fields])}
            >
              Options of all fields
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={13} />}
            onClick={() => setSources([...sources, { name: `functions${sources.length || ""}.js`, value: "" }])}
          >
            Source
          </Button>
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={13} />}
            onClick={() => setConfiguration([...configuration, { name: "", value: "" }])}
          >
            Setting
          </Button>
        </div>
        {fields.length > 0 && <FieldTable fields={fields} change={setFields} />}
        {sources.map((source, at) => (
          <Code
            key={at}
            title={`Source ${at + 1}`}
            language="javascript"
            about={
              <TextInput
                aria-label={`Name of source ${at + 1}`}
                value={source.name}
                spellCheck={false}
                onChange={(event) => setSources(changed(sources, at, { name: event.currentTarget.value }))}
              />
            }
            value={source.value}
            onChange={(value) => setSources(changed(sources, at, { value }))}
            onSave={save}
            remove={() => setSources(without(sources, at))}
          />
        ))}
        {configuration.length > 0 && (
          <table className={styles.fields}>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {configuration.map((setting, at) => (
                <tr key={at}>
                  <td>
                    <Autocomplete
                      size="xs"
                      aria-label={`Name of setting ${at + 1}`}
                      data={SETTINGS}
                      value={setting.name}
                      spellCheck={false}
                      onChange={(name) => setConfiguration(changed(configuration, at, { name }))}
                    />
                  </td>
                  <td>
                    <TextInput
                      aria-label={`Value of ${setting.name || `setting ${at + 1}`}`}
                      value={setting.value}
                      spellCheck={false}
                      onChange={(event) => setConfiguration(changed(configuration, at, { value: event.currentTarget.value }))}
                    />
                  </td>
                  <RemoveCell
                    what={setting.name || `setting ${at + 1}`}
                    remove={() => setConfiguration(without(configuration, at))}
                  />
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {problem && (
          <div className={styles.problem} role="alert">
            <Icon name="warning" size={15} />
            <span>{problem}</span>
          </div>
        )}
        <div className={styles.buttons}>
          <Button leftSection={<Icon name="save" size={14} />} onClick={save} disabled={!isSaveable} loading={saving.isPending}>
            {isNew ? "Create" : isDeleted ? "Create it again" : "Save"}
          </Button>
          <Button
            variant="default"
            leftSection={<Icon name="start" size={13} />}
            onClick={() => trying.mutate()}
            loading={trying.isPending}
          >
            Test on {TRIED_COUNT} documents
          </Button>
          {!isNew && isChanged && !isDeleted ? (
            <span className={styles.hint}>The present index answers until the changed one has everything.</span>
          ) : (
            isReplaced && (
              <span className={styles.hint}>
                This definition is being built. The one before it answers until it has everything.
              </span>
            )
          )}
        </div>
      </div>
      {trying.data && <Tried result={trying.data} close={() => trying.reset()} />}
      <IndexConflict
        clash={clash}
        isSaving={saving.isPending}
        close={(mine) => {
          setClash(undefined);
          if (mine) show(mine);
        }}
        save={(written, over) => saving.mutate({ written, over, isMerged: true })}
        takeTheirs={goOnFrom}
      />
      <Leaving isDirty={isChanged} what="this index" isSame={isSameIndex} text={() => JSON.stringify(definition, null, 4)} />
    </div>
  );
}

/** A new index has the name of one that is there. */
class Taken extends Error {
  constructor(override readonly name: string) {
    super();
  }
}

/** The server has another definition than the one that was read; undefined if it has none. */
class Overtaken extends Error {
  constructor(readonly theirs: api.Definition | undefined) {
    super();
  }
}

function fieldsOf(definition: api.Definition): Field[] {
  return Object.entries(definition.Fields ?? {}).map(([name, options]) => ({ name, options }));
}

/** Definition, terms and errors of one index. */
function isSameIndex(one: Place, other: Place): boolean {
  return one.pathname === other.pathname && "name" in one.search && "name" in other.search && one.search.name === other.search.name;
}

function changed(list: readonly Named[], place: number, change: Partial<Named>): Named[] {
  return list.map((one, at) => (at === place ? { ...one, ...change } : one));
}

function without(list: readonly Named[], place: number): Named[] {
  return list.filter((_, at) => at !== place);
}

function Code({
  title,
  about,
  language: given,
  value,
  onChange,
  onSave,
  remove,
}: {
  title: string;
  /** What stands beside the title. */
  about?: ReactNode;
  /** What it is written in, if that is not to be seen from it. */
  language?: Language;
  value: string;
  onChange: (value: string) => void;
  onSave: () => void;
  remove?: (() => void) | undefined;
}) {
  const language = given ?? languageOf(value);
  return (
    <section className={styles.code} aria-label={title}>
      <header className={styles.codeHead}>
        <h2>{title}</h2>
        {about}
        <span className="soft">{language === "javascript" ? "JavaScript" : "C# (LINQ)"}</span>
        {remove && (
          <ActionIcon size="sm" aria-label={`Remove ${title}`} onClick={remove} style={{ marginLeft: "auto" }}>
            <Icon name="close" size={13} />
          </ActionIcon>
        )}
      </header>
      <Editor label={title} language={language} value={value} onChange={onChange} onSave={onSave} isFitted />
    </section>
  );
}

function Automatic({ definition }: { definition: api.Definition }) {
  return (
    <div className={styles.editor}>
      <div className={styles.form}>
        <p className="soft">A query made this index, and other queries widen it. It cannot be edited.</p>
        <table className={styles.fields}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Indexing</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(definition.Fields ?? {}).map(([field, options]) => (
              <tr key={field}>
                <td>{field}</td>
                <td>{options.Indexing ?? "Default"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
