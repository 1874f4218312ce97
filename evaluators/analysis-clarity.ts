/** The final response is an analysis that its reader can follow, by the judgement of a model. The judge does not rate whether it is right. */
import { labelSchema } from './judging/numbered-verdicts.ts';
import { blocksOf, lacking, truncatedDetail } from './judging/judge-blocks.ts';
import { finalText } from './judging/judge-evidence.ts';
import { readLabel, strictly } from './judging/strict-answers.ts';
import { judge } from './configuration/define.ts';

export const analysisClarity = judge({
  id: 'analysis_clarity',
  summary: 'A judge finds the final response clear to its reader.',
  needs: ['input', 'final_response'],
  defaultThreshold: 1,
  source: 'clarity checks of published agent tutorials, with two labels',
  *evaluate({ trace }, _options, context) {
    const stop = lacking(trace, context, ['input', 'final_response']);
    if (stop !== undefined) return stop;
    const { data, truncated } = blocksOf({ 'user input': trace.input, 'final response': finalText(trace) });
    const judged = yield* strictly({ id: 'judge', instruction, data, answerSchema }, (answer) => readLabel(answer, labels));
    if (judged.kind === 'failed') return judged.outcome;
    const { label, explanation } = judged.value;
    return {
      kind: 'scored',
      score: label === 'clear' ? 1 : 0,
      label,
      explanation,
      evidence: [],
      details: { judge_called: true, label, ...truncatedDetail(truncated, judged.truncated) },
    };
  },
});

const labels = ['clear', 'unclear'] as const;
const instruction =
  'An AI agent has answered the user input. Decide whether its final response is clear. clear: it says what it found and what follows from it, in an order that a reader can follow, without terms that it does not explain, and without contradicting itself. unclear: the reader cannot tell what the answer is, why, or what numbers and names in it mean. Do not judge whether it is correct. First explain in one sentence, then give the label.';
const answerSchema = labelSchema(labels);
