/** A line of the terminal for each scored run: its outcome, its agent, what failed and why. At most a few a second; the others are counted. */
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Clock, Sleep } from '../../model/clock.ts';
import type { Evaluation } from '../../model/verdict.ts';
import { oneLine } from '../inspect/one-line.ts';

export interface RunLines {
  /** Never throws. Runs that turned out to be a part of another one have no line. */
  scored(item: ScoredRun): void;
}

export interface RunLinesOptions {
  readonly colours: boolean;
  readonly say: (line: string) => void;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

/** Lines of one second; a person reads no more. */
export const linesPerSecond = 5;
const windowMs = 1_000;
const agentChars = 40;
const reasonChars = 160;
const failuresShown = 3;

type Outcome = 'failed' | 'error' | 'scored' | 'unscored';

const marks: { readonly [outcome in Outcome]: { readonly sign: string; readonly colour: number } } = {
  failed: { sign: '✗', colour: 31 },
  error: { sign: '⚠', colour: 33 },
  scored: { sign: '✓', colour: 32 },
  unscored: { sign: '·', colour: 90 },
};

export function runLines({ colours, say, clock, sleep }: RunLinesOptions): RunLines {
  let [windowFromMs, written, left, leftFailed] = [Number.NEGATIVE_INFINITY, 0, 0, 0];

  function summarise(): void {
    if (left > 0) say(`${timeOf(clock.nowMs())} RUN   … ${left} more ${left === 1 ? 'run' : 'runs'}, ${leftFailed} failed`);
    [left, leftFailed] = [0, 0];
  }

  return {
    scored(item) {
      if (item.run.partOf !== undefined) return;
      const now = clock.nowMs();
      if (now - windowFromMs >= windowMs) {
        summarise();
        [windowFromMs, written] = [now, 0];
      }
      const outcome = outcomeOf(item.evaluations);
      if (written < linesPerSecond) {
        written++;
        say(lineOf(item, outcome, { now, colours }));
        return;
      }
      if (left === 0) void sleep(windowFromMs + windowMs - now).then(summarise);
      left++;
      if (outcome === 'failed') leftFailed++;
    },
  };
}

function lineOf(
  { run, evaluations }: ScoredRun,
  outcome: Outcome,
  { now, colours }: { readonly now: number; readonly colours: boolean },
): string {
  const { sign, colour } = marks[outcome];
  const agent = oneLine(run.trace.agent ?? run.service ?? 'agent without a name', agentChars);
  const state = [...(run.completeness === 'complete' ? [] : [run.completeness]), ...(run.revision > 1 ? [`revision ${run.revision}`] : [])];
  return [
    `${timeOf(now)} RUN   ${colours ? `\u001b[${colour}m${sign}\u001b[0m` : sign} ${agent}`,
    ...verdictTexts(evaluations),
    ...(state.length === 0 ? [] : [`(${state.join(', ')})`]),
    `trace=${run.traceId}`,
  ].join('  ');
}

function outcomeOf(evaluations: readonly Evaluation[]): Outcome {
  if (evaluations.some(hasFailed)) return 'failed';
  if (evaluations.some(({ verdict }) => verdict.kind === 'failed')) return 'error';
  return evaluations.some(({ verdict }) => verdict.kind === 'scored') ? 'scored' : 'unscored';
}

function hasFailed({ verdict }: Evaluation): boolean {
  return verdict.kind === 'scored' && verdict.passed === false;
}

/** What failed comes first, each with its sentence. */
function verdictTexts(evaluations: readonly Evaluation[]): readonly string[] {
  const bad = [...evaluations.filter(hasFailed), ...evaluations.filter(({ verdict }) => verdict.kind === 'failed')];
  if (bad.length > 0)
    return [
      ...bad.slice(0, failuresShown).map(({ key, verdict }) => oneLine(`${key.name}: ${verdict.explanation}`, reasonChars)),
      ...(bad.length > failuresShown ? [`and ${bad.length - failuresShown} more`] : []),
    ];
  const scored = evaluations.filter(({ verdict }) => verdict.kind === 'scored');
  const passed = scored.filter(({ verdict }) => verdict.kind === 'scored' && verdict.passed === true).length;
  const measured = scored.length - passed;
  const counts = [...(passed === 0 ? [] : [`${passed} passed`]), ...(measured === 0 ? [] : [`${measured} measured`])];
  return [counts.length === 0 ? 'nothing scored' : counts.join(', ')];
}

function timeOf(ms: number): string {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
