/** The order of eviction when memory is short: closed traces, then quiet ones; a trace that is still growing only at the hard bound. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { defaultGroupLimits } from '../../../src/pipeline/gathering/close-policy.ts';
import { pipeline, type Pipeline } from '../../../src/pipeline/pipeline.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { agentSpan, choiceRecord, toolSpan } from '../../builders/gen-ai-spans.ts';
import { gathered } from '../../builders/gathered.ts';

test('relief: bytes of open traces are those of traces that are not done', () => {
  const to = gathered();
  to.spans(agentSpan({ id: 1, trace: 1 }), toolSpan({ id: 2, trace: 2, parent: 9 }));
  expect([to.bytes(), to.openBytes()]).toEqual([200, 200]);
  to.pass(1_000);
  expect([to.bytes(), to.openBytes()]).toEqual([200, 100]);
  // A straggler opens its trace again.
  to.spans(toolSpan({ id: 3, trace: 1, parent: 1 }));
  expect([to.bytes(), to.openBytes()]).toEqual([300, 300]);
  to.pass(10_000);
  expect([to.bytes(), to.openBytes()]).toEqual([300, 100]);
  to.pass(2 * 3_600_000);
  expect([to.bytes(), to.openBytes()]).toEqual([0, 0]);
});

test('relief: when less may be spared, closed traces go at once and a trace that still grows stays', () => {
  let spare = 1_000;
  const to = gathered({ bytesMax: 1_000, spareBytesMax: () => spare });
  to.spans(agentSpan({ id: 1, trace: 1 }));
  to.pass(1_000);
  to.spans(toolSpan({ id: 2, trace: 2, parent: 9 }));
  spare = 0;
  to.relieve();
  expect([to.traces(), to.openBytes(), to.closed()]).toEqual([1, 100, ['500 ms: run 1, complete, revision 1']]);
});

test('relief: when less may be spared, a trace that has been quiet for a minute is closed unfinished, oldest first', () => {
  // A run whose agent has not come is named by the span that is missing.
  let spare = 1_000;
  const to = gathered({ bytesMax: 1_000, spareBytesMax: () => spare });
  to.spans(toolSpan({ id: 1, trace: 1, parent: 11 }));
  to.spans(toolSpan({ id: 2, trace: 2, parent: 12 }));
  to.pass(59_000);
  to.spans(toolSpan({ id: 3, trace: 3, parent: 9 }));
  to.pass(1_000);
  spare = 250;
  to.relieve();
  to.pass(0);
  expect([to.traces(), to.closed()]).toEqual([2, ['60000 ms: run 11, evicted, revision 1']]);
  spare = 0;
  to.relieve();
  to.pass(0);
  expect([to.traces(), to.closed()]).toEqual([1, ['60000 ms: run 12, evicted, revision 1']]);
});

test('relief: the oldest open trace is active while spans come to it; closed ones do not count', () => {
  const to = gathered();
  expect(to.isOldestActive()).toBe(false);
  to.spans(agentSpan({ id: 1, trace: 1 }));
  to.pass(1_000);
  expect(to.isOldestActive()).toBe(false);
  to.spans(toolSpan({ id: 2, trace: 2, parent: 11 }));
  to.pass(59_999);
  expect(to.isOldestActive()).toBe(true);
  to.pass(1);
  expect(to.isOldestActive()).toBe(false);
  to.spans(toolSpan({ id: 3, trace: 2, parent: 11 }));
  expect(to.isOldestActive()).toBe(true);
});

interface Pressed {
  readonly flow: Pipeline;
  press(): void;
}

const pressures: readonly { readonly by: string; readonly press: (to: Pressed) => void }[] = [
  { by: 'spans', press: ({ flow }) => flow.spans(noTenant, [toolSpan({ id: 2, trace: 2, parent: 12, bytes: 950 })], 2) },
  {
    by: 'log records',
    press: ({ flow }) =>
      flow.logs(
        noTenant,
        Array.from({ length: 10 }, (_, at) => choiceRecord({ span: 1, time: at, text: `${at}` })),
        3,
      ),
  },
  {
    by: 'a tighter bound',
    press({ flow, press }) {
      press();
      flow.relieve();
    },
  },
];

for (const { by, press } of pressures) {
  test(`relief: what has to close for ${by} is delivered before a journal hears that it is finished`, () => {
    const delivered: string[] = [];
    const clock = manualClock(0);
    let spare = 1_000;
    const flow = pipeline({
      collectors,
      clock,
      plan: [],
      context: evaluationContext(),
      telemetry: metricRegistry(),
      limits: { ...defaultGroupLimits, bytesMax: 1_000, spareBytesMax: () => spare },
      deliver: ({ run: { completeness } }) => delivered.push(completeness),
      ask: () => undefined,
    });
    flow.spans(noTenant, [toolSpan({ id: 1, trace: 1, parent: 11 })], 1);
    clock.advance(120_000);
    press({ flow, press: () => void (spare = 0) });
    expect([flow.references.takeFinished().map(({ positions }) => positions[0]), delivered]).toEqual([[1], ['evicted']]);
  });
}

test('open traces: closed ones that wait for late spans do not count', () => {
  const clock = manualClock(0);
  const telemetry = metricRegistry();
  const flow = pipeline({
    collectors,
    clock,
    plan: [],
    context: evaluationContext(),
    telemetry,
    deliver: () => undefined,
    ask: () => undefined,
  });
  const open = (): number | undefined => {
    clock.advance(1_000);
    flow.advance();
    const [point] = telemetry.snapshot().find(({ name }) => name === 'tracejury.open.traces')?.points ?? [];
    return point?.kind === 'number' ? point.value : undefined;
  };
  flow.spans(noTenant, [agentSpan({ id: 1, trace: 1 }), toolSpan({ id: 2, trace: 2, parent: 9 })], 1);
  expect(open()).toBe(1);
  flow.spans(noTenant, [agentSpan({ id: 9, trace: 2 })], 2);
  expect(open()).toBe(0);
  flow.spans(noTenant, [toolSpan({ id: 3, trace: 1, parent: 8 })], 3);
  expect(flow.bytes()).toBeGreaterThan(0);
  clock.advance(600_000);
  expect(open()).toBe(0);
});
