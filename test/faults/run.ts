/**
 * `npm run check -- faults`: every fault, and the table: fault × trials × acknowledged spans × lost × doubled × scores not sent × pages whose numbers do not
 * add up. `--trials N` sets how often each, `--only TEXT` which, `--from N` the first trial, `--seed S` the random numbers.
 */
import type { Fault } from './fault.ts';
import { faults } from './index.ts';
import { accountOf, type Account } from './trial.ts';
import { trialArguments } from './arguments.ts';

const { count: trials, from, seed, only } = trialArguments();

interface Row extends Omit<Account, 'broken'> {
  readonly broken: number;
}

process.exitCode = await everything();

async function everything(): Promise<number> {
  let failed = 0;
  say(
    '| fault | trials | spans acknowledged | lost | doubled | scores not sent | metrics pages | that do not add up |\n|---|---|---|---|---|---|---|---|',
  );
  for (const fault of faults.filter(({ name }) => name.includes(only))) {
    let row: Row = { acknowledged: 0, lost: 0, doubled: 0, unsent: 0, pages: 0, broken: 0 };
    for (let trial = from; trial < from + trials; trial++) {
      const account = await accountOf(fault, trial, { seed });
      row = added(row, account);
      if (isBroken(fault, account)) {
        failed++;
        process.stderr.write(`FAILED  ${fault.name}, trial ${trial}, seed ${seed}: ${JSON.stringify(account)}\n`);
      }
    }
    say(
      `| ${fault.name} | ${trials} | ${row.acknowledged} | ${row.lost} | ${row.doubled} | ${row.unsent} | ${row.pages} | ${row.broken} |`,
    );
  }
  return failed === 0 ? 0 : 1;
}

function isBroken({ scores }: Fault, { acknowledged, lost, doubled, unsent, broken }: Account): boolean {
  return acknowledged === 0 || lost > 0 || doubled > 0 || (scores === 'all sent' && unsent > 0) || broken.length > 0;
}

function added(row: Row, { acknowledged, lost, doubled, unsent, pages, broken }: Account): Row {
  return {
    acknowledged: row.acknowledged + acknowledged,
    lost: row.lost + lost,
    doubled: row.doubled + doubled,
    unsent: row.unsent + unsent,
    pages: row.pages + pages,
    broken: row.broken + broken.length,
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
