// What a panel's calls cost, as far as it is known.
import type { PanelView, SeatView } from '../host/gen';
import { isOver } from '../state/live';
import { s } from '../strings/en';
import { dollars } from '../text/numbers';

/** A call that was answered has a cost, known or not; one that failed or was not sent says nothing of it. */
export function isCostUnknown(seat: SeatView): boolean {
  return seat.cost === undefined && isOver(seat) && (seat.status === 'ok' || seat.status === 'empty');
}

/** The sum of a panel's calls, the merger's among them; empty while there is nothing to say. */
export function panelCost(panel: PanelView): string {
  if (panel.practice) return '';
  const known = panel.seats.flatMap((it) => (it.cost === undefined ? [] : [it.cost]));
  const unknown = panel.seats.filter(isCostUnknown).length;
  if (known.length === 0) return unknown > 0 ? s.spend.panelUnknown(unknown) : '';
  const sum = dollars(known.reduce((a, b) => a + b, 0));
  return unknown > 0 ? s.spend.panelPartly(sum, unknown) : s.spend.panel(sum);
}
