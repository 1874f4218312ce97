/**
 * The cost of standing in-line: `npm run bench -- forward --collector PATH [--seconds N (12)] [--rate SPANS (1000)] [--passes N (3)]`. The same spans at the same rate through
 * the service with `forward`, through the service without, and through a Collector that groups by trace, to a receiver that notes when they come.
 * PATH: a Collector with `otlp`, `groupbytrace`, `batch` and `otlp_http`. Exit code 1 when spans were lost or doubled.
 */
import { bed } from '../overload/bed.ts';
import { collectorProcess } from '../overload/collector.ts';
import { quantile } from '../overload/conditions.ts';
import { cpuMicrosOf } from './process-cpu.ts';
import { steadyLoad, type LoadCounts } from './steady-load.ts';
import { watchedTarget } from './watched-target.ts';
import { runnerArguments } from '../../runner-arguments.ts';

interface Contender {
  readonly otlpUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface Row extends LoadCounts {
  readonly cpuMicrosPerSpan: number;
  readonly latenciesMs: readonly number[];
  readonly lost: number;
  readonly doubled: number;
}

const { values } = runnerArguments({
  options: {
    collector: { type: 'string' },
    seconds: { type: 'string', default: '12' },
    rate: { type: 'string', default: '1000' },
    passes: { type: 'string', default: '3' },
  },
});
const { collector: binary } = values;
if (binary === undefined) throw new Error('give the path of a Collector: --collector PATH');
const [seconds, rate, passes] = [Number(values.seconds), Number(values.rate), Number(values.passes)];
/** Until the code is compiled, which else would be most of what is measured: 50,000 spans. */
const warmUpSeconds = 12;
const warmUpRate = Math.max(rate, 4_000);

async function serviceWith(entry: string): Promise<Contender> {
  const on = await bed(entry === '' ? '' : `export: [ { to: metrics }, ${entry} ]\n`);
  return { otlpUrl: on.otlpUrl, pid: on.server.pid, stop: on.stop };
}

/** Neither of the two compresses: the service does so only on request, and the Collector is asked not to. */
function collectorConfig(url: string, processors: string): (address: string) => string {
  return (address) => `receivers: { otlp: { protocols: { http: { endpoint: "${address}" } } } }
processors: { groupbytrace: { wait_duration: 1s }, batch: {} }
exporters: { otlp_http: { endpoint: "${url}", compression: none } }
service: { telemetry: { metrics: { level: none } }, pipelines: { traces: { receivers: [otlp], processors: [${processors}], exporters: [otlp_http] } } }
`;
}

const contenders: readonly { readonly name: string; readonly sends: boolean; readonly start: (url: string) => Promise<Contender> }[] = [
  { name: 'tracejury, `forward`', sends: true, start: (url) => serviceWith(`{ to: forward, endpoint: "${url}" }`) },
  { name: 'tracejury without `forward`', sends: false, start: () => serviceWith('') },
  {
    name: 'Collector, `groupbytrace`, `otlp_http`',
    sends: true,
    start: (url) => collectorProcess(binary, collectorConfig(url, 'groupbytrace')),
  },
  {
    name: 'Collector, `groupbytrace`, `batch`, `otlp_http`',
    sends: true,
    start: (url) => collectorProcess(binary, collectorConfig(url, 'groupbytrace, batch')),
  },
];

async function measure({ sends, start }: (typeof contenders)[number], sender: number): Promise<Row> {
  const target = await watchedTarget();
  const contender = await start(target.url);
  try {
    const load = steadyLoad({ url: contender.otlpUrl, sender, sent: target.expect });
    await load.run(warmUpSeconds, warmUpRate);
    if (sends) await target.complete();
    target.forget();
    const before = cpuMicrosOf(contender.pid);
    const counts = await load.run(seconds, rate);
    const arrived = sends ? await target.complete() : await target.nothing();
    const cpuMicrosPerSpan = (cpuMicrosOf(contender.pid) - before) / counts.spans;
    return { ...counts, ...arrived, cpuMicrosPerSpan };
  } finally {
    await contender.stop();
    await target.close();
  }
}

const rows = contenders.map(() => [] as Row[]);
for (let pass = 0; pass < passes; pass++) {
  for (const [at, contender] of contenders.entries()) {
    const row = await measure(contender, 1 + pass * contenders.length + at);
    rows[at]?.push(row);
    process.stderr.write(
      `${contender.name}: ${row.cpuMicrosPerSpan.toFixed(1)} µs/span, p50 ${quantile(row.latenciesMs, 0.5).toFixed(0)} ms, p99 ${quantile(row.latenciesMs, 0.99).toFixed(0)} ms, ${row.spans} spans, ${row.lost} lost, ${row.doubled} doubled, ${row.putOff} put off\n`,
    );
  }
}

const median = (all: readonly number[]): number => quantile(all, 0.5);
process.stdout.write(
  `\n${rate} spans/s for ${seconds} s, ${passes} passes by turns\n\n| | CPU µs/span | range | added, half within | 99 of 100 within |\n|---|---|---|---|---|\n`,
);
for (const [at, { name, sends }] of contenders.entries()) {
  const own = rows[at] ?? [];
  const cpu = own.map(({ cpuMicrosPerSpan }) => cpuMicrosPerSpan);
  const late = (share: number): string =>
    sends ? `${median(own.map(({ latenciesMs }) => quantile(latenciesMs, share))).toFixed(0)} ms` : '';
  process.stdout.write(
    `| ${name} | ${median(cpu).toFixed(1)} | ${Math.min(...cpu).toFixed(1)} to ${Math.max(...cpu).toFixed(1)} | ${late(0.5)} | ${late(0.99)} |\n`,
  );
}
const wrong = rows.flat().reduce((sum, { lost, doubled }) => sum + lost + doubled, 0);
process.stdout.write(`\n${wrong === 0 ? 'Every span arrived once.' : `MISSED: ${wrong} spans were lost or doubled.`}\n`);
process.exitCode = wrong === 0 ? 0 : 1;
