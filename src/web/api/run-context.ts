/** Routes on a run's context: other runs of its session and of its task, and the example that it would make. */
import { noExampleReasons } from '../../datasets/run-example.ts';
import { examplesOfRuns } from '../../datasets/stored-runs.ts';
import type { JsonObject } from '../../model/json.ts';
import type { RunFilter, RunRow, Store, StoredRun } from '../../model/store/store.ts';
import * as api from '../../model/resource.ts';
import { example } from './dataset-json.ts';
import { run as runResource, runRowJson } from './run-json.ts';
import { spanId, storedRun } from './one-run.ts';
import { tenant, traceId } from './run-list.ts';
import { type JudgeQuestion, noQuestionReasons, type Route, textParameter } from './route.ts';

/** Runs of one kind of neighbours. */
const neighboursMax = 20;

const path = { trace: traceId, span: spanId };
const neighbours = (name: string, description: string): JsonObject => ({
  type: ['object', 'null'],
  required: [name, 'runs', 'more'],
  properties: {
    [name]: api.text,
    runs: api.many(runResource.schema),
    more: { ...api.flag, description: 'True when there are others.' },
  },
  description,
});

const question = api.inline<JudgeQuestion>()({
  instruction: api.text,
  data: api.many(api.object({ title: api.text, text: api.text }), 'Blocks of the run that the judge reads.'),
  answer_schema: { type: 'object' },
  first_of_several: [
    { ...api.flag, description: 'True when the evaluator may ask more questions about the run.' },
    ({ isFirstOfSeveral }) => isFirstOfSeveral,
  ],
});

export const runContextRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs/{trace}/{span}/related',
    summary: `The newest ${neighboursMax} runs of the run’s session, and of its agent with the same task (\`groups.task_key\`), newest first, without the run itself.`,
    path_parameters: path,
    query_parameters: { tenant },
    answer: api.object({
      session: neighbours('id', 'Null when the run has no session.'),
      task: neighbours('task', 'Null when the run has no task.'),
      resumed_by: api.optional(runResource.schema, 'The next run of its agent in the session, for a paused run.'),
      resumes: api.optional(runResource.schema, 'The run before of its agent in the session, when that one is paused.'),
    }),
    async handle({ store }, query) {
      const run = await storedRun(store, query);
      if (run === undefined) return undefined;
      const { sessionId, task, agent, tenant: of } = run;
      const ofAgent = { tenant: of, ...(agent === undefined ? {} : { agent }) };
      return {
        session:
          sessionId === undefined || sessionId === '' ? null : { id: sessionId, ...(await others(store, run, { tenant: of, sessionId })) },
        task: task === undefined ? null : { task, ...(await others(store, run, { ...ofAgent, task })) },
        ...(await resumption(store, run)),
      };
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/example',
    summary: 'The example of a dataset that the run would make, as a draft: its expectation repeats what the run did.',
    path_parameters: path,
    query_parameters: { tenant },
    answer: api.object({
      example: api.optional(example.schema),
      reason: { enum: [...noExampleReasons, null], description: 'Why the run makes none.' },
    }),
    async handle({ store, mayBeRedacted }, query) {
      const run = await storedRun(store, query);
      if (run === undefined) return undefined;
      const { examples, leftOut } = await examplesOfRuns(store, [run], { origin: {}, tags: [], isRedacted: mayBeRedacted });
      return { example: api.optional(example).write(examples[0]), reason: leftOut[0]?.reason ?? null };
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/questions/{name}',
    summary:
      'The question that the judge of an evaluator gets about the run, made again from the configuration in force. No judge is asked.',
    path_parameters: { ...path, name: { ...textParameter, minLength: 1, description: 'Name of the evaluator in the configuration.' } },
    query_parameters: { tenant },
    answer: api.object({
      question: api.optional(question.schema),
      reason: { enum: [...noQuestionReasons, null], description: 'Why there is none.' },
    }),
    async handle({ store, judgeQuestion }, query) {
      const run = await storedRun(store, query);
      if (run === undefined) return undefined;
      const asked = (await judgeQuestion?.(run, String(query['name']))) ?? 'not_configured';
      return typeof asked === 'string' ? { question: null, reason: asked } : { question: question.write(asked), reason: null };
    },
  },
];

async function others(
  store: Store,
  run: StoredRun,
  filter: RunFilter,
): Promise<{ readonly runs: readonly JsonObject[]; readonly more: boolean }> {
  const page = await store.runs({ ...filter, limit: neighboursMax + 1 });
  const isOther = (row: RunRow): boolean => row.traceId !== run.traceId || row.spanId !== run.spanId;
  const found = page.runs.filter(isOther);
  return { runs: found.slice(0, neighboursMax).map(runRowJson), more: found.length > neighboursMax || page.next !== undefined };
}

/** Runs of one session that are looked at to find the next one. */
const turnsMax = 200;

/** The run that goes on where a paused one stopped, and the paused one that a run goes on with. */
async function resumption(
  store: Store,
  run: StoredRun,
): Promise<{ readonly resumed_by: JsonObject | null; readonly resumes: JsonObject | null }> {
  const { sessionId = '', agent, tenant: of, startedAt, status } = run;
  if (sessionId === '') return { resumed_by: null, resumes: null };
  const ofSession = { tenant: of, sessionId, ...(agent === undefined ? {} : { agent }) };
  const later = status === 'paused' ? await store.runs({ ...ofSession, from: startedAt + 1, limit: turnsMax }) : undefined;
  // With more pages the oldest of them is unknown.
  const next = later?.next === undefined ? later?.runs.at(-1) : undefined;
  const [before] = (await store.runs({ ...ofSession, to: startedAt, limit: 1 })).runs;
  return { resumed_by: next === undefined ? null : runRowJson(next), resumes: before?.status === 'paused' ? runRowJson(before) : null };
}
