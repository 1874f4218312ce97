import { expect, test } from 'vitest';
import { configuredEvaluator, type ConfiguredRule } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { AgentTrace, Run } from '../../src/model/agent-trace.ts';
import { jsonText, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { redaction } from '../../src/redaction/redaction.ts';
import { redactionRules } from '../../src/redaction/settings.ts';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { longSuite } from '../builders/property-runs.ts';
import { evaluation, failed, run, scored, skipped } from '../builders/scored-run.ts';

const rules = redactionRules([
  { match: 'email', replace: '[email]' },
  { match: 'credit_card', replace: '[card]' },
]);
const redacting = (onRedacted: (rule: string) => void = () => undefined) => redaction({ rules, onRedacted });
const mail = 'anna.lee@example.com';
const card = '4929 7154 8823 0163';
const secret = `${mail} ${card}`;
const gone = '[email] [card]';

const trace = (text: string, name = text): Required<Omit<AgentTrace, 'truncated' | 'messages'>> & AgentTrace => ({
  ...agentTrace({}),
  agent: text,
  input: text,
  finalResponse: { [name]: [text] },
  systemPrompt: text,
  model: text,
  sessionId: text,
  userId: text,
  startUnixNano: 4_929_715_488_230_163n,
  endUnixNano: 4_929_715_488_230_163n,
  status: 'error',
  errorMessage: text,
  errorType: text,
  errorSpanId: spanId(9),
  toolCalls: [
    {
      name: text,
      id: text,
      toolId: text,
      arguments: { [name]: text },
      argumentsText: text,
      result: [{ [name]: text }],
      truncated: { arguments: text, result: text },
      error: { message: text, type: text, sign: 'error_type' },
      executed: true,
      spanId: spanId(7),
      startUnixNano: 4_929_715_488_230_163n,
    },
  ],
  toolDefinitions: [{ name: text, description: text, inputSchema: { properties: { [name]: { const: text } } } }],
  modelCalls: [{ model: text, inputTokens: 17 }],
  documents: [{ id: text, content: text, score: 0.5 }],
  messages: [{ role: text, text, calls: [0] }],
  reasoningSteps: [text],
  subAgents: [{ spanId: spanId(8), agent: text, via: 'tool', viaTool: text }],
  tokens: { input: 1, output: 2 },
  tasks: [text],
  constraints: text,
  toolCallsCarried: true,
});

const whole = (text: string, traceState: string): Run =>
  run({
    trace: trace(text),
    service: text,
    serviceVersion: text,
    resourceAttributes: { [text]: text },
    traceState,
    expected: { output: text },
  });

test('redaction: of a run every text and every name of a member is redacted, and nothing else is touched', () => {
  expect(redacting().run(whole(secret, `a=${mail}`)).run).toEqual(whole(gone, ''));
});

test('redaction: a run in which nothing is matched is handed on unchanged, and nothing is counted', () => {
  const counted: string[] = [];
  const plain = whole('nothing to hide', 'a=b');
  expect(redacting((rule) => counted.push(rule)).run(plain).run).toBe(plain);
  expect(counted).toEqual([]);
});

test('redaction: each replacement in a run is counted by its rule', () => {
  const counted: string[] = [];
  redacting((rule) => counted.push(rule)).run(run({ trace: agentTrace({ input: secret, finalResponse: mail }) }));
  expect(counted).toEqual(['email', 'credit_card', 'email']);
});

const about = redacting().run(run({ trace: agentTrace({ input: `${secret}, and "two\nlines@example.com"` }) }));

test('redaction: of a verdict every text is redacted, and what dashboards count by is not', () => {
  const part = { index: 0, tool: secret, callId: secret, score: 0, passed: false, explanation: secret };
  const verdict = scored(0.2, {
    explanation: secret,
    parts: [part],
    details: { [secret]: [secret, 4929715488230163] },
    evidence: [spanId(7)],
  });
  const want = scored(0.2, {
    explanation: gone,
    parts: [{ ...part, tool: gone, callId: gone, explanation: gone }],
    details: { [gone]: [gone, '[card]'] },
    evidence: [spanId(7)],
  });
  expect(about.evaluation(evaluation('a', verdict))).toEqual(evaluation('a', want));
  expect(about.verdict(scored(1, { label: secret }))).toMatchObject({ label: gone });
  expect(about.verdict({ ...skipped, explanation: secret })).toEqual({ ...skipped, explanation: gone });
  expect(about.verdict(failed(`http_refused: ${secret}`))).toMatchObject({ kind: 'failed', error: `http_refused: ${gone}` });
  expect(about.decision({ name: 'a', evaluator: 'a', evaluatorKind: 'rule', decision: 'failed', reason: secret })).toMatchObject({
    reason: gone,
  });
});

const cuts: readonly { readonly said: string; readonly want: string }[] = [
  { said: 'it has "anna.lee@exam…", which', want: 'it has "[email]…", which' },
  { said: 'it has "4929 7154 88…" and "anna…"', want: 'it has "[card]…" and "[email]…"' },
  { said: '{"a":"4929 …', want: '{"a":"[card]…' },
  { said: '"ann…" says too little', want: '"ann…" says too little' },
  { said: 'anna.lee without an end', want: 'anna.lee without an end' },
  { said: 'more to come…', want: 'more to come…' },
];

for (const { said, want } of cuts)
  test(`redaction: of what was cut short in ${JSON.stringify(said)} no beginning of an original stays`, () =>
    expect(about.verdict(scored(1, { explanation: said }))).toMatchObject({ explanation: want }));

test('redaction: a text that is cut short in more places than are looked at is taken away', () => {
  expect(about.verdict(scored(1, { explanation: 'anna.lee@e…'.repeat(200) }))).toMatchObject({ explanation: '[not searched]' });
});

/** Verdicts of any evaluator on a run whose values are placed so that a cut may fall anywhere within them. */
const expectations: JsonObject = {
  tool_calls: [{ name: 'pay', arguments: { to: 'somebody else' }, result: 'another' }],
  tool_outputs: [{ name: 'pay', output: 'another' }],
  tool_calls_count: [{ name: 'pay', count: 2 }],
  tool_calls_order: ['pay', 'ship'],
  output: 'another',
  search_text: ['another'],
  tasks: ['pay'],
};
const options: { readonly [id: string]: JsonObject } = {
  json_path: { path: '$.to', operator: 'eq', value: 'x' },
  regex_match: { pattern: 'y{3}' },
  keywords: { keywords: ['another'] },
};

/** Every rule, with as much of the above as it takes. */
function everyRule(): readonly ConfiguredRule[] {
  return evaluators.flatMap(({ id, expectationSchema }) => {
    const takes = (expectationSchema?.['properties'] ?? {}) as object;
    const expect = Object.fromEntries(Object.entries(expectations).filter(([key]) => Object.hasOwn(takes, key)));
    const entry = { use: id, name: id, ...(options[id] === undefined ? {} : { options: options[id] }) };
    const made = [{ ...entry, expect }, entry].map((one) => configuredEvaluator(one, evaluators)).find(({ kind }) => kind === 'ready');
    return made?.kind === 'ready' && made.evaluator.kind === 'rule' ? [made.evaluator] : [];
  });
}

function runWith(padding: number): Run {
  const text = `${'x'.repeat(padding)} ${mail} ${'y'.repeat(60)} ${card}`;
  const value = { to: text, card: 4929715488230163 };
  return run({
    trace: agentTrace({
      input: text,
      finalResponse: jsonText(value),
      errorMessage: text,
      errorType: text,
      errorSpanId: spanId(9),
      status: 'error',
      toolCalls: [
        call({ name: 'pay', id: text, arguments: value, result: value }),
        call({ name: text, arguments: value, error: { message: text, sign: 'is_error' } }),
      ],
      toolDefinitions: [
        {
          ...tool('pay', { type: 'object', properties: { to: { maxLength: 5 } }, additionalProperties: false, required: [text] }),
          description: text,
        },
      ],
    }),
  });
}

test('redaction: in any text of the rules about a run, cut at any place, nothing of its originals is left', () => {
  const rulesToAsk = everyRule();
  const context = evaluationContext();
  expect(rulesToAsk.length).toBeGreaterThan(20);
  for (let padding = 0; padding <= 90; padding += longSuite ? 3 : 15) {
    const of = runWith(padding);
    const redacted = redacting().run(of);
    const left = rulesToAsk
      .map((rule) => [rule.name, jsonText(redacted.verdict(rule.evaluate(of.trace, {}, context)) as unknown as JsonValue)])
      .filter(([, text]) => /anna|lee@|4929|7154/.test(text ?? ''));
    expect(left).toEqual([]);
  }
});
