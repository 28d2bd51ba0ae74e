// What is known of a model, and who says so.

export const sheet = {
  open: (alias: string) => `What is known of ${alias}`,
  fact: 'Fact',
  probes: 'Last probes',
  neverProbed: 'Never probed. A probe asks it a few short things: a word, a large prompt, a tool, a picture.',
  value: 'Value',
  from: 'Where it is from',
  names: {
    context_window: 'Context window',
    max_output: 'Longest answer',
    tools: 'Tools',
    vision: 'Images',
    reasoning: 'Reasoning',
    structured_output: 'Structured output',
    pdf: 'PDF',
    audio: 'Audio',
    price: 'Price a million tokens',
  } as Record<string, string>,
  sources: {
    snapshot: 'Shipped catalog',
    refresh: 'Refreshed catalog',
    listing: 'Endpoint’s list',
    learned: 'Learned from calls',
    owner: 'Set by you',
  },
  yes: 'yes',
  no: 'no',
  tokens: (n: string) => `${n} tokens`,
  parts: {
    input: 'input',
    output: 'output',
    cache_read: 'read from cache',
    cache_write: 'written to cache',
  } as Record<string, string>,
  at: (source: string, day: string) => `${source}, ${day}`,
  says: (source: string, value: string) => `${source}: ${value}`,
};
