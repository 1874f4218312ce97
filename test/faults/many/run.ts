/**
 * `npm run check -- replicas`: every fault of three replicas over one broker of Kafka and one PostgreSQL, and the table of what became of the runs that
 * were acknowledged. `--trials N` sets how often each, `--only TEXT` which, `--from N` the first trial, `--seed S` the random numbers.
 * Exits with 1 when a run is lost, doubled or other than one process has it. It needs maven, Java and PostgreSQL, and for the full disk the right to mount one.
 */
import { join } from 'node:path';
import { trialArguments } from '../arguments.ts';
import type { ManyFault } from './fault.ts';
import { manyFaults } from './faults.ts';
import { brokenPromises, trials as trialsOf, type Account } from './trial.ts';

const { count, from, seed, only } = trialArguments();

// Each replica loads the same modules.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../../node_modules/.cache/node');
process.exit(await everything());

async function everything(): Promise<number> {
  let failed = 0;
  const trials = await trialsOf({ seed });
  say(
    '| fault | trials | runs acknowledged | lost | other | doubled | evaluated again | not asked about | questions again | scores again | scores not sent | longest silence |\n|---|---|---|---|---|---|---|---|---|---|---|---|',
  );
  for (const fault of manyFaults.filter(({ name }) => name.includes(only))) {
    const accounts: Account[] = [];
    for (let trial = from; trial < from + count; trial++) {
      try {
        const account = await trials.account(fault, trial);
        accounts.push(account);
        const broken = brokenPromises(fault, account);
        if (broken.length === 0) continue;
        tell(fault, trial, `${broken.join(' ')} ${JSON.stringify(account)}`);
      } catch (error) {
        tell(fault, trial, error instanceof Error ? error.message : String(error));
      }
      failed++;
    }
    say(rowOf(fault, accounts));
  }
  await trials.stop();
  return failed === 0 ? 0 : 1;
}

function tell({ name }: ManyFault, trial: number, what: string): void {
  process.stderr.write(`FAILED  ${name}, trial ${trial}, seed ${seed}: ${what}\n`);
}

function rowOf({ name }: ManyFault, accounts: readonly Account[]): string {
  const sum = (what: Exclude<keyof Account, 'examples' | 'documents' | 'silentMs'>): number =>
    accounts.reduce((total, one) => total + one[what], 0);
  const sums = (['acknowledged', 'lost', 'other', 'doubled', 'revised', 'unasked', 'askedAgain', 'sentAgain', 'unsent'] as const).map(sum);
  const silentSeconds = Math.max(0, ...accounts.map(({ silentMs }) => silentMs)) / 1_000;
  return `| ${name} | ${accounts.length} | ${sums.join(' | ')} | ${silentSeconds.toFixed(1)} s |`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
