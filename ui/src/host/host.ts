import type { Code, Commands, ControlError, LiveEvent } from './gen';

/** How the window reaches the gateway. `tauri.ts` is the desktop shell, `http.ts` a browser. */
export interface Host {
  /** Rejects with a `ControlError`, whatever went wrong. */
  call<K extends keyof Commands>(name: K, args: Commands[K]['args']): Promise<Commands[K]['result']>;
  /** The first event of every subscription is `snapshot`. Resolves to what ends it. */
  listen(onEvent: (e: LiveEvent) => void, onLink: (link: Link) => void): Promise<() => void>;
  /** Opens an address in the person's browser. They have seen it and agreed. */
  openUrl(url: string): Promise<void>;
  copy(text: string): Promise<void>;
  /** Saves a text file; resolves to where it went, in words. */
  saveText(name: string, text: string): Promise<string>;
}

/** The state of the event stream. `refused`: the gateway answered, but not to us (a stale link). */
export type Link = 'up' | 'lost' | 'refused';

export function controlError(code: Code, message: string, field: string | null = null): ControlError {
  return { code, message, field };
}

/** What was thrown, as a `ControlError`. */
export function asControlError(e: unknown): ControlError {
  if (typeof e === 'object' && e !== null && 'code' in e && 'message' in e) {
    const { code, message } = e as { code: Code; message: unknown };
    const field = 'field' in e && typeof e.field === 'string' ? e.field : null;
    const made = controlError(code, String(message), field);
    return 'suggestion' in e && typeof e.suggestion === 'string'
      ? { ...made, suggestion: e.suggestion }
      : made;
  }
  return controlError('internal', e instanceof Error ? e.message : String(e));
}
