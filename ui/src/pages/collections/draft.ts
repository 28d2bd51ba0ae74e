import type { CollectionView, SaveCollection } from '../../host/gen';
import { s } from '../../strings/en';
import { COLLECTION_NAME, length, MAX_DESCRIPTION, MAX_TAG, MAX_TAGS, tagsOf } from '../../text/rules';

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
}

export type Errors = Partial<Record<keyof Draft, string>>;

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
  return errors;
}

export function toSave(draft: Draft, was: string | null): SaveCollection {
  return { ...draft, was, tags: tagsOf(draft.tags), description: draft.description.trim() };
}

/** The list with one item moved up (−1) or down (1). */
export function moved(list: readonly string[], item: string, by: -1 | 1): string[] {
  const at = list.indexOf(item);
  const to = at + by;
  if (at < 0 || to < 0 || to >= list.length) return [...list];
  const rest = list.filter((x) => x !== item);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}
