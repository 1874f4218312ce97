/**
 * `npm run test:hostile`: the corpus as a table, case × wanted × got, then fuzzing. `-- --only TEXT` runs the cases whose name holds the
 * text, `--cases N` and `--seed S` say how much is fuzzed and with which numbers, `--replay FILE` reads one damaged body again.
 * Beside each case stands the longest turn of the event loop in milliseconds: of the service and of the client, which share a process.
 * It is told and not judged, for it depends on what else the machine does.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { corpus } from './corpus.ts';
import { fuzz, replay } from './fuzz.ts';
import { outcomeOf, type Outcome } from './runner.ts';
import { openTarget } from './target.ts';
import { heavy, longestStepMs } from './turns.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' }, replay: { type: 'string' } } });

if (values.replay !== undefined) say(replay(values.replay));
else process.exitCode = await everything();

async function everything(): Promise<number> {
  const target = await openTarget();
  let passed = 0;
  let failed = 0;
  let number = 0;
  for (const [door, cases] of Object.entries(corpus)) {
    for (const one of cases) {
      number++;
      if (!`${door} ${one.name}`.includes(values.only)) continue;
      const watch = monitorEventLoopDelay({ resolution: 1 });
      watch.enable();
      const outcome = await outcomeOf(target, one, number);
      watch.disable();
      if (outcome.faults.length === 0) passed++;
      else failed++;
      tell(`${door}: ${one.name}`, outcome, watch.max / 1e6);
    }
  }
  if (values.only === '') {
    for (const one of heavy) {
      const { longestMs, steps } = longestStepMs(one);
      say(`read in ${String(steps).padStart(4)} steps, the longest of ${longestMs.toFixed(1).padStart(5)} ms of the processor: ${one.name}`);
    }
    const { accepted, refused, faults, slowestMs } = await fuzz(target, { cases: Number(values.cases), seed: Number(values.seed) });
    say(`fuzzing: ${accepted} bodies read, ${refused} refused, ${faults.length} faults; the slowest took ${slowestMs.toFixed(1)} ms of the processor`);
    for (const fault of faults) say(`    ${fault}`);
    if (faults.length === 0) passed++;
    else failed++;
  }
  await target.stop();
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function tell(name: string, { wanted, got, faults }: Outcome, turnMs: number): void {
  say(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(76)} ${wanted.padEnd(58)} ${got.padEnd(58)} ${turnMs.toFixed(0).padStart(5)}`);
  for (const fault of faults) say(`            ${fault}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
