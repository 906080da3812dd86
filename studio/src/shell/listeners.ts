// Who wants to know of changes of something that stands beside the screens.

export type Listeners = {
  /** As `useSyncExternalStore` wants it. */
  subscribe: (listener: () => void) => () => void;
  tell: () => void;
};

export function listeners(): Listeners {
  const all = new Set<() => void>();
  return {
    subscribe: (listener) => {
      all.add(listener);
      return () => all.delete(listener);
    },
    tell: () => {
      for (const listener of all) listener();
    },
  };
}
