/**
 * A backend that is dead for ten minutes, and a service that is killed three times meanwhile and afterwards. `npm run check -- backend`; exit code 1 when a condition is missed.
 *
 *   --runs N (5000)  --dead SECONDS (600)
 */
import { atLeast, tell, type Condition } from '../overload/conditions.ts';
import { deadBackend } from './dead-backend.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({ options: { runs: { type: 'string', default: '5000' }, dead: { type: 'string', default: '600' } } });
const runs = Number(values.runs);
const account = await deadBackend({
  runs,
  deadMs: Number(values.dead) * 1_000,
  onProgress: (line) => void process.stderr.write(`${line}\n`),
});
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
process.stdout.write(
  `When the backend came back after ${seconds(account.deadMs)}, the oldest score had waited for ${seconds(account.lagMs)}; the process had ${Math.round(account.residentBytes / 2 ** 20)} MiB. `,
);
process.stdout.write(`${seconds(account.caughtUpMs)} later nothing waited, a kill and a start among them.\n`);

const none = (what: string, measured: number): Condition => ({ what, wanted: '0', measured: String(measured), holds: measured === 0 });
const holds = tell(`${account.runs} runs, a backend that was dead for ${seconds(account.deadMs)}, ${account.kills} kills`, [
  atLeast('runs acknowledged', runs, account.runs, 'runs'),
  none('runs without a score at the backend', account.missing),
  none('runs with their score under two ids', account.doubled),
  none('scores of runs that were never sent', account.strange),
  none('dead letters', account.deadLetters),
  none('lag at the end, in seconds', account.lagAtEndMs / 1_000),
]);
process.exitCode = holds ? 0 : 1;
