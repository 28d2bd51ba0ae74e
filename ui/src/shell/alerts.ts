// What can be done about an alert, by its kind. A kind that is not here stands without a button.
import type { Alert, PanelView } from '../host/gen';
import type { Page } from '../state/route';
import { s } from '../strings/en';

/** What an action may reach of the window. */
export interface Reach {
  go(page: Page, item?: string | null): void;
  live: { panels: readonly PanelView[] };
}

export interface AlertAction {
  label: string;
  run: () => void;
}

interface Kind {
  /** It stops work; else it only asks for attention. */
  bad: boolean;
  actions: (alert: Alert, app: Reach) => AlertAction[];
}

const to = (app: Reach, label: string, page: Page, item: string | null = null): AlertAction => ({
  label,
  run: () => app.go(page, item),
});

/** The newest panel of a collection in which nobody answered. */
function failedPanel(alert: Alert, app: Reach): string | null {
  return app.live.panels.find((p) => p.collection === alert.subject && p.state === 'failed')?.id ?? null;
}

/** Keyed by the gateway's words, so that a kind it learns of later needs a line here and nothing else. */
const KINDS: Record<string, Kind> = {
  panel_failed: {
    bad: true,
    actions: (alert, app) => {
      const panel = failedPanel(alert, app);
      return panel ? [to(app, s.alert.toPanel, 'live', panel)] : [];
    },
  },
  key_refused: { bad: true, actions: (a, app) => [to(app, s.alert.toKey, 'endpoints', a.subject)] },
  recording_stopped: { bad: true, actions: (_, app) => [to(app, s.alert.toSettings, 'settings')] },
  records_moved: { bad: true, actions: (_, app) => [to(app, s.alert.toSettings, 'settings')] },
  port_taken: { bad: false, actions: (_, app) => [to(app, s.alert.toSettings, 'settings')] },
  went_paid: { bad: true, actions: (a, app) => [to(app, s.alert.toModel, 'models', a.subject)] },
  retiring: { bad: false, actions: (a, app) => [to(app, s.alert.toModel, 'models', a.subject)] },
  budget_reached: {
    bad: true,
    actions: (a, app) => [
      to(app, s.alert.toCollection, 'collections', a.subject),
      to(app, s.alert.toSpend, 'spend'),
    ],
  },
};

export function actionsOf(alert: Alert, app: Reach): AlertAction[] {
  return KINDS[alert.kind]?.actions(alert, app) ?? [];
}

export function isBad(alert: Alert): boolean {
  return KINDS[alert.kind]?.bad ?? true;
}
