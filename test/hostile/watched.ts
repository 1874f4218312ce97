/** The service in a separate thread, with a watch over its event loop: a turn's processor time is only the service's. */
import { parentPort } from 'node:worker_threads';
import { pino } from 'pino';
import { machineMemory } from '../../src/service/node-runtime.ts';
import { running } from '../service/running.ts';

let longestMs = 0;
let before = process.threadCpuUsage();

/** Once in every turn of the loop. */
function watch(): void {
  const { user, system } = process.threadCpuUsage(before);
  longestMs = Math.max(longestMs, (user + system) / 1_000);
  before = process.threadCpuUsage();
  setImmediate(watch);
}

/** The process is also that of the sender and the corpus; only the thread's memory is the service's. */
const memory = { ...machineMemory(), residentBytes: () => process.memoryUsage().heapTotal + process.memoryUsage().external };

const {
  otlp,
  grpc,
  console: page,
  stop,
} = await running('', { closing: 'settle: 5ms, quiet: 20ms', logger: pino({ level: 'silent' }), memory });
watch();

parentPort?.on('message', (asked: 'longest' | 'stop') => {
  if (asked === 'stop') void stop().then(() => process.exit(0));
  else {
    parentPort?.postMessage(longestMs);
    longestMs = 0;
  }
});
parentPort?.postMessage({ otlp, grpc, page });
