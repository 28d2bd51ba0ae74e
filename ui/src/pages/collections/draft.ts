import type { CollectionView, Facts, SaveCollection } from '../../host/gen';
import { s } from '../../strings/en';
import {
  COLLECTION_NAME,
  length,
  MAX_DESCRIPTION,
  MAX_TAG,
  MAX_TAGS,
  tagsOf,
  wholeWithin,
  within,
} from '../../text/rules';
import { type BudgetField, budgetOf, type TypedBudget, typedBudget, wrongBudget } from '../spend/budget';

/** A collection as it stands in the form. */
export interface Draft {
  name: string;
  description: string;
  tags: string;
  members: string[];
  shape: string;
  when_too_large: string;
  reply: string;
  /** Empty is automatic. */
  merger: string;
  /** As they are typed: how many, in percent, tokens a day. */
  shadow: string;
  shadow_share: string;
  shadow_tokens: string;
  budget: TypedBudget;
}

export type Errors = Partial<Record<keyof Draft | BudgetField, string>>;

export function draftOf(was: CollectionView | null): Draft {
  return {
    name: was?.name ?? '',
    description: was?.description ?? '',
    tags: was?.tags.join(', ') ?? '',
    members: [...(was?.members ?? [])],
    shape: was?.shape ?? '',
    when_too_large: was?.when_too_large ?? 'refuse',
    reply: was?.reply ?? 'all',
    merger: was?.merger ?? '',
    shadow: String(was?.shadow ?? 0),
    shadow_share: String(Number(((was?.shadow_share ?? 1) * 100).toFixed(4))),
    shadow_tokens: String(was?.shadow_tokens ?? 0),
    budget: typedBudget(was?.budget),
  };
}

/** What the gateway would refuse (panel.md §1), field by field. */
export function check(draft: Draft, was: string | null, taken: readonly string[], cap: number): Errors {
  const errors: Errors = {};
  if (!COLLECTION_NAME.test(draft.name)) errors.name = s.collections.error.name;
  else if (draft.name !== was && taken.includes(draft.name))
    errors.name = s.collections.error.taken(draft.name);
  if (length(draft.description) > MAX_DESCRIPTION) errors.description = s.collections.error.description;
  const tags = tagsOf(draft.tags);
  const long = tags.find((tag) => length(tag) > MAX_TAG);
  if (tags.length > MAX_TAGS) errors.tags = s.collections.error.tags;
  else if (long) errors.tags = s.collections.error.tag(long);
  if (draft.members.length === 0) errors.members = s.collections.error.members;
  else if (draft.members.length > cap) errors.members = s.collections.error.cap(cap);
  if (hasShadows(draft)) {
    if (within(draft.shadow_share, 0, 100) === null) errors.shadow_share = s.route.collection.percent;
    if (wholeWithin(draft.shadow_tokens, 0, Number.MAX_SAFE_INTEGER) === null)
      errors.shadow_tokens = s.route.collection.wholeFrom0;
  }
  Object.assign(errors, wrongBudget(draft.budget));
  return errors;
}

/** What is set about shadows is shown, and kept, where one model takes each turn. */
function hasShadows(draft: Draft): boolean {
  return draft.reply === 'route' && draft.shadow !== '0';
}

/** Why a model cannot take the turns of agents, by what is known of it; empty when it can. */
export function noTools(facts: Facts | undefined): string {
  if (facts?.tools === true) return '';
  return facts?.tools === false ? s.route.collection.noTools : s.route.collection.toolsUnknown;
}

export function toSave(draft: Draft, was: string | null): SaveCollection {
  const { shadow, shadow_share, shadow_tokens, budget: typed, ...fields } = draft;
  const budget = budgetOf(typed);
  return {
    ...fields,
    was,
    tags: tagsOf(draft.tags),
    description: draft.description.trim(),
    ...(draft.reply === 'route' ? { shadow: Number(shadow) } : {}),
    ...(hasShadows(draft)
      ? { shadow_share: Number(shadow_share) / 100, shadow_tokens: Number(shadow_tokens) }
      : {}),
    ...(budget ? { budget } : { no_budget: true }),
  };
}

/** The list with one item moved up (−1) or down (1). */
export function moved(list: readonly string[], item: string, by: -1 | 1): string[] {
  const at = list.indexOf(item);
  const to = at + by;
  if (at < 0 || to < 0 || to >= list.length) return [...list];
  const rest = list.filter((x) => x !== item);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}
