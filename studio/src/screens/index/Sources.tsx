// The additional sources of an index: functions that its maps call.
import { TextInput } from "@mantine/core";
import { Code } from "./Code";
import { changed, without, type Named } from "./named";

type Props = { sources: readonly Named[]; change: (sources: Named[]) => void; save: () => void };

export function Sources({ sources, change, save }: Props) {
  return sources.map((source, at) => (
    <Code
      key={at}
      title={`Source ${at + 1}`}
      language="javascript"
      about={
        <TextInput
          aria-label={`Name of source ${at + 1}`}
          value={source.name}
          spellCheck={false}
          onChange={(event) => change(changed(sources, at, { name: event.currentTarget.value }))}
        />
      }
      value={source.value}
      onChange={(value) => change(changed(sources, at, { value }))}
      onSave={save}
      remove={() => change(without(sources, at))}
    />
  ));
}
