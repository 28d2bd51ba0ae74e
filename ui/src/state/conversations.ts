import type { ConversationView, RoutedCall, TurnView, VerdictView } from '../host/gen';

/** A conversation's turns, for as long as it is looked at. Without texts: an agent's question is its whole session. */
export interface Turns {
  /** Newest first. */
  list: readonly TurnView[];
  /** Whether there are older ones; `null` until the first page has come. */
  more: boolean | null;
}

/** What the stream and the pages tell of routed conversations. Plain data, replaced and never changed in place. */
export interface Routed {
  /** The newest turn first. */
  conversations: readonly ConversationView[];
  /** Of those that are looked at, by conversation. */
  turns: Readonly<Record<string, Turns>>;
}

export const NO_CONVERSATIONS: Routed = { conversations: [], turns: {} };

const NOT_LOADED: Turns = { list: [], more: null };

/** A conversation has something new. */
export function conversationChanged(routed: Routed, conversation: ConversationView): Routed {
  const known = routed.conversations.find((it) => it.id === conversation.id);
  return { ...routed, conversations: putConversation(routed.conversations, further(conversation, known)) };
}

/** A turn began, passed to another model, or ended. */
export function turnChanged(routed: Routed, conversation: ConversationView, turn: TurnView): Routed {
  const told = conversationChanged(routed, conversation);
  const known = routed.turns[turn.conversation];
  if (!known) return told;
  const turns = { ...known, list: putTurn(known.list, withoutTexts(turn)) };
  return { ...told, turns: { ...routed.turns, [turn.conversation]: turns } };
}

/** What is now. Conversations it does not name are old: no turn of theirs runs. */
export function conversationsNow(routed: Routed, now: readonly ConversationView[]): Routed {
  const told = new Set(now.map((it) => it.id));
  const kept = routed.conversations.filter((it) => !told.has(it.id)).map((it) => ({ ...it, running: false }));
  // Turns may have ended while nobody listened: whoever looks at them asks again.
  return { conversations: newestFirst([...now, ...kept]), turns: {} };
}

/** Older ones, by page, or one that was asked for. Those known already stay: the stream is newer. */
export function addConversations(routed: Routed, page: readonly ConversationView[]): Routed {
  const fresh = page.filter((it) => !routed.conversations.some((known) => known.id === it.id));
  if (fresh.length === 0) return routed;
  return { ...routed, conversations: newestFirst([...routed.conversations, ...fresh]) };
}

/** From now on the turns of this conversation are kept. */
export function openTurns(routed: Routed, id: string): Routed {
  return { ...routed, turns: { ...routed.turns, [id]: routed.turns[id] ?? NOT_LOADED } };
}

export function closeTurns(routed: Routed, id: string): Routed {
  return {
    ...routed,
    turns: Object.fromEntries(Object.entries(routed.turns).filter(([known]) => known !== id)),
  };
}

/** A page of ended turns. What the stream has told meanwhile is kept where it is further. */
export function addTurns(routed: Routed, id: string, page: readonly TurnView[], more: boolean): Routed {
  const known = routed.turns[id];
  if (!known) return routed;
  const list = page.reduce(
    (list, turn) => (list.some((it) => it.turn === turn.turn && isEnded(it)) ? list : putTurn(list, turn)),
    known.list,
  );
  return { ...routed, turns: { ...routed.turns, [id]: { list, more } } };
}

export function judgedCall(routed: Routed, call: string, verdict: VerdictView | null): Routed {
  const conversation = conversationOf(routed, call);
  if (!conversation) return routed;
  const calls = conversation.calls.map((it) => (it.call === call ? { ...it, verdict } : it));
  return { ...routed, conversations: putConversation(routed.conversations, { ...conversation, calls }) };
}

/** Whose call this is. */
export function conversationOf(routed: Routed, call: string): ConversationView | null {
  return routed.conversations.find((it) => it.calls.some((known) => known.call === call)) ?? null;
}

export function isEnded(turn: TurnView): boolean {
  return turn.status !== 'running';
}

/** The calls whose answers a caller saw, oldest first. */
export function answerers(conversation: ConversationView): RoutedCall[] {
  return conversation.calls.filter((call) => !call.shadow);
}

/** Something was answered, so that there is something to judge. */
export function isJudgeableCall(call: RoutedCall): boolean {
  return call.shadow ? call.status === 'ok' : call.alias !== '';
}

/** The shadows of each turn, by its number. */
export function shadowsOf(conversation: ConversationView): ReadonlyMap<number, RoutedCall[]> {
  const found = new Map<number, RoutedCall[]>();
  for (const shadow of conversation.calls) {
    if (!shadow.shadow || shadow.turn === null) continue;
    found.set(shadow.turn, [...(found.get(shadow.turn) ?? []), shadow]);
  }
  return found;
}

/** What the gateway tells as it happens leaves out what a restart made it forget: calls and verdicts of before. */
function further(told: ConversationView, known: ConversationView | undefined): ConversationView {
  if (!known) return told;
  const calls = told.calls.map((call) => {
    const had = known.calls.find((it) => it.call === call.call);
    return had ? { ...call, verdict: call.verdict ?? had.verdict } : call;
  });
  const forgotten = known.calls.filter((had) => !told.calls.some((call) => call.call === had.call));
  const all = [...forgotten, ...calls];
  return { ...told, calls: [...all.filter((it) => !it.shadow), ...all.filter((it) => it.shadow)] };
}

function withoutTexts(turn: TurnView): TurnView {
  return { ...turn, question: '', answer: '' };
}

function putTurn(list: readonly TurnView[], turn: TurnView): readonly TurnView[] {
  return [...list.filter((it) => it.turn !== turn.turn), turn].sort((a, b) => b.turn - a.turn);
}

function putConversation(
  list: readonly ConversationView[],
  conversation: ConversationView,
): readonly ConversationView[] {
  return newestFirst([...list.filter((it) => it.id !== conversation.id), conversation]);
}

function newestFirst(list: readonly ConversationView[]): readonly ConversationView[] {
  return [...list].sort((a, b) => Date.parse(b.last_at) - Date.parse(a.last_at) || (a.id < b.id ? 1 : -1));
}
