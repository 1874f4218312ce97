/** What a configuration entry says about one exporter, and what the service hands in. */
import type { lookup } from 'node:dns';
import type { Clock, Sleep } from '../model/clock.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ClientTls } from '../model/client-tls.ts';
import type { NativeSettings } from './scores/score-api-backend.ts';
import type { OtlpProtocol } from './otlp/otlp-protocol.ts';
import type { WebhookSettings } from './webhook/webhook-settings.ts';

export interface ExporterSettings {
  /** Of the entry, in metrics. */
  readonly name?: string;
  /** Base URL; `/v1/traces` is added. */
  readonly endpoint?: string;
  /** The whole URL for spans; wins over `endpoint`. */
  readonly tracesEndpoint?: string;
  /** The whole URL for log records. */
  readonly logsEndpoint?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly protocol?: OtlpProtocol;
  readonly compression?: 'none' | 'gzip';
  /** False: calls to judges are not told as spans. */
  readonly judgeCalls?: boolean;
  readonly tls?: ClientTls;
  /** Longest time for one request, with everything that belongs to it. */
  readonly timeoutMs?: number;
  /** Of a backend with scores of its own: its key and what else names the account. */
  readonly keys?: NativeSettings['keys'];
  /** Of `webhook`. */
  readonly webhook?: WebhookSettings;
}

export interface ExporterDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Who resolves names; the machine when left out. */
  readonly lookup?: typeof lookup;
}
