// When something ends, with a word where that is near.
import { dateTime, serverNow } from "../../format/format";
import tables from "../../shell/table.module.css";
import { nearness } from "./day";

/** `never`: what is said where there is no end. */
export function Ends({ at, never }: { at: string | null; never: string }) {
  if (at === null) return <>{never}</>;
  const near = nearness(at, serverNow());
  return (
    <>
      {dateTime(at)}{" "}
      {near !== "far" && (
        <span className={tables.badge} data-tone={near === "over" ? "bad" : "warn"}>
          {near === "over" ? "Expired" : "Soon"}
        </span>
      )}
    </>
  );
}
