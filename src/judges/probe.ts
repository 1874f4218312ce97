/** Asks a judge one short question, to learn whether its endpoint, its key and its model are right. */
import type { Answer, Question } from '../../evaluators/evaluator.ts';
import { openAiCompatibleClient } from './openai-compatible.ts';
import type { JudgeDeps, JudgeSettings } from './judge.ts';

const question: Question = {
  id: 'probe',
  instruction: 'Answer with yes set to true.',
  data: [],
  answerSchema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'], additionalProperties: false },
};

/** Sends each request once. An endpoint that answers no question may be a model for embeddings, and gets a word to embed. */
export async function probeJudge(settings: JudgeSettings, parts: JudgeDeps): Promise<Answer> {
  const client = openAiCompatibleClient({ ...settings, retries: 0 }, parts);
  try {
    const answer = await client.ask(question);
    if (answer.kind === 'answered') return answer;
    const embedded = /no connection|timed_out|status 40[13]\b/.test(answer.error)
      ? answer
      : await client.embed({ kind: 'embed', texts: ['yes'] });
    return embedded.kind === 'answered' ? embedded : answer;
  } finally {
    await client.stop();
  }
}
