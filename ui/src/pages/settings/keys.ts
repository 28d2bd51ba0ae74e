// A gateway key as it stands in its form, and in words.
import type { CreateKey, GatewayKeyView } from '../../host/gen';
import { s } from '../../strings/en';
import { count, span, when } from '../../text/numbers';
import { ENDPOINT_NAME, wholeWithin } from '../../text/rules';
import { type BudgetField, budgetOf, type TypedBudget, typedBudget, wrongBudget } from '../spend/budget';

/** A key that is to be made, as it is typed. */
export interface Draft {
  name: string;
  scope: 'every' | 'only';
  collections: string[];
  requests_a_minute: string;
  budget: TypedBudget;
  expires: Expiry;
  /** `2027-01-31` */
  date: string;
}

export const EXPIRIES = ['never', '30d', '90d', 'date'] as const;
export type Expiry = (typeof EXPIRIES)[number];
export type Field = keyof CreateKey | BudgetField;

/** In records, this machine without a key. */
const LOCAL = 'local';
const MOST_A_MINUTE = 10_000;
const SOON_MS = 3 * 86_400_000;
/** A day, an hour, a minute. */
const UNITS_MS = [86_400_000, 3_600_000, 60_000];

export function emptyDraft(): Draft {
  return {
    name: '',
    scope: 'every',
    collections: [],
    requests_a_minute: '',
    budget: typedBudget(undefined),
    expires: 'never',
    date: '',
  };
}

/** What the gateway would refuse, by its field. */
export function check(
  draft: Draft,
  keys: readonly GatewayKeyView[],
  nowMs: number,
): Partial<Record<Field, string>> {
  const errors: Partial<Record<Field, string>> = wrongBudget(draft.budget);
  const words = s.gatewayKeys.error;
  const name = draft.name.trim();
  if (!ENDPOINT_NAME.test(name)) errors.name = words.name;
  else if (name === LOCAL) errors.name = words.local;
  else if (keys.some((it) => it.name === name && it.standing === 'good')) errors.name = words.taken(name);
  if (draft.scope === 'only' && draft.collections.length === 0) errors.collections = words.collections;
  const requests = draft.requests_a_minute.trim();
  if (requests && wholeWithin(requests, 1, MOST_A_MINUTE) === null)
    errors.requests_a_minute = words.requests(count(MOST_A_MINUTE));
  if (draft.expires === 'date' && !(Date.parse(draft.date) > nowMs)) errors.expires = words.date;
  return errors;
}

export function toCreate(draft: Draft): CreateKey {
  const budget = budgetOf(draft.budget);
  const requests = draft.requests_a_minute.trim();
  return {
    name: draft.name.trim(),
    ...(draft.scope === 'only' ? { collections: [...draft.collections] } : {}),
    ...(requests ? { requests_a_minute: Number(requests) } : {}),
    ...(budget ? { budget } : {}),
    ...(draft.expires === 'never'
      ? {}
      : { expires: draft.expires === 'date' ? draft.date : `+${draft.expires}` }),
  };
}

export function isGood(key: GatewayKeyView): boolean {
  return key.standing === 'good';
}

/** `good`, and since when or until when that is so; `soon` where it ends in a few days. */
export function standingOf(
  key: GatewayKeyView,
  nowMs: number,
): { word: string; more: string; tone: '' | 'soon' | 'spent' } {
  const words = s.gatewayKeys;
  const word = words.standings[key.standing];
  if (key.standing !== 'good')
    return { word, more: when((key.standing === 'revoked' ? key.revoked : key.expires) ?? ''), tone: '' };
  const left = key.expires === undefined ? Infinity : Date.parse(key.expires) - nowMs;
  const more =
    key.expires === undefined
      ? words.endsNever
      : left < SOON_MS
        ? words.endsSoon(span(left))
        : words.ends(when(key.expires));
  if (key.spent?.is_spent) return { word: words.spent, more, tone: 'spent' };
  return { word, more, tone: left < SOON_MS ? 'soon' : '' };
}

/** How long ago it was last used, in its largest unit. */
export function usedText(key: GatewayKeyView, nowMs: number): string {
  if (key.last_used === undefined) return s.gatewayKeys.neverUsed;
  const ms = nowMs - Date.parse(key.last_used);
  const unit = UNITS_MS.find((it) => ms >= it);
  return unit === undefined ? s.gatewayKeys.justNow : s.gatewayKeys.ago(span(Math.floor(ms / unit) * unit));
}

/** What it may ask. */
export function scopeText(key: GatewayKeyView): string {
  return key.collections?.map((it) => `bench/${it}`).join(', ') ?? s.gatewayKeys.everything;
}

export function rateText(key: GatewayKeyView): string {
  return key.requests_a_minute === undefined
    ? s.gatewayKeys.noRate
    : s.gatewayKeys.perMinute(count(key.requests_a_minute));
}
