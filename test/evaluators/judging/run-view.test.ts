import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outlineText, runView } from '../../../evaluators/judging/run-view.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';

const steps = (many: number, result: (at: number) => string) =>
  Array.from({ length: many }, (_, at) => call({ name: at % 3 === 0 ? 'search' : 'fetch', arguments: { at }, result: result(at) }));

test('run view: a run that fits is shown whole, with what was said between the calls', () => {
  const trace = agentTrace({
    toolCalls: [
      call({ name: 'search', arguments: { q: 'x' }, result: { hits: 2 } }),
      call({ name: 'book', result: undefined, error: { message: 'sold out', sign: 'span_status' } }),
      call({ name: 'pay', executed: false, result: undefined }),
    ],
    messages: [
      { role: 'system', text: 'hush', calls: [] },
      { role: 'user', text: 'Book.', calls: [] },
      { role: 'assistant', text: 'I search.', calls: [0, 1] },
      { role: 'tool', text: 'raw', calls: [] },
      { role: 'assistant', calls: [2] },
    ],
  });
  expect(runView(trace)).toEqual({
    text: 'user said: Book.\nassistant said: I search.\n1. search({"q":"x"})\n   returned: {"hits":2}\n2. book({})\n   failed: sold out\n3. pay({})\n   did not run',
    truncated: false,
    leftOut: [],
    entries: expect.any(Function),
  });
});

test('run view: where the messages lack calls, only the calls are shown', () => {
  expect(runView(agentTrace({ toolCalls: [call(), call()], messages: [{ role: 'assistant', text: 'One.', calls: [0] }] })).text).toBe(
    '1. t({})\n   returned: ok\n2. t({})\n   returned: ok',
  );
});

test('run view: without steps it shows a note', () => {
  expect(runView(agentTrace())).toEqual({ text: '(no steps)', truncated: false, leftOut: [], entries: expect.any(Function) });
});

test('run view: what an earlier step returned is referred to, and nothing is lost by that', () => {
  const same = 'the same long page '.repeat(100);
  const view = runView(agentTrace({ toolCalls: steps(10, () => same) }), { charsMax: 5_000 });
  expect(view).toMatchObject({ truncated: false, leftOut: [] });
  expect(view.text.split(same)).toHaveLength(2);
  expect(view.text).toContain('10. search({"at":9})\n   (the same as step 1)');
});

test('run view: long results in the middle lose their middle, and those at the ends keep more', () => {
  const view = runView(agentTrace({ toolCalls: steps(20, (at) => `BEGIN${at} ${'x'.repeat(1_500)} END${at}`) }), { charsMax: 20_000 });
  expect(view).toMatchObject({ truncated: true, leftOut: [] });
  expect(view.text.length).toBeLessThanOrEqual(20_000);
  for (const at of [0, 2, 17, 19]) expect(view.text).toContain(`BEGIN${at} ${'x'.repeat(1_500)} END${at}`);
  for (const at of [0, 10, 19]) expect(view.text).toMatch(new RegExp(`BEGIN${at} .*END${at}`));
  expect(view.text).toMatch(/BEGIN10 x+ \[cut: \d+ characters\] x+ END10/);
});

test('run view: steps of a very long run are left out in its middle, and it names them, their tools, and the number that failed', () => {
  const calls = steps(900, (at) => `r${at}`).map((one, at) =>
    at === 450 ? call({ ...one, result: undefined, error: { message: 'no', sign: 'span_status' } }) : one,
  );
  const view = runView(agentTrace({ toolCalls: calls }), { charsMax: 8_000 });
  expect(view.truncated).toBe(true);
  expect(view.text.length).toBeLessThanOrEqual(8_000);
  const [first = 0] = view.leftOut;
  const last = view.leftOut.at(-1) ?? 0;
  expect(view.leftOut).toHaveLength(last - first + 1);
  const searches = view.leftOut.filter((at) => at % 3 === 0).length;
  expect(view.text).toContain(
    `[left out: steps ${first + 1} to ${last + 1} (fetch ${view.leftOut.length - searches}×, search ${searches}×; 1 failed)]`,
  );
  expect(view.text).toContain('1. search({"at":0})\n   returned: r0');
  expect(view.text).toContain('900. fetch({"at":899})\n   returned: r899');
});

test('run view: only the calls that are asked for', () => {
  expect(runView(agentTrace({ toolCalls: steps(5, String) }), { calls: [1, 3] }).text).toBe(
    '2. fetch({"at":1})\n   returned: 1\n4. search({"at":3})\n   returned: 3',
  );
});

test('run view: however long the texts, it keeps within its length, shows or counts every call, and notes when something is missing', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 120 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 6_000, max: 30_000 }), (given, charsMax) => {
      const trace = agentTrace({
        toolCalls: given.map((length, at) => call({ arguments: { at }, result: `${at}:${'y'.repeat(length)}` })),
      });
      const { text, truncated, leftOut } = runView(trace, { charsMax });
      expect(text.length).toBeLessThanOrEqual(charsMax);
      const shownCalls = given.filter((_, at) => text.includes(`${at + 1}. t({"at":${at}})`)).length;
      expect(shownCalls + leftOut.length).toBe(given.length);
      if (!truncated) for (const [at, length] of given.entries()) expect(text).toContain(`${at}:${'y'.repeat(length)}`);
    }),
    { numRuns: 50 },
  );
});

test('run view: the outline has a line for each call', () => {
  expect(
    outlineText(
      agentTrace({
        toolCalls: [
          call({ name: 'a' }),
          call({ name: 'b', executed: false }),
          call({ name: 'c', error: { message: '', sign: 'span_status' } }),
        ],
      }),
      1_000,
    ),
  ).toBe('1. a: ran\n2. b: did not run\n3. c: failed');
  expect(outlineText(agentTrace({ toolCalls: steps(100, String) }), 200).length).toBeLessThan(260);
});
