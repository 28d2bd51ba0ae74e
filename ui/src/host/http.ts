import { s } from '../strings/en';
import type { LiveEvent } from './gen';
import { asControlError, controlError, type Host, type Link } from './host';
import { NdjsonDecoder } from './ndjson';

const ADMIN = '/bench/admin';
const TOKEN = 'bench-admin-token';

/** The gateway sends a blank line every 15 s; a stream that is silent for longer is dead. */
const SILENCE_MS = 45_000;
const RETRY_MS = [500, 1000, 2000, 5000];

type Fetch = typeof fetch;

/** The window in a browser, against `bench serve --ui`. */
export function httpHost(token: string, fetch_: Fetch = (...a) => fetch(...a)): Host {
  const authorization = `Bearer ${token}`;
  return {
    async call(name, args) {
      let response: Response;
      try {
        response = await fetch_(`${ADMIN}/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization },
          body: JSON.stringify(args),
        });
      } catch {
        throw controlError('internal', s.host.unreachable);
      }
      const body: unknown = await response.json().catch(() => null);
      if (response.ok) return body as never;
      throw refusal(response.status, body);
    },
    async listen(onEvent, onLink) {
      const stop = new AbortController();
      void follow(fetch_, authorization, onEvent, onLink, stop.signal);
      return () => stop.abort();
    },
    async openUrl(url) {
      window.open(url, '_blank', 'noopener,noreferrer');
    },
    copy: (text) => navigator.clipboard.writeText(text),
    async saveText(name, text) {
      const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
      const a = document.createElement('a');
      a.href = url;
      a.download = name;
      a.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
      return s.host.savedInBrowser(name);
    },
  };
}

/**
 * The token of the link that `bench serve --ui` printed. It is taken out of the address bar and kept for this
 * tab only, so that a reload works and the history holds no secret.
 */
export function takeToken(location: Location, history: History, storage: Storage): string {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    storage.setItem(TOKEN, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return given ?? storage.getItem(TOKEN) ?? '';
}

function refusal(status: number, body: unknown) {
  if (status === 401 || status === 403) return controlError('denied', s.host.refused);
  const error = (body as { error?: { message?: unknown } } | null)?.error;
  // The guard's own errors have no `field`, and codes that are not ours.
  if (typeof error === 'object' && error !== null && 'field' in error) return asControlError(error);
  const message = error?.message;
  return controlError('internal', typeof message === 'string' ? message : s.host.status(status));
}

/** Reads events until stopped, connecting again after each end. */
async function follow(
  fetch_: Fetch,
  authorization: string,
  onEvent: (e: LiveEvent) => void,
  onLink: (link: Link) => void,
  stop: AbortSignal,
): Promise<void> {
  for (let tries = 0; !stop.aborted; tries++) {
    const connection = new AbortController();
    const end = () => connection.abort();
    stop.addEventListener('abort', end);
    let timer = setTimeout(end, SILENCE_MS);
    try {
      const response = await fetch_(`${ADMIN}/events`, {
        headers: { authorization, accept: 'application/x-ndjson' },
        signal: connection.signal,
        cache: 'no-store',
      });
      if (response.status === 401 || response.status === 403) {
        onLink('refused');
        return;
      }
      if (!response.ok || !response.body) throw new Error(String(response.status));
      const reader = response.body.getReader();
      const decoder = new NdjsonDecoder();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(end, SILENCE_MS);
        tries = 0;
        onLink('up');
        for (const event of decoder.push(value)) onEvent(event as LiveEvent);
      }
    } catch {
      // Said by `lost` below; the next try follows.
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
    }
    if (stop.aborted) return;
    onLink('lost');
    await pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 5000, stop);
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
