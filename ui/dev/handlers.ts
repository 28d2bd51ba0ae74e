// What the fixture answers to each command.
import type { Commands, EndpointTest, EndpointView } from '../src/host/gen';
import { controlError } from '../src/host/host';
import { spansOf } from '../src/text/find';
import type { Fixture } from './fixture';
import { PRESETS, SERVED, collection, endpoint, model, pick } from './made';
import { keyHandlers } from './keys';
import { clear, limits, records, spend } from './limits';
import { sheet } from './sheet';

type Handlers = { [K in keyof Commands]: (args: Commands[K]['args']) => Commands[K]['result'] };

export const handlers = (on: Fixture): Handlers => ({
  status: () => ({
    version: '0.1.0',
    url: on.portNote ? 'http://127.0.0.1:8124' : 'http://127.0.0.1:8123',
    urls: {
      openai: `http://127.0.0.1:${on.portNote ? 8124 : 8123}/v1`,
      anthropic: `http://127.0.0.1:${on.portNote ? 8124 : 8123}`,
      ollama: `http://127.0.0.1:${on.portNote ? 8124 : 8123}`,
      gemini: `http://127.0.0.1:${on.portNote ? 8124 : 8123}`,
    },
    wanted_port: 8123,
    port: on.portNote ? 8124 : 8123,
    port_note: on.portNote,
    data_dir: '~/.local/share/benchwarmers',
    pid: 4242,
    running: on.panels.filter((p) => p.state === 'running').length,
    owed: on.owedCalls().length,
    first_run: on.endpoints.length === 0,
    keys: on.keys,
    recording: on.recording,
    alerts: on.alerts,
  }),
  setup: () => ({
    endpoints: on.endpoints,
    models: on.models,
    collections: on.collections,
    settings: on.settings,
  }),
  presets: () => PRESETS,
  found: () =>
    on.options.found
      ? {
          runtimes: [
            {
              preset: 'ollama',
              title: 'Ollama',
              base: 'http://127.0.0.1:11434',
              models: ['llama3.2:3b', 'qwen3:8b', 'gemma3:12b', 'nomic-embed-text'],
            },
          ],
          keys: [{ preset: 'groq', title: 'Groq', variable: 'GROQ_API_KEY' }],
        }
      : { runtimes: [], keys: [] },
  start_practice: () => {
    on.endpoints.push(endpoint('practice', 'bench:/practice/v1', 'practice'));
    const members = ['quick', 'thinker', 'contrary', 'limited'];
    for (const m of members) on.models.push(model(m, 'practice', `practice/${m}`, 'general'));
    const made = collection('practice', 'Scripted practice models, offline.', members);
    on.collections.push(made);
    on.changed();
    return made;
  },
  save_endpoint: (a) => {
    if (a.new && on.endpoints.some((e) => e.name === a.name)) {
      throw controlError('conflict', `There is an endpoint "${a.name}" already.`, 'name');
    }
    if (a.base.startsWith('http://') && !/127\.0\.0\.1|localhost/.test(a.base) && !a.allow_plain_http) {
      throw controlError(
        'plain_http',
        `${a.base} is plain http to another machine: the key and every prompt can be read on the way.`,
        'base',
      );
    }
    if (a.key) keyStore(on);
    if (a.test) {
      const test = listing(on, { name: a.name, base: a.base, api: a.api ?? 'chat' });
      if (!test.ok) {
        const refused = controlError('test_failed', test.message);
        throw test.suggested_base ? { ...refused, suggestion: test.suggested_base } : refused;
      }
    }
    let e = on.endpoints.find((x) => x.name === a.name);
    if (!e) on.endpoints.push((e = endpoint(a.name, a.base, 'provider')));
    e.base = a.base;
    e.api = a.api ?? e.api;
    e.key_env = a.key_env;
    if (a.limits) {
      e.limits = a.limits;
      ruled(on, e);
    }
    e.kind = a.kind ?? e.kind;
    e.paid = a.paid ?? e.paid;
    e.headers = a.headers ?? e.headers;
    if (a.key) e.key = { source: 'keychain', hint: `••••${a.key.slice(-4)}`, variable: null };
    if (a.key_env) e.key = { source: 'environment', hint: '••••2b1c', variable: a.key_env };
    on.changed();
    return e;
  },
  test_endpoint: ({ name }) => listing(on, on.endpoint(name)),
  delete_endpoint: ({ name }) => {
    const used = on.models.find((m) => m.endpoint === name && m.collections.length > 0);
    if (used) {
      throw controlError(
        'conflict',
        `${used.alias} of ${name} is a member of ${used.collections.join(', ')}. Take it out there first.`,
      );
    }
    on.endpoints = on.endpoints.filter((e) => e.name !== name);
    on.models = on.models.filter((m) => m.endpoint !== name);
    on.changed();
    return {};
  },
  set_key: ({ endpoint: name, key }) => {
    keyStore(on);
    const e = on.endpoint(name);
    e.key = { source: 'keychain', hint: `••••${key.slice(-4)}`, variable: null };
    e.alert = null;
    on.changed();
    return e;
  },
  delete_key: ({ name }) => {
    const e = on.endpoint(name);
    e.key = { source: 'none', hint: '', variable: null };
    on.changed();
    return e;
  },
  open_vault_file: ({ passphrase }) => {
    if (on.keys.kind === 'vault_locked' && passphrase !== 'correct horse') {
      throw controlError('bad_input', 'The passphrase does not open the file.', 'passphrase');
    }
    on.keys = { kind: 'vault_file', message: 'Keys are kept in the encrypted file.' };
    return on.keys;
  },
  register_models: ({ endpoint: name, models }) => {
    for (const [i, m] of models.entries()) {
      if (on.models.some((x) => x.alias === m.alias)) {
        throw controlError('conflict', `The alias "${m.alias}" is taken.`, `models[${i}].alias`);
      }
      on.models.push(model(m.alias, name, m.served, 'general'));
    }
    on.changed();
    return on.models;
  },
  unregister_model: ({ name }) => {
    const m = on.models.find((x) => x.alias === name);
    if (m && m.collections.length > 0) {
      throw controlError(
        'conflict',
        `${name} is a member of ${m.collections.join(', ')}. Take it out there first.`,
      );
    }
    on.models = on.models.filter((x) => x.alias !== name);
    on.changed();
    return {};
  },
  model: ({ name }) => {
    const found = on.models.find((m) => m.alias === name);
    if (!found) throw controlError('not_found', `There is no model "${name}".`);
    return sheet(found, on.taking.probes.get(`${found.endpoint} ${found.served}`) ?? []);
  },
  save_model: ({ alias, ...named }) => {
    const model = known(on, alias);
    // An absent field stays as it is.
    for (const [field, value] of Object.entries(named))
      if (value !== undefined) Object.assign(model, { [field]: value });
    on.changed();
    return model;
  },
  retire_model: ({ alias, why }) => {
    const model = known(on, alias);
    model.retired = { at: '2026-11-29', why };
    on.changed();
    return model;
  },
  restore_model: ({ name }) => {
    const model = known(on, name);
    model.retired = null;
    on.changed();
    return model;
  },
  ...on.taking.handlers,
  rename_model: ({ alias, to }) => {
    const model = known(on, alias);
    if (on.models.some((m) => m.alias === to)) {
      throw controlError('conflict', `The alias ${to} is taken; choose another.`, 'to');
    }
    model.alias = to;
    for (const c of on.collections) {
      c.members = c.members.map((m) => (m === alias ? to : m));
      if (c.merger === alias) c.merger = to;
    }
    on.changed();
    return model;
  },
  allow_paid: ({ name }) => {
    const model = known(on, name);
    if (!model.went_paid) {
      const why = 'is called as it is: it is not one that was free and costs money now.';
      throw controlError('conflict', `${name} ${why}`);
    }
    delete model.went_paid;
    on.changed();
    return model;
  },
  refresh_catalog: () => {
    const at = new Date().toISOString();
    const source = (name: string, url: string) => ({ name, url, refreshed_at: at, error: null });
    return {
      shipped: '2026-08-18',
      on: true,
      sources: [
        source('models.dev', 'https://models.dev/api.json'),
        source('openrouter', 'https://openrouter.ai/api/v1/models'),
      ],
    };
  },
  limits: () => limits(on),
  clear_cooldown: ({ name }) => clear(on, name),
  model_records: () => records(on),
  spend: (query) => spend(on, query),
  ...keyHandlers(on),
  save_collection: (a) => {
    const other = on.collections.find((c) => c.name === a.name && c.name !== a.was);
    if (other) throw controlError('conflict', `There is a collection "${a.name}" already.`, 'name');
    const made = { ...collection(a.name, a.description, a.members), ...pick(a) };
    on.collections = a.was
      ? on.collections.map((c) => (c.name === a.was ? made : c))
      : [...on.collections, made];
    on.changed();
    return made;
  },
  delete_collection: ({ name }) => {
    on.collections = on.collections.filter((c) => c.name !== name);
    on.changed();
    return {};
  },
  save_settings: (settings) => {
    on.settings = settings;
    on.changed();
    return settings;
  },
  import_setup: ({ text }) => {
    try {
      JSON.parse(text);
    } catch {
      throw controlError('bad_input', 'line 1, column 1: this is not JSON', 'text');
    }
    return { changes: ['added endpoint fake', 'added model alpha', 'changed collection core'] };
  },
  export_setup: () => ({ text: JSON.stringify({ version: 1, endpoints: [], models: [] }, null, 2) }),
  ask: ({ collection, prompt, client }) => ({ panel: on.play(collection, prompt, client) }),
  panels: ({ before, limit }) => {
    const from = before === null ? 0 : on.panels.findIndex((p) => p.id === before) + 1;
    const page = on.panels.slice(from, from + limit);
    return { panels: page, more: from + limit < on.panels.length };
  },
  panel: ({ id }) => {
    const found = on.panels.find((p) => p.id === id);
    if (!found) throw controlError('not_found', `There is no panel ${id}.`, 'id');
    return found;
  },
  conversations: ({ before, limit }) => {
    const all = on.routed.map((it) => it.conversation);
    const from = before === null ? 0 : all.findIndex((it) => it.id === before) + 1;
    return { conversations: all.slice(from, from + limit), more: from + limit < all.length };
  },
  conversation: ({ id }) => routed(on, id).conversation,
  turns: ({ conversation, before, limit, texts }) => {
    const ended = routed(on, conversation).turns.filter(
      (turn) => turn.status !== 'running' && (before === null || turn.turn < before),
    );
    const page = ended.slice(0, limit).map((turn) => (texts ? turn : { ...turn, question: '', answer: '' }));
    return { turns: page, more: ended.length > limit };
  },
  give_verdict: (a) =>
    on.verdict(a.call, {
      call: a.call,
      useful: a.useful,
      note: a.note ?? '',
      real: a.real ?? [],
      false: a.false ?? [],
      at: new Date().toISOString(),
    }),
  clear_verdict: ({ call }) => on.verdict(call, null),
  search: ({ query, before, limit }) => {
    const found = on.panels.flatMap((panel) => {
      const has = (text: string) => spansOf(text, query).length >= query.trim().split(/\s+/).length;
      const calls = panel.seats.filter((s) => has(s.answer) || has(s.verdict?.note ?? '')).map((s) => s.call);
      const in_prompt = has(panel.prompt);
      return in_prompt || calls.length > 0 ? [{ panel, in_prompt, calls }] : [];
    });
    const from = before === null ? 0 : found.findIndex((hit) => hit.panel.id === before) + 1;
    return { hits: found.slice(from, from + limit), more: from + limit < found.length };
  },
  preview_panel: ({ members = [], shape = '' }) => {
    const others = on.models.filter((m) => !members.includes(m.alias));
    const seats = Math.max(0, Math.min(on.settings.max_explorers, on.settings.max_calls - members.length));
    const why = ['never asked', 'longest without real work (12 days)'];
    return {
      shape: shape || 'general',
      shape_by: shape ? 'set for the collection' : 'the default',
      seats: [
        ...members.map((alias, i) => ({
          seat: `member${i + 1}`,
          kind: 'member' as const,
          alias,
          why: 'member',
        })),
        ...others.slice(0, seats).map((m, i) => ({
          seat: i === 0 ? 'explorer' : `explorer${i + 1}`,
          kind: 'explorer' as const,
          alias: m.alias,
          why: why[i % 2]!,
        })),
      ],
      skipped: [],
      refused: members.length === 0 ? 'no seat: the collection has no members' : null,
      reserves: others.slice(seats, seats + on.settings.reserves).map((m) => ({
        alias: m.alias,
        why: 'no evidence yet',
      })),
      primary: members[0] ? { alias: members[0], why: '9 of 12 useful on review' } : null,
      second: null,
      candidates: others.length,
      not_candidates: [
        { why: 'a member', count: members.length, some: members.slice(0, 3) },
        { why: 'retired', count: 4, some: ['old-mistral', 'old-llama'] },
      ].filter((group) => group.count > 0),
    };
  },
  owed: () => {
    const calls = on.owedCalls();
    return {
      panels: on.panels.filter((p) => p.seats.some((s) => calls.includes(s.call))),
      calls,
    };
  },
});

function routed(on: Fixture, id: string) {
  const found = on.routed.find((it) => it.conversation.id === id);
  if (!found) throw controlError('not_found', `There is no conversation ${id}.`, 'id');
  return found;
}

function known(on: Fixture, alias: string) {
  const model = on.models.find((it) => it.alias === alias);
  if (!model) throw controlError('not_found', `There is no model "${alias}".`);
  return model;
}

/** What an endpoint lists, by what its address looks like. */
function listing(on: Fixture, e: Pick<EndpointView, 'name' | 'base' | 'api'>): EndpointTest {
  const { name } = e;
  const list = e.api === 'ollama' ? '/api/tags' : '/models';
  if (e.base.includes('nothing')) {
    const message = `There is no model list at ${e.base}${list} (404). Check the base URL, and whether it speaks this API.`;
    return { ok: false, message, suggested_base: null, models: [] };
  }
  const right = { ollama: /:\d+$/, gemini: /\/v1beta$/ }[e.api as string] ?? /\/v1$/;
  if (!right.test(e.base)) {
    const suggested = e.api === 'ollama' ? e.base.replace(/\/v1$/, '') : `${e.base.replace(/\/$/, '')}/v1`;
    return {
      ok: false,
      message: `There is no model list at ${e.base}${list} (404). At ${suggested} it answers with 182 models: the base URL is likely ${suggested}.`,
      suggested_base: suggested,
      models: [],
    };
  }
  const served = name === 'ollama' ? ['llama3.2:3b', 'qwen3:8b', 'gemma3:12b'] : SERVED;
  return {
    ok: true,
    message: `It answers with ${served.length} models.`,
    suggested_base: null,
    models: served.map((id, i) => ({
      served: id,
      alias: (id.split('/').pop() ?? id).replace(':', '-'),
      registered: on.models.find((m) => m.endpoint === name && m.served === id)?.alias ?? null,
      context_window: i % 4 === 3 ? null : 131072,
      dismissed: on.taking.isDismissed(name, id),
    })),
  };
}

function keyStore(on: Fixture): void {
  if (on.keys.kind === 'none') throw controlError('no_keychain', on.keys.message, 'key');
  if (on.keys.kind === 'vault_locked') throw controlError('vault_locked', on.keys.message, 'key');
}

const WINDOW: Record<string, number> = { rpm: 60, tpm: 60, rpd: 86_400, tpd: 86_400, rpmo: 2_592_000 };

/** An endpoint's own limits, with nothing sent against those that are new. */
function ruled(on: Fixture, e: EndpointView): void {
  let of = on.connections.find((it) => it.endpoint === e.name);
  if (!of)
    on.connections.push(
      (of = { connection: e.name, endpoint: e.name, in_flight: 0, rules: [], stated: [], quota: [] }),
    );
  const had = new Map(of.rules.map((it) => [it.axis, it.used]));
  of.rules = Object.entries(e.limits ?? {}).flatMap(([axis, limit]) =>
    limit ? [{ axis, window_s: WINDOW[axis] ?? 60, limit, used: had.get(axis) ?? 0 }] : [],
  );
}
