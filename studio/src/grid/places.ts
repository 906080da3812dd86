// Where one was in a grid, for each entry of the browser's history: going back leads to the same rows. It lasts as long as the page.

export type Place = { top: number; active: number };

/** Entries that are kept. */
const COUNT_MAX = 50;

const places = new Map<string, Place>();

export function placeAt(key: string): Place | undefined {
  return places.get(key);
}

export function keepPlace(key: string, place: Place) {
  places.delete(key);
  places.set(key, place);
  if (places.size > COUNT_MAX) places.delete(places.keys().next().value!);
}
