/** The part of a configuration about requests to a judge, and its effect on the wire. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { answerFormats, type JudgeSettings } from '../../src/judges/judge.ts';
import { bench } from '../judges/bench.ts';
import { says } from '../judges/chat-server.ts';
import { members } from './members.ts';
import { validators } from '../builders/validators.ts';

function load(text: string): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators: members });
}

const all =
  'judges: { main: { model: m, temperature: 0.2, reasoning_effort: low, max_output_tokens: 700, headers: { X-Gateway: s3cret }, extra_body: { top_k: 5, provider: { order: [ a ] } } } }';

test('judge requests: each key is a setting of the judge, and header values are masked where the configuration is printed', () => {
  const { config, printed } = load(all);
  expect(config.judges[0]).toMatchObject({
    temperature: 0.2,
    reasoningEffort: 'low',
    answerTokensMax: 700,
    headers: { 'X-Gateway': 's3cret' },
    extraBody: { top_k: 5, provider: { order: ['a'] } },
  });
  expect(stringify(printed)).toContain('***');
  expect(stringify(printed)).not.toContain('s3cret');
});

test('judge requests: an answer format that is named is a setting, and auto is none', () => {
  for (const format of answerFormats)
    expect(load(`judges: { main: { model: m, answer_format: ${format} } }`).config.judges[0]).toMatchObject({ answerFormat: format });
  const auto = load('judges: { main: { model: m, answer_format: auto } }');
  expect(auto.config.judges[0]).toEqual(load('judges: { main: { model: m } }').config.judges[0]);
  expect(Object.keys(auto.config.judges[0] ?? {})).not.toContain('answerFormat');
  expect(stringify(load('judges: { main: { model: m, answer_format: tool_call } }').printed)).toContain('answer_format: tool_call');
});

test('judge requests: what is left out is not a setting', () => {
  expect(Object.keys(load('judges: { main: { model: m } }').config.judges[0] ?? {})).not.toEqual(expect.arrayContaining(['temperature']));
  expect(load('judges: { main: { model: m } }').config.judges[0]).not.toMatchObject({ headers: expect.anything() as unknown });
});

const question = {
  id: 'q',
  instruction: 'Is it so?',
  data: [],
  answerSchema: { type: 'object', additionalProperties: false, required: ['yes'], properties: { yes: { type: 'boolean' } } },
} as const;

async function sent(settings: Partial<JudgeSettings>) {
  const { judge, server } = await bench([says('{"yes":true}')], settings);
  await judge.ask(question);
  const [request] = server.requests;
  return { headers: request?.headers ?? {}, body: (request?.body ?? {}) as unknown as { readonly [key: string]: unknown } };
}

test('judge requests: all of it is sent', async () => {
  const { headers, body } = await sent({
    temperature: 0.2,
    reasoningEffort: 'low',
    answerTokensMax: 700,
    headers: { 'X-Gateway': 's3cret' },
    extraBody: { top_k: 5 },
  });
  expect(headers).toMatchObject({ 'x-gateway': 's3cret', authorization: 'Bearer k' });
  expect(body).toMatchObject({ model: 'm', temperature: 0.2, reasoning_effort: 'low', max_completion_tokens: 700, top_k: 5 });
});

test('judge requests: further members never replace what the question is made of', async () => {
  const { body } = await sent({ extraBody: { model: 'other', messages: [], response_format: { type: 'text' } } });
  expect(body).toMatchObject({ model: 'm', response_format: { type: 'json_schema' }, messages: [{ role: 'system' }, { role: 'user' }] });
});

const refused: readonly (readonly [written: string, says: RegExp])[] = [
  ['extra_body: { model: other }', /extra_body\.model.*set by tracejury.*Write model beside extra_body/s],
  ['extra_body: { messages: [] }', /extra_body\.messages.*set by tracejury.*Leave it out/s],
  ['extra_body: { response_format: { type: text } }', /extra_body\.response_format.*Write answer_format beside extra_body/s],
  ['extra_body: { stream: true }', /extra_body\.stream/],
  ['extra_body: { n: 5 }', /extra_body\.n/],
  ['extra_body: { max_tokens: 9 }', /Write max_output_tokens beside extra_body/],
  ['headers: { authorization: "Bearer x" }', /Give the key under api_key/],
  ['headers: { Content-Length: "3" }', /headers\.Content-Length/],
  ['headers: { "a b": x }', /name of an HTTP header/],
  ['temperature: 3', /temperature/],
  ['temperature: warm', /temperature/],
  ['reasoning_effort: lots', /reasoning_effort/],
  ['answer_format: tool_cal', /answer_format.*tool_call/s],
  ['max_output_tokens: 0', /max_output_tokens/],
  ['max_output_tokens: 5, answer_tokens: 5', /max_output_tokens.*Keep one of the two/s],
];
for (const [written, says] of refused) {
  test(`judge requests: ${written} is refused`, () => {
    let faults = '';
    try {
      load(`judges: { main: { model: m, ${written} } }`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults = JSON.stringify(error.faults);
    }
    expect(faults).toMatch(says);
  });
}
