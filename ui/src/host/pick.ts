import type { Host } from './host';
import { httpHost, takeToken } from './http';

/** The shell's host inside the shell, the HTTP one in a browser. */
export async function pickHost(): Promise<Host> {
  if ('__TAURI_INTERNALS__' in window) {
    const { tauriHost } = await import('./tauri');
    return tauriHost();
  }
  return httpHost(takeToken(location, history, sessionStorage));
}
