import type { Limits, LimitsView, QuotaView } from '../../host/gen';
import { s } from '../../strings/en';
import { span } from '../../text/numbers';
import { wholeWithin } from '../../text/rules';

/** In the order in which they are shown: requests, then tokens. */
export const AXES = ['rpm', 'rpd', 'rpmo', 'tpm', 'tpd'] as const satisfies readonly (keyof Limits)[];
export type Axis = (typeof AXES)[number];

/** Limits as they are typed. */
export type Typed = Record<Axis, string>;

export function typedOf(limits: Limits | undefined): Typed {
  const text = (axis: Axis) => (limits?.[axis] ?? '').toString();
  return { rpm: text('rpm'), rpd: text('rpd'), rpmo: text('rpmo'), tpm: text('tpm'), tpd: text('tpd') };
}

/** What is wrong, by its axis. */
export function wrongLimits(typed: Typed): Partial<Record<Axis, string>> {
  const bad = (axis: Axis) =>
    typed[axis].trim() !== '' && wholeWithin(typed[axis], 1, Number.MAX_SAFE_INTEGER) === null;
  return Object.fromEntries(AXES.filter(bad).map((axis) => [axis, s.limits.whole]));
}

export function limitsOf(typed: Typed): Limits {
  const value = (axis: Axis) => (typed[axis].trim() === '' ? null : Number(typed[axis]));
  return { rpm: value('rpm'), rpd: value('rpd'), rpmo: value('rpmo'), tpm: value('tpm'), tpd: value('tpd') };
}

/** The part of it that is an endpoint's: a hub has a connection for each vendor behind it. */
export function ofEndpoint(view: LimitsView | null, endpoint: string, aliases: ReadonlySet<string>) {
  const connections = (view?.connections ?? []).filter((it) => it.endpoint === endpoint);
  const names = new Set([endpoint, ...connections.map((it) => it.connection)]);
  const cooling = (view?.cooling ?? []).filter((it) =>
    it.is_connection
      ? names.has(it.name) || it.name.startsWith(`${endpoint}/`)
      : aliases.has(it.name) || it.name.startsWith(`${endpoint}/`),
  );
  return { connections, cooling };
}

/** `Requests a minute`; a window the provider did not name is left out. */
export function quotaLabel(quota: QuotaView): string {
  const metric = s.limits.metric[quota.metric] ?? quota.metric;
  return quota.window_s === null ? metric : `${metric} ${s.limits.window(quota.window_s)}`;
}

/** How much of it is used up, 0 to 1; `null` where that cannot be told. */
export function usedShare(quota: QuotaView, nowMs: number): number | null {
  if (quota.limit === null || quota.limit === 0 || quota.remaining === null) return null;
  if (isReset(quota, nowMs)) return 0;
  return 1 - quota.remaining / quota.limit;
}

/** What was said is over: it is whole again. */
export function isReset(quota: QuotaView, nowMs: number): boolean {
  return quota.resets_at !== null && Date.parse(quota.resets_at) <= nowMs;
}

/** When it was seen and when it is whole again. */
export function quotaTimes(quota: QuotaView, nowMs: number): string {
  const seen = s.limits.seen(span(nowMs - Date.parse(quota.seen_at)));
  if (quota.resets_at === null) return seen;
  const left = Date.parse(quota.resets_at) - nowMs;
  return `${seen}, ${left > 0 ? s.limits.resets(span(left)) : s.limits.wasReset}`;
}

/** `X-Title: bench`, one a line; the first line that is none. */
export function headersOf(text: string): { headers: Record<string, string>; wrong: string } {
  const headers: Record<string, string> = {};
  for (const line of text.split('\n').map((it) => it.trim())) {
    if (line === '') continue;
    const at = line.indexOf(':');
    if (at < 1) return { headers, wrong: line };
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return { headers, wrong: '' };
}

export function headersText(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
