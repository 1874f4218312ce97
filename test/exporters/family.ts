/** Every exporter that sends something somewhere, as an entry of a configuration, for what must hold for all of them. */
import { join } from 'node:path';
import { loadConfigWithFiles } from '../../src/config/load.ts';
import type { ExporterConfig } from '../../src/config/config.ts';
import type { Exporter } from '../../src/exporters/exporter.ts';
import { manualClock } from '../../src/model/clock.ts';
import { configuredExporter } from '../../src/service/exporter-set.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { spanId } from '../builders/agent-trace.ts';
import { scored, scoredRun } from '../builders/scored-run.ts';
import { members } from '../config/members.ts';
import { certificateFolder } from '../receivers/certificates.ts';
import { validators } from '../builders/validators.ts';

export interface Member {
  readonly name: string;
  readonly to: ExporterConfig['to'];
  /** Beside `to` and `endpoint`. */
  readonly keys: string;
  readonly speaks: 'json' | 'protobuf' | 'grpc';
}

export const family: readonly Member[] = [
  { name: 'span_events', to: 'span_events', keys: '', speaks: 'protobuf' },
  { name: 'span_events over gRPC', to: 'span_events', keys: ', protocol: grpc', speaks: 'grpc' },
  { name: 'log_events', to: 'log_events', keys: '', speaks: 'protobuf' },
  { name: 'log_events as JSON', to: 'log_events', keys: ', protocol: http/json', speaks: 'json' },
  { name: 'forward', to: 'forward', keys: '', speaks: 'protobuf' },
  { name: 'forward over gRPC', to: 'forward', keys: ', protocol: grpc', speaks: 'grpc' },
  { name: 'webhook', to: 'webhook', keys: ', secret: 0123456789abcdef01234567, private_addresses: true', speaks: 'json' },
  { name: 'phoenix', to: 'phoenix', keys: ', api_key: k', speaks: 'json' },
  { name: 'langfuse', to: 'langfuse', keys: ', api_key: k, public_key: p', speaks: 'json' },
  { name: 'mlflow', to: 'mlflow', keys: ', api_key: k, user: u', speaks: 'json' },
  { name: 'langsmith', to: 'langsmith', keys: ', api_key: k, project: orders', speaks: 'json' },
  { name: 'opik', to: 'opik', keys: ', api_key: k', speaks: 'json' },
  { name: 'datadog', to: 'datadog', keys: ', api_key: k', speaks: 'json' },
  { name: 'braintrust', to: 'braintrust', keys: ', api_key: k, project: orders', speaks: 'json' },
  { name: 'laminar', to: 'laminar', keys: ', api_key: k', speaks: 'json' },
];

/** `more` has further keys. Files are in the folder of the test certificates. */
export async function memberAt({ to, keys }: Pick<Member, 'to' | 'keys'>, url: string, more = ''): Promise<ExporterConfig> {
  const text = `listen: { otlp_http: "127.0.0.1:1", otlp_grpc: "127.0.0.1:2" }\nexport: [ { to: ${to}, endpoint: "${url}"${keys}${more} } ]\n`;
  const [entry] = (
    await loadConfigWithFiles({ validators, file: join(certificateFolder, 'tracejury.yaml'), text, env: {}, evaluators: members })
  ).config.exporters;
  if (entry === undefined) throw new Error('no entry');
  return entry;
}

/** Nothing of it waits, but for what answers. */
export function exporterOf(entry: ExporterConfig): Exporter {
  return configuredExporter(entry, { telemetry: noTelemetry, clock: manualClock(), sleep: async () => undefined });
}

/** A verdict that fails, with a part on a tool's span: every exporter has something to say of it. */
export const failing = scoredRun({
  tool_error: scored(0, {
    label: 'fail',
    passed: false,
    parts: [{ index: 0, tool: 'search', callId: 'call_1', spanId: spanId(0xb1), score: 0, passed: false, explanation: 'It failed.' }],
  }),
});
