/** Members of a request that an endpoint does not take: it is asked without them, or with the name that it knows. */
import { expect, test } from 'vitest';
import type { Question } from '../../evaluators/evaluator.ts';
import { bench } from './bench.ts';
import { type Play, says, status } from './chat-server.ts';

const question: Question = {
  id: 'refused members',
  instruction: 'Did the agent do it?',
  data: [],
  answerSchema: { type: 'object', required: ['yes'], properties: { yes: { type: 'boolean' } } },
};
const good = '{"yes":true}';
const value = { yes: true };

const refuses = (code: number, error: object): Play => status(code, {}, { error });

for (const { name, error, settings, left, gone } of [
  {
    name: 'temperature',
    error: {
      message: "Unsupported value: 'temperature' does not support 0 with this model.",
      param: 'temperature',
      code: 'unsupported_value',
    },
    settings: { temperature: 0 },
    left: {},
    gone: 'temperature',
  },
  {
    name: 'reasoning_effort',
    error: { message: 'Unrecognized request argument supplied: reasoning_effort' },
    settings: { reasoningEffort: 'low' },
    left: {},
    gone: 'reasoning_effort',
  },
  {
    name: 'max_completion_tokens',
    error: { message: 'Extra inputs are not permitted: max_completion_tokens' },
    settings: { answerTokensMax: 500 },
    left: { max_tokens: 500 },
    gone: 'max_completion_tokens',
  },
] as const) {
  test(`refused members: ${name} is left out, or named otherwise, once an endpoint has refused it`, async () => {
    const takes: Play = (response, request) => (gone in request.body ? refuses(400, error) : says(good))(response, request);
    const { judge, server } = await bench([takes], settings);
    expect([await judge.ask(question), await judge.ask(question)]).toMatchObject([{ value }, { value }]);
    expect(server.requests.map(({ body }) => gone in body)).toEqual([true, false, false]);
    expect(server.requests.at(-1)?.body).toMatchObject({ ...left, response_format: { type: 'json_schema' } });
  });
}

test('refused members: a temperature that is only too large is refused', async () => {
  const { judge, server } = await bench([refuses(400, { message: 'temperature must be at most 2', param: 'temperature' })], {
    temperature: 3,
    answerFormat: 'text',
  });
  expect(await judge.ask(question)).toEqual({ kind: 'failed', error: 'judge_refused_request: status 400: temperature must be at most 2' });
  expect(server.requests.length).toBe(1);
});
