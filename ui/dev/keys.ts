// The fixture's gateway keys: one of each standing, and what making and revoking one does.
import type { Commands, CreateKey, GatewayKeyView } from '../src/host/gen';
import { controlError } from '../src/host/host';
import type { Fixture } from './fixture';

type Handlers = {
  [K in 'create_key' | 'keys' | 'revoke_key']: (args: Commands[K]['args']) => Commands[K]['result'];
};

/** What the fixture tells of a key that it makes; of an earlier one it knows only the end. */
export const TEXT = 'bwk_Zm9yLXRlc3RzLW9ubHktbm90LWEta2V5LTAwMDA8Qx1';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (ms: number) => new Date(Date.now() + ms).toISOString();
const midnight = () => new Date(Math.floor(Date.now() / DAY + 1) * DAY).toISOString();

/** The key that the fixture's programs ask with. */
export const ASKS = 'desk-agent';

/** Where keys are wanted: good, near its end, spent, expired, revoked. */
export function programs(on: Fixture): void {
  const spending = { tokens_unknown: 0, cost_unknown: 0, is_spent: false, resets_at: midnight() };
  const good = (name: string, last4: string, over: Partial<GatewayKeyView> = {}): GatewayKeyView => ({
    name,
    last4,
    standing: 'good',
    created: iso(-20 * DAY),
    ...over,
  });
  for (const it of on.routed) it.conversation.caller = ASKS;
  on.programs = [
    good('notes-app', 'k3Vd', { standing: 'expired', expires: iso(-3 * DAY), last_used: iso(-3 * DAY) }),
    good('desk-agent', 'a9Qe', { standing: 'revoked', revoked: iso(-12 * DAY), last_used: iso(-13 * DAY) }),
    good('desk-agent', 'x7Pm', { last_used: iso(-4 * 60_000) }),
    good('ci-reviews', '2Lfw', {
      collections: ['quick', 'reviewers'],
      requests_a_minute: 30,
      budget: { per: 'month', dollars: 5, tokens: 2_000_000 },
      spent: { ...spending, tokens: 812_000, dollars: 4.31, cost_unknown: 3 },
      expires: iso(75 * DAY),
      last_used: iso(-2 * HOUR),
    }),
    good('guest', '_h-8', {
      collections: ['quick'],
      requests_a_minute: 1200,
      budget: { per: 'day', tokens: 100_000 },
      spent: { ...spending, tokens: 100_412, dollars: 0, is_spent: true },
      expires: iso(29 * HOUR),
    }),
  ];
}

export const keyHandlers = (on: Fixture): Handlers => ({
  create_key: (a) => {
    const key = made(on, a);
    on.programs = [...on.programs, key];
    return { key, text: TEXT };
  },
  keys: () => on.programs,
  revoke_key: ({ name }) => {
    const key = on.programs.findLast((it) => it.name === name);
    if (!key) throw controlError('not_found', `there is no gateway key "${name}"`, 'name');
    if (!key.revoked) Object.assign(key, { standing: 'revoked', revoked: iso(0) });
    return key;
  },
});

function made(on: Fixture, a: CreateKey): GatewayKeyView {
  if (on.programs.some((it) => it.name === a.name && it.standing === 'good')) {
    const message = `there is a gateway key "${a.name}" already; revoke it first, or choose another name`;
    throw controlError('conflict', message, 'name');
  }
  const { expires, ...rest } = a;
  const days = /^\+(\d+)d$/.exec(expires ?? '')?.[1];
  return {
    ...rest,
    last4: TEXT.slice(-4),
    standing: 'good',
    created: iso(0),
    ...(a.budget
      ? {
          spent: {
            tokens: 0,
            tokens_unknown: 0,
            dollars: 0,
            cost_unknown: 0,
            is_spent: false,
            resets_at: midnight(),
          },
        }
      : {}),
    ...(expires ? { expires: days ? iso(Number(days) * DAY) : new Date(expires).toISOString() } : {}),
  };
}
