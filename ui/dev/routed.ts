// Agents' conversations, told turn by turn, as the gateway tells them.
import type { ConversationView, RoutedCall, TurnView, WhyThisModel } from '../src/host/gen';
import type { Fixture } from './fixture';

export interface Routed {
  conversation: ConversationView;
  /** Newest first, with texts where they are kept. */
  turns: TurnView[];
}

const WHY: WhyThisModel = {
  by: 'best record',
  candidates: [
    {
      alias: 'qwen3-coder',
      why: '9 of 12 useful on code; on a paid connection',
      useful: 9,
      judged: 12,
      useful_overall: 14,
      judged_overall: 20,
      offloads: 61,
    },
    {
      alias: 'kimi-k2',
      why: '5 of 6 useful overall',
      useful: 0,
      judged: 0,
      useful_overall: 5,
      judged_overall: 6,
      offloads: 18,
    },
    {
      alias: 'glm-5',
      why: 'no evidence yet; cooling down for 40 s',
      useful: 0,
      judged: 0,
      useful_overall: 0,
      judged_overall: 0,
      offloads: 0,
    },
  ],
};

/** Whoever has the conversation is tried first. */
function why(by: string, first: string): WhyThisModel {
  const { candidates } = WHY;
  const own = candidates.filter((it) => it.alias === first);
  return { by, candidates: [...own, ...candidates.filter((it) => it.alias !== first)] };
}

export function conversation(over: Partial<ConversationView> = {}): ConversationView {
  const at = new Date(Date.now() - 14 * 60_000).toISOString();
  return {
    id: 'r20261129-154501-9f3a6c01',
    collection: 'agents',
    at,
    last_at: new Date().toISOString(),
    client: 'claude-cli',
    title: 'Make the retry loop in fetch_all honour Retry-After, with a test that fails first',
    alias: '',
    running: false,
    turns: 0,
    tool_calls: 0,
    failed_over: 0,
    tokens_in: null,
    tokens_out: null,
    cost: null,
    cost_unknown: 0,
    status: 'ok',
    calls: [],
    practice: false,
    ...over,
  };
}

export function turn(conversation: string, n: number, over: Partial<TurnView> = {}): TurnView {
  return {
    conversation,
    turn: n,
    at: new Date().toISOString(),
    call: `${conversation}.1`,
    alias: 'qwen3-coder',
    endpoint: 'groq',
    served: 'qwen/qwen3-coder',
    served_as: null,
    swapped: false,
    api: 'anthropic',
    member_api: 'chat',
    status: 'ok',
    seconds: 6.4,
    first_token_s: 0.7,
    tool_calls: 1,
    finish: 'tool_calls',
    tokens_in: 18_200 + n * 900,
    tokens_out: 410,
    tokens_reasoning: 120,
    cache_read: 17_000,
    cache_write: null,
    cost: 0.0061,
    overhead_ms: 0.9,
    error: '',
    failed_over: [],
    skipped: [],
    lossy: [],
    why: why(n === 1 ? 'best record' : "the conversation's model", over.alias ?? 'qwen3-coder'),
    question: '',
    answer: '',
    ...over,
  };
}

export function call(id: string, alias: string, over: Partial<RoutedCall> = {}): RoutedCall {
  return {
    call: id,
    alias,
    endpoint: 'groq',
    shadow: false,
    turn: null,
    status: 'ok',
    answer: '',
    verdict: null,
    ...over,
  };
}

/** A session of many turns with everything in it: failovers, skipped members, shadows, a turn that runs. */
export function session(on: Fixture, over: Partial<ConversationView> = {}, count = 38): Routed {
  const view = conversation({ id: `r20261129-154501-0000000${on.routed.length}`, ...over });
  const began = Date.parse(view.at);
  const turns: TurnView[] = [];
  for (let n = 1; n <= count; n++) {
    const passed = n === 1 || n === 24;
    const second = n >= 24;
    const keeps = on.settings.keep_route_text;
    turns.unshift(
      turn(view.id, n, {
        at: new Date(began + n * 20_000).toISOString(),
        call: `${view.id}.${second ? 2 : 1}`,
        ...(second
          ? { alias: 'kimi-k2', served: 'moonshotai/kimi-k2-instruct', cost: null, tokens_reasoning: null }
          : {}),
        ...(n === count ? { tool_calls: 0, finish: 'stop' } : {}),
        failed_over: passed
          ? [
              {
                from: n === 1 ? 'glm-5' : 'qwen3-coder',
                to: n === 1 ? 'qwen3-coder' : 'kimi-k2',
                why: n === 1 ? 'rate limited (429, wait 40 s)' : 'overloaded (529)',
              },
            ]
          : [],
        skipped: passed
          ? [
              {
                seat: 'member',
                alias: 'llama-small',
                why: 'not known to take tools; if it does, set the fact tools on the model',
              },
            ]
          : [],
        lossy: [
          { field: 'thinking.budget_tokens', reason: 'sent as reasoning_effort=high' },
          { field: 'messages[0].content[1].cache_control', reason: 'not sent to members' },
        ],
        question: keeps ? '[user] Make the retry loop honour Retry-After.\n[tool] cargo test: 1 failed' : '',
        answer: keeps ? 'The test fails as it should. Now the loop: `wait` has to come from the header.' : '',
      }),
    );
  }
  const shadowed = turns[1]!;
  view.calls = [
    call(`${view.id}.1`, 'qwen3-coder'),
    ...(count >= 24 ? [call(`${view.id}.2`, 'kimi-k2')] : []),
    call(`${shadowed.call}.s1`, 'glm-5', {
      shadow: true,
      turn: shadowed.turn,
      answer:
        'The loop sleeps a fixed second. Read `Retry-After` first:\n\n```rust\nlet wait = retry_after(&response).unwrap_or(backoff);\n```\n\nThen the test passes.',
    }),
    call(`${shadowed.call}.s2`, 'inkling', { shadow: true, turn: shadowed.turn, status: 'error' }),
  ];
  Object.assign(view, {
    alias: turns[0]!.alias,
    turns: count,
    tool_calls: count - 1,
    failed_over: count >= 24 ? 2 : 1,
    tokens_in: 1_284_000,
    tokens_out: 15_580,
    cost: 0.1403,
    cost_unknown: Math.max(0, count - 23),
    last_at: turns[0]!.at,
  });
  const made = { conversation: view, turns };
  on.routed.unshift(made);
  return made;
}

/** Tells of a turn: it is new, or it has changed. */
export function tell(on: Fixture, routed: Routed, it: TurnView): void {
  routed.turns = [it, ...routed.turns.filter((known) => known.turn !== it.turn)].sort(
    (a, b) => b.turn - a.turn,
  );
  const view = routed.conversation;
  Object.assign(view, {
    turns: Math.max(view.turns, it.turn),
    running: it.status === 'running',
    last_at: new Date().toISOString(),
    ...(it.status === 'running' ? {} : { status: it.status }),
    ...(it.status === 'ok' ? { alias: it.alias, tool_calls: view.tool_calls + it.tool_calls } : {}),
  });
  on.emit({ type: 'turn_changed', conversation: view, turn: it });
}

/** The next turn of a session begins. */
export function begin(on: Fixture, routed: Routed): TurnView {
  const n = routed.conversation.turns + 1;
  const last = routed.turns[0];
  const it = turn(routed.conversation.id, n, {
    alias: last?.alias ?? 'qwen3-coder',
    call: last?.call ?? `${routed.conversation.id}.1`,
    status: 'running',
    seconds: null,
    first_token_s: null,
    tool_calls: 0,
    finish: null,
    tokens_in: null,
    tokens_out: null,
    tokens_reasoning: null,
    cache_read: null,
    cost: null,
  });
  tell(on, routed, it);
  return it;
}
