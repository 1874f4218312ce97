/** Spans that are counted, refused or given up: duplicates, traces without a run, limits, tenants, our own spans. */
import { describe, expect, test } from 'vitest';
import { tenant } from '../../../src/model/ids.ts';
import { agentSpan, choiceRecord, modelSpan, modelSpanWithRecords, toolSpan } from '../../builders/gen-ai-spans.ts';
import { gathered } from '../../builders/gathered.ts';
import { record, span } from '../../builders/spans.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('group', () => {
  test('group: a trace without agent, model or tool span is never a run; it is counted and given up', () => {
    const to = gathered();
    to.spans(span({ id: 1, name: 'GET /health', kind: 2 }), span({ id: 2, parent: 1, name: 'SELECT', kind: 3 }));
    to.pass(10 * minute - 1);
    expect([to.traces(), to.bytes()]).toEqual([1, 200]);
    to.pass(1);
    expect([to.traces(), to.bytes(), to.closed(), to.count('tracejury.traces.dropped', 'no_agent_model_or_tool_span')]).toEqual([
      0,
      0,
      [],
      1,
    ]);
  });

  test('group: a trace without a run is also counted when the process ends', () => {
    const to = gathered();
    to.spans(span({ id: 1 }));
    to.closeAll();
    expect([to.closed(), to.count('tracejury.traces.dropped')]).toEqual([[], 1]);
  });

  test('group: a span or record that comes twice counts once and delays nothing', () => {
    const to = gathered();
    const spans = [agentSpan({ id: 1 }), modelSpanWithRecords({ id: 2, parent: 1 })];
    const records = [choiceRecord({ span: 2, text: 'done' })];
    to.spans(...spans, ...spans);
    to.records(...records, ...records);
    to.pass(400);
    to.spans(...spans);
    to.records(...records);
    to.pass(minute);
    to.spans(...spans);
    to.records(...records);
    to.pass(minute);
    expect(to.closed()).toEqual(['500 ms: run 1, complete, revision 1']);
    expect([to.count('tracejury.spans.duplicate'), to.bytes(), to.count('tracejury.spans.late')]).toEqual([6, 300, 0]);
    expect(to.runs()[0]?.trace.finalResponse).toBe('done');
  });

  test('group: late spans are counted by what becomes of them', () => {
    const to = gathered();
    to.spans(agentSpan({ id: 1 }));
    to.pass(minute);
    to.spans(toolSpan({ id: 2, parent: 1 }));
    to.pass(hour - 1);
    expect([to.traces(), to.count('tracejury.spans.late', 'after_close')]).toEqual([1, 1]);
    to.pass(1);
    to.spans(toolSpan({ id: 3, parent: 1 }), toolSpan({ id: 4, parent: 1 }));
    to.records(choiceRecord({ span: 1, text: 'late' }));
    expect([to.traces(), to.bytes(), to.count('tracejury.spans.late', 'after_late')]).toEqual([0, 0, 2]);
  });

  test('group: a bounded number of closed traces is remembered, the latest', () => {
    const to = gathered({ tombstonesMax: 2 });
    for (const trace of [1, 2, 3]) to.spans(agentSpan({ id: trace, trace }));
    to.pass(2 * hour);
    to.closed();
    for (const trace of [3, 2, 1]) to.spans(agentSpan({ id: 10 + trace, trace }));
    to.pass(minute);
    expect(to.closed()).toEqual(['7200500 ms: run 11, complete, revision 1']);
  });

  test('group: spans beyond the limit of a trace are counted and left out', () => {
    const to = gathered({ spansPerTraceMax: 3 });
    to.spans(agentSpan({ id: 1 }), ...[2, 3, 4, 5].map((id) => toolSpan({ id, parent: 1 })));
    to.pass(minute);
    expect(to.runs().map((run) => run.trace.toolCalls.length)).toEqual([2]);
    expect([to.count('tracejury.spans.over_limit'), to.bytes()]).toEqual([2, 300]);
  });

  test('group: of two traces that become one within the limit no span is counted as left out', () => {
    const to = gathered({ spansPerTraceMax: 4 });
    to.spans(agentSpan({ id: 1, trace: 1 }), toolSpan({ id: 2, parent: 1, trace: 1 }));
    to.spans(
      agentSpan({ id: 11, trace: 2 }),
      span({ id: 12, parent: 11, trace: 2, scope: 'autogen SingleThreadedAgentRuntime', links: [{ trace: 1, span: 2 }] }),
    );
    expect([to.traces(), to.count('tracejury.spans.over_limit')]).toEqual([1, 0]);
  });

  test('group: records beyond the limit of a trace are left out', () => {
    const to = gathered({ recordsPerTraceMax: 2 });
    to.spans(agentSpan({ id: 1 }), modelSpanWithRecords({ id: 2, parent: 1 }));
    to.records(...[1, 2, 3].map((time) => choiceRecord({ span: 2, time, text: `${time}` })));
    to.pass(minute);
    expect([to.runs()[0]?.trace.finalResponse, to.bytes()]).toEqual(['2', 400]);
  });

  test('group: records that no collector reads, and records of no span, are not held', () => {
    const to = gathered();
    to.records(record({ span: 1, event: 'log line' }), record({ span: undefined, event: 'gen_ai.choice' }));
    expect([to.traces(), to.bytes()]).toEqual([0, 0]);
  });

  test('group: when memory runs short what is closed goes first, then the oldest that is open closes as evicted', () => {
    const to = gathered({ bytesMax: 500 });
    to.spans(agentSpan({ id: 1, trace: 1 }), modelSpan({ id: 2, trace: 1, parent: 1, asks: [{ id: 'c', name: 't' }] }));
    to.spans(agentSpan({ id: 3, trace: 2 }));
    to.pass(1_000);
    expect(to.closed()).toEqual(['500 ms: run 3, complete, revision 1']);
    to.spans(modelSpan({ id: 5, trace: 3, parent: 4 }), modelSpan({ id: 6, trace: 3, parent: 4 }));
    expect([to.traces(), to.bytes()]).toEqual([3, 500]);
    to.spans(modelSpan({ id: 7, trace: 3, parent: 4 }));
    expect([to.traces(), to.bytes()]).toEqual([2, 500]);
    to.spans(modelSpan({ id: 8, trace: 3, parent: 4 }));
    to.pass(0);
    expect([to.traces(), to.bytes(), to.closed()]).toEqual([1, 400, ['1000 ms: run 1, evicted, revision 1']]);
    to.spans(toolSpan({ id: 9, trace: 1, parent: 1, call: 'c' }));
    expect([to.bytes(), to.count('tracejury.spans.late', 'after_late')]).toEqual([400, 1]);
  });

  test('group: with any input, the bytes held stay within the budget', () => {
    const to = gathered({ bytesMax: 10_000 });
    let held = 0;
    for (let id = 1; id <= 2_000; id++) {
      to.spans(toolSpan({ id, trace: 1 + (id % 97), parent: 5_000 + (id % 3), bytes: 1 + ((id * 7_919) % 3_000) }));
      if (id % 11 === 0) to.pass(id % 700);
      held = Math.max(held, to.bytes());
    }
    expect(held).toBeLessThanOrEqual(10_000);
    expect(held).toBeGreaterThan(9_000);
  });

  test('group: a single trace that is larger than the budget closes as evicted and leaves nothing behind', () => {
    const to = gathered({ bytesMax: 150 });
    to.spans(agentSpan({ id: 1 }), toolSpan({ id: 2, parent: 1 }));
    to.pass(0);
    expect([to.closed(), to.bytes(), to.traces()]).toEqual([['0 ms: run 1, evicted, revision 1'], 0, 0]);
  });

  test('group: the larger a trace, the less often it is looked at while it grows', () => {
    const to = gathered();
    to.spans(agentSpan({ id: 1 }), ...Array.from({ length: 5_999 }, (_, index) => toolSpan({ id: index + 2, parent: 1 })));
    to.pass(minute);
    expect(to.closed()).toEqual(['600 ms: run 1, complete, revision 1']);
  });

  test('group: tenants never mix, not even in one trace id', () => {
    const to = gathered();
    to.spansOf(tenant('blue'), agentSpan({ id: 1 }), toolSpan({ id: 2, parent: 1, tool: 'of_blue' }));
    to.spansOf(tenant('green'), agentSpan({ id: 1 }), toolSpan({ id: 3, parent: 1, tool: 'of_green' }));
    to.pass(minute);
    expect(to.runs().map((run) => [run.tenant, run.trace.toolCalls.map((call) => call.name)])).toEqual([
      ['blue', ['of_blue']],
      ['green', ['of_green']],
    ]);
  });

  test('group: spans and records of our own are ignored', () => {
    const to = gathered();
    to.spans(agentSpan({ id: 1, attributes: { 'tracejury.generated': true } }));
    to.records(record({ span: 1, event: 'gen_ai.choice', attributes: { 'tracejury.generated': true } }));
    to.pass(hour);
    expect([to.traces(), to.runs(), to.count('tracejury.spans.own')]).toEqual([0, [], 1]);
  });
});
