// Generated from the command table in src-tauri/control; do not edit.
// To write it again: UPDATE_EXPECT=1 cargo test -p control --test typescript

/** Every command: its arguments and its result. */
export interface Commands {
  /** Address, state, what is owed. */
  status: { args: Nothing; result: Status };
  /** Endpoints, models, collections, settings. */
  setup: { args: Nothing; result: SetupView };
  presets: { args: Nothing; result: Array<PresetView> };
  /** Local runtimes on loopback and provider keys in the environment; takes up to a second. */
  found: { args: Nothing; result: Found };
  /** Practice endpoint, its models and the collection `practice`; idempotent. */
  start_practice: { args: Nothing; result: CollectionView };
  save_endpoint: { args: SaveEndpoint; result: EndpointView };
  /** Lists what a saved endpoint serves, or says in words what is wrong. */
  test_endpoint: { args: Name; result: EndpointTest };
  /** Refused while its models are members of a collection. */
  delete_endpoint: { args: Name; result: Nothing };
  set_key: { args: SetKey; result: EndpointView };
  delete_key: { args: Name; result: EndpointView };
  /** Makes the encrypted file (the owner's explicit choice) or unlocks it. */
  open_vault_file: { args: Passphrase; result: KeyStoreStatus };
  register_models: { args: RegisterModels; result: Array<ModelView> };
  /** Refused while it is a member of a collection. Its record stays. */
  unregister_model: { args: Name; result: Nothing };
  /** A registered model, and of each fact what holds and who says what. */
  model: { args: Name; result: ModelSheet };
  /** Role, ad hoc, facts and options of a registered model; what is absent stays. */
  save_model: { args: SaveModel; result: ModelView };
  /** From now on it is never called; its record and its seats in collections stay. */
  retire_model: { args: RetireModel; result: ModelView };
  restore_model: { args: Name; result: ModelView };
  /** Puts models of an endpoint into the queue: each is registered, and probed. */
  onboard: { args: Onboard; result: OnboardingQueue };
  /** Probes a registered model again, after those that wait. */
  probe_model: { args: Name; result: OnboardingQueue };
  onboarding: { args: Nothing; result: OnboardingQueue };
  /** Cancels the step under way; no more is taken until the queue is resumed. */
  stop_onboarding: { args: Nothing; result: OnboardingQueue };
  resume_onboarding: { args: Nothing; result: OnboardingQueue };
  clear_onboarding: { args: ClearOnboarding; result: OnboardingQueue };
  /** Models of a listing that are not to be offered. */
  dismiss_models: { args: ServedModels; result: Nothing };
  restore_dismissed: { args: ServedModels; result: Nothing };
  /** Its record, its seats in collections and its conversations follow; the old name is given to no other model. */
  rename_model: { args: RenameModel; result: ModelView };
  /** Lets a model be called that was free and costs money now. */
  allow_paid: { args: Name; result: ModelView };
  /** Fetches the public lists of models now; one that fails says why. */
  refresh_catalog: { args: Nothing; result: CatalogView };
  /** How every registered model stands, and what is on its record. */
  model_records: { args: Nothing; result: Array<ModelRecord> };
  /** Rules and what is used of them, what providers say of quotas, and what is left alone for a while. */
  limits: { args: Nothing; result: LimitsView };
  /** Ends the cooldown of a model (by its alias) and of its connection, or of a connection (by its name). */
  clear_cooldown: { args: Name; result: Nothing };
  /** What calls took, the dearest first. */
  spend: { args: SpendQuery; result: Spend };
  /** Makes a gateway key; its text is told here and never again. */
  create_key: { args: CreateKey; result: NewKey };
  /** Every gateway key there ever was, in the order they were made. */
  keys: { args: Nothing; result: Array<GatewayKeyView> };
  /** From now on the key opens nothing; it stays in the list. */
  revoke_key: { args: Name; result: GatewayKeyView };
  save_collection: { args: SaveCollection; result: CollectionView };
  delete_collection: { args: Name; result: Nothing };
  save_settings: { args: Settings; result: Settings };
  import_setup: { args: SetupText; result: Imported };
  export_setup: { args: Nothing; result: SetupText };
  /** Seats a panel and returns at once; it is watched by events. */
  ask: { args: Ask; result: Asked };
  panels: { args: PanelsBefore; result: Panels };
  panel: { args: PanelId; result: PanelView };
  conversations: { args: ConversationsBefore; result: Conversations };
  conversation: { args: ConversationId; result: ConversationView };
  turns: { args: TurnsBefore; result: Turns };
  give_verdict: { args: GiveVerdict; result: Recorded };
  /** Withdraws the verdict; the earlier stays in history. */
  clear_verdict: { args: CallId; result: Recorded };
  owed: { args: Nothing; result: Owed };
  /** Panels in which the words stand together, newest first. */
  search: { args: Search; result: SearchHits };
  /** Who would sit if a panel were asked now, and why. */
  preview_panel: { args: PreviewPanel; result: PanelPreview };
}

/** Something the owner should know, raised as a notification and shown in the window. */
export type Alert = {
  kind: AlertKind;
  /** What it is about: an endpoint's or a collection's name. One alert a kind and subject stands at a time. */
  subject: string;
  message: string;
  /** RFC 3339, UTC. */
  at: string;
};

export type AlertKind =
  | "panel_failed"
  | "failed_over"
  | "turn_failed_over"
  | "key_refused"
  | "recording_stopped"
  | "records_moved"
  | "port_taken"
  | "went_paid"
  | "retiring";

/** An API that an endpoint can be asked in. */
export type Api = "chat" | "responses" | "anthropic" | "gemini" | "ollama";

export type Ask = {
  collection: string;
  prompt: string;
  system: string;
  /** `data:image/…;base64,…` or http(s) URLs. */
  images?: Array<string>;
  /** Aliases that are asked too, in explorer seats. */
  with?: Array<string>;
  /** `all`, `merged`; empty is the collection's own. */
  reply?: string;
  /** Who asks, for the record: `window`, `bench ask`. */
  client: string;
};

export type Asked = {
  panel: string;
};

/** What to paste into a client as its base URL, by the API the client speaks. */
export type BaseUrls = {
  /** With `/v1`, as OpenAI's SDKs want it. */
  openai: string;
  /** Without: the SDKs of the other three add their own path. */
  anthropic: string;
  ollama: string;
  gemini: string;
};

/** What may be spent in a day or a month, by UTC (providers.md §6): tokens, dollars, or both. */
export type Budget = {
  /** In and out together, cached input included. */
  tokens?: number;
  /** US dollars. A call of a model without a price does not count against them, and is told beside them. */
  dollars?: number;
  per: Period;
};

/** What is spent of a collection's budget. */
export type BudgetView = {
  collection: string;
  budget: Budget;
  /** Spent in this day or month, and of how many calls nobody counted all: those are in it with an estimate. */
  tokens: number;
  tokens_unknown: number;
  /** US dollars, and how many calls are not in them. */
  dollars: number;
  cost_unknown: number;
  /** Nothing is left: the collection is refused until then. */
  is_spent: boolean;
  /** RFC 3339, UTC. */
  resets_at: string;
};

export type CallId = {
  call: string;
};

export type CandidateView = {
  alias: string;
  /** In words and counts; `no evidence yet` when there is none. */
  why: string;
  /** Verdicts on this shape, then on all: useful of judged. */
  useful: number;
  judged: number;
  useful_overall: number;
  judged_overall: number;
  offloads: number;
};

/** A public list of models. */
export type CatalogSource = {
  name: string;
  url: string;
  /** When it was last fetched. */
  refreshed_at: string | null;
  /** Why it could not be fetched now. */
  error: string | null;
};

export type CatalogView = {
  /** The day of the catalog that came with the program. */
  shipped: string;
  /** Whether the lists are fetched once a day. */
  on: boolean;
  sources: Array<CatalogSource>;
};

export type ClearOnboarding = {
  /** Those that wait or were stopped too; else only those that are over. */
  all: boolean;
};

/** Codes exist only where the window or the command line branches on them. */
export type Code =
  | "bad_input"
  | "not_found"
  | "conflict"
  | "no_keychain"
  | "vault_locked"
  | "plain_http"
  | "test_failed"
  | "denied"
  | "internal";

export type CollectionView = {
  name: string;
  description: string;
  tags: Array<string>;
  members: Array<string>;
  shape: string;
  reply: string;
  merger: string | null;
  when_too_large: string;
  /** Other members that a routed turn is also put to: 0 is none. */
  shadow: number;
  /** 0–1 */
  shadow_share: number;
  /** Tokens a day; 0 is no limit. */
  shadow_tokens: number;
  /** What it may spend; absent where it has no budget. */
  budget?: Budget;
  /** Every member is a practice model. */
  practice: boolean;
};

/** What shares a rate limit: an endpoint, or a part of a hub. */
export type ConnectionLimits = {
  /** `groq`, `openrouter/anthropic` */
  connection: string;
  endpoint: string;
  /** Calls under way, where there are rules. */
  in_flight: number;
  rules: Array<RuleView>;
  /** What its provider stated as it refused a call, where its owner has no rule. */
  stated: Array<StatedView>;
  quota: Array<QuotaView>;
};

/** What a command answers when it refuses. */
export type ControlError = {
  code: Code;
  /** One sentence, with the way out. */
  message: string;
  /** The field of the arguments, when one is at fault: `name`, `members[2]`. */
  field: string | null;
  /** What is likely right in its place. */
  suggestion?: string;
};

export type ConversationId = {
  id: string;
};

/** An agent's session with a collection. */
export type ConversationView = {
  /** `r20261129-154501-9f3a6c01` */
  id: string;
  /** The collection's bare name; `model/<alias>` where a model was asked for by its name. */
  collection: string;
  /** The first turn, and the newest one's beginning or end: RFC 3339, UTC. */
  at: string;
  last_at: string;
  /** Who asks: a client's short name (`claude-cli`, `codex_exec`). */
  client: string;
  /** The gateway key that it asks with; absent where it asks without one, on this machine. */
  caller?: string;
  /** The beginning of the first user message. */
  title: string;
  /** Whose it is now; empty until somebody has answered. */
  alias: string;
  /** A turn is on its way. */
  running: boolean;
  turns: number;
  tool_calls: number;
  /** Turns that another model took over. */
  failed_over: number;
  tokens_in: number | null;
  tokens_out: number | null;
  /** US dollars, of the turns whose cost is known. */
  cost: number | null;
  cost_unknown: number;
  /** How the newest turn that ended did. */
  status: TurnStatus;
  /** Its models' calls, oldest first, then shadows: what a verdict is about. */
  calls: Array<RoutedCall>;
  practice: boolean;
};

export type Conversations = {
  conversations: Array<ConversationView>;
  more: boolean;
};

/** A page of routed conversations, the newest turn first. */
export type ConversationsBefore = {
  /** A conversation id; those whose newest turn is older than its. `null` starts at the newest. */
  before: string | null;
  /** At most 100. */
  limit: number;
};

/** A model or a connection that is left alone after a rate limit. */
export type CoolingView = {
  /** What to clear it by: an alias, or the connection. */
  name: string;
  /** It is a whole connection. */
  is_connection: boolean;
  /** RFC 3339, UTC. */
  until: string;
  why: string;
};

/** A gateway key to be made: what a program of another's signs in with. */
export type CreateKey = {
  /** Whose calls they will be in every record: as an endpoint's name, and not `local`. */
  name: string;
  /** Without `bench/`; absent is every collection, and every model under its own name. */
  collections?: Array<string>;
  /** 1 to 10,000 questions; absent is no limit. */
  requests_a_minute?: number;
  budget?: Budget;
  /** `+30d`, `+12h`, a day such as `2027-01-31` (its beginning, UTC), or RFC 3339; absent is never. */
  expires?: string;
};

export type EndpointKind = "provider" | "aggregator" | "hub" | "local" | "practice";

/** The outcome of listing what an endpoint serves. */
export type EndpointTest = {
  ok: boolean;
  /** In words: `answered with 12 models`, or what is wrong and the likely right base. */
  message: string;
  /** A base URL that is likely the right one, when the path seems wrong and another answered. */
  suggested_base: string | null;
  models: Array<ListedModel>;
};

export type EndpointView = {
  name: string;
  base: string;
  api: Api;
  kind: EndpointKind;
  key: KeyView;
  key_env: string | null;
  /** Its calls cost money, which breaks ties between models that have waited equally long. */
  paid: boolean;
  /** Sent with every request to it. Never a secret. */
  headers: { [key in string]: string };
  practice: boolean;
  /** What may be sent to it; absent where it has no limits of its own. */
  limits?: Limits;
  /** Registered models. */
  models: number;
  /** The standing alert's message (a refused key), if any. */
  alert: string | null;
};

/** In rising precedence. */
export type FactSource = "snapshot" | "refresh" | "listing" | "learned" | "owner";

export type FactTold = {
  source: FactSource;
  value: unknown;
  /** RFC 3339, or the day of the shipped catalog; `null` for the owner's. */
  at: string | null;
};

export type FactView = {
  /** `context_window`, `tools`, `price`, … */
  name: string;
  /** What holds: a number, a truth, or a price by its parts; `null` is unknown. */
  value: unknown;
  /** Whose word holds. */
  source: FactSource | null;
  /** What each source says that knows the fact, in rising precedence. */
  told: Array<FactTold>;
};

/** What is known of a model; `None` is unknown. */
export type Facts = {
  context_window?: number;
  max_output?: number;
  tools?: boolean;
  vision?: boolean;
  reasoning?: boolean;
  structured_output?: boolean;
  pdf?: boolean;
  audio?: boolean;
  price?: Price;
};

/** A seat that passed to another model because the first could not answer. */
export type FailedOverView = {
  /** `member1` */
  seat: string;
  /** The call that failed. */
  call: string;
  /** The alias that failed, and the one that took its seat. */
  from: string;
  to: string;
  why: string;
};

/** What first run can offer. */
export type Found = {
  /** Local runtimes that answered on loopback. */
  runtimes: Array<FoundRuntime>;
  /** Provider keys in the environment (the variable's name only). */
  keys: Array<FoundKey>;
};

export type FoundKey = {
  preset: string;
  title: string;
  variable: string;
};

export type FoundRuntime = {
  preset: string;
  title: string;
  base: string;
  /** Ids it serves. */
  models: Array<string>;
};

/** A gateway key: what a program signs in with. */
export type GatewayKeyView = {
  /** Whose calls they are in every record. A name may be given again once its key is revoked or expired. */
  name: string;
  /** The end of its text. */
  last4: string;
  standing: KeyStanding;
  /** RFC 3339, UTC, as are the others. */
  created: string;
  /** Without `bench/`; absent is every collection, and every model under its own name. */
  collections?: Array<string>;
  /** Questions; absent is no limit. */
  requests_a_minute?: number;
  budget?: Budget;
  /** What is spent of its budget, by every key that has had the name. */
  spent?: KeySpending;
  expires?: string;
  revoked?: string;
  last_used?: string;
};

/** Absent note or lists keep what was there. */
export type GiveVerdict = {
  call: string;
  useful: boolean;
  note?: string;
  real?: Array<string>;
  false?: Array<string>;
};

export type Imported = {
  /** `added endpoint groq`, `changed collection core`, … */
  changes: Array<string>;
};

export type KeySource = "environment" | "keychain" | "vault_file" | "none";

/** What is spent in the day or month of a key's budget. */
export type KeySpending = {
  /** And of how many calls nobody counted all: those are in it with an estimate. */
  tokens: number;
  tokens_unknown: number;
  /** US dollars, and how many calls are not in them. */
  dollars: number;
  cost_unknown: number;
  /** Nothing is left: its questions are refused until then. */
  is_spent: boolean;
  /** RFC 3339, UTC. */
  resets_at: string;
};

export type KeyStanding = "good" | "expired" | "revoked";

export type KeyStoreKind = "keychain" | "vault_file" | "vault_locked" | "none";

export type KeyStoreStatus = {
  kind: KeyStoreKind;
  /** In words, with the way out where there is none. */
  message: string;
};

/** Where an endpoint's key comes from. Never the key. */
export type KeyView = {
  source: KeySource;
  /** `••••last4`, or empty. */
  hint: string;
  /** The variable's name when it comes from the environment. */
  variable: string | null;
};

/** Requests and tokens a minute, a day, a month (of 30 days). `None` is no rule. */
export type Limits = {
  rpm: number | null;
  rpd: number | null;
  tpm: number | null;
  tpd: number | null;
  rpmo: number | null;
};

/** What limits calls now. */
export type LimitsView = {
  /** Those that have rules of their owner, or of which a provider has said something; by name. */
  connections: Array<ConnectionLimits>;
  /** What is left alone for a while, the last to end first. */
  cooling: Array<CoolingView>;
  /** Of the collections that have one, by name. */
  budgets: Array<BudgetView>;
};

export type ListedModel = {
  served: string;
  /** A free alias made from `served`. */
  alias: string;
  /** The alias it is registered under already. */
  registered: string | null;
  context_window: number | null;
  /** Its owner does not want to be offered it. */
  dismissed: boolean;
};

/**
 * What happens, as it happens. The first event of every subscription is `snapshot`, so a listener needs no
 * second question and misses nothing.
 */
export type LiveEvent =
  | { type: "snapshot"; panels: Array<PanelView>; alerts: Array<Alert>; /**
 * Routed conversations, the newest turn first.
 */
conversations: Array<ConversationView> }
  | { type: "panel_started"; panel: PanelView }
  | { type: "seat_delta"; panel: string; call: string; at: number; text: string }
  | { type: "seat_added"; panel: string; seat: SeatView }
  | { type: "panel_shaped"; panel: string; shape: string; shape_by: string; skipped: Array<SkippedView> }
  | { type: "seat_failed_over"; panel: string; failed_over: FailedOverView }
  | { type: "seat_changed"; panel: string; seat: SeatView }
  | { type: "panel_ended"; panel: PanelView }
  | { type: "conversation_changed"; conversation: ConversationView }
  | { type: "turn_changed"; conversation: ConversationView; turn: TurnView }
  | { type: "verdict_changed"; panel: string; call: string; verdict: VerdictView | null; owed: number }
  | { type: "onboarding_changed"; item: OnboardingItem | null }
  | { type: "setup_changed" }
  | { type: "missed" }
  | { type: "alert_raised"; alert: Alert }
  | { type: "noticed"; alert: Alert }
  | { type: "alert_cleared"; kind: AlertKind; subject: string };

/** One field of the question that did not reach a member as it was sent. */
export type LossyView = {
  /** As the caller named it: `temperature`, `messages[2].content[0]`. */
  field: string;
  /** `ignored by a panel` */
  reason: string;
};

/** Whether a model can be called now, and what is on its record. */
export type ModelRecord = {
  alias: string;
  state: ModelState;
  /** Why it is not ready: `its endpoint has no key`. Empty when it is. */
  why: string;
  /** When it ends by itself: RFC 3339, UTC. */
  until: string | null;
  offloads: number;
  /** Its last work: RFC 3339, UTC. */
  last_at: string | null;
  /** Verdicts: useful of judged. */
  useful: number;
  judged: number;
  /** Of the last 30 days: answers, and the medians of their whole time and of their first token. */
  answers: number;
  seconds: number | null;
  first_token_s: number | null;
};

/**
 * What a model is for: a word. Which roles there are is said by the shapes that admit them, so an owner adds
 * a role by adding it to a shape.
 */
export type ModelRole = string;

export type ModelSheet = {
  model: ModelView;
  /** Every fact there is, known or not. */
  facts: Array<FactView>;
  /** What the last probe of each kind found, in the order of the steps; empty when it was never probed. */
  probes: Array<OnboardingLog>;
};

export type ModelState = "ready" | "resting" | "over_limit" | "retired" | "out";

export type ModelView = {
  alias: string;
  endpoint: string;
  served: string;
  role: ModelRole;
  ad_hoc: boolean;
  /** The owner's own. */
  facts: Facts;
  /** What holds, whoever says it. */
  known: Facts;
  /** What goes into the body of every request to it: `max_tokens`, `temperature`, … */
  options: Record<string, unknown>;
  /** Since when and why it is never called. */
  retired: Retired | null;
  /** It was free and costs money now: it is not called until that is allowed. */
  went_paid?: boolean;
  practice: boolean;
  collections: Array<string>;
};

export type Name = {
  name: string;
};

/** A key that was made. Its text is told here and never again. */
export type NewKey = {
  key: GatewayKeyView;
  /** `bwk_` and 43 characters. */
  text: string;
};

/** No arguments. */
export type Nothing = Record<string, never>;

export type OnHangup = "finish" | "cancel";

/** Models of an endpoint that are to be registered and probed. */
export type Onboard = {
  endpoint: string;
  models: Array<RegisterModel>;
  mode: OnboardingMode;
};

export type OnboardingItem = {
  id: number;
  endpoint: string;
  served: string;
  alias: string;
  mode: OnboardingMode;
  state: OnboardingState;
  /** The step that is being taken, comes next, or was the last. */
  step: OnboardingStep;
  /** All of them, as it looks now. */
  steps: Array<OnboardingStep>;
  /** Why it waits, or failed. */
  why: string | null;
  /** When one that waits for something is looked at again: RFC 3339, UTC. */
  until: string | null;
  added_at: string;
  started_at: string | null;
  ended_at: string | null;
  /** What came of each step so far. */
  log: Array<OnboardingLog>;
};

/** What came of a step. */
export type OnboardingLog = {
  step: OnboardingStep;
  /** RFC 3339, UTC. */
  at: string;
  outcome: OnboardingOutcome;
  /** The class of failure: `not_found`, `capacity`, … */
  class: string | null;
  seconds: number | null;
  first_token_s: number | null;
  /** Tokens a second from the first one on. */
  tokens_a_s: number | null;
  /** As the provider counts them. */
  tokens_in: number | null;
  tokens_out: number | null;
  /** In words: what it said, or what is wrong. Redacted. */
  said: string;
};

/** How thoroughly a model is looked at. */
export type OnboardingMode = "full" | "quick" | "quick_ad_hoc";

export type OnboardingOutcome = "worked" | "not_seen" | "failed" | "skipped";

/** The models that are being taken on, in their order, and those that were until they are cleared. */
export type OnboardingQueue = {
  items: Array<OnboardingItem>;
  /** There is a suite, so that `full` is more than `quick`. */
  has_suite: boolean;
};

export type OnboardingState = "waiting" | "running" | "done" | "failed" | "stopped";

/** One step, in the order in which they are taken. Whichever was begun when the program ended is begun again. */
export type OnboardingStep =
  | "listed"
  | "word"
  | "word_again"
  | "large"
  | "tool"
  | "vision"
  | "facts"
  | "suite"
  | "done";

/** The owed queue: panels with at least one unjudged answer, among the last 30, newest first. */
export type Owed = {
  panels: Array<PanelView>;
  calls: Array<string>;
};

export type PanelId = {
  id: string;
};

/** A panel as it would be seated now, and why. */
export type PanelPreview = {
  shape: string;
  shape_by: string;
  /** Members, then explorers. */
  seats: Array<PreviewSeat>;
  skipped: Array<SkippedView>;
  /** Why nobody would sit, when nobody would. */
  refused: string | null;
  /** Who would stand in for a member that fails, in order. */
  reserves: Array<PreviewModel>;
  /** The model the shape is best left to, and the one after it. */
  primary: PreviewModel | null;
  second: PreviewModel | null;
  /** How many models could be picked beside the members. */
  candidates: number;
  /** The others, by why not; the largest group first. */
  not_candidates: Array<PreviewGroup>;
};

export type PanelState = "running" | "done" | "failed" | "interrupted";

/** A panel, running or ended. */
export type PanelView = {
  /** `p20261129-154501-9f3a6c01` */
  id: string;
  /** The collection's bare name: `core`. */
  collection: string;
  /** When it was asked: RFC 3339, UTC. */
  at: string;
  /** Who asked: a client's short name (`opencode`, `OpenAI/Python`), `window`, `bench ask`. */
  client: string;
  /** The gateway key that it was asked with; absent where it was asked without one, on this machine. */
  caller?: string;
  system: string;
  /** The last user turn; images as placeholders. */
  prompt: string;
  /** Turns in the conversation that was sent, system turns not counted. */
  turns: number;
  shape: string;
  shape_by: string;
  /** `all`, `merged`; once ended, the one that was given. */
  reply: string;
  state: PanelState;
  /** Whole time, once ended. */
  seconds: number | null;
  /** In seating order, then those that joined as it ran: explorers, stand-ins, the merger. */
  seats: Array<SeatView>;
  skipped: Array<SkippedView>;
  failed_over: Array<FailedOverView>;
  /** Why the reply is not the one that was asked for. */
  note: string | null;
  /** What was left out or changed on the way to the members. */
  lossy: Array<LossyView>;
  /** Why nobody answered, when nobody did. */
  error: string | null;
  /** A panel of practice models: its record is kept apart. */
  practice: boolean;
};

export type Panels = {
  panels: Array<PanelView>;
  more: boolean;
};

/** A page of panels, newest first. */
export type PanelsBefore = {
  /** A panel id; panels older than it. `null` starts at the newest. */
  before: string | null;
  /** At most 100. */
  limit: number;
};

export type Passphrase = {
  passphrase: string;
};

export type Period = "day" | "month";

export type PresetView = {
  id: string;
  title: string;
  /** With `{resource}` where `needs_resource`. */
  base: string;
  /** What it can be asked in at that base, its native API first. */
  apis: Array<Api>;
  kind: EndpointKind;
  key_page: string;
  needs_key: boolean;
  /** Its base has a place for a name of the owner's own, `{resource}`. */
  needs_resource: boolean;
};

export type PreviewGroup = {
  why: string;
  count: number;
  /** The first few of them. */
  some: Array<string>;
};

export type PreviewModel = {
  alias: string;
  /** With counts; `no evidence yet` when there is none. */
  why: string;
};

/** A panel as it would be seated now: of a collection, or of one being edited. */
export type PreviewPanel = {
  /** A collection's name; empty is none: explorers only. */
  collection: string;
  /** The members instead of the collection's own. */
  members?: Array<string>;
  /** The shape instead of the collection's own; empty is automatic. */
  shape?: string;
};

export type PreviewSeat = {
  seat: string;
  kind: SeatKind;
  alias: string;
  why: string;
};

/** US dollars for a million tokens. */
export type Price = {
  input?: number;
  output?: number;
  cache_read?: number;
  cache_write?: number;
};

/** What a provider last said of a quota. */
export type QuotaView = {
  /** The served name of the model it was said to. */
  model: string;
  /** `requests`, `tokens`, … */
  metric: string;
  /** Seconds; `null` where it did not say. */
  window_s: number | null;
  limit: number | null;
  remaining: number | null;
  /** When it is whole again: RFC 3339, UTC. */
  resets_at: string | null;
  seen_at: string;
};

/** Whether the verdict changed anything: the same verdict again writes nothing. */
export type Recorded = {
  recorded: boolean;
};

/** Whether calls are being written down. */
export type Recording = {
  ok: boolean;
  /** Empty when it is ok; else what stopped it and what to do. */
  message: string;
};

export type RegisterModel = {
  served: string;
  alias: string;
};

export type RegisterModels = {
  endpoint: string;
  models: Array<RegisterModel>;
};

export type RenameModel = {
  alias: string;
  /** A name that no other model has, nor had. */
  to: string;
};

export type RetireModel = {
  alias: string;
  /** One line; it is told where the model would have sat. */
  why: string;
};

/** Since when and why a model is never called again. */
export type Retired = {
  /** A date, `2026-11-29`, or an instant as RFC 3339 writes it. */
  at: string;
  /** One line of 1 to 300 characters. */
  why: string;
};

/** One model's work in a conversation. */
export type RoutedCall = {
  /** `<conversation>.1`; a shadow's is `<conversation>.1.s1`. */
  call: string;
  alias: string;
  endpoint: string;
  /** It answered in the background; its caller never saw it. */
  shadow: boolean;
  /** The turn that a shadow was put. */
  turn: number | null;
  status: TurnStatus;
  /** A shadow's answer; empty for the turns' own. */
  answer: string;
  verdict: VerdictView | null;
};

/** A rule of the owner's. */
export type RuleView = {
  /** `rpm`, `rpd`, `tpm`, `tpd`, `rpmo` */
  axis: string;
  /** Seconds that it looks back. */
  window_s: number;
  limit: number;
  /** What is under way included. */
  used: number;
};

export type SaveCollection = {
  /** The collection being edited; `null` makes a new one. */
  was: string | null;
  name: string;
  description: string;
  tags: Array<string>;
  members: Array<string>;
  /** Empty is automatic. */
  shape: string;
  when_too_large: string;
  /** `all`, `merged`, `route`; absent keeps what is there. */
  reply?: string;
  /** An alias, or empty for none; absent keeps what is there. */
  merger?: string;
  /** 0 to 3; absent keeps what is there. */
  shadow?: number;
  /** 0–1; absent keeps what is there. */
  shadow_share?: number;
  /** Tokens a day, 0 for no limit; absent keeps what is there. */
  shadow_tokens?: number;
  /** Absent keeps what is there. */
  budget?: Budget;
  /** It has none from now on. */
  no_budget?: boolean;
};

/** Add or change an endpoint; the name says which. */
export type SaveEndpoint = {
  name: string;
  base: string;
  /** Absent keeps what is there; a new endpoint speaks chat. */
  api?: Api;
  key_env: string | null;
  /** A new key for the keychain; write-only. Absent keeps what is there. */
  key?: string;
  /** The endpoint this renames nothing: `true` says it must not exist yet. */
  new: boolean;
  /** Plain http to another machine needs the owner's consent. */
  allow_plain_http: boolean;
  /** All of them; absent keeps what is there. */
  limits?: Limits;
  /** Absent keeps what is there; a new endpoint's is told from its base. */
  kind?: EndpointKind;
  /** Sent with every request. All of them; absent keeps what is there. */
  headers?: { [key in string]: string };
  /** Absent keeps what is there. */
  paid?: boolean;
  /** It is saved only when it answers; else it is refused as `test_failed`. */
  test?: boolean;
};

/** Changes a registered model; what is absent stays. */
export type SaveModel = {
  alias: string;
  role?: ModelRole;
  ad_hoc?: boolean;
  /** All of them: a fact that is not in it is unknown from now on. */
  facts?: Facts;
  /** All of them. */
  options?: Record<string, unknown>;
};

/** Full-text search over prompts, answers and what verdicts say. */
export type Search = {
  /** Words that must stand together in one text; the last may be the beginning of one. */
  query: string;
  /** A panel id; panels older than it. `null` starts at the newest. */
  before: string | null;
  /** At most 100. */
  limit: number;
};

export type SearchHit = {
  panel: PanelView;
  in_prompt: boolean;
  /** Calls in whose answer or verdict the words stand. */
  calls: Array<string>;
};

export type SearchHits = {
  hits: Array<SearchHit>;
  more: boolean;
};

export type SeatKind = "member" | "explorer" | "merger" | "reserve";

export type SeatStatus = "waiting" | "answering" | "ok" | "empty" | "error" | "late" | "cancelled";

export type SeatView = {
  /** `<panel>.member1`: what a verdict is about. */
  call: string;
  /** `member1`, `explorer`, `merger`; a stand-in's is `member1.r1`. */
  seat: string;
  kind: SeatKind;
  alias: string;
  endpoint: string;
  /** Why it was chosen, in words; empty for a member. */
  why: string;
  /** The alias whose seat it took. */
  stood_in_for: string | null;
  status: SeatStatus;
  /** Whole time, once ended. */
  seconds: number | null;
  first_token_s: number | null;
  tokens_in: number | null;
  tokens_out: number | null;
  /** US dollars, where the price and the usage are known. */
  cost?: number;
  /** The model the provider says answered, where it is another than was asked for. */
  swapped_for?: string;
  /** Markdown, as far as it has come. */
  answer: string;
  /** Redacted; empty when it answered. */
  error: string;
  verdict: VerdictView | null;
};

/** Models of an endpoint's listing, by their served ids. */
export type ServedModels = {
  endpoint: string;
  served: Array<string>;
};

export type SetKey = {
  endpoint: string;
  key: string;
};

/** Settings with their defaults and bounds (panel.md §1, §5; route.md §2–§4, §6). */
export type Settings = {
  /** 1–10 seats a panel. */
  max_calls: number;
  /** 0–2. */
  max_explorers: number;
  /** 0–2. */
  reserves: number;
  /** Seconds a seat has for its whole answer. */
  seat_seconds: number;
  /** Seconds a seat may stay without a byte. */
  idle_seconds: number;
  /** What a panel does when its caller hangs up. */
  panel_on_hangup: OnHangup;
  /** Seconds that explorers get once every member is done. */
  explorer_grace: number;
  /** Days that prompts and answers are kept; verdicts and counts are kept for ever. */
  keep_text_days: number;
  /** Days that a response can be gone on from by its id. */
  responses_days: number;
  /** 0–1: the part of new conversations that begin with the member whose last work is oldest. */
  rotate: number;
  /** Minutes without a turn after which a conversation is over and a new one is ranked afresh. */
  conversation_minutes: number;
  /** Reasoning goes to the caller as it comes; a turn that has shown it cannot fail over any more. */
  show_reasoning_early: boolean;
  /** What a turn does when its caller hangs up. */
  route_on_hangup: OnHangup;
  /** Keep the text of turns, not only their counts. */
  keep_route_text: boolean;
  /** Model lists hold each model beside the collections, as `bench/model/<alias>`. */
  list_models: boolean;
  /** Once a day two public lists of models are fetched, for their windows, abilities and prices. */
  catalog_refresh: boolean;
  /** Whoever asks must have a gateway key; this machine's window and command line need none. */
  require_keys: boolean;
};

export type SetupText = {
  text: string;
};

export type SetupView = {
  endpoints: Array<EndpointView>;
  models: Array<ModelView>;
  collections: Array<CollectionView>;
  settings: Settings;
};

export type SkippedView = {
  /** `member` */
  seat: string;
  alias: string;
  why: string;
};

/** What calls took from an instant on, the dearest first. Practice is not in it. */
export type Spend = {
  /** RFC 3339, UTC. */
  since: string;
  rows: Array<SpendRow>;
};

export type SpendBy = "model" | "collection" | "caller" | "endpoint" | "purpose";

export type SpendQuery = {
  by: SpendBy;
  /** `24h`, `7d`, `2026-11-01`, or RFC 3339; `null` is the last 30 days. */
  since: string | null;
};

/** What calls took together. */
export type SpendRow = {
  /** The alias, the collection, … */
  key: string;
  calls: number;
  /** Input without what was in the cache; of the calls whose tokens are known. */
  tokens_fresh: number;
  /** Reasoning included. */
  tokens_out: number;
  tokens_reasoning: number;
  cache_read: number;
  cache_write: number;
  /** Calls whose tokens nobody counted. */
  tokens_unknown: number;
  /** US dollars of the calls whose cost is known, and how many are not. */
  cost: number;
  cost_unknown: number;
  /** Answers judged useful, and dollars for each of them. */
  useful: number;
  cost_per_useful: number | null;
};

/** A limit that a provider stated as it refused a call: it is kept to like a rule, for a day. */
export type StatedView = {
  /** The served name of the model it was stated of. */
  model: string;
  /** As a rule's. */
  axis: string;
  /** Seconds that it looks back. */
  window_s: number;
  limit: number;
  /** What is under way included. */
  used: number;
  /** RFC 3339, UTC. */
  until: string;
};

export type Status = {
  version: string;
  /** `http://127.0.0.1:8123`: the real address, whatever was wanted. */
  url: string;
  urls: BaseUrls;
  wanted_port: number;
  port: number;
  /** Empty, or `Port 8123 was taken; serving on 8124.` */
  port_note: string;
  data_dir: string;
  pid: number;
  /** Panels and turns running now. */
  running: number;
  /** Verdicts owed. */
  owed: number;
  /** No endpoint and no collection yet. */
  first_run: boolean;
  keys: KeyStoreStatus;
  recording: Recording;
  /** Standing alerts, oldest first. */
  alerts: Array<Alert>;
};

/** A member that could not answer, before the caller had seen anything of it. */
export type TurnFailedOver = {
  from: string;
  /** Empty when nobody took over. */
  to: string;
  why: string;
};

export type TurnStatus = "running" | "ok" | "empty" | "error" | "cancelled";

/** One request of a conversation. */
export type TurnView = {
  conversation: string;
  /** From 1. */
  turn: number;
  /** RFC 3339, UTC. */
  at: string;
  /** The call of the model that answered; empty when nobody did. */
  call: string;
  /** Who answered, else who was tried last. */
  alias: string;
  endpoint: string;
  served: string;
  /** The model the provider says answered, where it says so. */
  served_as: string | null;
  /** Another model answered than was asked for, and not only under another spelling of its name. */
  swapped: boolean;
  /** The caller's API and the member's: `anthropic`, `chat`, … */
  api: string;
  member_api: string;
  status: TurnStatus;
  /** Whole time, once ended. */
  seconds: number | null;
  first_token_s: number | null;
  tool_calls: number;
  /** `stop`, `length`, `content_filter`, `tool_calls` */
  finish: string | null;
  /** Cache included. */
  tokens_in: number | null;
  tokens_out: number | null;
  tokens_reasoning: number | null;
  cache_read: number | null;
  cache_write: number | null;
  /** US dollars; `null` where the price or the usage is not known. */
  cost: number | null;
  overhead_ms: number;
  /** Redacted; empty when it answered. */
  error: string;
  failed_over: Array<TurnFailedOver>;
  skipped: Array<SkippedView>;
  lossy: Array<LossyView>;
  why: WhyThisModel;
  /** The caller's messages and the answer, where they are kept (setting `keep_route_text`); else empty. */
  question: string;
  answer: string;
};

export type Turns = {
  turns: Array<TurnView>;
  more: boolean;
};

/** A page of a conversation's ended turns, newest first. */
export type TurnsBefore = {
  /** A conversation id. */
  conversation: string;
  /** A turn's number; turns before it. `null` starts at the newest. */
  before: number | null;
  /** With questions and answers, where they are kept; an agent's question is its whole session. */
  texts: boolean;
  /** At most 100. */
  limit: number;
};

/** A person's judgement of a call. */
export type VerdictView = {
  call: string;
  useful: boolean;
  note: string;
  real: Array<string>;
  false: Array<string>;
  /** RFC 3339, UTC. */
  at: string;
};

/** How a turn's members were ordered. */
export type WhyThisModel = {
  /** `the conversation's model`, `best record`, `rotation: never asked`, … */
  by: string;
  /** In the order in which they would be tried. */
  candidates: Array<CandidateView>;
};
