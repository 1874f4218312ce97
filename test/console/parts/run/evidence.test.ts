import { expect, test } from 'vitest';
import { evidenceLinks, verdictsBySpan } from '../../../../src/console/parts/run/evidence.ts';

const calls = [
  { name: 'find', span_id: 'aa' },
  { name: 'send', span_id: 'bb' },
];
const parts = [
  { index: 0, tool: 'find', call_id: null, span_id: 'aa', score: 1, passed: true, explanation: 'fits' },
  { index: 1, tool: 'send', call_id: null, span_id: 'bb', score: 0, passed: false, explanation: 'send (call 2): to is missing.' },
];

test('failed parts come first, with what is said of them', () => {
  expect(
    evidenceLinks({ name: 'v', evidence: ['bb', 'cc'], details: { parts } }, calls, (id) => (id === 'cc' ? 'chat gpt' : undefined)),
  ).toEqual([
    { label: 'send (call 2)', spanId: 'bb', call: 1, text: 'send (call 2): to is missing.', passed: false },
    { label: 'chat gpt', spanId: 'cc', call: undefined, text: '', passed: undefined },
  ]);
});

test('a span of the evidence has the name of its call, or its id', () => {
  expect(
    evidenceLinks({ name: 'v', evidence: ['aa', 'aa', 'dd'] }, calls, () => undefined).map(({ label, call }) => [label, call]),
  ).toEqual([
    ['find (call 1)', 0],
    ['span dd', undefined],
  ]);
});

test('parts of other kinds are named by their kind', () => {
  const details = {
    parts: [{ of: 'sub_agent', index: 0, tool: 'writer', span_id: 'ee', passed: false, explanation: 'rude' }, 'no part', { index: 'x' }],
  };
  expect(evidenceLinks({ name: 'v', details }, calls, () => undefined)).toEqual([
    { label: 'sub-agent 1: writer', spanId: 'ee', call: undefined, text: 'rude', passed: false },
  ]);
});

test('each span knows which verdicts fail it and pass it', () => {
  const found = verdictsBySpan([
    { name: 'validity', passed: false, evidence: ['bb'], details: { parts } },
    { name: 'errors', passed: false, evidence: ['bb', 'cc'] },
    { name: 'fine', passed: true, evidence: ['cc'] },
  ]);
  expect(Object.fromEntries(found)).toEqual({
    aa: { failed: [], passed: ['validity'] },
    bb: { failed: ['validity', 'errors'], passed: [] },
    cc: { failed: ['errors'], passed: [] },
  });
});
