import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'step_efficiency' };
const trace = agentTrace({
  input: 'Find a flight',
  toolCalls: [
    call({ name: 'search', spanId: spanId(1) }),
    call({ name: 'asked', executed: false }),
    call({ name: 'search', spanId: spanId(3) }),
  ],
  finalResponse: 'AF007',
});
const said = (number: number, label: string): JsonValue => ({ number, explanation: `because ${number}`, label });
const answer = (...steps: JsonValue[]) => [{ kind: 'answered' as const, value: { steps }, truncated: false }];

describe('step_efficiency', () => {
  test('step_efficiency: each step that ran gets one verdict, by its number, and the needless ones are named', () => {
    const { questions, verdict } = judged({ entry, trace }, answer(said(3, 'needless'), said(1, 'NEEDED ')));
    expect(questions).toHaveLength(1);
    expect(questions[0]?.instruction).toMatch(/: 1, 3\.$/);
    expect(questions[0]?.data.map(({ title }) => title)).toEqual(['user input', 'steps taken', 'final response']);
    expect(JSON.stringify(questions[0]?.answerSchema)).toContain(
      '"required":["number","explanation","label"],"properties":{"number":{"type":"integer"},"explanation":{"type":"string"},"label"',
    );
    expect(verdict).toMatchObject({
      kind: 'scored',
      score: 0.5,
      passed: false,
      explanation: '1 of 2 steps was needless: search (call 3) (because 3).',
      evidence: [spanId(3)],
      parts: [
        { index: 0, passed: true },
        { index: 2, passed: false, explanation: 'search (call 3): because 3' },
      ],
      details: {
        judge_called: true,
        judge_calls: 1,
        needed: 1,
        total: 2,
        steps: [
          { index: 0, label: 'needed' },
          { index: 2, label: 'needless' },
        ],
      },
    });
  });

  const faults: readonly { readonly name: string; readonly steps: JsonValue; readonly fault: string }[] = [
    { name: 'a step without a verdict', steps: [said(1, 'needed')], fault: 'step 3 has no verdict' },
    { name: 'a step with two', steps: [said(1, 'needed'), said(3, 'needed'), said(3, 'needless')], fault: 'step 3 has 2 verdicts' },
    {
      name: 'a verdict on a step without a question',
      steps: [said(1, 'needed'), said(2, 'needed'), said(3, 'needed')],
      fault: 'there are 3 verdicts for 2 steps',
    },
    { name: 'an unknown label', steps: [said(1, 'needed'), said(3, 'perhaps')], fault: 'the label of step 3 is none of needed, needless' },
    {
      name: 'a missing explanation',
      steps: [said(1, 'needed'), { number: 3, explanation: ' ', label: 'needed' }],
      fault: 'step 3 has no explanation',
    },
    { name: 'no list', steps: 'all needed', fault: 'steps is not a list' },
  ];
  for (const { name, steps, fault } of faults) {
    test(`step_efficiency: ${name} is named to the judge, and then the evaluation has failed`, () => {
      const { questions, verdict } = judged({ entry, trace }, [{ kind: 'answered', value: { steps }, truncated: false }]);
      expect(questions[0]?.check?.({ steps })).toBe(fault);
      expect(verdict).toMatchObject({
        kind: 'failed',
        error: `judge_answer_invalid: ${fault}`,
        details: { judge_called: true, judge_error: true },
      });
    });
  }

  test('step_efficiency: a run that one question cannot show is asked about in parts, each with an outline of all, and every step once', () => {
    const long = agentTrace({
      input: 'q',
      toolCalls: Array.from({ length: 400 }, (_, at) => call({ name: 'fetch', arguments: { at }, result: `${at} ${'z'.repeat(300)}` })),
    });
    const numbersOf = (instruction: string): readonly number[] => (/: ([\d, ]+)\.$/.exec(instruction)?.[1] ?? '').split(', ').map(Number);
    const blank = judged({ entry, trace: long }, []).questions;
    expect(blank).toHaveLength(1);
    const answers: ReturnType<typeof answer>[number][] = [];
    for (
      let asked = numbersOf(blank[0]?.instruction ?? '');
      answers.length < 8;
      asked = numbersOf(judged({ entry, trace: long }, answers).questions.at(-1)?.instruction ?? '')
    ) {
      answers.push(...answer(...asked.map((number) => said(number, number % 2 === 0 ? 'needed' : 'needless'))));
      if (judged({ entry, trace: long }, answers).verdict.kind === 'scored') break;
    }
    const { questions, verdict } = judged({ entry, trace: long }, answers);
    expect(questions.length).toBeGreaterThan(1);
    expect(questions.flatMap(({ instruction }) => numbersOf(instruction))).toEqual(Array.from({ length: 400 }, (_, at) => at + 1));
    for (const { data } of questions) {
      expect(data.map(({ title }) => title)).toEqual(['user input', 'outline of all steps', 'steps taken', 'final response']);
      expect(Math.max(...data.map(({ text }) => text.length))).toBeLessThanOrEqual(30_000);
    }
    expect(verdict).toMatchObject({ kind: 'scored', score: 0.5, details: { judge_calls: questions.length, total: 400, truncated: true } });
  });

  test('step_efficiency: a run that no bounded number of questions can show is skipped as too large, and no judge is asked', () => {
    const long = agentTrace({
      input: 'q',
      toolCalls: Array.from({ length: 3_000 }, (_, at) =>
        call({ name: `t${'n'.repeat(70)}`, arguments: { at, pad: 'p'.repeat(80) }, result: `${at} ${'z'.repeat(80)}` }),
      ),
    });
    const { questions, verdict } = judged({ entry, trace: long, limits: { toolCallsMax: 5_000 } }, []);
    expect(questions).toEqual([]);
    expect(verdict).toMatchObject({ kind: 'skipped', reason: 'too_large' });
  });

  test('step_efficiency: an answer on less than was sent reports it', () => {
    expect(
      judged({ entry, trace }, [{ kind: 'answered', value: { steps: [said(1, 'needed'), said(3, 'needed')] }, truncated: true }]).verdict,
    ).toMatchObject({ score: 1, passed: true, details: { truncated: true } });
  });

  test('step_efficiency: a judge that fails gives no score', () => {
    expect(judged({ entry, trace }, [{ kind: 'failed', error: 'judge_timed_out: x' }]).verdict).toMatchObject({
      kind: 'failed',
      error: 'judge_timed_out: x',
      details: { judge_error: true },
    });
  });

  const { input: _input, ...withoutInput } = trace;
  const skips = [
    { name: 'no call', run: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
    { name: 'no call that ran', run: { ...trace, toolCalls: [call({ executed: false })] }, reason: 'no_tool_calls' },
    { name: 'no calls in the spans', run: { ...trace, toolCalls: [], toolCallsCarried: false }, reason: 'tool_calls_not_carried' },
    { name: 'no input', run: withoutInput, reason: 'no_input' },
    { name: 'an input that was cut', run: { ...trace, truncated: ['input' as const] }, reason: 'truncated' },
    { name: 'more calls than the limit', run: { ...trace, toolCalls: Array.from({ length: 5 }, () => call()) }, reason: 'too_large' },
  ];
  for (const { name, run, reason } of skips) {
    test(`step_efficiency: ${name} is skipped as ${reason} and asks no judge`, () => {
      const { questions, verdict } = judged({ entry, trace: run, limits: { toolCallsMax: 4 } }, []);
      expect(verdict).toMatchObject({ kind: 'skipped', reason });
      expect(questions).toEqual([]);
    });
  }
});
