import type { ControlError, PanelPreview, PreviewPanel } from '../../host/gen';
import { asControlError, type Host } from '../../host/host';

/** How long typing and clicking may go on before the gateway is asked. */
const PAUSE_MS = 200;

/**
 * A panel as it would be seated now, followed as a draft changes. What was shown stays until its successor is
 * there; an answer that comes after a newer question is dropped.
 */
export class Preview {
  shown = $state.raw<PanelPreview | null>(null);
  error = $state.raw<ControlError | null>(null);
  private readonly host: Host;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = 0;

  constructor(host: Host) {
    this.host = host;
  }

  follow(draft: PreviewPanel): void {
    clearTimeout(this.timer);
    const mine = ++this.last;
    this.timer = setTimeout(() => void this.ask(draft, mine), this.shown || this.error ? PAUSE_MS : 0);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.last++;
  }

  private async ask(draft: PreviewPanel, mine: number): Promise<void> {
    try {
      const shown = await this.host.call('preview_panel', draft);
      if (mine !== this.last) return;
      this.shown = shown;
      this.error = null;
    } catch (e) {
      if (mine !== this.last) return;
      this.shown = null;
      this.error = asControlError(e);
    }
  }
}
