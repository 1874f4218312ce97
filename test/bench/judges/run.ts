/**
 * Judges under budgets and in trouble. `node test/bench/judges/run.ts COMMAND`; exit code 1 when a condition is missed.
 *
 *   budget    --runs N (10000)  --rate SHARE (0.05)  --seed N (1)     npm run check -- budget
 *   latency   --runs N (120)    --rounds N (7)  --per-second N (30)   npm run bench -- judges
 */
import { conditionsOf, factsOf } from './budget-conditions.ts';
import { budgetTrial } from './budget-trial.ts';
import { judgeLatency } from './latency.ts';
import { tell } from '../overload/conditions.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values, positionals } = runnerArguments({
  options: {
    runs: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    'per-second': { type: 'string', default: '30' },
    rate: { type: 'string', default: '0.05' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});

const commands: { readonly [name: string]: () => Promise<boolean> } = {
  async budget() {
    const runs = Number(values.runs ?? 10_000);
    const account = await budgetTrial({
      runs,
      rate: Number(values.rate),
      seed: Number(values.seed),
      onProgress: (line) => void process.stderr.write(`${line}\n`),
    });
    process.stdout.write(`${factsOf(account)}\n`);
    return tell(
      `${runs} runs, two evaluators at a rate of ${values.rate}, raised where a tool failed, a budget for half of it, two kills`,
      conditionsOf(account),
    );
  },
  async latency() {
    const rows = await judgeLatency({
      rounds: Number(values.rounds),
      runs: Number(values.runs ?? 120),
      runsPerSecond: Number(values['per-second']),
    });
    process.stdout.write(
      '| judge | runs | p50 ms | p99 ms | verdicts that did not come | requests refused | questions |\n|---|---|---|---|---|---|---|\n',
    );
    for (const { judge, runs, p50Ms, p99Ms, missing, refused, questions } of rows)
      process.stdout.write(`| ${judge} | ${runs} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${missing} | ${refused} | ${questions} |\n`);
    return rows.every(({ missing }) => missing === 0);
  },
};
const command = commands[positionals[0] ?? ''];
if (command === undefined) throw new Error(`give one of ${Object.keys(commands).join(', ')}`);
process.exitCode = (await command()) ? 0 : 1;
