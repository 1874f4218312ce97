/** Import and export of datasets over HTTP, of a whole service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stringify } from 'yaml';
import { jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { running, type Running } from '../../service/running.ts';

let service: Running;
beforeAll(async () => {
  service = await running('redact: [ { match: email } ]\n');
});
afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

async function asked(path: string, body?: JsonValue): Promise<Answer> {
  const response = await fetch(
    `${service.console}/api/v1${path}`,
    body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: jsonText(body) },
  );
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const imported = (name: string, body: JsonObject): Promise<Answer> => asked(`/datasets/${name}/import`, body);

async function file(path: string): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }> {
  const response = await fetch(`${service.console}/api/v1${path}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const examples: readonly JsonObject[] = [
  {
    id: 'refund',
    input: 'Please refund order A-1.',
    expect: { tool_calls: [{ name: 'refund', arguments: { order: 'A-1' } }] },
    tags: ['mail'],
  },
  { id: 'where', input: 'Where is order A-2?', expect: { output: 'On its way, "soon".' }, split: 'test', review: 'draft' },
];
const lines = examples.map((one) => jsonText(one)).join('\n');

for (const [name, text, of] of [
  ['json-lines', lines, {}],
  ['json', jsonText([...examples]), {}],
  ['yaml', stringify(examples), {}],
  ['in-an-object', jsonText({ examples: [...examples] }), {}],
  ['csv', 'id,input,output\nrefund,Please refund order A-1.,Done.\nwhere,Where is order A-2?,On its way.', { file: 'x.csv' }],
  [
    'deepeval',
    jsonText([
      { name: 'refund', input: 'Please refund.' },
      { name: 'where', input: 'Where?' },
    ]),
    { form: 'deepeval' },
  ],
] as const) {
  test(`import: ${name} is checked without a change, then makes one version`, async () => {
    const check = await imported(name, { text, ...of, check: true });
    expect(check).toMatchObject({
      status: 200,
      body: { examples: 2, present: 0, written: null, preview: [{ id: 'refund' }, { id: 'where' }] },
    });
    expect((await asked(`/datasets/${name}`)).status).toBe(404);
    expect(await imported(name, { text, ...of, by: 'ann' })).toMatchObject({
      status: 200,
      body: { examples: 2, written: { version: 1, added: 2 } },
    });
    expect((await asked(`/datasets/${name}`)).body).toMatchObject({ version: 1, examples: 2 });
    expect(await imported(name, { text, ...of, check: true })).toMatchObject({ body: { examples: 2, present: 2, written: null } });
  });
}

test('import: examples get the split and tags that they lack, the file as their origin, and are redacted', async () => {
  const text = jsonText([
    { id: 'a', input: 'mail ann@example.org', tags: ['own'], split: 'train' },
    { id: 'b', input: 'two' },
  ]);
  await imported('marked', { text, file: 'set.json', tags: ['new', 'own'], split: 'test', by: 'ann' });
  expect((await asked('/datasets/marked/examples')).body).toMatchObject({
    examples: [
      { id: 'a', input: 'mail [redacted]', tags: ['own', 'new'], split: 'train', origin: { by: 'ann', file: 'set.json' } },
      { id: 'b', tags: ['new', 'own'], split: 'test' },
    ],
  });
  expect((await asked('/datasets/marked/versions')).body).toMatchObject({ versions: [{ note: 'import of set.json', by: 'ann' }] });
});

test('import: present examples are replaced, or kept when the request asks for it', async () => {
  await imported('twice', { text: jsonText([{ id: 'a', input: 'one' }]) });
  const changed = jsonText([{ id: 'a', input: 'two' }]);
  expect((await imported('twice', { text: changed, replace: false })).body).toMatchObject({
    written: { version: 1, changed: 0, left_out: [{ id: 'a', reason: 'kept' }] },
  });
  expect((await imported('twice', { text: changed })).body).toMatchObject({ written: { version: 2, changed: 1 } });
  expect(await imported('twice', { text: changed, expected_version: 1 })).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  });
});

test('import: the check counts the examples that it would replace, and the import those that it did, reviewed ones among them', async () => {
  const own = (id: string, input: string, review: string): JsonObject => ({ id, input, review });
  const name = 'reviewed';
  await imported(name, { text: jsonText([own('a', 'one', 'reviewed'), own('b', 'two', 'draft'), own('c', 'three', 'reviewed')]) });
  const text = jsonText([
    own('a', 'uno', 'reviewed'),
    own('b', 'due', 'reviewed'),
    own('c', 'three', 'reviewed'),
    own('d', 'four', 'draft'),
  ]);
  expect((await imported(name, { text, check: true })).body).toMatchObject({
    examples: 4,
    present: 3,
    present_differing: 2,
    present_reviewed: 1,
  });
  expect((await imported(name, { text })).body).toMatchObject({
    present: 3,
    present_differing: 2,
    present_reviewed: 1,
    written: { version: 2, added: 1, changed: 2, changed_reviewed: 1, unchanged: 1 },
  });
  expect((await imported(name, { text, check: true })).body).toMatchObject({ present: 4, present_differing: 0, present_reviewed: 0 });
});

test.each<[string, JsonObject, number, RegExp]>([
  ['broken JSON lines', { text: '{"id":"a","input":"x"}\n{"id":', file: 'a.jsonl' }, 422, /a\.jsonl: line 2/],
  ['broken YAML', { text: '- id: a\n  input: "x' }, 422, /line 2, column \d+/],
  ['aliases that expand', { text: `a: &a [x]\n${Array.from({ length: 300 }, (_, at) => `b${at}: *a`).join('\n')}` }, 422, /aliases/],
  ['an alias to what contains it', { text: '- id: a\n  input: &a [x, *a]' }, 422, /alias \*a to a value that contains it/],
  ['an alias without an anchor', { text: '- id: a\n  input: *b' }, 422, /alias|anchor/i],
  [
    'few aliases that expand to much',
    { text: `a: &a "${'x'.repeat(1_000_000)}"\nb: [${'*a, '.repeat(50)}]` },
    422,
    /characters with the expansion/,
  ],
  ['lists in lists without an end', { text: '- '.repeat(50_000) }, 422, /nests deeper|neither JSON nor YAML/],
  ['a number that is not finite', { text: '- id: a\n  input: x\n  metadata: .inf' }, 422, /not finite/],
  ['a key twice', { text: '- id: a\n  id: b\n  input: x' }, 422, /"id" twice/],
  [
    'an example with faults',
    {
      text: jsonText([
        { id: 'a', input: 'x' },
        { id: 'b', input: 'x', expect: 7 },
      ]),
    },
    422,
    /examples\[1\]\.expect must be object/,
  ],
  ['no example', { text: '[]' }, 422, /no example/],
  ['a text that is not a list', { text: '"x"' }, 422, /neither a list/],
  ['a form that is none', { text: '[]', form: 'nothing' }, 400, /form/],
  ['a body without a text', {}, 400, /text/],
])('import: %s is refused with what is wrong', async (_, body, status, says) => {
  const answer = await imported('refused', body);
  expect(answer.body).toMatchObject({ error: { message: expect.stringMatching(says) } });
  expect(answer.status).toBe(status);
  expect((await asked('/datasets/refused')).status).toBe(404);
});

test('import: aliases of others stay what they are, and a mapping of many keys is read in time', async () => {
  const many = Array.from({ length: 20_000 }, (_, at) => `    k${at}: 1`).join('\n');
  const text = `- id: a\n  input: &i [{ role: user, content: x }]\n- id: b\n  input: *i\n  metadata:\n${many}`;
  expect((await imported('aliases', { text })).body).toMatchObject({ examples: 2, written: { added: 2 } });
});

test('export: every form is a file, and the own forms are read back unchanged', async () => {
  await imported('whole', { text: lines, by: 'ann' });
  const { body } = await asked('/datasets/whole/forms');
  const forms = body['forms'] as readonly { readonly name: string; readonly ending: string; readonly left_out: readonly JsonObject[] }[];
  expect(body['examples']).toBe(2);
  expect(forms.find(({ name }) => name === 'jsonl')?.left_out).toEqual([]);
  expect(forms.find(({ name }) => name === 'adk')?.left_out).toContainEqual({ member: 'tags', examples: 1 });
  for (const { name, ending } of forms) {
    const { status, text, headers } = await file(`/datasets/whole/export?format=${name}&version=1`);
    expect([name, status, text.length > 0]).toEqual([name, 200, true]);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="whole-1.${ending}"`);
    if (!['jsonl', 'json', 'yaml', 'csv'].includes(name)) continue;
    expect((await imported(`back-${name}`, { text, file: `x.${ending}` })).body).toMatchObject({ examples: 2, written: { added: 2 } });
    const back = (await asked(`/datasets/back-${name}/examples`)).body['examples'] as readonly JsonObject[];
    expect(back.map(({ since: _since, origin: _origin, ...one }) => one)).toEqual(examples);
  }
});

test('export: a split, a tag and a version are those of the file, and a missing one gives no file', async () => {
  await imported('parts', { text: lines });
  await imported('parts', { text: jsonText([{ id: 'late', input: 'x' }]) });
  const ids = async (query: string): Promise<readonly unknown[]> =>
    (await file(`/datasets/parts/export?${query}`)).text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as JsonObject)['id']]));
  expect(await ids('')).toEqual(['refund', 'where', 'late']);
  expect(await ids('version=1')).toEqual(['refund', 'where']);
  expect(await ids('split=test')).toEqual(['where']);
  expect(await ids('tag=mail')).toEqual(['refund']);
  expect((await file('/datasets/parts/export?version=9')).status).toBe(404);
  expect((await file('/datasets/nothing/export')).status).toBe(404);
});

test('examples: the parameter review has only drafts, or the others', async () => {
  await imported('drafts', { text: lines });
  const ids = async (review: string): Promise<unknown> =>
    ((await asked(`/datasets/drafts/examples?review=${review}`)).body['examples'] as readonly JsonObject[]).map(({ id }) => id);
  expect([await ids('draft'), await ids('reviewed')]).toEqual([['where'], ['refund']]);
  expect((await asked('/datasets/drafts/examples?review=other')).status).toBe(400);
});

test('dataset files: answers have the form that the OpenAPI document states', async () => {
  await imported('form', { text: lines });
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema((await asked('/openapi.json')).body, 'api');
  const checked = (path: string, method: string, body: JsonObject): void => {
    const place = `api#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}/responses/200/content/application~1json/schema`;
    expect([path, ajv.validate({ $ref: place }, body), ajv.errors]).toEqual([path, true, null]);
  };
  checked('/datasets/{name}/forms', 'get', (await asked('/datasets/form/forms')).body);
  checked('/datasets/{name}/import', 'post', (await imported('form', { text: lines, check: true })).body);
  checked('/datasets/{name}/import', 'post', (await imported('form', { text: lines })).body);
});
