/** Calls in the text form of Python objects. */
import { describe, expect, test } from 'vitest';
import { readPythonCalls } from '../../../collectors/parsing/conventions.ts';
import { pythonLiteralCharsMax } from '../../../collectors/parsing/python-literal.ts';

const cases: readonly { readonly name: string; readonly text: string; readonly calls: readonly object[] | undefined }[] = [
  {
    name: 'one call',
    text: `ResponseFunctionToolCall(arguments='{"x": 1}', call_id='c1', name='t', type='function_call', id='fc_1', status=None)`,
    calls: [{ id: 'c1', name: 't', arguments: { x: 1 } }],
  },
  {
    name: 'several calls',
    text: `ResponseFunctionToolCall(name='a', call_id='c1', arguments='{}')\nResponseFunctionToolCall(name="b", call_id="c2", arguments="{}")`,
    calls: [
      { id: 'c1', name: 'a' },
      { id: 'c2', name: 'b' },
    ],
  },
  {
    name: 'brackets and quotes inside texts',
    text: `ResponseFunctionToolCall(arguments='{"q": "a) \\\\"b\\\\" (c"}', name='t')`,
    calls: [{ name: 't', arguments: { q: 'a) "b" (c' } }],
  },
  { name: 'a call without a name', text: `ResponseFunctionToolCall(call_id='c1')`, calls: [] },
  {
    name: 'a call that is cut short',
    text: `ResponseFunctionToolCall(name='a')ResponseFunctionToolCall(name='b', arguments='{`,
    calls: [{ name: 'a' }],
  },
  {
    name: 'members that are named like those of every object',
    text: `ResponseFunctionToolCall(__proto__='x', constructor='y', name='t')`,
    calls: [{ name: 't' }],
  },
  { name: 'any other text', text: 'I call ResponseFunctionToolCall(name=1)', calls: undefined },
];

const large = 20_000;
const hostile: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'beginnings', text: 'ResponseFunctionToolCall('.repeat(large) },
  { name: 'letters', text: `ResponseFunctionToolCall(${'a'.repeat(40 * large)}` },
  { name: 'quotes', text: `ResponseFunctionToolCall(${"'".repeat(40 * large + 1)}` },
  { name: 'beginnings with open quotes', text: "ResponseFunctionToolCall('".repeat(large) },
];

describe('python calls', () => {
  for (const { name, text, calls } of cases) {
    test(`python calls: ${name}`, () => {
      if (calls === undefined) expect(readPythonCalls(text)).toBeUndefined();
      else expect(readPythonCalls(text)).toMatchObject(calls);
      expect(readPythonCalls(text)?.length).toBe(calls?.length);
    });
  }
  for (const { name, text } of hostile)
    test(`python calls: ${text.length} characters of ${name} are looked at once`, () => expect(readPythonCalls(text)).toEqual([]));

  test('python calls: a text beyond the limit is not read', () => {
    expect(readPythonCalls(`ResponseFunctionToolCall(name='${'a'.repeat(pythonLiteralCharsMax)}')`)).toBeUndefined();
  });
});
