/** What people say of a run, as one word: it passed, or it failed. */
import type { AnnotatedRun, StoredAnnotation } from '../model/store/annotation-store.ts';
import type { RunKey } from '../model/agent-trace.ts';
import { runTargetId } from '../model/verdict.ts';

/** From here on a score without a word is a pass. */
const passingScore = 0.5;

/** What the labels of an evaluator mean: those of its verdicts that always pass, or never. */
export type LabelMeanings = ReadonlyMap<string, boolean>;

export function labelMeanings(verdicts: Iterable<{ readonly word: string; readonly label: string }>): LabelMeanings {
  const meanings = new Map<string, boolean | undefined>();
  for (const { word, label } of verdicts) {
    if (word !== 'pass' && word !== 'fail') continue;
    const passed = word === 'pass';
    const key = label.toLowerCase();
    meanings.set(key, meanings.has(key) && meanings.get(key) !== passed ? undefined : passed);
  }
  return new Map([
    ['pass', true],
    ['fail', false],
    ...[...meanings].flatMap(([label, passed]) => (passed === undefined ? [] : [[label, passed] as const])),
  ]);
}

/** `passed` when it is stated, else what the label means, else whether the score reaches a half. `undefined` when the meaning of the label is unknown. */
export function passedOf(
  { passed, label, score }: Pick<StoredAnnotation, 'passed' | 'label' | 'score'>,
  meanings: LabelMeanings,
): boolean | undefined {
  if (passed !== undefined) return passed;
  const meant = label === undefined ? undefined : meanings.get(label.toLowerCase());
  return meant ?? (score === undefined ? undefined : score >= passingScore);
}

/** A run, or one of its tool calls. */
export interface LabelledRun {
  readonly key: string;
  /** Of most of those who say something; undefined: as many say the one as the other. */
  readonly passed: boolean | undefined;
  /** By annotator. */
  readonly words: ReadonlyMap<string, boolean>;
  readonly verdict: AnnotatedRun['verdict'];
}

/** Annotations of one name, gathered by what they are about. `unreadable`: annotations whose label means nothing here. */
export function labelledRuns(rows: readonly AnnotatedRun[]): { readonly runs: readonly LabelledRun[]; readonly unreadable: number } {
  const meanings = labelMeanings(rows.flatMap(({ verdict }) => verdict ?? []));
  let unreadable = 0;
  const runs = [...Map.groupBy(rows, targetText)].map(([key, own]): LabelledRun => {
    const words = new Map<string, boolean>();
    for (const { annotation } of own) {
      const passed = passedOf(annotation, meanings);
      if (passed === undefined) unreadable++;
      else words.set(annotation.by, passed);
    }
    const passes = [...words.values()].filter((passed) => passed).length;
    const fails = words.size - passes;
    return { key, passed: passes === fails ? undefined : passes > fails, words, verdict: own[0]?.verdict };
  });
  return { runs, unreadable };
}

/** Of two who name a call differently, by its span and by its id, both mean the call that the evaluator has found. */
function targetText(row: AnnotatedRun): string {
  const {
    annotation: { toolCall },
    part,
  } = row;
  return toolCall === undefined ? runKeyText(row) : `${runKeyText(row)} ${part ?? toolCall}`;
}

export function runKeyText(run: RunKey): string {
  return `${run.tenant}/${runTargetId(run)}`;
}
