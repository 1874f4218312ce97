/** Examples of two experiments beside each other: those that flipped, or all that both have. */
import type { Schemas } from '../../api/client.ts';
import type { EvaluatorComparison, Measure } from './experiment-text.ts';

type Result = Schemas['ExperimentResult'];

export interface PairSide {
  /** A verdict, a share of passed runs, or a score. */
  readonly word: string;
  readonly kind: 'pass' | 'fail' | 'raw' | 'error' | 'skipped';
  readonly explanation: string;
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly seconds: number | null;
}

export type Direction = 'worse' | 'better' | 'same';

export interface PairRow {
  readonly key: string;
  readonly exampleId: string;
  readonly input: string | null;
  /** `undefined`: the status of the whole run. */
  readonly evaluator: string | undefined;
  readonly direction: Direction;
  readonly a: PairSide;
  readonly b: PairSide;
}

/** Rows of the evaluators of this name, or of all; what became worse comes first. */
export function flippedRows(evaluators: readonly EvaluatorComparison[], name?: string): readonly PairRow[] {
  const rows = evaluators
    .filter((one) => name === undefined || one.name === name)
    .flatMap(({ name: evaluator, measure, flipped }) =>
      flipped.map(({ example_id: exampleId, input, a, b }): PairRow => ({
        key: `${evaluator}/${exampleId}`,
        exampleId,
        input,
        evaluator,
        direction: directionOf(a.value, b.value),
        a: flipSide(a, measure),
        b: flipSide(b, measure),
      })),
    );
  return worseFirst(rows);
}

type FlipSide = EvaluatorComparison['flipped'][number]['a'];

function flipSide(side: FlipSide, measure: Measure): PairSide {
  const { value, runs, explanation, trace_id: traceId, span_id: spanId, cost_usd: cost, tokens, duration_seconds: seconds } = side;
  const word =
    measure === 'mean'
      ? value.toFixed(3)
      : runs === 1
        ? value === 1
          ? 'passed'
          : 'failed'
        : `${Math.round(value * runs)} of ${runs} passed`;
  const kind = measure === 'mean' ? 'raw' : value === 1 ? 'pass' : 'fail';
  return { word, kind, explanation, traceId, spanId, cost, tokens, seconds };
}

function directionOf(a: number, b: number): Direction {
  return b < a ? 'worse' : b > a ? 'better' : 'same';
}

const directions: readonly Direction[] = ['worse', 'better', 'same'];

function worseFirst(rows: readonly PairRow[]): readonly PairRow[] {
  return rows.toSorted((one, other) => directions.indexOf(one.direction) - directions.indexOf(other.direction));
}

/** All examples that both have: by the verdict of one evaluator, or by the status of the run. The worst of several runs counts. */
export function sharedRows(first: readonly Result[], second: readonly Result[], evaluator?: string): readonly PairRow[] {
  const others = Map.groupBy(second, ({ example_id: id }) => id);
  const rows = [...Map.groupBy(first, ({ example_id: id }) => id)].flatMap(([exampleId, own]): readonly PairRow[] => {
    const [a, b] = [worstSide(own, evaluator), worstSide(others.get(exampleId) ?? [], evaluator)];
    if (a === undefined || b === undefined) return [];
    return [
      {
        key: exampleId,
        exampleId,
        input: own[0]?.input ?? null,
        evaluator,
        direction: directionOf(ranks[a.kind], ranks[b.kind]),
        a,
        b,
      },
    ];
  });
  return worseFirst(rows);
}

/** A score without a threshold, a skip and an error rank equally. */
const ranks: { readonly [kind in PairSide['kind']]: number } = { fail: 0, error: 1, skipped: 1, raw: 1, pass: 2 };

function worstSide(results: readonly Result[], evaluator: string | undefined): PairSide | undefined {
  const sides = results.flatMap((result) => sideOf(result, evaluator) ?? []);
  return sides.reduce<PairSide | undefined>(
    (worst, side) => (worst === undefined || ranks[side.kind] < ranks[worst.kind] ? side : worst),
    undefined,
  );
}

const statusKinds: { readonly [status in Result['status']]: PairSide['kind'] } = {
  passed: 'pass',
  failed: 'fail',
  error: 'error',
  skipped: 'skipped',
};

function sideOf(result: Result, evaluator: string | undefined): PairSide | undefined {
  const { trace_id: traceId, span_id: spanId, cost_usd: cost, input_tokens: read, output_tokens: written, duration_us: took } = result;
  const shared = {
    traceId,
    spanId,
    cost,
    tokens: read === null && written === null ? null : (read ?? 0) + (written ?? 0),
    seconds: took === null ? null : took / 1_000_000,
  };
  if (evaluator === undefined) return { word: result.status, kind: statusKinds[result.status], explanation: whyText(result), ...shared };
  if (evaluator === 'completed')
    return {
      word: result.error === null ? 'completed' : result.error.kind.replaceAll('_', ' '),
      kind: result.error === null ? 'pass' : 'fail',
      explanation: result.error?.message ?? 'The run came to its end.',
      ...shared,
    };
  const verdict = result.verdicts.find(({ name }) => name === evaluator);
  if (verdict === undefined) return undefined;
  const { verdict: kind, score, explanation, reason } = verdict;
  return {
    word: kind === 'raw' && score !== null ? score.toFixed(3) : kind,
    kind,
    explanation: explanation === '' ? (reason ?? '') : explanation,
    ...shared,
  };
}

/** Why a run has its status: the error, or what failed. */
export function whyText({ error, verdicts, status }: Pick<Result, 'error' | 'verdicts' | 'status'>): string {
  const wanted = status === 'error' ? 'error' : 'fail';
  return [
    ...(error === null ? [] : [`${error.kind.replaceAll('_', ' ')}: ${error.message}`]),
    ...verdicts
      .filter(({ verdict }) => verdict === wanted)
      .map(({ name, explanation, reason }) => `${name}: ${explanation === '' ? (reason ?? '') : explanation}`),
  ].join(' · ');
}
