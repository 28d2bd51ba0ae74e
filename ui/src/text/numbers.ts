const whole = new Intl.NumberFormat('en');

/** `8.1 s`, `2 min 04 s`. */
export function seconds(value: number): string {
  const v = Math.max(0, value);
  if (v < 99.95) return `${v.toFixed(1)} s`;
  const all = Math.round(v);
  return `${Math.floor(all / 60)} min ${String(all % 60).padStart(2, '0')} s`;
}

/** `128,000` */
export function count(value: number): string {
  return whole.format(value);
}

/** When something happened, short: the time today, else the day and time. */
export function when(at: string, today = new Date()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === today.toDateString()) return time;
  return `${date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })}, ${time}`;
}

/** Words as a sentence begins. */
export function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
