/** `tracejury serve` as a process: its output at the start, and the effect of a hang-up. */
import { afterEach, expect, test } from 'vitest';
import { serviceFolder, type ServiceFolder } from '../../service/process.ts';
import { eventually, sample } from '../../service/running.ts';

let folder: ServiceFolder;
afterEach(() => folder.remove());

test('serve: prints where it listens, where it keeps data and what scores, and SIGHUP reads the configuration again', async () => {
  folder = serviceFolder();
  folder.configure('evaluators: [ tool_error, loop_detection ]');
  const service = await folder.start();
  expect(service.said()).toMatch(/^OTLP +http:\/\/127\.0\.0\.1:[1-9]\d* \(HTTP\), 127\.0\.0\.1:[1-9]\d* \(gRPC\)$/m);
  expect(service.said()).toMatch(/^Console +http:\/\/127\.0\.0\.1:[1-9]\d* +\(\/api\/v1, \/metrics, \/livez, \/readyz\)$/m);
  expect(service.said()).toMatch(/^Data +\S+/m);
  expect(service.said()).toMatch(/^Evaluators +tool_error, loop_detection$/m);
  service.hangUp();
  const unchanged = await eventually(
    async () => sample(await service.metrics(), 'tracejury_config_reloads_total', { tracejury_outcome: 'unchanged' }) || undefined,
    'the configuration was read again',
  );
  expect(unchanged).toBe(1);
  expect(await service.end('SIGTERM')).toBe(0);
});
