/** One run that `eval` scores, with its place in the inputs and its example of the dataset. */
import type { ExpectedPart } from '../../../evaluators/evaluator.ts';
import type { ConfigFault, Path } from '../../config/diagnostic.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { NamedVerdict } from '../../library/report.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { Redaction } from '../../redaction/redaction.ts';

/** A key in a file. */
type KeyPlace = Omit<ConfigFault, 'problem' | 'todo'>;

export interface EvalItem {
  readonly run: Run;
  /** As reports name it. */
  readonly label: string;
  /** The id of an example that the run itself names. */
  readonly exampleId: string | undefined;
  /** What the run names as its task. */
  readonly task: string | undefined;
  /** Out of agent traces or messages, whose order is that of the file; spans have none. */
  readonly ordered: boolean;
  /** Where a part of what the run expects of itself stands in its file; absent: it comes with a span. */
  readonly origin?: (path: Path, at: 'key' | 'value') => KeyPlace;
}

/** One line of a dataset. */
export interface DatasetExample {
  readonly id: string;
  readonly input: string | undefined;
  readonly expect: JsonObject | undefined;
  readonly tools: JsonValue | undefined;
  readonly tags: readonly string[];
  /** Where a part of what it expects stands. */
  readonly placeOf: (part: ExpectedPart) => KeyPlace;
  /** Instead of the configured ones. */
  readonly plan: readonly PlannedEvaluator[] | undefined;
}

export interface MatchedItem extends EvalItem {
  readonly example: DatasetExample | undefined;
  /** The evaluators of this run; absent: those of its example, else of the configuration. */
  readonly plan?: readonly PlannedEvaluator[];
}

export interface EvalResult {
  readonly item: MatchedItem;
  readonly verdicts: readonly NamedVerdict[];
  /** How long each verdict took by the name of its evaluator, in milliseconds; absent: it was not measured. */
  readonly tookMs?: ReadonlyMap<string, number>;
  /** Id of the session whose turn the run is; absent where it is redacted, because sessions cannot be distinguished then. */
  readonly session?: string | undefined;
}

export interface EvalOutcome {
  /** In the order of the items. */
  readonly results: readonly EvalResult[];
  /** Runs that were read. */
  readonly runs: number;
  /** Runs left out by --sample. */
  readonly sampledOut: number;
  /** Runs that were not begun after the first failure. */
  readonly notBegun: number;
  /** Examples that no run belongs to. */
  readonly missing: readonly string[];
}

// What reports name runs, examples and tasks by, without what the configuration redacts. Runs and verdicts have left it behind before.

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
