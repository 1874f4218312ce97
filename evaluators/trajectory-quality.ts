/** How well the agent went about its work as a whole. A judge sees all steps and rates them on a scale of five. */
import { isJsonObject, member, type JsonValue } from '../src/model/json.ts';
import { objectSchema, explanationIn } from './judging/numbered-verdicts.ts';
import { blocksOf, expectedText, lacking, truncatedDetail } from './judging/judge-blocks.ts';
import { finalText } from './judging/judge-evidence.ts';
import { runView } from './judging/run-view.ts';
import { faulty, strictly, type Reading } from './judging/strict-answers.ts';
import { judge } from './configuration/define.ts';
import { constraints, expecting, textList } from './expectation/expecting.ts';

export const trajectoryQuality = judge({
  id: 'trajectory_quality',
  summary: 'A judge finds that the agent went about its work well.',
  needs: ['input', 'tool_calls'],
  defaultThreshold: 0.75,
  expectationSchema: expecting({
    tasks: textList('What the agent has to get done, one text a task.'),
    constraints,
    output: { description: 'The final response that is wanted.' },
  }),
  source: 'UiPath trajectory evaluator, on a scale of five with every step shown',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lacking(trace, context, ['tool_calls', 'input']);
    if (stop !== undefined) return stop;
    const view = runView(trace);
    const { data, truncated } = blocksOf({
      'user input': trace.input,
      'steps taken': view,
      'final response': finalText(trace) || '(none)',
      'expected behaviour': expectedText(expected),
    });
    const judged = yield* strictly({ id: 'judge', instruction, data, answerSchema }, readScore);
    if (judged.kind === 'failed') return judged.outcome;
    const { score, explanation } = judged.value;
    return {
      kind: 'scored',
      score,
      explanation,
      evidence: [],
      details: {
        judge_called: true,
        steps: trace.toolCalls.length,
        ...(view.leftOut.length === 0 ? {} : { steps_left_out: view.leftOut.length }),
        ...truncatedDetail(truncated, judged.truncated),
      },
    };
  },
});

const step = 0.25;
const instruction = `An AI agent has worked on the user input in steps. Judge how it went about it, from 0 to 1 in steps of ${step}:
1: every step serves the task, results are used rightly, and the response follows from them.
0.75: right on the whole, with a small detour or a slip that did no harm.
0.5: it gets somewhere, with needless or wrong steps, errors left alone, or a part of the task undone.
0.25: most steps do not serve the task, or the response does not follow from the results.
0: it works on something else, invents results, or does harm.
Where expected behaviour is given, measure by it. A failed step that the agent recovers from is no fault. First explain in one or two sentences, naming steps by their numbers, then give the score.`;
const answerSchema = objectSchema({ explanation: { type: 'string' }, score: { type: 'number', minimum: 0, maximum: 1 } });

/** Exactly one of the five; nothing is rounded to one. */
function readScore(answer: JsonValue): Reading<{ readonly score: number; readonly explanation: string }> {
  const explanation = explanationIn(answer);
  const score = isJsonObject(answer) ? member(answer, 'score') : undefined;
  if (explanation === undefined) return faulty('the answer has no explanation');
  if (typeof score !== 'number' || !(score >= 0 && score <= 1) || !Number.isInteger(score / step))
    return faulty('the score is none of 0, 0.25, 0.5, 0.75 and 1');
  return { kind: 'read', value: { score, explanation } };
}
