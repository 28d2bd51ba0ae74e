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

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** `812`, `31.2K`, `1.24M` */
export function short(value: number): string {
  return compact.format(value);
}

/** US dollars: `$12.40`, `$0.0042`; what is smaller than that is said to be. */
export function dollars(value: number): string {
  if (value === 0) return '$0';
  if (value < 0.0001) return 'under $0.0001';
  return value < 0.1 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/** When something happens, short: the time today, else the day and time, and the year where it is another. */
export function when(at: string, today = new Date()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === today.toDateString()) return time;
  const year = date.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' as const };
  return `${date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...year })}, ${time}`;
}

/** Words as a sentence begins. */
export function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A stretch of time in a word or two: `12 s`, `4 min`, `3 h 20 min`, `2 d 4 h`. */
export function span(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000));
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return s % 60 && minutes < 10 ? `${minutes} min ${s % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  const days = Math.floor(hours / 24);
  return hours % 24 ? `${days} d ${hours % 24} h` : `${days} d`;
}
