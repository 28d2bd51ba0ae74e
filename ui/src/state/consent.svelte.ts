import { asControlError } from '../host/host';

/** What only the owner can allow, or provide, before a command can go through. */
export type Need = 'no_keychain' | 'vault_locked' | 'plain_http';

interface Question {
  need: Need;
  message: string;
  answer: (yes: boolean) => void;
}

/** One question at a time to the person at the window. */
export class Consent {
  question = $state.raw<Question | null>(null);

  ask(need: Need, message: string): Promise<boolean> {
    this.question?.answer(false);
    return new Promise((resolve) => {
      this.question = {
        need,
        message,
        answer: (yes) => {
          this.question = null;
          resolve(yes);
        },
      };
    });
  }

  /**
   * Runs a command; when it is refused for want of something the owner can give, asks, and runs it again. The
   * command is told whether plain http was allowed.
   */
  async with<R>(run: (plainHttp: boolean) => Promise<R>): Promise<R> {
    let plainHttp = false;
    for (;;) {
      try {
        return await run(plainHttp);
      } catch (e) {
        const { code, message } = asControlError(e);
        const need = code === 'no_keychain' || code === 'vault_locked' || code === 'plain_http' ? code : null;
        if (!need || (need === 'plain_http' && plainHttp)) throw e;
        if (!(await this.ask(need, message))) throw e;
        if (need === 'plain_http') plainHttp = true;
      }
    }
  }
}
