/** As `tracejury serve`, on a machine of another kind: `serve.ts WORLD -c FILE`, with the world as JSON. */
import { once } from 'node:events';
import { diskOf } from './disks.ts';
import type { World } from './world.ts';

const [, , told = '{}', , file = ''] = process.argv;
const { disk, clockMs = 0 } = JSON.parse(told) as World;
// The service reads the machine's clock when its modules are loaded, and counts on from there: none of them may be loaded before.
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + clockMs });
const [{ evaluators }, { readConfig }, { service }, { bufferPool }] = await Promise.all([
  import('../../evaluators/index.ts'),
  import('../../src/config/load.ts'),
  import('../../src/service.ts'),
  import('../../src/runtime/buffer-pool.ts'),
]);

process.on('SIGHUP', () => undefined);
// A body that is read after its last reader has released it is nonsense.
const buffers = bufferPool({ freeBytesMax: 32 * 1024 * 1024, poisons: true });
const machine = diskOf(disk);
const { config } = await readConfig({ file, env: {}, evaluators });
const running = service({ config, files: machine.files, buffers });
const stopSignal = once(process, 'SIGTERM');
const { otlpHttp, console: page } = await running.start();
machine.up();
process.stdout.write(`OTLP ${otlpHttp}\nConsole ${page}\nEvaluators\n`);
await stopSignal;
await running.stop();
