/** An evaluator that asks a judge one question about a run: what it says of itself, the question, and how the answer becomes a verdict. */
import type { Outcome } from '../../src/model/verdict.ts';
import { judge, type Described } from '../configuration/define.ts';
import type { OptionsOf, OptionTable } from '../configuration/option-table.ts';
import type { Answer, EvaluationContext, JudgeEvaluator, Question, Subject } from '../evaluator.ts';
import { isEvidence, lacking, type Evidence } from './judge-evidence.ts';
import { labelledItems, type LabelOfItems } from './labelled-items.ts';
import { labelledRun, scoredRun, type LabelOfRun, type ScoreOfRun } from './labelled-run.ts';

/** A label for each of several items, a label for the run, or a score for the run. */
export type JudgeQuestion = LabelOfItems | LabelOfRun | ScoreOfRun;

interface Questions<Options> {
  /** The evidence without which the judge is not called; what the evaluator needs when left out. */
  readonly evidence?: readonly Evidence[];
  /** The question about a run, or the outcome when the judge is not called. */
  question(subject: Subject, options: Options, context: EvaluationContext): JudgeQuestion | Outcome;
}

export function questionJudge<Table extends OptionTable = {}>({
  evidence,
  question,
  ...described
}: Described<Table> & Questions<OptionsOf<Table>>): JudgeEvaluator<OptionsOf<Table>> {
  const wanted = evidence ?? described.needs.filter(isEvidence);
  // Without the two members the rest is what the evaluator says of itself.
  return judge<Table>({
    ...(described as unknown as Described<Table>),
    *evaluate(subject, options, context) {
      return lacking(subject.trace, context, wanted) ?? (yield* outcomeOf(question(subject, options, context)));
    },
  });
}

function* outcomeOf(asked: JudgeQuestion | Outcome): Generator<Question, Outcome, Answer> {
  if ('kind' in asked) return asked;
  if ('items' in asked) return yield* labelledItems(asked);
  return yield* 'labels' in asked ? labelledRun(asked) : scoredRun(asked);
}
