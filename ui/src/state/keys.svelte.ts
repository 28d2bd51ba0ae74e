import type { ControlError, GatewayKeyView } from '../host/gen';
import { asControlError, type Host } from '../host/host';
import { poll } from './poll';

/** The gateway's keys, kept fresh for as long as a page that shows them is open. */
export class GatewayKeys {
  /** In the order in which they were made; `null` until they are known. */
  all = $state.raw<readonly GatewayKeyView[] | null>(null);
  error = $state.raw<ControlError | null>(null);
  private readonly host: Host;

  constructor(host: Host) {
    this.host = host;
    $effect(() => poll(async () => void (await this.read()), 5_000));
  }

  /** Resolves to what is known, though it is not known anew. */
  read = async (): Promise<readonly GatewayKeyView[]> => {
    try {
      this.all = await this.host.call('keys', {});
      this.error = null;
    } catch (e) {
      this.error = asControlError(e);
    }
    return this.all ?? [];
  };
}
