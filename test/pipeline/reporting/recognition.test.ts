import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant, tenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { noticeOf, recognition, servicesMax, waitMs } from '../../../src/pipeline/reporting/recognition.ts';

function spansOf(service: string, scope: string, named: readonly string[], attributes: object = { 'http.route': '/a' }): readonly Span[] {
  const text = (value: unknown): object => ({ stringValue: String(value) });
  const spans = named.map((name, at) => ({
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: (at + 1).toString(16).padStart(16, '0'),
    name,
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: text(value) })),
  }));
  return readTraces(
    Buffer.from(
      JSON.stringify({
        resourceSpans: [
          { resource: { attributes: [{ key: 'service.name', value: text(service) }] }, scopeSpans: [{ scope: { name: scope }, spans }] },
        ],
      }),
    ),
    'json',
  ).spans;
}

const toolCall = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'book' };

test('recognition: a service without an agent is reported within ten seconds, once for each scope, with names and keys', () => {
  const clock = manualClock(0);
  const known = recognition({ collectors, clock });
  expect(known.spans(noTenant, spansOf('shop', 'my.loop', ['step', 'call model'], { prompt: 'x', reply: 'y' }))).toEqual([]);
  expect([known.due(), known.reported()]).toEqual([[], []]);
  clock.advance(waitMs);
  expect(waitMs).toBeLessThan(10_000);
  const told = [
    {
      tenant: noTenant,
      service: 'shop',
      scope: 'my.loop',
      spans: 2,
      names: ['step', 'call model'],
      keys: ['prompt', 'reply'],
      dialects: [],
    },
  ];
  expect(known.due()).toEqual(told);
  known.spans(noTenant, spansOf('shop', 'my.loop', ['step']));
  clock.advance(waitMs);
  expect(known.due()).toEqual([]);
  known.spans(noTenant, spansOf('shop', 'other', ['GET /']));
  clock.advance(waitMs);
  expect(known.due().map(({ scope }) => scope)).toEqual(['other']);
  expect(known.reported().map(({ scope }) => scope)).toEqual(['my.loop', 'other']);
});

test('recognition: a service with one span of an agent is reported as recognised, and its other scopes never are', () => {
  const clock = manualClock(0);
  const known = recognition({ collectors, clock });
  known.spans(noTenant, spansOf('shop', 'http', ['GET /']));
  const found = known.spans(noTenant, spansOf('shop', 'my.loop', ['execute_tool book'], toolCall));
  expect(found).toMatchObject([{ service: 'shop', scope: 'my.loop' }]);
  expect(found[0]?.dialects.length).toBeGreaterThan(0);
  expect(known.spans(noTenant, spansOf('shop', 'my.loop', ['execute_tool book'], toolCall))).toEqual([]);
  clock.advance(waitMs);
  expect([known.due(), known.reported()]).toEqual([[], []]);
});

test('recognition: an agent that is instrumented later takes its service off the list', () => {
  const clock = manualClock(0);
  const known = recognition({ collectors, clock });
  known.spans(noTenant, spansOf('shop', 'http', ['GET /']));
  clock.advance(waitMs);
  expect(known.due()).toHaveLength(1);
  known.spans(noTenant, spansOf('shop', 'my.loop', ['execute_tool book'], toolCall));
  expect(known.reported()).toEqual([]);
});

test('recognition: names and keys of strangers are cut, and cannot move a cursor', () => {
  const clock = manualClock(0);
  const known = recognition({ collectors, clock });
  known.spans(noTenant, spansOf('sh\u001b[31mop', 'a\nb', [`\u202e${'x'.repeat(5_000)}`]));
  clock.advance(waitMs);
  const [one] = known.due();
  expect(JSON.stringify(one)).not.toMatch(/\p{Cf}|\\u001b|\\n/u);
  expect(one?.names[0]?.length).toBeLessThanOrEqual(100);
});

test('recognition: services, scopes, names and keys are bounded', () => {
  const clock = manualClock(0);
  const known = recognition({ collectors, clock });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key.${at}`, 'x']));
  for (let at = 0; at < 1_500; at++)
    known.spans(noTenant, spansOf(`service ${at}`, 's', ['a', 'b', 'c', 'd', 'e', 'f', 'g'], at === 0 ? many : {}));
  for (let at = 0; at < 30; at++) known.spans(noTenant, spansOf('service 0', `scope ${at}`, ['a']));
  clock.advance(waitMs);
  const told = known.due();
  expect(new Set(told.map(({ service }) => service)).size).toBe(1_000);
  expect(told.filter(({ service }) => service === 'service 0')).toHaveLength(20);
  expect([told[0]?.names.length, told[0]?.keys.length]).toEqual([5, 20]);
});

test('recognition: the notice names what is missing and the page to read', () => {
  const one = { tenant: noTenant, service: 's', scope: 'c', spans: 1, names: [], keys: [], dialects: [] };
  expect(noticeOf(one)).toMatchObject({
    missing: expect.stringContaining('gen_ai.operation.name'),
    todo: expect.stringContaining('docs/tutorial/getting-started.md'),
  });
  expect(noticeOf({ ...one, dialects: ['langgraph'] }).missing).toContain('langgraph');
});

test('recognition: services of one tenant leave room for those of another one, which come in turn', () => {
  const clock = manualClock(0);
  const known = recognition({ collectors, clock });
  for (let at = 0; at <= servicesMax; at++) known.spans(tenant('flood'), spansOf(`junk-${at}`, 'x', ['step']));
  known.spans(tenant('victim'), spansOf('shop', 'x', ['step']));
  clock.advance(waitMs);
  expect(known.due()).toHaveLength(servicesMax + 1);
  expect(
    known
      .reported()
      .slice(0, 2)
      .map(({ service }) => service),
  ).toEqual(['junk-0', 'shop']);
});
