// Deleting chosen documents, in several transactions.
import { removeAll } from "../../api/documents";
import { count, counted } from "../../format/format";
import { forgetChosen } from "../../grid/chosen";
import { changed } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { begin } from "../../shell/transfers";

/** Documents that one transaction deletes. */
const DELETED_COUNT = 500;

/** Deletes them in the background, whichever screen is open. */
export function deleteChosen(database: string, chosen: Iterable<string>) {
  const ids = [...chosen];
  let done = 0;
  const partly = () => `${counted(done, "document")} of ${count(ids.length)} were deleted; the others are still chosen.`;
  begin(
    `Deleting ${counted(ids.length, "document")}`,
    async (tell, signal) => {
      try {
        while (done < ids.length) {
          tell(done / ids.length, `${count(done)} of ${count(ids.length)}`);
          // Between two transactions: of one that was sent it would not be known what came of it.
          signal.throwIfAborted();
          const next = ids.slice(done, done + DELETED_COUNT);
          await removeAll(database, next);
          forgetChosen(database, next);
          done += next.length;
        }
        return `${counted(ids.length, "document")} deleted.`;
      } catch (error) {
        throw signal.aborted ? error : new Error(`${messageOf(error)} ${partly()}`);
      } finally {
        void changed("documents");
      }
    },
    () => `Stopped. ${partly()}`,
    { isBrief: true },
  );
}
