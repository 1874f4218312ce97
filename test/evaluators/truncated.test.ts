/** Content cut by a limit is not judged as if it were whole: evaluators that need it are skipped. */
import { describe, expect, test } from 'vitest';
import type { EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { agentTrace, call, tool } from '../builders/agent-trace.ts';
import { judged, score } from './score.ts';

const schema = { type: 'object', required: ['x'], properties: { x: { type: 'string' } } };
const cutArguments = call({ arguments: undefined, truncated: { arguments: '{"x":"a lo' } });
const cutResult = call({ arguments: { x: 'y' }, result: undefined, truncated: { result: '{"flights":["AF' } });

interface Case {
  readonly name: string;
  readonly entry: EvaluatorEntry;
  readonly trace: Partial<AgentTrace>;
  readonly expected?: Expectation;
  /** Absent when skipped as truncated. */
  readonly scored?: number;
}

const cases: readonly Case[] = [
  {
    name: 'arguments that were cut are not invalid',
    entry: { use: 'tool_call_validity' },
    trace: { toolCalls: [cutArguments], toolDefinitions: [tool('t', schema)] },
  },
  {
    name: 'the other calls are checked',
    entry: { use: 'tool_call_validity' },
    trace: { toolCalls: [cutArguments, call({ arguments: {} })], toolDefinitions: [tool('t', schema)] },
    scored: 0,
  },
  {
    name: 'a tool whose definition was lost is not unknown',
    entry: { use: 'tool_call_validity' },
    trace: { toolCalls: [call({ name: 'u' })], toolDefinitions: [tool('t', schema)], truncated: ['spans'] },
  },
  {
    name: 'without a loss it is',
    entry: { use: 'tool_call_validity' },
    trace: { toolCalls: [call({ name: 'u' })], toolDefinitions: [tool('t', schema)] },
    scored: 0,
  },
  { name: 'no definition that is left', entry: { use: 'tool_call_validity' }, trace: { toolCalls: [call()], truncated: ['spans'] } },
  {
    name: 'arguments that are compared',
    entry: { use: 'tool_call_args' },
    trace: { toolCalls: [cutArguments] },
    expected: { toolCalls: [{ name: 't', arguments: { x: 'a long text' } }] },
  },
  {
    name: 'arguments of a trajectory',
    entry: { use: 'tool_trajectory' },
    trace: { toolCalls: [cutArguments] },
    expected: { toolCalls: [{ name: 't', arguments: { x: 'a long text' } }] },
  },
  {
    name: 'a trajectory of names needs none',
    entry: { use: 'tool_trajectory' },
    trace: { toolCalls: [cutArguments] },
    expected: { toolCalls: [{ name: 't' }] },
    scored: 1,
  },
  {
    name: 'repeated calls whose arguments were cut',
    entry: { use: 'tool_efficiency' },
    trace: { toolCalls: [cutArguments, cutArguments] },
  },
  {
    name: 'loops of calls whose arguments were cut',
    entry: { use: 'loop_detection' },
    trace: { toolCalls: [cutArguments, cutArguments, cutArguments] },
  },
  { name: 'results that were cut are not failures', entry: { use: 'tool_error' }, trace: { toolCalls: [cutResult] } },
  {
    name: 'a failed span counts as failed even when its result was cut',
    entry: { use: 'tool_error' },
    trace: { toolCalls: [call({ ...cutResult, error: { message: 'boom', sign: 'span_status' } })] },
    scored: 0,
  },
  {
    name: 'an expected output may go on behind the cut',
    entry: { use: 'tool_call_output' },
    trace: { toolCalls: [cutResult, call({ result: 'other' })] },
    expected: { toolOutputs: [{ name: 't', output: 'AF007' }] },
  },
  {
    name: 'an expected output that another call returned',
    entry: { use: 'tool_call_output' },
    trace: { toolCalls: [cutResult, call({ result: 'AF007' })] },
    expected: { toolOutputs: [{ name: 't', output: 'AF007' }] },
    scored: 1,
  },
  {
    name: 'values may come from what was cut',
    entry: { use: 'argument_provenance' },
    trace: { input: 'q', toolCalls: [cutResult, call({ arguments: { x: 'AF007' } })] },
  },
  {
    name: 'values whose source is there',
    entry: { use: 'argument_provenance' },
    trace: { input: 'about y', toolCalls: [cutResult] },
    scored: 1,
  },
  {
    name: 'a final response that was cut is not compared',
    entry: { use: 'exact_match' },
    trace: { finalResponse: 'the beginn [truncated]', truncated: ['final_response'] },
    expected: { output: 'the beginning' },
  },
  {
    name: 'a final response that was cut is there',
    entry: { use: 'final_response_present' },
    trace: { finalResponse: 'the beginn [truncated]', truncated: ['final_response'] },
    scored: 1,
  },
  {
    name: 'a final response that may have been lost',
    entry: { use: 'final_response_present' },
    trace: { input: 'q', truncated: ['spans'] },
  },
  {
    name: 'calls that may have been lost',
    entry: { use: 'tool_called', options: { name: 't' } },
    trace: { toolCallsCarried: false, truncated: ['spans'] },
  },
  {
    name: 'a definition that was cut in part',
    entry: { use: 'tool_description_reliability' },
    trace: { toolDefinitions: [{ name: 't', truncated: true }] },
  },
];

describe('truncated', () => {
  for (const { name, entry, trace, expected, scored } of cases) {
    test(`truncated: ${entry.use}: ${name}`, () => {
      const verdict = score({ entry, trace: agentTrace(trace), ...(expected === undefined ? {} : { expected }) });
      expect(verdict).toMatchObject(scored === undefined ? { kind: 'skipped', reason: 'truncated' } : { kind: 'scored', score: scored });
    });
  }

  const asked: readonly Case[] = [
    {
      name: 'a judge is not asked about the rest of an answer',
      entry: { use: 'task_completion', judge: 'main' },
      trace: { input: 'q', finalResponse: 'a [truncated]', truncated: ['final_response'] },
      expected: { tasks: ['one'] },
    },
    {
      name: 'a judge is not asked about values whose source was cut',
      entry: { use: 'tool_argument_hallucination', judge: 'main' },
      trace: { input: 'q', toolCalls: [cutResult, call({ arguments: { x: 'AF007' } })] },
    },
  ];
  for (const { name, entry, trace, expected } of asked) {
    test(`truncated: ${entry.use}: ${name}`, () => {
      const { questions, verdict } = judged({ entry, trace: agentTrace(trace), ...(expected === undefined ? {} : { expected }) }, []);
      expect(questions).toEqual([]);
      expect(verdict).toMatchObject({ kind: 'skipped', reason: 'truncated' });
    });
  }
});
