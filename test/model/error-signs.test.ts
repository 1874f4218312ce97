/** Texts and objects that tools return: those that fail, and those that only speak of failures. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/model/agent-trace.ts';
import { errorSign, failureSign, statusUses } from '../../src/model/error-signs.ts';
import type { JsonValue } from '../../src/model/json.ts';

interface Row {
  readonly result: JsonValue;
  readonly why?: string;
  readonly form?: string;
}

function rowsOf(name: string): readonly Row[] {
  return JSON.parse(readFileSync(new URL(`../fixtures/error-signs/${name}.json`, import.meta.url), 'utf8')) as readonly Row[];
}

/** Nothing in these distinguishes them from an ordinary text, or too little. */
const notRecognised = [
  'Timeout: no response after 30s',
  'TimeoutError',
  'status 500',
  'Could not find hotel',
  'Failed: boom',
  'FAILED: x',
  'Failure: boom',
  'Not authorized',
  'Killed',
];

test('error-signs: no harmless result has a sign', () => {
  const rows = rowsOf('harmless');
  expect(rows.length).toBeGreaterThanOrEqual(350);
  expect(rows.flatMap(({ result }) => (errorSign(result) === undefined ? [] : [{ result, form: errorSign(result)?.form }]))).toEqual([]);
});

test('error-signs: errors have one, but for the few that are listed', () => {
  const rows = rowsOf('errors');
  expect(rows.length).toBeGreaterThanOrEqual(300);
  expect(rows.filter(({ result }) => errorSign(result) === undefined).map(({ result }) => result)).toEqual(notRecognised);
});

const trace = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x';
const places = [
  { name: 'white space before it', result: `\n  ${trace}`, form: 'python' },
  { name: 'as the only member', result: { output: trace }, form: 'python' },
  { name: 'as the only part', result: [{ type: 'text', text: trace }], form: 'python' },
  { name: 'as a JSON text in quotes', result: JSON.stringify(trace), form: 'python' },
  { name: 'behind a separate line', result: `3 lines\n${trace}`, form: undefined },
  { name: 'as one member of several', result: { text: trace, page: 3 }, form: undefined },
  {
    name: 'as one part of several',
    result: [
      { type: 'text', text: trace },
      { type: 'text', text: 'b' },
    ],
    form: undefined,
  },
  { name: 'in a text of ten million characters', result: `${trace}\n${'x'.repeat(10_000_000)}`, form: 'python' },
  { name: 'under a name that an object inherits', result: '{"__proto__":{"isError":true,"content":"x"}}', form: undefined },
] as const;
for (const { name, result, form } of places) {
  test(`error-signs: a traceback ${name} is ${form === undefined ? 'no sign' : 'a sign'}`, () => {
    expect(errorSign(result as JsonValue)?.form).toBe(form);
  });
}

test('error-signs: a text that begins with a quotation mark and is not a JSON text is read unchanged', () => {
  expect(errorSign('"city" is no city of this country\n\nFix the errors and try again.')?.form).toBe('model_retry');
});

test('error-signs: hostile texts of any length take no more than their beginning', () => {
  const beginnings = [
    'Error ',
    'a.',
    'A',
    'Error: ',
    '{"status":',
    '\\u00',
    '{"a":[',
    'panic: ',
    '❌',
    'Failed to read ',
    'x: ',
    "thread '",
    'Error: A ',
    '1 ',
    '(',
    '"',
  ];
  for (const start of beginnings)
    expect([undefined, 'error', 'python_repr', 'failed_to', 'go']).toContain(errorSign(start.repeat(200_000))?.form);
});

const inWrappers: readonly { readonly name: string; readonly result: JsonValue; readonly isError: boolean }[] = [
  { name: 'the one part of a wrapper is its text', result: { content: [{ type: 'text', text: 'Error: no seat is left' }] }, isError: true },
  {
    name: 'the first of several parts is not the whole result',
    result: {
      content: [
        { type: 'text', text: 'Error: no seat is left' },
        { type: 'text', text: 'Booked on the next train.' },
      ],
    },
    isError: false,
  },
  { name: 'a wrapper around nothing has no sign', result: { result: null }, isError: false },
  { name: 'a wrapper around a number has no sign', result: { value: 500 }, isError: false },
  { name: 'a wrapper around an empty list has no sign', result: { data: [] }, isError: false },
];
for (const { name, result, isError } of inWrappers)
  test(`error-signs: ${name}`, () => expect(errorSign(result) !== undefined).toBe(isError));

const failing = 'Error: amount 500 is more than the limit';
const wrappers: readonly { readonly name: string; readonly wrap: (text: string) => JsonValue }[] = [
  { name: 'a wrapper as JSON text', wrap: (text) => JSON.stringify({ output: text }) },
  { name: 'JSON text in a wrapper', wrap: (text) => ({ output: JSON.stringify(text) }) },
  { name: 'a content list as JSON text', wrap: (text) => JSON.stringify([{ type: 'text', text }]) },
  { name: 'an MCP result as JSON text', wrap: (text) => JSON.stringify({ content: [{ type: 'text', text }] }) },
  { name: 'an MCP result in a wrapper', wrap: (text) => ({ result: { content: [{ type: 'text', text }] } }) },
  { name: 'a typed value', wrap: (text) => ({ type: 'text', value: text }) },
  { name: 'a block of code', wrap: (text) => `\`\`\`text\n${text}\n\`\`\`` },
  { name: 'the word Observation', wrap: (text) => `Observation: ${text}` },
  { name: 'the words Tool result', wrap: (text) => `Tool result: ${text}` },
  {
    name: 'the repr of a content list',
    wrap: (text) => `[TextContent(type='text', text="${text.replaceAll('\n', String.raw`\n`)}", annotations=None)]`,
  },
  { name: 'a character without width', wrap: (text) => `\u200b${text}` },
];
for (const { name, wrap } of wrappers) {
  test(`error-signs: an error within ${name} is a sign`, () => expect(errorSign(wrap(failing))?.form).toBe('error'));
  test(`error-signs: no harmless result within ${name} has a sign`, () => {
    const texts = rowsOf('harmless').flatMap(({ result }) => (typeof result === 'string' ? [result] : []));
    expect(texts.filter((text) => errorSign(wrap(text)) !== undefined)).toEqual([]);
  });
}

const shaped: readonly { readonly result: JsonValue; readonly form: string | undefined }[] = [
  { result: { result: { error: 'boom' } }, form: 'error_member' },
  { result: { output: '{"error":"no such user"}' }, form: 'error_member' },
  { result: '```json\n{"error": "boom"}\n```', form: 'error_member' },
  { result: { toolResult: { isError: true, content: [] } }, form: 'is_error' },
  { result: { type: 'error-text', value: 'boom' }, form: 'type_error_output' },
  { result: { type: 'error-json', value: { reason: 'boom' } }, form: 'type_error_output' },
  { result: { exit_code: 1, stdout: '', stderr: 'boom' }, form: 'exit_code' },
  { result: '{"returncode":2,"stdout":"x"}', form: 'exit_code' },
  { result: { exit_code: 0, stdout: '', stderr: 'warning: x' }, form: undefined },
  { result: { exit_code: 1, stdout: 'x', name: 'nightly build', owner: 'ann' }, form: undefined },
  { result: "meta=None content=[TextContent(type='text', text='boom')] isError=True", form: 'mcp_repr' },
  { result: "meta=None content=[TextContent(type='text', text='fine')] isError=False", form: undefined },
  { result: "content='boom' name='x' tool_call_id='1' status='error'", form: 'langchain_repr' },
  { result: "content='fine' name='x' tool_call_id='1'", form: undefined },
  { result: { content: [{ type: 'text', text: failing }], isError: false }, form: undefined },
];
for (const { result, form } of shaped) {
  test(`error-signs: ${JSON.stringify(result).slice(0, 80)} is ${form ?? 'no sign'}`, () => expect(errorSign(result)?.form).toBe(form));
}

const underOk = [
  { name: 'a traceback', result: trace, weigh: true, trust: false, ignore: true },
  { name: 'success: false', result: { success: false }, weigh: true, trust: false, ignore: true },
  {
    name: 'an error page of a server that failed',
    result: '<html><head><title>503 Service Unavailable</title></head></html>',
    weigh: true,
    trust: false,
    ignore: true,
  },
  { name: 'a tag of a logger', result: '[ERROR] quota used up', weigh: true, trust: false, ignore: true },
  {
    name: 'a page that is missing',
    result: '<html><head><title>404 Not Found</title></head></html>',
    weigh: false,
    trust: false,
    ignore: true,
  },
  { name: 'an exit code', result: { exit_code: 1, stdout: '', stderr: 'no match' }, weigh: false, trust: false, ignore: true },
  { name: 'an error that the protocol marks', result: { isError: true, content: [] }, weigh: true, trust: true, ignore: true },
  { name: 'a harmless text', result: 'Error handling guide', weigh: false, trust: false, ignore: false },
] as const;

test.for(underOk)('error-signs: under a span that states OK, $name', ({ result, ...wanted }) => {
  const call: ToolCall = { name: 'search', executed: true, statedOk: true, result };
  const found = Object.fromEntries(statusUses.map((use) => [use, failureSign(call, use) !== undefined]));
  expect({ ...found, name: wanted.name }).toEqual(wanted);
});
