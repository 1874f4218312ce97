/** What `eval` scores: one run with its place in the inputs and what a dataset says about it. */
import type { Path } from '../../config/fault.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { NamedVerdict } from '../../library/report.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluate.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { TextPlace } from './dataset-text.ts';

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
}

/** One line of a dataset. */
export interface DatasetExample {
  readonly id: string;
  readonly input: string | undefined;
  readonly expect: JsonObject | undefined;
  readonly tools: JsonValue | undefined;
  readonly tags: readonly string[];
  /** Where in its file a part of it stands. */
  readonly place: (path: Path) => TextPlace;
  /** Instead of the configured ones. */
  readonly plan: readonly PlannedEvaluator[] | undefined;
}

export interface MatchedItem extends EvalItem {
  readonly example: DatasetExample | undefined;
}

export interface EvalResult {
  readonly item: MatchedItem;
  readonly verdicts: readonly NamedVerdict[];
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
