// The fixture's limits, records and ledger: everything there is to show on the pages of endpoints, models and spend.
import type {
  BudgetView,
  Commands,
  ConnectionLimits,
  CoolingView,
  LimitsView,
  ModelRecord,
  SpendRow,
} from '../src/host/gen';
import { controlError } from '../src/host/host';
import type { Fixture } from './fixture';
import { model } from './made';

const SECOND = 1000;
const iso = (ms: number) => new Date(Date.now() + ms).toISOString();

/** Where quotas, rests and spending are wanted. */
export function busy(on: Fixture): void {
  const groq = on.endpoints.find((it) => it.name === 'groq');
  if (groq) {
    groq.limits = { rpm: 30, rpd: 14_400, tpm: 6_000, tpd: null, rpmo: null };
    groq.paid = true;
    groq.headers = { 'X-Title': 'bench' };
  }
  const rule = (axis: string, window_s: number, limit: number, used: number) => ({
    axis,
    window_s,
    limit,
    used,
  });
  const quota = (
    metric: string,
    window_s: number | null,
    limit: number,
    remaining: number,
    resets: number,
  ) => ({
    model: 'moonshotai/kimi-k2-instruct',
    metric,
    window_s,
    limit,
    remaining,
    resets_at: iso(resets * SECOND),
    seen_at: iso(-12 * SECOND),
  });
  on.connections = [
    {
      connection: 'groq',
      endpoint: 'groq',
      in_flight: 2,
      rules: [rule('rpm', 60, 30, 26), rule('rpd', 86_400, 14_400, 1_204), rule('tpm', 60, 6_000, 6_120)],
      stated: [],
      quota: [quota('requests', 86_400, 14_400, 13_100, 6_180), quota('tokens', 60, 6_000, 140, 41)],
    },
    {
      connection: 'openrouter/z-ai',
      endpoint: 'openrouter',
      in_flight: 0,
      rules: [],
      stated: [
        { model: 'z-ai/glm-5', axis: 'rpm', window_s: 60, limit: 20, used: 3, until: iso(80_000 * SECOND) },
      ],
      quota: [
        {
          model: 'z-ai/glm-5',
          metric: 'credits',
          window_s: null,
          limit: null,
          remaining: 12,
          resets_at: null,
          seen_at: iso(-5_400 * SECOND),
        },
      ],
    },
  ];
  const why = 'a rate limit, for as long as the provider said';
  on.cooling = [
    { name: 'kimi-k2', is_connection: false, until: iso(754 * SECOND), why },
    { name: 'openrouter/z-ai', is_connection: true, until: iso(4_000 * SECOND), why },
  ];
  const facts = { tools: true, price: { input: 0.6, output: 2.5 } };
  for (const it of on.models) if (it.endpoint !== 'ollama') it.known = { ...it.known, ...facts };
  const retired = on.models.find((it) => it.alias === 'inkling');
  if (retired) retired.retired = { at: '2026-10-03', why: 'its provider stopped serving it' };
  const code = on.models.find((it) => it.alias === 'qwen3-coder');
  if (code) Object.assign(code, { options: { temperature: 0.2 }, facts: { context_window: 32_768 } });
  const reviewers = on.collections.find((it) => it.name === 'reviewers');
  if (reviewers) reviewers.budget = { dollars: 5, tokens: 2_000_000, per: 'month' };
  on.works = true;
}

/** Hundreds of models, of a provider with everything. */
export function many(on: Fixture, n: number): void {
  const roles = ['general', 'code', 'light', 'vision'];
  for (let i = 0; i < n; i++) {
    const made = model(
      `lab-${i}`,
      i % 3 ? 'openrouter' : 'groq',
      `vendor-${i % 9}/lab-model-${i}-instruct`,
      roles[i % 4]!,
    );
    made.known = {
      context_window: 8_192 * (1 + (i % 16)),
      tools: i % 2 === 0,
      price: { input: i / 100, output: i / 25 },
    };
    on.models.push(made);
  }
  on.works = true;
  on.changed();
}

export function limits(on: Fixture): LimitsView {
  const now = Date.now();
  const cooling: CoolingView[] = on.cooling.filter((it) => Date.parse(it.until) > now);
  const connections: ConnectionLimits[] = on.connections;
  return { connections, cooling, budgets: budgets(on) };
}

function budgets(on: Fixture): BudgetView[] {
  return on.collections.flatMap(({ name, budget }) =>
    budget
      ? [
          {
            collection: name,
            budget,
            tokens: 812_000,
            tokens_unknown: 0,
            dollars: 4.31,
            cost_unknown: 3,
            is_spent: false,
            resets_at: '2026-12-01T00:00:00.000Z',
          },
        ]
      : [],
  );
}

export function clear(on: Fixture, name: string): Record<string, never> {
  const before = on.cooling.length;
  on.cooling = on.cooling.filter((it) => it.name !== name);
  if (on.cooling.length === before)
    throw controlError('not_found', `Nothing is cooling down under "${name}".`);
  return {};
}

export function records(on: Fixture): ModelRecord[] {
  const resting = new Map(on.cooling.map((it) => [it.name, it.until]));
  return on.models.map((it, i) => {
    const until = resting.get(it.alias) ?? null;
    const noKey = it.endpoint === 'openrouter' && i % 17 === 5;
    const state = it.retired ? 'retired' : until ? 'resting' : noKey ? 'out' : 'ready';
    const why = {
      retired: it.retired?.why ?? '',
      resting: 'cooling down after a rate limit',
      out: 'its endpoint has no key',
      ready: '',
    };
    const worked = on.works && i % 5 !== 4;
    return {
      alias: it.alias,
      state,
      why: why[state],
      until,
      offloads: worked ? 240 - ((i * 37) % 220) : 0,
      last_at: worked ? iso(-(i + 1) * 3_600 * SECOND) : null,
      useful: worked ? 9 - (i % 7) : 0,
      judged: worked ? 12 - (i % 4) : 0,
      answers: worked ? 120 : 0,
      seconds: worked ? 3 + ((i * 13) % 90) / 10 : null,
      first_token_s: worked ? 0.4 + (i % 9) / 10 : null,
    };
  });
}

export function spend(on: Fixture, { by }: Commands['spend']['args']): { since: string; rows: SpendRow[] } {
  const keys = {
    model: on.models.filter((it) => !it.practice).map((it) => it.alias),
    collection: on.collections.filter((it) => !it.practice).map((it) => it.name),
    endpoint: on.endpoints.filter((it) => !it.practice).map((it) => it.name),
    purpose: ['panel', 'route', 'merge', 'picker'],
    caller: ['local', ...new Set(on.programs.map((it) => it.name))],
  }[by];
  const rows = on.works
    ? keys.map((key, i) => ({
        key,
        calls: 340 - ((i * 31) % 300),
        tokens_fresh: 1_240_000 / (i + 1),
        tokens_out: 310_000 / (i + 1),
        tokens_reasoning: 0,
        cache_read: 80_000 / (i + 1),
        cache_write: 0,
        tokens_unknown: i === 2 ? 4 : 0,
        cost: i === 3 ? 0 : 4.31 / (i + 1),
        cost_unknown: i === 3 ? 340 - ((i * 31) % 300) : i === 1 ? 3 : 0,
        useful: i === 3 ? 0 : 40 / (i + 1),
        cost_per_useful: i === 3 || i === 1 ? null : 0.1078,
      }))
    : [];
  return { since: iso(-30 * 86_400 * SECOND), rows };
}
