/** The service under measurement, with the parts that a row of a benchmark has. */
import { writeFileSync } from 'node:fs';
import { evaluators } from '../../evaluators/index.ts';
import { measured, type Measured } from './server.ts';

export const byDefault: readonly string[] = evaluators.filter(({ onByDefault }) => onByDefault).map(({ id }) => id);

/** Neither journal nor file. */
export const inMemory = 'journal: { url: "memory:" }\nstore: { url: "memory:" }\n';

/** Written down before the answer, stored with the content of failed runs and a sample, sent as span events. `path`: of the journal's folder, and of the store with `.db` behind it. */
export function onDisk(path: string, sinkUrl: string): string {
  return `journal: { url: "disk:${path}" }\nstore: { url: "sqlite:${path}.db" }\nexport: [ { to: span_events, endpoint: "${sinkUrl}" } ]\n`;
}

/** As `onDisk`, with a topic of Kafka and a database of PostgreSQL. */
export function shared(journal: string, store: string, sinkUrl: string): string {
  return `journal: { url: "${journal}" }\nstore: { url: "${store}" }\nexport: [ { to: span_events, endpoint: "${sinkUrl}" } ]\n`;
}

/** `file`: where its configuration is written. */
export function configured(file: string, evaluatorNames: readonly string[], parts: string): Promise<Measured> {
  writeFileSync(
    file,
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nevaluators: [ ${evaluatorNames.join(', ')} ]\n${parts}`,
  );
  return measured('../../src/cli/main.ts', ['serve', '-c', file], { asStarted: true, lastLine: /^Evaluators/m });
}
