import type { Picture } from '../pages/live/images';

/** What goes with a question beside its words. */
export class Asked {
  /** `all`, `merged`; empty is as the collection says. */
  reply = $state('');
  nominees = $state.raw<readonly string[]>([]);
  pictures = $state.raw<readonly Picture[]>([]);
}
