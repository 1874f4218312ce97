/** A claim counts as right, wrong or not made, field by field. */
import { describe, expect, test } from 'vitest';
import { claimsOf } from './claims.ts';
import type { ExpectedRecording, ExpectedTrace } from './expected.ts';
import { collectors } from '../../collectors/index.ts';
import { ownRecordings, play } from './read.ts';

const recording = ownRecordings().find(({ name }) => name === 'openinference-openai-agents/handoff');
const runs = recording === undefined ? [] : play(recording, collectors).runs;

function counts(change: Partial<ExpectedTrace>, whole: Partial<ExpectedRecording> = {}): (field: string) => readonly number[] {
  const [trace] = recording?.expected.traces ?? [];
  if (recording === undefined || trace === undefined) throw new Error('no such recording');
  const claims = claimsOf({ ...recording.expected, ...whole, traces: [{ ...trace, ...change }] }, runs);
  return (field) =>
    (['right', 'wrong', 'not claimed'] as const).map((state) => claims.filter((one) => one.field === field && one.state === state).length);
}

describe('claims', () => {
  test('claims: of a run that is as the agent ran, none is wrong', () => {
    const claims = recording === undefined ? [] : claimsOf(recording.expected, runs);
    expect(claims.filter(({ state }) => state === 'right').length).toBeGreaterThan(10);
    expect(claims.filter(({ state }) => state === 'wrong')).toEqual([]);
  });

  test.each([
    ['agent_name', { agent_name: 'another' }, [0, 1, 0]],
    ['agent_name', { agent_name: null }, [0, 0, 0]],
    ['input', { input: 'another' }, [0, 1, 0]],
    ['status', { status: 'error' }, [0, 0, 1]],
    ['llm_calls', { llm_calls: 99 }, [0, 1, 0]],
    ['tokens', { tokens: { input: 1, output: 1 } }, [0, 2, 0]],
    ['sub_agents', { sub_agents: [] }, [0, 1, 0]],
    ['tool call names', { tool_calls: [], sub_agents: [] }, [0, 2, 0]],
    ['arguments', { tool_calls: [{ name: 'none', arguments: {}, result: 1 }], sub_agents: [] }, [0, 0, 1]],
    ['tools', { tools: [{ name: 'none', description: '', input_schema: {} }], sub_agents: [] }, [0, 0, 1]],
  ] as const)('claims: %s of a run where the agent did %j', (field, change, expected) => {
    expect(counts(change)(field)).toEqual(expected);
  });

  test('claims: a value that the spans carry in part is excused as far as it is less', () => {
    expect(counts({ llm_calls: 99 }, { partly_carried: ['llm_calls'] })('llm_calls')).toEqual([1, 0, 0]);
    expect(counts({ llm_calls: 1 }, { partly_carried: ['llm_calls'] })('llm_calls')).toEqual([0, 1, 0]);
  });

  test.each([
    ['openai/gpt-4o-mini', 'right'],
    ['gpt-4o-mini-2024-07-18', 'right'],
    ['openai/gpt-4o', 'wrong'],
    ['gpt-5-mini', 'wrong'],
  ])('claims: the model %s, where gpt-4o-mini was asked, is %s', (model, state) => {
    const [trace] = recording?.expected.traces ?? [];
    if (recording === undefined || trace === undefined) throw new Error('no such recording');
    const told = runs.map((run) => ({ ...run, trace: { ...run.trace, model } }));
    const claims = claimsOf({ ...recording.expected, traces: [{ ...trace, model: 'gpt-4o-mini' }] }, told);
    expect(claims.flatMap((claim) => (claim.field === 'model' ? [claim.state] : []))).toEqual([state]);
  });

  test('claims: a sub-agent without a name claims none', () => {
    const [trace] = recording?.expected.traces ?? [];
    if (recording === undefined || trace === undefined) throw new Error('no such recording');
    const unnamed = runs.map(({ trace: { agent, ...rest }, ...run }) => ({
      ...run,
      trace: run.parent === undefined && agent !== undefined ? { agent, ...rest } : rest,
    }));
    const states = (expected: ExpectedRecording, field: string): readonly string[] =>
      claimsOf(expected, unnamed).flatMap((claim) => (claim.field === field ? [claim.state] : []));
    expect(new Set(states(recording.expected, 'sub_agents'))).toEqual(new Set(['not claimed']));
    expect(states(recording.expected, 'callers')).toContain('not claimed');
    expect(states({ ...recording.expected, traces: [{ ...trace, sub_agents: [] }] }, 'sub_agents')).toContain('wrong');
  });

  test('claims: a run in a trace without an agent is a wrong one', () => {
    const [trace] = recording?.expected.traces ?? [];
    const claims = counts({}, { other_otlp_traces: [{ otlp_trace_id: trace?.otlp_trace_id ?? '', root_spans: ['x'] }] });
    expect(claims('runs')).toEqual([1, 1, 0]);
  });
});
