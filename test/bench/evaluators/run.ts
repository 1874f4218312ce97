/**
 * `npm run bench -- evaluators`: CPU time of one evaluation, for every evaluator, on runs of 10, 100 and 1,000 tool calls; and beside two
 * other libraries on the same work, in the same process, by turns.
 *
 *   --passes N   (7)      --only NAME   evaluators whose id holds this      --no-peers   does not install or run the other libraries
 */
import type { ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Answer, EvaluationContext } from '../../../evaluators/evaluator.ts';
import type { AgentTrace } from '../../../src/model/agent-trace.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { comparisons } from './comparisons.ts';
import { entriesFor } from './entries.ts';
import { measure, warmedUp, type Piece, type Timing, type Work } from './measuring.ts';
import { openPeers } from './peers.ts';
import { comparisonTable, growthTable, type MeasuredComparison, type MeasuredEvaluator } from './report.ts';
import { pleasedAnswer } from './scripted-answers.ts';
import { measuredRun } from './traces.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({
  options: {
    passes: { type: 'string', default: '7' },
    only: { type: 'string', default: '' },
    'no-peers': { type: 'boolean', default: false },
  },
});
const timing: Timing = { batchMs: 30, warmUpMs: 150, passes: Number(values.passes) };
const sizes = [10, 100, 1_000] as const;

const context = evaluationContext();
const pieces: Piece[] = [];
const rows = await evaluatorRows();
const peers = values['no-peers'] ? ({ kind: 'missing', why: 'not asked for' } as const) : await openPeers();
const compared = peers.kind === 'missing' ? [] : await comparisonRows();
await measure(pieces, timing, (pass) => process.stderr.write(`pass ${pass} of ${timing.passes}\n`));

const { text, tooSteep } = growthTable(rows, sizes);
process.stdout.write(`${text}\n\n`);
process.stdout.write(
  peers.kind === 'missing' ? `The other libraries were not measured: ${peers.why}.\n\n` : `${comparisonTable(compared)}\n\n`,
);
process.stdout.write(`CPU time, medians of ${timing.passes} passes of about ${timing.batchMs} ms each. Node ${process.versions.node}.\n`);
process.exitCode = tooSteep ? 1 : 0;

async function evaluatorRows(): Promise<readonly MeasuredEvaluator[]> {
  const columns = sizes.map((calls) => {
    const { trace, expected } = measuredRun(calls);
    return { trace, entries: entriesFor(expected) };
  });
  const found: MeasuredEvaluator[] = [];
  for (const [at, { id }] of (columns[0]?.entries ?? []).entries()) {
    if (!id.includes(values.only)) continue;
    const cells: MeasuredEvaluator['cells'][number][] = [];
    for (const { trace, entries } of columns) {
      const entry = entries[at];
      cells.push(
        entry?.kind === 'ready' ? await cellOf(entry.evaluator, trace) : { kind: 'unscored', why: entry?.why ?? 'it is not there' },
      );
    }
    found.push({ id, judged: columns[0]?.entries[at]?.kind === 'ready' && columns[0].entries[at].evaluator.kind !== 'rule', cells });
  }
  return found;
}

async function cellOf(evaluator: ConfiguredEvaluator, trace: AgentTrace): Promise<MeasuredEvaluator['cells'][number]> {
  const { verdict, work } = evaluation(evaluator, trace, context);
  if (verdict.kind === 'skipped') return { kind: 'unscored', why: `skipped: ${verdict.reason}` };
  if (verdict.kind === 'failed') return { kind: 'unscored', why: `failed: ${verdict.error}` };
  return { kind: 'measured', piece: await piece(work) };
}

/** A judge is asked once beforehand; then its answers are at hand without delay. */
function evaluation(
  evaluator: ConfiguredEvaluator,
  trace: AgentTrace,
  with_: EvaluationContext,
): { readonly verdict: Verdict; readonly work: Work } {
  if (evaluator.kind === 'rule') {
    const run = (): Verdict => evaluator.evaluate(trace, {}, with_);
    return { verdict: run(), work: { kind: 'now', run } };
  }
  const answers: Answer[] = [];
  const run = (): Verdict => {
    const asking = evaluator.judge(trace, {}, with_);
    let step = asking.next();
    for (let at = 0; step.done !== true; at++) step = asking.next((answers[at] ??= pleasedAnswer(step.value)));
    return step.value;
  };
  return { verdict: run(), work: { kind: 'now', run } };
}

async function comparisonRows(): Promise<readonly MeasuredComparison[]> {
  const found: MeasuredComparison[] = [];
  if (peers.kind === 'missing') return found;
  for (const { what, ours, theirs, against } of await comparisons(peers, context))
    found.push({ what, against, ours: await piece(ours), theirs: await piece(theirs) });
  return found;
}

async function piece(work: Work): Promise<Piece> {
  const made = await warmedUp(work, timing);
  pieces.push(made);
  return made;
}
