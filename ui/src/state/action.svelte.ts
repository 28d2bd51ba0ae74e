import type { ControlError } from '../host/gen';
import { asControlError } from '../host/host';

/** Something a button does: never twice at once, and its refusal is kept to be shown. */
export class Action<A extends unknown[], R> {
  busy = $state(false);
  error = $state.raw<ControlError | null>(null);
  private readonly run: (...args: A) => Promise<R>;

  constructor(run: (...args: A) => Promise<R>) {
    this.run = run;
  }

  /** Resolves to `undefined` when it was refused, or is busy already. */
  go = async (...args: A): Promise<R | undefined> => {
    if (this.busy) return undefined;
    this.busy = true;
    this.error = null;
    try {
      return await this.run(...args);
    } catch (e) {
      this.error = asControlError(e);
      return undefined;
    } finally {
      this.busy = false;
    }
  };

  /** The message for a field of the form, when the refusal was about it. */
  at(field: string): string {
    const at = this.error?.field ?? '';
    if (at !== field && !at.startsWith(`${field}[`) && !at.startsWith(`${field}.`)) return '';
    return besideField(this.error?.message ?? '', at);
  }

  /** The message, when it is about none of these fields. */
  elsewhere(fields: readonly string[]): string {
    return this.error && !fields.some((f) => this.at(f)) ? this.error.message : '';
  }
}

/** A message that names its field, without the name: it stands beside the field. */
export function besideField(message: string, field: string): string {
  const lead = `${field}: `;
  if (!message.startsWith(lead)) return message;
  const rest = message.slice(lead.length);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}
