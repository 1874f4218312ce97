/** Runs, their verdicts, decisions and annotations as resources of the API. */
import { type FailedStep, type FirstFailure, firstFailure, laterFailuresMax } from '../../analytics/first-failure.ts';
import { issueTitle } from '../../analytics/issue-figures.ts';
import { runStatuses } from '../../model/agent-trace.ts';
import { isJsonArray, type JsonObject, member } from '../../model/json.ts';
import { judgeTrace } from '../../model/judge-call.ts';
import * as api from '../../model/resource.ts';
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
import { type Issue, issueStates } from '../../model/store/issue-store.ts';
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

export const gone = api.resource<Gone>()('Gone', { reason: { enum: [...contentGoneWords, 'not_stored'] }, explanation: api.text });

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

/** Null when there is no threshold, or no score. */
export function hasPassed(verdict: VerdictWord | undefined): boolean | null {
  return verdict === 'pass' ? true : verdict === 'fail' ? false : null;
}

function statusOf({ verdict }: StoredVerdict): 'scored' | 'skipped' | 'failed' {
  return verdict === 'skipped' ? 'skipped' : verdict === 'error' ? 'failed' : 'scored';
}

const shortVerdict = api.part<StoredVerdict>()({
  name: api.text,
  evaluator: api.text,
  version: api.count,
  revision: api.count,
  status: [{ enum: ['scored', 'skipped', 'failed'] }, statusOf],
  score: api.orNull(api.share),
  label: api.text,
  passed: [api.orNull(api.flag, 'Null when there is no threshold, or no score.'), ({ verdict }) => hasPassed(verdict)],
  reason: api.textOrNull('Why the evaluator skipped the run, or its error.'),
});

/** `listMax`: entries of long lists. */
interface OneRun {
  readonly run: StoredRun;
  readonly listMax: number | undefined;
}

const longVerdict = api.part<StoredVerdict & OneRun>()({
  explanation: { ...api.text, description: 'Only for a single run.' },
  evidence: api.many(api.text, 'Span ids. Only for a single run.'),
  details: [{ type: 'object', description: 'Only for a single run.' }, ({ details, listMax }) => detailsWithParts(details, listMax)],
  sample_probability: { ...api.number, description: 'Only for a single run.' },
  threshold: api.numberOrNull('Lowest score that passes. Null when there is none, or when it is not known. Only for a single run.'),
  judge_trace: [
    api.optional(
      api.object({ trace_id: api.text, span_id: api.text }),
      'The trace of the judge calls in a backend, and its first span (`judge_calls` of the exporter). Null when no judge was asked. Only for a single run.',
    ),
    judgeTraceJson,
  ],
});

export const verdict = api.resourceOf('Verdict', shortVerdict, longVerdict.properties);

const decisionKey = api.part<StoredDecision>()({ trace_id: api.text, span_id: api.text, tenant: api.text });
const shortDecision = api.part<StoredDecision>()({
  name: api.text,
  evaluator: api.text,
  revision: api.count,
  decision: { enum: ['scored', 'skipped', 'filtered', 'sampled_out', 'over_budget', 'overload', 'failed'] },
  reason: api.textOrNull(),
});
const decisionOfRun = api.part<StoredDecision & OneRun>()({
  missing: [
    api.optional(
      api.object({
        need: api.text,
        name: { ...api.text, description: 'The missing data in words.' },
        todo: api.textOrNull('The setting of the SDK or of the configuration that brings it; null: none is known.'),
        places: api.many(api.text, 'Attributes, events and log records that would carry it.'),
      }),
      'The missing input of the evaluator. Null when the run has nothing to evaluate, or was not skipped. Only for a single run.',
    ),
    missingJson,
  ],
});

export const decision = api.resourceOf('Decision', shortDecision, { ...decisionKey.properties, ...decisionOfRun.properties });
export const decisionJson = api.joined(decisionKey, shortDecision).write;

export const annotation = api.resource<IdentifiedAnnotation>()('Annotation', {
  id: api.text,
  tool_call: api.textOrNull('The tool call that it is about; null: the whole run.'),
  name: api.text,
  by: api.text,
  kind: { enum: annotatorKinds },
  label: api.textOrNull(),
  score: api.orNull(api.share),
  passed: api.orNull(api.flag),
  explanation: api.text,
  at: api.time,
  probability: api.numberOrNull('With which the random order of a queue came to the run, of the judged ones; null: it was chosen.'),
});

const rowMembers = api.part<RunRow>()({
  trace_id: api.text,
  span_id: api.text,
  tenant: api.text,
  agent: api.textOrNull(),
  service: api.textOrNull(),
  version: api.textOrNull(),
  session_id: api.textOrNull(),
  user_id: api.textOrNull('Id of the person or customer that the agent works for, from attributes such as `user.id` and `enduser.id`.'),
  environment: api.textOrNull('`deployment.environment.name` of the resource.'),
  model: api.textOrNull(),
  started_at: api.time,
  ended_at: api.time,
  completeness: { enum: ['complete', 'partial', 'abandoned', 'evicted'] },
  status: {
    enum: runStatuses,
    description: '`error`: the run ended in one. `paused`: it waits for a person or another program.',
  },
  revision: api.count,
  duration_seconds: [api.inSeconds({ ...api.number, minimum: 0 }), ({ startedAt, endedAt }) => Math.max(0, endedAt - startedAt)],
  input_tokens: api.orNull(api.integer, 'Sum of all model calls. Null when unknown.'),
  output_tokens: api.orNull(api.integer, 'Sum of all model calls. Null when unknown.'),
  cost_usd: api.numberOrNull('Sum of all model calls. Null when the cost of one of them is unknown.'),
  input_excerpt: [
    api.textOrNull('The first characters of the input on one line; null: the store has no texts of the run.'),
    ({ excerpt }) => excerpt,
  ],
  labels: api.many(
    api.inline<RunLabel>()({ name: api.text, label: api.text }),
    `Labels of annotations, newest first, at most ${rowLabelsMax}.`,
  ),
});
const rowVerdicts = api.part<RunRow>()({ verdicts: [api.many(verdict), ({ verdicts }) => verdicts] });
const runRow = api.joined(rowMembers, rowVerdicts);

const change = api.inline<RevisionChange>()({
  of: { enum: revisionChangeKinds },
  name: api.textOrNull('Name of the tool or the evaluator.'),
  before: [{ type: ['string', 'number', 'null'] }, ({ of, before }) => changedValue(of, before)],
  after: [{ type: ['string', 'number', 'null'] }, ({ of, after }) => changedValue(of, after)],
});

function changedValue(of: RevisionChange['of'], value: RevisionChange['after']): string | number | null {
  return of === 'ended_at' && typeof value === 'number' ? api.timeOf(value) : value;
}

const stepMembers = api.part<FailedStep>()({
  call: { ...api.count, description: 'Position among the tool calls of the run, from 0.' },
  tool: api.text,
  span_id: api.textOrNull(),
  evaluators: api.many(api.text, 'Failed verdicts about the call. Empty when only the call itself failed.'),
});
const firstStep = api.shapeOf(
  api.joined<FirstFailure>(
    stepMembers,
    api.part<FirstFailure>()({
      later: [api.many(api.shapeOf(stepMembers), `Failed calls after it, at most ${laterFailuresMax}.`), ({ later }) => later],
      later_left_out: api.count,
    }),
  ),
);

const oneRun = api.part<OneRun>()({
  content_kept: [
    {
      ...api.flag,
      description: 'False when the store has no texts, arguments and results; their fields are then absent. Only for a single run.',
    },
    ({ run }) => run.content !== undefined,
  ],
  content_gone: [api.optional(gone, 'Why the store has no content. Only for a single run.'), ({ run }) => contentGone(run)],
  spans_kept: [{ ...api.count, description: 'Stored spans of its trace. Only for a single run.' }, ({ run }) => run.spans],
  spans_gone: [
    api.optional(gone, 'Why the store has no spans. Only for a single run.'),
    ({ run }) => (run.spans > 0 ? undefined : spansGone(run)),
  ],
  part_of: [api.textOrNull('The run, as trace/span, that this one is a part of. Only for a single run.'), ({ run }) => run.partOf],
  verdicts: [
    api.many(verdict.schema),
    ({ run, listMax }) => run.verdicts.map((one) => ({ ...shortVerdict.write(one), ...longVerdict.write({ ...one, run, listMax }) })),
  ],
  decisions: [
    api.many(decision.schema, 'Only for a single run.'),
    ({ run, listMax }) => run.decisions.map((one) => ({ ...shortDecision.write(one), ...decisionOfRun.write({ ...one, run, listMax }) })),
  ],
  task: [api.textOrNull('Task by `groups.task_key`. Only for a single run.'), ({ run }) => run.task],
  revisions: [
    api.many(
      api.inline<RunRevision>()({ revision: api.count, changes: api.many(change) }),
      'Changes of revisions after the first, oldest first. Only for a single run.',
    ),
    ({ run }) => run.revisions ?? [],
  ],
  annotations: [api.many(annotation, 'Verdicts of people and other programs. Only for a single run.'), ({ run }) => run.annotations],
});

const { verdicts: _verdicts, part_of: partOf, decisions, task, revisions, annotations, ...kept } = oneRun.properties;
export const runIssue = api.resource<Issue>()('RunIssue', {
  id: api.text,
  title: [api.text, issueTitle],
  evaluator: [api.text, ({ name }) => name],
  state: { enum: issueStates },
});
const wrongParts = api.part<{ readonly firstFailure: FirstFailure | undefined; readonly issues: readonly Issue[] }>()({
  first_failure: api.optional(
    firstStep,
    'The first tool call that failed, or that a failed verdict is about. Null when there is none. Only for a single run.',
  ),
  issues: api.many(runIssue, 'Issues of the run. Only for a single run.'),
});
export const run = api.resourceOf('Run', runRow, {
  ...runContentMembers,
  ...kept,
  revisions,
  task,
  part_of: partOf,
  decisions,
  annotations,
  ...wrongParts.properties,
});
export const runRowJson = run.write;

/** A run without content has the reason instead: an empty field would look like an empty answer. `listMax`: entries of its long lists. */
export function runJson(given: StoredRun, listMax?: number): JsonObject {
  return { ...contentWithCalls(given, listMax), ...rowMembers.write(given), ...oneRun.write({ run: given, listMax }) };
}

/** The run with what went wrong in it. */
export function runJsonWithIssues(given: StoredRun, issues: readonly Issue[], listMax?: number): JsonObject {
  return { ...runJson(given, listMax), ...wrongParts.write({ firstFailure: firstFailure(given), issues }) };
}

/** The data that the spans lack for an evaluator that skipped the run, where they could carry it, and the switch that brings it. */
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
