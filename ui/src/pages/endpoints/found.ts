import type { EndpointView, FoundRuntime } from '../../host/gen';
import type { App } from '../../state/app.svelte';
import { s } from '../../strings/en';

/** Makes an endpoint of a local runtime that was found, unless it is one already; its name. */
export async function addRuntime(app: App, found: FoundRuntime): Promise<string> {
  const endpoints = app.setup?.endpoints ?? [];
  const there = endpoints.find((it) => place(it.base) === place(found.base));
  if (there) return there.name;
  const presets = await app.host.call('presets', {});
  const api = presets.find((it) => it.id === found.preset)?.apis[0];
  const taken = new Set(endpoints.map((it) => it.name));
  let [name, n] = [found.preset, 2];
  while (taken.has(name)) name = `${found.preset}-${n++}`;
  await app.host.call('save_endpoint', {
    name,
    base: found.base,
    ...(api ? { api } : {}),
    key_env: null,
    new: true,
    allow_plain_http: false,
    test: true,
  });
  app.say(s.endpoints.saved(name));
  await app.refresh();
  return name;
}

/** Runtimes that are no endpoint yet. */
export function notYet(found: readonly FoundRuntime[], endpoints: readonly EndpointView[]): FoundRuntime[] {
  const known = new Set(endpoints.map((it) => place(it.base)));
  return found.filter((it) => !known.has(place(it.base)));
}

/** Host and port, with the names of this computer told as one. */
function place(base: string): string {
  try {
    const url = new URL(base);
    const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    return `${local ? 'here' : url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
  } catch {
    return base;
  }
}
