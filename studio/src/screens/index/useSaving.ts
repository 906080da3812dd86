// Saving the definition of an index: nobody else's is replaced unseen.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import * as api from "../../api/indexes";
import { useIsHere } from "../../shell/here";
import { told } from "../../shell/toasts";
import { isSameContent } from "./definition";
import type { IndexClash } from "./IndexConflict";
import { latestDefinition } from "./latest";

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

type Saving = {
  written: api.Definition;
  /** What the server must have now; undefined if there must be no such index. */
  over: api.Definition | undefined;
  /** Whether `written` is of the dialog, and not what is in the editor. */
  isMerged?: boolean;
};

type Outcomes = {
  saved: (definition: api.Definition, isMerged: boolean) => void;
  /** A new one has the name of this one. */
  taken: (name: string) => void;
  clashed: (clash: IndexClash) => void;
  failed: (error: unknown, written: api.Definition) => void;
};

export function useSaving(database: string, isNew: boolean, outcomes: Outcomes) {
  const navigate = useNavigate();
  const requests = useQueryClient();
  const isHere = useIsHere();
  return useMutation({
    mutationFn: async ({ written, over }: Saving) => {
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
      outcomes.saved(definition, isMerged ?? false);
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
      if (error instanceof Taken) outcomes.taken(error.name);
      else if (error instanceof Overtaken) outcomes.clashed({ mine: written, theirs: error.theirs });
      else outcomes.failed(error, written);
    },
  });
}
