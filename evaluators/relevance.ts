/** Each document that was retrieved is relevant to what the user asked, by the judgement of a model. */
import { inputText, notAsked } from './judging/judge-evidence.ts';
import { retrievedIn } from './evidence/retrieved.ts';
import { judgeInput, judgeInputHistory, judgeInputList } from './judging/judge-input.ts';
import { option } from './configuration/option-table.ts';
import { questionJudge } from './judging/question-judge.ts';

export const relevance = questionJudge({
  id: 'relevance',
  summary: 'A judge finds each retrieved document relevant to what the user asked.',
  needs: ['input', 'documents'],
  defaultThreshold: 0.5,
  options: {
    tools: option<readonly string[]>(
      {
        type: 'array',
        maxItems: 50,
        uniqueItems: true,
        items: { type: 'string', minLength: 1, maxLength: 200 },
        description:
          'Names of tools that retrieve, for agents whose spans tell of no documents: their results are judged, and nothing else. A list, or one under `documents` or `results`, is a document an entry; any other result is one document.',
      },
      [],
    ),
  },
  source: 'the deck’s judge of retrieval, one label a document',
  question({ trace }, { tools }) {
    const found = retrievedIn(trace, tools);
    if (found.kind === 'skipped') return { ...found, details: notAsked };
    return {
      instruction,
      input: [
        ...judgeInputHistory(trace),
        judgeInput('last message of the user', inputText(trace)),
        judgeInputList(
          'documents',
          found.documents.map(({ text }) => text),
        ),
      ],
      items: found.documents.map(({ name, spanId, details }, at) => ({
        number: at + 1,
        name,
        ...(spanId === undefined ? {} : { spanId }),
        details,
      })),
      labels: { relevant: 1, unrelated: 0 },
      what: 'document',
      list: 'documents',
      scoredBy: 'share',
    };
  },
});

const instruction =
  'An AI agent has retrieved the numbered documents to answer the last message of the user. Decide for each document whether it is relevant: it holds something that helps to answer, even if it is only a part. A document that is merely about a similar subject, or shares words with the question, is unrelated. Judge each for itself. First explain in one sentence, then give the label relevant or unrelated.';
