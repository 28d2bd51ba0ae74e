// How much may be sent, what providers say of quotas, what rests, and saving an endpoint that does not answer.

import { many } from './many';

export const limits = {
  title: 'Limits',
  none: 'No limits of your own: it is sent whatever is asked.',
  edit: 'Set limits',
  editHint:
    'A call that would break one is not sent: another model takes the seat or the turn. Leave empty for none.',
  axis: {
    rpm: 'Requests a minute',
    rpd: 'Requests a day',
    rpmo: 'Requests a month',
    tpm: 'Tokens a minute',
    tpd: 'Tokens a day',
  } as Record<string, string>,
  whole: 'A whole number from 1, or nothing for none.',
  used: (used: string, limit: string) => `${used} of ${limit}`,
  full: 'Full',
  stated: (model: string, axis: string) => `${axis} for ${model}, as the provider stated`,
  inFlight: (n: number) => `${n} under way`,
  saved: (name: string) => `Limits of ${name} saved`,

  quota: 'What the provider says is left',
  quotaNone: 'It has said nothing of quotas yet.',
  metric: {
    requests: 'Requests',
    tokens: 'Tokens',
    input_tokens: 'Input tokens',
    output_tokens: 'Output tokens',
    credits: 'Credits',
  } as Record<string, string>,
  window: (seconds: number) => {
    const units: [number, string][] = [
      [2_592_000, 'month'],
      [86_400, 'day'],
      [3_600, 'hour'],
      [60, 'minute'],
      [1, 'second'],
    ];
    const [size, unit] = units.find(([size]) => seconds % size === 0) ?? [1, 'second'];
    const n = seconds / size;
    return n === 1 ? `a ${unit}`.replace('a hour', 'an hour') : `in ${n} ${unit}s`;
  },
  left: (left: string, limit: string) => `${left} of ${limit} left`,
  leftOf: (left: string) => `${left} left`,
  atMost: (limit: string) => `at most ${limit}`,
  seen: (ago: string) => `seen ${ago} ago`,
  resets: (time: string) => `whole again in ${time}`,
  wasReset: 'whole again by now',

  cooling: 'Resting after a rate limit',
  restsFor: (time: string) => `for ${time}`,
  everyModel: 'every model of it',
  clear: 'Clear',
  clearOf: (name: string) => `End the rest of ${name}`,
  cleared: (name: string) => `${name} can be asked again`,

  notSaved: 'Not saved, because it does not answer as it should',
  saveAnyway: 'Save anyway',

  kind: 'Kind',
  kindHint: 'An aggregator has one limit for everything; a hub has one for each vendor behind it.',
  paid: 'Its calls cost money',
  headers: 'Extra headers',
  headersHint: 'Sent with every request, one a line: X-Title: bench. Never a key.',
  headersLine: (line: string) => `"${line}" is no header: write Name: value.`,
  paidFact: 'paid',
  headersFact: (n: number) => many(n, 'extra header'),
};
