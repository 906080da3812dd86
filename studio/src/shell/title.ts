// The titles of dialogs.
import { useState } from "react";

/** The title of a dialog that is open while there is one: a dialog that fades out keeps the one that it had. */
export function useTitle(title: string | undefined): string | undefined {
  const [last, setLast] = useState(title);
  // While it renders, so that no frame has the former one.
  if (title !== undefined && title !== last) setLast(title);
  return title ?? last;
}
