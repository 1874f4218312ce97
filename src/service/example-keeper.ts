/** Keeps runs as examples of datasets, as the rules of the configuration say. */
import type { DatasetRule } from '../config/entries/dataset-rule.ts';
import { redactedExample } from '../datasets/redacted-example.ts';
import { exampleIdOf } from '../datasets/run-example.ts';
import { examplesOfRuns } from '../datasets/stored-runs.ts';
import type { RunKey } from '../model/agent-trace.ts';
import type { DatasetKey, DatasetOutcome, LeftOutReason } from '../model/store/dataset-store.ts';
import type { Store } from '../model/store/store.ts';
import type { Watermark } from '../model/watermark.ts';
import { mayBeRedacted } from '../redaction/settings.ts';
import type { RunWriter } from '../stores/run-writer.ts';
import type { ApiDeps } from '../web/api/route.ts';
import type { SettingsInForce } from './reloading.ts';
import { type RuleMatcher, ruleMatcher, type RuleOutcomes } from './rule-matcher.ts';
import type { RestingContext } from '../telemetry/context.ts';

export interface ExampleKeeperOptions extends RestingContext {
  readonly store: Store;
  /** True when this keeper handles the matches that other processes have left in the store. */
  readonly takesLeft: () => boolean;
  /** The rules in force. */
  readonly rules: () => readonly DatasetRule[];
  /** True when `redact` may have changed the text. */
  readonly mayBeRedacted: (text: string) => boolean;
  /** The store has the runs up to here. */
  readonly settled: () => Watermark;
  /** True when runs come faster than the store writes them, so examples wait. */
  readonly isBehind: () => boolean;
  /** Runs that wait. */
  readonly runsMax?: number;
}

type RuleOutcome = LeftOutReason | 'added' | 'changed' | 'unchanged' | 'no_example';

export function exampleKeeper(options: ExampleKeeperOptions): RuleMatcher {
  return ruleMatcher({
    ...options,
    kind: 'dataset',
    keep: (rule, runs) => keptOf(options, rule, runs),
    count: (rule, outcome, runs) =>
      options.telemetry.add('tracejury.datasets.runs', runs, { 'tracejury.dataset': rule, 'tracejury.outcome': outcome }),
  });
}

/** Applies `redact` to examples and notes that come over the API. */
export function exampleRedaction({
  config,
  redaction,
}: Pick<SettingsInForce, 'config' | 'redaction'>): Pick<ApiDeps, 'redacted' | 'redactedText' | 'mayBeRedacted'> {
  return {
    redacted: (example) => redactedExample(example, redaction()),
    redactedText: (text) => redaction()?.text(text) ?? text,
    mayBeRedacted: (text) => mayBeRedacted(config().redact)(text),
  };
}

/** The keeper of a service: by the rules in force, behind the writer of runs. */
export function examplesOfRules({
  settings,
  writer,
  ...deps
}: Pick<ExampleKeeperOptions, 'store' | 'takesLeft' | 'telemetry' | 'clock' | 'sleep' | 'rest' | 'onFault'> & {
  readonly settings: Pick<SettingsInForce, 'config'>;
  readonly writer: Pick<RunWriter, 'settled' | 'isBehind'>;
}): RuleMatcher {
  return exampleKeeper({
    ...deps,
    rules: () => settings.config().datasets,
    mayBeRedacted: (text) => mayBeRedacted(settings.config().redact)(text),
    settled: writer.settled,
    isBehind: writer.isBehind,
  });
}

/** The outcomes of runs of one tenant under one rule. */
async function keptOf(
  { store, mayBeRedacted, clock }: Pick<ExampleKeeperOptions, 'store' | 'mayBeRedacted' | 'clock'>,
  rule: DatasetRule,
  runs: readonly RunKey[],
): Promise<RuleOutcomes> {
  const outcomes = new Map<RuleOutcome, number>();
  const add = (outcome: RuleOutcome, count: number): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count);
  const key: DatasetKey = { tenant: runs[0]?.tenant ?? ('' as RunKey['tenant']), name: rule.name };
  const isFull = ((await store.datasets.dataset(key))?.examples ?? 0) >= rule.max;
  const kept: RunKey[] = [];
  for (const run of runs)
    // Reading a run with the turns before it costs more than this question.
    if (isFull && (await store.datasets.example(key, undefined, exampleIdOf(run))) === undefined) add('full', 1);
    else kept.push(run);
  if (kept.length === 0) return outcomes;
  const [at, by] = [Math.floor(clock.nowMs() * 1_000), `rule ${rule.name}`];
  const made = await examplesOfRuns(store, kept, { origin: { rule: rule.name, at }, tags: rule.tags, isRedacted: mayBeRedacted });
  add('no_example', made.leftOut.length);
  if (made.examples.length === 0) return outcomes;
  const change = { put: made.examples, by, at, replaces: 'drafts', isDistinct: true, examplesMax: rule.max } as const;
  for (const [outcome, number] of outcomesOf(await store.datasets.change(key, change), made.examples.length)) add(outcome, number);
  return outcomes;
}

function outcomesOf(outcome: DatasetOutcome, examples: number): readonly (readonly [RuleOutcome, number])[] {
  if (outcome.kind !== 'written') return [['full', examples]];
  const { added, changed, unchanged, leftOut } = outcome;
  return [['added', added], ['changed', changed], ['unchanged', unchanged], ...leftOut.map(({ reason }) => [reason, 1] as const)];
}
