import type { Budget } from '../../host/gen';
import { s } from '../../strings/en';
import { wholeWithin, within } from '../../text/rules';

/** A budget as it is typed. */
export interface TypedBudget {
  /** `none`, `day`, `month` */
  per: string;
  tokens: string;
  dollars: string;
}

/** As the gateway names its fields when it refuses one. */
export type BudgetField = 'budget' | 'budget.tokens' | 'budget.dollars';

export function typedBudget(budget: Budget | undefined): TypedBudget {
  return {
    per: budget?.per ?? 'none',
    tokens: budget?.tokens?.toString() ?? '',
    dollars: budget?.dollars?.toString() ?? '',
  };
}

/** What is wrong, by its field. */
export function wrongBudget(typed: TypedBudget): Partial<Record<BudgetField, string>> {
  const errors: Partial<Record<BudgetField, string>> = {};
  if (typed.per === 'none') return errors;
  const [tokens, dollars] = [typed.tokens.trim(), typed.dollars.trim()];
  if (tokens && wholeWithin(tokens, 1, Number.MAX_SAFE_INTEGER) === null)
    errors['budget.tokens'] = s.spend.wholeTokens;
  const sum = within(dollars, 0, 1_000_000);
  if (dollars && (sum === null || sum === 0)) errors['budget.dollars'] = s.spend.someDollars;
  if (!tokens && !dollars) errors['budget.dollars'] = s.spend.needOne;
  return errors;
}

/** What may be spent; `null` is no budget. */
export function budgetOf(typed: TypedBudget): Budget | null {
  if (typed.per === 'none') return null;
  const [tokens, dollars] = [typed.tokens.trim(), typed.dollars.trim()];
  return {
    per: typed.per === 'day' ? 'day' : 'month',
    ...(tokens ? { tokens: Number(tokens) } : {}),
    ...(dollars ? { dollars: Number(dollars) } : {}),
  };
}
