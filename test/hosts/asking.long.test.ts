/**
 * Evaluators that need the world: the same run through the library, the command line and the service gets the same verdicts from an
 * endpoint of one's own and from an embedding model.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { agentTrace } from '../../src/library/agent-trace.ts';
import {
  evaluate,
  http,
  outputRelevanceBySimilarity,
  outputSimilarity,
  type HttpCall,
  type Verdict,
} from '../../src/library/evaluators.ts';
import { scriptedJudge } from '../../src/judges/scripted.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { chatServer, embeds, status, type ChatServer, type Play } from '../judges/chat-server.ts';
import { eventually, running, sample, sendAgentRun } from '../service/running.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-asking-'));
const input = 'Where is A-1?';
const reply = 'It is on its way.';
const wanted = 'It was sent, thank you.';
const parameters = { any_of: ['thank', 'way'] };
const vectorOf = (text: string): readonly number[] => [text.length, text.includes('way') ? 9 : 1, 1];

let server: ChildProcess;
let url = '';
let vectors: ChatServer;

beforeAll(async () => {
  server = spawn(process.execPath, [join(root, 'examples/custom-evaluators/courtesy-server.ts'), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (server.stdout === null) throw new Error('it has no output');
  [url] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  vectors = await chatServer(embeds(vectorOf));
});
afterAll(async () => {
  server.kill();
  await vectors.close();
  rmSync(folder, { recursive: true });
});

const yaml = (endpoint: string): string => `
judges: { vectors: { base_url: "${vectors.baseUrl}", model: scripted } }
evaluators:
  - { use: http, name: courtesy, threshold: 1, options: { url: "${endpoint}", parameters: ${JSON.stringify(parameters)} } }
  - { use: output_similarity, judge: vectors, sample: { rate: 1 }, threshold: 0.99, expect: { output: "${wanted}" } }
  - { use: output_relevance_by_similarity, judge: vectors, sample: { rate: 1 } }`;

async function call({ url: to, headers, body }: HttpCall): Promise<{ kind: 'answered'; value: JsonValue; truncated: false }> {
  const response = await fetch(to, { method: 'POST', headers, body });
  return { kind: 'answered', value: (await response.json()) as JsonValue, truncated: false };
}

async function libraryVerdicts(): Promise<readonly Verdict[]> {
  const evaluators = [
    http({ url, parameters }, { name: 'courtesy', threshold: 1 }),
    outputSimilarity({}, { threshold: 0.99, expect: { output: wanted } }),
    outputRelevanceBySimilarity(),
  ];
  return await evaluate(agentTrace({ agent: 'order_support', input, finalResponse: reply }), {}, evaluators, {
    judge: scriptedJudge({}, 'vectors', vectorOf),
    call,
  });
}

const names = ['courtesy', 'output_similarity', 'output_relevance_by_similarity'];

test('asking: in the library every one of them is scored', async () => {
  const verdicts = await libraryVerdicts();
  expect(verdicts.map((verdict) => verdict.kind === 'scored' && [verdict.passed, verdict.label])).toEqual([
    [true, 'pass'],
    [false, 'fail'],
    [null, ''],
  ]);
  expect(verdicts[0]).toMatchObject({ score: 1, explanation: 'The reply says way.', details: { said: ['way'] } });
  expect(verdicts[1]).toMatchObject({ details: { model: 'scripted' } });
});

test('asking: tracejury eval gives the verdicts of the library', async () => {
  const recorded = join(folder, 'run.json');
  const config = join(folder, 'config.yaml');
  writeFileSync(recorded, JSON.stringify({ id: 'one', agent: 'order_support', input, final_response: reply }));
  writeFileSync(config, yaml(url));
  const said: string[] = [];
  const code = await runCommandLine({
    words: ['eval', recorded, '-c', config, '--format', 'json'],
    commands,
    version: '',
    env: {},
    say: (text) => said.push(text),
    complain: () => undefined,
  });
  const { results } = JSON.parse(said.join('')) as { readonly results: readonly { readonly verdicts: readonly object[] }[] };
  expect(code).toBe(1);
  expect(results[0]?.verdicts).toMatchObject(
    (await libraryVerdicts()).map((verdict, at) =>
      verdict.kind === 'scored'
        ? {
            name: names[at],
            status: 'scored',
            score: verdict.score,
            passed: verdict.passed,
            explanation: verdict.explanation,
            details: verdict.details,
          }
        : {},
    ),
  );
});

test('asking: the service sends the verdicts of the library', async () => {
  const sink = await otlpSink();
  const jury = await running(`${yaml(url)}\nexport: [ { to: span_events, endpoint: "${sink.url}" } ]`);
  try {
    await sendAgentRun(jury.otlp);
    const told = () =>
      sink.received.flatMap((request) => (readCarrier(request).span.events ?? []).map((event) => attributes(event.attributes)));
    const events = await eventually(
      () => (names.every((name) => told().some((event) => event['gen_ai.evaluation.name'] === name)) ? told() : undefined),
      'three verdicts',
    );
    for (const [at, verdict] of (await libraryVerdicts()).entries()) {
      if (verdict.kind !== 'scored') throw new Error('not scored');
      expect(events.find((event) => event['gen_ai.evaluation.name'] === names[at])).toMatchObject({
        'gen_ai.evaluation.score.value': verdict.score,
        'gen_ai.evaluation.explanation': verdict.explanation,
        'tracejury.evaluator.kind': at === 0 ? 'http' : 'judge',
        'tracejury.sample.probability': 1,
        ...(verdict.passed === null ? {} : { 'tracejury.passed': verdict.passed }),
      });
    }
    expect(
      sample(await jury.metrics(), 'tracejury_judge_requests_total', { tracejury_judge: 'http:courtesy', tracejury_outcome: 'answered' }),
    ).toBe(1);
  } finally {
    await jury.stop();
    await sink.close();
  }
});

const broken: readonly { readonly name: string; readonly play: Play; readonly reason: string }[] = [
  { name: 'breaks the contract', play: status(200, {}, { status: 'scored', score: 7, explanation: 'x' }), reason: 'score_out_of_range' },
  { name: 'refuses', play: status(403), reason: 'http_refused' },
  { name: 'leads elsewhere', play: status(302, { location: 'http://127.0.0.1:1/' }), reason: 'http_redirected' },
];
for (const { name, play, reason } of broken) {
  test(`asking: an endpoint that ${name} is a failed verdict and never a score`, async () => {
    const endpoint = await chatServer(play);
    const jury = await running(`evaluators: [ tool_error, { use: http, name: courtesy, options: { url: "${endpoint.baseUrl}" } } ]`);
    try {
      await sendAgentRun(jury.otlp);
      const page = await eventually(async () => {
        const text = await jury.metrics();
        return sample(text, 'tracejury_decisions_total', { gen_ai_evaluation_name: 'courtesy' }) === undefined ? undefined : text;
      }, 'a decision');
      expect(
        page
          .split('\n')
          .find((line) => line.startsWith('tracejury_decisions_total{') && line.includes('gen_ai_evaluation_name="courtesy"')),
      ).toMatch(new RegExp(`tracejury_decision="failed".*tracejury_reason="${reason}`));
      expect(sample(page, 'tracejury_evaluation_score_count', { gen_ai_evaluation_name: 'courtesy' })).toBeUndefined();
      expect(sample(page, 'tracejury_evaluation_results_total', { gen_ai_evaluation_name: 'tool_error' })).toBe(1);
    } finally {
      await jury.stop();
      await endpoint.close();
    }
  });
}

test('asking: the configuration of the example has no faults, and its endpoint knows a run without a reply', async () => {
  const file = join(root, 'examples/custom-evaluators/over-http.yaml');
  const said: string[] = [];
  expect(
    await runCommandLine({
      words: ['config', 'check', file],
      commands,
      version: '',
      env: {},
      say: (text) => said.push(text),
      complain: () => undefined,
    }),
  ).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('courtesy-server.ts');
  const [verdict] = await evaluate(agentTrace({ input }), {}, [http({ url, parameters }, { name: 'courtesy' })], { call });
  expect(verdict).toMatchObject({ kind: 'skipped', reason: 'no_final_response' });
});

test('asking: the library refuses to begin where no judge could answer', async () => {
  await expect(evaluate(agentTrace({ input }), {}, [http({ url }, { name: 'courtesy' })])).rejects.toThrow(
    'courtesy calls an endpoint: give what does so as { call }.',
  );
  expect(() => http({ url })).toThrow('name is missing');
});
