import type { SeatView } from '../host/gen';
import type { App } from '../state/app.svelte';
import type { Judged } from '../state/judging.svelte';
import { isJudgeable } from '../state/live';
import { s } from '../strings/en';

export async function giveVerdict(app: App, seat: Judged, who: string, useful: boolean): Promise<boolean> {
  const done = await app.judging.give(seat, useful);
  if (done) app.say(s.judge.recorded(who, useful));
  return done;
}

/** Takes the last change back; a verdict from before this window was opened is withdrawn. */
export async function undoVerdict(app: App, seat: Judged, who: string): Promise<void> {
  if (app.judging.canUndo(seat.call)) {
    if (await app.judging.undo(seat.call)) app.say(s.judge.undone(who));
  } else if (await app.judging.withdraw(seat)) {
    app.say(s.judge.withdrawn(who));
  }
}

/** A key that is not meant for something being typed or chosen. */
export function isPlainKey(e: KeyboardEvent): boolean {
  if (e.defaultPrevented || e.altKey || e.shiftKey) return false;
  const target = e.target as HTMLElement;
  if (target.closest('dialog')) return false;
  // A box that is ticked takes the space bar, and no letters.
  if (target.closest('input[type="checkbox"]')) return e.key !== ' ';
  return !target.closest('input, textarea, select, [contenteditable]');
}

/** The seat that a move left or right goes to; stays within the row. */
export function neighbour(seats: readonly SeatView[], current: string | null, by: -1 | 1): string | null {
  const at = seats.findIndex((seat) => seat.call === current);
  return seats[Math.min(seats.length - 1, Math.max(0, at + by))]?.call ?? null;
}

/** The first that waits for a verdict, after `after` and round. */
export function nextUnjudged(seats: readonly SeatView[], after: string | null): string | null {
  const at = seats.findIndex((seat) => seat.call === after);
  const turned = [...seats.slice(at + 1), ...seats.slice(0, at + 1)];
  return turned.find((seat) => isJudgeable(seat) && !seat.verdict)?.call ?? null;
}
