export const PAGES = ['live', 'verdicts', 'collections', 'models', 'endpoints', 'spend', 'settings'] as const;
export type Page = (typeof PAGES)[number];

/** Where the window is: a page, and on it what is shown (a panel's id, an endpoint's name). */
export interface Route {
  page: Page;
  item: string | null;
}

const LAST = 'bench-last-page';

/** `#/live/p2026…`. The shell opens a page by it when a notification is clicked. */
export function parse(hash: string): Route | null {
  const [page, item] = hash.replace(/^#\/?/, '').split('/');
  const known = PAGES.find((p) => p === page);
  if (!known) return null;
  try {
    return { page: known, item: item ? decodeURIComponent(item) : null };
  } catch {
    return { page: known, item: null };
  }
}

export function format(route: Route): string {
  return `#/${route.page}${route.item ? `/${encodeURIComponent(route.item)}` : ''}`;
}

/** The page the window was closed on. */
export function remembered(storage: Storage): Route {
  return parse(storage.getItem(LAST) ?? '') ?? { page: 'live', item: null };
}

export function remember(storage: Storage, route: Route): void {
  storage.setItem(LAST, format(route));
}
