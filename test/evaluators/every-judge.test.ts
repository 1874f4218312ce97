/** Rules for every evaluator that asks a judge: each new member of the table is checked too. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import type { ConfiguredAsking, EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Answer, EvaluatorRequest, Question } from '../../evaluators/evaluator.ts';
import { evaluators } from '../../evaluators/index.ts';
import { scriptedJudge } from '../../src/judges/scripted.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { anyCharacter } from '../builders/any-character.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';

/** Options that an evaluator cannot do without; further settings that ask other questions. */
const settings: { readonly [id: string]: readonly JsonObject[] } = {
  answer_relevance: [{ scale: 'score' }],
  relevance: [{ tools: ['find'] }],
  toxicity: [{ each_turn: true }],
  summarization: [{ source: 'context' }, { source: 'input' }, { source: 'tool_results' }],
  tool_argument_hallucination: [{ precheck: false }],
  custom_judge: [
    {
      template:
        '{{input}} {{final_response}} {{tool_calls}} {{messages}} {{system_prompt}} {{documents}} {{reasoning}} {{tasks}} {{constraints}} {{reference}} {{tool_definitions}}',
      labels: { good: 1, bad: 0 },
    },
    { template: '{{input}} {{plan}}', range: [0, 1], on_missing: 'show' },
  ],
};

const entries: readonly EvaluatorEntry[] = evaluators
  .filter(({ kind }) => kind === 'judge')
  .flatMap(({ id }) => [{ use: id }, ...(settings[id] ?? []).map((options) => ({ use: id, options }))])
  .filter((entry) => configuredEvaluator(entry, evaluators).kind === 'ready');

/** A run that holds something for each of them; every text of it is foreign. */
function runOf(text: (what: string) => string): { readonly trace: AgentTrace; readonly expected: Expectation } {
  const code = `\`\`\`${text('language').replaceAll(/[\s`]/g, '_')}\n${text('code')}\n\`\`\``;
  return {
    trace: agentTrace({
      agent: text('agent'),
      input: text('input'),
      systemPrompt: text('system'),
      finalResponse: `${text('response')}\n${code}`,
      messages: [
        { role: 'user', text: text('earlier'), calls: [] },
        { role: text('role'), text: text('said'), calls: [] },
        { role: 'user', text: text('input'), calls: [] },
        { role: 'assistant', text: text('turn'), calls: [0] },
      ],
      reasoningSteps: [text('plan'), text('thought')],
      toolDefinitions: [
        { name: 'find', description: text('description'), inputSchema: { type: 'object', description: text('schema') } },
        { name: text('tool'), inputSchema: { type: 'object' } },
      ],
      toolCalls: [
        call({
          name: text('tool'),
          arguments: { [text('key')]: text('value') },
          result: { [text('member')]: text('result') },
          spanId: spanId(1),
        }),
        call({ name: 'find', arguments: { q: text('query') }, result: [text('hit')], spanId: spanId(2) }),
        call({
          name: 'find',
          arguments: null,
          argumentsText: text('sent'),
          result: undefined,
          error: { message: text('error'), sign: 'span_status' },
        }),
      ],
      documents: [{ id: text('id'), content: text('document') }],
    }),
    expected: { output: text('answer'), context: [text('context')], tasks: [text('task')], constraints: text('constraint') },
  };
}

const whole = runOf((what) => `the ${what}`);

function ready(entry: EvaluatorEntry): ConfiguredAsking {
  const configuration = configuredEvaluator(entry, evaluators);
  if (configuration.kind === 'faulty' || configuration.evaluator.kind === 'rule') throw new Error(`${entry.use} asks no judge`);
  return configuration.evaluator;
}

/** Each request is answered by the function, up to an end. */
function played(
  entry: EvaluatorEntry,
  { trace, expected }: typeof whole,
  answer: (request: EvaluatorRequest) => Answer,
): { readonly requests: readonly EvaluatorRequest[]; readonly verdict: Verdict } {
  const running = ready(entry).judge(trace, expected, evaluationContext());
  const requests: EvaluatorRequest[] = [];
  for (let step = running.next(); ; step = running.next(answer(requests.at(-1) as EvaluatorRequest))) {
    if (step.done === true) return { requests, verdict: step.value };
    requests.push(step.value);
    if (requests.length > 100) throw new Error('there is no end of questions');
  }
}

function questionsOf(entry: EvaluatorEntry, run: typeof whole): readonly Question[] {
  return played(entry, run, () => ({ kind: 'failed', error: 'none' })).requests.filter(
    (request): request is Question => request.kind === undefined || request.kind === 'ask',
  );
}

/** The needs that it declares; a setting may have it read other things. */
function readsInput({ use, options }: EvaluatorEntry): boolean {
  if (use === 'summarization') return isJsonObject(options ?? null) && member(options as JsonObject, 'source') === 'input';
  if (use === 'custom_judge') return true;
  return evaluators.find(({ id }) => id === use)?.needs.includes('input') === true;
}

const nameOf = ({ use, options }: EvaluatorEntry): string => (options === undefined ? use : `${use} with ${JSON.stringify(options)}`);

test('every judge evaluator is in this suite', () => {
  expect(new Set(entries.map(({ use }) => use))).toEqual(new Set(evaluators.filter(({ kind }) => kind === 'judge').map(({ id }) => id)));
});

for (const entry of entries) {
  const isEmbedding = played(entry, whole, () => ({ kind: 'failed', error: 'none' })).requests.every(({ kind }) => kind === 'embed');

  test(`every judge evaluator: ${nameOf(entry)}: a judge that fails is a failed verdict, never a score`, async () => {
    const judge = scriptedJudge({});
    const running = ready(entry).judge(whole.trace, whole.expected, evaluationContext());
    let step = running.next();
    expect(step.done).toBe(false);
    while (step.done !== true)
      step = running.next(step.value.kind === 'embed' ? await judge.embed(step.value) : await judge.ask(step.value as Question));
    expect(step.value).toMatchObject({ kind: 'failed', details: { judge_called: true, judge_error: true } });
    expect(step.value).not.toHaveProperty('score');
  });

  test(`every judge evaluator: ${nameOf(entry)}: an unknown run is skipped, and no judge is asked`, () => {
    const { requests, verdict } = played(entry, { trace: agentTrace({ toolCallsCarried: false }), expected: {} }, () => ({
      kind: 'failed',
      error: 'none',
    }));
    expect(verdict.kind).toBe('skipped');
    expect(requests).toEqual([]);
  });

  test(`every judge evaluator: ${nameOf(entry)}: without an input ${readsInput(entry) ? 'it is skipped, and no judge is asked' : 'it is not skipped for that'}`, () => {
    const inputs = [undefined, '', ' \n\t'].map((input) => {
      const { input: _, ...trace } = whole.trace;
      return played(entry, { ...whole, trace: input === undefined ? trace : { ...trace, input } }, () => ({
        kind: 'failed',
        error: 'none',
      }));
    });
    for (const { requests, verdict } of inputs) {
      if (readsInput(entry)) expect([verdict, requests]).toEqual([expect.objectContaining({ kind: 'skipped', reason: 'no_input' }), []]);
      else expect(verdict).not.toMatchObject({ reason: 'no_input' });
    }
  });

  test(`every judge evaluator: ${nameOf(entry)}: an answer of another shape is not a score`, () => {
    for (const value of [
      null,
      1,
      'good',
      true,
      [],
      {},
      { label: 'good' },
      { score: 1 },
      { explanation: 'e' },
    ] as const satisfies readonly JsonValue[]) {
      expect({ value, kind: played(entry, whole, () => ({ kind: 'answered', value, truncated: false })).verdict.kind }).toEqual({
        value,
        kind: 'failed',
      });
    }
  });

  if (isEmbedding) continue;

  test(`every judge evaluator: ${nameOf(entry)}: nothing foreign stands outside the blocks of data`, () => {
    const foreign = fc.string({ unit: anyCharacter, minLength: 0, maxLength: 30 }).map((rest) => `‡${rest.replaceAll('\u2021', '')}`);
    fc.assert(
      fc.property(fc.array(foreign, { minLength: 30, maxLength: 30 }), (texts) => {
        const given = new Map<string, string>();
        const run = runOf(
          (what) => given.get(what) ?? (given.set(what, `${texts[given.size % texts.length] ?? '‡'}${given.size}`), given.get(what) ?? ''),
        );
        const questions = questionsOf(entry, run);
        expect(questions.length).toBeGreaterThan(0);
        for (const { id, instruction, answerSchema, data } of questions) {
          expect(`${id} ${instruction} ${JSON.stringify(answerSchema)} ${data.map(({ title }) => title).join(' ')}`).not.toContain('‡');
          expect(data.map(({ text }) => text).join(' ')).toContain('‡');
        }
      }),
      { numRuns: 30 },
    );
  });

  test(`every judge evaluator: ${nameOf(entry)}: the question does not depend on what the texts are`, () => {
    const [one, other] = [
      questionsOf(entry, whole),
      questionsOf(
        entry,
        runOf((what) => `another ${what}`),
      ),
    ];
    expect(one.map(({ id, instruction, answerSchema }) => ({ id, instruction, answerSchema }))).toEqual(
      other.map(({ id, instruction, answerSchema }) => ({ id, instruction, answerSchema })),
    );
  });

  test(`every judge evaluator: ${nameOf(entry)}: reasons are asked for before the verdict`, () => {
    for (const { answerSchema } of questionsOf(entry, whole)) {
      const names = memberNames(answerSchema);
      expect(names[0]).toBe('explanation');
      expect(names.length).toBeGreaterThan(1);
    }
  });

  test(`every judge evaluator: ${nameOf(entry)}: every object in an answer has all its members and no others`, () => {
    for (const { answerSchema } of questionsOf(entry, whole)) {
      const objects = objectsIn(answerSchema);
      expect(objects.length).toBeGreaterThan(0);
      for (const { type, additionalProperties, required, properties } of objects)
        expect([type, additionalProperties, required]).toEqual(['object', false, Object.keys(properties as JsonObject)]);
    }
  });

  test(`every judge evaluator: ${nameOf(entry)}: what is shown keeps within bounds, and a cut is marked`, () => {
    const long = runOf((what) => `${what} ${'x'.repeat(60_000)}`);
    for (const { data } of questionsOf(entry, long)) {
      for (const { text } of data) expect(text.length).toBeLessThan(40_000);
      expect(data.some(({ text }) => text.includes('[cut: '))).toBe(true);
    }
  });
}

/** The schema and those inside it that describe objects. */
function objectsIn(schema: JsonValue | undefined): readonly JsonObject[] {
  if (schema === undefined || !isJsonObject(schema)) return [];
  const inner = [
    schema['items'],
    ...(isJsonObject(schema['properties'] ?? null) ? Object.values(schema['properties'] as JsonObject) : []),
  ].flatMap(objectsIn);
  return schema['properties'] !== undefined || schema['type'] === 'object' ? [schema, ...inner] : inner;
}

/** Members of the object with a verdict: the answer, or an entry of its list. Numbers, tasks and entities name the subject of the verdict. */
function memberNames(schema: JsonObject): readonly string[] {
  const properties = schema['properties'] as JsonObject;
  const inner = Object.values(properties)
    .map((one) => (one as JsonObject)['items'] as JsonObject | undefined)
    .find((items) => items?.['type'] === 'object');
  const names = (inner ?? schema)['required'] as readonly string[];
  return names.filter((name) => !['number', 'task', 'entity'].includes(name));
}
