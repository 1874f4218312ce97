/** Without tracing nothing of the OpenTelemetry SDK is loaded. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Loads the service and opens the tracing of a configuration; prints what of the SDK the process has loaded. */
const program = `
  const { loadConfig } = await import('./src/config/load.ts');
  const { evaluators } = await import('./evaluators/index.ts');
  const { openSelfTracing } = await import('./src/service/self-tracing/open.ts');
  const { service } = await import('./src/service.ts');
  const { config } = loadConfig({ file: 'a.yaml', text: process.argv[1], env: {}, evaluators });
  const tracing = await openSelfTracing(config, {});
  service({ config, tracing });
  const { createRequire } = await import('node:module');
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  console.log(['sdk-trace-base', 'exporter-trace-otlp'].filter((name) => loaded.some((path) => path.includes('/@opentelemetry/' + name))).join(' '));
  process.exit(0);
`;

async function loadedBy(yaml: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, yaml]);
  return stdout.trim().split('\n').at(-1) ?? '';
}

const elsewhere = 'endpoint: "http://127.0.0.1:9"';
const rows: readonly (readonly [loaded: string, yaml: string])[] = [
  ['', 'telemetry: {}'],
  ['', `telemetry: { traces: { exporter: none, ${elsewhere} } }`],
  ['', `telemetry: { traces: { exporter: otlp, ${elsewhere}, sample: 0 } }`],
  ['sdk-trace-base exporter-trace-otlp', `telemetry: { traces: { exporter: otlp, ${elsewhere} } }`],
];
test.each(rows)('self-tracing: a process has %j of the SDK with %s', async (loaded, yaml) => {
  expect(await loadedBy(`store: { url: "memory:" }\njournal: { url: "memory:" }\n${yaml}`)).toBe(loaded);
});
