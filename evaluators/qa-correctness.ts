/** The final response answers the question correctly, by the judgement of a model that knows the right answer or a text that holds it. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { plainText } from '../src/model/json.ts';
import { skipped } from './evidence/calls.ts';
import { finalText, inputText, notAsked } from './judging/judge-evidence.ts';
import { retrievedIn } from './evidence/retrieved.ts';
import { judgeInput, judgeInputHistory, judgeInputList, type JudgeInput } from './judging/judge-input.ts';
import { expecting, contextTexts } from './expectation/expecting.ts';
import { questionJudge } from './judging/question-judge.ts';

export const qaCorrectness = questionJudge({
  id: 'qa_correctness',
  summary: 'A judge finds the final response correct by a reference answer or a context.',
  needs: ['input', 'final_response', 'expected_output'],
  defaultThreshold: 1,
  expectationSchema: expecting({
    output: { description: 'The right answer. The response need not have its wording.' },
    context: contextTexts(
      'A text, or a list of texts, that holds the right answer; it counts where no `output` is given. Without both, the documents that the run retrieved are the context.',
    ),
  }),
  // The context counts only where no output is expected.
  checks: (_options, { output }) => (output === undefined ? ['context'] : ['output']),
  source: 'the deck’s judge of question answering',
  question({ trace, expected }) {
    const reference = referenceOf(trace, expected);
    if (reference === undefined)
      return skipped(
        'no_expectation',
        'Nothing says what the right answer is: no output and no context is expected, and nothing was retrieved.',
        notAsked,
      );
    return {
      instruction: reference.name === 'output' ? byAnswer : byContext,
      input: [
        ...judgeInputHistory(trace),
        judgeInput('last message of the user', inputText(trace)),
        reference.input,
        judgeInput('final response', finalText(trace)),
      ],
      labels: { correct: 1, incorrect: 0 },
      what: 'The final response',
      details: { reference: reference.name },
    };
  },
});

const rules = 'Wording, length and order do not matter. First explain in one sentence, then give the label correct or incorrect.';
const byAnswer = `An AI agent has answered the last message of the user. Decide whether its final response is correct by the reference answer. It is correct when it says what the reference answer says on every point that was asked for; further statements do no harm unless they contradict the reference answer. It is incorrect when a point is wrong, missing or left open. ${rules}`;
const byContext = `An AI agent has answered the last message of the user. Decide whether its final response is correct by the context, and by nothing else that you know. It is correct when it answers all that was asked for and everything in the answer follows from the context; where the context holds no answer, it is correct to say so. It is incorrect when a point contradicts the context, is not in it, or is missing though the context holds it. ${rules}`;

function referenceOf(
  trace: AgentTrace,
  { output = null, context = [] }: Expectation,
): { readonly name: 'output' | 'context' | 'documents'; readonly input: JudgeInput } | undefined {
  const answer = output === null ? '' : plainText(output);
  if (answer.trim() !== '') return { name: 'output', input: judgeInput('reference answer', answer) };
  if (context.length > 0) return { name: 'context', input: judgeInputList('context', context) };
  const retrieved = retrievedIn(trace, []);
  return retrieved.kind === 'found'
    ? {
        name: 'documents',
        input: judgeInputList(
          'context',
          retrieved.documents.map(({ text }) => text),
        ),
      }
    : undefined;
}
