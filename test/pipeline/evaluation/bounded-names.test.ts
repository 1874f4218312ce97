import { expect, test } from 'vitest';
import { identityBytesMax, identityCharsMax, identityText } from '../../../src/model/identity-text.ts';
import { withBoundedNames } from '../../../src/pipeline/evaluation/bounded-names.ts';
import { agentTrace, call, tool } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';

const long = (text: string): string => `${text} ${'x'.repeat(2_000)}`;

test('names: a run whose names are short is the same run', () => {
  const own = run({ trace: agentTrace({ agent: 'a'.repeat(identityCharsMax), toolCalls: [call({ name: 'find' })] }) });
  expect(withBoundedNames(own)).toBe(own);
});

test('names: each long text that identifies is cut, two of them remain two, and content stays', () => {
  const own = run({
    service: long('service'),
    serviceVersion: long('version'),
    trace: agentTrace({
      agent: long('agent'),
      sessionId: long('session'),
      model: long('model'),
      input: long('input'),
      toolCalls: [call({ name: long('one') }), call({ name: long('other') })],
      toolDefinitions: [tool(long('one'))],
    }),
  });
  const { trace, ...bounded } = withBoundedNames(own);
  expect([trace.agent, trace.sessionId, trace.model, bounded.service, bounded.serviceVersion].map((text) => text?.length)).toEqual(
    Array.from({ length: 5 }, () => identityCharsMax),
  );
  expect(trace.toolCalls.map(({ name }) => name)).toEqual([identityText(long('one')), identityText(long('other'))]);
  expect(new Set([...trace.toolCalls, ...trace.toolDefinitions].map(({ name }) => name)).size).toBe(2);
  expect(trace.input).toBe(long('input'));
});

test.each(['é', '旅', '\u{1F9ED}', '\ud800'])(
  'names: a long text of %j takes a bounded number of bytes, keeps whole characters and is cut once',
  (sign) => {
    const names = ['a', 'ab', 'abc'].map((start) => identityText(start + sign.repeat(400)));
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(identityBytesMax);
      expect(Buffer.byteLength(name)).toBeGreaterThan(identityBytesMax - 4);
      expect(name.isWellFormed()).toBe(true);
      expect(identityText(name)).toBe(name);
    }
    expect(new Set(names).size).toBe(3);
  },
);

test('names: what a rule of redaction matches is gone before the cut', () => {
  const own = run({ trace: agentTrace({ agent: `${'a'.repeat(identityCharsMax - 25)} ann@example.org${'b'.repeat(100)}` }) });
  expect(withBoundedNames(own, (text) => text.replace(/\w+@[\w.]+/, '[email]')).trace.agent).toContain('[email]');
});
