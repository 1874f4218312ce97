/**
 * `npm run check -- quality-sampling --collector PATH [--runs N (2000)]`: the two files of docs/guides/quality-sampling.md at work, with other addresses. PATH: a Collector with `otlp`,
 * `tail_sampling` and `otlp_http`. Of the runs one in twenty fails: every one of these must reach the backend whole, with its verdict, and of the others about the share that the page says.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { collectorProcess } from '../bench/overload/collector.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { otlpTarget, type TargetSpan } from '../exporters/otlp-target.ts';
import { serviceFolder } from '../service/process.ts';
import { runnerArguments } from '../runner-arguments.ts';

const { values } = runnerArguments({ options: { collector: { type: 'string' }, runs: { type: 'string', default: '2000' } } });
if (values.collector === undefined) throw new Error('give the path of a Collector: --collector PATH');
const runs = Number(values.runs);
const failsEvery = 20;
const share = 0.01;
/** Tolerance of the expected number: five standard deviations of the draw. */
const expectedMore = (expected: number): number => 5 * Math.sqrt(expected);
const waitMs = 60_000;

/** The files that the page shows, by their first line. */
function filesOf(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(/```yaml\n# (\S+)\n(.*?)```/gs)].map(([, name = '', text = '']) => [name, text]));
}

const files = filesOf(readFileSync(join(import.meta.dirname, '../../docs/guides/quality-sampling.md'), 'utf8'));
const [ours = '', theirs = ''] = [files.get('tracejury.yaml'), files.get('collector.yaml')];

/** Spread over all bits, as ids are: the sampler decides by them. */
function traceNumber(run: number): number {
  return (run * 2_654_435_761) % 2 ** 48;
}

function spansOf(run: number): Parameters<Awaited<ReturnType<ReturnType<typeof serviceFolder>['start']>>['send']>[0] {
  const trace = traceNumber(run);
  const tool = toolSpan({
    id: 3,
    parent: 1,
    trace,
    start: 3,
    end: 4,
    call: 'c',
    tool: 'find',
    arguments: '{"x":1}',
    ...(run % failsEvery === 0 ? { status: 'error' } : { result: 'there' }),
  });
  return [tool, agentSpan({ id: 1, trace, start: 0, end: 7, agent: 'finder', input: 'where?', output: 'there' })];
}

const backend = await otlpTarget();
const collector = await collectorProcess(values.collector, (own) =>
  theirs
    .replace('127.0.0.1:4328', `"${own}"`)
    .replace('http://127.0.0.1:6006', `"${backend.url}", compression: none`)
    .replace('service: {', 'service: { telemetry: { metrics: { level: none } },'),
);
const folder = serviceFolder();
folder.configure(ours.replace('http://127.0.0.1:4328', collector.otlpUrl));
const service = await folder.start();
const sentFrom = 50;
for (let run = 1; run <= runs; run += sentFrom) {
  const spans = Array.from({ length: Math.min(sentFrom, runs - run + 1) }, (_, at) => spansOf(run + at)).flat();
  while ((await service.send(spans)) !== 200) await pause(200);
}

const failed = Math.floor(runs / failsEvery);
const byTrace = (): ReadonlyMap<string, readonly TargetSpan[]> => Map.groupBy(backend.spans(), ({ traceId }) => traceId);
const verdictOf = (spans: readonly TargetSpan[]): unknown =>
  spans.find(({ attributes }) => 'tracejury.verdict' in attributes)?.attributes['tracejury.verdict'];
const startMs = performance.now();
while ([...byTrace().values()].filter((spans) => verdictOf(spans) === 'fail').length < failed && performance.now() - startMs < waitMs)
  await pause(500);
await pause(5_000);

const traces = [...byTrace().values()];
const kept = {
  failed: traces.filter((spans) => verdictOf(spans) === 'fail').length,
  passed: traces.filter((spans) => verdictOf(spans) === 'pass').length,
  without: traces.filter((spans) => verdictOf(spans) === undefined).length,
};
const broken = traces.filter((spans) => spans.length < 2).length;
const expected = (runs - failed) * share;
await service.end('SIGTERM');
await folder.remove();
await collector.stop();
await backend.close();

const holds = kept.failed === failed && broken === 0 && Math.abs(kept.passed - expected) <= expectedMore(expected);
process.stdout.write(
  `${runs} runs, ${failed} of them failed. Kept: ${kept.failed} that failed, ${kept.passed} of the ${runs - failed} others (${expected.toFixed(0)} expected), ${kept.without} without a verdict; ${broken} not whole.\n${holds ? 'holds' : 'MISSED'}\n`,
);
process.exitCode = holds ? 0 : 1;
