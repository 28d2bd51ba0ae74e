import { createSubscriber } from 'svelte/reactivity';

const tick = createSubscriber((update) => {
  const timer = setInterval(update, 100);
  return () => clearInterval(timer);
});

/** Milliseconds since the epoch, ticking ten times a second for as long as something on screen reads it. */
export function now(): number {
  tick();
  return Date.now();
}
