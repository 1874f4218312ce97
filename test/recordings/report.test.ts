/** The runner's report: recordings of our dialects count, and those of others are read as far as some collector understands them. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { span } from '../builders/spans.ts';
import type { ExpectedRecording, ExpectedTrace } from './expected.ts';
import { play, recordingsIn, type Recording } from './read.ts';
import { reportOf } from './report.ts';

const folder = mkdtempSync(join(tmpdir(), 'recordings-report-'));
afterAll(() => rmSync(folder, { recursive: true }));
const options = { knownDialects: new Set(['ours']), isDetailed: false };

function recording(
  name: string,
  dialect: string,
  { spans, trace = {} }: { readonly spans: readonly Span[] | string; readonly trace?: Partial<ExpectedTrace> },
): Recording {
  const own = join(folder, 'sdk', name);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'request-01.binpb'), typeof spans === 'string' ? spans : writeTraces(spans, 'protobuf'));
  const expected: ExpectedRecording = {
    source: { package: 'sdk', version: '1', framework: null, framework_version: null },
    dialect,
    scenario: name,
    files: [{ file: 'request-01.binpb', kind: 'traces', content_type: 'application/x-protobuf', content_encoding: null }],
    decoded: { spans: spans.length, log_records: 0, otlp_traces: 1 },
    traces: [
      {
        agent_name: 'a',
        session_id: null,
        otlp_trace_id: '00000000000000000000000000000001',
        input: null,
        final_response: null,
        tool_calls: [],
        tools: [],
        llm_calls: 1,
        sub_agents: [],
        ...trace,
      },
    ],
    other_otlp_traces: [],
    not_carried: ['tokens'],
    partly_carried: [],
    only_in_logs: [],
  };
  writeFileSync(join(own, 'expected.json'), JSON.stringify(expected));
  return { name: `sdk/${name}`, folder: own, expected };
}

const known = [agentSpan({ id: 1, agent: 'a' }), modelSpan({ id: 2, parent: 1 })];

describe('report', () => {
  test('report: a recording that is equal has passed; one that differs names its fields, and how', () => {
    const equal = recording('equal', 'ours', { spans: known });
    const other = recording('other', 'ours', { spans: [...known, toolSpan({ id: 3, parent: 1 })], trace: { agent_name: 'b' } });
    const { lines, passed, failed } = reportOf([equal, other], options);
    expect([passed, failed]).toEqual([1, 1]);
    expect(lines.slice(0, 4).map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
      'sdk/equal ours passed',
      'sdk/other ours FAILED: agent_name 1, tool_calls 1',
      'agent_name: expected "b", got "a"',
      'tool_calls: expected ; got t',
    ]);
    expect(lines.map((line) => line.trim().split(/ +/))).toEqual(
      expect.arrayContaining([
        ['agent_name', '1', '0', '1'],
        ['tool_calls', '1', '0', '1'],
        ['tokens.input', '0', '2', '0'],
        ['llm_calls', '2', '0', '0'],
      ]),
    );
  });

  test('report: an unknown dialect is read as far as a collector recognises its spans, is named, and does not count', () => {
    const read = recording('read', 'new', { spans: known });
    const unread = recording('unread', 'new', { spans: [span({ id: 1, attributes: { 'some.thing': 1 } })] });
    const { lines, passed, failed } = reportOf([read, unread], options);
    expect([passed, failed]).toEqual([0, 0]);
    expect(lines.slice(0, 2).map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
      'sdk/read new equal, unknown dialect, read by gen_ai',
      'sdk/unread new unknown dialect, read by nobody: runs 1',
    ]);
    expect(lines.at(-1)).toBe('2 recordings are not counted, unknown dialect; 1 of them are equal all the same');
  });

  test('report: bodies that are none differ as a whole and break nothing off', () => {
    const broken = recording('broken', 'ours', { spans: '\u0001 no protobuf' });
    const { lines, failed } = reportOf([broken, recording('equal', 'ours', { spans: known })], options);
    expect([failed, lines.filter((line) => line.includes('FAILED: runs')).length]).toEqual([1, 1]);
  });

  test('report: folders that are not recordings are left out', () => {
    mkdirSync(join(folder, 'sdk', 'empty'), { recursive: true });
    expect(recordingsIn(folder).map(({ name }) => name)).not.toContain('sdk/empty');
  });
});

const sessions = recordingsIn(fileURLToPath(new URL('../fixtures/recordings', import.meta.url))).filter(
  ({ expected }) =>
    expected.traces.length > 1 && !expected.not_carried.includes('session_id') && expected.traces.every((turn) => turn.session_id !== null),
);

test('report: there are recorded sessions', () => {
  expect(sessions.length).toBeGreaterThan(5);
});

test.each(sessions.map((one) => [one.name, one] as const))(
  'report: the turns of %s come out in their order, under their session',
  (_name, one) => {
    const runs = play(one)
      .runs.filter((run) => run.parent === undefined)
      .toSorted((a, b) => (a.startUnixNano < b.startUnixNano ? -1 : 1));
    expect(runs.map(({ traceId, trace }) => [traceId, trace.sessionId])).toEqual(
      one.expected.traces.map((turn) => [turn.otlp_trace_id, turn.session_id]),
    );
  },
);
