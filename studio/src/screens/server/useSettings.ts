// The settings in force, read once for all parts of the screen.
import { useQuery } from "@tanstack/react-query";
import { settings } from "../../api/diagnostics";

export function useSettings() {
  return useQuery({ queryKey: ["settings"], queryFn: ({ signal }) => settings(signal) });
}
