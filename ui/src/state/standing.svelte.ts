import type { LimitsView, ModelRecord, SpendRow } from '../host/gen';
import type { Host } from '../host/host';
import { poll } from './poll';

/** How limits stand, kept fresh for as long as a page that shows them is open. */
export class Limiting {
  view = $state.raw<LimitsView | null>(null);
  private readonly host: Host;

  constructor(host: Host) {
    this.host = host;
    $effect(() => poll(this.read, 2_000));
  }

  read = async (): Promise<void> => {
    this.view = await this.host.call('limits', {});
  };
}

/** What is on the models' records, by alias. */
export class Records {
  known = $state.raw<ReadonlyMap<string, ModelRecord>>(new Map());
  spent = $state.raw<ReadonlyMap<string, SpendRow>>(new Map());
  private readonly host: Host;

  constructor(host: Host) {
    this.host = host;
    $effect(() => poll(this.read, 5_000));
  }

  read = async (): Promise<void> => {
    const [records, spend] = await Promise.all([
      this.host.call('model_records', {}),
      this.host.call('spend', { by: 'model', since: null }),
    ]);
    this.known = new Map(records.map((it) => [it.alias, it]));
    this.spent = new Map(spend.rows.map((it) => [it.key, it]));
  };
}
