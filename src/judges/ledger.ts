/**
 * The budgets of judges. What calls may cost is reserved in the store before they go, a little ahead, so that not every call waits for the disk; what they did cost is
 * noted with the next reservation. What a process that dies had reserved counts as spent: the sum may be too high by that, and is never too low.
 */
import type { Clock } from '../model/clock.ts';
import { noSpending, sumOfSpending, type Day, type DaySpend, type JudgeSpendStore, type Spending } from '../model/judge-store.ts';
import { pacedShare } from '../pipeline/pacing.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { costOf, nanoOf, usdOf, type TokenPrice } from './money.ts';
import type { Till, Used } from './till.ts';

export interface LedgerOptions {
  /** Where it stands until a store is opened. */
  readonly store: JudgeSpendStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

export interface Budget {
  /** Of the judge. */
  readonly name: string;
  readonly usdPerDay: number;
  readonly price: TokenPrice;
}

export interface Ledger {
  /** Goes on with what the store knows of the day. Rejects when it cannot be read. */
  open(store: JudgeSpendStore, judges: readonly string[]): Promise<void>;
  /** A till for a budget; another one of the same name takes over what is reserved. */
  till(budget: Budget): Till;
  /** What is left of a sample rate, 0..1; 1 without a budget. */
  share(budget: Pick<Budget, 'name' | 'usdPerDay'>): number;
  /** Notes what is spent and gives back what is reserved and was not needed. Rejects when the store cannot be written. */
  close(): Promise<void>;
}

const dayMs = 86_400_000;
/** Reserved ahead, as a share of the budget: so much a crash may waste. */
const aheadShare = 0.005;
/** Days that the store remembers. */
const daysKept = 400;

interface Account {
  readonly judge: string;
  readonly day: Day;
  /** As the store last had it. */
  known: DaySpend;
  /** Not noted there yet. */
  spent: Spending;
  /** Of what is reserved in the store, what calls that are over have used; not noted there yet. */
  used: number;
  /** Of what is reserved in the store, what is not handed out. */
  free: number;
  /** Calls under way. */
  open: number;
  /** One question to the store after the other. */
  last: Promise<unknown>;
}

export function ledger({ store: first, telemetry, clock }: LedgerOptions): Ledger {
  let store = first;
  /** Of today and, while calls of it are under way, of yesterday. */
  const accounts = new Map<string, Account>();

  function accountOf(judge: string): Account {
    const day = dayOf(clock.nowMs());
    const key = `${judge} ${day}`;
    const known = accounts.get(key);
    // Of the days before, what has nothing left to note.
    if (known === undefined) for (const [other, one] of accounts) if (one.judge === judge && isBalanced(one)) accounts.delete(other);
    const found = known ?? { judge, day, known: { ...noSpending, reservedNanoUsd: 0 }, spent: noSpending, used: 0, free: 0, open: 0, last: Promise.resolve() };
    accounts.set(key, found);
    return found;
  }

  function spentOf({ known, spent }: Account): number {
    return known.nanoUsd + spent.nanoUsd;
  }

  async function enter(account: Account, wanted: number, limit: number): Promise<boolean> {
    const { judge, day, spent, used } = account;
    const { isGranted, spend } = await store.enter({ judge, day, spent, releasedNanoUsd: used, wantedNanoUsd: wanted, limitNanoUsd: limit });
    account.known = spend;
    account.spent = minus(account.spent, spent);
    account.used -= used;
    if (isGranted) account.free += wanted;
    return isGranted;
  }

  /** Notes what is spent and gives back what is not handed out. */
  async function settled(account: Account): Promise<void> {
    account.used += account.free;
    account.free = 0;
    await enter(account, 0, 0);
  }

  /** Whether so much may be handed out. */
  async function granted(account: Account, most: number, limit: number): Promise<boolean> {
    if (account.free >= most) return true;
    const missing = most - account.free;
    const ahead = Math.floor(limit * aheadShare);
    return (ahead > missing && (await enter(account, ahead, limit))) || (await enter(account, missing, limit));
  }

  function tell(account: Account, limit: number): void {
    const labels = { 'tracejury.judge': account.judge };
    const spent = spentOf(account);
    telemetry.set('tracejury.judge.spent', usdOf(spent), labels);
    telemetry.set('tracejury.judge.reserved', usdOf(Math.max(0, account.known.reservedNanoUsd - account.used)), labels);
    telemetry.set('tracejury.judge.budget.used', limit === 0 ? 1 : spent / limit, labels);
  }

  /** An earlier day is closed when its last call is over. */
  async function leaveDays(judge: string): Promise<void> {
    const today = dayOf(clock.nowMs());
    for (const [key, account] of accounts) {
      if (account.judge !== judge || account.day === today || account.open > 0) continue;
      accounts.delete(key);
      await after(account, () => settled(account));
    }
  }

  return {
    async open(next, judges) {
      store = next;
      await store.adopt(dayOf(clock.nowMs() - daysKept * dayMs));
      for (const judge of judges) {
        const account = accountOf(judge);
        account.known = await store.of(judge, account.day);
      }
    },
    till: ({ name, usdPerDay, price }) => ({
      async take(most) {
        const limit = nanoOf(usdPerDay);
        const bound = costOf(most, price);
        const account = accountOf(name);
        await leaveDays(name);
        const isGranted = await after(account, async () => {
          const isFree = await granted(account, bound, limit);
          if (isFree) account.free -= bound;
          if (isFree) account.open++;
          return isFree;
        });
        tell(account, limit);
        if (!isGranted) return undefined;
        return (used: Used) => {
          const nanoUsd = used === 'nothing' ? 0 : used === 'unknown' ? bound : costOf(used, price);
          const tokens = typeof used === 'string' ? { input: 0, output: 0 } : used;
          account.spent = sumOfSpending(account.spent, { nanoUsd, requests: 1, inputTokens: tokens.input, outputTokens: tokens.output });
          account.used += Math.min(bound, nanoUsd);
          account.free += Math.max(0, bound - nanoUsd);
          account.open--;
          tell(account, limit);
        };
      },
    }),
    share({ name, usdPerDay }) {
      const nowMs = clock.nowMs();
      const limit = nanoOf(usdPerDay);
      const share = pacedShare({ dayShare: (nowMs % dayMs) / dayMs, spentShare: limit === 0 ? 1 : spentOf(accountOf(name)) / limit });
      telemetry.set('tracejury.judge.pace', limit === 0 ? 0 : share, { 'tracejury.judge': name });
      return limit === 0 ? 0 : share;
    },
    async close() {
      for (const account of accounts.values()) await after(account, () => settled(account));
    },
  };
}

function isBalanced({ open, free, used, spent }: Account): boolean {
  return open === 0 && free === 0 && used === 0 && spent.requests === 0;
}

/** One after the other for an account; a failed one does not hold up the next. */
async function after<Result>(account: Account, work: () => Promise<Result>): Promise<Result> {
  const done = account.last.catch(() => undefined).then(work);
  account.last = done;
  return await done;
}

function minus(one: Spending, other: Spending): Spending {
  return { nanoUsd: one.nanoUsd - other.nanoUsd, requests: one.requests - other.requests, inputTokens: one.inputTokens - other.inputTokens, outputTokens: one.outputTokens - other.outputTokens };
}

function dayOf(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10);
}
