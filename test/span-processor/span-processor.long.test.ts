/** The processor in a separate process. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('TracejurySpanProcessor: a flush that nothing else keeps alive sends its scores', async () => {
  const program = `
    import { BasicTracerProvider, ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base';
    import { TracejurySpanProcessor } from ${JSON.stringify(new URL('../../src/span-processor/span-processor.ts', import.meta.url).href)};
    const scoring = new TracejurySpanProcessor({ exporter: new ConsoleSpanExporter() });
    const span = new BasicTracerProvider({ spanProcessors: [scoring] }).getTracer('a').startSpan('run', { attributes: { 'agent.name': 'x', 'input.value': 'y', 'output.value': 'z' } });
    span.end();
    await scoring.forceFlush();
    console.log(JSON.stringify(scoring.stats().runs));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname });
  expect(stdout).toContain('{"scored":1}');
});
