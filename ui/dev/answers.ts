/** What the scripted models say, when they begin, and how long they take (seconds). */
export const answers: Record<string, { text: string; first: number; takes: number; error?: string }> = {
  'kimi-k2': {
    first: 0.9,
    takes: 7.2,
    text: `Two places.

1. In \`refresh()\` the entry's \`expires_at\` is moved before the fetch, so a failed fetch leaves the old value looking fresh.
2. \`get_or_load\` drops the lock between the check and the read; a writer may replace the entry in between.

\`\`\`rust
entry.expires_at = now + ttl;
entry.value = fetch()?;   // too late
\`\`\`

Set the expiry after the value, in one assignment.

| call | expiry moved | value set |
| --- | :---: | ---: |
| \`warm\` | yes | no |
| \`refresh\` | yes | on success |

See [the RFC](https://www.rfc-editor.org/rfc/rfc5861) on serving stale content. ![diagram](https://tracker.example/p.png)
`,
  },
  'glm-5': {
    first: 1.4,
    takes: 10.2,
    text: `The refresh path is the one to look at. \`expires_at\` is written before the value, so when \`fetch()\` returns an error the entry survives with a new lifetime.

The LRU eviction can also resurrect an expired entry, because \`touch()\` runs on lookup.

> A stale answer that looks fresh is worse than an error.
`,
  },
  'qwen3-coder': {
    first: 3.2,
    takes: 14,
    text: `Reading \`cache.rs\` from the top: the only writer of \`expires_at\` is \`refresh()\`, and it is called from three places. The one in \`warm()\` ignores the result, which means that a warm-up against a provider that is down fills the cache with entries that are both old and young: old in value, young in expiry.

## What to change

- Return the error from \`warm()\`.
- Move the assignment of \`expires_at\` below the fetch.
- Add a test in which the second fetch fails.

\`\`\`rust
fn refresh(&mut self, key: &Key) -> Result<(), Error> {
    let value = self.fetch(key)?;
    self.put(key, value, self.clock.now() + self.ttl);
    Ok(())
}
\`\`\`
`,
  },
  inkling: {
    first: 2,
    takes: 0,
    text: '',
    error: 'openrouter refused the key (401). Set another key for the endpoint openrouter, then ask again.',
  },
  'llama-small': { first: 0.3, takes: 1.5, text: 'A *lock-free queue*, or a *wait-free log*.' },
  quick: {
    first: 0.2,
    takes: 1.2,
    text: 'Short answer: after a refresh that fails, when the expiry was moved first.',
  },
  thinker: {
    first: 3,
    takes: 8,
    text: 'Let me go through it step by step.\n\n1. The entry is read.\n2. The entry is found old.\n3. The expiry is moved.\n4. The fetch fails, and nobody moves the expiry back.\n\nSo the stale value lives for one more period.',
  },
  contrary: {
    first: 0.6,
    takes: 3,
    text: 'I disagree with the premise: a cache that serves stale values after a failed refresh is doing its job. **The fault is that nobody is told.**',
  },
  limited: {
    first: 0.4,
    takes: 0,
    text: '',
    error: 'practice answered 429: rate limited, wait 40 s.',
  },
};
