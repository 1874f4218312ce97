/** Servers of others as rows of the bench, where they can be had: they take the same spans in the same passes. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { phoenixServer } from '../backends/phoenix/server.ts';
import { serverProcess } from '../server-process.ts';
import { collectorProcess } from './overload/collector.ts';
import type { Measured } from './server.ts';
import type { Usage } from './usage.ts';

type Peer = Pick<Measured, 'otlpUrl' | 'consoleUrl' | 'usage' | 'stop'>;

/** Tick of /proc/PID/stat: a hundredth of a second on every Linux that Node runs on. */
const tickMicros = 10_000;
const phoenixStartsWithinMs = 120_000;
/** It is done when it used less CPU time than this within a look. */
const quietMicros = 30_000;
const lookMs = 1_500;

/** Groups spans by trace for a second and throws them away: what it takes to hold them and no more. `binary`: one with the receiver `otlp`, the processor `groupbytrace` and the exporter `nop` or `debug`. */
export async function collectorPeer(binary: string): Promise<Peer> {
  const { otlpUrl, pid, stop } = await collectorProcess(
    binary,
    (own) => `receivers: { otlp: { protocols: { http: { endpoint: "${own}" } } } }
processors: { groupbytrace: { wait_duration: 1s, num_traces: 100000, num_workers: 2 } }
exporters: { debug: { verbosity: basic, sampling_initial: 1, sampling_thereafter: 1000000 } }
service:
  telemetry: { metrics: { level: none }, logs: { level: error } }
  pipelines: { traces: { receivers: [otlp], processors: [groupbytrace], exporters: [debug] } }
`,
  );
  return { otlpUrl, consoleUrl: undefined, usage: () => usageWhenQuiet(pid), stop };
}

/** Stores spans for its pages and evaluates none. */
export async function phoenixPeer(command: string): Promise<Peer> {
  const { url, pid, stop } = await serverProcess({ ...phoenixServer(command), withinMs: phoenixStartsWithinMs });
  return { otlpUrl: url, consoleUrl: undefined, usage: () => usageWhenQuiet(pid), stop };
}

/** Such servers answer before the work is done. */
async function usageWhenQuiet(pid: number): Promise<Usage> {
  for (let before = usageOf(pid); ;) {
    await pause(lookMs);
    const now = usageOf(pid);
    if (now.cpuMicros - before.cpuMicros < quietMicros) return now;
    before = now;
  }
}

/** CPU time of a process with all of its threads; only Linux has it. */
function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, pages = 0] = [fields[11], fields[12], fields[21]].map(Number);
  return { cpuMicros: (user + system) * tickMicros, rssBytes: pages * pageBytes };
}

const pageBytes = 4_096;
