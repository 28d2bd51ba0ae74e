/** Asks at once and then again and again, each time so long after the last answer, and not while nobody looks. Returns what ends it. */
export function poll(ask: () => Promise<void>, everyMs: number): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let ended = false;
  async function round() {
    // What was refused is asked again; the link's state says that the gateway is away.
    if (!document.hidden) await ask().catch(() => undefined);
    if (!ended) timer = setTimeout(() => void round(), everyMs);
  }
  void round();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
