/** Runs, their verdicts, decisions and annotations as resources of the API. */
import { runStatuses } from '../../model/agent-trace.ts';
import { isJsonArray, type JsonObject, member } from '../../model/json.ts';
import { judgeTrace } from '../../model/judge-call.ts';
import {
  count,
  flag,
  inline,
  inSeconds,
  integer,
  joined,
  many,
  number,
  numberOrNull,
  object,
  optional,
  orNull,
  part,
  resource,
  resourceOf,
  share,
  text,
  textOrNull,
  time,
  timeOf,
} from '../../model/resource.ts';
import { annotatorKinds, type IdentifiedAnnotation } from '../../model/store/annotation-store.ts';
import {
  type ContentGone,
  contentGoneWords,
  type RevisionChange,
  revisionChangeKinds,
  rowLabelsMax,
  type RunLabel,
  type RunRevision,
  type RunRow,
  type StoredDecision,
  type StoredRun,
  type StoredVerdict,
} from '../../model/store/store.ts';
import { runTargetId, type VerdictWord } from '../../model/verdict.ts';
import { lackOf, lackTexts, missingDataOf, placesOf } from '../../pipeline/reporting/missing-data.ts';
import { contentWithCalls, detailsWithParts } from './run-lists.ts';
import { runContentMembers } from './run-schema.ts';

const goneSentences: { readonly [reason in ContentGone]: string } = {
  switched_off: 'The configuration keeps no content (store.content is none).',
  sampled_out: 'Nothing failed in this run, and it is not in the sample (store.content, store.content_sample, store.content_per_minute).',
  overload: 'The service was overloaded when it scored the run, and stored no content (tracejury_stress_shed_total).',
  too_large: 'The content exceeds the size limit of a run.',
  expired: 'The content was older than store.keep.content.',
  unknown: 'An earlier release deleted the content.',
};

export interface Gone {
  readonly reason: string;
  readonly explanation: string;
}

export const gone = resource<Gone>()('Gone', { reason: { enum: [...contentGoneWords, 'not_stored'] }, explanation: text });

function contentGone({ contentGone: reason }: StoredRun): Gone | undefined {
  return reason === undefined ? undefined : { reason, explanation: goneSentences[reason] };
}

/** Why the store has no spans of the trace. */
export function spansGone(run: StoredRun): Gone {
  return (
    contentGone(run) ?? {
      reason: 'not_stored',
      explanation:
        'The service stores spans when all runs of the trace have closed. It leaves out traces that are too large, or that came while the store could not keep up.',
    }
  );
}

/** Null: there is no threshold, or no score. */
export function hasPassed(verdict: VerdictWord | undefined): boolean | null {
  return verdict === 'pass' ? true : verdict === 'fail' ? false : null;
}

function statusOf({ verdict }: StoredVerdict): 'scored' | 'skipped' | 'failed' {
  return verdict === 'skipped' ? 'skipped' : verdict === 'error' ? 'failed' : 'scored';
}

const shortVerdict = part<StoredVerdict>()({
  name: text,
  evaluator: text,
  version: count,
  revision: count,
  status: [{ enum: ['scored', 'skipped', 'failed'] }, statusOf],
  score: orNull(share),
  label: text,
  passed: [orNull(flag, 'Null: there is no threshold, or no score.'), ({ verdict }) => hasPassed(verdict)],
  reason: textOrNull('Why the evaluator skipped the run, or its error.'),
});

/** `listMax`: entries of long lists. */
interface OneRun {
  readonly run: StoredRun;
  readonly listMax: number | undefined;
}

const longVerdict = part<StoredVerdict & OneRun>()({
  explanation: { ...text, description: 'Of one run only.' },
  evidence: many(text, 'Span ids. Of one run only.'),
  details: [{ type: 'object', description: 'Of one run only.' }, ({ details, listMax }) => detailsWithParts(details, listMax)],
  sample_probability: { ...number, description: 'Of one run only.' },
  threshold: numberOrNull('From which score on the run passes; null: there is none, or it is not known. Of one run only.'),
  judge_trace: [
    optional(
      object({ trace_id: text, span_id: text }),
      'The trace of the judge calls in a backend, and its first span (`judge_calls` of the exporter). Null: no judge was asked. Of one run only.',
    ),
    judgeTraceJson,
  ],
});

export const verdict = resourceOf('Verdict', shortVerdict, longVerdict.properties);

const decisionKey = part<StoredDecision>()({ trace_id: text, span_id: text, tenant: text });
const shortDecision = part<StoredDecision>()({
  name: text,
  evaluator: text,
  revision: count,
  decision: { enum: ['scored', 'skipped', 'filtered', 'sampled_out', 'over_budget', 'overload', 'failed'] },
  reason: textOrNull(),
});
const decisionOfRun = part<StoredDecision & OneRun>()({
  missing: [
    optional(
      object({
        need: text,
        name: { ...text, description: 'The missing data in words.' },
        todo: textOrNull('The setting of the SDK or of the configuration that brings it; null: none is known.'),
        places: many(text, 'Attributes, events and log records that would carry it.'),
      }),
      'What the evaluator lacks; null: the run has nothing to evaluate, or was not skipped. Of one run only.',
    ),
    missingJson,
  ],
});

export const decision = resourceOf('Decision', shortDecision, { ...decisionKey.properties, ...decisionOfRun.properties });
export const decisionJson = joined(decisionKey, shortDecision).write;

export const annotation = resource<IdentifiedAnnotation>()('Annotation', {
  id: text,
  tool_call: textOrNull('The tool call that it is about; null: the whole run.'),
  name: text,
  by: text,
  kind: { enum: annotatorKinds },
  label: textOrNull(),
  score: orNull(share),
  passed: orNull(flag),
  explanation: text,
  at: time,
  probability: numberOrNull('With which the random order of a queue came to the run, of the judged ones; null: it was chosen.'),
});

const rowMembers = part<RunRow>()({
  trace_id: text,
  span_id: text,
  tenant: text,
  agent: textOrNull(),
  service: textOrNull(),
  version: textOrNull(),
  session_id: textOrNull(),
  model: textOrNull(),
  started_at: time,
  ended_at: time,
  completeness: { enum: ['complete', 'partial', 'abandoned', 'evicted'] },
  status: {
    enum: runStatuses,
    description: '`error`: the run ended in one. `paused`: it waits for a person or another program.',
  },
  revision: count,
  duration_seconds: [inSeconds({ ...number, minimum: 0 }), ({ startedAt, endedAt }) => Math.max(0, endedAt - startedAt)],
  input_tokens: orNull(integer, 'Of all model calls; null: unknown.'),
  output_tokens: orNull(integer, 'Of all model calls; null: unknown.'),
  cost_usd: numberOrNull('Of all model calls; null: the cost of one of them is unknown.'),
  input_excerpt: [
    textOrNull('The first characters of the input on one line; null: the store has no texts of the run.'),
    ({ excerpt }) => excerpt,
  ],
  labels: many(inline<RunLabel>()({ name: text, label: text }), `Labels of annotations, newest first, at most ${rowLabelsMax}.`),
});
const rowVerdicts = part<RunRow>()({ verdicts: [many(verdict), ({ verdicts }) => verdicts] });
const runRow = joined(rowMembers, rowVerdicts);

const change = inline<RevisionChange>()({
  of: { enum: revisionChangeKinds },
  name: textOrNull('Of the tool or the evaluator.'),
  before: [{ type: ['string', 'number', 'null'] }, ({ of, before }) => changedValue(of, before)],
  after: [{ type: ['string', 'number', 'null'] }, ({ of, after }) => changedValue(of, after)],
});

function changedValue(of: RevisionChange['of'], value: RevisionChange['after']): string | number | null {
  return of === 'ended_at' && typeof value === 'number' ? timeOf(value) : value;
}

const oneRun = part<OneRun>()({
  content_kept: [
    {
      ...flag,
      description: 'False: the store has no texts, arguments and results, and their fields are absent. Of one run only.',
    },
    ({ run }) => run.content !== undefined,
  ],
  content_gone: [optional(gone, 'Why the store has no content. Of one run only.'), ({ run }) => contentGone(run)],
  spans_kept: [{ ...count, description: 'Stored spans of its trace. Of one run only.' }, ({ run }) => run.spans],
  spans_gone: [optional(gone, 'Why the store has no spans. Of one run only.'), ({ run }) => (run.spans > 0 ? undefined : spansGone(run))],
  part_of: [textOrNull('The run, as trace/span, that this one is a part of. Of one run only.'), ({ run }) => run.partOf],
  verdicts: [
    many(verdict.schema),
    ({ run, listMax }) => run.verdicts.map((one) => ({ ...shortVerdict.write(one), ...longVerdict.write({ ...one, run, listMax }) })),
  ],
  decisions: [
    many(decision.schema, 'Of one run only.'),
    ({ run, listMax }) => run.decisions.map((one) => ({ ...shortDecision.write(one), ...decisionOfRun.write({ ...one, run, listMax }) })),
  ],
  task: [textOrNull('By `groups.task_key`. Of one run only.'), ({ run }) => run.task],
  revisions: [
    many(
      inline<RunRevision>()({ revision: count, changes: many(change) }),
      'What revisions after the first changed, oldest first. Of one run only.',
    ),
    ({ run }) => run.revisions ?? [],
  ],
  annotations: [many(annotation, 'Verdicts of people and other programs. Of one run only.'), ({ run }) => run.annotations],
});

const { verdicts: _verdicts, part_of: partOf, decisions, task, revisions, annotations, ...kept } = oneRun.properties;
export const run = resourceOf('Run', runRow, { ...runContentMembers, ...kept, revisions, task, part_of: partOf, decisions, annotations });
export const runRowJson = run.write;

/** A run without content has the reason instead: an empty field would look like an empty answer. `listMax`: entries of its long lists. */
export function runJson(given: StoredRun, listMax?: number): JsonObject {
  return { ...contentWithCalls(given, listMax), ...rowMembers.write(given), ...oneRun.write({ run: given, listMax }) };
}

/** What the spans of the run lack for an evaluator that skipped it, where they could carry it, and the switch that brings it. */
function missingJson({ decision: of, reason, run: { content = {} } }: StoredDecision & OneRun): JsonObject | null {
  const lack = of === 'skipped' ? lackOf(reason ?? '') : undefined;
  if (lack === undefined) return null;
  const read = member(content, 'dialects') ?? null;
  const dialects = isJsonArray(read) ? read.map(String) : [];
  return { need: lack, name: lackTexts[lack], todo: missingDataOf(lack, dialects) ?? null, places: [...placesOf(lack, dialects)] };
}

/** The trace to which exporters send the judge calls of a verdict. */
function judgeTraceJson({
  run: { tenant, traceId, spanId, sessionId },
  name,
  revision,
  details,
}: StoredVerdict & OneRun): JsonObject | null {
  if (details['judge_requests'] === undefined) return null;
  const session = details['session'] === undefined ? undefined : sessionId;
  const target =
    session === undefined
      ? ({ targetKind: 'run', targetId: runTargetId({ tenant, traceId, spanId }) } as const)
      : ({ targetKind: 'session', targetId: session } as const);
  const trace = judgeTrace({ tenant, ...target, name }, revision);
  return { trace_id: trace.traceId, span_id: trace.spanId };
}
