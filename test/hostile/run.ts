/**
 * `npm run check -- hostile`: the corpus as a table, case × wanted × got, then fuzzing, then family × cases × as wanted × longest turn. `--only TEXT`
 * runs the cases whose name holds the text, `--cases N` and `--seed S` say how much is fuzzed and with which numbers, `--replay FILE` reads one
 * damaged body again. Beside each case stands the longest turn of the service's event loop, in milliseconds of the processor.
 */
import { turnMsMax } from './case.ts';
import { corpus } from './corpus.ts';
import { fuzz, replay } from './fuzz.ts';
import { outcomeOf, type Outcome } from './runner.ts';
import { openTarget } from './target.ts';
import { heavy, longestStepMs } from './turns.ts';
import { runnerArguments } from '../runner-arguments.ts';

const { values } = runnerArguments({
  options: {
    only: { type: 'string', default: '' },
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
  },
});

if (values.replay !== undefined) say(replay(values.replay));
else process.exitCode = await everything();

async function everything(): Promise<number> {
  const target = await openTarget();
  let passed = 0;
  let failed = 0;
  let number = 0;
  const families = new Map<string, Family>();
  for (const [door, cases] of Object.entries(corpus)) {
    for (const one of cases) {
      number++;
      if (!`${door} ${one.name}`.includes(values.only)) continue;
      const outcome = await outcomeOf(target, one, number);
      if (outcome.faults.length === 0) passed++;
      else failed++;
      families.set(door, withCase(families.get(door), outcome));
      tell(`${door}: ${one.name}`, outcome);
    }
  }
  if (values.only === '') {
    for (const one of heavy) {
      const { longestMs, steps } = longestStepMs(one);
      say(
        `read in ${String(steps).padStart(4)} steps, the longest of ${longestMs.toFixed(1).padStart(5)} ms of the processor: ${one.name}`,
      );
    }
    const { accepted, refused, faults, slowestMs } = await fuzz(target, { cases: Number(values.cases), seed: Number(values.seed) });
    say(
      `fuzzing: ${accepted} bodies read, ${refused} refused, ${faults.length} faults; the slowest took ${slowestMs.toFixed(1)} ms of the processor`,
    );
    for (const fault of faults) say(`    ${fault}`);
    if (faults.length === 0) passed++;
    else failed++;
  }
  await target.stop();
  tellFamilies(families);
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

interface Family {
  readonly cases: number;
  readonly asWanted: number;
  readonly longestMs: number;
  /** Cases with a turn beyond `turnMsMax`. */
  readonly long: number;
}

function withCase(
  { cases, asWanted, longestMs, long }: Family = { cases: 0, asWanted: 0, longestMs: 0, long: 0 },
  { faults, turnMs }: Outcome,
): Family {
  return {
    cases: cases + 1,
    asWanted: asWanted + (faults.length === 0 ? 1 : 0),
    longestMs: Math.max(longestMs, turnMs),
    long: long + (turnMs > turnMsMax ? 1 : 0),
  };
}

function tellFamilies(families: ReadonlyMap<string, Family>): void {
  say(`| family | cases | as wanted | longest turn, ms | longer than ${turnMsMax} ms |\n|---|---|---|---|---|`);
  for (const [name, { cases, asWanted, longestMs, long }] of families)
    say(`| ${name} | ${cases} | ${asWanted} | ${longestMs.toFixed(0)} | ${long} |`);
}

function tell(name: string, { wanted, got, faults, turnMs }: Outcome): void {
  say(
    `${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(76)} ${wanted.padEnd(58)} ${got.padEnd(58)} ${turnMs.toFixed(0).padStart(5)}`,
  );
  for (const fault of faults) say(`            ${fault}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
