/** Late spans of runs that another process scored: what is stored comes back, and only what they change makes a new revision. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { LogRecord, Span } from '../../../src/model/span.ts';
import { type Gathering, gathering } from '../../../src/pipeline/gathering/gatherer.ts';
import type { StoredTrace } from '../../../src/pipeline/gathering/late-spans.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { agentSpan, choiceRecord, modelSpan, modelSpanWithRecords, toolSpan } from '../../builders/gen-ai-spans.ts';
import { record, traceId } from '../../builders/spans.ts';

interface Process {
  readonly gather: Gathering;
  take(spans: readonly Span[], records?: readonly LogRecord[]): void;
  /** Lets time pass and gives what closes. */
  pass(ms: number): readonly Run[];
  late(reason: string): number;
}

function started(): Process {
  const clock = manualClock(1_700_000_000_000);
  const telemetry = metricRegistry();
  const gather = gathering({ collectors, clock, telemetry });
  return {
    gather,
    take(spans, records = []) {
      gather.addSpans(noTenant, spans, 1);
      gather.addRecords(noTenant, records, 1);
    },
    pass(ms) {
      const closed: Run[] = [];
      for (let left = ms; left > 0; left -= 100) {
        clock.advance(100);
        closed.push(...gather.due());
      }
      return closed;
    },
    late: (reason) =>
      (telemetry.snapshot().find(({ name }) => name === 'tracejury.spans.late')?.points ?? []).reduce(
        (sum, point) => (point.kind === 'number' && Object.values(point.labels).includes(reason) ? sum + point.value : sum),
        0,
      ),
  };
}

const agent = agentSpan({ id: 1, agent: 'finder', input: 'q', output: 'a', start: 0, end: 90 });
const first = toolSpan({ id: 2, parent: 1, tool: 'find', result: 'x', start: 1, end: 2 });
const late = toolSpan({ id: 3, parent: 1, tool: 'book', result: 'y', start: 3, end: 4 });
const key = { tenant: noTenant, traceId: traceId(1) };

/** As the process that scored it would have stored it. */
function stored(spans: readonly Span[], given: Partial<StoredTrace> = {}): StoredTrace {
  return { ...key, runs: [{ spanId: spanId(1), revision: 1, partOf: undefined }], spans, records: [], ...given };
}

const tools = (runs: readonly Run[]) =>
  runs.map(({ revision, trace, completeness }) => [revision, completeness, trace.toolCalls.map(({ name }) => name)]);

test('reopening: only traces that show no root for a while are strays, and each is reported once', () => {
  const { gather, take, pass } = started();
  take([agent, toolSpan({ id: 12, parent: 11, trace: 2 }), toolSpan({ id: 22, parent: 21, trace: 3 })]);
  take([], [record({ span: 41, trace: 4, event: 'gen_ai.choice', body: { message: { role: 'assistant', content: 'x' } } })]);
  expect(gather.takeStrays()).toEqual([]);
  pass(1_000);
  take([agentSpan({ id: 11, trace: 2 }), toolSpan({ id: 52, parent: 51, trace: 5 })]);
  pass(1_600);
  expect(gather.takeStrays().map((one) => one.traceId)).toEqual([3, 4].map(traceId));
  pass(1_000);
  expect(gather.takeStrays().map((one) => one.traceId)).toEqual([traceId(5)]);
  expect(gather.takeStrays()).toEqual([]);
});

test('reopening: late spans make the next revision of the stored run, with all that was there before', () => {
  const { gather, take, pass, late: count } = started();
  take([late]);
  pass(2_600);
  expect(gather.takeStrays()).toEqual([key]);
  gather.reopen(stored([agent, first]));
  expect(tools(pass(2_000))).toEqual([[2, 'complete', ['find', 'book']]]);
  expect(count('after_close')).toBe(1);
  // From now on it is known here.
  take([toolSpan({ id: 4, parent: 1, tool: 'pay', start: 5, end: 6 })]);
  expect(tools(pass(2_000))).toEqual([[3, 'complete', ['find', 'book', 'pay']]]);
});

test('reopening: spans that are stored already change nothing, and their requests are needed no more', () => {
  const { gather, take, pass } = started();
  take([first]);
  pass(2_600);
  gather.takeStrays();
  gather.reopen(stored([agent, first], { runs: [{ spanId: spanId(1), revision: 4, partOf: undefined }] }));
  expect(pass(60_000)).toEqual([]);
  expect(gather.references.takeFinished().flatMap(({ keys }) => keys)).toContain(key.traceId);
  expect(gather.references.oldestPosition()).toBeUndefined();
});

test('reopening: of two runs of a trace only the one that changes has a new revision, and one that was part of another stays so', () => {
  const { gather, take, pass } = started();
  const sub = agentSpan({ id: 10, parent: 1, agent: 'helper', start: 10, end: 20 });
  take([toolSpan({ id: 11, parent: 10, tool: 'dig', start: 11, end: 12 })]);
  pass(2_600);
  gather.reopen(
    stored([agent, first, sub], {
      runs: [
        { spanId: spanId(1), revision: 1, partOf: undefined },
        { spanId: spanId(10), revision: 2, partOf: undefined },
        { spanId: spanId(2), revision: 2, partOf: `${key.traceId}/${spanId(1)}` },
      ],
    }),
  );
  expect(pass(2_000).map(({ spanId: id, revision }) => [id, revision])).toEqual([[spanId(10), 3]]);
});

test('reopening: late log records likewise', () => {
  const { gather, take, pass } = started();
  const model = modelSpanWithRecords({ id: 5, parent: 1, start: 5, end: 6 });
  take([], [choiceRecord({ span: 5, text: 'from a record' })]);
  pass(2_600);
  expect(gather.takeStrays()).toEqual([key]);
  gather.reopen(stored([agentSpan({ id: 1, agent: 'finder', start: 0, end: 90 }), model]));
  expect(pass(8_000).map(({ revision, trace }) => [revision, trace.finalResponse])).toEqual([[2, 'from a record']]);
});

test('reopening: what comes late for a run that cannot be scored again is counted, and founds no new run', () => {
  const { gather, take, pass, late: count } = started();
  take([late, modelSpan({ id: 6, parent: 1 })]);
  pass(2_600);
  gather.dismiss(key);
  take([toolSpan({ id: 7, parent: 1 })]);
  expect(pass(700_000)).toEqual([]);
  expect([count('not_kept'), count('after_late'), gather.traces()]).toEqual([2, 1, 0]);
  expect(gather.references.oldestPosition()).toBeUndefined();
});

test('reopening: a trace that has closed meanwhile, or is gone, stays unchanged', () => {
  const { gather, take, pass } = started();
  gather.reopen(stored([agent, first]));
  gather.dismiss(key);
  expect(gather.traces()).toBe(0);
  take([agent, late]);
  expect(tools(pass(2_000))).toEqual([[1, 'complete', ['book']]]);
  gather.reopen(stored([agent, first]));
  gather.dismiss(key);
  expect([pass(2_000), gather.traces()]).toEqual([[], 1]);
});
