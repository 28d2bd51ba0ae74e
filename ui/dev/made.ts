// What the fixture is made of: presets, prompts, and set-up items with everything filled in.
import type {
  Api,
  CollectionView,
  Commands,
  EndpointView,
  ModelView,
  PresetView,
  SeatView,
  Settings,
  Status,
} from '../src/host/gen';

export interface FixtureOptions {
  /** Nothing set up yet. */
  first?: boolean;
  /** Milliseconds a command takes. */
  delay?: number;
  /** No keychain. */
  keys?: Status['keys']['kind'];
  /** Runtimes and keys are found. */
  found?: boolean;
  /** Ended panels to begin with. */
  past?: number;
  /** A collection for agents, and sessions of theirs to begin with. */
  sessions?: number;
  /** Limits in use, models that rest, a ledger, a budget. */
  busy?: boolean;
  /** So many models more. */
  many?: number;
  /** Gateway keys of every standing. */
  programs?: boolean;
  /** The text of turns is kept. */
  texts?: boolean;
}

export const SETTINGS: Settings = {
  max_calls: 5,
  max_explorers: 2,
  reserves: 1,
  seat_seconds: 420,
  idle_seconds: 90,
  panel_on_hangup: 'finish',
  explorer_grace: 60,
  keep_text_days: 90,
  responses_days: 30,
  rotate: 0.25,
  conversation_minutes: 60,
  show_reasoning_early: false,
  route_on_hangup: 'cancel',
  keep_route_text: false,
  list_models: false,
  catalog_refresh: true,
  require_keys: false,
};

export function endpoint(name: string, base: string, kind: EndpointView['kind']): EndpointView {
  return {
    name,
    base,
    api: 'chat',
    kind,
    key: {
      source: kind === 'practice' || kind === 'local' ? 'none' : 'keychain',
      hint: '••••4d2e',
      variable: null,
    },
    key_env: null,
    paid: false,
    headers: {},
    practice: kind === 'practice',
    models: 0,
    alert: null,
  };
}

export function model(alias: string, endpoint: string, served: string, role: ModelView['role']): ModelView {
  return {
    alias,
    endpoint,
    served,
    role,
    ad_hoc: false,
    facts: {},
    known: endpoint === 'practice' ? {} : { context_window: 131072 },
    options: {},
    retired: null,
    practice: endpoint === 'practice',
    collections: [],
  };
}

export function collection(name: string, description: string, members: string[]): CollectionView {
  return {
    name,
    description,
    tags: [],
    members,
    shape: '',
    reply: 'all',
    merger: null,
    when_too_large: 'refuse',
    shadow: 0,
    shadow_share: 1,
    shadow_tokens: 0,
    practice: name === 'practice',
  };
}

export function pick(a: Commands['save_collection']['args']) {
  const { tags, shape, when_too_large, reply, merger, shadow, shadow_share, shadow_tokens, budget } = a;
  return {
    tags,
    shape,
    when_too_large,
    reply: reply ?? 'all',
    merger: merger || null,
    shadow: shadow ?? 0,
    shadow_share: shadow_share ?? 1,
    shadow_tokens: shadow_tokens ?? 0,
    ...(budget ? { budget } : {}),
  };
}

export function seat(panel: string, name: string, alias: string, over: Partial<SeatView> = {}): SeatView {
  return {
    call: `${panel}.${name}`,
    seat: name,
    kind: 'member',
    alias,
    endpoint: '',
    why: '',
    stood_in_for: null,
    status: 'waiting',
    seconds: null,
    first_token_s: null,
    tokens_in: null,
    tokens_out: null,
    answer: '',
    error: '',
    verdict: null,
    ...over,
  };
}

const PRESET: [id: string, title: string, apis: Api[], base: string, key_page: string][] = [
  ['groq', 'Groq', ['chat'], 'https://api.groq.com/openai/v1', 'https://console.groq.com/keys'],
  [
    'openai',
    'OpenAI',
    ['chat', 'responses'],
    'https://api.openai.com/v1',
    'https://platform.openai.com/api-keys',
  ],
  [
    'anthropic',
    'Anthropic',
    ['anthropic'],
    'https://api.anthropic.com/v1',
    'https://console.anthropic.com/settings/keys',
  ],
  ['openrouter', 'OpenRouter', ['chat'], 'https://openrouter.ai/api/v1', 'https://openrouter.ai/keys'],
  [
    'azure',
    'Azure OpenAI',
    ['chat', 'responses'],
    'https://{resource}.openai.azure.com/openai/v1',
    'https://portal.azure.com',
  ],
  ['ollama', 'Ollama', ['ollama'], 'http://127.0.0.1:11434', ''],
];
export const PRESETS: PresetView[] = PRESET.map(([id, title, apis, base, key_page]) => ({
  id,
  title,
  base,
  apis,
  kind: id === 'ollama' ? 'local' : 'provider',
  key_page,
  needs_key: id !== 'ollama',
  needs_resource: base.includes('{resource}'),
}));

export const PROMPTS = [
  'Where can this cache return a stale value after a failed refresh?',
  'Is the retry loop in fetch_all safe when the server answers 429 with a long wait?',
  'Two words for a queue that never blocks its writers',
];

export const SERVED = [
  'moonshotai/kimi-k2-instruct',
  'qwen/qwen3-coder',
  ...Array.from({ length: 180 }, (_, i) => `vendor-${i % 9}/model-${i + 1}-instruct`),
];
