// Keys with which programs sign in to this gateway.

import { many } from './many';

export const gatewayKeys = {
  /** Who asks: a program, and the key it gave. */
  who: (client: string, key?: string) => (key ? `${client} with the key ${key}` : client),

  title: 'Keys for programs',
  lead: 'A key says which program or agent asks: its calls carry the key’s name in every record, and it can be held to collections, a rate, a budget and an end. A provider’s key is another thing: it is kept under Endpoints.',

  require: 'Require a key',
  requireOff:
    'Off: programs on this machine need no key. One that gives a good key is known by its name, and kept to what the key may.',
  requireOn: 'On: every program has to give a good key. This window and the command line need none.',
  noneGood: 'No key is good now, so every program is refused. Make one, or turn this off.',
  askTitle: 'Require a key while none is good?',
  askText:
    'Every program and agent is refused until you make a key and give it to them. This window and the command line go on as they are.',
  yours: 'your-key',
  replace: 'A key is required: put one in the place of your-key.',
  toSettings: 'Keys in Settings',
  required: 'A key is required from now on',
  notRequired: 'No key is required from now on',

  emptyTitle: 'No keys yet',
  empty: 'Make one for each program that you want to tell apart or hold to a limit.',

  table: 'Keys',
  name: 'Key',
  last4: (last4: string) => `••••${last4}`,
  mayAsk: 'May ask',
  everything: 'every collection and model',
  rate: 'Rate',
  perMinute: (n: string) => `${n} a minute`,
  noRate: 'no limit',
  standing: 'Standing',
  standings: { good: 'good', expired: 'expired', revoked: 'revoked' },
  spent: 'spent',
  ends: (when: string) => `ends ${when}`,
  endsSoon: (time: string) => `ends in ${time}`,
  endsNever: 'does not end',
  lastUsed: 'Last used',
  ago: (time: string) => `${time} ago`,
  justNow: 'just now',
  neverUsed: 'never',
  actions: 'Revoke',
  showEnded: (n: number) => `Show ${many(n, 'key')} that ${n === 1 ? 'opens' : 'open'} nothing any more`,
  hideEnded: 'Hide keys that open nothing any more',

  new: 'New key',
  formTitle: 'New key',
  nameLabel: 'Name',
  nameHint: 'Who asks with it, as records will say: desk-agent. Lower-case letters, digits and hyphens.',
  scope: 'May ask',
  every: 'Every collection, and every model by its own name',
  only: 'Only these collections',
  noCollections: 'There are no collections yet, so it can only be a key for everything.',
  requests: 'Requests a minute',
  requestsHint: 'Leave empty for no limit.',
  budgetHint: 'What it may spend. Over it the key is refused until the next day or month, by UTC.',
  expires: 'Ends',
  expiry: { never: 'Never', '30d': 'In 30 days', '90d': 'In 90 days', date: 'On a day' },
  date: 'Day',
  dateHint: 'It ends as that day begins, by UTC.',
  make: 'Make the key',
  error: {
    name: 'Use 2 to 32 characters: lower-case letters, digits and hyphens, with a letter or digit at both ends.',
    local: 'local is this machine without a key. Choose another name.',
    taken: (name: string) => `There is a good key ${name} already. Revoke it first, or choose another name.`,
    collections: 'Choose at least one, or let it ask every collection.',
    requests: (most: string) => `A whole number from 1 to ${most}, or nothing for no limit.`,
    date: 'Choose a day to come.',
  },

  madeTitle: (name: string) => `The key ${name} is made`,
  madeText: 'Copy it now: it is not kept here and cannot be shown again. If it is lost, make another one.',
  madeUse: 'Give it to the program where it asks for an API key.',
  text: (name: string) => `key ${name}`,
  kept: 'I have copied it',
  made: (name: string) => `Key ${name} made`,

  revoke: 'Revoke',
  revokeOf: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke the key ${name}?`,
  revokeText:
    'Programs that use it are refused from now on. That cannot be undone; its records stay under its name.',
  revokeLast: 'It is the last good key, and a key is required: every program is refused then.',
  revoked: (name: string) => `Key ${name} revoked`,
};
