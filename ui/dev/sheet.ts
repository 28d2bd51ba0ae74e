// A model's sheet in the fixture: the endpoint's list says what is known, the owner overrules it.
import type { Facts, FactTold, ModelSheet, ModelView, OnboardingLog } from '../src/host/gen';

const NAMES = [
  'context_window',
  'max_output',
  'tools',
  'vision',
  'reasoning',
  'structured_output',
  'pdf',
  'audio',
  'price',
] as const satisfies (keyof Facts)[];

export function sheet(model: ModelView, probes: readonly OnboardingLog[]): ModelSheet {
  const facts = NAMES.map((name) => {
    const told: FactTold[] = [];
    const known = model.known[name];
    const own = model.facts[name];
    if (known !== undefined) told.push({ source: 'listing', value: known, at: '2026-11-29T08:00:00.000Z' });
    if (own !== undefined) told.push({ source: 'owner', value: own, at: null });
    const holds = told[told.length - 1];
    return { name, value: holds?.value ?? null, source: holds?.source ?? null, told };
  });
  return { model, facts, probes: [...probes] };
}
