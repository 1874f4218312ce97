import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Answer, JudgeEvaluator } from '../../../evaluators/evaluator.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { customJudge } from '../../../src/library/evaluators.ts';
import type { JsonObject, JsonValue } from '../../../src/model/json.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';
import { judged } from '../score.ts';

const labels = { good: 1, fair: 0.5, bad: 0 };
const entry = (on: JsonValue, more: object = {}) => ({
  use: 'custom_judge',
  name: 'mine',
  on,
  options: { template: 'Does {{final_response}} answer {{input}}? The user wanted {{run_input}}.', labels },
  ...more,
});
const says = (label: string): Answer => ({ kind: 'answered', value: { explanation: `It is ${label}.`, label }, truncated: false });
const broken: Answer = { kind: 'failed', error: 'judge_timed_out: no answer' };

const search = (at: number, result: JsonValue = `found ${at}`) =>
  call({ name: 'search_flights', id: `c${at}`, spanId: spanId(at), arguments: { to: `city ${at}` }, result });
const trace = agentTrace({
  input: 'Fly me away.',
  finalResponse: 'Booked.',
  toolCalls: [search(1), call({ name: 'book', spanId: spanId(9), arguments: {}, result: 'ok' }), search(2), search(3)],
});

const details = (verdict: { readonly details: JsonObject }): JsonObject => verdict.details;

describe('parts of a run', () => {
  test('parts: each call of the tool is a separate question, with its arguments, its result and the input of the run', () => {
    const { questions, verdict } = judged({ entry: entry({ tool: 'search_flights' }), trace }, [says('good'), says('bad'), says('good')]);
    expect(questions.map(({ data }) => Object.fromEntries(data.map(({ title, text }) => [title, text])))).toEqual(
      [1, 2, 3].map((at) => ({ input: `{"to":"city ${at}"}`, final_response: `found ${at}`, run_input: 'Fly me away.' })),
    );
    expect(questions[0]?.instruction).toMatch(/^The question is about one tool call within a run/);
    expect(questions[0]?.instruction).not.toContain('search_flights');
    expect(verdict).toMatchObject({
      kind: 'scored',
      score: 2 / 3,
      explanation: '1 of 3 tool calls falls short: search_flights (call 3) (It is bad).',
      evidence: [spanId(2)],
      parts: [
        { index: 0, tool: 'search_flights', callId: 'c1', spanId: spanId(1), score: 1, passed: true },
        { index: 2, tool: 'search_flights', callId: 'c2', spanId: spanId(2), score: 0, passed: false },
        { index: 3, tool: 'search_flights', callId: 'c3', spanId: spanId(3), score: 1, passed: true },
      ],
      details: { judge_called: true, judge_calls: 3, on: 'tool', aggregate: 'mean', found: 3, judged: 3, scored: 3, skipped: 0, failed: 0 },
    });
  });

  const names: readonly (readonly [tool: JsonValue, questions: number])[] = [
    ['book', 1],
    [['book', 'search_flights'], 4],
    ['search_*', 3],
    ['*', 4],
    [true, 4],
    ['search', 0],
    ['cancel', 0],
  ];
  for (const [tool, count] of names)
    test(`parts: the tool ${JSON.stringify(tool)} is asked about ${count} times`, () => {
      const { questions, verdict } = judged(
        { entry: entry({ tool }), trace },
        Array.from({ length: count }, () => says('good')),
      );
      expect(questions.length).toBe(count);
      expect(verdict).toMatchObject(
        count === 0
          ? { kind: 'skipped', reason: 'no_such_target', explanation: `No call of a tool "${String(tool)}" ran in this run.` }
          : { kind: 'scored', score: 1 },
      );
    });

  const aggregated: readonly (readonly [aggregate: string, labels: readonly string[], score: number])[] = [
    ['mean', ['good', 'fair', 'bad'], 0.5],
    ['min', ['good', 'fair', 'good'], 0.5],
    ['min', ['good', 'bad', 'fair'], 0],
    // fair is at the threshold of 0.5, and passes.
    ['share', ['good', 'fair', 'bad'], 2 / 3],
  ];
  for (const [aggregate, given, score] of aggregated)
    test(`parts: ${aggregate} of ${given.join(', ')}`, () => {
      expect(judged({ entry: entry({ tool: 'search_flights', aggregate }), trace }, given.map(says)).verdict).toMatchObject({ score });
    });

  test('parts: a part whose judge failed counts neither as 0 nor as 1, and the verdict shows that one is missing', () => {
    for (const [others, score] of [
      [says('good'), 1],
      [says('bad'), 0],
    ] as const)
      for (const aggregate of ['mean', 'min', 'share']) {
        const { verdict } = judged({ entry: entry({ tool: 'search_flights', aggregate }), trace }, [others, broken, others]);
        expect(verdict).toMatchObject({
          kind: 'scored',
          score,
          explanation: expect.stringContaining('1 of 3 has no verdict'),
          details: {
            scored: 2,
            failed: 1,
            each: [{ status: 'scored' }, { status: 'failed', error: 'judge_timed_out: no answer' }, { status: 'scored' }],
          },
        });
        expect(verdict.kind === 'scored' && verdict.parts.map(({ index }) => index)).toEqual([0, 3]);
      }
  });

  test('parts: with half of the parts or more without an answer the run has no score', () => {
    expect(judged({ entry: entry({ tool: 'search_flights' }), trace }, [says('good'), broken, broken]).verdict).toMatchObject({
      kind: 'failed',
      error: 'parts_incomplete',
      explanation: 'Only 1 of 3 tool calls have a verdict; more than half are needed.',
    });
    expect(judged({ entry: entry({ tool: 'search_flights' }), trace }, [broken, broken, broken]).verdict).toMatchObject({
      kind: 'failed',
      error: 'judge_timed_out: no answer',
      details: { failed: 3, scored: 0 },
    });
  });

  test('parts: a part without the evidence is skipped and asks nothing; when all are, the run is', () => {
    const some = agentTrace({ ...trace, toolCalls: [search(1), call({ name: 'search_flights', result: undefined }), search(3)] });
    const { questions, verdict } = judged({ entry: entry({ tool: 'search_flights' }), trace: some }, [says('good'), says('good')]);
    expect(questions.length).toBe(2);
    expect(verdict).toMatchObject({
      kind: 'scored',
      score: 1,
      details: { scored: 2, skipped: 1, each: [{}, { status: 'skipped', reason: 'no_final_response' }, {}] },
    });
    const none = agentTrace({ ...trace, toolCalls: [call({ name: 'search_flights', result: undefined })] });
    expect(judged({ entry: entry({ tool: 'search_flights' }), trace: none }, [])).toMatchObject({
      questions: [],
      verdict: { kind: 'skipped', reason: 'no_final_response', details: { judge_called: false, skipped: 1 } },
    });
  });

  test('parts: a failed call shows its error, one that only was requested is not a part, a cut result is not judged', () => {
    const calls = [
      call({ name: 'a', arguments: {}, error: { message: 'no route', sign: 'is_error' } }),
      call({ name: 'b', arguments: {}, executed: false }),
      call({ name: 'c', result: undefined, truncated: { result: 'beginn' } }),
    ];
    const { questions, verdict } = judged({ entry: entry({ tool: true }), trace: agentTrace({ ...trace, toolCalls: calls }) }, [
      says('good'),
    ]);
    expect(questions.flatMap(({ data }) => data.find(({ title }) => title === 'final_response')?.text)).toEqual(['failed: no route']);
    expect(details(verdict)['each']).toMatchObject([
      { tool: 'a', status: 'scored' },
      { tool: 'c', status: 'skipped', reason: 'truncated' },
    ]);
  });

  test('parts: what the run carries no calls of, or carries cut, is said as for other evaluators', () => {
    expect(judged({ entry: entry({ tool: 'a' }), trace: agentTrace({ toolCallsCarried: false }) }, []).verdict).toMatchObject({
      reason: 'tool_calls_not_carried',
    });
  });

  test('parts: each retrieval is the documents of one span; the arguments of its tool are what was looked for', () => {
    const documents = [
      { spanId: spanId(1), content: 'D1' },
      { spanId: spanId(7), content: 'D2' },
      { spanId: spanId(1), content: 'D3' },
      { spanId: spanId(8), id: 'without content' },
    ];
    const { questions, verdict } = judged({ entry: entry({ retriever: true }), trace: { ...trace, documents } }, [
      says('good'),
      says('bad'),
    ]);
    expect(questions.map(({ data }) => data.slice(0, 2).map(({ text }) => text))).toEqual([
      ['1. D1\n2. D3', '{"to":"city 1"}'],
      ['1. D2', 'Fly me away.'],
    ]);
    expect(verdict).toMatchObject({
      score: 0.5,
      evidence: [spanId(7)],
      parts: [
        { of: 'retriever', index: 0, tool: 'search_flights', spanId: spanId(1) },
        { of: 'retriever', index: 1, tool: '', spanId: spanId(7) },
      ],
      details: { on: 'retriever', skipped: 1, each: [{}, {}, { status: 'skipped', reason: 'results_not_carried' }] },
    });
    expect(judged({ entry: entry({ retriever: true }), trace }, []).verdict).toMatchObject({ reason: 'no_such_target' });
  });

  test('parts: an evaluator of retrieved documents judges each retrieval by its own documents', () => {
    const documents = [
      { spanId: spanId(1), content: 'D1' },
      { spanId: spanId(7), content: 'D2' },
    ];
    const { questions } = judged({ entry: { use: 'relevance', on: { retriever: true } }, trace: { ...trace, documents } }, []);
    expect(questions.map(({ data }) => JSON.stringify(data).includes('D1'))).toEqual([true, false]);
  });

  test('parts: a sub-agent that works as a tool is the calls of that tool; another one is not in this run', () => {
    const subAgents = [
      { spanId: spanId(20), agent: 'flights', via: 'tool', viaTool: 'search_flights' },
      { spanId: spanId(21), agent: 'flights', via: 'tool', viaTool: 'search_flights' },
      { spanId: spanId(22), agent: 'writer', via: 'handoff' },
    ] as const;
    const of = { ...trace, subAgents };
    const { questions, verdict } = judged({ entry: entry({ sub_agent: '*' }), trace: of }, [says('good'), says('good'), says('good')]);
    expect(questions.length).toBe(3);
    expect(verdict).toMatchObject({
      score: 1,
      details: {
        on: 'sub_agent',
        found: 4,
        scored: 3,
        skipped: 1,
        each: [{}, {}, {}, { tool: 'writer', span_id: spanId(22), status: 'skipped' }],
      },
    });
    expect(judged({ entry: entry({ sub_agent: 'writer' }), trace: of }, [])).toMatchObject({
      questions: [],
      verdict: { kind: 'skipped', reason: 'results_not_carried', explanation: expect.stringContaining('scores its own run') },
    });
    expect(judged({ entry: entry({ sub_agent: 'nobody' }), trace: of }, []).verdict).toMatchObject({ reason: 'no_such_target' });
  });

  const messages = [
    { role: 'user', text: 'Hello', calls: [] },
    { role: 'assistant', text: 'An old answer.', calls: [] },
    { role: 'user', text: 'Fly me away.', calls: [] },
    { role: 'assistant', text: 'I look.', calls: [0] },
    { role: 'tool', text: 'found 1', calls: [] },
    { role: 'assistant', text: 'Booked.', calls: [] },
  ];

  test('parts: each answer of a model after the last message of the user is judged by what the model knew then', () => {
    const modelCalls = [
      { spanId: spanId(31), model: 'gpt' },
      { spanId: spanId(32), model: 'gpt' },
    ];
    const { questions, verdict } = judged(
      {
        entry: entry(
          { model_call: true },
          { options: { template: '{{input}} {{final_response}} {{messages}} {{tool_calls}}', labels, on_missing: 'show' } },
        ),
        trace: { ...trace, messages, modelCalls },
      },
      [says('bad'), says('good')],
    );
    const [first, second] = questions.map(({ data }) => data.map(({ text }) => text));
    expect(first?.slice(0, 2)).toEqual(['Fly me away.', 'I look.\ncalls search_flights({"to":"city 1"})']);
    expect(JSON.stringify(first)).not.toContain('found 1');
    expect(second?.slice(0, 2)).toEqual(['found 1', 'Booked.']);
    expect(second?.[3]).toContain('returned: found 1');
    expect(verdict).toMatchObject({
      score: 0.5,
      evidence: [spanId(31)],
      parts: [
        { of: 'model_call', index: 0, tool: 'gpt', spanId: spanId(31) },
        { of: 'model_call', index: 1 },
      ],
    });
  });

  test('parts: where spans carry no messages, the answers of models are the turns of calls and the final response', () => {
    const toolCalls = [
      { ...search(1), turn: 0 },
      { ...search(2), turn: 0 },
      { ...search(3), turn: 1 },
    ];
    const modelCalls = [1, 2, 3].map((at) => ({ spanId: spanId(40 + at), model: 'gpt' }));
    const of = { ...trace, toolCalls, modelCalls };
    const { questions, verdict } = judged({ entry: entry({ model_call: true }), trace: of }, [says('good'), says('bad'), says('good')]);
    expect(questions.map(({ data }) => data.slice(0, 2).map(({ text }) => text))).toEqual([
      ['calls search_flights({"to":"city 1"})\ncalls search_flights({"to":"city 2"})', 'Fly me away.'],
      ['calls search_flights({"to":"city 3"})', 'found 1\nfound 2'],
      ['Booked.', 'found 3'],
    ]);
    expect(verdict).toMatchObject({
      evidence: [spanId(42)],
      parts: [{ spanId: spanId(41) }, { spanId: spanId(42) }, { spanId: spanId(43) }],
    });
  });

  test('parts: calls of unknown turns make answers only when there are as many model calls', () => {
    const model = (count: number) => Array.from({ length: count }, (_, at) => ({ spanId: spanId(50 + at) }));
    const asked = (count: number) => judged({ entry: entry({ model_call: true }), trace: { ...trace, modelCalls: model(count) } }, []);
    // Four calls and the final response.
    expect(asked(5).questions.length).toBe(5);
    expect(asked(3)).toMatchObject({
      questions: [],
      verdict: {
        kind: 'skipped',
        reason: 'no_such_target',
        explanation: 'The spans do not show which model call asked for which tool calls.',
      },
    });
  });

  test('parts: as many answers as model calls name their spans; otherwise no span is claimed', () => {
    const { verdict } = judged(
      { entry: entry({ model_call: true }), trace: { ...trace, messages, modelCalls: [{ spanId: spanId(31) }] } },
      [says('bad'), says('bad')],
    );
    expect(verdict).toMatchObject({ kind: 'scored', score: 0, evidence: [] });
    expect(judged({ entry: entry({ model_call: true }), trace: agentTrace({ input: 'x' }) }, []).verdict).toMatchObject({
      reason: 'no_such_target',
    });
  });

  test('parts: a hash chooses among more parts than parts_max, and the verdict has their number', () => {
    const many = agentTrace({ ...trace, toolCalls: Array.from({ length: 30 }, (_, at) => search(at + 1)) });
    const chosen = (id: number, parts_max = 4): readonly unknown[] => {
      const { verdict } = judged(
        { entry: entry({ tool: true, parts_max }), trace: many, run: run({ spanId: spanId(id) }) },
        Array.from({ length: 30 }, () => says('good')),
      );
      expect(verdict).toMatchObject({
        explanation: `All ${parts_max} tool calls that were judged pass (${parts_max} of 30 were chosen).`,
        details: { found: 30, judged: parts_max, chosen_by: 'hash', parts_max },
      });
      return verdict.kind === 'scored' ? verdict.parts.map(({ index }) => index) : [];
    };
    expect(chosen(1)).toEqual(chosen(1));
    expect(chosen(1)).toEqual((chosen(1) as readonly number[]).toSorted((one, other) => one - other));
    // Another run, another choice; a higher bound keeps what a lower one chose.
    expect(new Set(Array.from({ length: 20 }, (_, at) => String(chosen(at + 1)))).size).toBeGreaterThan(10);
    expect(chosen(1, 10)).toEqual(expect.arrayContaining([...chosen(1, 4)]));
  });

  test('parts: an evaluator with several questions a part asks about as many parts as one evaluation may, and gives the number that it left out', () => {
    const own: JudgeEvaluator<object> = {
      kind: 'judge',
      id: 'own',
      version: 1,
      summary: 'Asks three times.',
      needs: [],
      onByDefault: false,
      defaultThreshold: 1,
      defaults: {},
      optionsSchema: { type: 'object', properties: {} },
      source: 'tests',
      *evaluate({ trace: part, whole }) {
        for (const id of ['a', 'b', 'c']) yield { id, instruction: 'Is it?', data: [], answerSchema: { type: 'object' } };
        return {
          kind: 'scored',
          score: 1,
          explanation: `${part.toolCalls.length} of ${whole?.toolCalls.length ?? 0}.`,
          evidence: [],
          details: {},
        };
      },
    };
    const made = configuredEvaluator({ use: 'own', on: { tool: true, parts_max: 40 } }, [own]);
    if (made.kind === 'faulty' || made.evaluator.kind !== 'judge') throw new Error('no judge evaluator');
    const many = agentTrace({ ...trace, toolCalls: Array.from({ length: 60 }, (_, at) => search(at + 1)) });
    const asking = made.evaluator.judge(many, {}, evaluationContext());
    let questions = 0;
    let step = asking.next();
    for (; step.done !== true; step = asking.next(says('good'))) questions++;
    expect(questions).toBe(48);
    expect(step.value).toMatchObject({
      kind: 'scored',
      explanation:
        'All 16 tool calls that were judged pass (40 of 60 were chosen; 24 were not asked about, as the questions of one run are bounded).',
      details: { found: 60, judged: 16, parts_max: 40, not_asked: 24, questions_max: 50, judge_calls: 48 },
    });
    expect(step.value.kind === 'scored' && step.value.parts[0]?.explanation).toContain('1 of 60.');
  });

  test('parts: over many runs each part is chosen about as often as another', () => {
    const many = agentTrace({ ...trace, toolCalls: Array.from({ length: 10 }, (_, at) => search(at + 1)) });
    const five = entry({ tool: true, parts_max: 5 });
    const times = Array.from({ length: 10 }, () => 0);
    for (let id = 1; id <= 500; id++) {
      const { verdict } = judged(
        { entry: five, trace: many, run: run({ spanId: spanId(id) }) },
        Array.from({ length: 5 }, () => says('good')),
      );
      if (verdict.kind === 'scored') for (const { index } of verdict.parts) times[index] = (times[index] ?? 0) + 1;
    }
    // 250 expected, standard deviation 11: five of them to either side.
    for (const number of times) expect(Math.abs(number - 250)).toBeLessThan(56);
  });

  test('parts: the expectation of a run is none of its parts; that of the entry is', () => {
    const of = { options: { template: '{{final_response}} {{expected_output}}', labels } };
    const score = (own: object) => ({ entry: entry({ tool: 'book' }, { ...of, ...own }), trace, expected: { output: 'of the run' } });
    expect(judged(score({}), []).verdict).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
    expect(judged(score({ expect: { output: 'of the part' } }), []).questions[0]?.data).toMatchObject([
      { text: 'ok' },
      { text: 'of the part' },
    ]);
  });

  test('parts: an evaluator that is not a judge, that judges calls already, or that judges sessions takes no parts', () => {
    const faults = (use: string, on: JsonValue, more: object = {}) => {
      const made = configuredEvaluator({ use, on, ...more }, evaluators);
      return made.kind === 'faulty' ? made.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`) : [];
    };
    expect(faults('toxicity', { tool: 'a' })).toEqual([]);
    expect(faults('tool_error', { tool: 'a' })).toEqual(['on is for judge evaluators, and tool_error is none']);
    expect(faults('contains', { tool: 'a' }, { options: { text: 'x' } })).toContain(
      'on is for judge evaluators, and contains is none; write options: { on: … }',
    );
    expect(faults('argument_correctness', { tool: 'a' })).toEqual([
      'on is not for argument_correctness, which judges the tool calls of a run together',
    ]);
    expect(faults('goal_reached', { tool: 'a' })).toEqual(['on is not for goal_reached, which judges sessions as a whole']);
    expect(faults('toxicity', {})).toEqual(['on names no part of a run; name one of tool, retriever, sub_agent, model_call']);
    expect(faults('toxicity', { tool: 'a', retriever: true })[0]).toMatch(/^on names tool and retriever/);
    expect(faults('toxicity', { tool: 'a', aggregate: 'share' }, { threshold: null })).toEqual([
      'on.aggregate is share, which needs a threshold that parts pass or fail',
    ]);
    for (const on of [
      { tool: 3 },
      { tool: '' },
      { tool: 'a', parts_max: 0 },
      { tool: 'a', parts_max: 41 },
      { tool: 'a', aggregate: 'max' },
      { toool: 'a' },
      'tool',
    ])
      expect(faults('toxicity', on).length).toBeGreaterThan(0);
  });

  test('parts: the library takes them in its own spelling, and another choice of parts is another evaluator', () => {
    const of = { template: '{{input}}', labels };
    const one = customJudge(of, { name: 'mine', on: { tool: 'search_*', partsMax: 3, aggregate: 'min' } });
    expect(one.parts).toEqual({ on: { kind: 'tool', name: ['search_*'] }, aggregate: 'min', partsMax: 3 });
    expect(one.optionsHash).not.toBe(customJudge(of, { name: 'mine' }).optionsHash);
    expect(one.optionsHash).not.toBe(customJudge(of, { name: 'mine', on: { tool: 'search_*' } }).optionsHash);
    expect(() => customJudge(of, { on: { retriever: true, partsMax: 99 } })).toThrow(/parts_max/);
  });

  test('parts: the score is between the lowest and the highest part, even if parts failed or were skipped', () => {
    const label = fc.constantFrom<Answer>(says('good'), says('fair'), says('bad'), broken);
    const aggregates = ['mean', 'min', 'share'].map((one) => [one, entry({ tool: 'search_flights', aggregate: one })] as const);
    fc.assert(
      fc.property(fc.array(label, { minLength: 3, maxLength: 3 }), fc.constantFrom(...aggregates), (answers, [aggregate, own]) => {
        const { verdict } = judged({ entry: own, trace }, answers);
        const scores = answers.flatMap((answer) =>
          answer.kind === 'answered' ? [labels[(answer.value as { label: 'good' | 'fair' | 'bad' }).label]] : [],
        );
        expect(verdict.kind).toBe(scores.length >= 2 ? 'scored' : 'failed');
        if (verdict.kind !== 'scored') return;
        const passed = scores.map((one) => (aggregate === 'share' ? Number(one >= 0.5) : one));
        expect(verdict.score).toBeGreaterThanOrEqual(Math.min(...passed));
        expect(verdict.score).toBeLessThanOrEqual(Math.max(...passed));
        expect(verdict.parts.map((part) => part.score)).toEqual(scores);
      }),
    );
  });
});
