import type { Attachment } from 'svelte/attachments';

const KEY = 'bench-scroll';
const MOST = 60;

/** How far each place was scrolled; the oldest are forgotten. The window forgets itself when it is closed. */
const tops = load();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Puts an element back to where it was scrolled, and remembers where it is. */
export function keepScroll(place: string): Attachment<HTMLElement> {
  return (node) => {
    node.scrollTop = tops.get(place) ?? 0;
    const onscroll = () => {
      tops.delete(place);
      tops.set(place, node.scrollTop);
      clearTimeout(timer);
      timer = setTimeout(save, 300);
    };
    node.addEventListener('scroll', onscroll, { passive: true });
    return () => node.removeEventListener('scroll', onscroll);
  };
}

function load(): Map<string, number> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return new Map(Array.isArray(kept) ? (kept as [string, number][]) : []);
  } catch {
    return new Map();
  }
}

function save(): void {
  localStorage.setItem(KEY, JSON.stringify([...tops].slice(-MOST)));
}
