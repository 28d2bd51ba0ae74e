/** Bounds of the settings that are numbers: from, to. The gateway has the last word. */
export const BOUNDS = {
  max_calls: [1, 10],
  max_explorers: [0, 2],
  reserves: [0, 2],
  seat_seconds: [5, 3600],
  idle_seconds: [5, 3600],
  explorer_grace: [0, 3600],
  keep_text_days: [1, 36500],
  responses_days: [1, 36500],
} as const;

export type NumberSetting = keyof typeof BOUNDS;
