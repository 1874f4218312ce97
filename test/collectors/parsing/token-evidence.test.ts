/** Tokens and models that only an answer has, as the reader by evidence reads them. */
import { describe } from 'vitest';
import { generic } from '../../../collectors/generic.ts';
import { testCases, type Case } from '../cases.ts';

/** Facts that only the answer of a model has, or only the span's name. */
const answers: readonly Case[] = [
  ...(
    [
      ['usage beside a message', { message: { role: 'model', content: 'a' }, usage: { inputTokens: 7, outputTokens: 2 } }],
      ['Gemini’s', { candidates: [], usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2 } }],
      ['OpenAI’s', { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } }],
      [
        'chunks of a streamed one',
        [{ choices: [{ delta: { content: 'a' } }] }, { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } }],
      ],
      ['LangChain’s', { generations: [], llmOutput: { tokenUsage: { promptTokens: 7, completionTokens: 2 } } }],
    ] as const
  ).map(([name, answer]) => ({
    name: `tokens in the answer: ${name}`,
    attributes: { 'acme.kind': 'llm', 'acme:output': JSON.stringify(answer) },
    facts: { inputTokens: 7, outputTokens: 2 },
  })),
  {
    name: 'counts of the span before those in the answer',
    attributes: { 'acme.kind': 'llm', output: '{"usage":{"inputTokens":7,"outputTokens":2}}', 'acme.input_tokens': 5 },
    facts: { inputTokens: 5 },
    absent: ['outputTokens'],
  },
  {
    name: 'a side without a key is in the usage, and parts of a side are not a side',
    attributes: {
      'acme.kind': 'llm',
      'acme.usage.output_tokens': 2,
      'acme.usage.non_cached_input_tokens': 4,
      'acme.usage.cache_read_input_tokens': 3,
      'acme.usage.metadata': '{"prompt_tokens":7,"completion_tokens":2}',
    },
    facts: { inputTokens: 7, outputTokens: 2, cachedInputTokens: 3 },
  },
  ...['model', 'modelVersion', 'model_name'].map((name) => ({
    name: `the model in the answer’s ${name}`,
    attributes: { 'acme.kind': 'llm', output: `{"${name}":"m-1","text":"a"}` },
    facts: { model: 'm-1' },
  })),
  {
    name: 'the model after its provider in the span’s name',
    span: { name: 'openai/gpt-4o-mini' },
    attributes: { 'acme:subtype': 'model' },
    facts: { role: 'model', model: 'gpt-4o-mini' },
  },
  {
    name: 'a route is not a model',
    span: { name: 'POST /v1/chat' },
    attributes: { 'acme.kind': 'llm' },
    facts: {},
    absent: ['model'],
  },
];

describe('token-evidence', () => {
  testCases(generic, answers);
});
