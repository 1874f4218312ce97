import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'plan_adherence' };
const trace = agentTrace({
  input: 'Book a room',
  toolCalls: [call({ name: 'search' }), call({ name: 'book' })],
  reasoningSteps: ['First I search, then I book.'],
  finalResponse: 'Booked.',
});
const planned = { plan: ['search rooms', 'book one'] };
const said = (number: number, label: string): JsonValue => ({ number, explanation: `because ${number}`, label });
const answered = (value: JsonValue, truncated = false) => ({ kind: 'answered' as const, value, truncated });
const extracted = answered({ explanation: 'It says so.', plan: ['search', 'book'] });

describe('plan_adherence', () => {
  test('plan_adherence: an expected plan is judged at once, step by step', () => {
    const { questions, verdict } = judged({ entry, trace, expected: planned }, [
      answered({ steps: [said(2, 'deviated'), said(1, 'followed')] }),
    ]);
    expect(questions.map(({ id, data }) => [id, data.find(({ title }) => title === 'plan')?.text])).toEqual([
      ['judge', '1. search rooms\n2. book one'],
    ]);
    expect(verdict).toMatchObject({
      kind: 'scored',
      score: 0.5,
      passed: false,
      explanation: '1 of 2 steps of the plan was not followed: "book one" deviated (because 2).',
      details: {
        followed: 1,
        total: 2,
        plan_source: 'expected',
        steps: [
          { number: 1, step: 'search rooms', label: 'followed' },
          { number: 2, label: 'deviated' },
        ],
      },
    });
  });

  test('plan_adherence: else the plan is listed first, from the reasoning and messages of the agent, and is in a separate block', () => {
    const { questions, verdict } = judged({ entry, trace }, [extracted, answered({ steps: [said(1, 'followed'), said(2, 'followed')] })]);
    expect(questions.map(({ id }) => id)).toEqual(['plan', 'judge']);
    expect(questions[0]?.data.at(-1)).toEqual({ title: 'reasoning and messages of the agent', text: 'First I search, then I book.' });
    expect(questions[1]?.data.find(({ title }) => title === 'plan')?.text).toBe('1. search\n2. book');
    expect(verdict).toMatchObject({
      score: 1,
      passed: true,
      explanation: 'All 2 steps of the plan were followed.',
      details: { plan_source: 'run' },
    });
  });

  test('plan_adherence: messages of the agent may hold the plan, its last word does not', () => {
    const { reasoningSteps: _steps, ...rest } = trace;
    const messages = [
      { role: 'user', text: 'Book', calls: [] },
      { role: 'assistant', text: 'I will search.', calls: [0, 1] },
      { role: 'assistant', text: 'Booked.', calls: [] },
    ];
    expect(judged({ entry, trace: { ...rest, reasoningSteps: [], messages } }, []).questions[0]?.data.at(-1)?.text).toBe('I will search.');
  });

  test('plan_adherence: where the judge finds no plan the run is skipped, and is not called perfect', () => {
    const { questions, verdict } = judged({ entry, trace }, [answered({ plan: [] })]);
    expect(questions).toHaveLength(1);
    expect(verdict).toMatchObject({ kind: 'skipped', reason: 'no_plan', details: { judge_called: true } });
  });

  const faults: readonly { readonly name: string; readonly answers: readonly JsonValue[]; readonly fault: string }[] = [
    { name: 'a step of a plan without text', answers: [{ plan: ['a', ' '] }], fault: 'a step has no text' },
    { name: 'a step of a plan that is not a text', answers: [{ plan: [{ step: 'a' }] }], fault: 'a step has no text' },
    { name: 'a plan that is not a list', answers: [{ plan: 'search' }], fault: 'plan is not a list' },
    { name: 'more steps than one may plan', answers: [{ plan: Array.from({ length: 51 }, () => 's') }], fault: 'more than 50 steps' },
    { name: 'a step without a verdict', answers: [extracted.value, { steps: [said(1, 'followed')] }], fault: 'step 2 has no verdict' },
    {
      name: 'a label that there is not',
      answers: [extracted.value, { steps: [said(1, 'followed'), said(2, 'done')] }],
      fault: 'the label of step 2 is none of followed, skipped, deviated',
    },
  ];
  for (const { name, answers, fault } of faults) {
    test(`plan_adherence: ${name}: the evaluation has failed`, () => {
      const { questions, verdict } = judged(
        { entry, trace },
        answers.map((value) => answered(value)),
      );
      expect(questions.at(-1)?.check?.(answers.at(-1) ?? null)).toBe(fault);
      expect(verdict).toMatchObject({ kind: 'failed', error: `judge_answer_invalid: ${fault}` });
    });
  }

  test('plan_adherence: a judge that fails at either question gives no score', () => {
    expect(judged({ entry, trace }, []).verdict).toMatchObject({ kind: 'failed', details: { judge_error: true } });
    expect(judged({ entry, trace }, [extracted]).verdict).toMatchObject({ kind: 'failed', details: { judge_error: true } });
  });

  const skips = [
    { name: 'neither reasoning nor messages', run: { ...trace, reasoningSteps: [' '] }, reason: 'no_plan' },
    { name: 'no call', run: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
    { name: 'a blank input', run: { ...trace, input: ' ' }, reason: 'no_input' },
  ];
  for (const { name, run, reason } of skips) {
    test(`plan_adherence: ${name} is skipped as ${reason} and asks no judge`, () => {
      const { questions, verdict } = judged({ entry, trace: run }, []);
      expect(verdict).toMatchObject({ kind: 'skipped', reason });
      expect(questions).toEqual([]);
    });
  }
});
