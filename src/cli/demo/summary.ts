/** What came of the demonstration, in a few lines: verdicts, worst agents, one failed run explained, where to look next. */
import type { Run } from '../../model/agent-trace.ts';
import type { Evaluability } from '../inspect/evaluability.ts';
import { oneLine } from '../inspect/one-line.ts';
import { columns } from '../usage.ts';
import type { VerdictCount } from './counts.ts';

export interface FailedRun {
  readonly run: Run;
  readonly evaluability: readonly Evaluability[];
}

const agentsShown = 3;
const textMax = 150;
const plainLabels: readonly string[] = ['pass', 'fail', 'skipped', 'error'];

export function verdictLines(verdicts: readonly VerdictCount[]): readonly string[] {
  const evaluators = [...new Set(verdicts.map(({ evaluator }) => evaluator))];
  const labels = [
    ...plainLabels.slice(0, 3),
    ...new Set(verdicts.map(({ label }) => label).filter((label) => !plainLabels.slice(0, 3).includes(label))),
  ];
  const cell = (text: string): string => text.padStart(9);
  return [
    'Verdicts',
    ...columns([
      ['', labels.map((label) => cell(label === '' ? 'no label' : label)).join('')],
      ...evaluators.map(
        (evaluator) =>
          [
            evaluator,
            labels.map((label) => cell(String(sum(verdicts, (one) => one.evaluator === evaluator && one.label === label)))).join(''),
          ] as const,
      ),
    ]),
  ];
}

/** By the share of failed verdicts among those that passed or failed. */
export function worstAgentLines(verdicts: readonly VerdictCount[]): readonly string[] {
  const agents = [...new Set(verdicts.map(({ agent }) => agent))].map((agent) => {
    const failed = sum(verdicts, (one) => one.agent === agent && one.label === 'fail');
    return { agent, failed, judged: failed + sum(verdicts, (one) => one.agent === agent && one.label === 'pass') };
  });
  const worst = agents
    .filter(({ failed }) => failed > 0)
    .sort((a, b) => b.failed / b.judged - a.failed / a.judged || (a.agent < b.agent ? -1 : 1));
  if (worst.length === 0) return ['No agent failed.'];
  return [
    'Worst agents',
    ...columns(
      worst
        .slice(0, agentsShown)
        .map(
          ({ agent, failed, judged }) =>
            [
              oneLine(agent, textMax) || '(no name)',
              `${failed} of ${judged} verdicts failed (${Math.round((failed / judged) * 100)} %)`,
            ] as const,
        ),
    ),
  ];
}

export function failedRunLines({ run, evaluability }: FailedRun): readonly string[] {
  const rows = evaluability.flatMap(({ name, outcome }) =>
    outcome.kind === 'scored' && outcome.passed === false
      ? [[name, `${Number(outcome.score.toFixed(2))}  ${oneLine(outcome.explanation, textMax)}`] as const]
      : [],
  );
  return [
    'One failed run',
    ...columns([['agent', run.trace.agent ?? ''], ['trace', run.traceId], ['input', oneLine(run.trace.input ?? '', textMax)], ...rows]),
  ];
}

function sum(verdicts: readonly VerdictCount[], which: (one: VerdictCount) => boolean): number {
  return verdicts.reduce((total, one) => total + (which(one) ? one.count : 0), 0);
}
