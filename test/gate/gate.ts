/** Runs suites side by side as far as their loads allow, prints each in one piece, and counts all of them. */
import { startSuite, type Outcome, type RunningSuite, type Suite } from './suite.ts';

export interface GateOptions {
  readonly minutesMax: number;
  readonly say: (line: string) => void;
}

export interface Gate {
  /** True when everything passed. */
  readonly outcome: Promise<boolean>;
  /** Kills the running suites and starts nothing more. A suite that has not passed by then has failed. */
  stop(reason: string): void;
}

/** Suites that wait, beside each other and beside one that works. */
const waitingMax = 3;

/** Ends with a table by suite and the line `N passed, M failed`. No other line looks like that one. */
export function startGate(suites: readonly Suite[], { minutesMax, say }: GateOptions): Gate {
  const running = new Map<Suite, { readonly suite: RunningSuite; readonly end: Promise<void> }>();
  const outcomes = new Map<Suite, Outcome>();
  let stopped: string | undefined;

  function stop(reason: string): void {
    stopped ??= reason;
    for (const { suite } of running.values()) suite.stop(reason);
  }

  function start(suite: Suite): void {
    say(`-- ${suite.name} starts`);
    const started = startSuite(suite);
    running.set(suite, {
      suite: started,
      end: started.outcome.then((outcome) => {
        running.delete(suite);
        tell(suite, outcome);
      }),
    });
  }

  function tell(suite: Suite, outcome: Outcome): void {
    outcomes.set(suite, outcome);
    const { passed, failed, seconds, fault, output } = outcome;
    say(`== ${suite.name}`);
    if (output !== '') say(output);
    if (fault !== undefined) say(`FAILED  ${suite.name}: ${fault}`);
    say(`== ${suite.name}: ${failed === 0 ? 'ok' : 'FAILED'}, ${passed} passed, ${failed} failed, ${seconds.toFixed(0)} s`);
  }

  /** Why a suite is not started at all. */
  function obstacle({ needs = [] }: Suite): string | undefined {
    const failed = [...outcomes].find(([{ name }, outcome]) => needs.includes(name) && outcome.failed > 0);
    return stopped ?? (failed === undefined ? undefined : `it needs ${failed[0].name}`);
  }

  function mayStart({ load, needs = [] }: Suite, open: readonly Suite[]): boolean {
    const passed = new Set([...outcomes.keys()].map(({ name }) => name));
    const beside = [...running.keys()].map((suite) => suite.load);
    if (!needs.every((name) => passed.has(name)) || beside.includes('alone')) return false;
    if (load === 'alone') return beside.length === 0 && open.every((suite) => suite.load === 'alone');
    return beside.filter((other) => other === load).length < (load === 'works' ? 1 : waitingMax);
  }

  async function all(): Promise<boolean> {
    const timer = setTimeout(() => stop(`the gate takes longer than ${minutesMax} minutes`), minutesMax * 60_000);
    const open = new Set(suites);
    while (open.size > 0 || running.size > 0) {
      for (const suite of open) {
        const fault = obstacle(suite);
        if (fault === undefined) continue;
        open.delete(suite);
        tell(suite, notStarted(fault));
      }
      const next = [...open].find((suite) => mayStart(suite, [...open]));
      if (next !== undefined) {
        open.delete(next);
        start(next);
      } else if (running.size > 0) await Promise.race([...running.values()].map(({ end }) => end));
      else if (open.size > 0) stop('it needs a suite that does not exist');
    }
    clearTimeout(timer);
    const [passed, failed] = (['passed', 'failed'] as const).map((word) => sum([...outcomes.values()].map((outcome) => outcome[word])));
    for (const line of table(suites.map((suite) => [suite.name, outcomes.get(suite) ?? notStarted('')]))) say(line);
    say(`${passed} passed, ${failed} failed`);
    return failed === 0 && passed !== 0;
  }

  return { outcome: all(), stop };
}

function notStarted(fault: string): Outcome {
  return { passed: 0, failed: 1, seconds: 0, fault, output: '' };
}

function table(rows: readonly (readonly [name: string, outcome: Outcome])[]): readonly string[] {
  const width = Math.max(5, ...rows.map(([name]) => name.length));
  const row = (name: string, cells: readonly string[]): string => `${name.padEnd(width)}${cells.map((cell) => cell.padStart(9)).join('')}`;
  return [
    row('suite', ['seconds', 'passed', 'failed']),
    ...rows.map(([name, { seconds, passed, failed }]) => row(name, [seconds.toFixed(0), String(passed), String(failed)])),
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
