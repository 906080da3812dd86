// An answer may come after its screen was left: then it says what it has to say, and takes nobody back.
import { useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useRef } from "react";

/** Whether the component is still on the screen, and its user not on the way to another one. */
export function useIsHere(): () => boolean {
  const router = useRouter();
  const path = useRef<string>(undefined);
  useEffect(() => {
    path.current = router.latestLocation.pathname;
    return () => void (path.current = undefined);
  }, [router]);
  return useCallback(() => router.latestLocation.pathname === path.current, [router]);
}
