/** Datasets as files over the API: import of a text in any form that `tracejury dataset import` reads, and export. */
import { setImmediate as turn } from 'node:timers/promises';
import { exampleChecker, exampleJson, readExample } from '../../datasets/example-json.ts';
import { type ExportForm, exportForms, leftOutOf } from '../../datasets/forms/export-forms.ts';
import { importedFiles, outsideValue, setFormats } from '../../datasets/forms/import-forms.ts';
import { ownForm } from '../../datasets/forms/own-form.ts';
import { threadedYaml } from '../../datasets/forms/threaded-yaml.ts';
import { JuryError } from '../../model/errors.ts';
import type { DatasetExample } from '../../model/example.ts';
import { contentDigest } from '../../model/example-fingerprint.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member } from '../../model/json.ts';
import { changedExamplesMax, datasetNamePattern, examplesPageMax, type StoredExample } from '../../model/store/dataset-store.ts';
import { faulty, keyOf, micros, writtenOf } from './dataset-changes.ts';
import * as api from '../../model/resource.ts';
import { example, writtenJson, writtenSchema } from './dataset-json.ts';
import { type ApiDeps, type Parameters, Refusal, type Route, textParameter } from './route.ts';
import { present } from '../../model/present.ts';

/** Most bytes of one export, as JSON text: it is written as a whole. */
const exportCharsMax = 64 * 1024 * 1024;
const importBytesMax = 16 * 1024 * 1024;
const previewMax = 20;
const nameCharsMax = 200;
/** Examples between two turns of the event loop. */
const examplesATurn = 100;

const name = { type: 'string', pattern: datasetNamePattern, description: 'Name of the dataset.' } as const;
const tenant = { ...textParameter, description: 'Tenant of the dataset; empty when left out.' } as const;
const version = { type: 'integer', minimum: 1, description: 'Version; the newest one when left out.' } as const;
const split = { ...textParameter, description: 'Examples of this part.' } as const;
const tag = { ...textParameter, description: 'Examples with this tag.' } as const;
const short = { type: 'string', minLength: 1, maxLength: nameCharsMax } as const;
const missing = { message: 'The store has no such dataset or version.', todo: 'GET /api/v1/datasets lists the datasets.' };
const formDefault = 'jsonl';
const tooLarge = { 422: `The examples have more than ${exportCharsMax} characters.` } as const;

const importBody = {
  type: 'object',
  additionalProperties: false,
  required: ['text'],
  properties: {
    text: { type: 'string', description: 'The whole file.' },
    form: {
      enum: setFormats.map((one) => one.name),
      default: ownForm.name,
      description: setFormats.map((one) => `\`${one.name}\`: ${one.summary}.`).join(' '),
    },
    file: {
      type: 'string',
      minLength: 1,
      maxLength: 1_000,
      description: 'Name of the file, for the origin of the examples; `.csv` marks a table.',
    },
    tags: { type: 'array', maxItems: 100, items: short, description: 'Tags that the examples get beside their own.' },
    split: { ...short, description: 'Part of examples that name none.' },
    check: { type: 'boolean', default: false, description: 'True to read the text without changing anything.' },
    distinct: { type: 'boolean', default: false, description: 'True to leave out examples whose input another one has.' },
    replace: { type: 'boolean', default: true, description: 'False to keep existing examples with the same id unchanged.' },
    expected_version: {
      type: 'integer',
      minimum: 0,
      description: 'The newest version that the client knows; 0: no dataset. Left out: any.',
    },
    by: { ...short, description: 'The person or program that makes the change.' },
    note: { type: 'string', maxLength: 1_000, description: 'Why the version is made.' },
  },
} as const;

const contentTypes: { readonly [ending in ExportForm['ending']]: string } = {
  jsonl: 'application/jsonl; charset=utf-8',
  json: 'application/json; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

export const datasetFileRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/datasets/{name}/export',
    summary: 'One version as a file, in the form of tracejury or of another program.',
    path_parameters: { name },
    query_parameters: {
      tenant,
      version,
      split,
      tag,
      format: {
        enum: exportForms.map((one) => one.name),
        default: formDefault,
        description: exportForms.map((one) => `\`${one.name}\`: ${one.summary}.`).join(' '),
      },
    },
    answer: api.text,
    formats: Object.fromEntries(exportForms.map((one) => [one.name, { type: contentTypes[one.ending], ending: one.ending }])),
    fileName: ({ name: named, version: of }) => (of === undefined ? String(named) : `${String(named)}-${String(of)}`),
    missing,
    refusals: tooLarge,
    async handle(deps, query) {
      const form = exportForms.find((one) => one.name === (query['format'] ?? formDefault));
      const examples = await wholeVersion(deps, query);
      return examples === undefined || form === undefined ? undefined : form.write(examples);
    },
  },
  {
    method: 'get',
    path: '/datasets/{name}/forms',
    summary: 'Forms of an export, and what each leaves out of one version.',
    path_parameters: { name },
    query_parameters: { tenant, version, split, tag },
    answer: api.object({
      examples: api.count,
      forms: api.many(
        api.object({
          name: api.text,
          summary: api.text,
          ending: api.text,
          left_out: api.many(
            api.object({
              member: { ...api.text, description: 'As `expect.context`.' },
              examples: { ...api.count, description: 'Examples that have it.' },
            }),
          ),
        }),
      ),
    }),
    missing,
    refusals: tooLarge,
    async handle(deps, query) {
      const examples = await wholeVersion(deps, query);
      if (examples === undefined) return undefined;
      const forms = exportForms.map((form) => ({
        name: form.name,
        summary: form.summary,
        ending: form.ending,
        left_out: [...leftOutOf(form, examples)].map(([held, number]) => ({ member: held, examples: number })),
      }));
      return { examples: examples.length, forms };
    },
  },
  {
    method: 'post',
    path: '/datasets/{name}/import',
    summary: `Adds the examples of a file as one new version, ${changedExamplesMax} at most. The first one makes the dataset.`,
    may: 'annotate',
    path_parameters: { name },
    query_parameters: { tenant },
    body: { bytesMax: importBytesMax, taken: importBody, schema: importBody },
    refusals: {
      409: 'Another change came first, or the store or the dataset is full.',
      422: 'The text cannot be read; the message names what is wrong, and where.',
    },
    answer: api.object({
      examples: { ...api.count, description: 'Examples that the text has.' },
      present: { ...api.count, description: 'Examples whose id the dataset already has.' },
      present_differing: { ...api.count, description: 'Examples of `present` with different content, which `replace` replaces.' },
      present_reviewed: { ...api.count, description: 'Examples of `present_differing` that are reviewed in the dataset.' },
      entries_left_out: api.many(api.text, 'Entries without a counterpart, with the reason.'),
      preview: api.many(example.schema, `The first ${previewMax}.`),
      written: api.optional(writtenSchema, 'Null with `check`.'),
    }),
    handle: importExamples,
  },
];

/** `undefined`: there is no such dataset or version. */
async function wholeVersion({ store: { datasets } }: ApiDeps, query: Parameters): Promise<readonly DatasetExample[] | undefined> {
  const { version: of, split: part, tag: tagged } = query;
  const filter = { ...(typeof part === 'string' ? { split: part } : {}), ...(typeof tagged === 'string' ? { tag: tagged } : {}) };
  const found: DatasetExample[] = [];
  let wanted = typeof of === 'number' ? of : undefined;
  let chars = 0;
  let after: number | undefined;
  do {
    const page = await datasets.examples(keyOf(query), wanted, present({ ...filter, limit: examplesPageMax, after }));
    if (page === undefined) return undefined;
    // A change between two pages makes a separate version.
    wanted = page.version;
    for (const { example } of page.examples) {
      chars += jsonText(exampleJson(example)).length;
      if (chars > exportCharsMax)
        throw new Refusal(422, {
          code: 'too_large',
          message: `The examples have more than ${exportCharsMax} characters.`,
          todo: 'Choose a part or a tag, or use tracejury dataset export on the machine of the store.',
        });
      found.push(example);
    }
    after = page.next;
    await turn();
  } while (after !== undefined);
  return found;
}

async function importExamples(deps: ApiDeps, query: Parameters, body: JsonValue): Promise<JsonValue> {
  const key = keyOf(query);
  const given = givenImport(body);
  const { examples: entries, leftOut } = await entriesOf(given);
  const now = micros(deps.clock);
  const put: DatasetExample[] = [];
  const faults: string[] = [];
  const check = exampleChecker();
  for (const [at, entry] of entries.entries()) {
    const { example, faults: own } = readExample(entry, '', check);
    faults.push(...own.map(({ path, problem }) => `examples[${at}]${path.length === 0 ? '' : `.${path.join('.')}`} ${problem}`));
    if (own.length === 0) {
      const tags = [...new Set([...(example.tags ?? []), ...given.tags])];
      const part = example.split ?? given.split;
      put.push(
        deps.redacted({
          ...example,
          ...(tags.length === 0 ? {} : { tags }),
          ...(part === undefined ? {} : { split: part }),
          origin: { by: given.by, at: now, file: given.file, ...example.origin },
        }),
      );
    }
    if (at % examplesATurn === 0) await turn();
  }
  if (faults.length > 0) throw faulty(faults);
  const dataset = await deps.store.datasets.dataset(key);
  const { present, differing, reviewed } =
    dataset === undefined ? noneMet : await metExamples(put, (id) => deps.store.datasets.example(key, dataset.version, id));
  const about = {
    examples: put.length,
    present,
    present_differing: differing,
    present_reviewed: reviewed,
    entries_left_out: [...leftOut],
    preview: put.slice(0, previewMax).map(exampleJson),
  };
  if (given.isCheck) return { ...about, written: null };
  const outcome = await deps.store.datasets.change(key, {
    put,
    by: given.by,
    at: now,
    note: given.note,
    isDistinct: given.isDistinct,
    replaces: given.replaces ? 'all' : 'none',
    ...(given.expected === undefined ? {} : { expected: given.expected }),
  });
  return { ...about, written: writtenJson(writtenOf(outcome)) };
}

interface MetExamples {
  readonly present: number;
  readonly differing: number;
  readonly reviewed: number;
}

const noneMet: MetExamples = { present: 0, differing: 0, reviewed: 0 };

/** How many of the examples the dataset has, by id. The last of several with one id counts. */
async function metExamples(
  put: readonly DatasetExample[],
  stored: (id: string) => Promise<StoredExample | undefined>,
): Promise<MetExamples> {
  let { present, differing, reviewed } = noneMet;
  for (const example of new Map(put.map((one) => [one.id, one])).values()) {
    const before = (await stored(example.id))?.example;
    if (before === undefined) continue;
    present += 1;
    if (contentDigest(before) === contentDigest(example)) continue;
    differing += 1;
    if (before.review !== 'draft') reviewed += 1;
  }
  return { present, differing, reviewed };
}

interface GivenImport {
  readonly text: string;
  readonly form: string;
  readonly file: string;
  readonly tags: readonly string[];
  readonly split: string | undefined;
  readonly isCheck: boolean;
  readonly isDistinct: boolean;
  readonly replaces: boolean;
  readonly expected: number | undefined;
  readonly by: string;
  readonly note: string;
}

/** Fastify has checked the form of the body. */
function givenImport(body: JsonValue): GivenImport {
  const given: JsonObject = isJsonObject(body) ? body : {};
  const at = (key: string): JsonValue | undefined => member(given, key);
  const [tags, part, expected, note] = [at('tags') ?? [], at('split'), at('expected_version'), at('note')];
  const file = String(at('file') ?? 'text');
  return {
    text: String(at('text') ?? ''),
    form: String(at('form') ?? ownForm.name),
    file,
    tags: isJsonArray(tags) ? tags.map(String) : [],
    split: typeof part === 'string' ? part : undefined,
    isCheck: at('check') === true,
    isDistinct: at('distinct') === true,
    replaces: at('replace') !== false,
    expected: typeof expected === 'number' ? expected : undefined,
    by: String(at('by') ?? 'api'),
    note: typeof note === 'string' && note !== '' ? note : `import of ${file}`,
  };
}

async function entriesOf({ text: given, form, file }: GivenImport): Promise<{
  readonly examples: readonly JsonObject[];
  readonly leftOut: readonly string[];
}> {
  const format = setFormats.find((one) => one.name === form) ?? ownForm;
  const { examples, faults, leftOut } = format.read(await valueOf(given, file, format));
  if (faults.length > 0) throw faulty(faults);
  if (examples.length === 0 && leftOut.length === 0)
    throw new Refusal(422, {
      code: 'no_examples',
      message: 'The text has no example.',
      todo: 'Check that it is the right file, and the right form.',
    });
  if (examples.length > changedExamplesMax)
    throw new Refusal(422, {
      code: 'too_many',
      message: `The text has ${examples.length} examples; one import takes at most ${changedExamplesMax}.`,
      todo: 'Divide the file, or use tracejury dataset import on the machine of the store.',
    });
  return { examples: importedFiles(examples).examples, leftOut };
}

async function valueOf(given: string, file: string, format: (typeof setFormats)[number]): Promise<JsonValue> {
  try {
    return await outsideValue({ where: file, text: given, format }, threadedYaml);
  } catch (error) {
    if (!(error instanceof JuryError) || error.code !== 'INPUT_UNREADABLE') throw error;
    throw new Refusal(422, { code: 'unreadable', message: error.why, todo: 'Choose the form of the file, or correct it.' });
  }
}
