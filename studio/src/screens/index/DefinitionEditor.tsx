// The definition of an index: maps, reduce, fields; tried on some documents before it is saved.
import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "../../api/indexes";
import { Leaving, type Place } from "../../shell/Leaving";
import { Changeable, Needs, useRefusal } from "../../shell/rights";
import { messageOf } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { Automatic } from "./Automatic";
import { Code } from "./Code";
import { codeMistakeOf, type CodeMistake } from "./codeMistake";
import { isSameContent } from "./definition";
import { ALL_FIELDS, FieldTable, type Field } from "./FieldTable";
import { IndexConflict, type IndexClash } from "./IndexConflict";
import { namedOf, recordOf } from "./named";
import { SettingTable } from "./SettingTable";
import { Sources } from "./Sources";
import { Tried } from "./Tried";
import { useSaving } from "./useSaving";
import styles from "./index.module.css";

/** Documents that a definition is tried on. */
const TRIED_COUNT = 100;

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
  const [base, setBase] = useState(stored);
  const [name, setName] = useState(stored.Name);
  const [maps, setMaps] = useState(stored.Maps);
  const [reduce, setReduce] = useState(stored.Reduce ?? undefined);
  const [fields, setFields] = useState(() => fieldsOf(stored));
  const [sources, setSources] = useState(() => namedOf(stored.AdditionalSources));
  const [configuration, setConfiguration] = useState(() => namedOf(stored.Configuration));
  const [problem, setProblem] = useState<string>();
  /** Where the problem is, as long as that text is as it was. */
  const [mistaken, setMistaken] = useState<CodeMistake>();
  /** A name that another index has. */
  const [taken, setTaken] = useState<string>();
  const [clash, setClash] = useState<IndexClash>();
  const isReadOnly = useRefusal("Admin") !== undefined;
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

  const refused = (error: unknown, written: api.Definition) => {
    setProblem(messageOf(error));
    setMistaken(codeMistakeOf(error, written));
  };
  const mistakeIn = (map: number | undefined, text: string) =>
    problem !== undefined && mistaken && mistaken.map === map && mistaken.text === text ? mistaken.mistake : undefined;
  const saving = useSaving(database, isNew, {
    saved: (definition, isMerged) => {
      setProblem(undefined);
      setClash(undefined);
      setBase(definition);
      if (isMerged) show(definition);
    },
    taken: setTaken,
    clashed: setClash,
    failed: refused,
  });
  const trying = useMutation({
    mutationFn: () => api.test(database, { ...definition, Name: definition.Name || "Test" }, TRIED_COUNT),
    onSuccess: () => setProblem(undefined),
    onError: (error) => refused(error, definition),
  });
  const isSaveable = !isReadOnly && isDirty && definition.Name !== "" && maps.some((map) => map.trim() !== "");
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
        <Changeable right="Admin">
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
              onChange={(value) => setMaps((maps) => maps.map((other, index) => (index === at ? value : other)))}
              onSave={save}
              mistake={mistakeIn(at, map)}
              remove={maps.length > 1 ? () => setMaps((maps) => maps.filter((_, index) => index !== at)) : undefined}
            />
          ))}
          {reduce !== undefined && (
            <Code
              title="Reduce"
              value={reduce}
              onChange={setReduce}
              onSave={save}
              mistake={mistakeIn(undefined, reduce)}
              remove={() => setReduce(undefined)}
            />
          )}
          <Needs right="Admin">
            <div className={styles.adds}>
              <Button
                variant="default"
                leftSection={<Icon name="plus" size={13} />}
                onClick={() => setMaps((maps) => [...maps, ""])}
              >
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
          </Needs>
          {fields.length > 0 && <FieldTable fields={fields} change={setFields} />}
          <Sources sources={sources} change={setSources} save={save} />
          {configuration.length > 0 && <SettingTable settings={configuration} change={setConfiguration} />}
          {problem && (
            <div className={styles.problem} role="alert">
              <Icon name="warning" size={15} />
              <span>{problem}</span>
            </div>
          )}
          <Needs right="Admin">
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
                <span className={styles.hint}>The current index answers queries until the new one is complete.</span>
              ) : (
                isReplaced && (
                  <span className={styles.hint}>
                    This definition is being built. The previous one answers queries until it is complete.
                  </span>
                )
              )}
            </div>
          </Needs>
        </Changeable>
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

function fieldsOf(definition: api.Definition): Field[] {
  return Object.entries(definition.Fields ?? {}).map(([name, options]) => ({ name, options }));
}

/** Definition, terms and errors of one index. */
function isSameIndex(one: Place, other: Place): boolean {
  return one.pathname === other.pathname && "name" in one.search && "name" in other.search && one.search.name === other.search.name;
}
