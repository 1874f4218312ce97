/**
 * The budgets of judges and evaluators. The ledger reserves in the store, a little ahead, what calls may use; so most calls do not wait for
 * the disk. The next reservation records what they used. Reservations of a dead process count as spent, so the sum may be too high but
 * never too low.
 */
import {
  eachMeasure,
  isNothing,
  leftOf,
  measures,
  noAmount,
  sumOfAmounts,
  type Amount,
  type Measure,
  type Settle,
  type BudgetReservation,
  type Tokens,
  type Used,
} from '../../model/budget.ts';
import type { Clock, Sleep } from '../../model/clock.ts';
import {
  amountOf,
  noSpending,
  sumOfSpending,
  type Day,
  type DaySpend,
  type JudgeSpendStore,
  type Spending,
} from '../../model/store/judge-store.ts';
import { pacedShare, unpaced, type Paced } from '../../pipeline/evaluation/sampling.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import {
  accountOf,
  amountUsed,
  counted,
  inUnit,
  isBoundedByMinute,
  limitName,
  limitsOfDay,
  reasonOf,
  type Budget,
  overBudget,
} from './budgets.ts';
import { minutes, stopped } from './rate-window.ts';
import { lendNothing, type Lend } from '../../runtime/concurrency-limiter.ts';
import { periodicTask, type PeriodicTask } from '../../runtime/periodic-task.ts';

export interface LedgerOptions {
  /** The store until `open`. */
  readonly store: JudgeSpendStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Identifies this process among those that share the store. */
  readonly owner: string;
  /** Number of chosen questions without an answer. Default: 0. */
  readonly waiting?: (budget: Budget) => number;
  /** Called when the store fails; the ledger tries again. */
  readonly onFault?: (error: unknown) => void;
}

/** State of one daily limit, in its unit. */
export interface LimitStatus {
  readonly limit: string;
  readonly most: number;
  readonly spent: number;
  readonly reserved: number;
  /** Share of a sample rate that the limit leaves, from 0 to 1. */
  readonly share: number;
}

export interface Ledger {
  /** Continues with the day's sums in the store, and tends it from then on. Rejects when it cannot be read. */
  open(store: JudgeSpendStore): Promise<void>;
  /**
   * Reservations of a budget; a budget of the same name takes over the earlier one's. `lend` lends a slot while a request waits for its
   * minute.
   */
  reservation(budget: Budget, lend?: Lend): BudgetReservation;
  /** The smallest share, from 0 to 1, that these budgets leave of a sample rate, and the reason of a decision when it is 0. */
  share(budgets: readonly Budget[]): Paced;
  status(budget: Budget): readonly LimitStatus[];
  /** Records what is spent and returns unused reservations. Rejects when the store cannot be written. */
  close(): Promise<void>;
}

const dayMs = 86_400_000;
/** Amount reserved ahead, as a share of each limit; a crash wastes at most this. */
const aheadShare = 0.005;
/** Days that the store remembers. */
const daysKept = 400;
/** A process that does not renew within this time counts as dead. */
const leaseMs = 60_000;
const tendEveryMs = 20_000;
const doesNotCount: Settle = () => undefined;

interface Account {
  readonly name: string;
  readonly day: Day;
  /** Sums at the last read of the store. */
  known: DaySpend;
  /** Spending that the store does not have yet. */
  spent: Spending;
  /** Reservations of this process in the store. */
  held: Amount;
  /** Part of `held` that finished calls have used and the store does not know yet. */
  used: Amount;
  /** Part of `held` that no call has. */
  free: Amount;
  /** Calls in progress. */
  open: number;
  /** Serialises the requests to the store. */
  last: Promise<unknown>;
}

export function ledger({
  store: first,
  telemetry,
  clock,
  sleep,
  owner,
  waiting = () => 0,
  onFault = () => undefined,
}: LedgerOptions): Ledger {
  let store = first;
  let tending: PeriodicTask | undefined;
  /** Accounts of today and, while calls are in progress, of yesterday. */
  const accounts = new Map<string, Account>();
  const pace = minutes({ store: () => store, telemetry, clock, sleep });
  const now = (): number => Math.floor(clock.nowMs() * 1_000);

  function accountNamed(name: string, known: DaySpend = { ...noSpending, reserved: noAmount }): Account {
    const day = dayOf(clock.nowMs());
    const key = `${name} ${day}`;
    const found = accounts.get(key) ?? {
      name,
      day,
      known,
      spent: noSpending,
      held: noAmount,
      used: noAmount,
      free: noAmount,
      open: 0,
      last: Promise.resolve(),
    };
    accounts.set(key, found);
    return found;
  }

  async function enter(account: Account, wanted: Amount, limits: Partial<Amount>): Promise<Measure | undefined> {
    const { name, day, spent, used } = account;
    const { over, spend } = await store.enter({ account: name, day, owner, at: now(), spent, released: used, wanted, limits });
    account.known = spend;
    account.spent = minus(account.spent, spent);
    account.used = leftOf(account.used, used);
    account.held = leftOf(account.held, used);
    if (over !== undefined) return over;
    account.free = sumOfAmounts(account.free, wanted);
    account.held = sumOfAmounts(account.held, wanted);
    return over;
  }

  /** Records what is spent and returns what no call has. */
  async function settled(account: Account): Promise<void> {
    account.used = sumOfAmounts(account.used, account.free);
    account.free = noAmount;
    await enter(account, noAmount, {});
  }

  /** Reserves what is missing. Resolves with the limit that refuses it; `undefined` when there is room. */
  async function missed(account: Account, most: Amount, limits: Partial<Amount>): Promise<Measure | undefined> {
    const missing = leftOf(most, account.free);
    if (isNothing(missing)) return undefined;
    const ahead = eachMeasure((measure) => Math.max(missing[measure], Math.floor((limits[measure] ?? 0) * aheadShare)));
    if (measures.some((measure) => ahead[measure] > missing[measure]) && (await enter(account, ahead, limits)) === undefined)
      return undefined;
    return await enter(account, missing, limits);
  }

  async function taken(budget: Budget, most: Tokens): Promise<Settle | Measure> {
    const limits = limitsOfDay(budget);
    const account = accountNamed(accountOf(budget));
    const bound = counted(amountUsed(most, budget.price), limits);
    const over = await after(account, async () => {
      const limit = await missed(account, bound, limits);
      if (limit !== undefined) return limit;
      account.free = leftOf(account.free, bound);
      account.open++;
      return undefined;
    });
    report(budget);
    if (over !== undefined) return over;
    return (used) => {
      const spending = spendingOf(used, most, budget);
      const amount = counted(amountOf(spending), limits);
      account.spent = sumOfSpending(account.spent, spending);
      account.used = sumOfAmounts(
        account.used,
        eachMeasure((measure) => Math.min(bound[measure], amount[measure])),
      );
      account.free = sumOfAmounts(account.free, leftOf(bound, amount));
      account.open--;
      report(budget);
    };
  }

  function status(budget: Budget): readonly LimitStatus[] {
    const limits = limitsOfDay(budget);
    const { known, spent, held: own, used } = accountNamed(accountOf(budget));
    const sums = sumOfAmounts(amountOf(known), amountOf(spent));
    const held = leftOf(known.reserved, used);
    const others = leftOf(known.reserved, own);
    const dayShare = (clock.nowMs() % dayMs) / dayMs;
    // Assumes that a waiting question costs as much as today's average.
    const expected = waiting(budget) / Math.max(1, sums.requests);
    return measures.flatMap((measure): readonly LimitStatus[] => {
      const most = limits[measure];
      if (most === undefined) return [];
      const share = most === 0 ? 0 : pacedShare({ dayShare, spentShare: (others[measure] + sums[measure] * (1 + expected)) / most });
      return [
        {
          limit: limitName(measure),
          most: inUnit(measure, most),
          spent: inUnit(measure, sums[measure]),
          reserved: inUnit(measure, held[measure]),
          share,
        },
      ];
    });
  }

  function report(budget: Budget): void {
    for (const { limit, most, spent, reserved, share } of status(budget)) {
      const labels = {
        'tracejury.judge': budget.of === 'evaluator' ? '' : budget.name,
        'gen_ai.evaluation.name': budget.of === 'evaluator' ? budget.name : '',
        'tracejury.budget': limit,
      };
      telemetry.set('tracejury.judge.spent', spent, labels);
      telemetry.set('tracejury.judge.reserved', reserved, labels);
      telemetry.set('tracejury.judge.left', Math.max(0, most - spent - reserved), labels);
      telemetry.set('tracejury.judge.budget.used', most === 0 ? 1 : spent / most, labels);
      telemetry.set('tracejury.judge.pace', share, labels);
    }
  }

  /** Renews the leases, records today's spending, refreshes its sums, and closes an earlier day after its last call. */
  async function tended(): Promise<void> {
    await store.renew(owner, now());
    await store.adopt({ now: now(), before: now() - leaseMs * 1_000, forget: dayOf(clock.nowMs() - daysKept * dayMs) });
    const today = dayOf(clock.nowMs());
    for (const [key, account] of accounts) {
      await after(account, async () => {
        if (account.day !== today) return account.open === 0 ? await settled(account) : undefined;
        // Else the sums of the day would lack what the reservation ahead still covers.
        if (account.spent.requests > 0) await enter(account, noAmount, {});
        else account.known = (await store.on(today)).get(account.name) ?? account.known;
        return undefined;
      });
      if (account.day !== today && isBalanced(account)) accounts.delete(key);
    }
  }

  return {
    async open(next) {
      store = next;
      await tended();
      for (const [name, known] of await store.on(dayOf(clock.nowMs()))) accountNamed(name, known);
      // At its pace also at rest: a reservation that begins a long rest would outlive its lease.
      tending ??= periodicTask({ everyMs: tendEveryMs, sleep, work: tended, onFault, restsFirst: true });
    },
    reservation: (budget, lend = lendNothing) => ({
      async take(most, signal) {
        const passed = isBoundedByMinute(budget) ? await lend(() => pace.pass(budget, most, signal)) : doesNotCount;
        if (passed === undefined) return stopped;
        const settle = await taken(budget, most).catch((error: unknown) => {
          passed('unsent');
          throw error;
        });
        if (typeof settle === 'function')
          return (used) => {
            passed(used);
            settle(used);
          };
        passed('unsent');
        return overBudget(reasonOf(budget, settle));
      },
    }),
    share(budgets) {
      let scarcest = unpaced;
      for (const budget of budgets) {
        report(budget);
        const { of } = budget;
        for (const { limit, share } of status(budget))
          if (share < scarcest.left) scarcest = { left: share, by: of === 'evaluator' ? `evaluator_${limit}` : limit };
      }
      return scarcest;
    },
    status,
    async close() {
      await tending?.stop();
      for (const account of accounts.values()) await after(account, () => settled(account));
    },
  };
}

function spendingOf(used: Used, most: Tokens, { price }: Budget): Spending {
  if (used === 'unsent') return noSpending;
  const tokens = used === 'unknown' ? most : used === 'nothing' ? { input: 0, output: 0 } : used;
  return {
    nanoUsd: amountUsed(tokens, price).nanoUsd,
    requests: 1,
    inputTokens: Math.ceil(tokens.input),
    outputTokens: Math.ceil(tokens.output),
  };
}

function isBalanced({ open, free, used, spent }: Account): boolean {
  return open === 0 && isNothing(free) && isNothing(used) && spent.requests === 0;
}

/** Runs the work after the previous work on the account, also when that has failed. */
async function after<Result>(account: Account, work: () => Promise<Result>): Promise<Result> {
  const done = account.last.catch(() => undefined).then(work);
  account.last = done;
  return await done;
}

function minus(one: Spending, other: Spending): Spending {
  return {
    nanoUsd: one.nanoUsd - other.nanoUsd,
    requests: one.requests - other.requests,
    inputTokens: one.inputTokens - other.inputTokens,
    outputTokens: one.outputTokens - other.outputTokens,
  };
}

function dayOf(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10);
}
