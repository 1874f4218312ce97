/** An evaluator of one question: when the judge is not called, and how its answer becomes a verdict. */
import { describe, expect, it } from 'vitest';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { questionJudge, type JudgeQuestion } from '../../../evaluators/judging/question-judge.ts';
import type { Answer } from '../../../evaluators/evaluator.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import type { Outcome } from '../../../src/model/verdict.ts';
import { agentTrace } from '../../builders/agent-trace.ts';

const context = evaluationContext();
const question = { instruction: 'Is it polite?', input: [{ title: 'answer', text: 'Thanks.', isCut: false }], what: 'The answer' };
const label: JudgeQuestion = { ...question, labels: { polite: 1, rude: 0 } };

function outcome(
  asked: JudgeQuestion | Outcome,
  answer: JsonValue,
  given: Parameters<typeof agentTrace>[0] = { input: 'Hello?', finalResponse: 'Thanks.' },
) {
  const evaluator = questionJudge({
    id: 'polite',
    summary: 'The answer is polite.',
    needs: ['input', 'final_response', 'expected_output'],
    defaultThreshold: 1,
    source: 'tests',
    question: () => asked,
  });
  const asking = evaluator.evaluate({ trace: agentTrace(given), expected: {} }, {}, context);
  const answered: Answer = { kind: 'answered', value: answer, truncated: false };
  let [step, questions] = [asking.next(), 0];
  for (; step.done !== true; questions++) step = asking.next(answered);
  return { questions, outcome: step.value };
}

describe('question judge', () => {
  it('reads a label of the run', () => {
    const { questions, outcome: found } = outcome(label, { explanation: 'It says thanks.', label: 'polite' });
    expect([questions, found.kind, found.explanation]).toEqual([1, 'scored', 'The answer is polite: It says thanks.']);
  });

  it('reads a score of the run', () => {
    const { outcome: found } = outcome(question, { explanation: 'It says thanks.', score: 0.75 });
    expect(found.kind === 'scored' ? [found.score, found.explanation] : found).toEqual([0.75, 'The answer is rated 0.75: It says thanks.']);
  });

  it('reads a label of each item', () => {
    const items = [1, 2].map((number) => ({ number, name: `turn ${number}`, details: {} }));
    const asked: JudgeQuestion = { ...label, items, what: 'turn', list: 'turns', scoredBy: 'share' };
    const entry = { explanation: 'It says thanks.', label: 'polite' };
    const { outcome: found } = outcome(asked, {
      turns: [
        { number: 1, ...entry },
        { number: 2, explanation: 'It shouts.', label: 'rude' },
      ],
    });
    expect(found.kind === 'scored' ? [found.score, found.label] : found).toEqual([0.5, 'rude']);
  });

  it('calls no judge for a run without the evidence that the evaluator needs', () => {
    const { questions, outcome: found } = outcome(label, {}, { input: 'Hello?' });
    expect([questions, found]).toMatchObject([0, { kind: 'skipped', reason: 'no_final_response', details: { judge_called: false } }]);
  });

  it('gives the outcome of the question when there is nothing to ask', () => {
    const skip: Outcome = { kind: 'skipped', reason: 'no_such_target', explanation: 'There is no code.' };
    expect(outcome(skip, {})).toEqual({ questions: 0, outcome: skip });
  });
});
