/** What reports name runs, examples and tasks by, without what the configuration redacts. Runs and verdicts have left it behind before. */
import type { Redaction } from '../../redaction/redaction.ts';
import type { DatasetExample, EvalOutcome, EvalResult } from './item.ts';

export function redactedNames(outcome: EvalOutcome, redaction: Redaction | undefined): EvalOutcome {
  if (redaction === undefined) return outcome;
  const { text } = redaction;
  const example = (one: DatasetExample | undefined): DatasetExample | undefined =>
    one === undefined ? undefined : { ...one, id: text(one.id), tags: one.tags.map(text) };
  const result = ({ item, ...rest }: EvalResult): EvalResult => ({
    ...rest,
    item: { ...item, label: text(item.label), example: example(item.example), task: item.task === undefined ? undefined : text(item.task) },
  });
  return { ...outcome, results: outcome.results.map(result), missing: outcome.missing.map(text) };
}
