import type { FailedOverView, PanelView, SeatView } from '../host/gen';

/** A panel's seats as they are shown: who answers side by side, and who merges. */
export interface Chairs {
  /** Members, then explorers; a stand-in right after the seat it took. */
  seats: SeatView[];
  mergers: SeatView[];
  /** Seats that failed and passed to another model, by their calls. */
  handedOver: ReadonlyMap<string, FailedOverView>;
}

export function chairs(panel: Pick<PanelView, 'seats' | 'failed_over'>): Chairs {
  const rows = new Map<string, SeatView[]>();
  for (const seat of panel.seats) {
    if (seat.kind === 'merger') continue;
    // A stand-in's seat is `member1.r1`.
    const chair = seat.seat.split('.')[0] ?? seat.seat;
    rows.set(chair, [...(rows.get(chair) ?? []), seat]);
  }
  return {
    seats: [...rows.values()].flat(),
    mergers: panel.seats.filter((seat) => seat.kind === 'merger'),
    handedOver: new Map(panel.failed_over.map((it) => [it.call, it])),
  };
}

/** How many chairs there are, by who was to sit on them, and how many of them have an answer. */
export function tally(panel: Pick<PanelView, 'seats' | 'failed_over'>) {
  const { seats, handedOver } = chairs(panel);
  const sitting = seats.filter((seat) => !handedOver.has(seat.call));
  const explorers = sitting.filter((seat) => seat.kind === 'explorer').length;
  return {
    members: sitting.length - explorers,
    explorers,
    answered: sitting.filter((seat) => seat.status === 'ok').length,
  };
}
