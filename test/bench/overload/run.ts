/**
 * The service under more than it can bear, and for long. `node test/bench/overload/run.ts COMMAND`; exit code 1 when a condition is missed.
 *
 *   overload      --seconds N (120)  --times N (10)  --collector PATH     npm run bench -- overload
 *   soak          --minutes N (30)   --rate SPANS_PER_SECOND  --late DURATION   npm run bench -- soak
 *   latency       --seconds N (60)                                        npm run bench -- latency
 *   open-traces   --passes N (3)     --spans N (24000)  --most N (100000) npm run bench -- open-traces
 */
import { latencyBench } from './latency.ts';
import { openTracesBench } from './open-traces.ts';
import { overloadBench } from './overload.ts';
import { soakBench } from './soak.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values, positionals } = runnerArguments({
  options: {
    seconds: { type: 'string' },
    times: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string' },
    late: { type: 'string' },
    passes: { type: 'string', default: '3' },
    spans: { type: 'string', default: '72000' },
    most: { type: 'string', default: '100000' },
    collector: { type: 'string' },
  },
  allowPositionals: true,
});
const seconds = (preset: number): number => Number(values.seconds ?? preset);

const commands: { readonly [name: string]: () => boolean | Promise<boolean> } = {
  overload: () => overloadBench({ seconds: seconds(120), times: Number(values.times), collector: values.collector }),
  soak: () =>
    soakBench({
      minutes: Number(values.minutes),
      rate: values.rate === undefined ? undefined : Number(values.rate),
      late: values.late,
    }),
  latency: () => latencyBench({ seconds: seconds(60) }),
  'open-traces': () =>
    openTracesBench({ passes: Number(values.passes), measuredSpans: Number(values.spans), tracesMax: Number(values.most) }),
};
const command = commands[positionals[0] ?? ''];
if (command === undefined) throw new Error(`give one of ${Object.keys(commands).join(', ')}`);
process.exitCode = (await command()) ? 0 : 1;
