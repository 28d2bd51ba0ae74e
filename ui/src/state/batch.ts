/**
 * Gathers items and hands them on once a frame. A hidden page gets no frames, so a slow timer stands by: a
 * stream must not pile up in memory because nobody looks.
 */
export function perFrame<T>(handle: (items: T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    const items = waiting;
    waiting = [];
    handle(items);
  };
  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, 250);
  };
}
