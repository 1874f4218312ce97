/** The changes of datasets over the API. Examples of runs are made as `tracejury dataset add` makes them. */
import { exampleChecker, readExample } from '../../datasets/example-json.ts';
import { examplesOfRuns } from '../../datasets/stored-runs.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { DatasetExample } from '../../model/example.ts';
import { parseSpanId, parseTraceId, type Tenant } from '../../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import {
  changedExamplesMax,
  type DatasetChange,
  type DatasetKey,
  type DatasetOutcome,
  datasetsMax,
  datasetVersionsMax,
  exampleBytesMax,
  isDatasetName,
  leftOutReasons,
} from '../../model/store/dataset-store.ts';
import { writtenJson } from './dataset-json.ts';
import { type ApiDeps, pages, type Parameters, Refusal } from './route.ts';

/** Changes by others between reading and writing, after which a request gives up. */
const attemptsMax = 5;
const byDefault = 'api';
const faultsShown = 10;

/** A name made only of dots is a step in a path, and names no dataset. */
export function keyOf({ name: named, tenant: of = '' }: Parameters): DatasetKey {
  const text = String(named);
  if (!isDatasetName(text))
    throw new Refusal(422, {
      code: 'bad_name',
      message: `${JSON.stringify(text)} is not a valid name of a dataset.`,
      todo: 'Use letters, digits, dots, underscores and hyphens.',
    });
  return { tenant: of as Tenant, name: text };
}

export function micros(clock: ApiDeps['clock']): number {
  return Math.floor(clock.nowMs() * 1_000);
}

/** Fastify has checked the form of the body. */
interface GivenBody {
  readonly author: string;
  readonly note: { readonly note?: string };
  readonly at: (key: string) => JsonValue | undefined;
}

function bodyGiven(body: JsonValue): GivenBody {
  const object_: JsonObject = isJsonObject(body) ? body : {};
  const at = (key: string): JsonValue | undefined => member(object_, key);
  const said = at('note');
  return { author: String(at('by') ?? byDefault), note: typeof said === 'string' && said !== '' ? { note: said } : {}, at };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

/** Runs only replace drafts, and whole examples replace any: so there are two changes where a request has both. */
export async function addExamples(deps: ApiDeps, query: Parameters, body: JsonValue): Promise<JsonValue> {
  const { author, note: said, at } = bodyGiven(body);
  const key = keyOf(query);
  const now = micros(deps.clock);
  const origin = { by: author, at: now };
  const given = examplesGiven(deps, listOf(at('examples')), origin);
  const split = at('split');
  const made = await examplesOfRuns(deps.store, await runKeys(deps, key, listOf(at('runs'))), {
    origin,
    tags: listOf(at('tags')).map(String),
    isRedacted: deps.mayBeRedacted,
    ...(typeof split === 'string' ? { split } : {}),
  });
  if (given.length === 0 && made.examples.length === 0 && made.leftOut.length === 0)
    throw new Refusal(422, {
      code: 'no_examples',
      message: 'The body names no run and no example.',
      todo: 'Give runs, examples, or both.',
    });
  const shared = { by: author, at: now, ...said, isDistinct: at('distinct') === true };
  const expected = at('expected_version');
  const changes: readonly DatasetChange[] = [
    { ...shared, put: made.examples, replaces: at('replace') === true ? 'all' : 'drafts' },
    { ...shared, put: given },
  ];
  let sum: Extract<DatasetOutcome, { kind: 'written' }> | undefined;
  for (const change of changes.filter(({ put = [] }) => put.length > 0)) {
    const based = sum?.version ?? (typeof expected === 'number' ? expected : undefined);
    const outcome = writtenOf(
      await deps.store.datasets.change(key, {
        ...change,
        ...(based === undefined || typeof expected !== 'number' ? {} : { expected: based }),
      }),
    );
    sum = sum === undefined ? outcome : joined(sum, outcome);
  }
  const dataset = await deps.store.datasets.dataset(key);
  const nothing = {
    kind: 'written',
    version: dataset?.version ?? 0,
    added: 0,
    changed: 0,
    changedReviewed: 0,
    removed: 0,
    unchanged: 0,
    leftOut: [],
  } as const;
  const noExample = made.leftOut.map(({ run, reason }) => ({ trace_id: run.traceId, span_id: run.spanId, reason }));
  return { ...writtenJson(sum ?? nothing), no_example: noExample };
}

function joined(one: Extract<DatasetOutcome, { kind: 'written' }>, next: typeof one): typeof one {
  return {
    ...next,
    added: one.added + next.added,
    changed: one.changed + next.changed,
    changedReviewed: one.changedReviewed + next.changedReviewed,
    unchanged: one.unchanged + next.unchanged,
    leftOut: [...one.leftOut, ...next.leftOut],
  };
}

/** Schema of one of the runs that `runKeys` reads. */
export const runReference = {
  type: 'object',
  required: ['trace_id'],
  additionalProperties: false,
  properties: {
    trace_id: { type: 'string', pattern: '^[0-9a-fA-F]{32}$' },
    span_id: { type: ['string', 'null'], pattern: '^[0-9a-fA-F]{16}$', description: 'Left out: the outermost run of the trace.' },
  },
} as const;

/** A run without a span is the outermost one of its trace. A trace without runs has an id that no run has. */
export async function runKeys(
  { store }: Pick<ApiDeps, 'store'>,
  { tenant: of }: Pick<RunKey, 'tenant'>,
  runs: readonly JsonValue[],
): Promise<readonly RunKey[]> {
  const keys: RunKey[] = [];
  for (const run of runs) {
    const [trace, span] = ['trace_id', 'span_id'].map((key) => (isJsonObject(run) ? member(run, key) : undefined));
    const [traceId, spanId] = [parseTraceId(String(trace)), typeof span === 'string' ? parseSpanId(span) : undefined];
    if (traceId === undefined || (typeof span === 'string' && spanId === undefined))
      throw new Refusal(422, { code: 'bad_id', message: 'An id of a run is all zero.', todo: 'Give the ids of a stored run.' });
    const first = spanId === undefined ? (await store.runs({ tenant: of, traceId, limit: pages.limit.maximum })).runs.at(-1) : undefined;
    const known = spanId ?? first?.spanId;
    if (known === undefined)
      throw new Refusal(422, {
        code: 'no_run',
        message: `The store has no run of the trace ${traceId}.`,
        todo: 'Name a stored trace of this tenant.',
      });
    keys.push({ tenant: of, traceId, spanId: known });
  }
  return keys;
}

/** Throws a Refusal with the faults of all examples. */
function examplesGiven(
  { redacted }: ApiDeps,
  entries: readonly JsonValue[],
  origin: { readonly by: string; readonly at: number },
): readonly DatasetExample[] {
  const check = exampleChecker();
  const read = entries.map((entry, at) => ({ at, ...readExample(entry, '', check) }));
  const faults = read.flatMap(({ at, faults: own, example }) => [
    ...own.map(({ path, problem }) => `examples[${at}]${path.length === 0 ? '' : `.${path.join('.')}`} ${problem}`),
    ...(own.length === 0 && example.id === '' ? [`examples[${at}].id is missing`] : []),
  ]);
  if (faults.length > 0) throw faulty(faults);
  return read.map(({ example }) => redacted({ ...example, origin: { ...origin, ...example.origin } }));
}

export function faulty(faults: readonly string[]): Refusal {
  const more = faults.length > faultsShown ? `; and ${faults.length - faultsShown} more` : '';
  return new Refusal(422, {
    code: 'bad_example',
    message: `${faults.slice(0, faultsShown).join('; ')}${more}.`,
    todo: 'The OpenAPI document has the schema of an example.',
  });
}

/** The change applies to the version of the example: changes of other examples in between do not conflict. */
export async function changeExample(deps: ApiDeps, query: Parameters, body: JsonValue): Promise<JsonValue | undefined> {
  const { datasets } = deps.store;
  const { author, note: said, at } = bodyGiven(body);
  const [key, wanted, since] = [keyOf(query), String(query['id']), at('since')];
  const { example, faults } = readExample(at('example') ?? null, wanted);
  if (faults.length > 0) throw faulty(faults.map(({ path, problem }) => `${['example', ...path].join('.')} ${problem}`));
  if (example.id !== wanted)
    throw new Refusal(422, {
      code: 'other_id',
      message: `The example has the id ${JSON.stringify(example.id)}, and the path another one.`,
      todo: 'Leave the id out.',
    });
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const dataset = await datasets.dataset(key);
    if (dataset === undefined) return undefined;
    const present = await datasets.example(key, dataset.version, wanted);
    if (typeof since === 'number' && since !== (present?.since ?? 0))
      throw conflict(`The example has changed in version ${present?.since ?? 0}.`);
    const now = micros(deps.clock);
    // The origin of the example stays; the history names who has changed it.
    const origin = example.origin ?? present?.example.origin ?? { by: author, at: now };
    const put = [deps.redacted({ ...example, origin })];
    const outcome = await datasets.change(key, { put, by: author, at: now, ...said, expected: dataset.version });
    if (outcome.kind === 'conflict') continue;
    const written = writtenOf(outcome);
    if (written.leftOut.length > 0)
      throw new Refusal(422, {
        code: 'left_out',
        message: `The example is left out: ${written.leftOut[0]?.reason ?? leftOutReasons[0]}.`,
        todo: `An example has ${exampleBytesMax} bytes at most, and a change ${changedExamplesMax} examples.`,
      });
    return writtenJson(written);
  }
  throw conflict('Other changes came first each time.');
}

function conflict(message: string): Refusal {
  return new Refusal(409, { code: 'conflict', message, todo: 'Read it again, and send the change on the newest version.' });
}

export function writtenOf(outcome: DatasetOutcome): Extract<DatasetOutcome, { kind: 'written' }> {
  if (outcome.kind === 'written') return outcome;
  if (outcome.kind === 'conflict') throw conflict(`The newest version is ${outcome.version}.`);
  throw new Refusal(409, {
    code: 'full',
    message:
      outcome.of === 'datasets' ? `The tenant has its ${datasetsMax} datasets.` : `The dataset has its ${datasetVersionsMax} versions.`,
    todo: outcome.of === 'datasets' ? 'Delete a dataset.' : 'Copy the newest version under another name.',
  });
}

/** `undefined`: there is no such dataset. */
export async function removeExample({ store: { datasets }, clock }: ApiDeps, query: Parameters): Promise<JsonValue | undefined> {
  const key = keyOf(query);
  if ((await datasets.dataset(key)) === undefined) return undefined;
  const outcome = await datasets.change(key, { remove: [String(query['id'])], by: String(query['by'] ?? byDefault), at: micros(clock) });
  const { removed, version } = writtenOf(outcome);
  return { deleted: removed > 0, version };
}
