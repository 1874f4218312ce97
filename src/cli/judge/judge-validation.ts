/** A labelled set against a judge: verdicts of the judge beside those of people, or two judges beside one another. */
import { agreementOf, type JudgeAgreement } from '../../analytics/judge-agreement.ts';
import { labelledRuns, type LabelledRun } from '../../analytics/human-labels.ts';
import type { AnnotatedRun } from '../../model/store/annotation-store.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { NotEstimable } from '../../statistics/estimate.ts';
import { compareJudges, type JudgeComparison } from '../../statistics/judge-comparison.ts';
import { verdictWord } from '../../stores/row-mapping.ts';
import type { EvalItem, EvalResult } from '../eval/item.ts';
import type { Label } from './labels.ts';

/** A judge evaluator that is checked. */
export interface Checked {
  readonly name: string;
  readonly evaluator: string;
  readonly version: number;
  readonly model: string | undefined;
}

export interface CheckResult {
  readonly name: string;
  /** Runs with a label. */
  readonly labelled: number;
  /** Runs with a label on which the judge gave no verdict that passes or fails. */
  readonly unanswered: number;
  /** Undefined: there is nothing to compare. */
  readonly agreement: JudgeAgreement | undefined;
  readonly rows: readonly AnnotatedRun[];
}

/** Labels of this run. One of a trace is about its outermost run. */
export function labelsOn({ run, exampleId }: EvalItem, labels: readonly Label[]): readonly Label[] {
  return labels.filter(({ id, traceId, spanId }) =>
    traceId === undefined
      ? id !== undefined && id === exampleId
      : traceId === run.traceId && (spanId === undefined ? run.parent === undefined : spanId === run.spanId),
  );
}

export function checkResult(checked: Checked, results: readonly EvalResult[], labels: ReadonlyMap<Run, readonly Label[]>): CheckResult {
  const rows = results.flatMap(({ item, verdicts }) => {
    const found = verdicts.find(({ name }) => name === checked.name);
    const own = (labels.get(item.run) ?? []).filter(({ name }) => name === undefined || name === checked.name);
    return own.map(({ by, passed, label, score }): AnnotatedRun => ({
      tenant: item.run.tenant,
      traceId: item.run.traceId,
      spanId: item.run.spanId,
      annotation: { name: checked.name, by, kind: 'human', label, score, passed, explanation: '', at: 0 },
      verdict:
        found === undefined
          ? undefined
          : {
              ...checked,
              kind: 'judge',
              word: verdictWord(found.verdict),
              label: found.verdict.kind === 'scored' ? found.verdict.label : '',
              sampleProbability: 1,
            },
    }));
  });
  const { runs } = labelledRuns(rows);
  const [agreement] = agreementOf(rows).judges;
  return {
    name: checked.name,
    labelled: runs.length,
    unanswered: runs.filter(({ verdict }) => verdict?.word !== 'pass' && verdict?.word !== 'fail').length,
    agreement,
    rows,
  };
}

/** `better`: the first, which is the one that is checked. Runs on which one of them gave no verdict are left out. */
export function comparison(checked: readonly AnnotatedRun[], against: readonly AnnotatedRun[]): JudgeComparison | NotEstimable {
  const others = new Map(labelledRuns(against).runs.map((run) => [run.key, run]));
  const items = labelledRuns(checked).runs.flatMap((run) => {
    const [own, other] = [isRight(run), isRight(others.get(run.key))];
    return own === undefined || other === undefined ? [] : [{ firstRight: other, secondRight: own }];
  });
  return compareJudges(items);
}

function isRight(run: LabelledRun | undefined): boolean | undefined {
  const word = run?.verdict?.word;
  return run?.passed === undefined || (word !== 'pass' && word !== 'fail') ? undefined : run.passed === (word === 'pass');
}
