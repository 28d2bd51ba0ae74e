import type { ControlError, PanelView, SearchHit } from '../../host/gen';
import { asControlError, type Host } from '../../host/host';
import { isJudgeable } from '../../state/live';

export type Filter = 'every' | 'judged' | 'open';

const PAUSE_MS = 200;
const PAGE = 20;

/** A search through what was asked, answered and noted, followed as its words are typed. */
export class History {
  query = $state('');
  /** The words that `hits` were found by. */
  found = $state('');
  hits = $state.raw<readonly SearchHit[] | null>(null);
  more = $state(false);
  busy = $state(false);
  error = $state.raw<ControlError | null>(null);
  private readonly host: Host;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = 0;

  constructor(host: Host) {
    this.host = host;
  }

  /** Something is searched for, or stands found. */
  get on(): boolean {
    return this.query.trim() !== '';
  }

  type(query: string): void {
    this.query = query;
    clearTimeout(this.timer);
    const mine = ++this.last;
    if (!this.on) {
      this.hits = null;
      this.found = '';
      this.error = null;
      this.busy = false;
      return;
    }
    this.timer = setTimeout(() => void this.page(mine, null), PAUSE_MS);
  }

  /** The next page, older than what is there. */
  older = async (): Promise<void> => {
    const before = this.hits?.at(-1)?.panel.id;
    if (before && !this.busy) await this.page(this.last, before);
  };

  stop(): void {
    clearTimeout(this.timer);
    this.last++;
  }

  private async page(mine: number, before: string | null): Promise<void> {
    const query = this.query.trim();
    this.busy = true;
    try {
      const { hits, more } = await this.host.call('search', { query, before, limit: PAGE });
      if (mine !== this.last) return;
      this.hits = before ? [...(this.hits ?? []), ...hits] : hits;
      this.found = query;
      this.more = more;
      this.error = null;
    } catch (e) {
      if (mine === this.last) this.error = asControlError(e);
    } finally {
      if (mine === this.last) this.busy = false;
    }
  }
}

/** Whether a panel is shown: one may have both, answers that are judged and answers that wait. */
export function passes(panel: PanelView, filter: Filter): boolean {
  if (filter === 'judged') return panel.seats.some((seat) => seat.verdict);
  if (filter === 'open') return panel.seats.some((seat) => isJudgeable(seat) && !seat.verdict);
  return true;
}

/** Where the words of a hit stand: the first text they are in, with whose it is (`null`: the prompt). */
export function textsOf(hit: SearchHit): { who: string | null; text: string }[] {
  const { panel, calls } = hit;
  const answers = panel.seats
    .filter((seat) => calls.includes(seat.call))
    .flatMap((seat) =>
      [
        seat.answer,
        [seat.verdict?.note, ...(seat.verdict?.real ?? []), ...(seat.verdict?.false ?? [])].join(' '),
      ].map((text) => ({ who: seat.alias, text })),
    );
  return [{ who: null, text: panel.prompt }, ...answers];
}
