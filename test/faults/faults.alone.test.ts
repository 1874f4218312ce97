/** Every fault once; `npm run check -- faults --trials N` goes on from there. And what the harness would see if a promise were broken. */
import { describe, expect, test } from 'vitest';
import { doubledIn } from './doubled.ts';
import { faults } from './index.ts';
import type { Fault } from './fault.ts';
import { brokenReceipt, brokenSums } from './sums.ts';
import { accountOf } from './trial.ts';

describe.concurrent('faults', () => {
  for (const fault of faults) {
    test(`faults: ${fault.name}: ${fault.summary}`, async ({ expect: own }) => {
      const { acknowledged, lost, doubled, unsent, pages, broken } = await accountOf(fault, 0);
      own({ lost, doubled, broken }).toEqual({ lost: 0, doubled: 0, broken: [] });
      if (fault.scores === 'all sent') own(unsent).toBe(0);
      own(Math.min(acknowledged, pages)).toBeGreaterThan(0);
    });
  }

  const lyingDisk: Fault = {
    name: 'a disk that lies about its syncs',
    summary: 'The data that it had to keep is gone with the process.',
    scores: 'may be missing',
    world: (chance) => ({ disk: { kind: 'lying', seed: chance.below(1_000) } }),
    async suffer({ restart, acknowledged }) {
      await acknowledged(40);
      await restart('SIGKILL');
      await acknowledged(4);
    },
  };

  test('faults: what a disk loses that lies about its syncs is counted as lost', async ({ expect: own }) => {
    own((await accountOf(lyingDisk, 0, { looks: 30 })).lost).toBeGreaterThan(0);
  });
});

const page = `tracejury_receiver_requests_total{tracejury_transport="http",tracejury_signal="traces",tracejury_status="200",tracejury_reason=""} 3
tracejury_receiver_requests_total{tracejury_transport="grpc",tracejury_signal="traces",tracejury_status="OK",tracejury_reason=""} 2
tracejury_receiver_empty_total{tracejury_signal="traces"} 1
tracejury_journal_records_total{tracejury_record="traces"} 5
tracejury_journal_records_total{tracejury_record="copy"} 7
tracejury_store_items_total{tracejury_outcome="written"} 5
tracejury_store_queue 1
tracejury_exporter_items_total{tracejury_exporter="metrics",tracejury_outcome="sent"} 6
tracejury_exporter_queue{tracejury_exporter="metrics"} 0
tracejury_exporter_items_total{tracejury_exporter="span_events",tracejury_outcome="sent"} 4
tracejury_exporter_items_total{tracejury_exporter="span_events",tracejury_outcome="retried"} 9
tracejury_exporter_queue{tracejury_exporter="span_events"} 2
tracejury_runs_total{gen_ai_agent_name="a"} 4
tracejury_runs_total{gen_ai_agent_name="b"} 2
tracejury_decisions_total{gen_ai_evaluation_name="tool_error",tracejury_decision="scored",tracejury_reason=""} 5
tracejury_decisions_total{gen_ai_evaluation_name="tool_error",tracejury_decision="skipped",tracejury_reason="no_tool_calls"} 1
tracejury_evaluation_results_total{gen_ai_evaluation_name="tool_error",gen_ai_evaluation_score_label="pass"} 5
tracejury_evaluation_results_total{gen_ai_evaluation_name="tool_error",gen_ai_evaluation_score_label="skipped"} 1
tracejury_evaluation_score_count{gen_ai_evaluation_name="tool_error"} 5
`;

test('faults: the sums of a page that adds up hold', () => {
  expect(brokenSums(page)).toEqual([]);
});

const wrong: readonly (readonly [what: string, from: string, to: string, told: string])[] = [
  [
    'a request that was acknowledged and not written down',
    'tracejury_record="traces"} 5',
    'tracejury_record="traces"} 3',
    'requests of traces that were answered with success: 5, not 4',
  ],
  ['a run that the store never got', 'written"} 5', 'written"} 4', 'items of the exporter metrics: 6, not 5'],
  [
    'a score that an exporter lost',
    'tracejury_exporter="span_events",tracejury_outcome="sent"} 4',
    'tracejury_exporter="span_events",tracejury_outcome="sent"} 3',
    'items of the exporter span_events: 5, not 6',
  ],
  [
    'a run without a decision',
    'tracejury_reason="no_tool_calls"} 1',
    'tracejury_reason="no_tool_calls"} 0',
    'decisions of tool_error: 5, not 6',
  ],
  ['a verdict that is counted twice', 'label="pass"} 5', 'label="pass"} 6', 'results of tool_error: 7, not 6'],
];
for (const [what, from, to, told] of wrong) {
  test(`faults: ${what} is reported`, () => {
    expect(page).toContain(from);
    expect(brokenSums(page.replace(from, to))).toContain(told);
  });
}

test('faults: a span that was acknowledged and not counted is reported', () => {
  const received = 'tracejury_receiver_spans_total{tracejury_outcome="accepted",tracejury_reason=""} 6\n';
  expect(brokenReceipt(received, { acknowledged: 6 })).toEqual([]);
  expect(brokenReceipt(received, { acknowledged: 7 })).toEqual(['spans received: 6 accepted and 0 rejected, not 7 and 0']);
  // A page on which one is still under way.
  expect(brokenReceipt(`${page}${received}`, { acknowledged: 6 })).toEqual(['requests of traces: 5 answered with success, not 6']);
});

const run = (more: object = {}) => ({
  trace_id: 't',
  span_id: 's',
  revision: 1,
  completeness: 'complete',
  verdicts: [{ name: 'a' }, { name: 'b' }],
  ...more,
});
const doubles: readonly {
  readonly name: string;
  readonly runs: Parameters<typeof doubledIn>[0];
  readonly spans: readonly string[];
  readonly count: number;
}[] = [
  { name: 'a run with its span of scores', runs: [run()], spans: ['1'], count: 0 },
  { name: 'a run twice', runs: [run(), run()], spans: ['1'], count: 1 },
  { name: 'a run that was evaluated again', runs: [run({ revision: 2 })], spans: ['1'], count: 1 },
  { name: 'two verdicts of one name', runs: [run({ verdicts: [{ name: 'a' }, { name: 'a' }] })], spans: ['1'], count: 1 },
  { name: 'two spans of scores', runs: [run()], spans: ['1', '2'], count: 1 },
];
for (const { name, runs, spans, count } of doubles) {
  test(`faults: ${name} counts as ${count} doubled`, () => {
    expect(doubledIn(runs, new Map([['t', new Set(spans)]]))).toBe(count);
  });
}
